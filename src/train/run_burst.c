/*
 * Bursts: one replica that takes its whole data in one micro-batch repeats itself, so that the
 * device can do many updates before anyone looks. The update before tells what one is like: a
 * burst leaves the run as if each had been made event by event.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "train/burst.h"
#include "train/run_internal.h"

/* Virtual time that the last window took. */
static int64_t last_span(const struct ga_run *run)
{
    return run->now_ns - run->window.open_ns;
}

/* An item like the last one would take as long. */
static bool keeps_time(const struct ga_run *run)
{
    const struct ga_replica_value *v = &run->replica[0].v;

    return run_set(run)->jitter.kind == GA_JITTER_CONSTANT && v->free_ns == run->now_ns &&
           run->now_ns < INT64_MAX / 4 && last_span(run) < INT64_MAX / 4 / (int64_t)GA_BURST_MOST &&
           ga_time_item(run_set(run), 0, v->items, run->table->train, v->slow) == last_span(run);
}

/* Nothing but the weights changes from one update to the next. */
static bool settings_repeat(const struct ga_settings *set)
{
    return set->mode == GA_MODE_SYNC && set->replicas == 1 && set->sharding == GA_SHARD_STREAM &&
           set->tail != GA_TAIL_WRAP && set->schedule.kind == GA_SCHEDULE_CONSTANT &&
           set->warmup == 0 && !(set->clip > 0) && set->reduce == GA_REDUCE_MEAN;
}

/* The last window was all of the data at once, closed by its replica, and an update. */
static bool last_was_whole(const struct ga_run *run)
{
    const struct ga_update_record *last = &run->last_record;

    return run->has_record && last->applied && last->update == run->counters.updates &&
           last->mode == GA_MODE_SYNC && last->window_micros == 1 && last->replica == 0 &&
           last->window_examples == run->table->train && last->window_weight > 0 &&
           ga_stream_left(run->stream) == 0;
}

/* Several updates to come are; one that a log of updates asks for is no reason to go slowly. */
static bool is_timed(const struct ga_run *run)
{
    return run->timed_before > ga_run_closed(run) + 1;
}

bool ga_run_repeats(const struct ga_run *run)
{
    return run->compute->burst && run->phase == GA_PHASE_IDLE && !run->pending && !is_timed(run) &&
           !run->clock_kind->begin && run->late == 0 && !run->replica[0].v.dead &&
           run->net.parameters <= GA_PART && settings_repeat(run_set(run)) && last_was_whole(run) &&
           keeps_time(run);
}

/* Each update's step, for optimizers whose steps are all alike only one. */
static int fill_steps(struct ga_run *run, struct ga_burst *burst, struct ga_version *next)
{
    const double lr = ga_update_rate(run_set(run), run->counters.updates);
    struct ga_optimizer_spec spec;

    ga_run_optimizer_spec(run_set(run), &spec);
    burst->steps = spec.kind == GA_STEP_SGD ? 1 : burst->count;
    if (ga_grow((void **)&run->burst_step, &run->burst_steps, burst->steps,
                sizeof *run->burst_step) < 0)
        return ga_error_code();
    for (size_t k = 0; k < burst->steps; k++)
        ga_optimizer_advance(&spec, &next->scalars, lr, 1, &run->burst_step[k]);
    next->scalars.t += burst->count - burst->steps;
    burst->step = run->burst_step;
    return GA_OK;
}

static int compute(struct ga_run *run, struct ga_version *next, struct ga_burst *burst)
{
    struct ga_context *context = run_context(run, 0);

    next->scalars = run->server->scalars;
    if (!context || fill_steps(run, burst, next) < 0)
        return ga_error_code();
    burst->batch = run_batch(run);
    burst->batch.count = run->table->train;
    burst->weights = run->server->weights;
    burst->state = run->server->state;
    burst->new_weights = next->weights;
    burst->new_state = next->state;
    return (int)run->compute->burst(context, burst);
}

/* Adam's running products belong to as many updates as were made. */
static int compute_exactly(struct ga_run *run, struct ga_version *next, size_t count,
                           struct ga_burst_row *row)
{
    struct ga_burst burst = {.row = row, .count = count};
    int done = compute(run, next, &burst);

    if (done <= 0 || (size_t)done == count)
        return done;
    burst.count = (size_t)done;
    return compute(run, next, &burst);
}

int ga_run_burst(struct ga_run *run, size_t count, struct ga_burst_row *row)
{
    struct ga_version *next = NULL;
    int done = 0;

    ga_version_close(run->ahead);
    run->ahead = NULL;
    if (count > GA_BURST_MOST || !ga_run_repeats(run))
        return ga_fail(GA_EINTERNAL, "a burst of %zu updates where the run does not repeat", count);
    if (count == 0)
        return 0;
    if (ga_version_room(&next, run->net.parameters, run->server->state_blocks) < 0)
        return ga_error_code();
    if (ga_version_hold(next, run->compute) < 0) {
        ga_version_close(next);
        return ga_error_code();
    }
    done = compute_exactly(run, next, count, row);
    if (done > 0) {
        next->norm = row[done - 1].param_norm;
        next->number = run->server->number + (uint64_t)done;
        run->ahead = next;
    } else {
        ga_version_close(next);
    }
    return done;
}

static void count_updates(struct ga_run *run, uint64_t count)
{
    struct ga_counters *counters = &run->counters;

    counters->updates += count;
    counters->micros += count;
    counters->items_applied += count;
    counters->reductions += count;
    counters->pushes += count;
    counters->examples += count * run->table->train;
    counters->events += count * GA_BURST_EVENTS;
    run->stale[0] += count;
    run->window.number += count;
}

static void move_replica(struct ga_run *run, uint64_t count, int64_t span_ns)
{
    struct ga_replica_value *v = &run->replica[0].v;

    v->items += count;
    v->finished += count;
    v->clock += count;
    v->busy_ns += span_ns;
    v->finished_ns += span_ns;
    v->free_ns += span_ns;
    v->start_ns += span_ns;
    v->finish_ns += span_ns;
    run->replica[0].has_kept = false;
    run->replica[0].work = (double)NAN;
}

/* What is seen of the last update. */
static void tell_last(struct ga_run *run, const struct ga_burst_rows *rows)
{
    const struct ga_burst_row *row = &rows->row[rows->count - 1];
    struct ga_replica_value *v = &run->replica[0].v;
    struct ga_event event = run->last_event;

    ga_burst_record(&rows->before, rows->count, rows->span_ns, row, &run->last_record);
    ga_burst_event(&event, rows->count, rows->span_ns, row, &run->last_event);
    v->loss = run->window.loss = row->loss;
    v->norm = run->window.norm = row->grad_norm;
    run->window.update_norm = row->update_norm;
}

void ga_run_take_burst(struct ga_run *run, const struct ga_burst_row *row,
                       struct ga_burst_rows *out)
{
    uint64_t count = run->ahead->number - run->server->number;
    int64_t span_ns = (int64_t)count * last_span(run);

    *out = (struct ga_burst_rows){run->last_record, row, (size_t)count, last_span(run)};
    tell_last(run, out);
    count_updates(run, count);
    move_replica(run, count, span_ns);
    run->now_ns += span_ns;
    run->window.open_ns += span_ns;
    ga_stream_skip(run->stream, count);
    ga_update_forget_recent(run, 0);
    ga_version_close(run->previous);
    ga_version_close(run->server);
    run->previous = NULL;
    run->server = run->ahead;
    run->ahead = NULL;
    run->has_gradient = false;
    run->owed = NULL;
    run->rows.replicas = 0;
    run->evaluated[0].known = run->evaluated[1].known = false;
    ga_run_take_stock(run);
}
