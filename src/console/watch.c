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
 * while this time grows longer.
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

/* The one that a curve must not lose: not finite before finite, else the larger. */
static double worse(double a, double b)
{
    if (!isfinite(a) || !isfinite(b))
        return isfinite(a) ? b : a;
    return a > b ? a : b;
}

/* Two windows as one: the later place, the worse figures. */
static void merge(struct ga_sample *held, const struct ga_sample *fresh)
{
    struct ga_sample both = *fresh;

    if (held->run == fresh->run) {
        both.loss = worse(held->loss, fresh->loss);
        both.grad_norm = worse(held->grad_norm, fresh->grad_norm);
        if (!(both.staleness >= held->staleness))
            both.staleness = held->staleness;
    }
    *held = both;
}

static void hand_over_held(struct ga_watch *watch)
{
    if (watch->holds && ga_ring_push(watch->ring, &watch->held))
        watch->holds = false;
    if (!watch->holds && watch->holds_place && ga_ring_push(watch->ring, &watch->held_place))
        watch->holds_place = false;
    atomic_store(&watch->waits, watch->holds || watch->holds_place);
}

static void hold(struct ga_watch *watch, const struct ga_sample *sample)
{
    if (sample->place) {
        watch->held_place = *sample;
        watch->holds_place = true;
    } else if (watch->holds) {
        merge(&watch->held, sample);
        watch->holds_place = false;
    } else {
        watch->held = *sample;
        watch->holds = true;
        watch->holds_place = false;
    }
    atomic_store(&watch->waits, true);
}

static void hand_over(struct ga_watch *watch, const struct ga_sample *sample)
{
    if (watch->holds || watch->holds_place)
        hand_over_held(watch);
    if (watch->holds || watch->holds_place || !ga_ring_push(watch->ring, sample))
        hold(watch, sample);
    if (watch->bell && ga_ring_count(watch->ring) == RING / 2)
        ga_bell_ring(watch->bell);
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

static struct ga_sample sample_of(const struct ga_block *block, const struct ga_figures *figures)
{
    return (struct ga_sample){.run = block->run,
                              .windows = figures->windows,
                              .update = figures->update,
                              .examples = figures->examples,
                              .time_ns = figures->time_ns,
                              .wall_ns = figures->wall_ns,
                              .applied = true,
                              .loss = figures->loss,
                              .grad_norm = figures->grad_norm,
                              .update_norm = (double)NAN,
                              .noise_scale = (double)NAN,
                              .staleness = (double)NAN};
}

/* One end of what a block's windows spread over, in place of its first or second window. */
static void hand_over_end(struct ga_watch *watch, const struct ga_figures *figures, bool high)
{
    const struct ga_block *block = &watch->block;
    struct ga_sample sample = sample_of(block, figures);

    sample.loss = high ? block->high : block->low;
    sample.grad_norm = high ? block->grad_high : block->grad_low;
    for (int r = 0; r < GA_WATCH_REPLICAS; r++) {
        float low = block->replica_low[r], top = block->replica_high[r];

        if (low > top)
            continue;
        sample.replicas = (uint32_t)r + 1;
        sample.replica[r].finished = true;
        sample.replica[r].loss = high ? top : low;
    }
    hand_over(watch, &sample);
}

/* A window with all that is known of it. */
static void hand_over_window(struct ga_watch *watch, struct ga_run *run,
                             const struct ga_update_record *record)
{
    const struct ga_figures figures = figures_of(watch, record);
    struct ga_sample sample = sample_of(&watch->block, &figures);

    sample.applied = record->applied;
    sample.mode = record->mode;
    sample.update_norm = record->applied ? record->update_norm : (double)NAN;
    sample.noise_scale = record->noise_trace / record->noise_signal;
    gather_pushes(watch, run, &sample);
    gather_replicas(run, &sample);
    hand_over(watch, &sample);
}

/* `record` is the block's last window, NULL when it is not known any more. */
static void flush(struct ga_watch *watch, struct ga_run *run, const struct ga_update_record *record)
{
    struct ga_block *block = &watch->block;

    watch->wall_ns = coarse_now_ns();
    if (block->count == 2) {
        struct ga_sample sample = sample_of(block, &block->first);

        hand_over(watch, &sample);
    } else if (block->count > 2) {
        hand_over_end(watch, &block->first, false);
        hand_over_end(watch, &block->second, true);
    }
    if (record)
        hand_over_window(watch, run, record);
    block->count = 0;
}

static void begin_block(struct ga_block *block, struct ga_run *run)
{
    block->run = (uintptr_t)run;
    block->low = block->grad_low = (double)INFINITY;
    block->high = block->grad_high = (double)-INFINITY;
    for (int r = 0; r < GA_WATCH_REPLICAS; r++) {
        block->replica_low[r] = INFINITY;
        block->replica_high[r] = -INFINITY;
    }
}

static void widen_replicas(struct ga_block *block, struct ga_run *run)
{
    size_t replicas = ga_run_replicas(run);

    for (size_t r = 0; r < replicas && r < GA_WATCH_REPLICAS; r++) {
        float loss = (float)ga_run_replica(run, r)->loss;

        block->replica_low[r] = loss < block->replica_low[r] ? loss : block->replica_low[r];
        block->replica_high[r] = loss > block->replica_high[r] ? loss : block->replica_high[r];
    }
}

static void widen(double value, double *low, double *high)
{
    *low = value < *low ? value : *low;
    /* Written so that NaN takes the place of a number, and keeps it. */
    *high = value <= *high || isnan(*high) ? *high : value;
}

/* A window that does not follow on the block's last one, or is another run's, begins a new one. */
static void go_on(struct ga_watch *watch, struct ga_run *run, uint64_t windows)
{
    struct ga_block *block = &watch->block;

    if (block->count > 0 && (block->run != (uintptr_t)run || windows != block->newest + 1))
        flush(watch, NULL, NULL);
    if (block->count == 0)
        begin_block(block, run);
}

static void count_window(struct ga_watch *watch, const struct ga_figures *figures)
{
    struct ga_block *block = &watch->block;

    if (block->count < 2)
        *(block->count == 0 ? &block->first : &block->second) = *figures;
    block->count++;
    block->newest = figures->windows;
    widen(figures->loss, &block->low, &block->high);
    widen(figures->grad_norm, &block->grad_low, &block->grad_high);
    watch->since++;
}

static bool is_full(const struct ga_watch *watch)
{
    return watch->block.count >= watch->block_of &&
           watch->block.count >= 1 + watch->since / LOOK_BLOCKS;
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
        flush(watch, run, record);
}

/* The only replica, whose loss is the window's, and whose gradient was never stale. */
static void hand_over_row(struct ga_watch *watch, const struct ga_burst_rows *rows, size_t k,
                          const struct ga_figures *figures)
{
    const struct ga_burst_row *row = &rows->row[k];
    struct ga_sample sample;

    flush(watch, NULL, NULL);
    sample = sample_of(&watch->block, figures);
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
    hand_over(watch, &sample);
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
        const float loss = (float)row->loss;

        go_on(watch, run, figures.windows);
        count_window(watch, &figures);
        if (loss < watch->block.replica_low[0])
            watch->block.replica_low[0] = loss;
        if (loss > watch->block.replica_high[0])
            watch->block.replica_high[0] = loss;
        if (is_full(watch))
            hand_over_row(watch, rows, k, &figures);
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
        ga_engine_observe(engine, &observer) < 0) {
        ga_ring_close(watch->ring);
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
    if (watch->block.count > 0)
        flush(watch, run,
              watch->block.run == (uintptr_t)run && watch->block.newest == sample.windows
                  ? ga_run_last_record(run)
                  : NULL);
    watch->block_of = 1 + watch->since / LOOK_BLOCKS;
    watch->since = 0;
    watch->wall_ns = coarse_now_ns();
    hand_over(watch, &sample);
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
