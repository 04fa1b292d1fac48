/*
 * What is kept of a burst: updates that are alike but for a row of figures each. All else follows
 * from the record and the events of the update before, GA_BURST_EVENTS of them: OPEN, MICRO, PUSH,
 * REDUCE, CHECK, APPLY, CLEAR. Plain values; the rows are borrowed.
 */
#ifndef GA_TRAIN_BURST_H
#define GA_TRAIN_BURST_H

#include <stddef.h>
#include <stdint.h>

#include "compute/compute.h"
#include "train/event.h"
#include "train/metrics.h"

#define GA_BURST_MOST   ((size_t)4000) /* updates in one go */
#define GA_BURST_EVENTS 7              /* of each */

struct ga_burst_rows {
    struct ga_update_record before;
    const struct ga_burst_row *row; /* (count) */
    size_t count;
    int64_t span_ns; /* virtual time of each */
};

/* The record of the update that is `on` updates (1: the next) after that of `before`, and one of
 * its events likewise. */
void ga_burst_record(const struct ga_update_record *before, uint64_t on, int64_t span_ns,
                     const struct ga_burst_row *row, struct ga_update_record *out);
void ga_burst_event(const struct ga_event *before, uint64_t on, int64_t span_ns,
                    const struct ga_burst_row *row, struct ga_event *out);

#endif
