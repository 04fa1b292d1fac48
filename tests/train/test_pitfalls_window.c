/*
 * Pitfalls of the window: what is summed, what it is divided by, and when it ends. Row 26 of the
 * table (dropout or noise that depends on the rank) does not apply: no draw is made per example
 * while training; the order of examples and the item times are covered by the property tests.
 */
#include "support/support.h"

#include <math.h>
#include <string.h>

#include "train/support/engine_rig.h"
#include "train/support/pitfall.h"
#include "train/support/run_rig.h"

/* The weight after one update of R1 under a split. */
static double step_r1(const char *settings)
{
    struct ga_run_rig rig;
    double weight = NAN;

    ga_run_rig_open(&rig, &(struct ga_test_start){.csv = PITFALL_R1, .settings = settings});
    ga_run_rig_updates(&rig, 1);
    assert_int_equal(ga_run_counters(rig.run)->examples, 8);
    weight = (double)ga_run_rig_weight(&rig, 0);
    ga_run_rig_close(&rig);
    return weight;
}

/* Not 8.16 (sum over A), not 0.51 (divided twice). */
static void test_01_accumulation_gives_the_mean_over_the_window(void **state)
{
    (void)state;
    assert_close(step_r1(PITFALL_R1_SETTINGS "replicas 1 accum 4 batch 2"), 2.04, 1e-6);
    assert_close(step_r1(PITFALL_R1_SETTINGS "replicas 1 accum 1 batch 8"), 2.04, 1e-6);
}

/* Not 4.08 (sum over P). */
static void test_02_replicas_give_the_mean_over_the_window(void **state)
{
    (void)state;
    assert_close(step_r1(PITFALL_R1_SETTINGS "replicas 2 accum 1 batch 4"), 2.04, 1e-6);
    assert_close(step_r1(PITFALL_R1_SETTINGS "replicas 2 accum 2 batch 2"), 2.04, 1e-6);
}

/* The sum only where it is asked for: 2.04 * 8. */
static void test_02_reduce_sum_is_the_sum(void **state)
{
    (void)state;
    assert_close(step_r1(PITFALL_R1_SETTINGS "replicas 2 accum 2 batch 2 reduce sum"), 16.32, 1e-6);
}

static struct ga_update_record record_of(const char *csv, const char *data, const char *settings)
{
    struct ga_run_rig rig;
    struct ga_update_record record;

    ga_run_rig_open(&rig, &(struct ga_test_start){.csv = csv, .data = data, .settings = settings});
    ga_run_rig_updates(&rig, 1);
    record = *ga_run_last_record(rig.run);
    ga_run_rig_close(&rig);
    return record;
}

/* Not 1 (the last), 10 (the sum) or 0.25. */
static void test_03_the_logged_loss_is_the_mean_of_the_window(void **state)
{
    const char *csv = "lambda_1,c_1\n8,0\n4,0\n6,0\n2,0\n";

    (void)state;
    assert_true(record_of(csv, PITFALL_QUADRATIC, "replicas 1 accum 4 batch 1").loss == 2.5);
    assert_true(record_of(csv, PITFALL_QUADRATIC, "replicas 4 accum 1 batch 1").loss == 2.5);
    assert_true(record_of(csv, PITFALL_QUADRATIC, "replicas 2 accum 2 batch 1").loss == 2.5);
}

static void test_04_a_tail_shorter_than_a_window_is_one_update(void **state)
{
    struct ga_engine_rig rig;
    struct ga_stop stop;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.data = "parabola n=3",
                                                     .settings = "replicas 1 accum 4 batch 1"});
    stop = ga_engine_rig_go(&rig, GA_MOVE_EPOCHS, 1);
    assert_int_equal(stop.updates, 1);
    assert_int_equal(stop.micros, 3);
    assert_true(stop.at_boundary);
    ga_engine_rig_close(&rig);
}

static void check_nothing_accumulated(const struct ga_run_rig *rig)
{
    double sums[16], weight = NAN;

    assert_int_equal(ga_run_phase(rig->run), GA_PHASE_IDLE);
    for (size_t r = 0; r < ga_run_replicas(rig->run); r++) {
        ga_test_ok(ga_run_accumulator(rig->run, r, sums, &weight));
        assert_true(weight == 0);
        for (size_t i = 0; i < ga_run_net_of(rig->run)->parameters; i++)
            assert_true(sums[i] == 0);
        assert_int_equal(ga_run_replica(rig->run, r)->micro, 0);
        assert_true(ga_run_metric(rig->run, GA_METRIC_ACCUM_WEIGHT, (int32_t)r) == 0);
        assert_true(ga_run_metric(rig->run, GA_METRIC_ACCUM_NORM, (int32_t)r) == 0);
    }
}

/* Windows of 2 and 1: the third must be the first again, not leak into the next epoch. */
static void test_05_nothing_is_left_after_a_short_window(void **state)
{
    struct ga_run_rig rig;
    double first = NAN;

    (void)state;
    ga_run_rig_open(&rig, &(struct ga_test_start){.data = "parabola n=3",
                                                  .settings = "replicas 1 accum 2 batch 1 lr 0"});
    for (int k = 0; k < 6; k++) {
        ga_run_rig_updates(&rig, 1);
        check_nothing_accumulated(&rig);
        assert_int_equal(ga_run_last_record(rig.run)->window_examples, k % 2 == 0 ? 2 : 1);
        if (k == 0)
            first = ga_run_last_record(rig.run)->grad_norm;
        if (k % 2 == 0)
            assert_true(ga_run_last_record(rig.run)->grad_norm == first);
    }
    ga_run_rig_close(&rig);
}

static void test_06_updates_come_after_every_fifth_micro_batch(void **state)
{
    struct ga_run_rig rig;

    (void)state;
    ga_run_rig_open(&rig, &(struct ga_test_start){.data = "parabola n=20",
                                                  .settings = "replicas 1 accum 5 batch 1"});
    for (uint64_t k = 1; k <= 4; k++) {
        ga_run_rig_until(&rig, GA_EVENT_APPLY);
        assert_int_equal(ga_run_counters(rig.run)->micros, 5 * k);
        assert_int_equal(ga_run_counters(rig.run)->updates, k);
    }
    ga_run_rig_close(&rig);
}

/* Not -115.7778 (the mean of means). */
static void test_07_uneven_micro_batches_count_by_their_examples(void **state)
{
    struct ga_run_rig rig;

    (void)state;
    ga_run_rig_open(&rig, &(struct ga_test_start){.csv = PITFALL_R1,
                                                  .settings = PITFALL_R1_SETTINGS
                                                  "replicas 1 accum 3 global 8"});
    for (uint32_t k = 0; k < 3; k++) {
        ga_run_rig_micros(&rig, 1);
        assert_int_equal(ga_run_last_event(rig.run)->examples, k < 2 ? 3 : 2);
    }
    ga_run_rig_updates(&rig, 1);
    assert_true(ga_run_gradient(rig.run)[0] == -102.0f);
    ga_run_rig_close(&rig);
}

#define WEIGHTED "lambda_1,c_1,w\n1,0,10\n1,1,100\n"

/* 10/110, not 0.5. */
static void test_08_example_weights_weigh_micro_batches(void **state)
{
    struct ga_update_record record =
        record_of(WEIGHTED, "kind=quadratic weight=w", "replicas 1 accum 2 batch 1");

    (void)state;
    assert_close(record.grad_norm, 10.0 / 110.0, 1e-7);
    assert_true(record.window_weight == 110);
    assert_close(record.loss, 5.0 / 110.0, 1e-7);
}

static void test_09_example_weights_weigh_replicas(void **state)
{
    struct ga_update_record record =
        record_of(WEIGHTED, "kind=quadratic weight=w", "replicas 2 accum 1 batch 1");

    (void)state;
    assert_close(record.grad_norm, 10.0 / 110.0, 1e-7);
    assert_true(record.window_weight == 110);
}

static void test_10_a_window_of_weight_0_is_skipped(void **state)
{
    struct ga_run_rig rig;
    uint64_t hash = 0;

    (void)state;
    ga_run_rig_open(&rig, &(struct ga_test_start){.csv = "lambda_1,c_1,w\n1,0,0\n1,0,0\n1,0,1\n",
                                                  .data = "kind=quadratic weight=w",
                                                  .settings = "replicas 2 accum 1 batch 1"});
    hash = ga_run_hash(rig.run);
    ga_run_rig_updates(&rig, 1);
    assert_int_equal(ga_run_counters(rig.run)->updates, 0);
    assert_int_equal(ga_run_counters(rig.run)->skipped, 1);
    assert_int_equal(ga_run_hash(rig.run), hash);
    assert_false(ga_run_last_record(rig.run)->applied);
    ga_run_rig_updates(&rig, 1);
    assert_int_equal(ga_run_counters(rig.run)->updates, 1);
    assert_true(ga_run_last_record(rig.run)->grad_norm == 1);
    assert_true(isfinite(ga_run_rig_weight(&rig, 0)));
    ga_run_rig_close(&rig);
}

/* Not 1, 4 or 1.0. */
static void test_20_micro_gradients_1_2_3_4_have_the_mean_2_5(void **state)
{
    const char *csv = "lambda_1,c_1\n1,0\n2,0\n3,0\n4,0\n";

    (void)state;
    assert_true(record_of(csv, PITFALL_QUADRATIC, "replicas 1 accum 4 batch 1").grad_norm == 2.5);
    assert_true(record_of(csv, PITFALL_QUADRATIC, "replicas 2 accum 2 batch 1").grad_norm == 2.5);
}

/* Shards of 5 and 4 micro-batches: windows of 2+2, 2+2, 1+0. */
static void test_21_uneven_shards_finish(void **state)
{
    struct ga_engine_rig rig;
    struct ga_stop stop;

    (void)state;
    ga_engine_rig_open(
        &rig, &(struct ga_test_start){
                  .data = "parabola n=9",
                  .settings = "replicas 2 accum 2 batch 1 sharding contiguous tail short"});
    stop = ga_engine_rig_go(&rig, GA_MOVE_EPOCHS, 1);
    assert_int_equal(stop.updates, 3);
    assert_int_equal(stop.micros, 9);
    assert_int_equal(ga_engine_rig_record(&rig).window_examples, 1);
    ga_engine_rig_close(&rig);
}

static void sum_of_replica_0(const char *csv, const char *settings, double want)
{
    struct ga_run_rig rig;
    double sum = NAN, weight = NAN;

    ga_run_rig_open(
        &rig, &(struct ga_test_start){.csv = csv, .data = PITFALL_QUADRATIC, .settings = settings});
    ga_run_rig_until(&rig, GA_EVENT_PUSH);
    ga_test_ok(ga_run_accumulator(rig.run, 0, &sum, &weight));
    assert_true(sum == want);
    ga_run_rig_close(&rig);
}

/* 1.0 in a bfloat16 accumulator; a float32 one loses the 16 of the twin. */
static void test_25_small_terms_are_not_lost(void **state)
{
    char csv[8192] = "lambda_1,c_1\n1,0\n";
    char *end = csv + strlen(csv);

    (void)state;
    for (int i = 0; i < 256; i++)
        end = stpcpy(end, "0.00390625,0\n");
    sum_of_replica_0(csv, "replicas 1 accum 257 batch 1", 2.0);
    end = stpcpy(csv, "lambda_1,c_1\n16777216,0\n");
    for (int i = 0; i < 16; i++)
        end = stpcpy(end, "1,0\n");
    sum_of_replica_0(csv, "replicas 1 accum 17 batch 1", 16777232.0);
    sum_of_replica_0(csv, "replicas 1 accum 1 batch 17", 16777232.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_01_accumulation_gives_the_mean_over_the_window),
        cmocka_unit_test(test_02_replicas_give_the_mean_over_the_window),
        cmocka_unit_test(test_02_reduce_sum_is_the_sum),
        cmocka_unit_test(test_03_the_logged_loss_is_the_mean_of_the_window),
        cmocka_unit_test(test_04_a_tail_shorter_than_a_window_is_one_update),
        cmocka_unit_test(test_05_nothing_is_left_after_a_short_window),
        cmocka_unit_test(test_06_updates_come_after_every_fifth_micro_batch),
        cmocka_unit_test(test_07_uneven_micro_batches_count_by_their_examples),
        cmocka_unit_test(test_08_example_weights_weigh_micro_batches),
        cmocka_unit_test(test_09_example_weights_weigh_replicas),
        cmocka_unit_test(test_10_a_window_of_weight_0_is_skipped),
        cmocka_unit_test(test_20_micro_gradients_1_2_3_4_have_the_mean_2_5),
        cmocka_unit_test(test_21_uneven_shards_finish),
        cmocka_unit_test(test_25_small_terms_are_not_lost),
    };

    return ga_test_main(tests);
}
