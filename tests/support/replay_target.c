/* A fuzz target that fails on inputs starting with '!', to show that replaying notices a failure.
 */
#include "support/replay.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size > 0 && bytes[0] == '!')
        abort();
    return 0;
}
