/*
 * A small pool of worker threads for replicas' micro-batches. Several replicas share a worker; with
 * the waiting caller, who helps, there are never more busy threads than `threads` + 1.
 *
 * Whoever waits looks for a bounded while before it sleeps.
 *
 * Lock rule: one mutex guards the queue. A task belongs to the pool from submit to done; its memory
 * is the caller's. One caller thread submits and waits.
 */
#ifndef GA_TRAIN_WORKERS_H
#define GA_TRAIN_WORKERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ga_workers;

struct ga_task {
    /* `lane` numbers the executing thread: 0 the caller, 1.. the workers. */
    void (*work)(struct ga_task *task, int lane);
    struct ga_task *next;
    atomic_bool done;
};

/* threads 0: the caller does everything, in ga_workers_wait(). */
int ga_workers_open(struct ga_workers **out, int threads);
void ga_workers_close(struct ga_workers *pool);
int ga_workers_lanes(const struct ga_workers *pool); /* threads + 1 */

/* The kernel's number of the thread behind a lane; 0: the caller, or not known yet. Any thread. */
int32_t ga_workers_thread(const struct ga_workers *pool, int lane);

/* Threads, the caller among them, that have given up looking and sleep. Any thread. */
int ga_workers_asleep(const struct ga_workers *pool);

void ga_workers_submit(struct ga_workers *pool, struct ga_task *task);

/* Returns when `task` is done; meanwhile the caller takes tasks that no worker has begun. */
void ga_workers_wait(struct ga_workers *pool, struct ga_task *task);

/* The same without taking any: the caller only waits. */
void ga_workers_join(struct ga_workers *pool, struct ga_task *task);

#endif
