/* Pitfalls of the step: schedule, optimizer, clip, and what a skipped window leaves alone. */
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train/support/pitfall.h"
#include "train/support/reference.h"
#include "train/support/run_rig.h"

static void open_quadratic(struct ga_run_rig *rig, const char *csv, const char *settings)
{
    ga_run_rig_open(
        rig, &(struct ga_test_start){.csv = csv, .data = PITFALL_QUADRATIC, .settings = settings});
}

static void check_rates(const char *settings)
{
    struct ga_run_rig rig;

    ga_run_rig_open(&rig, &(struct ga_test_start){.data = "parabola n=16", .settings = settings});
    ga_run_rig_updates(&rig, 1);
    assert_true(ga_run_last_record(rig.run)->lr == 0.1);
    ga_run_rig_updates(&rig, 1);
    assert_true(ga_run_last_record(rig.run)->lr == 0.05);
    ga_run_rig_close(&rig);
}

/* Not 0.0125 and 0.00078 (per micro-batch). */
static void test_11_the_schedule_counts_updates(void **state)
{
    (void)state;
    check_rates("replicas 1 accum 4 batch 1 lr 0.1 schedule step(1,0.5)");
}

/* Not 0.1 and 0.025 (once per replica). */
static void test_12_the_schedule_does_not_count_replicas(void **state)
{
    (void)state;
    check_rates("replicas 2 accum 4 batch 1 lr 0.1 schedule step(1,0.5)");
}

/* Not 0.581 lr (t counted in micro-batches). */
static void test_13_adam_first_moves_by_lr(void **state)
{
    struct ga_run_rig rig;

    (void)state;
    open_quadratic(&rig, "lambda_1,lambda_2,c_1,c_2\n1,1,0,3\n2,2,0,3\n3,3,0,3\n4,4,0,3\n",
                   "replicas 1 accum 4 batch 1 optimizer adam lr 0.1 epsilon 0");
    ga_run_rig_updates(&rig, 1);
    assert_close((double)ga_run_rig_weight(&rig, 0), 0.9, 1e-6);
    assert_close((double)ga_run_rig_weight(&rig, 1), 1.1, 1e-6);
    assert_int_equal(ga_run_version(rig.run)->scalars.t, 1);
    ga_run_rig_close(&rig);
}

/* Not moved by 1.71 = 0.9 + 0.81. */
static void test_14_momentum_does_not_coast_over_skipped_windows(void **state)
{
    struct ga_run_rig rig;

    (void)state;
    ga_run_rig_open(
        &rig, &(struct ga_test_start){.csv = "lambda_1,c_1,w\n1,0,1\n1,0,0\n1,0,0\n",
                                      .data = "kind=quadratic weight=w",
                                      .settings = "replicas 1 accum 1 batch 1 lr 1 momentum 0.9"});
    ga_run_rig_updates(&rig, 1);
    assert_true(ga_run_version(rig.run)->state[0] == 1.0f);
    assert_true(ga_run_rig_weight(&rig, 0) == 0.0f);
    ga_run_rig_updates(&rig, 2);
    assert_int_equal(ga_run_counters(rig.run)->skipped, 2);
    assert_true(ga_run_rig_weight(&rig, 0) == 0.0f);
    assert_true(ga_run_version(rig.run)->state[0] == 1.0f);
    ga_run_rig_close(&rig);
}

#define CROSSED "lambda_1,lambda_2,c_1,c_2\n2,0,0,0\n0,2,0,0\n"

/* The step that was taken from w = (1, 1) with lr 1. */
static void check_step(const char *settings, double want_0, double want_1)
{
    struct ga_run_rig rig;

    open_quadratic(&rig, CROSSED, settings);
    ga_run_rig_updates(&rig, 1);
    assert_close(1.0 - (double)ga_run_rig_weight(&rig, 0), want_0, 2e-6);
    assert_close(1.0 - (double)ga_run_rig_weight(&rig, 1), want_1, 2e-6);
    ga_run_rig_close(&rig);
}

/* Not (.4472, .8944): clipped per micro-batch on the running sum. */
static void test_15_clip_acts_once_on_the_mean(void **state)
{
    (void)state;
    check_step("replicas 1 accum 2 batch 1 lr 1 clip 1", sqrt(0.5), sqrt(0.5));
}

/* The sum's norm is 2.83, the mean's 1.414. */
static void test_16_clip_looks_at_the_mean_not_the_sum(void **state)
{
    struct ga_run_rig rig;

    (void)state;
    open_quadratic(&rig, CROSSED, "replicas 1 accum 2 batch 1 lr 1 clip 2");
    ga_run_rig_updates(&rig, 1);
    assert_close(ga_run_last_record(rig.run)->grad_norm, sqrt(2.0), 1e-7);
    assert_true(ga_run_last_record(rig.run)->clip_scale == 1);
    assert_true(ga_run_rig_weight(&rig, 0) == 0.0f && ga_run_rig_weight(&rig, 1) == 0.0f);
    ga_run_rig_close(&rig);
}

/* Not .7071 or 1.414 (clipped per replica). */
static void test_17_clip_acts_after_the_reduction(void **state)
{
    struct ga_run_rig rig;

    (void)state;
    check_step("replicas 2 accum 1 batch 1 lr 1 clip 1", sqrt(0.5), sqrt(0.5));
    open_quadratic(&rig, CROSSED, "replicas 2 accum 1 batch 1 lr 1 clip 1");
    ga_run_rig_updates(&rig, 1);
    assert_close(ga_run_last_record(rig.run)->update_norm, 1.0, 2e-6);
    ga_run_rig_close(&rig);
}

static double norm_with(const char *settings)
{
    struct ga_run_rig rig;
    double norm = NAN;

    ga_run_rig_open(&rig, &(struct ga_test_start){.data = "parabola n=48", .settings = settings});
    ga_run_rig_updates(&rig, 1);
    norm = ga_run_last_record(rig.run)->grad_norm;
    ga_run_rig_close(&rig);
    return norm;
}

/* 0.8 became 1.131 with two replicas. */
static void test_18_the_norm_does_not_grow_with_replicas(void **state)
{
    double norm = norm_with("replicas 1 accum 1 global 48");

    (void)state;
    assert_true(norm > 0);
    assert_true(norm_with("replicas 2 accum 1 global 48") == norm);
    assert_true(norm_with("replicas 4 accum 3 global 48") == norm);
    assert_true(norm_with("replicas 5 accum 2 global 48") == norm);
}

static struct ga_counters counters_after(const char *settings)
{
    struct ga_run_rig rig;
    struct ga_counters counters;

    ga_run_rig_open(&rig, &(struct ga_test_start){.settings = settings});
    ga_run_rig_updates(&rig, 7);
    counters = *ga_run_counters(rig.run);
    ga_run_rig_close(&rig);
    return counters;
}

static void test_19_one_all_reduce_per_update_whatever_a(void **state)
{
    struct ga_counters one = counters_after("replicas 4 accum 1 global 50");
    struct ga_counters many = counters_after("replicas 4 accum 12 global 50");

    (void)state;
    assert_true(many.micros > 5 * one.micros);
    assert_int_equal(one.reductions, 7);
    assert_int_equal(many.reductions, 7);
    assert_int_equal(one.bytes, many.bytes);
    assert_int_equal(one.bytes, 7 * 2 * 3 * 4 * (16 + 1));
}

/* The bad row is micro-batch 2 of replica 1 in every first window of an epoch. */
static void test_22_one_replicas_nan_skips_the_window_of_all(void **state)
{
    const char *csv = "lambda_1,c_1\n1,0\n1,0\n1,0\n" PITFALL_BAD_ROW "2,0\n2,0\n2,0\n2,0\n";
    struct ga_run_rig rig;
    uint64_t hash = 0;

    (void)state;
    open_quadratic(&rig, csv, "replicas 2 accum 2 batch 1 nonfinite skip lr 0.125");
    hash = ga_run_hash(rig.run);
    ga_run_rig_updates(&rig, 1);
    assert_int_equal(ga_run_counters(rig.run)->skipped, 1);
    assert_int_equal(ga_run_hash(rig.run), hash);
    for (int k = 0; k < 4; k++) {
        ga_run_rig_until(&rig, GA_EVENT_MICRO);
        assert_int_equal(ga_run_last_event(rig.run)->version, 0);
        assert_true(ga_run_last_event(rig.run)->norm == 2);
    }
    ga_run_rig_updates(&rig, 1);
    assert_true(ga_run_rig_weight(&rig, 0) == 0.75f);
    ga_run_rig_close(&rig);
}

/* Not NaN = inf * 0: an accumulator is released by assignment. */
static void test_23_an_infinite_window_leaves_nothing_behind(void **state)
{
    struct ga_run_rig rig;

    (void)state;
    open_quadratic(&rig, "lambda_1,c_1\n" PITFALL_BAD_ROW PITFALL_BAD_ROW "1,0\n1,0\n1,0\n1,0\n",
                   "replicas 2 accum 1 batch 1 nonfinite skip");
    ga_run_rig_updates(&rig, 2);
    assert_int_equal(ga_run_counters(rig.run)->skipped, 1);
    assert_true(ga_run_gradient(rig.run)[0] == 1.0f);
    assert_true(ga_run_last_record(rig.run)->loss == 0.5);
    ga_run_rig_close(&rig);
}

static void test_24_a_skipped_window_touches_nothing(void **state)
{
    struct ga_run_rig rig;
    struct ga_version before;
    float weight = 0, moments[2];

    (void)state;
    open_quadratic(&rig, "lambda_1,c_1\n1,0\n" PITFALL_BAD_ROW "2,0\n",
                   "replicas 1 accum 1 batch 1 nonfinite skip optimizer adam lr 0.1 "
                   "schedule step(1,0.5)");
    ga_run_rig_updates(&rig, 1);
    before = *ga_run_version(rig.run);
    weight = before.weights[0];
    memcpy(moments, before.state, sizeof moments);
    ga_run_rig_updates(&rig, 1);
    assert_memory_equal(&ga_run_version(rig.run)->scalars, &before.scalars, sizeof before.scalars);
    assert_memory_equal(&ga_run_version(rig.run)->weights[0], &weight, sizeof weight);
    assert_memory_equal(ga_run_version(rig.run)->state, moments, sizeof moments);
    assert_int_equal(ga_run_version(rig.run)->number, 1);
    assert_int_equal(ga_run_counters(rig.run)->micros, 2);
    assert_int_equal(ga_run_counters(rig.run)->updates, 1);
    assert_int_equal(ga_run_counters(rig.run)->skipped, 1);
    assert_int_equal(ga_run_counters(rig.run)->examples, 1);
    ga_run_rig_updates(&rig, 1);
    assert_true(ga_run_last_record(rig.run)->lr == 0.05);
    assert_int_equal(ga_run_version(rig.run)->scalars.t, 2);
    ga_run_rig_close(&rig);
}

static void test_32_noise_scale(void **state)
{
    struct ga_run_rig rig;

    (void)state;
    open_quadratic(&rig,
                   "lambda_1,lambda_2,c_1,c_2\n3,0,0,0\n3,0,0,0\n3,0,0,0\n3,0,0,0\n"
                   "1,0,0,0\n1,0,0,0\n1,0,0,0\n1,0,0,0\n",
                   "replicas 2 accum 1 batch 4 lr 0");
    for (int k = 0; k < 3; k++) {
        ga_run_rig_updates(&rig, 1);
        assert_close(ga_run_last_record(rig.run)->noise_signal, 3.0, 1e-12);
        assert_close(ga_run_last_record(rig.run)->noise_trace, 8.0, 1e-12);
        assert_close(ga_run_metric(rig.run, GA_METRIC_NOISE_SCALE, -1), 8.0 / 3.0, 1e-12);
    }
    ga_run_rig_close(&rig);
}

static void check_strided(const char *settings)
{
    struct ga_run_rig rig;
    struct ga_net net;
    float *weights = NULL;

    ga_test_parabola_net(&net);
    weights = ga_test_reference_weights("parabola/init.safetensors", &net);
    ga_run_rig_open(&rig, &(struct ga_test_start){.settings = settings,
                                                  .weights = weights,
                                                  .weights_count = net.parameters});
    ga_run_rig_updates(&rig, 1);
    assert_close(ga_run_rig_dataset_loss(&rig), 28.737088, 1e-6);
    ga_run_rig_updates(&rig, 99);
    assert_close(ga_run_rig_dataset_loss(&rig), 0.919187, 1e-6);
    ga_run_rig_close(&rig);
    free(weights);
}

/* Not 28.738193 and 0.920325: the mean of the shards' means. */
static void test_33_uneven_shards_equal_the_serial_run(void **state)
{
    (void)state;
    check_strided("replicas 4 accum 1 global 50 sharding strided lr 0.01");
    check_strided("replicas 1 accum 1 global 50 lr 0.01");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_11_the_schedule_counts_updates),
        cmocka_unit_test(test_12_the_schedule_does_not_count_replicas),
        cmocka_unit_test(test_13_adam_first_moves_by_lr),
        cmocka_unit_test(test_14_momentum_does_not_coast_over_skipped_windows),
        cmocka_unit_test(test_15_clip_acts_once_on_the_mean),
        cmocka_unit_test(test_16_clip_looks_at_the_mean_not_the_sum),
        cmocka_unit_test(test_17_clip_acts_after_the_reduction),
        cmocka_unit_test(test_18_the_norm_does_not_grow_with_replicas),
        cmocka_unit_test(test_19_one_all_reduce_per_update_whatever_a),
        cmocka_unit_test(test_22_one_replicas_nan_skips_the_window_of_all),
        cmocka_unit_test(test_23_an_infinite_window_leaves_nothing_behind),
        cmocka_unit_test(test_24_a_skipped_window_touches_nothing),
        cmocka_unit_test(test_32_noise_scale),
        cmocka_unit_test(test_33_uneven_shards_equal_the_serial_run),
    };

    return ga_test_main(tests);
}
