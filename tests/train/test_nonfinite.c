/* Values that are not finite or leave the exact range: where it stops, what it says, what it keeps.
 */
#include "support/support.h"

#include <math.h>
#include <string.h>

#include "train/support/engine_rig.h"
#include "train/support/pitfall.h"
#include "train/support/run_rig.h"

static void check_says(const struct ga_stop *stop, const char *part)
{
    if (!strstr(stop->error.text, part))
        fail_msg("\"%s\" is not in \"%s\"", part, stop->error.text);
}

static void test_divergence_stops_and_back_is_finite(void **state)
{
    struct ga_engine_rig rig;
    struct ga_stop stop;
    struct ga_counters before, after;
    uint64_t hash = 0;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.settings = "lr 10"});
    stop = ga_engine_rig_move(&rig, GA_MOVE_UPDATES, 500);
    assert_int_equal(stop.reason, GA_STOP_NONFINITE);
    assert_int_equal(stop.error.code, GA_ENONFINITE);
    assert_int_equal(stop.error.update, stop.updates + 1);
    assert_in_range(stop.error.replica, 0, 1);
    assert_in_range(stop.error.micro, 1, 5);
    check_says(&stop, "update ");
    check_says(&stop, "replica ");
    check_says(&stop, "micro-batch ");
    check_says(&stop, "layers.");
    check_says(&stop, "go back");
    assert_true(isfinite(ga_engine_rig_weight(&rig, 0)));
    assert_false(stop.at_boundary);
    before = ga_engine_rig_counters(&rig);
    hash = ga_engine_rig_hash(&rig);
    stop = ga_engine_rig_move(&rig, GA_MOVE_EVENTS, 1);
    assert_int_equal(stop.reason, GA_STOP_NONFINITE);
    after = ga_engine_rig_counters(&rig);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(ga_engine_rig_hash(&rig), hash);
    stop = ga_engine_rig_go(&rig, GA_MOVE_BACK_UPDATES, 1);
    assert_true(stop.at_boundary);
    assert_true(isfinite(ga_engine_rig_metric(&rig, GA_METRIC_PARAM_NORM, -1)));
    ga_engine_rig_set(&rig, "lr 1e-9");
    ga_engine_rig_move(&rig, GA_MOVE_GOTO, 0);
    ga_engine_rig_set(&rig, "lr 0.01");
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 50);
    assert_true(ga_engine_rig_metric(&rig, GA_METRIC_DATASET_LOSS, -1) < 10);
    ga_engine_rig_close(&rig);
}

struct fault {
    const char *csv, *part;
    int32_t replica, micro;
};

/* Six rows: P=2, A=3, b=1. The smallest (replica, micro-batch) is named, whatever came first. */
static const struct fault faults[] = {
    {"lambda_1,c_1\n1,0\n1,0\n1,0\n1,0\n" PITFALL_BAD_ROW PITFALL_BAD_ROW, "is not finite", 1, 2},
    {"lambda_1,c_1\n1,0\n1,0\n" PITFALL_BAD_ROW PITFALL_BAD_ROW "1,0\n1,0\n", "is not finite", 0,
     3},
    {"lambda_1,c_1\n1,0\n1,0\n1,0\n2e8,0\n1,0\n1,0\n",
     "beyond the exact range 134,217,728 (scale the data or use numerics fast)", 1, 1},
    {"lambda_1,c_1\n1,0\n1,0\n1,0\n1,0\n1,0\n1e-23,-1e31\n", "the loss is not finite", 1, 3},
    {"lambda_1,lambda_2,c_1,c_2\n1,1,0,0\n1,2e8,0,0\n1,1,0,0\n1,1,0,0\n1,1,0,0\n1,1,0,0\n",
     "the gradient of weight is beyond", 0, 2},
};

static void check_fault(const struct fault *fault, const char *slow)
{
    char settings[128] = "replicas 2 accum 3 batch 1 jitter ";
    struct ga_engine_rig rig;
    struct ga_stop stop;

    ga_engine_rig_open(&rig, &(struct ga_test_start){.csv = fault->csv,
                                                     .data = PITFALL_QUADRATIC,
                                                     .settings = strcat(settings, slow)});
    stop = ga_engine_rig_move(&rig, GA_MOVE_UPDATES, 1);
    assert_int_equal(stop.reason, GA_STOP_NONFINITE);
    check_says(&stop, fault->part);
    assert_int_equal(stop.error.update, 1);
    assert_int_equal(stop.error.replica, fault->replica);
    assert_int_equal(stop.error.micro, fault->micro);
    assert_true(ga_engine_rig_weight(&rig, 0) == 1.0f);
    ga_engine_rig_close(&rig);
}

static void test_the_smallest_place_is_named(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
        check_fault(&faults[k], "constant");
        check_fault(&faults[k], "exponential");
    }
}

static void test_the_tensor_is_named(void **state)
{
    struct ga_engine_rig rig;
    struct ga_stop stop;

    (void)state;
    ga_engine_rig_open(
        &rig, &(struct ga_test_start){.csv = "x,y\n1,1\n1,1e20\n",
                                      .settings = "model 1-2-1 activation relu replicas 1 accum 2 "
                                                  "batch 1 init zeros"});
    stop = ga_engine_rig_move(&rig, GA_MOVE_UPDATES, 1);
    assert_int_equal(stop.reason, GA_STOP_NONFINITE);
    check_says(&stop, "update 1, replica 0, micro-batch 2: the gradient of layers.1.bias");
    ga_engine_rig_close(&rig);
}

/* Discarding the window is a way out: it counts as skipped and nothing moves. */
static void test_discard_leads_out(void **state)
{
    struct ga_engine_rig rig;
    struct ga_change change;
    struct ga_stop stop;

    (void)state;
    ga_engine_rig_open(&rig,
                       &(struct ga_test_start){.csv = "lambda_1,c_1\n1,0\n" PITFALL_BAD_ROW "2,0\n",
                                               .data = PITFALL_QUADRATIC,
                                               .settings = "replicas 1 accum 1 batch 1 lr 0.5"});
    stop = ga_engine_rig_move(&rig, GA_MOVE_UPDATES, 3);
    assert_int_equal(stop.reason, GA_STOP_NONFINITE);
    assert_int_equal(stop.updates, 1);
    ga_test_ok(ga_engine_discard(rig.engine, &change));
    assert_int_equal(change.from_update, 2);
    assert_int_equal(ga_engine_rig_counters(&rig).skipped, 1);
    assert_true(ga_engine_rig_weight(&rig, 0) == 0.5f);
    stop = ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 1);
    assert_int_equal(stop.updates, 2);
    assert_true(ga_engine_rig_weight(&rig, 0) == 0.0f);
    ga_engine_rig_close(&rig);
}

/* `skip` and `apply` are the same for every split. */
static uint64_t hash_of(const char *rule, const char *split)
{
    char settings[256];
    struct ga_run_rig rig;
    uint64_t hash = 0;

    strcat(strcat(strcpy(settings, rule), " "), split);
    ga_run_rig_open(&rig, &(struct ga_test_start){
                              .csv = "lambda_1,lambda_2,c_1,c_2\n1,1,0,0\n1,3,0,2\n2,2e8,0,0\n"
                                     "2,1,0,0\n1,1,5,0\n3,1,0,0\n",
                              .data = PITFALL_QUADRATIC,
                              .settings = settings});
    ga_run_rig_updates(&rig, 6);
    hash = ga_run_hash(rig.run);
    if (strncmp(rule, "nonfinite apply", 15) == 0)
        assert_true(isnan(ga_run_rig_weight(&rig, 1)) && isfinite(ga_run_rig_weight(&rig, 0)));
    else
        assert_true(isfinite(ga_run_rig_weight(&rig, 1)));
    ga_run_rig_close(&rig);
    return hash;
}

static void test_skip_and_apply_do_not_depend_on_the_split(void **state)
{
    const char *const splits[] = {"replicas 1 accum 1 global 3", "replicas 2 accum 1 global 3",
                                  "replicas 3 accum 2 global 3", "replicas 1 accum 3 global 3"};

    (void)state;
    for (size_t k = 1; k < sizeof splits / sizeof *splits; k++) {
        assert_int_equal(hash_of("nonfinite skip lr 0.1", splits[k]),
                         hash_of("nonfinite skip lr 0.1", splits[0]));
        assert_int_equal(hash_of("nonfinite apply lr 0.1", splits[k]),
                         hash_of("nonfinite apply lr 0.1", splits[0]));
    }
}

static void test_skipped_windows_are_counted(void **state)
{
    struct ga_run_rig rig;
    const struct ga_counters *counters = NULL;

    (void)state;
    ga_run_rig_open(&rig, &(struct ga_test_start){
                              .csv = "lambda_1,c_1\n1,0\n1,0\n1,0\n" PITFALL_BAD_ROW,
                              .data = PITFALL_QUADRATIC,
                              .settings = "replicas 2 accum 1 batch 1 nonfinite skip lr 0.1"});
    counters = ga_run_counters(rig.run);
    ga_run_rig_updates(&rig, 10);
    assert_int_equal(counters->updates, 5);
    assert_int_equal(counters->skipped, 5);
    assert_int_equal(counters->examples, 10);
    assert_int_equal(counters->examples_unused, 10);
    assert_int_equal(counters->items_applied, 10);
    assert_int_equal(counters->items_dropped, 10);
    assert_int_equal(counters->micros, 20);
    ga_run_rig_close(&rig);
}

/* Both replicas are at rows that stop the run: both give them up, and go on. */
static void test_discard_leads_out_of_push_modes(void **state)
{
    static const char *const modes[] = {"mode async", "mode ssp bound 1", "mode buffered buffer 2",
                                        "mode buffered bound 0"};

    (void)state;
    for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) {
        struct ga_run_rig rig;
        int stops = 0;

        ga_run_rig_open(&rig, &(struct ga_test_start){
                                  .csv = "lambda_1,c_1\n1,0\n1,0\n" PITFALL_BAD_ROW PITFALL_BAD_ROW,
                                  .data = PITFALL_QUADRATIC,
                                  .settings = "replicas 2 accum 1 batch 1 lr 0.1"});
        ga_test_ok(ga_run_rig_set(&rig, modes[k]));
        while (ga_run_counters(rig.run)->updates < 20) {
            int code = ga_run_event(rig.run);

            if (code < 0) {
                ga_test_refused(code, GA_ENONFINITE, "is not finite");
                ga_test_ok(ga_run_discard(rig.run));
                stops++;
            }
        }
        assert_true(stops >= 6);
        ga_run_rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_divergence_stops_and_back_is_finite),
        cmocka_unit_test(test_the_smallest_place_is_named),
        cmocka_unit_test(test_the_tensor_is_named),
        cmocka_unit_test(test_discard_leads_out),
        cmocka_unit_test(test_skip_and_apply_do_not_depend_on_the_split),
        cmocka_unit_test(test_skipped_windows_are_counted),
        cmocka_unit_test(test_discard_leads_out_of_push_modes),
    };

    return ga_test_main(tests);
}
