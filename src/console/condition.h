/*
 * Conditions of `until`, `break` and `expect`, compiled to a small program that reads the run
 * without allocating:
 *
 *     loss < 0.01 and update > 100      replica 2 loss >= 1e-3      not (time > 2 or |g| == nan)
 *     hash == 3f9a27c1                  nan
 *
 * Metric names are those of train/metrics.h, |g| is grad_norm. `and` binds tighter than `or`. A
 * figure that is not defined (no update yet, no such replica) is nan, and with nan every comparison
 * is false but `== nan` and `!= nan`. `nan` alone: the last window's loss or gradient norm is not
 * finite. A hash is compared by the 8 to 16 digits given.
 */
#ifndef GA_CONSOLE_CONDITION_H
#define GA_CONSOLE_CONDITION_H

#include "base/text.h"
#include "train/engine.h"

/* On success `*out` owns its program: hand it to the engine or end it with ga_condition_fini(). */
int ga_condition_read(struct ga_condition *out, const char *text);
void ga_condition_fini(struct ga_condition *condition); /* zeroed or ended before: fine */

/*
 * False where it cannot hold at a later update: `update == 6` once update is 7, as the counters
 * only grow. On the engine thread.
 */
bool ga_condition_is_possible(const struct ga_condition *condition, struct ga_run *run);

/* The largest replica number it names; -1 for none. */
int32_t ga_condition_replica(const struct ga_condition *condition);

/* "loss = 0.31, update = 12": what it reads, as it stands now. On the engine thread. */
void ga_condition_values(const struct ga_condition *condition, struct ga_run *run,
                         struct ga_text *out);

#endif
