/*
 * Lock rule: `lock` guards everything that both sides touch, which is all fields below it; no
 * monitor is called while it is held. `closing` is an atomic too, so that a monitor sees it between
 * two questions. The owner and the thread hold one reference each; the last one frees.
 */
#include "monitor/sampler.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define PERIOD_NS   INT64_C(500000000)
#define PATIENCE_NS INT64_C(500000000)
#define SOON_NS     INT64_C(100000000) /* from the first sample to the second */

struct ga_sampler {
    struct ga_sampler_options options;
    pthread_t thread;
    atomic_int references;
    atomic_bool closing;
    struct ga_picture fresh; /* the thread's */

    pthread_mutex_t lock;
    pthread_cond_t asked;   /* for the thread: wanted, or closing */
    pthread_cond_t changed; /* for who waits: a new picture, or the thread ended */
    bool wanted;            /* somebody read the picture since it was made */
    bool ended;             /* the thread will touch nothing but its reference */
    const struct ga_bell *bell;
    struct ga_picture picture;
};

const struct ga_picture_device *ga_picture_at_pci(const struct ga_picture *picture,
                                                  const struct ga_pci *pci)
{
    for (size_t i = 0; i < picture->devices; i++)
        if ((picture->device[i].info.valid & GA_SENSES_PCI) &&
            ga_pci_same(&picture->device[i].info.pci, pci))
            return &picture->device[i];
    return NULL;
}

const struct ga_picture_device *ga_picture_at_pci_text(const struct ga_picture *picture,
                                                       const char *pci)
{
    struct ga_pci place;

    return ga_pci_read(pci, &place) ? ga_picture_at_pci(picture, &place) : NULL;
}

double ga_picture_thread(const struct ga_picture *picture, int32_t thread)
{
    for (size_t i = 0; i < picture->threads; i++)
        if (picture->thread[i].thread == thread)
            return (double)picture->thread[i].share;
    return (double)NAN;
}

static void release(struct ga_sampler *sampler)
{
    if (atomic_fetch_sub(&sampler->references, 1) > 1)
        return;
    pthread_cond_destroy(&sampler->changed);
    pthread_cond_destroy(&sampler->asked);
    pthread_mutex_destroy(&sampler->lock);
    free(sampler);
}

/* False at the deadline; INT64_MAX: there is none. With the lock held. */
static bool wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t deadline_ns)
{
    const struct timespec at = {.tv_sec = (time_t)(deadline_ns / 1000000000),
                                .tv_nsec = (long)(deadline_ns % 1000000000)};

    if (deadline_ns == INT64_MAX)
        return pthread_cond_wait(condition, lock) == 0;
    return pthread_cond_timedwait(condition, lock, &at) == 0;
}

/* `whole`: all that a round has to say; whoever wants more reads it and asks for another. */
static void publish(struct ga_sampler *sampler, bool whole)
{
    pthread_mutex_lock(&sampler->lock);
    sampler->picture = sampler->fresh;
    if (whole)
        sampler->wanted = false;
    if (whole && sampler->bell)
        ga_bell_ring(sampler->bell);
    pthread_cond_broadcast(&sampler->changed);
    pthread_mutex_unlock(&sampler->lock);
}

/* Until the next sample is due and somebody wants it; false when closing. */
static bool rest(struct ga_sampler *sampler, int64_t due_ns)
{
    bool goes_on = true;

    pthread_mutex_lock(&sampler->lock);
    while (!atomic_load(&sampler->closing) && ga_now_ns() < due_ns)
        wait_until(&sampler->asked, &sampler->lock, due_ns);
    while (!atomic_load(&sampler->closing) && !sampler->wanted)
        wait_until(&sampler->asked, &sampler->lock, INT64_MAX);
    goes_on = !atomic_load(&sampler->closing);
    pthread_mutex_unlock(&sampler->lock);
    return goes_on;
}

static void take_trouble(struct ga_picture_device *device, int failed)
{
    snprintf(device->trouble, sizeof device->trouble, "%.159s", failed < 0 ? ga_error_text() : "");
}

static void look_at_devices(struct ga_sampler *sampler, struct ga_session *session)
{
    const struct ga_monitor *monitor = sampler->options.monitor;
    struct ga_picture *fresh = &sampler->fresh;
    const size_t count = monitor->count(session);

    snprintf(fresh->driver, sizeof fresh->driver, "%.63s", monitor->driver(session));
    fresh->devices = count < GA_PICTURE_DEVICES ? count : GA_PICTURE_DEVICES;
    for (size_t i = 0; i < fresh->devices; i++)
        take_trouble(&fresh->device[i], monitor->info(session, i, &fresh->device[i].info));
    fresh->state = GA_PICTURE_OPEN;
    publish(sampler, false);
}

/* Each device is shown as soon as it has answered: a slow driver makes a round long. */
static void take_samples(struct ga_sampler *sampler, struct ga_session *session)
{
    const struct ga_monitor *monitor = sampler->options.monitor;
    struct ga_picture *fresh = &sampler->fresh;

    if (monitor->threads)
        fresh->threads = monitor->threads(session, fresh->thread, GA_PICTURE_THREADS);
    for (size_t i = 0; i < fresh->devices && !atomic_load(&sampler->closing); i++) {
        take_trouble(&fresh->device[i], monitor->sample(session, i, &fresh->device[i].sample));
        if (i + 1 < fresh->devices)
            publish(sampler, false);
    }
    fresh->rounds++;
    publish(sampler, true);
}

/* Shares of time over a long sleep say little: the next ones come soon. */
static int64_t pause_after(const struct ga_sampler *sampler, int64_t last_ns, int64_t begun_ns)
{
    const int64_t period_ns = sampler->options.period_ns;
    const bool slept = last_ns == 0 || begun_ns - last_ns > 4 * period_ns;

    return slept && SOON_NS < period_ns ? SOON_NS : period_ns;
}

static void watch(struct ga_sampler *sampler, struct ga_session *session)
{
    int64_t last_ns = 0, begun_ns = 0;

    look_at_devices(sampler, session);
    do {
        last_ns = begun_ns;
        begun_ns = ga_now_ns();
        take_samples(sampler, session);
    } while (rest(sampler, begun_ns + pause_after(sampler, last_ns, begun_ns)));
}

static void *run(void *arg)
{
    struct ga_sampler *sampler = arg;
    const struct ga_monitor_options options = {&sampler->closing};
    struct ga_session *session = NULL;

    ga_float_environment_reset();
    if (sampler->options.monitor->open(&session, &options) < 0) {
        ga_error_take(&sampler->fresh.error);
        sampler->fresh.state = GA_PICTURE_FAILED;
        publish(sampler, true);
    } else {
        watch(sampler, session);
    }
    sampler->options.monitor->close(session);
    pthread_mutex_lock(&sampler->lock);
    sampler->ended = true;
    pthread_cond_broadcast(&sampler->changed);
    pthread_mutex_unlock(&sampler->lock);
    release(sampler);
    return NULL;
}

static void init_waits(struct ga_sampler *sampler)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&sampler->lock, NULL);
    pthread_cond_init(&sampler->asked, &monotonic);
    pthread_cond_init(&sampler->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

/* Signals are the main thread's. */
static int start_thread(struct ga_sampler *sampler)
{
    sigset_t all, old;
    int failed = 0;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    failed = pthread_create(&sampler->thread, NULL, run, sampler);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return failed ? ga_fail_errno(GA_ENOMEM, failed, "%s: cannot start a thread",
                                  sampler->options.monitor->name)
                  : GA_OK;
}

int ga_sampler_open(struct ga_sampler **out, const struct ga_sampler_options *options)
{
    struct ga_sampler *sampler = ga_alloc(1, sizeof *sampler);

    *out = NULL;
    if (!sampler)
        return GA_ENOMEM;
    sampler->options = *options;
    if (sampler->options.period_ns <= 0)
        sampler->options.period_ns = PERIOD_NS;
    if (sampler->options.patience_ns <= 0)
        sampler->options.patience_ns = PATIENCE_NS;
    atomic_init(&sampler->references, 2);
    init_waits(sampler);
    if (start_thread(sampler) < 0) {
        atomic_store(&sampler->references, 1);
        release(sampler);
        return ga_error_code();
    }
    *out = sampler;
    return GA_OK;
}

void ga_sampler_stop(struct ga_sampler *sampler)
{
    if (!sampler)
        return;
    pthread_mutex_lock(&sampler->lock);
    atomic_store(&sampler->closing, true);
    sampler->bell = NULL;
    pthread_cond_signal(&sampler->asked);
    pthread_mutex_unlock(&sampler->lock);
}

void ga_sampler_close(struct ga_sampler *sampler)
{
    bool ended = false;

    if (!sampler)
        return;
    ga_sampler_stop(sampler);
    const int64_t deadline_ns = ga_now_ns() + sampler->options.patience_ns;
    pthread_mutex_lock(&sampler->lock);
    while (!sampler->ended && wait_until(&sampler->changed, &sampler->lock, deadline_ns))
        continue;
    ended = sampler->ended;
    pthread_mutex_unlock(&sampler->lock);
    if (ended)
        pthread_join(sampler->thread, NULL);
    else
        pthread_detach(sampler->thread);
    release(sampler);
}

void ga_sampler_read(struct ga_sampler *sampler, struct ga_picture *out)
{
    pthread_mutex_lock(&sampler->lock);
    *out = sampler->picture;
    if (!sampler->wanted) {
        sampler->wanted = true;
        pthread_cond_signal(&sampler->asked);
    }
    pthread_mutex_unlock(&sampler->lock);
}

bool ga_sampler_wait(struct ga_sampler *sampler, uint64_t rounds, int64_t deadline_ns)
{
    bool there = false, in_time = true;

    pthread_mutex_lock(&sampler->lock);
    for (;;) {
        there = sampler->picture.state == GA_PICTURE_FAILED || sampler->picture.rounds >= rounds;
        if (there || !in_time)
            break;
        sampler->wanted = true;
        pthread_cond_signal(&sampler->asked);
        in_time = wait_until(&sampler->changed, &sampler->lock, deadline_ns);
    }
    pthread_mutex_unlock(&sampler->lock);
    return there;
}

void ga_sampler_ring(struct ga_sampler *sampler, const struct ga_bell *bell)
{
    pthread_mutex_lock(&sampler->lock);
    sampler->bell = bell;
    pthread_mutex_unlock(&sampler->lock);
}
