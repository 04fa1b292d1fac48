/*
 * The table of laws on runs where they hold: identities to the last digit, means within what chance
 * allows, bounds never passed; and that what is measured is what happened since the settings.
 */
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "train/law.h"
#include "train/support/engine_rig.h"
#include "train/support/modes.h"
#include "train/support/random_start.h"

static void report(struct ga_engine_rig *rig, uint64_t updates, struct ga_law_report *out)
{
    ga_test_ok(ga_engine_laws(rig->engine, updates, true, out));
}

static const struct ga_law_row *find(const struct ga_law_report *report, const char *name)
{
    for (size_t i = 0; i < report->rows; i++)
        if (strcmp(report->row[i].name, name) == 0)
            return &report->row[i];
    return NULL;
}

static void open_items(struct ga_engine_rig *rig, const char *settings)
{
    char words[256];

    snprintf(words, sizeof words, "replicas 4 accum 1 global 24 base 1ms per-example 0 lr 0.001 %s",
             settings);
    ga_engine_rig_open(
        rig, &(struct ga_test_start){.data = "quadratic lambda=1 n=24", .settings = words});
}

/* A row that must be there, measured within `rel` of what it predicts, and what that is. */
struct expected {
    const char *settings;
    const char *name;
    double predicted, rel;
    enum ga_law_truth truth;
};

#define H4 (1 + 1 / 2.0 + 1 / 3.0 + 1 / 4.0)

static const struct expected cases[] = {
    {"mode sync", "window time", 1e-3, 1e-12, GA_LAW_EXACT},
    {"mode sync jitter exponential", "window time", 1e-3 * H4, 0.03, GA_LAW_MEAN},
    {"mode sync jitter exponential", "idle", 1 - 1 / H4, 0.05, GA_LAW_MEAN},
    {"mode sync jitter exponential backup 1", "window time", 1e-3 * (H4 - 1), 0.04, GA_LAW_MEAN},
    {"mode sync jitter exponential backup 1", "idle", 1 - 3 / (4 * (H4 - 1)), 0.05, GA_LAW_MEAN},
    {"mode sync jitter straggler(0.1,10)", "window time", 1e-3 * (1 + 9 * (1 - 0.6561)), 0.05,
     GA_LAW_MEAN},
    {"mode sync latency 1ms", "window time", 7e-3, 1e-12, GA_LAW_EXACT},
    {"mode delay lag 2", "mean staleness", 2, 2e-3, GA_LAW_MEAN},
    {"mode local period 5", "window time", 5e-3, 1e-12, GA_LAW_EXACT},
    {"mode async jitter exponential", "mean staleness", 3, 0.02, GA_LAW_MEAN},
    {"mode async jitter exponential", "pushes that are fresh", 0.25, 0.05, GA_LAW_MEAN},
    {"mode async jitter exponential", "items per second", 4000, 0.03, GA_LAW_MEAN},
    {"mode async latency 1ms", "items per second", 4000 / 3.0, 1e-2, GA_LAW_MEAN},
    {"mode buffered buffer 2 jitter exponential", "mean staleness", 1.5, 0.02, GA_LAW_MEAN},
    {"mode ssp bound 0 jitter exponential", "mean staleness", 1.5, 0.02, GA_LAW_MEAN},
    {"mode ssp bound 2 jitter exponential replicas 2", "items per second", 2000 * 6 / 7.0, 0.03,
     GA_LAW_MEAN},
    {"mode ssp bound 0 jitter exponential replicas 2", "items per second", 2000 * 2 / 3.0, 0.03,
     GA_LAW_MEAN},
    {"mode hogwild jitter exponential", "mean staleness", 3, 0.02, GA_LAW_MEAN},
};

static void test_laws_hold(void **state)
{
    const uint64_t updates = 10000;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ga_engine_rig rig;
        struct ga_law_report got;
        const struct ga_law_row *row = NULL;

        open_items(&rig, cases[i].settings);
        ga_engine_rig_go(&rig, GA_MOVE_UPDATES, updates);
        report(&rig, UINT64_MAX, &got);
        row = find(&got, cases[i].name);
        if (!row)
            fail_msg("%s: no row '%s'", cases[i].settings, cases[i].name);
        assert_close(row->predicted, cases[i].predicted, 1e-12);
        if (!ga_test_close(row->measured, row->predicted, cases[i].rel))
            fail_msg("%s, %s: measured %g, predicted %g", cases[i].settings, row->name,
                     row->measured, row->predicted);
        assert_int_equal(row->truth, cases[i].truth);
        assert_true(got.updates == updates || cases[i].rel > 0);
        ga_engine_rig_close(&rig);
    }
}

static void test_laws_that_do_not_apply_are_left_out(void **state)
{
    static const char *const absent[][2] = {
        {"mode sync", "mean staleness"},
        {"mode sync", "staleness, summed"},
        {"mode async", "window time"},
        {"mode async", "clock gap"},
        {"mode sync jitter lognormal(0.5)", "window time"},
        {"mode sync jitter exponential backup 1 late finish", "window time"},
        {"mode sync jitter straggler(0.1,10) backup 1", "window time"},
        {"mode local period 2 jitter exponential", "window time"},
        {"mode sync global 20", "window time"}, /* a short window ends the epoch */
        {"mode ssp bound 1", "staleness, summed"},
        {"mode ssp bound 1 jitter exponential", "items per second"},
        {"mode buffered bound 1", "mean staleness"},
        {"mode async optimizer adam", "comes to rest at w"},
        {"mode async optimizer adam", "lr * lambda_max"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        struct ga_engine_rig rig;
        struct ga_law_report got;

        open_items(&rig, absent[i][0]);
        ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 30);
        report(&rig, UINT64_MAX, &got);
        if (find(&got, absent[i][1]))
            fail_msg("%s has a row '%s'", absent[i][0], absent[i][1]);
        assert_non_null(find(&got, "busy + idle + talking"));
        ga_engine_rig_close(&rig);
    }
}

/* Exact rows and bounds in random runs of every mode, over any stretch, also from a thin history.
 */
static void test_identities_in_random_runs(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < ga_test_count(1000); seed++) {
        struct ga_test_random_start random;
        struct ga_test_random draws = {.seed = seed};
        struct ga_engine_rig rig;
        struct ga_law_report got;
        struct ga_change change;

        ga_test_random_mode(&random, seed, (int)(seed % GA_TEST_MODES));
        ga_engine_rig_open(&rig, &random.start);
        for (int32_t r = 0; r < random.replicas; r++)
            ga_test_ok(ga_engine_slow(rig.engine, (size_t)r, random.slow[r], &change));
        if (seed % 3 == 0)
            ga_engine_rig_set(&rig, "history-budget 1MiB");
        for (int k = 0; k < 6; k++) {
            if (ga_engine_rig_move(&rig, GA_MOVE_EVENTS, ga_test_draw(&draws, 400)).reason !=
                GA_STOP_DONE)
                break;
            report(&rig, 1 + ga_test_draw(&draws, 60), &got);
            for (size_t i = 0; i < got.rows && got.updates > 0; i++) {
                const struct ga_law_row *row = &got.row[i];
                double slack = 1e-9 * fabs(row->predicted);
                bool exact = row->truth == GA_LAW_EXACT && !isnan(row->measured);

                if (exact && !(fabs(row->measured - row->predicted) <= slack))
                    fail_msg("seed %llu, %s %s: %s %.17g, predicted %.17g",
                             (unsigned long long)seed, random.data, random.settings, row->name,
                             row->measured, row->predicted);
                if (row->truth == GA_LAW_BOUND && strcmp(row->unit, "") != 0)
                    assert_true(row->measured <= row->predicted + slack);
            }
        }
        ga_engine_rig_close(&rig);
    }
}

/* Each replica with data of its own: where local and pushes come to rest. */
static void test_fixed_points(void **state)
{
    static const char csv[] = "l1,l2,c1,c2\n1,2,1,0\n4,1,-1,2\n2,3,0.5,-1\n";
    static const struct {
        const char *settings;
        double point[2], within;
    } points[] = {
        {"mode sync", {(1 - 4 + 1) / 7.0, (0 + 2 - 3) / 6.0}, 1e-6},
        {"mode local period 5", {NAN, NAN}, 1e-6},
        {"mode local period 3 outer sgd(0.5,0)", {NAN, NAN}, 1e-6},
        {"mode async", {NAN, NAN}, 0.05},
        {"mode async scale rescaled", {(1 - 4 + 1) / 7.0, (0 + 2 - 3) / 6.0}, 0.05},
    };

    (void)state;
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        char words[256];
        struct ga_engine_rig rig;
        struct ga_law_report got;
        struct ga_change change;

        snprintf(words, sizeof words,
                 "replicas 3 accum 1 global 3 sharding contiguous base 1ms per-example 0 lr 0.01 "
                 "%s",
                 points[i].settings);
        ga_engine_rig_open(
            &rig, &(struct ga_test_start){.csv = csv, .data = "kind=quadratic", .settings = words});
        ga_test_ok(ga_engine_slow(rig.engine, 2, 3, &change));
        ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 4000);
        report(&rig, 2000, &got);
        for (size_t j = 0; j < 2; j++) {
            char name[48];
            const struct ga_law_row *row = NULL;

            snprintf(name, sizeof name, "comes to rest at w[%zu]", j);
            row = find(&got, name);
            assert_non_null(row);
            if (!isnan(points[i].point[j]))
                assert_close(row->predicted, points[i].point[j], 1e-9);
            if (!(fabs(row->measured - row->predicted) < points[i].within))
                fail_msg("%s: %s %.9g, predicted %.9g", points[i].settings, name, row->measured,
                         row->predicted);
        }
        ga_engine_rig_close(&rig);
    }
}

/* Measured is what the present settings did, undisturbed; and no more than was asked for. */
static void test_what_is_measured(void **state)
{
    struct ga_engine_rig rig;
    struct ga_law_report got;
    struct ga_change change;
    uint64_t pushes = 0;

    (void)state;
    open_items(&rig, "mode async");
    report(&rig, UINT64_MAX, &got);
    assert_int_equal(got.updates, 0);
    assert_true(isnan(find(&got, "mean staleness")->measured));
    assert_true(find(&got, "mean staleness")->predicted == 3);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 100);
    report(&rig, UINT64_MAX, &got);
    assert_int_equal(got.updates, 100);
    assert_int_equal(got.to_update, 100);
    report(&rig, 30, &got);
    assert_int_equal(got.updates, 30);
    assert_true(find(&got, "mean staleness")->measured == 3);
    assert_int_equal(got.bin[3], 30);
    ga_test_ok(ga_engine_kill(rig.engine, 0, &change));
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 50);
    report(&rig, UINT64_MAX, &got);
    assert_true(got.updates <= 50 && got.updates >= 49);
    assert_int_equal(got.crew.replicas, 3);
    assert_true(find(&got, "mean staleness")->predicted == 2);
    ga_engine_rig_set(&rig, "mode buffered buffer 2");
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 40);
    report(&rig, UINT64_MAX, &got);
    assert_true(got.updates <= 40 && got.updates >= 38);
    for (size_t bin = 0; bin < GA_STALENESS_BINS; bin++)
        pushes += got.bin[bin];
    assert_int_equal(pushes, got.pushes);
    /* Back in the past the recorded future is not measured. */
    ga_engine_rig_go(&rig, GA_MOVE_GOTO, 60);
    report(&rig, UINT64_MAX, &got);
    assert_int_equal(got.updates, 60);
    assert_int_equal(got.settings.mode, GA_MODE_ASYNC);
    ga_engine_rig_close(&rig);
}

/* The metrics count from where the mode or the replicas changed. */
static void test_staleness_metrics(void **state)
{
    struct ga_engine_rig rig;

    (void)state;
    open_items(&rig, "mode sync");
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 50);
    assert_true(ga_engine_rig_metric(&rig, GA_METRIC_STALENESS_MEAN, -1) == 0);
    assert_true(ga_engine_rig_metric(&rig, GA_METRIC_PUSHES, -1) == 200);
    ga_engine_rig_set(&rig, "mode async replicas 8");
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 800);
    assert_close(ga_engine_rig_metric(&rig, GA_METRIC_STALENESS_MEAN, -1), 7, 0.01);
    assert_true(ga_engine_rig_metric(&rig, GA_METRIC_STALENESS_MAX, -1) == 7);
    ga_engine_rig_go(&rig, GA_MOVE_BACK_UPDATES, 790);
    assert_true(ga_engine_rig_metric(&rig, GA_METRIC_STALENESS_MEAN, -1) < 7);
    ga_engine_rig_set(&rig, "mode delay lag 2");
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 300);
    assert_true(ga_engine_rig_metric(&rig, GA_METRIC_STALENESS_MAX, -1) == 2);
    ga_engine_rig_close(&rig);
}

/* Two replicas with quadratics of their own: each steps towards its own minimum, from w = 1. */
static void test_drift(void **state)
{
    struct ga_engine_rig rig;
    double a = 1, b = 1;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){
                                 .csv = "l,c\n1,0\n2,3\n2,3\n2,3\n",
                                 .data = "kind=quadratic",
                                 .settings = "replicas 2 accum 1 global 4 sharding contiguous lr "
                                             "0.125 mode local period 2"});
    assert_true(isnan(ga_engine_rig_metric(&rig, GA_METRIC_DRIFT, -1)));
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 1);
    for (int k = 0; k < 2; k++) {
        a -= 0.125 * ((a - 0) + 2 * (a - 3)) / 2; /* rows 0 and 1 */
        b -= 0.125 * 2 * (b - 3);
    }
    assert_close(ga_engine_rig_metric(&rig, GA_METRIC_DRIFT, -1), fabs(a - b) / 2, 1e-6);
    assert_true(ga_engine_rig_metric(&rig, GA_METRIC_PRIVATE_STEPS, -1) == 4);
    ga_engine_rig_set(&rig, "mode sync");
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 1);
    assert_true(isnan(ga_engine_rig_metric(&rig, GA_METRIC_DRIFT, -1)));
    ga_engine_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_laws_hold),
        cmocka_unit_test(test_laws_that_do_not_apply_are_left_out),
        cmocka_unit_test(test_identities_in_random_runs),
        cmocka_unit_test(test_fixed_points),
        cmocka_unit_test(test_what_is_measured),
        cmocka_unit_test(test_staleness_metrics),
        cmocka_unit_test(test_drift),
    };

    return ga_test_main(tests);
}
