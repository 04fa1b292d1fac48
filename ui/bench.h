/*
 * `gaconsole bench screen`: what the full screen costs, measured from outside. The program starts
 * itself on a pseudo-terminal, types, and counts bytes, frames, processor time of its main thread
 * and how long a key takes to come back. Speed is printed beside the budget, never asserted.
 */
#ifndef GA_UI_BENCH_H
#define GA_UI_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* `rounds` (at least 1) of the short measurements; appends the report, as JSON if asked. */
int ga_screen_bench(int64_t rounds, bool json, struct ga_text *out);

#endif
