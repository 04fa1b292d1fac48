/*
 * Bursts change nothing that can be seen: a run that makes them beside its twin that somebody
 * watches update by update. Weights, counters, records, events, jumps into the middle of one, and
 * where conditions stop. On the device that GA_TEST_DEVICE names, else the CPU.
 */
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train/support/twins.h"

#define FAST "numerics fast replicas 1 accum 1 batch 50 "

static void see(void *self, struct ga_run *run, const struct ga_update_record *record)
{
    (void)self;
    (void)run;
    (void)record;
}

static void test_same_run(void **state)
{
    static const char *const settings[] = {
        FAST,
        FAST "optimizer adam lr 0.01",
        FAST "momentum 0.9 nesterov on lr 0.01",
        FAST "model 1-3-1 lr 0.01",
        FAST "model 1-9-1 order file",
        FAST "base 3ms per-example 10us",
    };

    (void)state;
    for (size_t k = 0; k < sizeof settings / sizeof settings[0]; k++) {
        struct ga_twins twins;

        ga_twins_open(&twins, &(struct ga_test_start){.threads = 1, .settings = settings[k]});
        /* With the first ones over more than one of the longest bursts. */
        ga_twins_go(&twins, GA_MOVE_UPDATES, k == 0 ? 2 * GA_BURST_MOST + 1300 : 1300);
        ga_twins_check_bursts(&twins, true);
        ga_twins_go(&twins, GA_MOVE_EVENTS, 3);
        ga_twins_go(&twins, GA_MOVE_EPOCHS, 700);
        ga_twins_close(&twins);
    }
}

/* A window that a command closed is not what a burst repeats. */
static void test_after_a_flush(void **state)
{
    struct ga_twins twins;
    struct ga_change change;

    (void)state;
    ga_twins_open(&twins, &(struct ga_test_start){.threads = 1, .settings = FAST});
    ga_twins_go(&twins, GA_MOVE_MICROS, 2);
    ga_test_ok(ga_engine_flush(twins.quick.engine, &change));
    ga_test_ok(ga_engine_flush(twins.slow.engine, &change));
    ga_twins_go(&twins, GA_MOVE_UPDATES, 600);
    ga_twins_check_bursts(&twins, true);
    ga_twins_check_events(&twins, 300);
    ga_twins_close(&twins);
}

/* What does not repeat is made update by update: it is the same in any case. */
static void test_what_does_not_repeat(void **state)
{
    static const char *const settings[] = {
        FAST "jitter exponential",
        FAST "schedule cosine(500)",
        FAST "clip 0.5",
        FAST "tail wrap",
        FAST "reduce sum lr 0.0001",
        FAST "warmup 100",
        "numerics fast accum 1 batch 25",
        "numerics fast replicas 1 accum 1 batch 20",
        FAST "accum 2",
        FAST "mode async",
    };

    (void)state;
    for (size_t k = 0; k < sizeof settings / sizeof settings[0]; k++) {
        struct ga_twins twins;

        ga_twins_open(&twins, &(struct ga_test_start){.threads = 1, .settings = settings[k]});
        ga_twins_go(&twins, GA_MOVE_UPDATES, 400);
        ga_twins_check_bursts(&twins, false);
        ga_twins_close(&twins);
    }
}

/* No burst is so long that a pause would wait for it: with much data there is none. */
static void test_much_data(void **state)
{
    struct ga_twins twins;

    (void)state;
    ga_twins_open(&twins, &(struct ga_test_start){
                              .threads = 1,
                              .data = "parabola n=100000",
                              .settings = "numerics fast replicas 1 accum 1 batch 100000 lr 0.01"});
    ga_twins_go(&twins, GA_MOVE_UPDATES, 30);
    ga_twins_check_bursts(&twins, false);
    ga_twins_close(&twins);
}

/* Back into the middle of a burst, forward over it again, and another way from there. */
static void test_jumps_into_a_burst(void **state)
{
    struct ga_twins twins;
    struct ga_change change;

    (void)state;
    ga_twins_open(&twins, &(struct ga_test_start){.threads = 1, .settings = FAST});
    ga_twins_go(&twins, GA_MOVE_UPDATES, 2000);
    ga_twins_go(&twins, GA_MOVE_BACK_UPDATES, 333);
    ga_twins_go(&twins, GA_MOVE_BACK_EVENTS, 4);
    ga_twins_go(&twins, GA_MOVE_GOTO, 1234);
    ga_twins_go(&twins, GA_MOVE_UPDATES, 100);
    ga_twins_set(&twins, "lr 0.02");
    ga_twins_go(&twins, GA_MOVE_UPDATES, 1100);
    ga_twins_go(&twins, GA_MOVE_GOTO, 700);
    ga_twins_go(&twins, GA_MOVE_UPDATES, 2500);
    ga_test_ok(ga_engine_slow(twins.quick.engine, 0, 3, &change));
    ga_test_ok(ga_engine_slow(twins.slow.engine, 0, 3, &change));
    ga_twins_go(&twins, GA_MOVE_UPDATES, 900);
    ga_test_ok(ga_engine_fork(twins.quick.engine, "b"));
    ga_test_ok(ga_engine_fork(twins.slow.engine, "b"));
    ga_test_ok(ga_engine_use(twins.quick.engine, "b"));
    ga_test_ok(ga_engine_use(twins.slow.engine, "b"));
    ga_twins_go(&twins, GA_MOVE_GOTO, 3500);
    ga_twins_close(&twins);
}

static void count_rows(void *self, struct ga_run *run, const struct ga_burst_rows *rows)
{
    (void)run;
    *(uint64_t *)self += rows->count;
}

/* What is on record is made in bursts as well, and stops for what was changed then. */
static void test_record_again(void **state)
{
    uint64_t rows = 0;
    struct ga_observer observer = {.update = see, .burst = count_rows, .self = &rows};
    const struct ga_move replay = {.kind = GA_MOVE_REPLAY};
    struct ga_twins twins;

    (void)state;
    ga_twins_open(&twins, &(struct ga_test_start){.threads = 1, .settings = FAST});
    ga_test_ok(ga_engine_observe(twins.quick.engine, &observer));
    ga_twins_go(&twins, GA_MOVE_UPDATES, 1200);
    ga_twins_set(&twins, "lr 0.02");
    ga_twins_go(&twins, GA_MOVE_UPDATES, 800);
    ga_twins_go(&twins, GA_MOVE_BACK_UPDATES, 1700);
    assert_in_range(rows, 1900, 2000);
    ga_twins_go(&twins, GA_MOVE_UPDATES, 1200);
    ga_twins_go(&twins, GA_MOVE_UPDATES, 1200);
    assert_in_range(rows, 1900 + 2300, 2000 + 2400);
    ga_twins_stop(&twins, &replay, GA_STOP_DONE);
    ga_twins_close(&twins);
}

/* One may be over before the pause comes: then once more. */
static struct ga_stop break_off_a_replay(struct ga_engine_rig *rig)
{
    const struct ga_move replay = {.kind = GA_MOVE_REPLAY};
    struct ga_stop stop = {0};
    uint64_t ticket = 0;

    for (int k = 0; k < 50 && stop.reason != GA_STOP_PAUSED; k++) {
        ga_test_ok(ga_engine_move(rig->engine, &replay, &ticket));
        ga_engine_pause(rig->engine);
        stop = ga_engine_rig_wait(rig, ticket);
    }
    return stop;
}

/* Wherever it ends, the run is as it was there. */
static void test_a_replay_broken_off(void **state)
{
    struct ga_twins twins;

    (void)state;
    ga_twins_open(&twins, &(struct ga_test_start){.threads = 1, .settings = FAST});
    ga_engine_rig_go(&twins.quick, GA_MOVE_UPDATES, 300000);
    struct ga_stop stop = break_off_a_replay(&twins.quick);
    assert_int_equal(stop.reason, GA_STOP_PAUSED);
    assert_true(stop.way.at < stop.way.to);
    print_message("broken off at update %llu\n", (unsigned long long)stop.updates);
    ga_engine_rig_go(&twins.quick, GA_MOVE_GOTO, 900);
    ga_engine_rig_go(&twins.slow, GA_MOVE_UPDATES, 900);
    assert_int_equal(ga_engine_rig_hash(&twins.quick), ga_engine_rig_hash(&twins.slow));
    ga_twins_check_counters(&twins);
    ga_twins_check_metrics(&twins);
    ga_twins_close(&twins);
}

static int capture(struct ga_run *run, void *arg)
{
    return ga_run_capture(run, arg);
}

/* A state that was loaded has no update before it in the history. */
static void test_after_a_load(void **state)
{
    struct ga_twins twins;
    struct ga_state kept;

    (void)state;
    ga_twins_open(&twins, &(struct ga_test_start){.threads = 1, .settings = FAST});
    ga_twins_go(&twins, GA_MOVE_UPDATES, 1500);
    ga_test_ok(ga_engine_call(twins.quick.engine, capture, &kept));
    ga_twins_go(&twins, GA_MOVE_UPDATES, 700);
    ga_test_ok(ga_engine_load(twins.quick.engine, &kept));
    ga_test_ok(ga_engine_load(twins.slow.engine, &kept));
    ga_twins_go(&twins, GA_MOVE_UPDATES, 800);
    ga_twins_check_bursts(&twins, true);
    ga_state_fini(&kept);
    ga_twins_close(&twins);
}

static uint64_t leaves(void *self, const struct ga_run *run)
{
    (void)self;
    return 99 - ga_run_counters(run)->updates % 100;
}

static void see_hundreds(void *self, struct ga_run *run, const struct ga_update_record *record)
{
    (void)run;
    *(uint64_t *)self += record->update % 100 == 0;
}

/* Somebody who looks at every hundredth update sees them all, in the midst of bursts. */
static void test_observers_that_ignore_some(void **state)
{
    uint64_t hundreds = 0;
    struct ga_observer observer = {.update = see_hundreds, .leaves = leaves, .self = &hundreds};
    struct ga_twins twins;

    (void)state;
    ga_twins_open(&twins, &(struct ga_test_start){.threads = 1, .settings = FAST});
    ga_test_ok(ga_engine_observe(twins.quick.engine, &observer));
    ga_twins_go(&twins, GA_MOVE_UPDATES, 2050);
    assert_int_equal(hundreds, 20);
    ga_twins_check_bursts(&twins, true);
    ga_twins_close(&twins);
}

static void check_no_holes(const struct ga_list *list)
{
    const struct ga_update_record *record = (const void *)list->item;

    for (size_t k = 1; k < list->count; k++)
        assert_int_equal(record[k].update, record[k - 1].update + 1);
}

/* With little room the oldest records and events go, and the newest stay right. */
static void test_little_room(void **state)
{
    struct ga_twins twins;
    struct ga_list quick = {.bytes = sizeof(struct ga_update_record)}, slow = quick;

    (void)state;
    ga_twins_open(&twins,
                  &(struct ga_test_start){.threads = 1, .settings = FAST "history-budget 1MiB"});
    ga_engine_rig_go(&twins.quick, GA_MOVE_UPDATES, 20000);
    ga_engine_rig_go(&twins.slow, GA_MOVE_UPDATES, 20000);
    ga_test_ok(ga_engine_records(twins.quick.engine, ga_list_record, &quick));
    ga_test_ok(ga_engine_records(twins.slow.engine, ga_list_record, &slow));
    assert_true(quick.count > 256 && slow.count > 256 && quick.count < 20000);
    check_no_holes(&quick);
    check_no_holes(&slow);
    assert_int_equal(quick.count, ga_engine_rig_history(&twins.quick).records);
    for (size_t k = 1; k <= (quick.count < slow.count ? quick.count : slow.count); k++)
        ga_check_record((struct ga_update_record *)(void *)quick.item + quick.count - k,
                        (struct ga_update_record *)(void *)slow.item + slow.count - k);
    ga_twins_check_events(&twins, 500);
    free(quick.item);
    free(slow.item);
    ga_twins_close(&twins);
}

/* Holds while the loss is below a limit, as rows tell it. */
struct below {
    double limit;
    bool blind; /* does not say what rows tell */
};

static bool below_holds(const void *self, struct ga_run *run)
{
    const struct ga_update_record *record = ga_run_last_record(run);

    return record && record->loss < ((const struct below *)self)->limit;
}

static size_t below_scan(const void *self, const struct ga_burst_rows *rows, bool held)
{
    size_t k = 0;

    while (k < rows->count && (rows->row[k].loss < ((const struct below *)self)->limit) == held)
        k++;
    return k;
}

static struct ga_condition condition(struct below *below)
{
    return (struct ga_condition){.holds = below_holds,
                                 .scan = below->blind ? NULL : below_scan,
                                 .self = below,
                                 .text = "below"};
}

static void test_conditions_stop_where_they_would(void **state)
{
    struct below seen = {0.5, false}, later = {0.05, false}, blind = {0.03, true};
    const struct ga_condition conditions[] = {condition(&seen), condition(&later),
                                              condition(&blind)};
    const struct ga_move until = {.kind = GA_MOVE_UNTIL, .until = condition(&seen)};
    const struct ga_move on = {.kind = GA_MOVE_UPDATES, .count = 100000};
    struct ga_twins twins;

    (void)state;
    ga_twins_open(&twins, &(struct ga_test_start){.threads = 1, .settings = FAST});
    ga_twins_stop(&twins, &until, GA_STOP_DONE);
    ga_twins_check_bursts(&twins, ga_engine_rig_counters(&twins.slow).updates > 20);
    for (size_t k = 1; k < 3; k++) {
        ga_test_ok(ga_engine_break_add(twins.quick.engine, &conditions[k]));
        ga_test_ok(ga_engine_break_add(twins.slow.engine, &conditions[k]));
        ga_twins_stop(&twins, &on, GA_STOP_BREAK);
    }
    ga_twins_close(&twins);
}

/* A rate that blows up: stopped at the same window, named alike, and weights as before it. */
static void test_what_is_not_finite_stops(void **state)
{
    const struct ga_move on = {.kind = GA_MOVE_FOREVER};
    struct ga_twins twins;

    (void)state;
    ga_twins_open(&twins, &(struct ga_test_start){
                              .threads = 1, .settings = FAST "activation relu lr 1000000 init he"});
    ga_twins_stop(&twins, &on, GA_STOP_NONFINITE);
    ga_twins_set(&twins, "lr 0.01");
    ga_twins_close(&twins);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_run),
        cmocka_unit_test(test_after_a_flush),
        cmocka_unit_test(test_what_does_not_repeat),
        cmocka_unit_test(test_much_data),
        cmocka_unit_test(test_jumps_into_a_burst),
        cmocka_unit_test(test_record_again),
        cmocka_unit_test(test_a_replay_broken_off),
        cmocka_unit_test(test_after_a_load),
        cmocka_unit_test(test_observers_that_ignore_some),
        cmocka_unit_test(test_little_room),
        cmocka_unit_test(test_conditions_stop_where_they_would),
        cmocka_unit_test(test_what_is_not_finite_stops),
    };

    return ga_test_main(tests);
}
