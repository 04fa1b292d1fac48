#include "console/watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "console/watch_inside.h"

#define RING 4096 /* samples */

/*
 * Blocks hold a thousandth of what comes between two looks, so that a look brings a thousand of
 * them at the most, about as many as a chart has columns: as many as came the last time, or more
 * while this time grows longer, and twice as many each time that the backlog is full.
 */
#define LOOK_BLOCKS 1024

/* Staleness of what replicas handed over since the last time. */
static void gather_pushes(struct ga_watch *watch, struct ga_run *run, struct ga_sample *sample)
{
    size_t replicas = ga_run_replicas(run);

    for (size_t r = 0; r < replicas && r < GA_MAX_REPLICAS; r++) {
        const struct ga_replica_value *value = ga_run_replica(run, r);
        bool pushed = value->finished != watch->finished[r];

        watch->finished[r] = value->finished;
        if (!pushed || isnan(value->staleness))
            continue;
        if (!(value->staleness <= sample->staleness))
            sample->staleness = value->staleness;
        if (sample->pushes < GA_WATCH_PUSHES)
            sample->tau[sample->pushes++] =
                (uint16_t)(value->staleness < UINT16_MAX ? value->staleness : UINT16_MAX);
    }
}

static void gather_replicas(struct ga_run *run, struct ga_sample *sample)
{
    sample->replicas = (uint32_t)ga_run_replicas(run);
    for (uint32_t r = 0; r < sample->replicas && r < GA_WATCH_REPLICAS; r++) {
        const struct ga_replica_value *value = ga_run_replica(run, r);

        sample->replica[r].finished = sample->replica[r].has_norm = value->finished > 0;
        sample->replica[r].loss = (float)value->loss;
        sample->replica[r].norm = (float)value->norm;
    }
}

/* A few nanoseconds, good to some milliseconds: a reading of the exact clock costs five times that.
 */
static int64_t coarse_now_ns(void)
{
    struct timespec now = {0, 0};

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void push(struct ga_watch *watch, const struct ga_sample *sample, size_t count)
{
    size_t before = ga_ring_count(watch->ring);

    for (size_t k = 0; k < count; k++)
        ga_ring_push(watch->ring, &sample[k]);
    if (watch->bell && before < RING / 2 && before + count >= RING / 2)
        ga_bell_ring(watch->bell);
}

static bool has_room(const struct ga_watch *watch)
{
    return ga_ring_count(watch->ring) + GA_BUNDLE_SAMPLES <= RING;
}

static void push_bundle(struct ga_watch *watch, const struct ga_bundle *bundle)
{
    struct ga_sample sample[GA_BUNDLE_SAMPLES];

    push(watch, sample, ga_bundle_samples(bundle, sample));
}

static void hand_over_held(struct ga_watch *watch)
{
    const struct ga_bundle *oldest = NULL;

    while (has_room(watch) && (oldest = ga_backlog_oldest(&watch->backlog))) {
        push_bundle(watch, oldest);
        ga_backlog_drop_oldest(&watch->backlog);
    }
    if (watch->holds_place && has_room(watch) && !ga_backlog_oldest(&watch->backlog)) {
        push(watch, &watch->held_place, 1);
        watch->holds_place = false;
    }
    atomic_store(&watch->waits, watch->holds_place || ga_backlog_oldest(&watch->backlog));
}

static bool can_hand_over(struct ga_watch *watch)
{
    if (atomic_load_explicit(&watch->waits, memory_order_relaxed))
        hand_over_held(watch);
    return !atomic_load_explicit(&watch->waits, memory_order_relaxed) && has_room(watch);
}

static uint64_t block_size(const struct ga_watch *watch)
{
    uint64_t least = 1 + watch->since / LOOK_BLOCKS;

    return least > watch->block_of ? least : watch->block_of;
}

static void hand_over(struct ga_watch *watch, const struct ga_bundle *bundle)
{
    if (can_hand_over(watch)) {
        push_bundle(watch, bundle);
        return;
    }
    if (ga_backlog_add(&watch->backlog, bundle))
        watch->block_of = 2 * block_size(watch);
    watch->holds_place = false; /* the window tells the place */
    atomic_store(&watch->waits, true);
}

static void hand_over_place(struct ga_watch *watch, const struct ga_sample *place)
{
    if (can_hand_over(watch)) {
        push(watch, place, 1);
        return;
    }
    watch->held_place = *place;
    watch->holds_place = true;
    atomic_store(&watch->waits, true);
}

static struct ga_figures figures_of(const struct ga_watch *watch,
                                    const struct ga_update_record *record)
{
    return (struct ga_figures){record->update + record->skipped,
                               record->update,
                               record->examples,
                               record->time_ns,
                               watch->wall_ns,
                               record->loss,
                               record->grad_norm};
}

/* The block, whose last window is `last`: NULL when that is not known any more. */
static void flush(struct ga_watch *watch, const struct ga_sample *last)
{
    struct ga_bundle bundle = {.block = watch->block};

    if (last) {
        bundle.has_last = true;
        bundle.last = *last;
    }
    watch->wall_ns = coarse_now_ns();
    watch->block.count = 0;
    hand_over(watch, &bundle);
}

/* With all that is known of the last window. */
static void flush_with(struct ga_watch *watch, struct ga_run *run,
                       const struct ga_update_record *record)
{
    const struct ga_figures figures = figures_of(watch, record);
    struct ga_sample sample = ga_figures_sample(watch->block.run, &figures);

    sample.applied = record->applied;
    sample.mode = record->mode;
    sample.update_norm = record->applied ? record->update_norm : (double)NAN;
    sample.noise_scale = record->noise_trace / record->noise_signal;
    gather_pushes(watch, run, &sample);
    gather_replicas(run, &sample);
    flush(watch, &sample);
}

/* A window that does not follow on the block's last one, or is another run's, begins a new one. */
static void go_on(struct ga_watch *watch, struct ga_run *run, uint64_t windows)
{
    struct ga_block *block = &watch->block;

    if (block->count > 0 && (block->run != (uintptr_t)run || windows != block->newest + 1))
        flush(watch, NULL);
    if (block->count == 0)
        ga_block_begin(block, (uintptr_t)run);
}

static void count_window(struct ga_watch *watch, const struct ga_figures *figures)
{
    ga_block_count(&watch->block, figures);
    watch->since++;
}

static void widen_replicas(struct ga_block *block, struct ga_run *run)
{
    size_t replicas = ga_run_replicas(run);

    for (size_t r = 0; r < replicas && r < GA_WATCH_REPLICAS; r++)
        ga_block_widen_replica(block, r, (float)ga_run_replica(run, r)->loss);
}

static bool is_full(const struct ga_watch *watch)
{
    return watch->block.count >= block_size(watch);
}

/* This is what every update pays. */
static void observe(void *self, struct ga_run *run, const struct ga_update_record *record)
{
    struct ga_watch *watch = self;
    const struct ga_figures figures = figures_of(watch, record);

    go_on(watch, run, figures.windows);
    count_window(watch, &figures);
    widen_replicas(&watch->block, run);
    if (is_full(watch))
        flush_with(watch, run, record);
}

/* The only replica, whose loss is the window's, and whose gradient was never stale. */
static void flush_at_row(struct ga_watch *watch, const struct ga_burst_rows *rows, size_t k,
                         const struct ga_figures *figures)
{
    const struct ga_burst_row *row = &rows->row[k];
    struct ga_sample sample = ga_figures_sample(watch->block.run, figures);

    sample.mode = rows->before.mode;
    sample.update_norm = row->update_norm;
    sample.noise_scale = rows->before.noise_trace / rows->before.noise_signal;
    sample.staleness = 0;
    sample.pushes = 1;
    sample.tau[0] = 0;
    sample.replicas = 1;
    sample.replica[0].finished = sample.replica[0].has_norm = true;
    sample.replica[0].loss = (float)row->loss;
    sample.replica[0].norm = (float)row->grad_norm;
    flush(watch, &sample);
}

/* What every update in a burst pays. */
static void observe_burst(void *self, struct ga_run *run, const struct ga_burst_rows *rows)
{
    struct ga_watch *watch = self;
    const struct ga_update_record *before = &rows->before;

    for (size_t k = 0; k < rows->count; k++) {
        const struct ga_burst_row *row = &rows->row[k];
        const uint64_t on = k + 1;
        const struct ga_figures figures = {before->update + before->skipped + on,
                                           before->update + on,
                                           before->examples + on * before->window_examples,
                                           before->time_ns + (int64_t)on * rows->span_ns,
                                           watch->wall_ns,
                                           row->loss,
                                           row->grad_norm};

        go_on(watch, run, figures.windows);
        count_window(watch, &figures);
        ga_block_widen_replica(&watch->block, 0, (float)row->loss);
        if (is_full(watch))
            flush_at_row(watch, rows, k, &figures);
    }
    watch->finished[0] = ga_run_replica(run, 0)->finished;
}

int ga_watch_open(struct ga_watch **out, struct ga_engine *engine, const struct ga_bell *bell)
{
    struct ga_watch *watch = ga_alloc(1, sizeof *watch);
    struct ga_observer observer = {.update = observe, .burst = observe_burst, .self = watch};

    *out = NULL;
    if (!watch)
        return GA_ENOMEM;
    watch->engine = engine;
    watch->bell = bell;
    if (ga_ring_open(&watch->ring, RING, sizeof(struct ga_sample)) < 0 ||
        ga_backlog_open(&watch->backlog) < 0 || ga_engine_observe(engine, &observer) < 0) {
        ga_ring_close(watch->ring);
        ga_backlog_close(&watch->backlog);
        free(watch);
        return ga_error_code();
    }
    *out = watch;
    return GA_OK;
}

void ga_watch_close(struct ga_watch *watch)
{
    if (!watch)
        return;
    ga_readings_end(watch);
    ga_engine_unobserve(watch->engine, watch);
    ga_ring_close(watch->ring);
    ga_backlog_close(&watch->backlog);
    free(watch->output);
    free(watch->sum);
    free(watch->owner);
    free(watch);
}

static int hand_over_call(struct ga_run *run, void *arg)
{
    (void)run;
    hand_over_held(arg);
    return GA_OK;
}

bool ga_watch_take(struct ga_watch *watch, struct ga_sample *out)
{
    if (ga_ring_pop(watch->ring, out))
        return true;
    /* The ring is empty: there is room for what is held. */
    return atomic_load(&watch->waits) &&
           ga_engine_call(watch->engine, hand_over_call, watch) == GA_OK &&
           ga_ring_pop(watch->ring, out);
}

/* Where the run stands, in the order of the windows. */
static void mark_place(struct ga_watch *watch, struct ga_run *run)
{
    const struct ga_counters *counters = ga_run_counters(run);
    struct ga_sample sample = {
        .run = (uintptr_t)run, .windows = counters->updates + counters->skipped, .place = true};

    /* A block of this run ends here; of another one, or from before going back, as it is. */
    if (watch->block.count > 0 && watch->block.run == (uintptr_t)run &&
        watch->block.newest == sample.windows)
        flush_with(watch, run, ga_run_last_record(run));
    else if (watch->block.count > 0)
        flush(watch, NULL);
    watch->block_of = 1 + watch->since / LOOK_BLOCKS;
    watch->since = 0;
    watch->wall_ns = coarse_now_ns();
    hand_over_place(watch, &sample);
}

static int look_call(struct ga_run *run, void *arg)
{
    const struct ga_look *look = arg;

    mark_place(look->watch, run);
    return ga_closeup_make(run, look);
}

int ga_watch_look(struct ga_watch *watch, unsigned parts, size_t position, struct ga_closeup *out)
{
    struct ga_look look = {watch, parts, position, out};

    if (ga_engine_call(watch->engine, look_call, &look) < 0)
        return ga_error_code();
    ga_readings_make(watch, parts, out);
    if ((parts & GA_LOOK_SPANS) == 0)
        return GA_OK;
    memset(&watch->maker, 0, sizeof watch->maker);
    watch->maker.out = out;
    watch->maker.last_push_ns = INT64_MIN;
    out->spans = 0;
    return ga_engine_events(watch->engine, GA_SPANS, ga_closeup_event, &watch->maker);
}
