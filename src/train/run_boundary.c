/*
 * Pending settings at an update boundary. A change of mode, replicas or sharding waits until no
 * item of the old kind is under way: with `late cancel` they are dropped and counted, with `late
 * finish` they end and are applied by the old mode's rule first.
 */
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

void ga_run_count_waiting(struct ga_run *run)
{
    run->waiting = run->dead = 0;
    for (size_t r = 0; r < run->replicas; r++) {
        run->dead += run->replica[r].v.dead;
        run->waiting += run->replica[r].v.state == GA_REPLICA_READY && !run->replica[r].v.dead;
    }
}

int ga_run_enter_mode(struct ga_run *run)
{
    run->other_modes = run->other_modes || run_set(run)->mode != GA_MODE_SYNC;
    ga_run_count_waiting(run);
    if (!ga_run_pushes(run))
        return GA_OK;
    ga_window_begin(run);
    run->window.expected = run->policy->expected(run_set(run), (uint32_t)run->replicas);
    return run_is(run, GA_FAMILY_SHARED) && !run->shared ? ga_hogwild_enter(run) : GA_OK;
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
    if (ga_run_apply_pending(run) < 0)
        return ga_error_code();
    run->draining = false;
    return ga_run_enter_mode(run);
}

int ga_run_boundary(struct ga_run *run)
{
    if (!changes_kind(run_set(run), &run->pending->value))
        return ga_run_apply_pending(run);
    if (run_set(run)->late == GA_LATE_FINISH && any_under_way(run)) {
        run->draining = true;
        return GA_OK;
    }
    return change_kind(run);
}
