/*
 * Two runs of the same start: one that may make bursts, and one that somebody watches update by
 * update. What moves both waits until they ended, and compares all that can be seen of them: bits
 * of the weights, counters, metrics, records and events.
 */
#ifndef GA_TESTS_TRAIN_TWINS_H
#define GA_TESTS_TRAIN_TWINS_H

#include <stdbool.h>
#include <stddef.h>

#include "train/support/engine_rig.h"

struct ga_twins {
    struct ga_engine_rig quick, slow;
};

void ga_twins_open(struct ga_twins *twins, const struct ga_test_start *start);
void ga_twins_close(struct ga_twins *twins);
void ga_twins_set(struct ga_twins *twins, const char *words);
void ga_twins_go(struct ga_twins *twins, enum ga_move_kind kind, uint64_t count);
/* Both stop for this reason, at the same update. */
void ga_twins_stop(struct ga_twins *twins, const struct ga_move *move, enum ga_stop_reason reason);

/* Whether the quick one kept far fewer states than it made updates: there were bursts at all. */
void ga_twins_check_bursts(struct ga_twins *twins, bool expected);
void ga_twins_check_counters(struct ga_twins *twins);
/* Every metric, of the run and of the replica; but for the rate by the wall clock. */
void ga_twins_check_metrics(struct ga_twins *twins);
void ga_twins_check_events(struct ga_twins *twins, size_t most); /* the newest */
void ga_check_record(const struct ga_update_record *a, const struct ga_update_record *b);

/* Items of a size, added one by one; the caller frees `item`. */
struct ga_list {
    char *item; /* (count) of `bytes` */
    size_t bytes, count, capacity;
};
int ga_list_record(const struct ga_update_record *record, void *list);

#endif
