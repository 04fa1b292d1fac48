/*
 * A run from the inside, shared by the run_*.c files only.
 *
 * Ownership: the run owns all it points to except the worker pool. Versions are shared with
 * histories. While a replica's task is submitted, its rows, its read version and its micro_sums
 * belong to the pool.
 */
#ifndef GA_TRAIN_RUN_INTERNAL_H
#define GA_TRAIN_RUN_INTERNAL_H

#include "base/error.h"
#include "collective/collective.h"
#include "compute/compute.h"
#include "train/clock.h"
#include "train/policy.h"
#include "train/run.h"
#include "train/sharpness.h"
#include "train/time_model.h"
#include "train/workers.h"

/* How an item is cut into micro-batches, worked out once for items that are alike. */
struct ga_item_cut {
    uint32_t examples, micros; /* of the items it is for */
    uint32_t whole, longer; /* micro-batches have `whole` examples, the first `longer` one more */
    int64_t span_ns;        /* of the items */
    int64_t each_ns;        /* time of one example, where it is whole; else -1 */
};

struct ga_replica {
    struct ga_replica_value v;
    void *sums;       /* its accumulator, a slice of ga_run.sums */
    void *micro_sums; /* the micro-batch being computed by a worker */
    uint32_t *rows;   /* (v.part) */
    size_t rows_capacity;
    uint32_t *step_count; /* (v.steps) local: examples of each private step */
    size_t step_capacity;
    struct ga_hogwild_item *hogwild; /* its item under way, else NULL */
    struct ga_tally
        kept; /* tally of the last closed window, for explain; sums stay valid with it */
    bool has_kept;
    struct ga_run *run; /* for the task */
    struct ga_task task;
    atomic_int lane; /* that computed for it last; written by whoever computes */
    bool submitted;
    bool timed;            /* its item's work is */
    double work, work_now; /* s: of its last item, NaN where it was not timed; of this one so far */
    /* Its task, and then its item, told the collective the parts of the sums of its last
     * micro-batch, in `total` where there was one before, else in micro_sums. */
    bool told;
    void *total; /* as `sums`; NULL where no run_overlaps() */
    struct ga_tally micro_tally;
    size_t next_first, next_count; /* of its item's examples: the next micro-batch */
    bool next_whole; /* it is all of the data: added up in file order, whatever the permutation */
    struct ga_item_cut cut;
    struct ga_time_ahead ahead;
    double sole_norm; /* of the item's only micro-batch, while it is the only one */
    bool has_sole_norm;
    float *mean; /* (parameters) mean gradient in `sums`, while has_mean: for the cosine; NULL where
                    the device has parts */
    bool has_mean;
    struct ga_tally raced; /* hogwild on the real clock: what a worker made of the whole item */
    struct ga_settings_share *terms; /* and the settings it works by, while it is submitted */
    struct ga_error error;           /* of the task; code 0: none */
    double micro_square;             /* of micro_tally's batch: |sum of its gradient|^2, where the
                                        device tells it */
};

struct ga_run {
    const struct ga_compute *compute;
    const struct ga_collective *collective;
    const struct ga_policy *policy;
    const struct ga_clock_kind *clock_kind;
    struct ga_group *group;
    struct ga_clock_state *clock;

    struct ga_net net;
    struct ga_dataset *data;
    const struct ga_table *table; /* of data */
    struct ga_settings_share *settings, *pending;
    struct ga_version *server, *previous; /* previous: before the last APPLY; NULL at first */
    struct ga_stream *stream;
    struct ga_window rows; /* of the last window taken from the stream */
    size_t next_piece;   /* push modes: its first piece not handed out; none left: rows.replicas */
    double piece_weight; /* weight of that window */

    struct ga_counters counters;
    enum ga_phase phase;
    bool has_record;   /* last_record is one */
    bool has_gradient; /* `gradient` is that of the last window */
    bool has_average;  /* `average` is that of the open round */
    bool draining;     /* items under way end before the pending settings take effect */
    bool other_modes;  /* it was in a mode other than sync at some time */
    bool asked;        /* nothing but asked_clock and asked_closed has changed for the waiting */
    bool live;         /* real clock: workers have their tasks and the clock runs */
    bool parallel;     /* micro-batches are worth a hand-over to workers */
    int64_t now_ns;
    struct ga_window_state window;
    struct ga_noise noise;
    struct ga_event last_event;
    struct ga_update_record last_record;

    size_t replicas;
    struct ga_replica *replica;
    size_t late; /* replicas in state LATE */
    size_t sum_elements, sum_bytes;
    struct {
        bool known; /* a GPU */
        struct ga_pci pci;
    } card[GA_MAX_DEVICES];           /* by place */
    size_t places;                    /* cards that replicas take turns on; 1 for plain memory */
    void *sums[GA_MAX_DEVICES];       /* by place: (its replicas, sum_elements) */
    void *micro_sums[GA_MAX_DEVICES]; /* likewise with workers, else one by place */
    void *totals[GA_MAX_DEVICES];     /* likewise, each for one replica; NULL: none yet */
    void *reduced;                    /* (sum_elements), at the first place */
    float *gradient;                  /* (parameters): g from REDUCE until the next OPEN */
    float *item_gradient;             /* (parameters) scratch */
    float *means;                     /* (replicas, parameters) */
    const void **buffers;             /* (replicas) for the collective */
    struct ga_parts *parts;           /* NULL where the device has no parts */
    /* With has_gradient: what `gradient` is still to be made of, the sums of a replica that was
     * alone in its window, and what to divide them by. NULL: it is made. */
    const void *owed;
    double owed_divisor;
    uint64_t timed_before; /* that many closed windows, items that start are timed */
    bool in_parts;         /* the open window's last micro-batches tell their sums in parts */
    bool overlapped;       /* and those of the last window that was reduced did */
    bool lazy;             /* `reduced` is not made: replicas' sums in the window add up to it */

    struct ga_version *ahead;   /* what the burst that was made last leads to, until it is taken */
    struct ga_step *burst_step; /* (burst_steps) scratch */
    size_t burst_steps;

    struct ga_version *
        *recent; /* (recent_count) delay: versions before the server's, oldest first */
    size_t recent_count, recent_capacity;
    int64_t server_free_ns;
    size_t waiting;       /* replicas in state READY that take part; kept in push modes, as is: */
    size_t absent;        /* replicas that take no part: killed ones, and those without rows */
    uint64_t least_clock; /* over those that take part; UINT64_MAX: none do */
    size_t at_least;      /* how many of them stand there */
    uint64_t asked_clock,
        asked_closed; /* least clock, closed windows, when the waiting were asked */
    uint64_t stale[GA_STALENESS_BINS];
    struct ga_stretch stretch;
    float *average;               /* (parameters) local: after REDUCE until CLEAR */
    _Atomic float *shared;        /* (parameters) hogwild: weights being written; else NULL */
    atomic_uint *shared_writes;   /* (parameters) how often each was written */
    atomic_ullong shared_updates; /* counters.updates, for workers */
    atomic_ullong shared_lost;    /* writes undone; joins counters.lost at the turn */

    struct ga_race_turn *race; /* real clock: the turns since `race_base` of them */
    size_t race_count, race_capacity;
    uint64_t race_base;
    size_t turn_of; /* replica whose turn the event under way is; SIZE_MAX: none */
    int64_t turn_ns;
    void (*wake)(void *self); /* a worker finished something; any thread */
    void *wake_self;
    struct ga_workers *own_workers; /* real clock: as many threads as lanes */

    struct ga_workers *workers;
    int lanes;
    struct ga_context **context;  /* (lanes) opened by the first user */
    atomic_size_t micro_examples; /* room that a context opens with; workers open them too */
    atomic_size_t contexts; /* that are open: others than a lane's thread count them by this */

    struct {
        bool known; /* at the present weights */
        double loss, accuracy;
        uint64_t examples;
    } evaluated[2];      /* training rows, held-out rows */
    double example_rate; /* examples per wall second, told by the engine */
    struct {
        struct ga_version *of; /* weights it was found at; NULL: none yet */
        struct ga_sharpness value;
    } sharpness;

    void (*on_event)(void *self, const struct ga_event *event); /* may be NULL */
    void (*on_record)(void *self, const struct ga_update_record *record);
    void *sink;
};

static inline const struct ga_settings *run_set(const struct ga_run *run)
{
    return &run->settings->value;
}

/* All rows of the data; which ones is for the caller to say. */
static inline struct ga_batch run_batch(const struct ga_run *run)
{
    return (struct ga_batch){
        .inputs = run->table->inputs,
        .targets = run->table->targets,
        .labels = run->table->labels,
        .weights = run->table->weights,
    };
}

/* run_places.c: cards. A place counts the cards in use; a card's number is its runtime's. */
size_t ga_run_card_at(const struct ga_run *run, size_t place);
void ga_run_find_cards(struct ga_run *run); /* where they sit, for monitors */
int ga_run_find_places(const struct ga_settings *settings, const struct ga_compute *compute,
                       size_t *places);
void *ga_run_alloc_sums(const struct ga_run *run, size_t place, size_t count); /* with free() */
/* `count` blocks of parameters that mean() writes and the host reads after ga_buffer_fetch(). */
int ga_run_hold_means(const struct ga_run *run, float *means, size_t count);
void ga_run_free_means(const struct ga_run *run, float *means, size_t count); /* NULL is fine */

/* run_replicas.c: memory that depends on P; lanes and contexts. */
int ga_run_resize(struct ga_run *run, size_t replicas);
void ga_run_release_replicas(struct ga_run *run);
/* Decides, for the settings in force, whether micro-batches go to workers. */
void ga_run_choose_lanes(struct ga_run *run);
int ga_run_open_context(struct ga_run *run, int lane);

int ga_run_next_window(struct ga_run *run); /* of the stream, into its rows; all or nothing */

/*
 * Room for `count` rows of one item; at once for the replica's share of an epoch, which few windows
 * go beyond: so memory does not depend on how a window is cut.
 */
int ga_run_room_for_rows(struct ga_run *run, struct ga_replica *replica, size_t count);

/* The context of a lane; NULL with an error. */
static inline struct ga_context *run_context(struct ga_run *run, int lane)
{
    if (!run->context[lane] && ga_run_open_context(run, lane) < 0)
        return NULL;
    return run->context[lane];
}

/* run_item.c: one replica's item. Times are virtual ns. */
int ga_item_start(struct ga_run *run, size_t replica, int64_t time_ns);
int64_t ga_item_part_of(int64_t span_ns, uint64_t done, uint64_t all); /* done/all of a span */
int ga_item_micro(struct ga_run *run, size_t replica, int64_t time_ns);
/* As `micros` micro-batches that a worker has added up already; the sums are the replica's. */
int ga_item_take_whole(struct ga_run *run, size_t replica, int64_t time_ns, uint32_t micros);
void ga_item_rest(struct ga_run *run, size_t replica, int64_t time_ns);   /* its work is done */
void ga_item_finish(struct ga_run *run, size_t replica, int64_t time_ns); /* and handed over */
void ga_item_drop(struct ga_run *run, size_t replica, int64_t time_ns);
void ga_item_make_late(struct ga_run *run, size_t replica);
void ga_item_hand_over(struct ga_run *run, size_t replica); /* by run_submit() below only */
void ga_item_worked(struct ga_replica *replica);            /* on a worker: its task is done */
struct ga_replica *ga_item_of_task(struct ga_task *task);
void ga_item_settle(struct ga_run *run, size_t replica);   /* waits for its task */
void ga_item_schedule(struct ga_run *run, size_t replica); /* its next event by its state */
/* What it has handed over: of its item, in local mode of its round. */
const struct ga_tally *ga_item_tally(const struct ga_run *run, const struct ga_replica_value *v);
struct ga_event *ga_item_event(struct ga_run *run, enum ga_event_kind kind, size_t replica);
double ga_item_row_weight(const struct ga_run *run, const uint32_t *rows, size_t count);
bool ga_item_may_start(const struct ga_run *run, size_t replica);
/* Plans the next micro-batch of a busy replica: when it ends; without one, when the item ends. */
int64_t ga_item_aim(struct ga_replica *replica);

/* The replica's next micro-batch, if there is one, goes to a worker, where workers compute. */
static inline void run_submit(struct ga_run *run, size_t replica)
{
    if (run->parallel || run->live)
        ga_item_hand_over(run, replica);
}

/* run_compute.c. `onto` NULL or what the sums join, where run_joins(); elsewhere the caller adds.
 * `told` NULL: nobody is. */
int ga_item_compute(struct ga_run *run, struct ga_replica *replica, int lane, const void *onto,
                    void *sums, const struct ga_told *told);

/* run_window.c: the phases of an update; each is one event. */
int ga_window_open_next(struct ga_run *run);
int ga_window_turn(struct ga_run *run);
int ga_window_reduce(struct ga_run *run);
int ga_window_make_reduced(const struct ga_run *run); /* makes `reduced` what it stands for */
int ga_window_check(struct ga_run *run);
int ga_window_clip(struct ga_run *run);
int ga_window_apply(struct ga_run *run);
int ga_window_clear(struct ga_run *run);
void ga_window_close(struct ga_run *run, bool cancel);
void ga_window_begin(struct ga_run *run); /* an empty window or buffer, one number on */

/* run_overlap.c: sums that are reduced while the last micro-batches are still computed. */
void ga_overlap_begin(struct ga_run *run, uint32_t active); /* a window, with so many replicas */
bool ga_overlap_tells(const struct ga_run *run, const struct ga_replica *replica);
void ga_overlap_work(struct ga_task *task, int lane); /* of a replica that tells */
int ga_overlap_reduce(struct ga_run *run);            /* all in parts, or all at once */
void ga_overlap_drop(struct ga_run *run);             /* before what was told changes */

/* run_parts.c: passes over the parameters. */
int ga_parts_open(struct ga_parts **out, size_t parameters, size_t lanes, size_t ranks);
void ga_parts_close(struct ga_parts *parts);
size_t ga_parts_bytes(size_t parameters, size_t lanes, size_t ranks);
/* Gradient, window.norm, cosines; the gradient of a lone replica is only owed. */
void ga_parts_mean(struct ga_run *run, double divisor);
void ga_parts_settle(struct ga_run *run); /* before the sums change: makes what is owed */
/* `next` and its norm, from the server's weights; window.update_norm. */
void ga_parts_step(struct ga_run *run, const struct ga_step *step, struct ga_version *next);

/* run_update.c: from a window's sums to new weights. */
int ga_update_examine(const struct ga_run *run); /* GA_OK, or GA_ENONFINITE with text */
int ga_update_report(const struct ga_run *run, const struct ga_replica *replica);
int ga_update_step(struct ga_run *run); /* optimizer step at window.lr; publishes the version */
int ga_update_publish(struct ga_run *run, struct ga_version *next);
double ga_update_rate(const struct ga_settings *settings, uint64_t update);
int ga_update_pull(struct ga_run *run, struct ga_version **out); /* what a replica reads now */
void ga_update_forget_recent(struct ga_run *run, size_t keep);

/* run_push.c: push modes; one event is a micro-batch, an arrival or a replica's turn. */
int ga_push_event(struct ga_run *run);
int ga_push_start(struct ga_run *run);   /* whoever waits and may */
void ga_push_expect(struct ga_run *run); /* how many pushes close the buffer */
int ga_push_check_flush(const struct ga_run *run);
int ga_push_check_discard(const struct ga_run *run);
int ga_push_flush(struct ga_run *run);
int ga_push_discard(struct ga_run *run);

/* run_local.c: rounds of private steps. */
int ga_local_deal(struct ga_run *run, uint32_t *active); /* a round of windows */
int ga_local_pull(struct ga_run *run, size_t replica);
int ga_local_forget(struct ga_run *run, size_t replica);
int ga_local_step(struct ga_run *run, size_t replica); /* after the last micro-batch of a step */
int ga_local_average(struct ga_run *run);
int ga_local_apply(struct ga_run *run);

/* run_hogwild.c */
int ga_hogwild_enter(struct ga_run *run); /* the server's weights become the shared ones */
void ga_hogwild_leave(struct ga_run *run);
int ga_hogwild_pull(struct ga_run *run, size_t replica);
int ga_hogwild_start(struct ga_run *run, size_t replica);
bool ga_hogwild_between(const struct ga_run *run, size_t replica); /* a coordinate comes next */
int ga_hogwild_touch(struct ga_run *run, size_t replica, int64_t time_ns);
int ga_hogwild_compute(struct ga_run *run, size_t replica, int64_t time_ns);
int ga_hogwild_publish(struct ga_run *run); /* the shared weights as a version */
int64_t ga_hogwild_next(const struct ga_run *run, size_t replica); /* time of its next step */
int ga_hogwild_item_open(struct ga_hogwild_item **out, size_t parameters);
void ga_hogwild_item_close(struct ga_hogwild_item *item);
void ga_hogwild_race(struct ga_task *task, int lane); /* the whole item, on a worker */
int ga_hogwild_gather(struct ga_run *run, size_t replica, int64_t time_ns); /* what it came to */
void ga_hogwild_copy(const struct ga_run *run, float *weights, uint32_t *writes);

/* run_race.c */
bool ga_race_next(struct ga_run *run, size_t *replica, int64_t *time_ns);
int ga_race_note(struct ga_run *run, size_t replica, int64_t time_ns); /* the event has happened */
int ga_race_room(struct ga_run *run, const struct ga_state *state);
void ga_race_restore(struct ga_run *run, const struct ga_state *state); /* cannot fail */

/* run_boundary.c: pending settings at an update boundary. */
int ga_run_boundary(struct ga_run *run);
/* At a boundary, with a change of mode, replicas or sharding to make at once. */
bool ga_run_may_change_kind(const struct ga_run *run);
int ga_run_enter_mode(struct ga_run *run); /* after the settings in force changed their kind */
/* Who takes part, who waits, who is slowest: after anything but an event has changed that. */
void ga_run_take_stock(struct ga_run *run);
void ga_run_advance_clock(struct ga_run *run, size_t replica); /* it has finished an item */

/*
 * Starts an event of which only the kind and the replica (-1: none) are known, in the place of the
 * last one: filled in and handed to ga_run_emit() before anything can fail. Field by field, because
 * gcc clears a whole struct of this size by `rep stos`, which takes longer than recording it.
 */
static inline struct ga_event *run_event(struct ga_run *run, enum ga_event_kind kind,
                                         int32_t replica)
{
    struct ga_event *event = &run->last_event;

    event->sequence = event->update = event->version = 0;
    event->time_ns = event->start_ns = 0;
    event->loss = event->norm = event->weight = event->value = 0;
    event->examples = event->micro = event->micros = 0;
    event->replica = replica;
    event->kind = (uint8_t)kind;
    return event;
}

/* run_record.c */
void ga_run_emit(struct ga_run *run);
void ga_run_record_window(struct ga_run *run);
void ga_run_noise(struct ga_run *run);
uint64_t ga_run_closed(const struct ga_run *run);

/* run_metrics_modes.c: readers of single metrics. */
double ga_read_staleness_mean(struct ga_run *run);
double ga_read_staleness_max(struct ga_run *run);
double ga_read_pushes(struct ga_run *run);
double ga_read_private_steps(struct ga_run *run);
double ga_read_drift(struct ga_run *run);
double ga_read_lost(struct ga_run *run);
double ga_read_killed(struct ga_run *run);
double ga_read_sharpness(struct ga_run *run);

/* run_settings.c */
int ga_run_apply_pending(struct ga_run *run);
int ga_run_adopt(struct ga_run *run, const struct ga_settings *settings);
void ga_run_stream_spec(const struct ga_settings *settings, size_t rows,
                        struct ga_stream_spec *out);
void ga_run_optimizer_spec(const struct ga_settings *settings, struct ga_optimizer_spec *out);

/* Copies the table rows of one kind from one valid value to another. */
int ga_run_copy_settings(struct ga_settings *to, const struct ga_settings *from, enum ga_when when);

/* run_state_modes.c: the part of a state that only modes other than sync have. */
int ga_run_capture_modes(const struct ga_run *run, struct ga_state *out);
int ga_run_room_for_modes(struct ga_run *run, const struct ga_state *state);
void ga_run_restore_modes(struct ga_run *run, const struct ga_state *state); /* cannot fail */

/* Micro-batches join the accumulator in the device, which tells their norms. */
static inline bool run_joins(const struct ga_run *run)
{
    return run->compute->accumulate != NULL;
}

static inline bool run_is(const struct ga_run *run, enum ga_family family)
{
    return run->policy->family == family;
}

/* With shards of their own and fewer rows than replicas, the last ones have nothing to work on. */
static inline bool run_has_rows(const struct ga_run *run, size_t replica)
{
    return run_set(run)->sharding == GA_SHARD_STREAM || replica < run->table->train;
}

/* Items under way end before the pending settings take effect. */
static inline bool run_drains(const struct ga_run *run)
{
    return run->draining && run->pending;
}

static inline bool run_takes_part(const struct ga_run *run, size_t replica)
{
    return !run->replica[replica].v.dead && run_has_rows(run, replica);
}

/* Its next event is on the clock. */
static inline bool run_has_event(const struct ga_replica_value *v)
{
    return v->state == GA_REPLICA_BUSY || v->state == GA_REPLICA_LATE ||
           v->state == GA_REPLICA_SENDING;
}

/* Replicas go on by themselves and push to a server. */
static inline bool ga_run_pushes(const struct ga_run *run)
{
    return run_is(run, GA_FAMILY_PUSH) || run_is(run, GA_FAMILY_SHARED);
}

#endif
