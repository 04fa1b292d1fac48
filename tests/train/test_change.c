/* Settings changed while an engine runs: when they hold, what they leave alone, what is refused. */
#include "support/support.h"

#include <math.h>

#include "base/thread.h"
#include "train/support/engine_rig.h"
#include "train/support/run_rig.h"
#include "train/support/serial.h"

#define START "replicas 2 accum 4 batch 2 lr 0.02 momentum 0.9"

struct live {
    const char *words;
    uint32_t examples; /* of the windows that follow, 40 rows in an epoch */
};

static const struct live lives[] = {
    {"accum 2", 8},
    {"accum 3", 12},
    {"batch 1", 8},
    {"replicas 3", 24},
    {"replicas 1", 8},
    {"global 10", 10},
    {"lr 0.5", 16},
    {"optimizer adam", 16},
    {"momentum 0", 16},
    {"clip 0.1", 16},
    {"weight-decay 0.1", 16},
    {"sharding strided", 16},
    {"tail wrap", 16},
    {"jitter exponential", 16},
    {"schedule step(1,0.5)", 16},
    {"accum 1 batch 3", 6},
    {"nesterov on", 16},
    {"sharding contiguous replicas 4", 32},
    {"reduce sum", 16},
    {"nonfinite skip", 16},
};

/* Sum over the micro-batches of a window of weight / window weight. */
struct sums {
    double parts[32];
    size_t count;
    bool wrong;
};

static void add_parts(void *self, const struct ga_event *event)
{
    struct sums *sums = self;
    double sum = 0;

    if (event->kind == GA_EVENT_MICRO && sums->count < 32)
        sums->parts[sums->count++] = event->weight;
    if (event->kind != GA_EVENT_REDUCE)
        return;
    for (size_t k = 0; k < sums->count; k++)
        sum += sums->parts[k] / event->weight;
    if (!ga_test_close(sum, 1, 1e-14))
        sums->wrong = true;
    sums->count = 0;
}

/* A change after `micros` of a window of 8: this window is as if nothing was set. */
static void check_live(const struct live *live, uint64_t micros)
{
    const struct ga_test_start start = {.data = "parabola n=40", .settings = START};
    struct ga_run_rig changed, plain;
    struct sums sums = {.count = 0};

    ga_run_rig_open(&changed, &start);
    ga_run_rig_open(&plain, &start);
    ga_run_watch(changed.run, add_parts, NULL, &sums);
    ga_run_rig_micros(&changed, micros);
    ga_test_ok(ga_run_rig_set(&changed, live->words));
    assert_int_equal(ga_run_next_window_update(changed.run), micros > 0 ? 2 : 1);
    if (micros > 0) {
        ga_run_rig_updates(&changed, 1);
        ga_run_rig_updates(&plain, 1);
        assert_int_equal(ga_run_hash(changed.run), ga_run_hash(plain.run));
        assert_int_equal(ga_run_now(changed.run), ga_run_now(plain.run));
        assert_int_equal(ga_run_last_record(changed.run)->window_examples, 16);
    }
    ga_run_rig_updates(&changed, 1);
    assert_int_equal(ga_run_last_record(changed.run)->window_examples, live->examples);
    ga_run_rig_updates(&changed, 3);
    assert_false(sums.wrong);
    ga_run_rig_close(&changed);
    ga_run_rig_close(&plain);
}

static void test_a_change_waits_for_the_next_window(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof lives / sizeof *lives; k++)
        for (uint64_t micros = 0; micros <= 8; micros += 1 + micros % 3)
            check_live(&lives[k], micros);
}

/* A change at a boundary equals the textbook computation with that change at that place. */
static void test_a_change_at_a_boundary_is_the_serial_change(void **state)
{
    const char *const words[] = {"accum 2",   "batch 1",  "replicas 3",
                                 "global 10", "lr 0.05",  "sharding strided",
                                 "tail drop", "clip 0.5", "sharding contiguous replicas 5",
                                 "tail wrap"};
    const struct ga_test_start start = {.data = "parabola n=40", .settings = START};

    (void)state;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        struct ga_run_rig rig;
        struct ga_test_serial serial;

        ga_run_rig_open(&rig, &start);
        ga_test_serial_open(&serial, &start);
        ga_run_rig_updates(&rig, 4 + k);
        ga_test_serial_updates(&serial, 4 + k);
        ga_test_ok(ga_run_rig_set(&rig, words[k]));
        ga_test_serial_set(&serial, words[k]);
        ga_run_rig_updates(&rig, 20);
        ga_test_serial_updates(&serial, 20);
        assert_int_equal(ga_run_hash(rig.run), ga_test_serial_hash(&serial));
        ga_test_serial_close(&serial);
        ga_run_rig_close(&rig);
    }
}

static void test_the_answer_names_the_update(void **state)
{
    struct ga_engine_rig rig;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.settings = START});
    assert_int_equal(ga_engine_rig_set(&rig, "accum 3").from_update, 1);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 120);
    assert_int_equal(ga_engine_rig_set(&rig, "accum 4").from_update, 121);
    ga_engine_rig_go(&rig, GA_MOVE_MICROS, 3);
    assert_int_equal(ga_engine_rig_set(&rig, "accum 2").from_update, 122);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 1);
    assert_int_equal(ga_engine_rig_record(&rig).window_micros, 8);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 1);
    assert_int_equal(ga_engine_rig_record(&rig).update, 122);
    assert_int_equal(ga_engine_rig_record(&rig).window_micros, 4);
    ga_engine_rig_close(&rig);
}

/* The draft is what holds plus what waits; setting a thing back makes nothing wait. */
static void test_what_waits_can_be_taken_back(void **state)
{
    struct ga_engine_rig rig;
    struct ga_settings in_force, draft;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.settings = START});
    ga_engine_rig_go(&rig, GA_MOVE_MICROS, 3);
    ga_engine_rig_set(&rig, "accum 7 lr 0.5");
    ga_engine_settings(rig.engine, &in_force, &draft);
    assert_int_equal(in_force.accum, 4);
    assert_int_equal(draft.accum, 7);
    assert_true(draft.lr == 0.5);
    ga_engine_rig_set(&rig, "accum 4");
    ga_engine_settings(rig.engine, &in_force, &draft);
    assert_int_equal(draft.accum, 4);
    assert_true(draft.lr == 0.5 && in_force.lr == 0.02);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 2);
    assert_int_equal(ga_engine_rig_record(&rig).window_micros, 8);
    assert_true(ga_engine_rig_record(&rig).lr == 0.5);
    ga_engine_rig_close(&rig);
}

static void test_start_settings_wait_for_reset(void **state)
{
    struct ga_engine_rig rig, other;
    struct ga_settings in_force;
    struct ga_change change;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.settings = START});
    assert_false(ga_engine_rig_set(&rig, "seed 2").start_waits);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 10);
    change = ga_engine_rig_set(&rig, "seed 3 model 1-7-1 lr 0.03");
    assert_true(change.start_waits);
    assert_int_equal(change.from_update, 11);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 1);
    ga_engine_settings(rig.engine, &in_force, NULL);
    assert_int_equal(in_force.seed, 2);
    assert_int_equal(in_force.model.widths[1], 5);
    assert_true(in_force.lr == 0.03);
    ga_engine_rig_go(&rig, GA_MOVE_RESET, 0);
    assert_int_equal(ga_engine_rig_counters(&rig).events, 0);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 5);
    ga_engine_rig_open(&other,
                       &(struct ga_test_start){.settings = START " seed 3 model 1-7-1 lr 0.03"});
    ga_engine_rig_go(&other, GA_MOVE_UPDATES, 5);
    assert_int_equal(ga_engine_rig_hash(&rig), ga_engine_rig_hash(&other));
    ga_engine_rig_close(&other);
    ga_engine_rig_close(&rig);
}

/* All or nothing, and the message says what was expected. */
static void test_bad_combinations_change_nothing(void **state)
{
    const struct {
        const char *words, *part;
    } bad[] = {
        {"replicas 2 backup 2", "backup"},
        {"accum 262144", "262144"},
        {"tail drop global 51", "tail drop"},
        {"sharding strided global 1", "fixed shards"},
        {"nesterov on momentum 0", "momentum"},
        {"mode buffered buffer 3 bound 0", "would wait for ever"},
    };
    struct ga_engine_rig rig;
    struct ga_settings before, after;
    struct ga_change change;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.settings = START});
    for (int round = 0; round < 3; round++) {
        ga_engine_settings(rig.engine, NULL, &before);
        for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
            ga_test_refused(ga_engine_rig_try_set(&rig, bad[k].words, &change), GA_ERANGE,
                            bad[k].part);
            ga_engine_settings(rig.engine, NULL, &after);
            for (size_t i = 0; i < ga_setting_count(); i++)
                assert_true(ga_setting_same(ga_setting_at(i), &before, &after));
        }
        ga_engine_rig_go(&rig, round == 0 ? GA_MOVE_UPDATES : GA_MOVE_MICROS, 2);
    }
    ga_engine_rig_close(&rig);
}

/* A small window over many fixed shards is refused at once, not by the window that needs it. */
static void test_every_fixed_shard_must_get_something(void **state)
{
    struct ga_engine_rig rig;
    struct ga_change change;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.settings = START});
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 1);
    ga_test_refused(ga_engine_rig_try_set(&rig, "replicas 8 global 7 sharding strided", &change),
                    GA_ERANGE, "a window of 7 examples");
    ga_test_ok(ga_engine_rig_try_set(&rig, "replicas 8 global 8 sharding strided", &change));
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 9);
    ga_engine_rig_close(&rig);
    ga_engine_rig_open(
        &rig, &(struct ga_test_start){.data = "parabola n=3",
                                      .settings = "replicas 8 global 3 sharding contiguous"});
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 3);
    ga_engine_rig_close(&rig);
}

/* NOW settings hold at once and wherever one goes; they start no new future. */
static void test_now_settings_hold_at_once_and_everywhere(void **state)
{
    struct ga_engine_rig rig;
    struct ga_settings in_force, draft;
    struct ga_change change;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.settings = START});
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 30);
    ga_engine_rig_go(&rig, GA_MOVE_BACK_UPDATES, 10);
    change = ga_engine_rig_set(&rig, "log-every 7 pace x1000000 history-budget 1MiB");
    assert_int_equal(change.forgotten, 0);
    assert_int_equal(ga_engine_rig_history(&rig).last_update, 30);
    assert_int_equal(ga_engine_rig_history(&rig).budget, 1 << 20);
    ga_engine_settings(rig.engine, &in_force, NULL);
    assert_int_equal(in_force.log_every, 7);
    ga_engine_rig_go(&rig, GA_MOVE_BACK_UPDATES, 15);
    ga_engine_settings(rig.engine, &in_force, &draft);
    assert_int_equal(in_force.log_every, 7);
    assert_int_equal(draft.log_every, 7);
    assert_int_equal(in_force.pace.kind, GA_PACE_FACTOR);
    ga_engine_rig_go(&rig, GA_MOVE_GOTO, 30);
    ga_engine_settings(rig.engine, &in_force, &draft);
    assert_int_equal(in_force.log_every, 7);
    ga_engine_rig_close(&rig);
}

/* A new pace counts from now: neither the old wait nor what was run before delays anything. */
static void test_a_new_pace_holds_in_mid_move(void **state)
{
    struct ga_engine_rig rig;
    uint64_t ticket = 0;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.settings = START " pace 0.001"});
    ticket = ga_engine_rig_begin(&rig, GA_MOVE_UPDATES, 200);
    while (ga_engine_rig_counters(&rig).updates < 1)
        ;
    ga_engine_rig_set(&rig, "pace max");
    assert_int_equal(ga_engine_rig_wait(&rig, ticket).updates, 200);
    ga_engine_rig_set(&rig, "pace 0.001");
    ticket = ga_engine_rig_begin(&rig, GA_MOVE_UPDATES, 2);
    while (ga_engine_rig_counters(&rig).updates < 201)
        ;
    ga_engine_rig_set(&rig, "pace 1000000");
    assert_int_equal(ga_engine_rig_wait(&rig, ticket).updates, 202);
    ga_engine_rig_close(&rig);
}

/* The change may meet a move that has not made its first event yet. */
static void test_a_change_right_behind_a_move(void **state)
{
    (void)state;
    for (size_t k = 0; k < ga_test_count(200); k++) {
        struct ga_engine_rig rig;
        uint64_t ticket = 0;

        ga_engine_rig_open(&rig, &(struct ga_test_start){.settings = START});
        ticket = ga_engine_rig_begin(&rig, GA_MOVE_UPDATES, 40);
        ga_engine_rig_set(&rig, "lr 0.01");
        assert_int_equal(ga_engine_rig_wait(&rig, ticket).updates, 40);
        ga_engine_rig_close(&rig);
    }
}

/* A change of settings beside the recorded future must not bring what was set later. */
static void test_the_draft_follows_the_place_in_time(void **state)
{
    struct ga_engine_rig rig;
    struct ga_settings in_force, draft;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.settings = START});
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 10);
    ga_engine_rig_set(&rig, "accum 7");
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 10);
    ga_engine_rig_go(&rig, GA_MOVE_BACK_UPDATES, 15);
    ga_engine_settings(rig.engine, &in_force, &draft);
    assert_int_equal(in_force.accum, 4);
    assert_int_equal(draft.accum, 4);
    ga_engine_rig_go(&rig, GA_MOVE_GOTO, 12);
    ga_engine_settings(rig.engine, &in_force, &draft);
    assert_int_equal(in_force.accum, 7);
    assert_int_equal(draft.accum, 7);
    ga_engine_rig_go(&rig, GA_MOVE_BACK_UPDATES, 6);
    assert_int_equal(ga_engine_rig_set(&rig, "lr 0.5").forgotten, 20);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 10);
    ga_engine_settings(rig.engine, &in_force, NULL);
    assert_int_equal(in_force.accum, 4);
    assert_true(in_force.lr == 0.5);
    ga_engine_rig_close(&rig);
}

/* Items of the old mode end by its rule; the next mode's are cut by its own plan. */
static void test_leaving_hogwild(void **state)
{
    const char *const next[] = {"mode sync accum 3 batch 4", "mode delay lag 2 accum 3 batch 4",
                                "mode local period 2 accum 3 batch 4"};

    (void)state;
    for (size_t k = 0; k < sizeof next / sizeof *next; k++) {
        struct ga_run_rig rig;

        ga_run_rig_open(&rig,
                        &(struct ga_test_start){
                            .data = "parabola n=96",
                            .settings = "replicas 4 accum 1 batch 2 lr 0.001 mode hogwild "
                                        "late finish jitter exponential latency 1ms tail wrap"});
        ga_run_rig_events(&rig, 40);
        ga_test_ok(ga_run_rig_set(&rig, next[k]));
        ga_run_rig_until(&rig, GA_EVENT_REDUCE);
        assert_int_equal(ga_run_last_event(rig.run)->examples, k < 2 ? 48 : 96);
        ga_run_rig_close(&rig);
    }
}

static double slow_of(struct ga_engine_rig *rig, size_t replica)
{
    ga_engine_rig_go(rig, GA_MOVE_UPDATES, 1);
    return ga_engine_rig_metric(rig, GA_METRIC_IDLE, (int32_t)replica);
}

/* Replica 0 at half speed makes replica 1 wait half the time, also after a change or a reset. */
static void test_a_slow_replica_stays_slow(void **state)
{
    struct ga_engine_rig rig;
    struct ga_change change;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.settings = START});
    ga_test_ok(ga_engine_slow(rig.engine, 0, 2, &change));
    ga_engine_rig_set(&rig, "lr 0.5 seed 9");
    assert_true(slow_of(&rig, 1) == 0.5);
    ga_engine_rig_go(&rig, GA_MOVE_RESET, 0);
    assert_true(slow_of(&rig, 1) == 0.5);
    ga_test_refused(ga_engine_slow(rig.engine, 2, 2, &change), GA_ERANGE, "0..1");
    ga_test_refused(ga_engine_slow(rig.engine, 0, 0, &change), GA_ERANGE, "factor");
    ga_test_refused(ga_engine_slow(rig.engine, 0, NAN, &change), GA_ERANGE, "factor");
    ga_engine_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_change_waits_for_the_next_window),
        cmocka_unit_test(test_a_change_at_a_boundary_is_the_serial_change),
        cmocka_unit_test(test_the_answer_names_the_update),
        cmocka_unit_test(test_what_waits_can_be_taken_back),
        cmocka_unit_test(test_start_settings_wait_for_reset),
        cmocka_unit_test(test_bad_combinations_change_nothing),
        cmocka_unit_test(test_every_fixed_shard_must_get_something),
        cmocka_unit_test(test_now_settings_hold_at_once_and_everywhere),
        cmocka_unit_test(test_a_new_pace_holds_in_mid_move),
        cmocka_unit_test(test_a_change_right_behind_a_move),
        cmocka_unit_test(test_the_draft_follows_the_place_in_time),
        cmocka_unit_test(test_leaving_hogwild),
        cmocka_unit_test(test_a_slow_replica_stays_slow),
    };

    return ga_test_main(tests);
}
