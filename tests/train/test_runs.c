/*
 * Several runs in one engine: a fork has all that its model had and goes its own way, moves of all
 * runs leave each where it would be alone, and names, observers and failures behave.
 */
#include "support/support.h"

#include <stdio.h>
#include <string.h>

#include "base/thread.h"
#include "train/support/engine_rig.h"

static const char *const modes[] = {
    "mode sync",
    "mode sync backup 1 late finish jitter exponential",
    "mode delay lag 3",
    "mode async jitter exponential latency 1ms",
    "mode async server 3ms",
    "mode ssp bound 1 jitter exponential",
    "mode buffered buffer 2 jitter uniform(0.5,1.5)",
    "mode local period 3 optimizer adam",
    "mode local period 2 outer nesterov(0.7,0.9)",
    "mode hogwild writes lossy",
};
#define MODES (sizeof modes / sizeof *modes)

static void open_mode(struct ga_engine_rig *rig, const char *mode)
{
    char settings[256];

    snprintf(settings, sizeof settings, "replicas 3 accum 2 batch 4 lr 0.005 seed 5 %s", mode);
    ga_engine_rig_open(rig, &(struct ga_test_start){.settings = settings, .threads = 1});
}

static void use(struct ga_engine_rig *rig, const char *name)
{
    ga_test_ok(ga_engine_use(rig->engine, name));
}

static void copy(struct ga_engine_rig *rig, const char *name)
{
    ga_test_ok(ga_engine_fork(rig->engine, name));
}

static struct ga_stop go_all(struct ga_engine_rig *rig, enum ga_move_kind kind, uint64_t count)
{
    struct ga_move move = {.kind = kind, .count = count, .all = true};
    uint64_t ticket = 0;

    ga_test_ok(ga_engine_move(rig->engine, &move, &ticket));
    return ga_engine_rig_wait(rig, ticket);
}

/* At any event, in every mode, the fork goes on to the same bits as its model. */
static void test_a_fork_goes_on_as_its_model(void **state)
{
    (void)state;
    for (size_t m = 0; m < MODES; m++) {
        for (uint64_t events = 0; events < 90; events += 13) {
            struct ga_engine_rig rig;
            uint64_t hash = 0;

            open_mode(&rig, modes[m]);
            if (events > 0)
                ga_engine_rig_go(&rig, GA_MOVE_EVENTS, events);
            copy(&rig, "twin");
            ga_engine_rig_go(&rig, GA_MOVE_EVENTS, 120);
            hash = ga_engine_rig_hash(&rig);
            use(&rig, "twin");
            assert_int_equal(ga_engine_rig_counters(&rig).events, events);
            ga_engine_rig_go(&rig, GA_MOVE_EVENTS, 120);
            if (ga_engine_rig_hash(&rig) != hash)
                fail_msg("%s after %llu events", modes[m], (unsigned long long)events);
            ga_engine_rig_close(&rig);
        }
    }
}

/* Changes of one run do not reach the other; what was pending is copied. */
static void test_each_goes_its_own_way(void **state)
{
    struct ga_engine_rig rig, alone;
    struct ga_settings draft;
    uint64_t hash = 0;

    (void)state;
    open_mode(&rig, "mode sync");
    open_mode(&alone, "mode sync");
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 20);
    ga_engine_rig_go(&alone, GA_MOVE_UPDATES, 20);
    ga_engine_rig_set(&rig, "lr 0.01");
    ga_engine_rig_set(&alone, "lr 0.01");
    copy(&rig, "other");
    use(&rig, "other");
    ga_engine_settings(rig.engine, NULL, &draft);
    assert_true(draft.lr == 0.01);
    ga_engine_rig_set(&rig, "mode async replicas 5 history-budget 32MiB log-every 7");
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 40);
    hash = ga_engine_rig_hash(&rig);
    use(&rig, "main");
    assert_int_equal(ga_engine_rig_counters(&rig).updates, 20);
    ga_engine_settings(rig.engine, NULL, &draft);
    assert_int_equal(draft.log_every, 1);
    assert_int_equal(draft.replicas, 3);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 30);
    ga_engine_rig_go(&alone, GA_MOVE_UPDATES, 30);
    assert_int_equal(ga_engine_rig_hash(&rig), ga_engine_rig_hash(&alone));
    use(&rig, "other");
    assert_int_equal(ga_engine_rig_hash(&rig), hash);
    ga_engine_rig_close(&rig);
    ga_engine_rig_close(&alone);
}

/* The past comes along: bits, changes and records of any earlier place, also of a thinned history.
 */
static void test_a_fork_has_the_past(void **state)
{
    static const char *const budgets[] = {"256MiB", "1MiB"};
    uint64_t hash[400];

    (void)state;
    for (size_t b = 0; b < 2; b++) {
        struct ga_engine_rig rig;
        struct ga_history_info model, twin;
        char budget[64];

        open_mode(&rig, "mode async jitter exponential");
        snprintf(budget, sizeof budget, "history-budget %s", budgets[b]);
        ga_engine_rig_set(&rig, budget);
        for (size_t u = 0; u < 400; u++) {
            hash[u] = ga_engine_rig_hash(&rig);
            if (u == 150)
                ga_engine_rig_set(&rig, "mode ssp bound 1 replicas 4");
            ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 1);
        }
        copy(&rig, "twin");
        model = ga_engine_rig_history(&rig);
        use(&rig, "twin");
        twin = ga_engine_rig_history(&rig);
        assert_int_equal(twin.first_update, model.first_update);
        assert_int_equal(twin.last_update, model.last_update);
        assert_int_equal(twin.records, model.records);
        assert_int_equal(twin.events, model.events);
        for (size_t k = 0; k < 40; k++) {
            size_t u = (k * 157 + 31) % 400;

            ga_engine_rig_go(&rig, GA_MOVE_GOTO, u);
            assert_int_equal(ga_engine_rig_hash(&rig), hash[u]);
        }
        ga_engine_rig_close(&rig);
    }
}

/* A fork made in the past has the recorded future too, until it changes something. */
static void test_a_fork_in_the_past_has_the_future(void **state)
{
    struct ga_engine_rig rig;
    uint64_t last = 0;

    (void)state;
    open_mode(&rig, "mode local period 2");
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 10);
    ga_engine_rig_set(&rig, "lr 0.02");
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 10);
    last = ga_engine_rig_hash(&rig);
    ga_engine_rig_go(&rig, GA_MOVE_BACK_UPDATES, 15);
    copy(&rig, "twin");
    use(&rig, "twin");
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 15);
    assert_int_equal(ga_engine_rig_hash(&rig), last);
    ga_engine_rig_close(&rig);
}

/* A run of its own start over: initial weights, data, settings, speeds. */
static void test_reset_of_a_fork(void **state)
{
    struct ga_engine_rig rig;
    struct ga_change change;
    uint64_t hash = 0;

    (void)state;
    open_mode(&rig, "mode async");
    ga_test_ok(ga_engine_slow(rig.engine, 1, 3, &change));
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 25);
    hash = ga_engine_rig_hash(&rig);
    copy(&rig, "twin");
    use(&rig, "twin");
    ga_engine_rig_go(&rig, GA_MOVE_RESET, 0);
    assert_int_equal(ga_engine_rig_counters(&rig).events, 0);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 25);
    assert_int_equal(ga_engine_rig_hash(&rig), hash);
    use(&rig, "main");
    assert_int_equal(ga_engine_rig_hash(&rig), hash);
    ga_engine_rig_close(&rig);
}

/* Together each run comes to the bits that it comes to alone. */
static void test_all_together_is_each_alone(void **state)
{
    struct ga_engine_rig rig;
    char name[GA_RUN_NAME];

    (void)state;
    open_mode(&rig, modes[0]);
    for (size_t m = 1; m < MODES; m++) {
        snprintf(name, sizeof name, "mode%zu", m);
        copy(&rig, name);
        use(&rig, name);
        ga_engine_rig_set(&rig, modes[m]);
        use(&rig, "main");
    }
    assert_int_equal(go_all(&rig, GA_MOVE_UPDATES, 60).reason, GA_STOP_DONE);
    for (size_t m = 0; m < MODES; m++) {
        struct ga_engine_rig alone;
        struct ga_run_info info;

        open_mode(&alone, modes[0]);
        ga_engine_rig_go(&alone, GA_MOVE_UPDATES, 0);
        ga_engine_rig_set(&alone, modes[m]);
        ga_engine_rig_go(&alone, GA_MOVE_UPDATES, 60);
        assert_true(ga_engine_run_info(rig.engine, m, &info));
        assert_true(info.moved && !info.moving);
        assert_int_equal(info.stop.reason, GA_STOP_DONE);
        assert_int_equal(info.counters.updates + info.counters.skipped, 60);
        if (info.hash != ga_engine_rig_hash(&alone))
            fail_msg("%s", modes[m]);
        ga_engine_rig_close(&alone);
    }
    ga_engine_rig_close(&rig);
}

static bool is_late(const void *self, struct ga_run *run)
{
    return ga_run_counters(run)->updates >= *(const uint64_t *)self;
}

/* One is done, one meets a breakpoint, one is not finite: each says so, and the others go on. */
static void test_each_has_its_own_end(void **state)
{
    static const uint64_t at = 35;
    struct ga_condition condition = {.holds = is_late, .self = (void *)&at};
    struct ga_engine_rig rig;
    struct ga_run_info info;

    (void)state;
    open_mode(&rig, "mode sync");
    copy(&rig, "late");
    copy(&rig, "wild");
    use(&rig, "wild");
    ga_engine_rig_set(&rig, "lr 50");
    use(&rig, "late");
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 20);
    use(&rig, "main");
    assert_true(ga_engine_break_add(rig.engine, &condition) > 0);
    go_all(&rig, GA_MOVE_UPDATES, 30);
    ga_test_ok(ga_engine_run_named(rig.engine, "main", &info));
    assert_int_equal(info.stop.reason, GA_STOP_DONE);
    assert_int_equal(info.counters.updates, 30);
    ga_test_ok(ga_engine_run_named(rig.engine, "late", &info));
    assert_int_equal(info.stop.reason, GA_STOP_BREAK);
    assert_int_equal(info.stop.updates, 35);
    ga_test_ok(ga_engine_run_named(rig.engine, "wild", &info));
    assert_int_equal(info.stop.reason, GA_STOP_NONFINITE);
    assert_true(info.stop.error.update > 0 && info.stop.error.update < 30);
    /* The breakpoint held in one run only: it stops the other when it comes there. */
    assert_int_equal(ga_engine_rig_move(&rig, GA_MOVE_UPDATES, 30).reason, GA_STOP_BREAK);
    assert_int_equal(ga_engine_rig_counters(&rig).updates, 35);
    ga_engine_rig_close(&rig);
}

static void test_names(void **state)
{
    static const char *const bad[] = {"",   "1st", "a b",  "a/b",
                                      "-x", "a\n", "\xc3", "a.very.long.name.of.32.characters"};
    struct ga_engine_rig rig;
    struct ga_run_info info;
    struct ga_move until = {.kind = GA_MOVE_RESET, .all = true};
    uint64_t ticket = 0;
    char name[GA_RUN_NAME];

    (void)state;
    open_mode(&rig, "mode sync");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ga_test_refused(ga_engine_fork(rig.engine, bad[i]), GA_EINPUT, "a letter first");
    ga_test_refused(ga_engine_fork(rig.engine, "main"), GA_ESTATE, "there is a run main already");
    ga_test_refused(ga_engine_use(rig.engine, "other"), GA_EINPUT, "expected main");
    ga_test_refused(ga_engine_drop(rig.engine, "main"), GA_ESTATE, "is the current run");
    ga_test_refused(ga_engine_drop(rig.engine, "other"), GA_EINPUT, "no run is called");
    ga_test_refused(ga_engine_move(rig.engine, &until, &ticket), GA_EINPUT, "only go forward");
    copy(&rig, "a");
    ga_test_refused(ga_engine_use(rig.engine, "b"), GA_EINPUT, "one of main, a");
    for (size_t k = 2; k < GA_ENGINE_RUNS; k++) {
        snprintf(name, sizeof name, "r%zu", k);
        copy(&rig, name);
    }
    ga_test_refused(ga_engine_fork(rig.engine, "more"), GA_ERANGE, "32 runs already");
    ga_test_ok(ga_engine_drop(rig.engine, "a"));
    assert_true(ga_engine_run_info(rig.engine, 1, &info));
    assert_string_equal(info.name, "r2");
    assert_false(ga_engine_run_info(rig.engine, GA_ENGINE_RUNS - 1, &info));
    copy(&rig, "more");
    ga_engine_rig_close(&rig);
}

struct count {
    uint64_t updates;
};

static void count_update(void *self, struct ga_run *run, const struct ga_update_record *record)
{
    (void)run;
    (void)record;
    ((struct count *)self)->updates++;
}

static void test_observers(void **state)
{
    struct count count[3] = {{0}, {0}, {0}};
    struct ga_engine_rig rig;

    (void)state;
    open_mode(&rig, "mode sync");
    copy(&rig, "b");
    for (size_t i = 0; i < 3; i++) {
        struct ga_observer observer = {.update = count_update, .self = &count[i]};

        ga_test_ok(ga_engine_observe_runs(rig.engine, (enum ga_observed)i, &observer));
    }
    go_all(&rig, GA_MOVE_UPDATES, 10);
    assert_int_equal(count[GA_OBSERVE_CURRENT].updates, 10);
    assert_int_equal(count[GA_OBSERVE_RUN].updates, 10);
    assert_int_equal(count[GA_OBSERVE_ALL].updates, 20);
    use(&rig, "b");
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 5);
    assert_int_equal(count[GA_OBSERVE_CURRENT].updates, 15);
    assert_int_equal(count[GA_OBSERVE_RUN].updates, 10);
    assert_int_equal(count[GA_OBSERVE_ALL].updates, 25);
    ga_test_ok(ga_engine_drop(rig.engine, "main"));
    copy(&rig, "main");
    use(&rig, "main");
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 5);
    assert_int_equal(count[GA_OBSERVE_RUN].updates, 10);
    ga_engine_rig_close(&rig);
}

/* Choosing another run ends a move of one, not a move of all. */
static void test_use_under_way(void **state)
{
    struct ga_engine_rig rig;
    struct ga_move move = {.kind = GA_MOVE_FOREVER, .all = true};
    struct ga_run_info info;
    uint64_t ticket = 0;

    (void)state;
    open_mode(&rig, "mode sync");
    copy(&rig, "b");
    ticket = ga_engine_rig_begin(&rig, GA_MOVE_FOREVER, 0);
    use(&rig, "b");
    assert_int_equal(ga_engine_rig_wait(&rig, ticket).reason, GA_STOP_PAUSED);
    assert_false(ga_engine_moving(rig.engine));
    ga_test_ok(ga_engine_move(rig.engine, &move, &ticket));
    use(&rig, "main");
    assert_true(ga_engine_moving(rig.engine));
    ga_test_ok(ga_engine_run_named(rig.engine, "b", &info));
    assert_true(info.moving);
    ga_test_ok(ga_engine_drop(rig.engine, "b"));
    assert_true(ga_engine_moving(rig.engine));
    ga_engine_pause(rig.engine);
    assert_int_equal(ga_engine_rig_wait(&rig, ticket).reason, GA_STOP_PAUSED);
    ga_engine_rig_close(&rig);
}

static int count_record(const struct ga_update_record *record, void *arg)
{
    uint64_t *last = arg;

    assert_int_equal(record->update, *last + 1);
    *last = record->update;
    return GA_OK;
}

static void test_records_of_a_run(void **state)
{
    struct ga_engine_rig rig;
    uint64_t last = 0;

    (void)state;
    open_mode(&rig, "mode sync");
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 10);
    copy(&rig, "b");
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 5);
    ga_test_ok(ga_engine_records_of(rig.engine, "b", count_record, &last));
    assert_int_equal(last, 10);
    last = 0;
    ga_test_ok(ga_engine_records_of(rig.engine, "main", count_record, &last));
    assert_int_equal(last, 15);
    ga_test_refused(ga_engine_records_of(rig.engine, "c", count_record, &last), GA_EINPUT, "b");
    ga_engine_rig_close(&rig);
}

/* Whatever allocation fails, there is no half-made run, and the current one is as it was. */
static void test_no_memory_for_a_fork(void **state)
{
    struct ga_engine_rig rig;
    struct ga_run_info info;
    uint64_t hash = 0;
    int code = GA_ENOMEM;

    (void)state;
    open_mode(&rig, "mode async jitter exponential");
    ga_engine_rig_go(&rig, GA_MOVE_EVENTS, 100);
    hash = ga_engine_rig_hash(&rig);
    for (int64_t k = 0; code < 0; k++) {
        ga_test_allocation_limit(k);
        code = ga_engine_fork(rig.engine, "twin");
        ga_test_allocation_free();
        if (code == GA_OK)
            break;
        assert_int_equal(code, GA_ENOMEM);
        assert_false(ga_engine_run_info(rig.engine, 1, &info));
        assert_int_equal(ga_engine_rig_hash(&rig), hash);
    }
    ga_engine_rig_go(&rig, GA_MOVE_EVENTS, 100);
    hash = ga_engine_rig_hash(&rig);
    use(&rig, "twin");
    ga_engine_rig_go(&rig, GA_MOVE_EVENTS, 100);
    assert_int_equal(ga_engine_rig_hash(&rig), hash);
    ga_engine_rig_close(&rig);
}

/* A race of the real clock is part of the copy: it replays to its own bits there. */
static void test_a_fork_of_a_race(void **state)
{
    struct ga_engine_rig rig;
    struct ga_replay replay;
    uint64_t hash = 0;

    (void)state;
    open_mode(&rig, "clock real mode async per-example 0 base 0");
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 40);
    hash = ga_engine_rig_hash(&rig);
    copy(&rig, "twin");
    use(&rig, "twin");
    ga_test_ok(ga_engine_replay(rig.engine, &replay));
    assert_int_equal(replay.recorded, hash);
    assert_int_equal(replay.replayed, hash);
    ga_engine_rig_go(&rig, GA_MOVE_BACK_UPDATES, 30);
    ga_engine_rig_go(&rig, GA_MOVE_GOTO, 40);
    assert_int_equal(ga_engine_rig_hash(&rig), hash);
    go_all(&rig, GA_MOVE_UPDATES, 20);
    assert_int_equal(ga_engine_rig_counters(&rig).updates, 60);
    ga_engine_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_fork_goes_on_as_its_model),
        cmocka_unit_test(test_each_goes_its_own_way),
        cmocka_unit_test(test_a_fork_has_the_past),
        cmocka_unit_test(test_a_fork_in_the_past_has_the_future),
        cmocka_unit_test(test_reset_of_a_fork),
        cmocka_unit_test(test_all_together_is_each_alone),
        cmocka_unit_test(test_each_has_its_own_end),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_observers),
        cmocka_unit_test(test_use_under_way),
        cmocka_unit_test(test_records_of_a_run),
        cmocka_unit_test(test_no_memory_for_a_fork),
        cmocka_unit_test(test_a_fork_of_a_race),
    };

    return ga_test_main(tests);
}
