#include "train/workers.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"

/*
 * Looks at what a thread waits for before it sleeps: some 20 to 50 us, which is what waking it up
 * costs. Bounded, so that nothing collapses where a core is taken by another process.
 */
#define LOOKS 2000

static inline void rest_a_moment(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

struct worker {
    struct ga_workers *pool;
    pthread_t thread;
    int lane;
    atomic_int number; /* gettid(), once it runs */
};

struct ga_workers {
    pthread_mutex_t lock;
    pthread_cond_t work;     /* the queue is not empty, or closing */
    pthread_cond_t finished; /* a task became done */
    struct ga_task *first, *last;
    bool closing;
    atomic_uint submitted; /* tasks so far: looked at without the lock before sleeping */
    atomic_int asleep;
    int threads; /* started */
    struct worker *worker;
};

/* With the lock held. */
static struct ga_task *take(struct ga_workers *pool)
{
    struct ga_task *task = pool->first;

    if (task) {
        pool->first = task->next;
        if (!pool->first)
            pool->last = NULL;
    }
    return task;
}

/* Called and returns with the lock held. */
static void execute(struct ga_workers *pool, struct ga_task *task, int lane)
{
    pthread_mutex_unlock(&pool->lock);
    task->work(task, lane);
    pthread_mutex_lock(&pool->lock);
    atomic_store_explicit(&task->done, true, memory_order_release);
    pthread_cond_broadcast(&pool->finished);
}

/* Called and returns with the lock held. */
static void sleep_on(struct ga_workers *pool, pthread_cond_t *what)
{
    atomic_fetch_add_explicit(&pool->asleep, 1, memory_order_relaxed);
    pthread_cond_wait(what, &pool->lock);
    atomic_fetch_sub_explicit(&pool->asleep, 1, memory_order_relaxed);
}

/* Called and returns with the lock held: whether a task came while it looked. */
static bool comes_soon(struct ga_workers *pool)
{
    unsigned before = atomic_load_explicit(&pool->submitted, memory_order_relaxed);
    bool came = false;

    pthread_mutex_unlock(&pool->lock);
    for (int look = 0; look < LOOKS && !came; look++) {
        rest_a_moment();
        came = atomic_load_explicit(&pool->submitted, memory_order_relaxed) != before;
    }
    pthread_mutex_lock(&pool->lock);
    return came || pool->first || pool->closing;
}

static void *worker_main(void *arg)
{
    struct worker *self = arg;
    struct ga_workers *pool = self->pool;

    ga_float_environment_reset();
    atomic_store_explicit(&self->number, gettid(), memory_order_relaxed);
    pthread_mutex_lock(&pool->lock);
    while (!pool->closing) {
        struct ga_task *task = take(pool);

        if (task)
            execute(pool, task, self->lane);
        else if (!comes_soon(pool))
            sleep_on(pool, &pool->work);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static int start_threads(struct ga_workers *pool, int threads)
{
    for (; pool->threads < threads; pool->threads++) {
        struct worker *worker = &pool->worker[pool->threads];
        int failed = 0;

        worker->pool = pool;
        worker->lane = pool->threads + 1;
        failed = pthread_create(&worker->thread, NULL, worker_main, worker);
        if (failed)
            return ga_fail_errno(GA_ENOMEM, failed, "cannot start worker thread %d", worker->lane);
    }
    return GA_OK;
}

int ga_workers_open(struct ga_workers **out, int threads)
{
    struct ga_workers *pool = ga_alloc(1, sizeof *pool);

    *out = NULL;
    if (!pool)
        return ga_error_code();
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->finished, NULL);
    pool->worker = ga_alloc(threads > 0 ? (size_t)threads : 1, sizeof *pool->worker);
    if (!pool->worker || start_threads(pool, threads) < 0) {
        ga_workers_close(pool);
        return ga_error_code();
    }
    *out = pool;
    return GA_OK;
}

void ga_workers_close(struct ga_workers *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->threads; i++)
        pthread_join(pool->worker[i].thread, NULL);
    pthread_cond_destroy(&pool->finished);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    free(pool->worker);
    free(pool);
}

int ga_workers_lanes(const struct ga_workers *pool)
{
    return pool->threads + 1;
}

int ga_workers_asleep(const struct ga_workers *pool)
{
    return atomic_load_explicit(&pool->asleep, memory_order_relaxed);
}

int32_t ga_workers_thread(const struct ga_workers *pool, int lane)
{
    if (lane <= 0 || lane > pool->threads)
        return 0;
    return atomic_load_explicit(&pool->worker[lane - 1].number, memory_order_relaxed);
}

void ga_workers_submit(struct ga_workers *pool, struct ga_task *task)
{
    atomic_store_explicit(&task->done, false, memory_order_relaxed);
    task->next = NULL;
    pthread_mutex_lock(&pool->lock);
    if (pool->last)
        pool->last->next = task;
    else
        pool->first = task;
    pool->last = task;
    atomic_fetch_add_explicit(&pool->submitted, 1, memory_order_relaxed);
    pthread_cond_signal(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

static bool is_done(const struct ga_task *task)
{
    return atomic_load_explicit(&task->done, memory_order_acquire);
}

/* Called and returns with the lock held. */
static void await(struct ga_workers *pool, const struct ga_task *task)
{
    pthread_mutex_unlock(&pool->lock);
    for (int look = 0; look < LOOKS && !is_done(task); look++)
        rest_a_moment();
    pthread_mutex_lock(&pool->lock);
    if (!is_done(task) && !pool->first)
        sleep_on(pool, &pool->finished);
}

void ga_workers_wait(struct ga_workers *pool, struct ga_task *task)
{
    if (is_done(task))
        return;
    pthread_mutex_lock(&pool->lock);
    while (!is_done(task)) {
        struct ga_task *other = take(pool);

        if (other)
            execute(pool, other, 0);
        else
            await(pool, task);
    }
    pthread_mutex_unlock(&pool->lock);
}

void ga_workers_join(struct ga_workers *pool, struct ga_task *task)
{
    pthread_mutex_lock(&pool->lock);
    while (!atomic_load_explicit(&task->done, memory_order_relaxed))
        sleep_on(pool, &pool->finished);
    pthread_mutex_unlock(&pool->lock);
}
