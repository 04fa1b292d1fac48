/*
 * Pending settings at an update boundary. A change of mode, replicas or sharding waits until no
 * item of the old kind is under way: with `late cancel` they are dropped and counted, with `late
 * finish` they end and are applied by the old mode's rule first.
 */
#include "base/error.h"
#include "base/memory.h"
#include "train/run_internal.h"

static bool changes_kind(const struct ga_settings *old, const struct ga_settings *wanted)
{
    return old->mode != wanted->mode || old->replicas != wanted->replicas ||
           old->sharding != wanted->sharding || old->order != wanted->order;
}

static bool under_way(const struct ga_replica *replica)
{
    return replica->v.state == GA_REPLICA_BUSY || replica->v.state == GA_REPLICA_SENDING;
}

static bool any_under_way(const struct ga_run *run)
{
    for (size_t r = 0; r < run->replicas; r++)
        if (under_way(&run->replica[r]))
            return true;
    return false;
}

static void drop_all(struct ga_run *run)
{
    for (size_t r = 0; r < run->replicas; r++)
        if (under_way(&run->replica[r]) || run->replica[r].v.state == GA_REPLICA_LATE)
            ga_item_drop(run, r, run->now_ns);
}

/* Pieces that nobody started are spent. */
static void drop_pieces(struct ga_run *run)
{
    while (ga_run_pushes(run) && run->next_piece < run->rows.replicas) {
        run->counters.examples_unused +=
            run->rows.start[run->next_piece + 1] - run->rows.start[run->next_piece];
        run->next_piece++;
    }
}

static void forget_private(struct ga_run *run)
{
    for (size_t r = 0; r < run->replicas; r++) {
        ga_version_close(run->replica[r].v.own);
        run->replica[r].v.own = NULL;
    }
}

static void find_slowest(struct ga_run *run)
{
    run->least_clock = UINT64_MAX;
    run->at_least = 0;
    for (size_t r = 0; r < run->replicas; r++) {
        uint64_t clock = run->replica[r].v.clock;

        if (!run_takes_part(run, r) || clock > run->least_clock)
            continue;
        run->at_least = clock < run->least_clock ? 1 : run->at_least + 1;
        run->least_clock = clock;
    }
}

void ga_run_take_stock(struct ga_run *run)
{
    run->asked = false;
    run->waiting = run->absent = 0;
    for (size_t r = 0; r < run->replicas; r++) {
        run->absent += !run_takes_part(run, r);
        run->waiting += run->replica[r].v.state == GA_REPLICA_READY && run_takes_part(run, r);
    }
    find_slowest(run);
}

/* Searching anew whenever the last of the slowest moves on is one look a push in the mean. */
void ga_run_advance_clock(struct ga_run *run, size_t r)
{
    if (run->replica[r].v.clock++ == run->least_clock && --run->at_least == 0)
        find_slowest(run);
}

int ga_run_enter_mode(struct ga_run *run)
{
    run->other_modes = run->other_modes || run_set(run)->mode != GA_MODE_SYNC;
    run->draining = false;
    ga_run_take_stock(run);
    if (!ga_run_pushes(run))
        return GA_OK;
    ga_window_begin(run);
    ga_push_expect(run);
    return run_is(run, GA_FAMILY_SHARED) && !run->shared ? ga_hogwild_enter(run) : GA_OK;
}

/* The bound on how far ahead a replica may be counts from where the mode begins. */
static void restart_clocks(struct ga_run *run)
{
    for (size_t r = 0; r < run->replicas; r++)
        run->replica[r].v.clock = 0;
}

/* In sync alone nothing is ever stale, and a state has no room for it. */
static void begin_stretch(struct ga_run *run)
{
    if (!run->other_modes && run_set(run)->mode == GA_MODE_SYNC)
        return;
    run->stretch =
        (struct ga_stretch){.pushes = run->counters.pushes, .staleness = run->counters.staleness};
}

static int change_kind(struct ga_run *run)
{
    drop_all(run);
    drop_pieces(run);
    run->next_piece = run->rows.replicas;
    if (run->pending->value.mode != GA_MODE_LOCAL)
        forget_private(run);
    if (run->pending->value.mode != GA_MODE_HOGWILD)
        ga_hogwild_leave(run);
    if (run->pending->value.mode != run_set(run)->mode)
        restart_clocks(run);
    if (ga_run_apply_pending(run) < 0)
        return ga_error_code();
    begin_stretch(run);
    return ga_run_enter_mode(run);
}

/* The same mode goes on with other numbers. */
static int change_numbers(struct ga_run *run)
{
    if (run->pending->value.optimizer != run_set(run)->optimizer)
        forget_private(run);
    if (ga_run_apply_pending(run) < 0)
        return ga_error_code();
    run->draining = false;
    ga_run_take_stock(run);
    if (ga_run_pushes(run))
        ga_push_expect(run);
    return GA_OK;
}

static bool waits_for_late(const struct ga_run *run)
{
    return run_set(run)->late == GA_LATE_FINISH && any_under_way(run);
}

bool ga_run_may_change_kind(const struct ga_run *run)
{
    return run->phase == GA_PHASE_IDLE && run->pending &&
           changes_kind(run_set(run), &run->pending->value) && !waits_for_late(run);
}

/* Whether anybody could work after the change: asked first, since no event may fail behind it. */
static bool anyone_left(const struct ga_run *run)
{
    const struct ga_settings *wanted = &run->pending->value;
    size_t replicas = (size_t)wanted->replicas;

    if (wanted->sharding != GA_SHARD_STREAM && replicas > run->table->train)
        replicas = run->table->train;
    for (size_t r = 0; r < replicas; r++)
        if (r >= run->replicas || !run->replica[r].v.dead)
            return true;
    return false;
}

int ga_run_boundary(struct ga_run *run)
{
    if (!anyone_left(run))
        return ga_fail(GA_ESTATE, "all replicas are killed: restore one first");
    if (!changes_kind(run_set(run), &run->pending->value))
        return change_numbers(run);
    if (waits_for_late(run)) {
        run->draining = true;
        return GA_OK;
    }
    return change_kind(run);
}
