/*
 * The real clock: what depends on no race has the bits of virtual time, a race replays to its own
 * bits, and nothing hangs. Item times are short, so that seconds of wall time are thousands of
 * items.
 */
#include "support/support.h"

#include <stdio.h>
#include <string.h>

#include "base/thread.h"
#include "train/run_internal.h"
#include "train/support/engine_rig.h"

#define SHORT "base 30us per-example 0 jitter exponential "

static void open_clock(struct ga_engine_rig *rig, const char *clock, const char *more, int threads)
{
    char words[320];

    snprintf(words, sizeof words, SHORT "clock %s %s", clock, more);
    ga_engine_rig_open(rig, &(struct ga_test_start){.settings = words, .threads = threads});
}

/* ---- no race ---- */

static void check_same_bits(const char *settings, int threads)
{
    struct ga_engine_rig virtual, real;

    open_clock(&virtual, "virtual", settings, 1);
    open_clock(&real, "real", settings, threads);
    for (int k = 0; k < 4; k++) {
        ga_engine_rig_go(&virtual, GA_MOVE_UPDATES, 20);
        ga_engine_rig_go(&real, GA_MOVE_UPDATES, 20);
        if (ga_engine_rig_hash(&virtual) != ga_engine_rig_hash(&real))
            fail_msg("after %d updates of \"%s\" on %d threads", 20 * k + 20, settings, threads);
    }
    assert_int_equal(ga_engine_rig_counters(&virtual).micros, ga_engine_rig_counters(&real).micros);
    ga_engine_rig_close(&virtual);
    ga_engine_rig_close(&real);
}

static void test_sync_delay_and_local_are_virtual_time(void **state)
{
    const char *const settings[] = {
        "replicas 4",
        "replicas 3 global 20 order shuffle momentum 0.9 clip 3",
        "replicas 5 sharding strided optimizer adam",
        "replicas 1 accum 4",
        "replicas 3 mode delay lag 3 nesterov on momentum 0.5",
        "replicas 4 mode local period 3 accum 2",
        "replicas 3 mode local period 2 sharding contiguous optimizer adam outer nesterov(0.7,0.9)",
        "replicas 4 latency 50us bandwidth 2MB/s",
        "replicas 2 model 1-64-64-1 global 64",
        "replicas 3 mode buffered bound 0 global 21 tail wrap",
    };

    (void)state;
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++)
        for (int threads = 1; threads <= 4; threads += threads)
            check_same_bits(settings[k], threads);
}

/* ---- races ---- */

static const char *const races[] = {
    "replicas 4 mode async",
    "replicas 3 mode async sharding strided scale share accum 2 momentum 0.5",
    "replicas 4 mode async optimizer adam scale rescaled latency 20us bandwidth 5MB/s",
    "replicas 4 mode ssp bound 1 server-time 10us",
    "replicas 3 mode ssp bound 0 scale staleness sharding contiguous",
    "replicas 4 mode buffered buffer 3",
    "replicas 4 mode buffered buffer 2 bound 0 accum 3",
    "replicas 4 backup 1",
    "replicas 4 backup 2 late finish accum 2 latency 40us",
    "replicas 5 backup 1 late finish sharding strided",
};

#define RACES (sizeof races / sizeof *races)

static void check_replay(struct ga_engine_rig *rig, const char *settings)
{
    struct ga_replay replay;
    struct ga_counters before = ga_engine_rig_counters(rig), after;

    ga_test_ok(ga_engine_replay(rig->engine, &replay));
    after = ga_engine_rig_counters(rig);
    if (replay.recorded != replay.replayed)
        fail_msg("%s: %016llx replays to %016llx", settings, (unsigned long long)replay.recorded,
                 (unsigned long long)replay.replayed);
    assert_int_equal(replay.events, before.events);
    assert_memory_equal(&before, &after, sizeof before);
}

/* Of each kind 20, on 1 to 4 threads. */
static void test_races_replay_to_their_own_hash(void **state)
{
    (void)state;
    for (size_t k = 0; k < RACES; k++)
        for (size_t race = 0; race < ga_test_count(20); race++) {
            struct ga_engine_rig rig;

            open_clock(&rig, "real", races[k], 1 + (int)race % 4);
            ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 60);
            check_replay(&rig, races[k]);
            ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 60); /* on from there, live again */
            check_replay(&rig, races[k]);
            ga_engine_rig_close(&rig);
        }
}

/* Back and forth inside a race: every place has the bits that it had, and so has the end. */
static void test_walking_inside_a_race(void **state)
{
    (void)state;
    for (size_t k = 0; k < RACES; k++) {
        struct ga_engine_rig rig;
        struct ga_test_random draws = {.seed = k};
        uint64_t hash[41], end = 0;

        open_clock(&rig, "real", races[k], 2);
        for (int u = 0; u <= 40; u++) {
            hash[u] = ga_engine_rig_hash(&rig);
            ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 1);
        }
        end = ga_engine_rig_hash(&rig);
        for (int walk = 0; walk < 12; walk++) {
            uint32_t u = ga_test_draw(&draws, 41);

            ga_engine_rig_go(&rig, GA_MOVE_GOTO, u);
            assert_int_equal(ga_engine_rig_hash(&rig), hash[u]);
            ga_engine_rig_go(&rig, GA_MOVE_EVENTS, ga_test_draw(&draws, 9));
            ga_engine_rig_go(&rig, GA_MOVE_BACK_EVENTS, ga_test_draw(&draws, 20));
        }
        ga_engine_rig_go(&rig, GA_MOVE_GOTO, 41);
        assert_int_equal(ga_engine_rig_hash(&rig), end);
        ga_engine_rig_go(&rig, GA_MOVE_GOTO, 20);
        ga_engine_rig_set(&rig, "lr 0.002"); /* another future, live from here */
        ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 40);
        assert_true(ga_engine_rig_hash(&rig) != end);
        check_replay(&rig, races[k]);
        ga_engine_rig_close(&rig);
    }
}

/* The record of a race keeps to its budget; what it has let go is refused, the rest happens again.
 */
static void test_a_long_race_lets_its_beginning_go(void **state)
{
    const uint64_t budget = 512 << 10;
    struct ga_engine_rig rig;
    struct ga_replay replay;
    struct ga_stop stop;
    uint64_t hash[3];

    (void)state;
    open_clock(&rig, "real", "mode async replicas 4 accum 2 history-budget 512KiB", 2);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 1000);
    for (size_t k = 0; k < 3; k++) {
        hash[k] = ga_engine_rig_hash(&rig);
        ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 5);
    }
    assert_true(ga_engine_rig_counters(&rig).turns > budget / GA_RACE_SHARE / 16);
    assert_true(ga_engine_rig_history(&rig).bytes <= budget);
    stop = ga_engine_rig_move(&rig, GA_MOVE_GOTO, 3);
    assert_int_equal(stop.reason, GA_STOP_ERROR);
    assert_non_null(strstr(stop.error.text, "history-budget"));
    assert_int_equal(stop.updates, 1015); /* where it was */
    assert_int_equal(ga_engine_replay(rig.engine, &replay), GA_ESTATE);
    for (size_t k = 3; k-- > 0;) {
        ga_engine_rig_go(&rig, GA_MOVE_GOTO, 1000 + 5 * k);
        assert_int_equal(ga_engine_rig_hash(&rig), hash[k]);
    }
    ga_engine_rig_close(&rig);
}

/* While a move without end is under way. */
static void wait_for_updates(struct ga_engine_rig *rig, uint64_t updates)
{
    int64_t deadline = ga_now_ns() + INT64_C(60000000000);

    while (ga_engine_rig_counters(rig).updates < updates && ga_engine_moving(rig->engine) &&
           ga_now_ns() < deadline)
        ;
    if (ga_engine_rig_counters(rig).updates < updates)
        fail_msg("%s before update %d",
                 ga_engine_moving(rig->engine) ? "nothing happens" : "it ended", (int)updates);
}

/* Paused anywhere, changed, killed and restored under way: what happened is on record. */
static void test_interference_is_part_of_the_record(void **state)
{
    (void)state;
    for (size_t k = 0; k < RACES; k++) {
        struct ga_engine_rig rig;
        struct ga_change change;
        uint64_t ticket = 0;

        open_clock(&rig, "real", races[k], 2);
        ga_test_ok(ga_engine_slow(rig.engine, 1, 3, &change));
        ga_engine_rig_set(&rig, "failure continue");
        ticket = ga_engine_rig_begin(&rig, GA_MOVE_FOREVER, 0);
        wait_for_updates(&rig, 20);
        ga_engine_rig_set(&rig, "lr 0.004");
        wait_for_updates(&rig, 40);
        ga_test_ok(ga_engine_kill(rig.engine, 2, &change));
        wait_for_updates(&rig, 60);
        ga_test_ok(ga_engine_revive(rig.engine, 2, &change));
        ga_engine_rig_set(&rig, "late finish");
        wait_for_updates(&rig, 80);
        ga_engine_rig_set(&rig, "replicas 6 global 60");
        wait_for_updates(&rig, 100);
        ga_engine_rig_set(&rig, "mode buffered backup 0");
        wait_for_updates(&rig, 120);
        ga_engine_rig_set(&rig, "mode async late cancel");
        wait_for_updates(&rig, 140);
        ga_engine_rig_set(&rig, "mode sync");
        wait_for_updates(&rig, 150);
        ga_engine_pause(rig.engine);
        assert_int_equal(ga_engine_rig_wait(&rig, ticket).reason, GA_STOP_PAUSED);
        check_replay(&rig, races[k]);
        ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 10);
        check_replay(&rig, races[k]);
        ga_engine_rig_close(&rig);
    }
}

static int64_t time_of(struct ga_engine_rig *rig)
{
    return (int64_t)(ga_engine_rig_metric(rig, GA_METRIC_TIME, -1) * 1e9 + 0.5);
}

/* The run's clock goes no further than the wall's does while the run moves. */
static void test_a_pause_is_no_time(void **state)
{
    struct ga_engine_rig rig;
    int64_t paused = 0, resumed = 0, until = 0;

    (void)state;
    open_clock(&rig, "real", "replicas 2 mode async", 2);
    for (int k = 0; k < 5; k++) {
        ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 20);
        paused = time_of(&rig);
        for (until = ga_now_ns() + 20000000; ga_now_ns() < until;)
            ;
        assert_int_equal(time_of(&rig), paused);
        resumed = ga_now_ns();
        ga_engine_rig_go(&rig, GA_MOVE_EVENTS, 4);
        assert_true(time_of(&rig) >= paused);
        assert_true(time_of(&rig) - paused <= ga_now_ns() - resumed);
    }
    ga_engine_rig_close(&rig);
}

static int check_time(struct ga_run *run, void *arg)
{
    struct ga_counters *counters = arg;
    bool buffers = ga_run_settings(run)->mode != GA_MODE_SYNC;
    uint64_t items = 0, held = buffers ? ga_run_window(run)->arrived : 0;

    for (size_t r = 0; r < ga_run_replicas(run); r++) {
        const struct ga_replica_value *v = ga_run_replica(run, r);
        bool works = v->state == GA_REPLICA_BUSY || v->state == GA_REPLICA_LATE;
        int64_t open = ga_run_now(run) - (works ? v->start_ns : v->free_ns);

        if (v->busy_ns + v->idle_ns + v->communication_ns + open != ga_run_now(run))
            return ga_fail(GA_EINTERNAL,
                           "replica %zu: busy %lld, idle %lld, communication %lld of "
                           "%lld ns",
                           r, (long long)v->busy_ns, (long long)v->idle_ns,
                           (long long)v->communication_ns, (long long)ga_run_now(run));
        items += v->items;
        held += v->state != GA_REPLICA_READY;
    }
    *counters = *ga_run_counters(run);
    if (items != counters->items_applied + counters->items_dropped + held)
        return ga_fail(GA_EINTERNAL, "%llu items started", (unsigned long long)items);
    return GA_OK;
}

static void test_time_is_conserved(void **state)
{
    (void)state;
    for (size_t k = 0; k < RACES; k++) {
        struct ga_engine_rig rig;
        struct ga_counters counters;

        open_clock(&rig, "real", races[k], 2);
        for (int u = 0; u < 20; u++) {
            ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 3);
            ga_test_ok(ga_engine_call(rig.engine, check_time, &counters));
        }
        ga_engine_rig_close(&rig);
    }
}

/* ---- failures ---- */

static void test_a_missing_replica_is_named(void **state)
{
    const char *const waiting[] = {"replicas 3", "replicas 3 mode delay",
                                   "replicas 3 mode local period 2",
                                   "replicas 3 mode buffered bound 0"};

    (void)state;
    for (size_t k = 0; k < 4; k++) {
        struct ga_engine_rig rig;
        struct ga_change change;
        struct ga_stop stop;

        open_clock(&rig, "real", waiting[k], 2);
        ga_engine_rig_go(&rig, GA_MOVE_EVENTS, 60);
        ga_test_ok(ga_engine_kill(rig.engine, 1, &change));
        stop = ga_engine_rig_move(&rig, GA_MOVE_UPDATES, 100);
        assert_int_equal(stop.reason, GA_STOP_ERROR);
        assert_non_null(strstr(stop.error.text, "replica 1"));
        ga_test_ok(ga_engine_revive(rig.engine, 1, &change));
        ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 20);
        ga_engine_rig_close(&rig);
    }
}

static void test_the_living_go_on(void **state)
{
    (void)state;
    for (size_t k = 0; k < RACES; k++) {
        struct ga_engine_rig rig;
        struct ga_change change;

        open_clock(&rig, "real", races[k], 2);
        ga_engine_rig_set(&rig, "failure continue");
        ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 5);
        ga_test_ok(ga_engine_kill(rig.engine, 0, &change));
        ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 20);
        ga_test_ok(ga_engine_kill(rig.engine, 2, &change));
        ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 20);
        ga_test_ok(ga_engine_revive(rig.engine, 0, &change));
        ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 20);
        check_replay(&rig, races[k]);
        ga_engine_rig_close(&rig);
    }
}

static void test_continue_is_sync(void **state)
{
    struct ga_engine_rig whole, hurt;
    struct ga_change change;

    (void)state;
    open_clock(&whole, "virtual", "replicas 4", 1);
    open_clock(&hurt, "real", "replicas 4 failure continue", 2);
    ga_engine_rig_go(&hurt, GA_MOVE_UPDATES, 10);
    ga_test_ok(ga_engine_kill(hurt.engine, 3, &change));
    ga_engine_rig_go(&hurt, GA_MOVE_UPDATES, 10);
    ga_test_ok(ga_engine_kill(hurt.engine, 0, &change));
    ga_engine_rig_go(&hurt, GA_MOVE_UPDATES, 10);
    ga_test_ok(ga_engine_revive(hurt.engine, 3, &change));
    ga_engine_rig_go(&hurt, GA_MOVE_UPDATES, 10);
    ga_engine_rig_go(&whole, GA_MOVE_UPDATES, 40);
    assert_int_equal(ga_engine_rig_hash(&hurt), ga_engine_rig_hash(&whole));
    ga_engine_rig_close(&whole);
    ga_engine_rig_close(&hurt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sync_delay_and_local_are_virtual_time),
        cmocka_unit_test(test_races_replay_to_their_own_hash),
        cmocka_unit_test(test_walking_inside_a_race),
        cmocka_unit_test(test_a_long_race_lets_its_beginning_go),
        cmocka_unit_test(test_interference_is_part_of_the_record),
        cmocka_unit_test(test_a_pause_is_no_time),
        cmocka_unit_test(test_time_is_conserved),
        cmocka_unit_test(test_a_missing_replica_is_named),
        cmocka_unit_test(test_the_living_go_on),
        cmocka_unit_test(test_continue_is_sync),
    };

    return ga_test_main(tests);
}
