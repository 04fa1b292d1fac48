/*
 * Wall time. The time model says when an item may end at the earliest; it ends when its work is
 * done as well, whichever is later. Who comes first is a race between threads, which the run
 * records.
 *
 * Lock rule: one mutex guards all fields; finished() is called by workers, everything else by the
 * run's thread.
 */
#include <pthread.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "train/clock.h"

struct place {
    bool scheduled;
    bool working;        /* its work is not done yet */
    int64_t earliest_ns; /* by the time model */
    int64_t finished_ns; /* when its work was done */
};

struct ga_clock_state {
    pthread_mutex_t lock;
    int64_t origin_ns; /* ga_now_ns() at time 0 */
    size_t replicas;
    size_t scheduled;    /* places with an event */
    struct place *place; /* (replicas) */
};

static void real_close(struct ga_clock_state *clock)
{
    if (!clock)
        return;
    pthread_mutex_destroy(&clock->lock);
    free(clock->place);
    free(clock);
}

static int real_open(struct ga_clock_state **out, size_t replicas)
{
    struct ga_clock_state *clock = ga_alloc(1, sizeof *clock);

    *out = NULL;
    if (!clock)
        return ga_error_code();
    pthread_mutex_init(&clock->lock, NULL);
    clock->origin_ns = ga_now_ns();
    clock->replicas = replicas;
    clock->place = ga_alloc(replicas, sizeof *clock->place);
    if (!clock->place) {
        real_close(clock);
        return ga_error_code();
    }
    *out = clock;
    return GA_OK;
}

static void real_schedule(struct ga_clock_state *clock, size_t replica, int64_t time_ns)
{
    struct place *place = &clock->place[replica];

    pthread_mutex_lock(&clock->lock);
    clock->scheduled += !place->scheduled;
    place->scheduled = true;
    place->earliest_ns = time_ns;
    place->finished_ns = INT64_MIN;
    pthread_mutex_unlock(&clock->lock);
}

static void real_cancel(struct ga_clock_state *clock, size_t replica)
{
    struct place *place = &clock->place[replica];

    pthread_mutex_lock(&clock->lock);
    clock->scheduled -= place->scheduled;
    place->scheduled = false;
    place->working = false;
    pthread_mutex_unlock(&clock->lock);
}

static int64_t ready_at(const struct place *place)
{
    return place->earliest_ns > place->finished_ns ? place->earliest_ns : place->finished_ns;
}

/* The earliest event whose work is done, whether its time has come or not. With the lock held. */
static bool earliest(const struct ga_clock_state *clock, size_t *replica)
{
    bool found = false;

    for (size_t r = 0; r < clock->replicas; r++) {
        const struct place *place = &clock->place[r];

        if (!place->scheduled || place->working)
            continue;
        if (!found || ready_at(place) < ready_at(&clock->place[*replica]))
            *replica = r;
        found = true;
    }
    return found;
}

/* The mutex is a detail of a clock that is const to its reader. */
static pthread_mutex_t *lock_of(const struct ga_clock_state *clock)
{
    return (pthread_mutex_t *)&clock->lock;
}

static bool real_first(const struct ga_clock_state *clock, size_t *replica, int64_t *time_ns)
{
    bool found = false;
    size_t first = 0;

    pthread_mutex_lock(lock_of(clock));
    if (earliest(clock, &first) &&
        ready_at(&clock->place[first]) <= ga_now_ns() - clock->origin_ns) {
        *replica = first;
        *time_ns = ready_at(&clock->place[first]);
        found = true;
    }
    pthread_mutex_unlock(lock_of(clock));
    return found;
}

static void real_begin(struct ga_clock_state *clock, size_t replica)
{
    pthread_mutex_lock(&clock->lock);
    clock->place[replica].working = true;
    pthread_mutex_unlock(&clock->lock);
}

static void real_finished(struct ga_clock_state *clock, size_t replica)
{
    pthread_mutex_lock(&clock->lock);
    clock->place[replica].working = false;
    clock->place[replica].finished_ns = ga_now_ns() - clock->origin_ns;
    pthread_mutex_unlock(&clock->lock);
}

static void real_resume(struct ga_clock_state *clock, int64_t time_ns)
{
    pthread_mutex_lock(&clock->lock);
    clock->origin_ns = ga_now_ns() - time_ns;
    for (size_t r = 0; r < clock->replicas; r++)
        if (clock->place[r].finished_ns > time_ns)
            clock->place[r].finished_ns = time_ns;
    pthread_mutex_unlock(&clock->lock);
}

static bool real_pending(const struct ga_clock_state *clock)
{
    bool pending = false;

    pthread_mutex_lock(lock_of(clock));
    pending = clock->scheduled > 0;
    pthread_mutex_unlock(lock_of(clock));
    return pending;
}

static int64_t real_due(const struct ga_clock_state *clock)
{
    int64_t due = INT64_MAX;
    size_t first = 0;

    pthread_mutex_lock(lock_of(clock));
    if (earliest(clock, &first))
        due = clock->origin_ns + ready_at(&clock->place[first]);
    pthread_mutex_unlock(lock_of(clock));
    return due;
}

const struct ga_clock_kind ga_clock_real = {
    .name = "real",
    .open = real_open,
    .close = real_close,
    .schedule = real_schedule,
    .cancel = real_cancel,
    .first = real_first,
    .begin = real_begin,
    .finished = real_finished,
    .resume = real_resume,
    .pending = real_pending,
    .due = real_due,
};
