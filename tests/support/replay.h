/* The entry of a fuzz target, as libFuzzer calls it. The answer is always 0; `bytes` is borrowed.
 */
#ifndef GA_TESTS_REPLAY_H
#define GA_TESTS_REPLAY_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#endif
