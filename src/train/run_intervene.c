/* What a user does to an open window or to a replica. */
#include <math.h>

#include "train/run_internal.h"

/* An item that ends early: what it committed stays in its accumulator, the rest of it is unused. */
static void cut_item(struct ga_run *run, size_t r)
{
    struct ga_replica_value *v = &run->replica[r].v;

    ga_item_settle(run, r);
    ga_overlap_drop(run);
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

/* A round that ends early keeps the private steps that were made. */
static void cut_round(struct ga_run *run, size_t r)
{
    struct ga_replica_value *v = &run->replica[r].v;

    if (v->round.examples == 0) {
        give_up_item(run, r);
        return;
    }
    ga_item_settle(run, r);
    run->clock_kind->cancel(run->clock, r);
    run->counters.examples_unused += v->part - v->round.examples;
    v->busy_ns += run->now_ns - v->start_ns;
    v->free_ns = run->now_ns;
    v->part = 0;
    v->state = GA_REPLICA_DONE;
    v->in_window = true;
}

static void cut_window(struct ga_run *run)
{
    for (size_t r = 0; r < run->replicas; r++) {
        struct ga_replica_value *v = &run->replica[r].v;

        if (v->state == GA_REPLICA_BUSY && run_is(run, GA_FAMILY_ROUND)) {
            cut_round(run, r);
        } else if (v->state == GA_REPLICA_BUSY && v->micro > 0) {
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
    bool round = run_is(run, GA_FAMILY_ROUND);

    for (size_t r = 0; r < run->replicas; r++) {
        const struct ga_replica_value *v = &run->replica[r].v;

        if (round ? v->round.examples > 0 : v->micro > 0 && v->state != GA_REPLICA_LATE)
            return true;
    }
    return false;
}

int ga_run_check_flush(const struct ga_run *run)
{
    if (ga_run_pushes(run))
        return ga_push_check_flush(run);
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
    if (ga_run_pushes(run))
        return ga_push_flush(run);
    run->counters.events++;
    cut_window(run);
    run->phase = GA_PHASE_REDUCE;
    run_event(run, GA_EVENT_FLUSH, -1);
    ga_run_emit(run);
    return GA_OK;
}

int ga_run_check_discard(const struct ga_run *run)
{
    if (ga_run_pushes(run))
        return ga_push_check_discard(run);
    if (run->phase == GA_PHASE_IDLE || run->phase == GA_PHASE_CLEAR)
        return ga_fail(GA_ESTATE, "no window is open: nothing to discard");
    return GA_OK;
}

int ga_run_discard(struct ga_run *run)
{
    struct ga_event *event = NULL;

    if (ga_run_check_discard(run) < 0)
        return ga_error_code();
    if (ga_run_pushes(run))
        return ga_push_discard(run);
    run->counters.events++;
    if (run->phase == GA_PHASE_MICRO)
        cut_window(run);
    ga_overlap_drop(run);
    if (run->phase <= GA_PHASE_REDUCE) /* the sum of an earlier window is no part of the state */
        run->compute->clear(&run->net, run->reduced);
    ga_tally_clear(&run->window.total);
    for (size_t r = 0; r < run->replicas; r++)
        if (run->replica[r].v.in_window)
            ga_tally_add(&run->window.total, ga_item_tally(run, &run->replica[r].v));
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

/* ---- failures ---- */

static int check_replica(const struct ga_run *run, size_t replica, bool dead)
{
    if (replica >= run->replicas)
        return ga_fail(GA_ERANGE, "there is no replica %zu: expected 0..%zu", replica,
                       run->replicas - 1);
    if (run->replica[replica].v.dead != dead)
        return ga_fail(GA_ESTATE,
                       dead ? "replica %zu is alive: nothing to restore"
                            : "replica %zu is killed already: restore it first",
                       replica);
    return GA_OK;
}

/* A window that waits keeps the part, to be done from its beginning when the replica is restored.
 */
static void keep_part(struct ga_run *run, size_t r, uint32_t part, uint64_t dropped)
{
    struct ga_replica_value *v = &run->replica[r].v;

    if (ga_run_pushes(run) || run_set(run)->failure != GA_FAILURE_WAIT || part == 0)
        return;
    v->part = part;
    v->window = run->window.number - 1;
    run->counters.examples_dropped = dropped;
}

static void end_item(struct ga_run *run, size_t r)
{
    struct ga_replica_value *v = &run->replica[r].v;
    bool late = v->state == GA_REPLICA_LATE;
    uint32_t part = v->part;
    uint64_t dropped = run->counters.examples_dropped;

    if (v->state == GA_REPLICA_READY || v->state == GA_REPLICA_DONE)
        return;
    ga_item_drop(run, r, run->now_ns);
    v->step = 0;
    ga_tally_clear(&v->round);
    if (!late)
        keep_part(run, r, part, dropped);
}

/* The pushes that can still come, and whether they are all there. */
static void expect_living(struct ga_run *run)
{
    uint32_t active = run->window.arrived;

    for (size_t r = 0; r < run->replicas; r++) {
        struct ga_replica_value *v = &run->replica[r].v;

        if (v->dead && v->part > 0) {
            run->counters.examples_unused += v->part;
            v->part = 0;
        }
        active += v->state == GA_REPLICA_BUSY || (v->state != GA_REPLICA_DONE && v->part > 0);
    }
    run->window.expected = run->policy->expected(run_set(run), active);
    if (run->window.arrived >= run->window.expected)
        ga_window_close(run, run_set(run)->late == GA_LATE_CANCEL);
}

int ga_run_check_kill(const struct ga_run *run, size_t replica)
{
    return check_replica(run, replica, false);
}

int ga_run_check_revive(const struct ga_run *run, size_t replica)
{
    return check_replica(run, replica, true);
}

int ga_run_kill(struct ga_run *run, size_t replica)
{
    if (check_replica(run, replica, false) < 0)
        return ga_error_code();
    end_item(run, replica);
    run->replica[replica].v.dead = true;
    ga_run_take_stock(run);
    if (ga_run_pushes(run)) {
        ga_push_expect(run);
        return ga_push_start(run);
    }
    if (run->phase == GA_PHASE_MICRO && run_set(run)->failure == GA_FAILURE_CONTINUE)
        expect_living(run);
    return GA_OK;
}

int ga_run_revive(struct ga_run *run, size_t replica)
{
    struct ga_replica_value *v = NULL;

    if (check_replica(run, replica, true) < 0 || ga_local_forget(run, replica) < 0)
        return ga_error_code();
    v = &run->replica[replica].v;
    v->idle_ns += run->now_ns - v->free_ns;
    v->free_ns = run->now_ns;
    v->dead = false;
    v->clock = run->least_clock == UINT64_MAX ? 0 : run->least_clock;
    ga_run_take_stock(run);
    if (ga_run_pushes(run)) {
        ga_push_expect(run);
        return ga_push_start(run);
    }
    if (run->phase == GA_PHASE_MICRO && v->part > 0 && ga_item_may_start(run, replica))
        return ga_item_start(run, replica, run->now_ns);
    return GA_OK;
}
