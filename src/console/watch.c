#include "console/watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "console/watch_inside.h"

#define RING 4096 /* samples; half of them are a frame's worth at 40,000 updates a second */

/* Staleness of what replicas handed over since the last time. */
static void gather_pushes(struct ga_watch *watch, struct ga_run *run, struct ga_sample *sample)
{
    size_t replicas = ga_run_replicas(run);

    for (size_t r = 0; r < replicas && r < GA_MAX_REPLICAS; r++) {
        const struct ga_replica_value *value = ga_run_replica(run, r);
        bool pushed = value->finished > watch->finished[r];

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

        sample->replica[r].finished = value->finished > 0;
        sample->replica[r].loss = (float)value->loss;
        sample->replica[r].norm = (float)value->norm;
    }
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

    if (held->run == fresh->run && !held->place && !fresh->place) {
        both.loss = worse(held->loss, fresh->loss);
        both.grad_norm = worse(held->grad_norm, fresh->grad_norm);
        both.staleness = isnan(fresh->staleness) ? held->staleness : fresh->staleness;
        if (held->staleness > both.staleness)
            both.staleness = held->staleness;
    }
    *held = both;
}

static void hand_over(struct ga_watch *watch, const struct ga_sample *sample)
{
    if (watch->holds && ga_ring_push(watch->ring, &watch->held))
        watch->holds = false;
    if (watch->holds) {
        merge(&watch->held, sample);
    } else if (!ga_ring_push(watch->ring, sample)) {
        watch->held = *sample;
        watch->holds = true;
    }
    if (watch->bell && ga_ring_count(watch->ring) == RING / 2)
        ga_bell_ring(watch->bell);
}

static void observe(void *self, struct ga_run *run, const struct ga_update_record *record)
{
    struct ga_watch *watch = self;
    struct ga_sample sample = {
        .run = (uintptr_t)run,
        .windows = record->update + record->skipped,
        .update = record->update,
        .examples = record->examples,
        .time_ns = record->time_ns,
        .wall_ns = ga_now_ns(),
        .applied = record->applied,
        .mode = record->mode,
        .loss = record->loss,
        .grad_norm = record->grad_norm,
        .update_norm = record->applied ? record->update_norm : (double)NAN,
        .noise_scale = record->noise_trace / record->noise_signal,
        .staleness = (double)NAN,
    };

    gather_pushes(watch, run, &sample);
    gather_replicas(run, &sample);
    watch->events = ga_run_counters(run)->events;
    hand_over(watch, &sample);
}

int ga_watch_open(struct ga_watch **out, struct ga_engine *engine, const struct ga_bell *bell)
{
    struct ga_watch *watch = ga_alloc(1, sizeof *watch);
    struct ga_observer observer = {observe, watch};

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
    ga_engine_unobserve(watch->engine, watch);
    ga_ring_close(watch->ring);
    free(watch->output);
    free(watch->sum);
    free(watch->owner);
    free(watch);
}

bool ga_watch_take(struct ga_watch *watch, struct ga_sample *out)
{
    return ga_ring_pop(watch->ring, out);
}

/* Where the run stands, in the order of the windows. */
static void mark_place(struct ga_watch *watch, struct ga_run *run)
{
    const struct ga_counters *counters = ga_run_counters(run);
    struct ga_sample sample = {
        .run = (uintptr_t)run, .windows = counters->updates + counters->skipped, .place = true};

    if (counters->events < watch->events)
        for (size_t r = 0; r < ga_run_replicas(run) && r < GA_MAX_REPLICAS; r++)
            watch->finished[r] = ga_run_replica(run, r)->finished;
    watch->events = counters->events;
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
    if ((parts & GA_LOOK_SPANS) == 0)
        return GA_OK;
    memset(&watch->maker, 0, sizeof watch->maker);
    watch->maker.out = out;
    watch->maker.last_push_ns = INT64_MIN;
    out->spans = 0;
    return ga_engine_events(watch->engine, GA_SPANS, ga_closeup_event, &watch->maker);
}
