/*
 * Virtual time: a binary heap of replicas keyed by (time, replica), with each replica's place in
 * it, so that rescheduling and cancelling cost log P.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "train/clock.h"

#define ABSENT SIZE_MAX

struct ga_clock_state {
    size_t count;
    size_t *heap;  /* replicas, a heap by (time, replica) */
    size_t *place; /* of each replica in `heap`, or ABSENT */
    int64_t *time; /* of each replica */
};

static void virtual_close(struct ga_clock_state *clock)
{
    if (!clock)
        return;
    free(clock->heap);
    free(clock->place);
    free(clock->time);
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
    clock->time = ga_alloc(replicas, sizeof *clock->time);
    if (!clock->heap || !clock->place || !clock->time) {
        virtual_close(clock);
        return ga_error_code();
    }
    for (size_t i = 0; i < replicas; i++)
        clock->place[i] = ABSENT;
    *out = clock;
    return GA_OK;
}

static bool before(const struct ga_clock_state *clock, size_t a, size_t b)
{
    if (clock->time[a] != clock->time[b])
        return clock->time[a] < clock->time[b];
    return a < b;
}

static void put(struct ga_clock_state *clock, size_t at, size_t replica)
{
    clock->heap[at] = replica;
    clock->place[replica] = at;
}

static size_t sift_up(struct ga_clock_state *clock, size_t at)
{
    size_t replica = clock->heap[at];

    while (at > 0 && before(clock, replica, clock->heap[(at - 1) / 2])) {
        put(clock, at, clock->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put(clock, at, replica);
    return at;
}

static void sift_down(struct ga_clock_state *clock, size_t at)
{
    size_t replica = clock->heap[at];

    for (;;) {
        size_t child = 2 * at + 1;

        if (child >= clock->count)
            break;
        if (child + 1 < clock->count && before(clock, clock->heap[child + 1], clock->heap[child]))
            child++;
        if (!before(clock, clock->heap[child], replica))
            break;
        put(clock, at, clock->heap[child]);
        at = child;
    }
    put(clock, at, replica);
}

static void virtual_schedule(struct ga_clock_state *clock, size_t replica, int64_t time_ns)
{
    size_t at = clock->place[replica];

    clock->time[replica] = time_ns;
    if (at == ABSENT) {
        at = clock->count++;
        put(clock, at, replica);
    }
    sift_down(clock, sift_up(clock, at));
}

static void virtual_cancel(struct ga_clock_state *clock, size_t replica)
{
    size_t at = clock->place[replica];
    size_t last = 0;

    if (at == ABSENT)
        return;
    clock->place[replica] = ABSENT;
    last = clock->heap[--clock->count];
    if (last == replica)
        return;
    put(clock, at, last);
    sift_down(clock, sift_up(clock, at));
}

static bool virtual_first(const struct ga_clock_state *clock, size_t *replica, int64_t *time_ns)
{
    if (clock->count == 0)
        return false;
    *replica = clock->heap[0];
    *time_ns = clock->time[*replica];
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

static const struct ga_clock_kind *const registry[] = {&ga_clock_virtual};

const struct ga_clock_kind *ga_clock_find(const char *name)
{
    for (size_t i = 0; i < sizeof registry / sizeof *registry; i++)
        if (strcmp(registry[i]->name, name) == 0)
            return registry[i];
    ga_fail(GA_EUNSUPPORTED, "no clock \"%s\": expected virtual", name);
    return NULL;
}
