/*
 * One training history: a data set, settings, P replicas, a policy and a virtual clock, advanced
 * event by event. Thread-free: whoever calls owns it (in the program the engine thread does; others
 * reach it through ga_engine_call()). It may use worker threads of its own inside a call.
 *
 * Where numbers come from: semantics of the window rule. Accumulators hold sums and weights, both
 * are reduced over replicas, and the division happens once.
 */
#ifndef GA_TRAIN_RUN_H
#define GA_TRAIN_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "compute/net.h"
#include "dataset/dataset.h"
#include "model/model.h"
#include "settings/settings.h"
#include "train/burst.h"
#include "train/devices.h"
#include "train/event.h"
#include "train/metrics.h"
#include "train/state.h"

struct ga_run;
struct ga_workers; /* a pool of threads, workers.h */

/* What a run starts from. The data set is shared, the weights are copied. */
struct ga_run_start {
    struct ga_dataset *data;
    struct ga_settings settings;
    const float *weights; /* for init file: in file order; else NULL */
    size_t weights_count;
    struct ga_workers *workers;       /* borrowed; NULL: everything inline */
    const struct ga_compute *compute; /* NULL: what the settings mean for the model */
};

/* The net that settings and data ask for; refuses what does not fit (and says which `set` would).
 */
int ga_run_net(const struct ga_settings *settings, const struct ga_dataset *data,
               struct ga_net *out);

/* The numerics that settings mean for a net: exact or fast, never auto; and the device for them,
 * NULL with an error when this build has none. */
enum ga_numerics ga_run_numerics(const struct ga_settings *settings, const struct ga_net *net);
const struct ga_compute *ga_run_compute(const struct ga_settings *settings,
                                        const struct ga_net *net);

/* Blocks of optimizer state that the server keeps, and, in mode local, each replica. */
size_t ga_run_state_blocks(const struct ga_settings *settings);
size_t ga_run_private_blocks(const struct ga_settings *settings);

/* A line for each GPU, or why there is none: opens the CUDA module if it must. */
void ga_run_describe_cards(struct ga_text *out);

/* How gradients meet, in a few words. */
const char *ga_run_collective(const struct ga_run *run);
/* Whether the last window was reduced while its gradients were still being computed. */
bool ga_run_overlaps(const struct ga_run *run);

/* Rules between settings, and between settings and data (NULL: none yet). */
int ga_run_check_settings(const struct ga_settings *settings, const struct ga_dataset *data);

/*
 * The budget of a replica, the setting memory: refuses a micro-batch that is too large, naming the
 * largest that fits (0: none; without a budget GA_MAX_WINDOW) and the accumulation that keeps the
 * window. ga_run_keep_window() sets accum, and batch or global, so that a window of `window`
 * examples goes in micro-batches of at most `batch`.
 */
int ga_run_check_memory(const struct ga_settings *settings, const struct ga_dataset *data);
size_t ga_run_largest_batch(const struct ga_settings *settings, const struct ga_net *net,
                            const struct ga_compute *compute);
void ga_run_keep_window(struct ga_settings *settings, size_t window, size_t batch);

/* Refuses model and data that do not fit, windows beyond the exact bound, tails that cannot work.
 */
int ga_run_open(struct ga_run **out, const struct ga_run_start *start);
void ga_run_close(struct ga_run *run);

/* One event forward. On a non-finite window with `stop`: GA_ENONFINITE, the run stays before APPLY.
 */
int ga_run_event(struct ga_run *run);

/*
 * Updates that are like the last one, which the device can do in a burst: at a boundary, with one
 * replica that takes all data in one micro-batch, time and settings that do not change, and a net
 * that is small. ga_run_burst() finds out what the next `count` (up to GA_BURST_MOST) lead to and
 * returns how many can be done: the one after them does not give a finite gradient, or is for
 * ga_run_event(). The run stays where it is until ga_run_take_burst() goes there, no events being
 * told: `*out` says what happened and borrows `row`. After what is taken an update by
 * ga_run_event() must follow before the run is shown.
 */
bool ga_run_repeats(const struct ga_run *run);
int ga_run_burst(struct ga_run *run, size_t count, struct ga_burst_row *row);
void ga_run_take_burst(struct ga_run *run, const struct ga_burst_row *row,
                       struct ga_burst_rows *out);

/* Who is told of events and closed windows, on the calling thread; either may be NULL. */
void ga_run_watch(struct ga_run *run, void (*on_event)(void *self, const struct ga_event *event),
                  void (*on_record)(void *self, const struct ga_update_record *record), void *self);

/* After GA_ENONFINITE: fills in update, replica and micro-batch (else -1). */
void ga_run_fault(const struct ga_run *run, struct ga_error *error);

/* Epochs of the stream that are used up. */
uint64_t ga_run_epochs_done(const struct ga_run *run);

/* The wall-clock rate that GA_METRIC_EXAMPLE_RATE shows; whoever drives the run measures it. */
void ga_run_tell_rate(struct ga_run *run, double examples_per_second);

/*
 * Real clock: whether the next event may happen; if not, `*due_ns` is the wall time (ga_now_ns())
 * at which one may, INT64_MAX when a worker has to finish first: then `wake` is called, from any
 * thread. ga_run_pause() stops the clock until the next ga_run_ready(). On the virtual clock always
 * true.
 */
bool ga_run_ready(struct ga_run *run, int64_t *due_ns);
void ga_run_pause(struct ga_run *run);
void ga_run_on_wake(struct ga_run *run, void (*wake)(void *self), void *self);
void ga_run_forget_race(struct ga_run *run); /* what was recorded beyond the present turn */
/* The first turn on record: what lies before cannot happen again. 0 on the virtual clock. */
uint64_t ga_run_race_begins(const struct ga_run *run);
uint64_t ga_run_race_bytes(const struct ga_run *run); /* within GA_RACE_SHARE of history-budget */
#define GA_RACE_SHARE 16
bool ga_run_reproducible(const struct ga_run *run); /* false: hogwild on the real clock */

/* Where it stands. */
const struct ga_counters *ga_run_counters(const struct ga_run *run);
enum ga_phase ga_run_phase(const struct ga_run *run);
bool ga_run_at_boundary(const struct ga_run *run); /* no window open */
/* Windows closed, applied or skipped: an applied one closes with CLEAR. */
uint64_t ga_run_windows_closed(const struct ga_run *run);
int64_t ga_run_now(const struct ga_run *run);
const struct ga_net *ga_run_net_of(const struct ga_run *run);
const struct ga_compute *ga_run_compute_of(const struct ga_run *run); /* its device, numerics */
struct ga_dataset *ga_run_data(const struct ga_run *run);
const struct ga_settings *ga_run_settings(const struct ga_run *run); /* in force */
uint64_t ga_run_settings_epoch(const struct ga_run *run);            /* one more with each change */
const struct ga_settings *ga_run_pending(const struct ga_run *run);  /* with what is pending */
uint64_t ga_run_next_window_update(const struct ga_run *run); /* number a change holds from */
uint64_t ga_run_hash(const struct ga_run *run);
const struct ga_version *ga_run_version(const struct ga_run *run); /* newest weights, borrowed */
struct ga_version *ga_run_share_version(const struct ga_run *run); /* owned, where they are */
size_t ga_run_replicas(const struct ga_run *run);
const struct ga_replica_value *ga_run_replica(const struct ga_run *run, size_t replica);
/* Where the replica computed last; thread 0 is whoever calls ga_run_event(). */
void ga_run_seat(const struct ga_run *run, size_t replica, struct ga_seat *out);
/* Items that start from now on, for so many updates, are timed on their devices, at the cost of two
 * events for each micro-batch; else that is not known. */
void ga_run_time_work(struct ga_run *run, uint64_t updates);
const struct ga_window_state *ga_run_window(const struct ga_run *run);

/* Mean gradient (sum / weight) of one replica's accumulator, host; norm 0 when it is empty. */
int ga_run_accumulator(const struct ga_run *run, size_t replica, double *sums, double *weight);
/*
 * Rows of the data that a replica works on, or else had in the last window: borrowed, valid until
 * the next event. NULL and 0 when it has none.
 */
const uint32_t *ga_run_rows(const struct ga_run *run, size_t replica, size_t *count);
/* g of the window, known from REDUCE until the next window opens; NULL otherwise. */
const float *ga_run_gradient(const struct ga_run *run);

/* A metric now; NaN where it is not defined yet. `replica` < 0: of the run. */
double ga_run_metric(struct ga_run *run, enum ga_metric metric, int32_t replica);

/* Loss (and accuracy, for classes; else NaN) over training (test false) or held-out rows. */
int ga_run_evaluate(struct ga_run *run, bool test, double *loss, double *accuracy,
                    uint64_t *examples);
/* Outputs at the present weights for `count` rows from `first`: (count, outputs). */
int ga_run_predict(struct ga_run *run, size_t first, size_t count, float *outputs);

/* Changes, each valid at any event boundary. The checks say beforehand what would be refused. */
int ga_run_change(struct ga_run *run,
                  const struct ga_settings *draft);                 /* NOW and WINDOW settings */
int ga_run_slow(struct ga_run *run, size_t replica, double factor); /* from its next item */
int ga_run_check_kill(const struct ga_run *run, size_t replica);
int ga_run_check_revive(const struct ga_run *run, size_t replica);
int ga_run_kill(struct ga_run *run, size_t replica);   /* its item is dropped; it starts no more */
int ga_run_revive(struct ga_run *run, size_t replica); /* pulls fresh weights, empty own state */
int ga_run_flush(struct ga_run *run);   /* closes the window with what is accumulated */
int ga_run_discard(struct ga_run *run); /* drops it; counted as skipped */
int ga_run_check_slow(const struct ga_run *run, size_t replica, double factor);
int ga_run_check_flush(const struct ga_run *run);
int ga_run_check_discard(const struct ga_run *run);

/*
 * What a user asked for, after the run's place in time was changed: NOW and START settings stay as
 * they are in `draft`, and the NOW ones are put in force; WINDOW settings follow the run.
 */
int ga_run_settle_draft(struct ga_run *run, struct ga_settings *draft);

/*
 * The whole state, and back. The run's data, net and device must be those of the state. A captured
 * state has no record of a race, which grows with the run; ga_run_capture_race() adds it. Restoring
 * a state with one replaces the run's; without one the run keeps its own where that holds the
 * state's turn, so that what was recorded beyond it happens again, and else begins a new one.
 */
int ga_run_capture(const struct ga_run *run, struct ga_state *out);
int ga_run_capture_race(const struct ga_run *run, struct ga_state *state);
/*
 * Fills in what of the state lies in the struct itself, where the rest is no more than the
 * replicas' values: no replica holds rows, sums or weights, and the stream has one position. False
 * otherwise. Takes no references and no memory: what `out` points to is the run's, and
 * ga_state_fini() is not for it.
 */
bool ga_run_glance(const struct ga_run *run, struct ga_state *out);
int ga_run_restore(struct ga_run *run, const struct ga_state *state);

/* The last events and update records, newest last. */
const struct ga_event *ga_run_last_event(const struct ga_run *run); /* kind NONE before the first */
const struct ga_update_record *ga_run_last_record(const struct ga_run *run); /* NULL before */

/* Memory of one replica to the byte, and of the whole run, its data included. */
void ga_run_memory(const struct ga_run *run, struct ga_memory *replica, uint64_t *run_bytes,
                   uint64_t *history_bytes);

/* What is taken of a card's memory, by all runs on it, in bytes; and what is free and there. */
struct ga_card_memory {
    size_t card;
    size_t used[GA_DEVICE_USES];
    uint64_t taken; /* of the card: all uses but GA_USE_PINNED */
    uint64_t free, total;
};
/* Of the run's nth card; false: it has no more, or the card does not answer. */
bool ga_run_card_memory(const struct ga_run *run, size_t nth, struct ga_card_memory *out);

/*
 * The arithmetic of the last event in words and numbers, for parameter `position`: every replica's
 * sum and weight, the total, the division, clip, lr, old and new value, and where TensorFlow would
 * have summed over replicas.
 */
int ga_run_explain(struct ga_run *run, size_t position, struct ga_text *out);

/* "layers.0.weight[2]", "layers.0.weight[4,0]", "layers.0.weight": tensor and range of parameters.
 */
int ga_run_parameters(const struct ga_run *run, const char *text, size_t *first, size_t *count);

#endif
