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
#include "train/workers.h"

struct ga_replica {
    struct ga_replica_value v;
    void *sums;       /* its accumulator, a slice of ga_run.sums */
    void *micro_sums; /* the micro-batch being computed by a worker */
    uint32_t *rows;   /* (v.part) */
    size_t rows_capacity;
    struct ga_tally
        kept; /* tally of the last closed window, for explain; sums stay valid with it */
    bool has_kept;
    struct ga_run *run; /* for the task */
    struct ga_task task;
    bool submitted;
    struct ga_tally micro_tally;
    size_t next_first, next_count; /* of its item's examples: the next micro-batch */
    double sole_norm;              /* of the item's only micro-batch, while it is the only one */
    bool has_sole_norm;
    struct ga_error error; /* of the task; code 0: none */
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
    struct ga_window rows; /* of the last window opened */

    struct ga_counters counters;
    enum ga_phase phase;
    int64_t now_ns;
    struct ga_window_state window;
    struct ga_noise noise;
    struct ga_event last_event;
    struct ga_update_record last_record;
    bool has_record;

    size_t replicas;
    struct ga_replica *replica;
    size_t late; /* replicas in state LATE */
    size_t sum_elements, sum_bytes;
    void *sums;           /* (replicas, sum_elements) */
    void *micro_sums;     /* (replicas, sum_elements) with workers, else one */
    void *reduced;        /* (sum_elements) */
    float *gradient;      /* (parameters): g from REDUCE until the next OPEN */
    float *item_gradient; /* (parameters) scratch */
    bool has_gradient;
    const void **buffers; /* (replicas) for the collective */

    struct ga_workers *workers;
    bool parallel; /* micro-batches are worth a hand-over to workers */
    int lanes;
    struct ga_context **context; /* (lanes) opened by the first user */

    struct {
        bool known; /* at the present weights */
        double loss, accuracy;
        uint64_t examples;
    } evaluated[2];      /* training rows, held-out rows */
    double example_rate; /* examples per wall second, told by the engine */

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

/* run_replicas.c: memory that depends on P; lanes and contexts. */
int ga_run_resize(struct ga_run *run, size_t replicas);
void ga_run_release_replicas(struct ga_run *run);
/* Decides, for the settings in force, whether micro-batches go to workers. */
void ga_run_choose_lanes(struct ga_run *run);
int ga_run_open_context(struct ga_run *run, int lane);

/* The context of a lane; NULL with an error. */
static inline struct ga_context *run_context(struct ga_run *run, int lane)
{
    if (!run->context[lane] && ga_run_open_context(run, lane) < 0)
        return NULL;
    return run->context[lane];
}

/* run_item.c: one replica's item. Times are virtual ns. */
int ga_item_start(struct ga_run *run, size_t replica, int64_t time_ns);
int ga_item_micro(struct ga_run *run, size_t replica, int64_t time_ns);
void ga_item_finish(struct ga_run *run, size_t replica, int64_t time_ns);
void ga_item_drop(struct ga_run *run, size_t replica, int64_t time_ns);
void ga_item_make_late(struct ga_run *run, size_t replica);
void ga_item_settle(struct ga_run *run, size_t replica); /* waits for its task */
/* Plans the next micro-batch of a busy replica: when it ends; without one, when the item ends. */
int64_t ga_item_aim(struct ga_replica *replica);

/* run_window.c: the phases of an update; each is one event. */
int ga_window_open_next(struct ga_run *run);
int ga_window_turn(struct ga_run *run);
int ga_window_reduce(struct ga_run *run);
int ga_window_check(struct ga_run *run);
int ga_window_clip(struct ga_run *run);
int ga_window_apply(struct ga_run *run);
int ga_window_clear(struct ga_run *run);

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

/* run_settings.c */
int ga_run_apply_pending(struct ga_run *run);
int ga_run_adopt(struct ga_run *run, const struct ga_settings *settings);
void ga_run_stream_spec(const struct ga_settings *settings, size_t rows,
                        struct ga_stream_spec *out);
void ga_run_optimizer_spec(const struct ga_settings *settings, struct ga_optimizer_spec *out);
size_t ga_run_state_blocks(const struct ga_settings *settings);

/* Copies the table rows of one kind from one valid value to another. */
int ga_run_copy_settings(struct ga_settings *to, const struct ga_settings *from, enum ga_when when);

#endif
