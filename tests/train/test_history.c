/* Going back and forward again: the same bits, within the budget; what is kept and what is dropped.
 */
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

#include <malloc.h>

#include "train/support/engine_rig.h"

static void test_back_goto_and_on_end_in_the_same_hash(void **state)
{
    struct ga_engine_rig straight, wandering;
    uint64_t at_600 = 0;

    (void)state;
    ga_engine_rig_open(&straight, &(struct ga_test_start){.threads = 1});
    ga_engine_rig_go(&straight, GA_MOVE_UPDATES, 600);
    at_600 = ga_engine_rig_hash(&straight);
    ga_engine_rig_go(&straight, GA_MOVE_UPDATES, 1400);
    ga_engine_rig_open(&wandering, &(struct ga_test_start){.threads = 1});
    ga_engine_rig_go(&wandering, GA_MOVE_UPDATES, 2000);
    ga_engine_rig_go(&wandering, GA_MOVE_BACK_UPDATES, 1400);
    assert_int_equal(ga_engine_rig_hash(&wandering), at_600);
    ga_engine_rig_go(&wandering, GA_MOVE_GOTO, 1300);
    ga_engine_rig_go(&wandering, GA_MOVE_BACK_MICROS, 3);
    ga_engine_rig_go(&wandering, GA_MOVE_BACK_EVENTS, 5);
    ga_engine_rig_go(&wandering, GA_MOVE_GOTO, 2000);
    assert_int_equal(ga_engine_rig_hash(&wandering), ga_engine_rig_hash(&straight));
    ga_engine_rig_go(&wandering, GA_MOVE_GOTO, 2100);
    assert_int_equal(ga_engine_rig_counters(&wandering).updates, 2100);
    ga_engine_rig_close(&wandering);
    ga_engine_rig_close(&straight);
}

static void test_the_first_back_leads_to_the_start_of_the_window(void **state)
{
    struct ga_engine_rig rig;
    struct ga_stop stop;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.threads = 1});
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 7);
    ga_engine_rig_go(&rig, GA_MOVE_MICROS, 4);
    stop = ga_engine_rig_go(&rig, GA_MOVE_BACK_UPDATES, 1);
    assert_int_equal(stop.updates, 7);
    assert_true(stop.at_boundary);
    stop = ga_engine_rig_go(&rig, GA_MOVE_BACK_UPDATES, 1);
    assert_int_equal(stop.updates, 6);
    stop = ga_engine_rig_go(&rig, GA_MOVE_BACK_UPDATES, 100);
    assert_int_equal(stop.events, 0);
    stop = ga_engine_rig_go(&rig, GA_MOVE_BACK_EVENTS, 100);
    assert_int_equal(stop.events, 0);
    ga_engine_rig_close(&rig);
}

/* Between APPLY and CLEAR the update counts, the window is still open. */
static void test_back_and_next_around_apply(void **state)
{
    struct ga_engine_rig rig;
    struct ga_stop stop;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.threads = 1});
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 5);
    ga_engine_rig_go(&rig, GA_MOVE_BACK_EVENTS, 1);
    assert_int_equal(ga_engine_rig_counters(&rig).updates, 5);
    stop = ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 1);
    assert_int_equal(stop.updates, 5);
    ga_engine_rig_go(&rig, GA_MOVE_BACK_EVENTS, 1);
    stop = ga_engine_rig_go(&rig, GA_MOVE_BACK_UPDATES, 1);
    assert_int_equal(stop.updates, 4);
    ga_engine_rig_close(&rig);
}

/* Only something done starts a new future, and the answer says what it cost. */
static void test_the_recorded_future_is_replayed_until_something_is_changed(void **state)
{
    struct ga_engine_rig rig;
    struct ga_change change;
    uint64_t old_future = 0;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.threads = 1});
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 10);
    ga_engine_rig_set(&rig, "lr 0.02 accum 3");
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 10);
    old_future = ga_engine_rig_hash(&rig);
    ga_engine_rig_go(&rig, GA_MOVE_BACK_UPDATES, 15);
    assert_int_equal(ga_engine_rig_history(&rig).last_update, 20);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 15);
    assert_int_equal(ga_engine_rig_hash(&rig), old_future);
    ga_engine_rig_go(&rig, GA_MOVE_BACK_UPDATES, 8);
    ga_test_refused(ga_engine_flush(rig.engine, &change), GA_ESTATE, "no window is open");
    ga_test_refused(ga_engine_discard(rig.engine, &change), GA_ESTATE, "no window is open");
    ga_test_refused(ga_engine_slow(rig.engine, 99, 2, &change), GA_ERANGE, "0..1");
    assert_int_equal(ga_engine_rig_history(&rig).last_update, 20);
    ga_engine_rig_go(&rig, GA_MOVE_MICROS, 2);
    ga_test_ok(ga_engine_flush(rig.engine, &change));
    assert_int_equal(change.forgotten, 20);
    assert_int_equal(ga_engine_rig_history(&rig).last_update, 13);
    ga_engine_rig_go(&rig, GA_MOVE_GOTO, 20);
    assert_int_not_equal(ga_engine_rig_hash(&rig), old_future);
    ga_engine_rig_close(&rig);
}

static void test_reset_is_the_start(void **state)
{
    struct ga_engine_rig rig;
    uint64_t start = 0, later = 0;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.threads = 1});
    start = ga_engine_rig_hash(&rig);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 12);
    later = ga_engine_rig_hash(&rig);
    ga_engine_rig_go(&rig, GA_MOVE_RESET, 0);
    assert_int_equal(ga_engine_rig_hash(&rig), start);
    assert_int_equal(ga_engine_rig_history(&rig).last_update, 0);
    assert_int_equal(ga_engine_rig_history(&rig).events, 0);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 12);
    assert_int_equal(ga_engine_rig_hash(&rig), later);
    ga_engine_rig_close(&rig);
}

static int capture(struct ga_run *run, void *arg)
{
    return ga_run_capture(run, arg);
}

/* A run stopped after `micros` of a window beyond update 6, loaded into another engine. */
static void load_in_mid_window(struct ga_engine_rig *rig, uint64_t micros)
{
    struct ga_engine_rig saved;
    struct ga_state kept;

    ga_engine_rig_open(&saved, &(struct ga_test_start){.threads = 1});
    ga_engine_rig_go(&saved, GA_MOVE_UPDATES, 6);
    ga_engine_rig_go(&saved, GA_MOVE_MICROS, micros);
    ga_test_ok(ga_engine_call(saved.engine, capture, &kept));
    ga_engine_rig_close(&saved);
    ga_engine_rig_open(rig, &(struct ga_test_start){.threads = 1});
    ga_test_ok(ga_engine_load(rig->engine, &kept));
    ga_state_fini(&kept);
}

/* The history then begins in mid-window: going back ends there, never further on. */
static void test_back_after_a_load_in_mid_window(void **state)
{
    struct ga_engine_rig rig;
    struct ga_stop stop;
    uint64_t begin = 0;

    (void)state;
    load_in_mid_window(&rig, 4);
    begin = ga_engine_rig_counters(&rig).events;
    stop = ga_engine_rig_go(&rig, GA_MOVE_BACK_UPDATES, 1);
    assert_int_equal(stop.events, begin);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 3);
    stop = ga_engine_rig_go(&rig, GA_MOVE_BACK_UPDATES, 2);
    assert_int_equal(stop.updates, 7);
    stop = ga_engine_rig_go(&rig, GA_MOVE_BACK_UPDATES, 1);
    assert_int_equal(stop.events, begin);
    stop = ga_engine_rig_move(&rig, GA_MOVE_GOTO, 6);
    assert_int_equal(stop.reason, GA_STOP_ERROR);
    assert_non_null(strstr(stop.error.text, "the history begins behind update 6"));
    stop = ga_engine_rig_go(&rig, GA_MOVE_GOTO, 7);
    assert_int_equal(stop.updates, 7);
    ga_engine_rig_close(&rig);
}

static int in_order(const struct ga_event *event, void *arg)
{
    uint64_t *last = arg;

    if (*last > 0 && event->sequence != *last + 1)
        return ga_fail(GA_EINTERNAL, "event %llu behind event %llu",
                       (unsigned long long)event->sequence, (unsigned long long)*last);
    *last = event->sequence;
    return GA_OK;
}

/* A flush that is done again is not recorded again. */
static void test_replaying_keeps_no_event_twice(void **state)
{
    struct ga_engine_rig rig;
    struct ga_change change;
    uint64_t begin = 0, last = 0;

    (void)state;
    load_in_mid_window(&rig, 4);
    begin = ga_engine_rig_counters(&rig).events;
    ga_test_ok(ga_engine_flush(rig.engine, &change));
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 2);
    ga_engine_rig_go(&rig, GA_MOVE_BACK_UPDATES, 10);
    assert_int_equal(ga_engine_rig_counters(&rig).events, begin);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 4);
    ga_test_ok(ga_engine_events(rig.engine, SIZE_MAX, in_order, &last));
    assert_int_equal(last, ga_engine_rig_counters(&rig).events);
    ga_engine_rig_close(&rig);
}

/* Stepping back over a flush gets to the place before it. */
static void test_stepping_back_over_a_flush(void **state)
{
    struct ga_engine_rig rig;
    struct ga_change change;
    uint64_t before = 0;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.threads = 1});
    ga_engine_rig_go(&rig, GA_MOVE_MICROS, 3);
    before = ga_engine_rig_counters(&rig).events;
    ga_test_ok(ga_engine_flush(rig.engine, &change));
    assert_true(ga_engine_rig_counters(&rig).events > before + 2);
    for (uint64_t at = ga_engine_rig_counters(&rig).events; at > before; at--)
        assert_int_equal(ga_engine_rig_go(&rig, GA_MOVE_BACK_EVENTS, 1).events, at - 1);
    assert_int_equal(ga_engine_rig_go(&rig, GA_MOVE_EVENTS, 1).events, before + 1);
    ga_engine_rig_close(&rig);
}

#define LONG_RUN   10000
#define CHECKED    50
#define BUDGET     (512 * 1024)
#define BUDGET_SET "history-budget 512KiB"

/* 10,000 updates of 26 events: 50 times what the budget holds. */
static void test_a_long_run_stays_within_its_budget(void **state)
{
    uint64_t updates = ga_test_count(LONG_RUN / CHECKED) * CHECKED, hash[CHECKED + 1];
    struct ga_engine_rig rig;
    struct ga_history_info info;
    size_t before = mallinfo2().uordblks;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.settings = BUDGET_SET, .threads = 1});
    hash[0] = ga_engine_rig_hash(&rig);
    for (size_t k = 1; k <= CHECKED; k++) {
        ga_engine_rig_go(&rig, GA_MOVE_UPDATES, updates / CHECKED);
        hash[k] = ga_engine_rig_hash(&rig);
        info = ga_engine_rig_history(&rig);
        assert_int_equal(info.budget, BUDGET);
        assert_true(info.bytes <= BUDGET);
        assert_int_equal(info.first_update, 0);
    }
    assert_true(info.states >= 50 && info.events > 0 && info.records > 0);
    /* What malloc says, where it says anything, agrees: the rest is the engine with its run. */
    assert_true(mallinfo2().uordblks - before < BUDGET + 512 * 1024);
    for (size_t k = 0; k <= CHECKED; k += 7) {
        ga_engine_rig_go(&rig, GA_MOVE_GOTO, k * (updates / CHECKED));
        assert_int_equal(ga_engine_rig_hash(&rig), hash[k]);
    }
    ga_engine_rig_close(&rig);
}

static void test_a_smaller_budget_thins_at_once(void **state)
{
    struct ga_engine_rig rig;
    struct ga_history_info before, after;
    uint64_t hash = 0;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.threads = 1});
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 300);
    ga_engine_rig_go(&rig, GA_MOVE_GOTO, 222);
    hash = ga_engine_rig_hash(&rig);
    before = ga_engine_rig_history(&rig);
    ga_engine_rig_set(&rig, "history-budget 64KiB");
    after = ga_engine_rig_history(&rig);
    assert_true(after.states < before.states && after.states >= 2);
    assert_int_equal(after.last_update, 300);
    ga_engine_rig_go(&rig, GA_MOVE_GOTO, 300);
    ga_engine_rig_go(&rig, GA_MOVE_BACK_UPDATES, 78);
    assert_int_equal(ga_engine_rig_hash(&rig), hash);
    ga_engine_rig_close(&rig);
}

/* Skipped windows are no updates: `goto U` finds U, `back` counts windows. */
static void test_skipped_windows_in_the_history(void **state)
{
    struct ga_engine_rig rig;
    struct ga_stop stop;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.csv = "lambda_1,c_1,w\n1,0,1\n1,0,0\n1,0,0\n",
                                                     .data = "kind=quadratic weight=w",
                                                     .settings = "replicas 1 accum 1 batch 1"});
    stop = ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 9);
    assert_int_equal(stop.updates, 3);
    ga_engine_rig_go(&rig, GA_MOVE_BACK_UPDATES, 1);
    assert_int_equal(ga_engine_rig_counters(&rig).skipped, 5);
    ga_engine_rig_go(&rig, GA_MOVE_GOTO, 2);
    assert_int_equal(ga_engine_rig_counters(&rig).updates, 2);
    assert_int_equal(ga_engine_rig_counters(&rig).skipped, 2);
    ga_engine_rig_go(&rig, GA_MOVE_GOTO, 3);
    assert_int_equal(ga_engine_rig_counters(&rig).skipped, 4);
    ga_engine_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_back_goto_and_on_end_in_the_same_hash),
        cmocka_unit_test(test_the_first_back_leads_to_the_start_of_the_window),
        cmocka_unit_test(test_back_and_next_around_apply),
        cmocka_unit_test(test_the_recorded_future_is_replayed_until_something_is_changed),
        cmocka_unit_test(test_reset_is_the_start),
        cmocka_unit_test(test_back_after_a_load_in_mid_window),
        cmocka_unit_test(test_replaying_keeps_no_event_twice),
        cmocka_unit_test(test_stepping_back_over_a_flush),
        cmocka_unit_test(test_a_long_run_stays_within_its_budget),
        cmocka_unit_test(test_a_smaller_budget_thins_at_once),
        cmocka_unit_test(test_skipped_windows_in_the_history),
    };

    return ga_test_main(tests);
}
