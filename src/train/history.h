/*
 * What a run was: states at update boundaries to go back to, events and update records, and the
 * changes that the user made, each with the event count at which it was made.
 *
 * Memory: a budget in bytes, half of it for states, a quarter each for events and records; on the
 * real clock the record of the race, which the run has, takes a sixteenth off the events. Over its
 * part, states are thinned to keyframes (the first one stays; anything between is re-executed), the
 * oldest events and records are let go. Owned and used by the engine thread.
 */
#ifndef GA_TRAIN_HISTORY_H
#define GA_TRAIN_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "train/burst.h"
#include "train/engine.h"
#include "train/run.h"
#include "train/tape.h"

struct ga_history;

int ga_history_open(struct ga_history **out, uint64_t budget_bytes);
void ga_history_close(struct ga_history *history);
void ga_history_budget(struct ga_history *history, uint64_t budget_bytes);

/* Starts over with the run's present state as the first. */
int ga_history_begin(struct ga_history *history, const struct ga_run *run);

/* Memory that rows were kept in, from a history that is about to be closed to `rows`, and to a new
 * one. */
void ga_history_leave(struct ga_history *history, struct ga_tape *rows);
void ga_history_inherit(struct ga_history *history, struct ga_tape *rows);

/*
 * A copy for a run that goes its own way: records, events, changes, and states evenly thinned to a
 * thousand; anything between is re-executed. `run` is one of the same data and net; it is left at
 * one of the states.
 */
int ga_history_copy(struct ga_history **out, const struct ga_history *from, struct ga_run *run);

int ga_history_keep_state(struct ga_history *history, const struct ga_run *run);
/*
 * The same at a boundary, where it is worth it: a state that is dear to copy, as those of a
 * thousand replicas between two pushes are, waits until so much was done since the last one that
 * doing it again takes about as long. By the work and not by the time it took, so that two runs of
 * the same commands keep the same states. What follows a change is kept at once.
 */
int ga_history_offer_state(struct ga_history *history, const struct ga_run *run);
int ga_history_keep_event(struct ga_history *history, const struct ga_event *event);
int ga_history_keep_record(struct ga_history *history, const struct ga_update_record *record,
                           uint64_t events);
/* Updates that followed the record kept last; their events follow from the last ones kept. */
bool ga_history_takes_burst(const struct ga_history *history, uint64_t events);
/* Room for `*count` rows, at least one, that they are filled into; NULL without memory. */
struct ga_burst_row *ga_history_rows(struct ga_history *history, size_t *count);
int ga_history_keep_burst(struct ga_history *history, const struct ga_burst_rows *rows);

/* Counters that a state can be looked up by; all grow with time. */
enum ga_history_key { GA_KEY_CLOSED, GA_KEY_UPDATES, GA_KEY_MICROS, GA_KEY_EVENTS };
uint64_t ga_history_key(const struct ga_counters *counters, enum ga_history_key key);

/* The newest state with key < target; the first one when there is none. These two are borrowed
 * until the next call. */
const struct ga_state *ga_history_before(const struct ga_history *history, enum ga_history_key key,
                                         uint64_t target);
const struct ga_state *ga_history_first(const struct ga_history *history);

/* The states kept, oldest first; borrowed likewise. */
size_t ga_history_states(const struct ga_history *history);
const struct ga_state *ga_history_state(const struct ga_history *history, size_t k);

/* How far the record goes; ga_history_reached() is called as events happen for the first time. */
const struct ga_counters *ga_history_end(const struct ga_history *history);
void ga_history_reached(struct ga_history *history, const struct ga_counters *counters);

/* Forgets what was recorded after `counters`, and the changes not made yet by `cursor`. */
void ga_history_forget(struct ga_history *history, const struct ga_counters *counters,
                       size_t cursor);

/* What a user did, to be done again when the record is replayed. */
enum ga_intervention_kind {
    GA_DID_CHANGE,
    GA_DID_SLOW,
    GA_DID_KILL,
    GA_DID_REVIVE,
    GA_DID_FLUSH,
    GA_DID_DISCARD,
    GA_DID_KINDS
};

struct ga_intervention {
    enum ga_intervention_kind kind;
    uint64_t events;              /* counter when it was done */
    struct ga_settings *settings; /* CHANGE: the draft; owned by the history */
    size_t replica;               /* SLOW, KILL, REVIVE */
    double factor;
};

/* Copies `settings` when it is set. */
int ga_history_did(struct ga_history *history, const struct ga_intervention *what);
size_t ga_history_interventions(const struct ga_history *history);
const struct ga_intervention *ga_history_intervention(const struct ga_history *history, size_t k);

/*
 * What was kept, oldest first: the newest `most` events up to number `end`, and all records of up
 * to `windows` closed windows. `each` may end it with a negative code, which is returned.
 */
int ga_history_each_event(const struct ga_history *history, size_t most, uint64_t end,
                          int (*each)(const struct ga_event *event, void *arg), void *arg);
int ga_history_each_record(const struct ga_history *history, uint64_t windows,
                           int (*each)(const struct ga_update_record *record, void *arg),
                           void *arg);
void ga_history_describe(const struct ga_history *history, struct ga_history_info *out);

#endif
