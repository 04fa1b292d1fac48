/*
 * Virtual time: a binary heap of replicas keyed by (time, replica), with each replica's place in
 * it, so that rescheduling and cancelling cost log P. A turn that is cancelled at the top leaves a
 * hole there, which the next one scheduled fills: nearly always it is the same replica's next.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "train/clock.h"

#define ABSENT SIZE_MAX

struct turn {
    int64_t time_ns;
    size_t replica;
};

struct ga_clock_state {
    size_t count;
    struct turn *heap; /* by (time, replica) */
    size_t *place;     /* of each replica in `heap`, or ABSENT */
    bool hole;         /* heap[0] is not a turn any more; it is before all others */
};

static void virtual_close(struct ga_clock_state *clock)
{
    if (!clock)
        return;
    free(clock->heap);
    free(clock->place);
    free(clock);
}

static int virtual_open(struct ga_clock_state **out, size_t replicas)
{
    struct ga_clock_state *clock = ga_alloc(1, sizeof *clock);

    *out = NULL;
    if (!clock)
        return ga_error_code();
    clock->heap = ga_alloc(replicas, sizeof *clock->heap);
    clock->place = ga_alloc(replicas, sizeof *clock->place);
    if (!clock->heap || !clock->place) {
        virtual_close(clock);
        return ga_error_code();
    }
    for (size_t i = 0; i < replicas; i++)
        clock->place[i] = ABSENT;
    *out = clock;
    return GA_OK;
}

/* Without branches: who comes first is not to be foreseen. */
static inline bool before(struct turn a, struct turn b)
{
    return (a.time_ns < b.time_ns) | ((a.time_ns == b.time_ns) & (a.replica < b.replica));
}

static inline void put(struct ga_clock_state *clock, size_t at, struct turn turn)
{
    clock->heap[at] = turn;
    clock->place[turn.replica] = at;
}

/* Puts a turn into the free place `at` of the heap, and what is in its way one level up or down. */
static void settle(struct ga_clock_state *clock, size_t at, struct turn turn)
{
    while (at > 0 && before(turn, clock->heap[(at - 1) / 2])) {
        put(clock, at, clock->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (size_t child = 2 * at + 1; child < clock->count; child = 2 * at + 1) {
        if (child + 1 < clock->count)
            child += before(clock->heap[child + 1], clock->heap[child]);
        if (!before(clock->heap[child], turn))
            break;
        put(clock, at, clock->heap[child]);
        at = child;
    }
    put(clock, at, turn);
}

/* The last turn of the heap goes into the free place `at`. */
static void fill(struct ga_clock_state *clock, size_t at)
{
    if (at < --clock->count)
        settle(clock, at, clock->heap[clock->count]);
}

static void close_hole(struct ga_clock_state *clock)
{
    if (clock->hole)
        fill(clock, 0);
    clock->hole = false;
}

static void virtual_schedule(struct ga_clock_state *clock, size_t replica, int64_t time_ns)
{
    size_t at = clock->place[replica];

    if (at != ABSENT)
        close_hole(clock);
    if (at == ABSENT)
        at = clock->hole ? 0 : clock->count++;
    else
        at = clock->place[replica]; /* closing the hole may have moved it */
    clock->hole = false;
    settle(clock, at, (struct turn){time_ns, replica});
}

static void virtual_cancel(struct ga_clock_state *clock, size_t replica)
{
    size_t at = clock->place[replica];

    if (at == ABSENT)
        return;
    close_hole(clock);
    at = clock->place[replica];
    clock->place[replica] = ABSENT;
    if (at == 0)
        clock->hole = true;
    else
        fill(clock, at);
}

static bool virtual_first(const struct ga_clock_state *clock, size_t *replica, int64_t *time_ns)
{
    size_t first = clock->hole;

    if (clock->count <= first)
        return false;
    if (clock->hole && clock->count > 2 && before(clock->heap[2], clock->heap[1]))
        first = 2;
    *replica = clock->heap[first].replica;
    *time_ns = clock->heap[first].time_ns;
    return true;
}

const struct ga_clock_kind ga_clock_virtual = {
    .name = "virtual",
    .open = virtual_open,
    .close = virtual_close,
    .schedule = virtual_schedule,
    .cancel = virtual_cancel,
    .first = virtual_first,
};
