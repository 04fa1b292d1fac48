/*
 * The thread of a log. The recording thread pays for a system call only when the log thread sleeps
 * deeply (nothing came for a while), at every quarter of a ring, and when the ring is full.
 *
 * Lock rule: `lock` guards `error` and both conditions. `closing`, `failed`, `asleep`, `holding`
 * are atomics that are changed with the lock held and read without it. No wake-up is lost: the
 * recorder counts up `taken` and then looks at `asleep`; the log thread sets `asleep` and then
 * looks at `taken`; both in the one order of sequentially consistent atomics.
 */
#include "storage/log.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/ring.h"
#include "base/thread.h"
#include "storage/log_formats.h"

#define DEFAULT_RECORDS  4096
#define DEFAULT_PATIENCE INT64_C(30000000000) /* ns */
#define LONGEST_PATIENCE (INT64_MAX / 4)      /* added to a clock without overflow */
#define LINGER_NS        INT64_C(50000000)    /* between two looks while records keep coming */

/* What goes through the ring. */
struct entry {
    bool of_replica;
    union {
        struct ga_update_record update;
        struct ga_replica_record replica;
    };
};

struct ga_log {
    struct ga_log_options options;
    char *path;
    struct ga_log_sink *sink; /* the log thread's while it runs */
    struct ga_ring *ring;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work; /* for the log thread: records or closing */
    pthread_cond_t room; /* for the recorder: the ring was emptied, or the log failed */
    atomic_bool closing, failed, asleep, holding;
    atomic_uint_fast64_t taken, held, records; /* taken: entries; records: of windows */
    uint64_t written;                          /* log thread only */
    struct ga_error error;
};

static void fail(struct ga_log *log, const struct ga_error *error)
{
    pthread_mutex_lock(&log->lock);
    if (!atomic_load(&log->failed))
        log->error = *error;
    atomic_store(&log->failed, true);
    pthread_cond_signal(&log->room);
    pthread_mutex_unlock(&log->lock);
}

static void fail_now(struct ga_log *log)
{
    struct ga_error error;
    ga_error_take(&error);
    fail(log, &error);
}

static bool wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t deadline_ns)
{
    const struct timespec at = {.tv_sec = (time_t)(deadline_ns / 1000000000),
                                .tv_nsec = (long)(deadline_ns % 1000000000)};
    return pthread_cond_timedwait(condition, lock, &at) == 0;
}

static int write_entry(const struct ga_log *log, const struct entry *entry)
{
    const struct ga_log_format *format = log->options.format;
    return entry->of_replica ? format->replica(log->sink, &entry->replica)
                             : format->record(log->sink, &entry->update);
}

/* Writes all that is in the ring; true when there was something. After a failure it is only
 * emptied. */
static bool drain(struct ga_log *log)
{
    struct entry entry;
    const uint64_t before = log->written;
    while (ga_ring_pop(log->ring, &entry)) {
        log->written++;
        if (!atomic_load(&log->failed) && write_entry(log, &entry))
            fail_now(log);
    }
    if (log->written == before)
        return false;
    if (!atomic_load(&log->failed) && log->options.format->flush(log->sink))
        fail_now(log);
    return true;
}

/* A short wait while records keep coming; without any, until one comes or the log is closed. */
static void rest(struct ga_log *log, bool busy)
{
    pthread_mutex_lock(&log->lock);
    pthread_cond_signal(&log->room);
    if (busy && !atomic_load(&log->closing) && !atomic_load(&log->holding))
        wait_until(&log->work, &log->lock, ga_now_ns() + LINGER_NS);
    atomic_store(&log->asleep, !busy);
    while (!busy && !atomic_load(&log->closing) && atomic_load(&log->taken) == log->written)
        pthread_cond_wait(&log->work, &log->lock);
    atomic_store(&log->asleep, false);
    pthread_mutex_unlock(&log->lock);
}

static void *run(void *arg)
{
    struct ga_log *log = arg;
    bool busy = false;
    ga_float_environment_reset();
    while (!atomic_load(&log->closing)) {
        rest(log, busy);
        busy = drain(log);
    }
    drain(log);
    if (log->options.format->close(log->sink))
        fail_now(log);
    return NULL;
}

/* Signals are the main thread's; a pipe whose reader is gone then answers the write instead. */
static int start_thread(struct ga_log *log)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const int answer = pthread_create(&log->thread, NULL, run, log);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return answer ? ga_fail_errno(GA_EIO, answer, "log %s: cannot start a thread", log->path)
                  : GA_OK;
}

static void init_waits(struct ga_log *log)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&log->lock, NULL);
    pthread_cond_init(&log->work, &monotonic);
    pthread_cond_init(&log->room, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static void release(struct ga_log *log)
{
    pthread_cond_destroy(&log->room);
    pthread_cond_destroy(&log->work);
    pthread_mutex_destroy(&log->lock);
    ga_ring_close(log->ring);
    free(log->path);
    free(log);
}

static void take_options(struct ga_log *log, const struct ga_log_options *options)
{
    log->options = *options;
    if (log->options.every == 0)
        log->options.every = 1;
    if (log->options.ring_records == 0)
        log->options.ring_records = DEFAULT_RECORDS;
    if (log->options.patience_ns <= 0)
        log->options.patience_ns = DEFAULT_PATIENCE;
    if (log->options.patience_ns > LONGEST_PATIENCE)
        log->options.patience_ns = LONGEST_PATIENCE;
}

int ga_log_open(struct ga_log **out, const char *path, const struct ga_log_options *options)
{
    struct ga_log *log = ga_alloc(1, sizeof *log);
    if (!log)
        return ga_error_code();
    take_options(log, options);
    init_waits(log);
    log->path = ga_copy_string(path);
    int code = log->path ? GA_OK : ga_error_code();
    if (!code)
        code = ga_ring_open(&log->ring, log->options.ring_records, sizeof(struct entry));
    if (!code)
        code = log->options.format->open(&log->sink, path, &log->options);
    if (!code)
        code = start_thread(log);
    if (!code) {
        *out = log;
        return GA_OK;
    }
    struct ga_error error;
    ga_error_take(&error);
    if (log->sink)
        log->options.format->close(log->sink);
    release(log);
    return ga_error_put(&error);
}

static void wake(struct ga_log *log)
{
    pthread_mutex_lock(&log->lock);
    pthread_cond_signal(&log->work);
    pthread_mutex_unlock(&log->lock);
}

static void lose_patience(struct ga_log *log)
{
    struct ga_error error;
    ga_fail(GA_EIO, "log %s: nothing could be written for %.3g s, given up", log->path,
            (double)log->options.patience_ns / 1e9);
    ga_error_take(&error);
    fail(log, &error);
}

/* Pushes when there is room; false when the log failed or the patience is over. */
static bool push_held(struct ga_log *log, const struct entry *entry)
{
    const int64_t deadline = ga_now_ns() + log->options.patience_ns;
    bool pushed = false, late = false;
    pthread_mutex_lock(&log->lock);
    atomic_fetch_add(&log->held, 1);
    atomic_store(&log->holding, true);
    pthread_cond_signal(&log->work);
    while (!(pushed = ga_ring_push(log->ring, entry)) && !late && !atomic_load(&log->failed))
        late = !wait_until(&log->room, &log->lock, deadline);
    atomic_store(&log->holding, false);
    pthread_mutex_unlock(&log->lock);
    if (!pushed && late)
        lose_patience(log);
    return pushed;
}

static bool wants(const struct ga_log *log, const struct ga_update_record *record)
{
    return (!record->applied || record->update % log->options.every == 0) &&
           !atomic_load_explicit(&log->failed, memory_order_relaxed);
}

/* False when there was no room and the log failed. */
static bool take(struct ga_log *log, const struct entry *entry)
{
    if (!ga_ring_push(log->ring, entry) && !push_held(log, entry))
        return false;
    const uint64_t taken = atomic_fetch_add(&log->taken, 1) + 1;
    const uint64_t quarter = log->options.ring_records / 4 + 1;
    if (atomic_load(&log->asleep) || taken % quarter == 0)
        wake(log);
    return true;
}

void ga_log_record(struct ga_log *log, const struct ga_update_record *record)
{
    if (!wants(log, record))
        return;
    const struct entry entry = {.update = *record};
    if (take(log, &entry))
        atomic_fetch_add(&log->records, 1);
}

void ga_log_record_run(struct ga_log *log, struct ga_run *run,
                       const struct ga_update_record *record)
{
    const size_t replicas = ga_run_replicas(run);
    ga_log_record(log, record);
    if (!log->options.format->replica || !wants(log, record))
        return;
    for (size_t r = 0; r < replicas && r < GA_LOG_REPLICAS; r++) {
        const struct ga_replica_value *value = ga_run_replica(run, r);
        const struct entry entry = {.of_replica = true,
                                    .replica = {record->update, (uint32_t)r, value->loss,
                                                value->norm, value->cosine, value->staleness,
                                                ga_run_metric(run, GA_METRIC_IDLE, (int32_t)r)}};
        take(log, &entry);
    }
}

uint64_t ga_log_skips(const struct ga_log *log, uint64_t updates_made)
{
    return log->options.every - 1 - updates_made % log->options.every;
}

void ga_log_record_burst(struct ga_log *log, const struct ga_burst_rows *rows)
{
    struct ga_update_record record;

    for (uint64_t k = ga_log_skips(log, rows->before.update); k < rows->count;
         k += log->options.every) {
        ga_burst_record(&rows->before, k + 1, rows->span_ns, &rows->row[k], &record);
        ga_log_record(log, &record);
    }
}

uint64_t ga_log_room(const struct ga_log *log)
{
    const size_t waiting = ga_ring_count(log->ring), all = log->options.ring_records;
    const uint64_t room = waiting < all ? all - waiting : 0;
    if (atomic_load_explicit(&log->failed, memory_order_relaxed) ||
        room > UINT64_MAX / log->options.every)
        return UINT64_MAX;
    return room * log->options.every;
}

void ga_log_status(struct ga_log *log, struct ga_log_status *out)
{
    memset(out, 0, sizeof *out);
    pthread_mutex_lock(&log->lock);
    out->records = atomic_load(&log->records);
    out->held = atomic_load(&log->held);
    out->holding = atomic_load(&log->holding);
    if (atomic_load(&log->failed))
        out->error = log->error;
    pthread_mutex_unlock(&log->lock);
}

const char *ga_log_path(const struct ga_log *log)
{
    return log->path;
}

const char *ga_log_format_name(const struct ga_log *log)
{
    return log->options.format->name;
}

uint64_t ga_log_every(const struct ga_log *log)
{
    return log->options.every;
}

int ga_log_close(struct ga_log *log)
{
    if (!log)
        return GA_OK;
    pthread_mutex_lock(&log->lock);
    atomic_store(&log->closing, true);
    pthread_cond_signal(&log->work);
    pthread_mutex_unlock(&log->lock);
    pthread_join(log->thread, NULL);
    const int code = atomic_load(&log->failed) ? ga_error_put(&log->error) : GA_OK;
    release(log);
    return code;
}
