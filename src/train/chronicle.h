/*
 * What happened in a run, as long as there is room for it: events, update records, and the rows of
 * bursts, which stand for the records and the events of their updates. The oldest are let go first.
 */
#ifndef GA_TRAIN_CHRONICLE_H
#define GA_TRAIN_CHRONICLE_H

#include <stdbool.h>

#include "train/burst.h"
#include "train/tape.h"

struct ga_chronicle {
    struct ga_tape events;  /* struct ga_event */
    struct ga_tape records; /* struct chronicle_record */
    struct ga_tape rows;    /* struct ga_burst_row */
};

void ga_chronicle_init(struct ga_chronicle *chronicle);
void ga_chronicle_fini(struct ga_chronicle *chronicle);
void ga_chronicle_limit(struct ga_chronicle *chronicle, uint64_t events_bytes,
                        uint64_t records_bytes);

int ga_chronicle_event(struct ga_chronicle *chronicle, const struct ga_event *event);
/* `events`: the run's counter when the window closed. */
int ga_chronicle_record(struct ga_chronicle *chronicle, const struct ga_update_record *record,
                        uint64_t events);
/* A burst follows on the record kept last; `events`: the run's counter before it. */
bool ga_chronicle_takes_burst(const struct ga_chronicle *chronicle, uint64_t events);
/* Its rows are filled in where they are kept: room for `*count` of them, NULL without memory. */
struct ga_burst_row *ga_chronicle_rows(struct ga_chronicle *chronicle, size_t *count);
int ga_chronicle_burst(struct ga_chronicle *chronicle, const struct ga_burst_rows *rows);

/* Forgets what happened after that many events. */
void ga_chronicle_cut(struct ga_chronicle *chronicle, uint64_t events);
int ga_chronicle_copy(struct ga_chronicle *to, const struct ga_chronicle *from); /* `to` is empty */

/* Those kept or known from a burst, without a hole up to the last one, as ga_history_each_event()
 * and _record(). */
int ga_chronicle_each_event(const struct ga_chronicle *chronicle, size_t most, uint64_t end,
                            int (*each)(const struct ga_event *event, void *arg), void *arg);
int ga_chronicle_each_record(const struct ga_chronicle *chronicle, uint64_t windows,
                             int (*each)(const struct ga_update_record *record, void *arg),
                             void *arg);

size_t ga_chronicle_events(const struct ga_chronicle *chronicle);
size_t ga_chronicle_records(const struct ga_chronicle *chronicle);
uint64_t ga_chronicle_bytes(const struct ga_chronicle *chronicle);

#endif
