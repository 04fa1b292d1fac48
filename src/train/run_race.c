/*
 * The race of a real clock: whose turn it was, one entry an event of a replica. Where entries are
 * left (a state was restored) they decide the order and micro-batches are computed inline, which
 * gives the bits of the recorded race again; beyond them the clock decides and each turn is
 * recorded. Entries that cannot have been this run's (they may come from a file) end the record.
 * The record has its share of the history's budget; where that is full, the older half is let go.
 */
#include <string.h>

#include "base/memory.h"
#include "train/run_internal.h"

static bool is_recorded(const struct ga_run *run)
{
    return run->counters.turns - run->race_base < run->race_count;
}

/* What hogwild reads and writes is not recorded, so its turns do not happen again. */
static bool fits(const struct ga_run *run, const struct ga_race_turn *turn)
{
    return ga_run_reproducible(run) && (size_t)turn->replica < run->replicas &&
           run_has_event(&run->replica[turn->replica].v) && turn->time_ns >= run->now_ns;
}

/* The turn that comes next, where that is on record. */
static const struct ga_race_turn *recorded_turn(struct ga_run *run)
{
    const struct ga_race_turn *turn = NULL;

    if (!run->clock_kind->begin || !is_recorded(run) || !run->clock_kind->pending(run->clock))
        return NULL;
    turn = &run->race[run->counters.turns - run->race_base];
    if (fits(run, turn))
        return turn;
    ga_run_forget_race(run);
    return NULL;
}

bool ga_race_next(struct ga_run *run, size_t *replica, int64_t *time_ns)
{
    const struct ga_race_turn *turn = run->race_count > 0 ? recorded_turn(run) : NULL;

    if (!turn) {
        if (!run->clock_kind->first(run->clock, replica, time_ns))
            return false;
        if (*time_ns < run->now_ns)
            *time_ns = run->now_ns;
        return true;
    }
    *replica = (size_t)turn->replica;
    *time_ns = turn->time_ns;
    return true;
}

/* Turns that fit into the budget, even where growing by doubling has taken twice the room. */
static size_t most_turns(const struct ga_run *run)
{
    uint64_t bytes = (uint64_t)run_set(run)->history_budget / GA_RACE_SHARE;

    return (size_t)(bytes / 2 / sizeof *run->race) + 2;
}

static void let_go(struct ga_run *run, size_t keep)
{
    size_t drop = run->race_count - keep;

    memmove(run->race, run->race + drop, keep * sizeof *run->race);
    run->race_count = keep;
    run->race_base += drop;
}

uint64_t ga_run_race_begins(const struct ga_run *run)
{
    return run->clock_kind->begin ? run->race_base : 0;
}

uint64_t ga_run_race_bytes(const struct ga_run *run)
{
    return run->race_capacity * sizeof *run->race;
}

int ga_race_note(struct ga_run *run, size_t replica, int64_t time_ns)
{
    if (!run->clock_kind->begin)
        return GA_OK;
    if (!is_recorded(run)) {
        if (run->race_count >= most_turns(run))
            let_go(run, most_turns(run) / 2);
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

int ga_run_capture_race(const struct ga_run *run, struct ga_state *state)
{
    if (run->race_count == 0)
        return GA_OK;
    state->race = ga_alloc(run->race_count, sizeof *state->race);
    if (!state->race)
        return ga_error_code();
    memcpy(state->race, run->race, run->race_count * sizeof *state->race);
    state->races = run->race_count;
    state->race_base = run->race_base;
    return GA_OK;
}

int ga_race_room(struct ga_run *run, const struct ga_state *state)
{
    uint64_t done = state->counters.turns - state->race_base;

    if (!state->race)
        return GA_OK;
    if (state->race_base > state->counters.turns || done > state->races)
        return ga_fail(GA_EINPUT,
                       "a race of %zu turns behind turn %llu, expected one that reaches turn %llu",
                       state->races, (unsigned long long)state->race_base,
                       (unsigned long long)state->counters.turns);
    return ga_grow((void **)&run->race, &run->race_capacity, state->races, sizeof *run->race);
}

void ga_race_restore(struct ga_run *run, const struct ga_state *state)
{
    uint64_t turns = state->counters.turns;

    if (state->race) {
        memcpy(run->race, state->race, state->races * sizeof *run->race);
        run->race_count = state->races;
        run->race_base = state->race_base;
    } else if (turns < run->race_base || turns - run->race_base > run->race_count) {
        run->race_count = 0;
        run->race_base = turns;
    }
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
    if (!run->clock_kind->begin)
        return true;
    between = between || ga_run_may_change_kind(run) || !run->clock_kind->pending(run->clock);
    if (is_recorded(run) && (between || recorded_turn(run)))
        return true;
    if (!run->live)
        go_live(run);
    if (between || run->clock_kind->first(run->clock, &r, &time_ns))
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
