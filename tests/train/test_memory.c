/*
 * No memory, at every allocation in turn: opening, running, capturing and restoring fail with
 * GA_ENOMEM, lose nothing, and go on to the same bits once there is memory again.
 */
#include "support/support.h"

#include "train/support/engine_rig.h"
#include "train/support/run_rig.h"

#define SETTINGS                                                                                   \
    "replicas 3 accum 2 batch 3 lr 0.01 optimizer adam sharding strided order shuffle backup 1 "   \
    "late finish jitter exponential"

static void test_opening_a_run(void **state)
{
    const struct ga_test_start words = {.settings = SETTINGS};
    struct ga_run_start start = {.data = ga_test_start_data(&words)};
    struct ga_run *run = NULL;
    int64_t limit = 0;
    int code = GA_ENOMEM;

    (void)state;
    ga_test_start_settings(&words, &start.settings);
    for (; code < 0; limit++) {
        ga_test_allocation_limit(limit);
        code = ga_run_open(&run, &start);
        ga_test_allocation_free();
        assert_true(code == GA_OK || (code == GA_ENOMEM && !run));
    }
    assert_true(limit > 10);
    ga_run_close(run);
    ga_dataset_close(start.data);
}

/* Each event is first tried with less and less want of memory. */
static uint64_t events_in_want(struct ga_run_rig *rig, uint64_t events)
{
    uint64_t failures = 0;

    while (ga_run_counters(rig->run)->events < events) {
        int code = GA_ENOMEM;

        for (int64_t limit = 0; code < 0; limit++) {
            ga_test_allocation_limit(limit);
            code = ga_run_event(rig->run);
            ga_test_allocation_free();
            assert_true(code == GA_OK || code == GA_ENOMEM);
            failures += code < 0;
        }
    }
    return failures;
}

static void test_events(void **state)
{
    const struct ga_test_start start = {.data = "parabola n=40", .settings = SETTINGS};
    const char *const changes[] = {"replicas 5 batch 4", "replicas 2 sharding contiguous",
                                   "optimizer sgd momentum 0.9", "sharding stream accum 9"};
    struct ga_run_rig wanting, plain;

    (void)state;
    ga_run_rig_open(&wanting, &start);
    ga_run_rig_open(&plain, &start);
    for (uint64_t k = 0; k < 4; k++) {
        assert_true(events_in_want(&wanting, 60 * (k + 1)) > 0);
        ga_run_rig_events(&plain, 60);
        assert_int_equal(ga_run_hash(wanting.run), ga_run_hash(plain.run));
        assert_int_equal(ga_run_now(wanting.run), ga_run_now(plain.run));
        ga_test_ok(ga_run_rig_set(&wanting, changes[k]));
        ga_test_ok(ga_run_rig_set(&plain, changes[k]));
    }
    events_in_want(&wanting, 300);
    ga_run_rig_events(&plain, 60);
    assert_int_equal(ga_run_hash(wanting.run), ga_run_hash(plain.run));
    ga_run_rig_close(&wanting);
    ga_run_rig_close(&plain);
}

static void capture_in_want(struct ga_run_rig *rig, struct ga_state *out)
{
    int code = GA_ENOMEM;

    for (int64_t limit = 0; code < 0; limit++) {
        ga_test_allocation_limit(limit);
        code = ga_run_capture(rig->run, out);
        ga_test_allocation_free();
        assert_true(code == GA_OK || code == GA_ENOMEM);
    }
}

static void restore_in_want(struct ga_run_rig *rig, const struct ga_state *state)
{
    uint64_t hash = ga_run_hash(rig->run);
    int code = GA_ENOMEM;

    for (int64_t limit = 0; code < 0; limit++) {
        ga_test_allocation_limit(limit);
        code = ga_run_restore(rig->run, state);
        ga_test_allocation_free();
        assert_true(code == GA_OK || code == GA_ENOMEM);
        if (code < 0)
            assert_int_equal(ga_run_hash(rig->run), hash);
    }
}

static void test_capture_and_restore(void **state)
{
    const struct ga_test_start start = {.data = "parabola n=40", .settings = SETTINGS};
    struct ga_run_rig rig, other;
    struct ga_state kept;

    (void)state;
    ga_run_rig_open(&rig, &start);
    ga_run_rig_open(
        &other, &(struct ga_test_start){.data = "parabola n=40", .settings = "replicas 1 accum 1"});
    ga_run_rig_events(&rig, 57);
    capture_in_want(&rig, &kept);
    ga_run_rig_events(&other, 3);
    restore_in_want(&other, &kept);
    ga_state_fini(&kept);
    ga_run_rig_events(&rig, 100);
    ga_run_rig_events(&other, 100);
    assert_int_equal(ga_run_hash(rig.run), ga_run_hash(other.run));
    ga_run_rig_close(&other);
    ga_run_rig_close(&rig);
}

/* Commands that fail for want of memory say so, and the engine goes on. */
static void test_an_engine_in_want(void **state)
{
    struct ga_engine_rig rig;
    struct ga_change change;
    struct ga_settings draft;

    (void)state;
    ga_engine_rig_open(
        &rig, &(struct ga_test_start){.data = "parabola n=40", .settings = SETTINGS, .threads = 1});
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 5);
    ga_engine_settings(rig.engine, NULL, &draft);
    for (int64_t limit = 0; limit < 40; limit++) {
        struct ga_stop stop;

        ga_test_allocation_limit(limit);
        stop = ga_engine_rig_move(&rig, limit % 3 == 0 ? GA_MOVE_BACK_EVENTS : GA_MOVE_EVENTS, 9);
        if (stop.reason != GA_STOP_DONE)
            assert_int_equal(stop.error.code, GA_ENOMEM);
        draft.accum = (int32_t)(limit % 4) + 1;
        if (ga_engine_change(rig.engine, &draft, &change) < 0)
            assert_int_equal(ga_error_code(), GA_ENOMEM);
        ga_test_allocation_free();
        ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 1);
    }
    ga_engine_rig_close(&rig);
}

static void test_opening_an_engine(void **state)
{
    struct ga_engine_options options = {.threads = 3};
    int code = GA_ENOMEM;

    (void)state;
    for (int64_t limit = 0; code < 0; limit++) {
        struct ga_engine *engine = NULL;

        ga_test_allocation_limit(limit);
        code = ga_engine_open(&engine, &options);
        ga_test_allocation_free();
        assert_true(code == GA_OK || (code == GA_ENOMEM && !engine));
        ga_engine_close(engine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opening_a_run),       cmocka_unit_test(test_events),
        cmocka_unit_test(test_capture_and_restore), cmocka_unit_test(test_an_engine_in_want),
        cmocka_unit_test(test_opening_an_engine),
    };

    return ga_test_main(tests);
}
