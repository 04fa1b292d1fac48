/* What can be looked at: the explanation of every event, accumulators, metrics, predictions. */
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/support/pitfall.h"
#include "train/support/run_rig.h"

static const struct ga_test_start looked_at[] = {
    {.settings = "replicas 3 accum 2 global 10 clip 1 momentum 0.9 nesterov on weight-decay 0.1"},
    {.settings =
         "replicas 4 accum 2 batch 3 backup 2 late finish jitter exponential optimizer adam"},
    {.settings = "replicas 4 accum 3 batch 1 backup 1 jitter exponential optimizer adamw "
                 "weight-decay 0.1 sharding strided reduce sum lr 1e-4"},
    {.settings = "replicas 3 accum 2 batch 3 mode local period 4 momentum 0.9 jitter exponential"},
    {.csv = "lambda_1,lambda_2,c_1,c_2,w\n1,1,0,2,1\n"
            "3e38,1,-1,0,1\n"
            "1,2,3,4,0\n1,1,1,1,0\n",
     .data = "kind=quadratic weight=w",
     .settings = "replicas 2 accum 1 batch 1 nonfinite skip"},
    {.file = GA_TOP_DIR "/data/digits.csv",
     .data = "kind=class scale=0.0625 train=100",
     .settings = "model 64-3-10 loss xent activation relu replicas 2 accum 2 batch 5"},
};

static void explain_all(struct ga_run *run)
{
    struct ga_text text = GA_TEXT_INIT;
    size_t last = ga_run_net_of(run)->parameters - 1;

    for (size_t position = 0; position <= last; position += last > 0 ? last : 1) {
        ga_text_clear(&text);
        ga_test_ok(ga_run_explain(run, position, &text));
        assert_true(strlen(ga_text_get(&text)) > 10);
        assert_int_equal(ga_text_get(&text)[strlen(ga_text_get(&text)) - 1], '\n');
    }
    ga_test_refused(ga_run_explain(run, last + 1, &text), GA_ERANGE, "there is no parameter");
    ga_text_free(&text);
}

/* Explaining changes nothing. */
static void test_every_event_is_explained(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof looked_at / sizeof *looked_at; k++) {
        struct ga_run_rig rig, blind;

        ga_run_rig_open(&rig, &looked_at[k]);
        ga_run_rig_open(&blind, &looked_at[k]);
        for (int i = 0; i < 90; i++) {
            explain_all(rig.run);
            ga_run_rig_events(&rig, 1);
            ga_run_rig_events(&blind, 1);
            /* It is this one that is told of, not the one before. */
            assert_int_equal(ga_run_last_event(rig.run)->sequence,
                             ga_run_counters(rig.run)->events);
        }
        assert_int_equal(ga_run_hash(rig.run), ga_run_hash(blind.run));
        ga_run_rig_close(&blind);
        ga_run_rig_close(&rig);
    }
}

static void check_says(struct ga_run_rig *rig, const char *part)
{
    struct ga_text text = GA_TEXT_INIT;

    ga_test_ok(ga_run_explain(rig->run, 0, &text));
    if (!strstr(ga_text_get(&text), part))
        fail_msg("\"%s\" is not in\n%s", part, ga_text_get(&text));
    ga_text_free(&text);
}

/* R1 on two replicas of two micro-batches of two: -4 x (1 4 9 16 | 25 36 49 64). */
static void test_the_numbers_of_r1(void **state)
{
    struct ga_run_rig rig;

    (void)state;
    ga_run_rig_open(&rig, &(struct ga_test_start){.csv = PITFALL_R1,
                                                  .settings = PITFALL_R1_SETTINGS
                                                  "replicas 2 accum 2 batch 2"});
    ga_run_rig_micros(&rig, 3);
    check_says(&rig, "update 1, micro-batch 2/2 on replica 0, weights of version 0");
    check_says(&rig, "examples               2..3 (2)   loss 50   |g| 50");
    check_says(&rig, "replica 0   sum -20 + -100 = -120   weight 4   mean -30");
    check_says(&rig, "so far      -364 / 6 = -60.6667   (6 of the window's 8 examples)");
    ga_run_rig_until(&rig, GA_EVENT_REDUCE);
    check_says(&rig, "replica 0   sum -120   weight 4   mean -30");
    check_says(&rig, "replica 1   sum -696   weight 4   mean -174");
    check_says(&rig, "all-reduce  sum -816   weight 8");
    check_says(&rig, "divide once -816 / 8 = -102");
    check_says(&rig,
               "TensorFlow  its optimizers SUM over replicas: 2 replica means would add up to "
               "about -204;");
    ga_run_rig_until(&rig, GA_EVENT_APPLY);
    check_says(&rig, "0 - lr 0.02 * -102 = 2.04");
    ga_run_rig_close(&rig);
}

static void test_accumulators(void **state)
{
    struct ga_run_rig rig;
    double sum = NAN, weight = NAN;

    (void)state;
    ga_run_rig_open(&rig, &(struct ga_test_start){.csv = PITFALL_R1,
                                                  .settings = PITFALL_R1_SETTINGS
                                                  "replicas 2 accum 2 batch 2"});
    ga_test_ok(ga_run_accumulator(rig.run, 1, &sum, &weight));
    assert_true(sum == 0 && weight == 0);
    assert_null(ga_run_gradient(rig.run));
    ga_run_rig_micros(&rig, 4);
    ga_test_ok(ga_run_accumulator(rig.run, 0, &sum, &weight));
    assert_true(sum == -120 && weight == 4);
    ga_test_ok(ga_run_accumulator(rig.run, 1, &sum, &weight));
    assert_true(sum == -696 && weight == 4);
    assert_true(ga_run_metric(rig.run, GA_METRIC_ACCUM_NORM, 1) == 174);
    assert_true(ga_run_metric(rig.run, GA_METRIC_ACCUM_WEIGHT, 1) == 4);
    ga_test_refused(ga_run_accumulator(rig.run, 2, &sum, &weight), GA_ERANGE, "expected 0..1");
    ga_run_rig_until(&rig, GA_EVENT_CLEAR);
    assert_true(ga_run_gradient(rig.run)[0] == -102.0f);
    ga_run_rig_close(&rig);
}

static double replica_metric(const struct ga_run_rig *rig, enum ga_metric metric, int32_t replica)
{
    return ga_run_metric(rig->run, metric, replica);
}

static void test_metrics_of_replicas(void **state)
{
    struct ga_run_rig rig;

    (void)state;
    ga_run_rig_open(&rig, &(struct ga_test_start){.csv = PITFALL_R1,
                                                  .settings = PITFALL_R1_SETTINGS
                                                  "replicas 2 accum 2 batch 2"});
    assert_true(isnan(replica_metric(&rig, GA_METRIC_REPLICA_LOSS, 0)));
    assert_true(isnan(replica_metric(&rig, GA_METRIC_COSINE, 1)));
    assert_true(isnan(replica_metric(&rig, GA_METRIC_LOSS, -1)));
    assert_true(isnan(replica_metric(&rig, GA_METRIC_NOISE_SCALE, -1)));
    ga_run_rig_updates(&rig, 1);
    assert_true(replica_metric(&rig, GA_METRIC_REPLICA_LOSS, 0) == 30);
    assert_true(replica_metric(&rig, GA_METRIC_REPLICA_LOSS, 1) == 174);
    assert_true(replica_metric(&rig, GA_METRIC_REPLICA_NORM, 1) == 174);
    assert_close(replica_metric(&rig, GA_METRIC_COSINE, 0), 1, 1e-12);
    assert_true(replica_metric(&rig, GA_METRIC_STALENESS, 0) == 0);
    assert_true(replica_metric(&rig, GA_METRIC_LOSS, -1) == 102);
    assert_true(replica_metric(&rig, GA_METRIC_GRAD_NORM, -1) == 102);
    assert_close(replica_metric(&rig, GA_METRIC_UPDATE_NORM, -1), 2.04, 1e-6);
    assert_close(replica_metric(&rig, GA_METRIC_PARAM_NORM, -1), 2.04, 1e-6);
    assert_true(replica_metric(&rig, GA_METRIC_WINDOW, -1) == 8);
    assert_true(replica_metric(&rig, GA_METRIC_EXAMPLES, -1) == 8);
    assert_true(replica_metric(&rig, GA_METRIC_APPLIED, -1) == 2);
    assert_true(replica_metric(&rig, GA_METRIC_IN_FLIGHT, -1) == 0);
    assert_true(replica_metric(&rig, GA_METRIC_IDLE, -1) == 0);
    assert_close(replica_metric(&rig, GA_METRIC_VIRTUAL_RATE, -1), 2000, 1e-12);
    assert_true(isnan(replica_metric(&rig, GA_METRIC_LOSS, 7)));
    assert_true(isnan(replica_metric(&rig, GA_METRIC_LR, 0)));
    assert_true(isnan(ga_run_metric(rig.run, GA_METRIC_COUNT, -1)));
    assert_true(isnan(replica_metric(&rig, GA_METRIC_ACCURACY, -1)));
    assert_true(isnan(replica_metric(&rig, GA_METRIC_TEST_LOSS, -1)));
    ga_run_rig_close(&rig);
}

/* The last replica's smaller share makes it wait: 3, 3, 2 examples. */
static void test_idle_and_clock_gap(void **state)
{
    struct ga_run_rig rig;

    (void)state;
    ga_run_rig_open(&rig, &(struct ga_test_start){.data = "parabola n=8",
                                                  .settings = "replicas 3 accum 1 global 8"});
    ga_run_rig_updates(&rig, 5);
    assert_int_equal(ga_run_now(rig.run), 15000000);
    assert_true(replica_metric(&rig, GA_METRIC_IDLE, 0) == 0);
    assert_close(replica_metric(&rig, GA_METRIC_IDLE, 2), 1.0 / 3, 1e-12);
    assert_close(replica_metric(&rig, GA_METRIC_IDLE, -1), 1.0 / 9, 1e-12);
    assert_true(replica_metric(&rig, GA_METRIC_CLOCK_GAP, -1) == 0);
    ga_run_rig_until(&rig, GA_EVENT_PUSH);
    assert_true(replica_metric(&rig, GA_METRIC_CLOCK_GAP, -1) == 1);
    assert_true(replica_metric(&rig, GA_METRIC_IN_FLIGHT, -1) == 3);
    ga_run_rig_close(&rig);
}

/* A replica that comes later has not waited before. */
static void test_idle_counts_from_the_start_of_a_replica(void **state)
{
    struct ga_run_rig rig;

    (void)state;
    ga_run_rig_open(&rig, &(struct ga_test_start){.data = "parabola n=8",
                                                  .settings = "replicas 2 accum 1 global 8"});
    ga_run_rig_updates(&rig, 5);
    ga_test_ok(ga_run_rig_set(&rig, "replicas 4"));
    ga_run_rig_updates(&rig, 5);
    for (int r = 0; r < 4; r++)
        assert_true(replica_metric(&rig, GA_METRIC_IDLE, r) == 0);
    assert_true(replica_metric(&rig, GA_METRIC_IDLE, -1) == 0);
    ga_run_rig_close(&rig);
}

static void test_predictions(void **state)
{
    struct ga_run_rig rig;
    float outputs[8];

    (void)state;
    ga_run_rig_open(&rig, &(struct ga_test_start){.csv = PITFALL_R1,
                                                  .settings = PITFALL_R1_SETTINGS
                                                  "replicas 1 accum 1 batch 8"});
    ga_run_rig_updates(&rig, 1);
    ga_test_ok(ga_run_predict(rig.run, 0, 8, outputs));
    for (size_t i = 0; i < 8; i++)
        assert_close((double)outputs[i], 2.04 * (double)(i + 1), 1e-6);
    ga_test_ok(ga_run_predict(rig.run, 8, 0, outputs));
    ga_test_refused(ga_run_predict(rig.run, 8, 1, outputs), GA_ERANGE, "the data has 8");
    ga_test_refused(ga_run_predict(rig.run, SIZE_MAX, 2, outputs), GA_ERANGE, "the data has 8");
    ga_test_refused(ga_run_predict(rig.run, 1, SIZE_MAX, outputs), GA_ERANGE, "the data has 8");
    ga_run_rig_close(&rig);
    ga_run_rig_open(&rig, &(struct ga_test_start){.data = "quadratic lambda=1"});
    ga_test_refused(ga_run_predict(rig.run, 0, 1, outputs), GA_ESTATE, "no outputs");
    ga_run_rig_close(&rig);
}

/* The loss over all rows is found once for a version of the weights. */
static void test_evaluation_follows_the_weights(void **state)
{
    struct ga_run_rig rig;
    double first = NAN;

    (void)state;
    ga_run_rig_open(&rig, &(struct ga_test_start){.settings = "replicas 1 accum 1 batch 50"});
    first = ga_run_rig_dataset_loss(&rig);
    ga_run_rig_events(&rig, 4);
    assert_true(ga_run_rig_dataset_loss(&rig) == first);
    ga_run_rig_updates(&rig, 1);
    assert_true(ga_run_last_record(rig.run)->loss == first);
    assert_true(ga_run_rig_dataset_loss(&rig) != first);
    ga_run_rig_close(&rig);
}

struct named {
    const char *text;
    int code;
    size_t first, count;
};

static void test_parameters_by_name(void **state)
{
    const struct named names[] = {
        {"layers.0.weight", GA_OK, 0, 5},
        {"layers.0.bias", GA_OK, 5, 5},
        {"layers.1.weight", GA_OK, 10, 5},
        {"layers.1.bias", GA_OK, 15, 1},
        {"layers.0.weight[2]", GA_OK, 2, 1},
        {"layers.0.weight[4,0]", GA_OK, 4, 1},
        {"layers.1.weight[0,4]", GA_OK, 14, 1},
        {"layers.1.weight[0,5]", GA_ERANGE, 0, 0},
        {"layers.1.weight[1,0]", GA_ERANGE, 0, 0},
        {"layers.0.bias[5]", GA_ERANGE, 0, 0},
        {"layers.0.weight[-1]", GA_ERANGE, 0, 0},
        {"layers.0.weight[18446744073709551616]", GA_ERANGE, 0, 0},
        {"layers.0.weight[]", GA_EINPUT, 0, 0},
        {"layers.0.weight[1", GA_EINPUT, 0, 0},
        {"layers.0.weight[1]x", GA_EINPUT, 0, 0},
        {"layers.0.weight[1,]", GA_EINPUT, 0, 0},
        {"layers.0.weight[1.5]", GA_EINPUT, 0, 0},
        {"layers.2.weight", GA_EINPUT, 0, 0},
        {"layers.0.weigh", GA_EINPUT, 0, 0},
        {"", GA_EINPUT, 0, 0},
        {"[", GA_EINPUT, 0, 0},
    };
    struct ga_run_rig rig;

    (void)state;
    ga_run_rig_open(&rig, &(struct ga_test_start){.settings = NULL});
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        size_t first = 777, count = 777;
        int code = ga_run_parameters(rig.run, names[k].text, &first, &count);

        if (code != names[k].code)
            fail_msg("\"%s\" gives %d: %s", names[k].text, code, ga_error_text());
        assert_int_equal(first, code < 0 ? 777 : names[k].first);
        assert_int_equal(count, code < 0 ? 777 : names[k].count);
    }
    ga_run_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_event_is_explained),
        cmocka_unit_test(test_the_numbers_of_r1),
        cmocka_unit_test(test_accumulators),
        cmocka_unit_test(test_metrics_of_replicas),
        cmocka_unit_test(test_idle_and_clock_gap),
        cmocka_unit_test(test_idle_counts_from_the_start_of_a_replica),
        cmocka_unit_test(test_predictions),
        cmocka_unit_test(test_evaluation_follows_the_weights),
        cmocka_unit_test(test_parameters_by_name),
    };

    return ga_test_main(tests);
}
