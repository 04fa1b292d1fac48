/*
 * The race of a real clock: whose turn it was, one entry an event of a replica. Where entries are
 * left (a state was restored) they decide the order and micro-batches are computed inline, which
 * gives the bits of the recorded race again; beyond them the clock decides and each turn is
 * recorded.
 */
#include <string.h>

#include "base/memory.h"
#include "train/run_internal.h"

static bool replays(const struct ga_run *run)
{
    return run->clock_kind->first != ga_clock_virtual.first &&
           run->counters.turns - run->race_base < run->race_count;
}

bool ga_race_next(const struct ga_run *run, size_t *replica, int64_t *time_ns)
{
    const struct ga_race_turn *turn = NULL;

    if (!replays(run)) {
        if (!run->clock_kind->first(run->clock, replica, time_ns))
            return false;
        if (*time_ns < run->now_ns)
            *time_ns = run->now_ns;
        return true;
    }
    turn = &run->race[run->counters.turns - run->race_base];
    *replica = (size_t)turn->replica;
    *time_ns = turn->time_ns;
    return true;
}

int ga_race_note(struct ga_run *run, size_t replica, int64_t time_ns)
{
    if (!run->clock_kind->begin)
        return GA_OK;
    if (!replays(run)) {
        if (ga_grow((void **)&run->race, &run->race_capacity, run->race_count + 1,
                    sizeof *run->race) < 0)
            return ga_error_code();
        run->race[run->race_count++] =
            (struct ga_race_turn){.time_ns = time_ns, .replica = (int32_t)replica};
    }
    run->counters.turns++;
    return GA_OK;
}

void ga_run_forget_race(struct ga_run *run)
{
    uint64_t done = run->counters.turns - run->race_base;

    if (done < run->race_count)
        run->race_count = (size_t)done;
}

int ga_run_copy_race(struct ga_run *to, const struct ga_run *from)
{
    if (from->race_count == 0)
        return GA_OK;
    if (ga_grow((void **)&to->race, &to->race_capacity, from->race_count, sizeof *to->race) < 0)
        return ga_error_code();
    memcpy(to->race, from->race, from->race_count * sizeof *to->race);
    to->race_count = from->race_count;
    to->race_base = from->race_base;
    return GA_OK;
}

/* Work that a restored or paused run left undone goes to the workers, and time goes on. */
static void go_live(struct ga_run *run)
{
    run->clock_kind->resume(run->clock, run->now_ns);
    run->live = true;
    for (size_t r = 0; r < run->replicas; r++)
        run_submit(run, r);
}

bool ga_run_ready(struct ga_run *run, int64_t *due_ns)
{
    size_t r = 0;
    int64_t time_ns = 0;
    bool between = !ga_run_pushes(run) && run->phase != GA_PHASE_MICRO;

    *due_ns = 0;
    if (!run->clock_kind->begin || replays(run))
        return true;
    if (!run->live)
        go_live(run);
    if (between || ga_run_may_change_kind(run) || !run->clock_kind->pending(run->clock) ||
        run->clock_kind->first(run->clock, &r, &time_ns))
        return true;
    *due_ns = run->clock_kind->due(run->clock);
    return false;
}

void ga_run_pause(struct ga_run *run)
{
    run->live = false;
}

bool ga_run_reproducible(const struct ga_run *run)
{
    return !(run->clock_kind->begin && run_is(run, GA_FAMILY_SHARED));
}
