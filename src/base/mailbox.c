#include "base/mailbox.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* `mutex` guards first and last; count is changed under it and read without it. */
struct ga_mailbox {
    pthread_mutex_t mutex;
    pthread_cond_t posted; /* on CLOCK_MONOTONIC */
    struct ga_letter *first;
    struct ga_letter *last;
    bool woken; /* under the mutex */
    atomic_size_t count;
};

static int init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    int error = pthread_condattr_init(&attributes);
    if (error != 0)
        return error;
    error = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (error == 0)
        error = pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
    return error;
}

int ga_mailbox_open(struct ga_mailbox **out)
{
    *out = NULL;
    struct ga_mailbox *box = ga_alloc(1, sizeof *box);
    if (!box)
        return GA_ENOMEM;
    int error = pthread_mutex_init(&box->mutex, NULL);
    if (error != 0)
        goto no_mutex;
    error = init_condition(&box->posted);
    if (error != 0)
        goto no_condition;
    atomic_init(&box->count, 0);
    *out = box;
    return GA_OK;

no_condition:
    pthread_mutex_destroy(&box->mutex);
no_mutex:
    free(box);
    return ga_fail_errno(GA_EIO, error, "cannot open a mailbox");
}

void ga_mailbox_close(struct ga_mailbox *box)
{
    if (!box)
        return;
    pthread_cond_destroy(&box->posted);
    pthread_mutex_destroy(&box->mutex);
    free(box);
}

void ga_mailbox_post(struct ga_mailbox *box, struct ga_letter *letter)
{
    letter->next = NULL;
    pthread_mutex_lock(&box->mutex);
    if (box->last)
        box->last->next = letter;
    else
        box->first = letter;
    box->last = letter;
    atomic_fetch_add_explicit(&box->count, 1, memory_order_release);
    /* Signalled under the lock, so that the owner can close the box right after the last letter. */
    pthread_cond_signal(&box->posted);
    pthread_mutex_unlock(&box->mutex);
}

void ga_mailbox_wake(struct ga_mailbox *box)
{
    pthread_mutex_lock(&box->mutex);
    box->woken = true;
    pthread_cond_signal(&box->posted);
    pthread_mutex_unlock(&box->mutex);
}

bool ga_mailbox_waiting(const struct ga_mailbox *box)
{
    return atomic_load_explicit(&box->count, memory_order_acquire) > 0;
}

/* One wait; false when the deadline has passed. */
static bool wait_posted(struct ga_mailbox *box, int64_t deadline_ns)
{
    if (deadline_ns == INT64_MAX)
        return pthread_cond_wait(&box->posted, &box->mutex) == 0;
    if (deadline_ns <= ga_now_ns())
        return false;
    const struct timespec until = {.tv_sec = (time_t)(deadline_ns / 1000000000),
                                   .tv_nsec = (long)(deadline_ns % 1000000000)};
    return pthread_cond_timedwait(&box->posted, &box->mutex, &until) == 0;
}

struct ga_letter *ga_mailbox_take(struct ga_mailbox *box, int64_t deadline_ns)
{
    pthread_mutex_lock(&box->mutex);
    while (!box->first && !box->woken && wait_posted(box, deadline_ns))
        continue;
    /* A wake comes first: neither is it lost to a letter, nor can letters hold it up for ever. */
    struct ga_letter *letter = box->woken ? NULL : box->first;
    box->woken = false;
    if (letter) {
        box->first = letter->next;
        if (!box->first)
            box->last = NULL;
        letter->next = NULL;
        atomic_fetch_sub_explicit(&box->count, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&box->mutex);
    return letter;
}
