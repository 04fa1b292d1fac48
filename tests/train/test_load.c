/* Loading a state into an engine: what is taken over, and what happens to what was there. */
#include "support/support.h"

#include <string.h>

#include "train/support/engine_rig.h"

#define SETTINGS "replicas 3 accum 2 batch 2 lr 0.03 momentum 0.9 seed 4"

static int capture(struct ga_run *run, void *arg)
{
    return ga_run_capture(run, arg);
}

/* A state in mid-window with a change that waits and a slow replica. */
static void make_state(struct ga_state *kept)
{
    struct ga_engine_rig rig;
    struct ga_change change;

    ga_engine_rig_open(&rig,
                       &(struct ga_test_start){.data = "parabola n=30", .settings = SETTINGS});
    ga_test_ok(ga_engine_slow(rig.engine, 1, 3, &change));
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 11);
    ga_engine_rig_go(&rig, GA_MOVE_MICROS, 2);
    ga_engine_rig_set(&rig, "accum 4");
    ga_test_ok(ga_engine_call(rig.engine, capture, kept));
    ga_engine_rig_close(&rig);
}

static void test_settings_and_data_come_with_the_state(void **state)
{
    struct ga_engine_rig rig;
    struct ga_state kept;
    struct ga_settings in_force, draft;
    struct ga_history_info info;

    (void)state;
    make_state(&kept);
    ga_engine_rig_open(
        &rig, &(struct ga_test_start){.data = "quadratic lambda=1,2", .settings = "replicas 1"});
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 3);
    ga_test_ok(ga_engine_load(rig.engine, &kept));
    ga_engine_settings(rig.engine, &in_force, &draft);
    assert_int_equal(in_force.accum, 2);
    assert_int_equal(draft.accum, 4);
    assert_int_equal(draft.seed, 4);
    assert_true(draft.lr == 0.03);
    info = ga_engine_rig_history(&rig);
    assert_int_equal(info.last_update, 11);
    assert_int_equal(info.events, 0);
    assert_int_equal(info.states, 1);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 2);
    assert_int_equal(ga_engine_rig_record(&rig).window_micros, 12);
    assert_true(ga_engine_rig_metric(&rig, GA_METRIC_IDLE, 0) > 0.5);
    ga_state_fini(&kept);
    ga_engine_rig_close(&rig);
}

/* Reset begins at update 0 with the settings that the state had asked for. */
static void test_reset_after_a_load(void **state)
{
    struct ga_engine_rig rig, fresh;
    struct ga_state kept;

    (void)state;
    make_state(&kept);
    ga_engine_rig_open(&rig, &(struct ga_test_start){.data = "quadratic lambda=1"});
    ga_test_ok(ga_engine_load(rig.engine, &kept));
    ga_state_fini(&kept);
    ga_engine_rig_go(&rig, GA_MOVE_RESET, 0);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 9);
    ga_engine_rig_open(
        &fresh, &(struct ga_test_start){.data = "parabola n=30", .settings = SETTINGS " accum 4"});
    ga_engine_rig_go(&fresh, GA_MOVE_UPDATES, 9);
    assert_int_equal(ga_engine_rig_hash(&rig), ga_engine_rig_hash(&fresh));
    assert_true(ga_engine_rig_metric(&rig, GA_METRIC_IDLE, 0) > 0.5);
    ga_engine_rig_close(&fresh);
    ga_engine_rig_close(&rig);
}

static void test_a_load_ends_a_move(void **state)
{
    struct ga_engine_rig rig;
    struct ga_state kept;
    uint64_t ticket = 0;

    (void)state;
    make_state(&kept);
    ga_engine_rig_open(&rig, &(struct ga_test_start){.settings = NULL});
    ticket = ga_engine_rig_begin(&rig, GA_MOVE_FOREVER, 0);
    ga_test_ok(ga_engine_load(rig.engine, &kept));
    assert_int_equal(ga_engine_rig_wait(&rig, ticket).reason, GA_STOP_REPLACED);
    assert_int_equal(ga_engine_rig_counters(&rig).updates, 11);
    ga_state_fini(&kept);
    ga_engine_rig_close(&rig);
}

/* New data and new initial weights begin anew, too. */
static void test_data_and_weights_end_a_move(void **state)
{
    const float weights[16] = {0.5f, -0.5f};
    struct ga_engine_rig rig;
    struct ga_stop stop;
    uint64_t ticket = 0;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.settings = NULL});
    ticket = ga_engine_rig_begin(&rig, GA_MOVE_FOREVER, 0);
    ga_test_ok(ga_engine_init_from(rig.engine, "w.safetensors", weights, 16));
    assert_int_equal(ga_engine_rig_wait(&rig, ticket).reason, GA_STOP_REPLACED);
    assert_true(ga_engine_rig_weight(&rig, 1) == -0.5f);
    ticket = ga_engine_rig_begin(&rig, GA_MOVE_FOREVER, 0);
    ga_test_ok(ga_engine_data(rig.engine,
                              ga_test_start_data(&(struct ga_test_start){.data = "parabola n=9"})));
    assert_int_equal(ga_engine_rig_wait(&rig, ticket).reason, GA_STOP_REPLACED);
    assert_int_equal(ga_engine_rig_counters(&rig).events, 0);
    ga_test_ok(ga_engine_init_from(rig.engine, "w.safetensors", weights, 15));
    stop = ga_engine_rig_move(&rig, GA_MOVE_UPDATES, 1);
    assert_int_equal(stop.reason, GA_STOP_ERROR);
    assert_non_null(strstr(stop.error.text, "15 weights and the model has 16"));
    ga_engine_rig_set(&rig, "init zeros");
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 1);
    ga_engine_rig_close(&rig);
}

/* A state that contradicts itself is refused; what was there goes on. */
static void test_a_contradicting_state_is_refused(void **state)
{
    struct ga_engine_rig rig, plain;
    struct ga_state kept, broken;

    (void)state;
    make_state(&kept);
    ga_engine_rig_open(&rig, &(struct ga_test_start){.settings = NULL});
    ga_engine_rig_open(&plain, &(struct ga_test_start){.settings = NULL});
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 5);
    broken = kept;
    broken.replicas = 2;
    ga_test_refused(ga_engine_load(rig.engine, &broken), GA_EINPUT, "its settings say 3");
    broken = kept;
    broken.stream.offset = 31;
    ga_test_refused(ga_engine_load(rig.engine, &broken), GA_EINPUT, "stream position");
    broken = kept;
    broken.sums_elements--;
    ga_test_refused(ga_engine_load(rig.engine, &broken), GA_EINPUT, "parameters");
    ga_engine_rig_go(&rig, GA_MOVE_BACK_UPDATES, 2);
    ga_engine_rig_go(&rig, GA_MOVE_GOTO, 20);
    ga_engine_rig_go(&plain, GA_MOVE_UPDATES, 20);
    assert_int_equal(ga_engine_rig_hash(&rig), ga_engine_rig_hash(&plain));
    ga_state_fini(&kept);
    ga_engine_rig_close(&plain);
    ga_engine_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings_and_data_come_with_the_state),
        cmocka_unit_test(test_reset_after_a_load),
        cmocka_unit_test(test_a_load_ends_a_move),
        cmocka_unit_test(test_data_and_weights_end_a_move),
        cmocka_unit_test(test_a_contradicting_state_is_refused),
    };

    return ga_test_main(tests);
}
