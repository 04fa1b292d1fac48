/*
 * States in little memory, for a history that keeps one for each update. At a window's boundary
 * two states differ in few places, so a state is kept as the 64-bit words in which it differs from
 * a base that many share; a state with more than that (in mid-window, with late items, with a
 * position in each shard) is kept whole. Weights are shared versions in either case.
 *
 * Owned and used by one thread.
 */
#ifndef GA_TRAIN_KEPT_H
#define GA_TRAIN_KEPT_H

#include <stddef.h>

#include "train/run.h"

struct ga_keeper; /* what kept states have in common; outlives them */
struct ga_kept;   /* one state */

int ga_keeper_open(struct ga_keeper **out);
void ga_keeper_close(struct ga_keeper *keeper);
uint64_t ga_keeper_bytes(const struct ga_keeper *keeper); /* of all kept, shared weights once */

int ga_keep(struct ga_keeper *keeper, const struct ga_run *run, struct ga_kept **out);
size_t ga_kept_bytes(const struct ga_kept *kept); /* what was copied for it: no weights */
void ga_kept_close(struct ga_keeper *keeper, struct ga_kept *kept);

/* The state; borrowed until the next call with this keeper. */
const struct ga_state *ga_kept_state(struct ga_keeper *keeper, const struct ga_kept *kept);

#endif
