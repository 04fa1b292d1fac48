/* Tape and workers. */
#include "support/support.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "train/support/start.h"
#include "train/tape.h"
#include "train/workers.h"

#define RECORD 24

static void push(struct ga_tape *tape, uint64_t number)
{
    uint64_t *record = ga_tape_push(tape);

    assert_non_null(record);
    record[0] = number;
    record[2] = ~number;
}

static void check(const struct ga_tape *tape, uint64_t first)
{
    for (size_t k = 0; k < tape->count; k++) {
        const uint64_t *record = ga_tape_at(tape, k);

        assert_int_equal(record[0], first + k);
        assert_int_equal(record[2], ~(first + k));
    }
}

static void test_a_tape_grows_and_is_cut(void **state)
{
    struct ga_tape tape;
    const size_t cuts[] = {5000, 1025, 1024, 1023, 512, 511, 1, 0};

    (void)state;
    ga_tape_init(&tape, RECORD, UINT64_MAX);
    assert_int_equal(tape.count, 0);
    for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++) {
        while (tape.count < 5000)
            push(&tape, tape.count);
        ga_tape_cut(&tape, cuts[k]);
        assert_int_equal(tape.count, cuts[k]);
        check(&tape, 0);
        assert_true(ga_tape_bytes(&tape) <= (cuts[k] + GA_TAPE_CHUNK) * RECORD);
        push(&tape, tape.count);
        check(&tape, 0);
    }
    ga_tape_fini(&tape);
    assert_int_equal(ga_tape_bytes(&tape), 0);
}

/* Over its limit it lets the oldest go, in whole chunks. */
/* What is cut off is used again, up to a limit, and nothing of it is mistaken for a record. */
static void test_a_tape_keeps_spare_chunks(void **state)
{
    const size_t most = (size_t)(GA_TAPE_SPARE / (GA_TAPE_CHUNK * RECORD));
    struct ga_tape tape;

    (void)state;
    ga_tape_init(&tape, RECORD, UINT64_MAX);
    while (tape.count < (most + 5) * GA_TAPE_CHUNK)
        push(&tape, tape.count);
    ga_tape_cut(&tape, 2 * GA_TAPE_CHUNK);
    assert_int_equal(tape.spares, most);
    tape.limit_bytes = 5 * GA_TAPE_CHUNK * RECORD;
    for (uint64_t pushed = tape.count; pushed < 30 * GA_TAPE_CHUNK; pushed++) {
        push(&tape, pushed);
        check(&tape, pushed + 1 - tape.count);
        assert_true(ga_tape_bytes(&tape) <= tape.limit_bytes);
    }
    assert_int_equal(tape.spares, most - 3);
    ga_tape_size(&tape, GA_TAPE_CHUNK / 2);
    assert_int_equal(tape.spares, 0);
    ga_tape_fini(&tape);
}

static void test_a_tape_has_a_limit(void **state)
{
    struct ga_tape tape;
    uint64_t pushed = 0;

    (void)state;
    ga_tape_init(&tape, RECORD, 4 * GA_TAPE_CHUNK * RECORD);
    for (; pushed < 20 * GA_TAPE_CHUNK + 7; pushed++) {
        push(&tape, pushed);
        assert_true(ga_tape_bytes(&tape) <= tape.limit_bytes);
        assert_true(tape.count >= (pushed < 3 * GA_TAPE_CHUNK ? pushed + 1 : 3 * GA_TAPE_CHUNK));
    }
    check(&tape, pushed - tape.count);
    tape.limit_bytes = 0; /* nothing fits: the newest full chunk stays beside the one in use */
    for (int k = 0; k < 3000; k++)
        push(&tape, pushed++);
    assert_int_equal(ga_tape_bytes(&tape), 2 * GA_TAPE_CHUNK * RECORD);
    check(&tape, pushed - tape.count);
    ga_tape_fini(&tape);
}

/* Records that are filled in where they stay, in chunks of another size. */
static void test_a_tape_gives_room_side_by_side(void **state)
{
    const size_t size = 3000;
    struct ga_tape tape;
    size_t room = 0, filled = 0;

    (void)state;
    ga_tape_init(&tape, RECORD, 4 * size * RECORD);
    ga_tape_size(&tape, size);
    while (filled < 10 * size) {
        uint64_t *record = ga_tape_room(&tape, &room);

        assert_non_null(record);
        assert_in_range(room, 1, size);
        room = room < 700 ? room : 700;
        for (size_t k = 0; k < room; k++, filled++) {
            record[k * RECORD / sizeof *record] = filled;
            record[k * RECORD / sizeof *record + 2] = ~filled;
        }
        ga_tape_take(&tape, room);
        assert_true(ga_tape_bytes(&tape) <= tape.limit_bytes);
    }
    assert_int_equal(tape.count, 4 * size);
    check(&tape, filled - tape.count);
    ga_tape_cut(&tape, size + 1);
    check(&tape, filled - 4 * size);
    ga_tape_fini(&tape);
}

static void test_a_tape_without_memory_keeps_what_it_has(void **state)
{
    struct ga_tape tape;

    (void)state;
    ga_tape_init(&tape, RECORD, UINT64_MAX);
    while (tape.count < GA_TAPE_CHUNK)
        push(&tape, tape.count);
    for (int64_t limit = 0; limit < 1; limit++) {
        ga_test_allocation_limit(limit);
        assert_null(ga_tape_push(&tape));
        ga_test_allocation_free();
        assert_int_equal(ga_error_code(), GA_ENOMEM);
    }
    assert_int_equal(tape.count, GA_TAPE_CHUNK);
    push(&tape, tape.count);
    check(&tape, 0);
    ga_tape_fini(&tape);
}

struct job {
    struct ga_task task; /* first */
    uint64_t input, output;
    int lane;
};

static void work(struct ga_task *task, int lane)
{
    struct job *job = (struct job *)(void *)task;
    uint64_t value = job->input;

    for (int k = 0; k < 1000; k++)
        value = value * UINT64_C(6364136223846793005) + 1442695040888963407u;
    job->output = value;
    job->lane = lane;
}

#define JOBS 200

/* Every task is done exactly once, by a lane that exists, whatever the order of waiting. */
static void run_jobs(int threads, bool backwards)
{
    struct ga_workers *workers = NULL;
    struct job *job = calloc(JOBS, sizeof *job), again = {.input = 0};

    assert_non_null(job);
    ga_test_ok(ga_workers_open(&workers, threads));
    assert_int_equal(ga_workers_lanes(workers), threads + 1);
    for (size_t round = 0; round < ga_test_count(20); round++) {
        for (size_t k = 0; k < JOBS; k++) {
            job[k].task.work = work;
            job[k].input = k + round;
            job[k].lane = -1;
            ga_workers_submit(workers, &job[k].task);
        }
        for (size_t k = 0; k < JOBS; k++)
            ga_workers_wait(workers, &job[backwards ? JOBS - 1 - k : k].task);
        for (size_t k = 0; k < JOBS; k++) {
            again.input = k + round;
            work(&again.task, 0);
            assert_int_equal(job[k].output, again.output);
            assert_in_range(job[k].lane, 0, threads);
        }
    }
    ga_workers_close(workers);
    free(job);
}

static void test_workers(void **state)
{
    (void)state;
    for (int threads = 0; threads <= 4; threads++) {
        run_jobs(threads, false);
        run_jobs(threads, true);
    }
}

#define MOST_BUSY 64

/* Threads that take all cores, as another process would. */
struct busy {
    atomic_bool stop;
    pthread_t thread[MOST_BUSY];
    int threads;
};

static void *be_busy(void *stop)
{
    while (!atomic_load((atomic_bool *)stop)) {
    }
    return NULL;
}

static void busy_open(struct busy *busy)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    atomic_init(&busy->stop, false);
    for (busy->threads = 0; busy->threads < cores && busy->threads < MOST_BUSY; busy->threads++)
        assert_int_equal(pthread_create(&busy->thread[busy->threads], NULL, be_busy, &busy->stop),
                         0);
}

static void busy_close(struct busy *busy)
{
    atomic_store(&busy->stop, true);
    for (int i = 0; i < busy->threads; i++)
        pthread_join(busy->thread[i], NULL);
}

struct long_job {
    struct ga_task task; /* first */
    const struct ga_workers *workers;
};

/* Is done only when so many sleep as have nothing to do: never, if one of them looked for ever. */
static void outlast(struct ga_task *task, int lane)
{
    const struct ga_workers *workers = ((struct long_job *)(void *)task)->workers;

    while (ga_workers_asleep(workers) < ga_workers_lanes(workers) - 1)
        sched_yield();
    (void)lane;
}

static void run_long_job(int threads, void (*wait)(struct ga_workers *, struct ga_task *))
{
    struct ga_workers *workers = NULL;
    struct long_job job = {.task = {.work = outlast}};

    ga_test_ok(ga_workers_open(&workers, threads));
    job.workers = workers;
    for (int round = 0; round < 3; round++) {
        ga_workers_submit(workers, &job.task);
        wait(workers, &job.task);
    }
    while (ga_workers_asleep(workers) < threads)
        sched_yield();
    ga_workers_close(workers);
}

/* Waiting threads leave the cores to those who work, whoever else wants them. */
static void test_waiting_ends_in_sleep(void **state)
{
    struct busy busy;

    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        run_long_job(threads, ga_workers_wait);
        run_long_job(threads, ga_workers_join);
        busy_open(&busy);
        run_long_job(threads, ga_workers_wait);
        run_long_job(threads, ga_workers_join);
        run_jobs(threads, false);
        busy_close(&busy);
    }
}

static void test_workers_that_never_worked(void **state)
{
    struct ga_workers *workers = NULL;

    (void)state;
    ga_test_ok(ga_workers_open(&workers, 3));
    ga_workers_close(workers);
    ga_workers_close(NULL);
    ga_test_allocation_limit(0);
    assert_int_equal(ga_workers_open(&workers, 3), GA_ENOMEM);
    ga_test_allocation_free();
    assert_null(workers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_tape_grows_and_is_cut),
        cmocka_unit_test(test_a_tape_keeps_spare_chunks),
        cmocka_unit_test(test_a_tape_has_a_limit),
        cmocka_unit_test(test_a_tape_gives_room_side_by_side),
        cmocka_unit_test(test_a_tape_without_memory_keeps_what_it_has),
        cmocka_unit_test(test_workers),
        cmocka_unit_test(test_waiting_ends_in_sleep),
        cmocka_unit_test(test_workers_that_never_worked),
    };

    return ga_test_main(tests);
}
