/* What a user does to an open window or to a replica. */
#include <math.h>

#include "train/run_internal.h"

/* An item that ends early: what it committed stays in its accumulator, the rest of it is unused. */
static void cut_item(struct ga_run *run, size_t r)
{
    struct ga_replica_value *v = &run->replica[r].v;

    ga_item_settle(run, r);
    run->clock_kind->cancel(run->clock, r);
    run->counters.examples_unused += v->examples - v->done_examples;
    v->busy_ns += run->now_ns - v->start_ns;
    v->free_ns = run->now_ns;
    v->part = 0;
    v->state = GA_REPLICA_DONE;
    v->in_window = true;
    v->loss = ga_tally_loss_sum(&v->tally) / ga_tally_weight_sum(&v->tally);
    v->norm = v->micro > 0 && ga_tally_weight_sum(&v->tally) > 0
                  ? run->compute->mean(&run->net, run->replica[r].sums,
                                       ga_tally_weight_sum(&v->tally), NULL)
                  : 0;
}

/* A started item without a committed micro-batch has no sums to offer. */
static void give_up_item(struct ga_run *run, size_t r)
{
    uint64_t dropped = run->counters.examples_dropped;

    ga_item_drop(run, r, run->now_ns);
    run->counters.examples_unused += run->counters.examples_dropped - dropped;
    run->counters.examples_dropped = dropped;
}

static void cut_window(struct ga_run *run)
{
    for (size_t r = 0; r < run->replicas; r++) {
        struct ga_replica_value *v = &run->replica[r].v;

        if (v->state == GA_REPLICA_BUSY && v->micro > 0) {
            cut_item(run, r);
        } else if (v->state == GA_REPLICA_BUSY) {
            give_up_item(run, r);
        } else if (v->part > 0) {
            run->counters.examples_unused += v->part;
            v->part = 0;
        }
    }
}

static bool has_sums(const struct ga_run *run)
{
    for (size_t r = 0; r < run->replicas; r++) {
        const struct ga_replica_value *v = &run->replica[r].v;

        if (v->micro > 0 && v->state != GA_REPLICA_LATE)
            return true;
    }
    return false;
}

int ga_run_check_flush(const struct ga_run *run)
{
    if (run->phase == GA_PHASE_IDLE)
        return ga_fail(GA_ESTATE, "no window is open: nothing to flush");
    if (run->phase != GA_PHASE_MICRO)
        return ga_fail(GA_ESTATE, "the window is complete already: `next` applies it");
    if (!has_sums(run))
        return ga_fail(GA_ESTATE, "nothing is accumulated yet: `micro` first, or `discard`");
    return GA_OK;
}

int ga_run_flush(struct ga_run *run)
{
    if (ga_run_check_flush(run) < 0)
        return ga_error_code();
    run->counters.events++;
    cut_window(run);
    run->phase = GA_PHASE_REDUCE;
    run_event(run, GA_EVENT_FLUSH, -1);
    ga_run_emit(run);
    return GA_OK;
}

int ga_run_check_discard(const struct ga_run *run)
{
    if (run->phase == GA_PHASE_IDLE || run->phase == GA_PHASE_CLEAR)
        return ga_fail(GA_ESTATE, "no window is open: nothing to discard");
    return GA_OK;
}

int ga_run_discard(struct ga_run *run)
{
    struct ga_event *event = NULL;

    if (ga_run_check_discard(run) < 0)
        return ga_error_code();
    run->counters.events++;
    if (run->phase == GA_PHASE_MICRO)
        cut_window(run);
    if (run->phase <= GA_PHASE_REDUCE) /* the sum of an earlier window is no part of the state */
        run->compute->clear(&run->net, run->reduced);
    ga_tally_clear(&run->window.total);
    for (size_t r = 0; r < run->replicas; r++)
        if (run->replica[r].v.in_window)
            ga_tally_add(&run->window.total, &run->replica[r].v.tally);
    run->window.loss = run->window.norm = NAN;
    run->window.skipped = true;
    run->has_gradient = false;
    run->phase = GA_PHASE_CLEAR;
    event = run_event(run, GA_EVENT_SKIP, -1);
    event->examples = (uint32_t)run->window.total.examples;
    ga_run_emit(run);
    return GA_OK;
}

int ga_run_check_slow(const struct ga_run *run, size_t replica, double factor)
{
    if (replica >= run->replicas)
        return ga_fail(GA_ERANGE, "there is no replica %zu: expected 0..%zu", replica,
                       run->replicas - 1);
    if (!(factor >= 1e-6 && factor <= 1e6))
        return ga_fail(GA_ERANGE, "slow %zu: expected a factor of 1e-6..1e6", replica);
    return GA_OK;
}

int ga_run_slow(struct ga_run *run, size_t replica, double factor)
{
    if (ga_run_check_slow(run, replica, factor) < 0)
        return ga_error_code();
    run->replica[replica].v.slow = factor;
    return GA_OK;
}
