/* 1,024 replicas in virtual time: every mode runs, and in memory that does not grow with time. */
#include "support/support.h"

#include <malloc.h>
#include <stdio.h>

#include "train/support/engine_rig.h"

#define BUDGET (INT64_C(16) << 20)

static const char *const modes[] = {
    "mode sync backup 3 late finish",
    "mode delay lag 5",
    "mode async scale share",
    "mode ssp bound 2 sharding strided",
    "mode buffered buffer 100",
    "mode buffered bound 0",
    "mode local period 2",
    "mode hogwild",
};

static int check_time(struct ga_run *run, void *arg)
{
    int64_t spent = 0;

    (void)arg;
    for (size_t r = 0; r < ga_run_replicas(run); r++) {
        const struct ga_replica_value *v = ga_run_replica(run, r);
        bool works = v->state == GA_REPLICA_BUSY || v->state == GA_REPLICA_LATE;

        spent += v->busy_ns + v->idle_ns + v->communication_ns + ga_run_now(run) -
                 (works ? v->start_ns : v->free_ns);
    }
    return spent == (int64_t)ga_run_replicas(run) * ga_run_now(run)
               ? GA_OK
               : ga_fail(GA_EINTERNAL, "times do not add up");
}

static int64_t heap_bytes(void)
{
    return (int64_t)mallinfo2().uordblks;
}

static void check_mode(const char *mode)
{
    struct ga_engine_rig rig;
    struct ga_history_info history;
    uint64_t events = ga_test_count(20000), hash = 0;
    int64_t before = 0;
    char words[256];

    snprintf(words, sizeof words,
             "replicas 1024 accum 2 batch 1 lr 0.001 nonfinite skip jitter exponential "
             "history-budget 16MiB %s",
             mode);
    ga_engine_rig_open(
        &rig, &(struct ga_test_start){.data = "parabola n=5000", .settings = words, .threads = 2});
    for (int k = 0; k < 3; k++) {
        before = heap_bytes();
        ga_engine_rig_go(&rig, GA_MOVE_EVENTS, events);
        ga_test_ok(ga_engine_call(rig.engine, check_time, NULL));
        history = ga_engine_rig_history(&rig);
        assert_true(history.bytes <= (uint64_t)BUDGET);
    }
    assert_true(heap_bytes() - before < BUDGET / 2);
    hash = ga_engine_rig_hash(&rig);
    ga_engine_rig_go(&rig, GA_MOVE_BACK_EVENTS, events);
    ga_engine_rig_go(&rig, GA_MOVE_EVENTS, events);
    assert_int_equal(ga_engine_rig_hash(&rig), hash);
    ga_engine_rig_close(&rig);
}

static void test_every_mode(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof modes / sizeof *modes; k++)
        check_mode(modes[k]);
}

/*
 * A state of 1,024 replicas between two pushes takes hundreds of times as long to copy as a push
 * takes: one is kept for many pushes, `back` leads to each all the same, and what follows a change
 * is kept at once.
 */
static void test_not_every_push_is_kept(void **state)
{
    struct ga_engine_rig rig;
    uint64_t hash[40], states = 0;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.data = "quadratic lambda=1 n=4096",
                                                     .settings = "replicas 1024 batch 1 mode async "
                                                                 "lr 0.001 jitter exponential",
                                                     .threads = 1});
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 2000);
    assert_in_range(ga_engine_rig_history(&rig).states, 5, 2000 / 20);
    for (size_t k = 0; k < 40; k++) {
        ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 1);
        hash[k] = ga_engine_rig_hash(&rig);
    }
    for (size_t k = 40; k-- > 0;) {
        assert_int_equal(ga_engine_rig_hash(&rig), hash[k]);
        ga_engine_rig_go(&rig, GA_MOVE_BACK_UPDATES, 1);
    }
    ga_engine_rig_set(&rig, "lr 0.002");
    states = ga_engine_rig_history(&rig).states;
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 1);
    assert_int_equal(ga_engine_rig_history(&rig).states, states + 1);
    ga_engine_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_mode),
        cmocka_unit_test(test_not_every_push_is_kept),
    };

    return ga_test_main(tests);
}
