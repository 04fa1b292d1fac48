/*
 * What the screen watches, from a real run: every window in order, places after going back,
 * close-ups that agree with the run.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "console/console.h"
#include "console/watch.h"
#include "support/support.h"
#include "ui/runs.h"
#include "ui/samples.h"

struct bench {
    struct ga_console *console;
    struct ga_watch *watch;
    struct ga_samples *samples;
    struct ga_closeup *closeup;
};

static int swallow(void *self, const char *bytes, size_t length)
{
    (void)self;
    (void)bytes;
    (void)length;
    return 0;
}

static void complain(void *self, const char *bytes, size_t length)
{
    (void)self;
    print_error("%.*s", (int)length, bytes);
}

static void bench_open_with(struct bench *bench, bool curves)
{
    struct ga_console_options options = {.sink = {NULL, swallow, complain}, .curves = curves};

    memset(bench, 0, sizeof *bench);
    assert_int_equal(ga_console_open(&bench->console, &options), 0);
    assert_int_equal(ga_watch_open(&bench->watch, ga_console_engine(bench->console), NULL), 0);
    assert_int_equal(ga_samples_open(&bench->samples, 0), 0);
    bench->closeup = calloc(1, sizeof *bench->closeup);
    assert_non_null(bench->closeup);
}

static void bench_open(struct bench *bench)
{
    bench_open_with(bench, false);
}

static void bench_close(struct bench *bench)
{
    ga_watch_close(bench->watch);
    ga_console_close(bench->console);
    ga_samples_close(bench->samples);
    free(bench->closeup);
}

static void run(struct bench *bench, const char *line)
{
    const struct ga_origin origin = {"test", 1};

    assert_int_equal(ga_console_line(bench->console, line, strlen(line), &origin), 0);
}

/* Looks, and takes all that came. */
static void look(struct bench *bench, unsigned parts, size_t position)
{
    struct ga_sample sample;

    assert_int_equal(ga_watch_look(bench->watch, parts, position, bench->closeup), 0);
    while (ga_watch_take(bench->watch, &sample))
        assert_int_equal(ga_runs_take(bench->samples, ga_console_engine(bench->console), &sample),
                         0);
}

static const struct ga_view *view_of(struct bench *bench)
{
    return ga_engine_view(ga_console_engine(bench->console));
}

static void every_window_comes_in_order(void **state)
{
    struct bench bench;

    (void)state;
    bench_open(&bench);
    run(&bench, "run 300");
    look(&bench, 0, 0);
    assert_int_equal(ga_samples_count(bench.samples), 300);
    for (size_t row = 0; row < 300; row++)
        assert_close(ga_samples_x(bench.samples, GA_X_UPDATES, row), (double)row + 1, 0);
    assert_close(ga_samples_value(bench.samples, GA_SERIES_LOSS, 299), view_of(&bench)->record.loss,
                 1e-6);
    assert_int_equal(ga_samples_replicas(bench.samples), 2);
    bench_close(&bench);
}

static void going_back_is_seen(void **state)
{
    struct bench bench;

    (void)state;
    bench_open(&bench);
    run(&bench, "run 100");
    look(&bench, 0, 0);
    run(&bench, "back 60");
    look(&bench, 0, 0);
    assert_int_equal(ga_samples_count(bench.samples), 40);
    run(&bench, "next 10");
    look(&bench, 0, 0);
    assert_int_equal(ga_samples_count(bench.samples), 50);
    /* The recorded future is still there, and going there by a jump shows it. */
    run(&bench, "goto 90");
    look(&bench, 0, 0);
    assert_int_equal(ga_samples_count(bench.samples), 90);
    run(&bench, "back 50");
    run(&bench, "set lr 0.02");
    run(&bench, "next 5");
    look(&bench, 0, 0);
    assert_int_equal(ga_samples_count(bench.samples), 45);
    run(&bench, "reset");
    look(&bench, 0, 0);
    assert_int_equal(ga_samples_count(bench.samples), 0);
    bench_close(&bench);
}

/* Far more windows than the ring has room for, before anybody takes one. */
static void a_full_ring_keeps_the_last_and_the_worst(void **state)
{
    struct bench bench;
    double last = 0;

    (void)state;
    bench_open(&bench);
    for (int part = 0; part < 12; part++) {
        run(&bench, "run 900");
        assert_int_equal(ga_watch_look(bench.watch, 0, 0, bench.closeup), 0);
    }
    look(&bench, 0, 0);
    size_t count = ga_samples_count(bench.samples);
    assert_in_range(count, 3000, 10799);
    assert_close(ga_samples_value(bench.samples, GA_SERIES_LOSS, 0),
                 ga_samples_extent(bench.samples, GA_SERIES_LOSS, 0, count, false).high, 0);
    run(&bench, "next");
    look(&bench, 0, 0);
    last = ga_samples_x(bench.samples, GA_X_UPDATES, ga_samples_count(bench.samples) - 1);
    assert_close(last, 10801, 0);
    bench_close(&bench);
}

static void the_fit_is_that_of_the_run(void **state)
{
    struct bench bench;
    size_t owners[2] = {0, 0};

    (void)state;
    bench_open(&bench);
    run(&bench, "run 20");
    run(&bench, "micro 3");
    look(&bench, GA_LOOK_FIT | GA_LOOK_HEAT | GA_LOOK_EXPLAIN, 2);
    const struct ga_fit *fit = &bench.closeup->fit;
    assert_int_equal(fit->kind, GA_FIT_CURVE);
    assert_int_equal(fit->points, 50);
    for (size_t i = 0; i < 50; i++) {
        double x = (double)fit->point[i].x;

        assert_close((double)fit->point[i].y, x * x, 1e-6);
        assert_true(i == 0 || x > (double)fit->point[i - 1].x);
        assert_in_range(fit->point[i].replica, 0, 1);
        owners[fit->point[i].replica]++;
    }
    assert_int_equal(owners[0], 25);
    assert_int_equal(owners[1], 25);
    assert_int_equal(bench.closeup->heat.values, 16);
    assert_string_equal(bench.closeup->parameter, "layers.0.weight[2]");
    assert_non_null(strstr(bench.closeup->explain, "layers.0.weight[2]"));
    double largest = 0;
    for (size_t i = 0; i < 16; i++)
        largest = fmax(largest, fabs((double)bench.closeup->heat.gradient[0][i]));
    assert_true(largest > 0);
    /* A position beyond the last is the first. */
    look(&bench, GA_LOOK_EXPLAIN, 100000);
    assert_string_equal(bench.closeup->parameter, "layers.0.weight[0]");
    bench_close(&bench);
}

static void spans_follow_each_other(void **state)
{
    struct bench bench;
    int64_t end[2] = {INT64_MIN, INT64_MIN};
    size_t micros = 0;

    (void)state;
    bench_open(&bench);
    run(&bench, "run 10");
    run(&bench, "micro 4");
    look(&bench, GA_LOOK_SPANS, 0);
    for (size_t i = 0; i < bench.closeup->spans; i++) {
        const struct ga_span *span = &bench.closeup->span[i];

        if (span->kind != GA_SPAN_MICRO)
            continue;
        micros++;
        assert_in_range(span->replica, 0, 1);
        assert_true(span->start_ns < span->end_ns);
        assert_true(span->start_ns >= end[span->replica]);
        assert_int_equal(span->end_ns - span->start_ns, 5000000);
        end[span->replica] = span->end_ns;
    }
    assert_int_equal(micros, 104);
    run(&bench, "back 10");
    look(&bench, GA_LOOK_SPANS, 0);
    for (size_t i = 0; i < bench.closeup->spans; i++)
        assert_true(bench.closeup->span[i].end_ns <= view_of(&bench)->now_ns);
    bench_close(&bench);
}

static void classes_are_counted(void **state)
{
    struct bench bench;
    uint64_t all = 0;

    (void)state;
    bench_open(&bench);
    run(&bench, "data \"" GA_TOP_DIR "/data/digits.csv\" kind=class scale=0.0625 test=0.2");
    run(&bench, "set model 64-16-10 loss xent accum 1 batch 16 lr 0.1");
    run(&bench, "run 30");
    look(&bench, GA_LOOK_FIT, 0);
    const struct ga_fit *fit = &bench.closeup->fit;
    assert_int_equal(fit->kind, GA_FIT_CLASSES);
    assert_int_equal(fit->classes, 10);
    assert_true(fit->held_out);
    assert_int_equal(fit->pixel_rows, 8);
    for (int label = 0; label < 10; label++)
        for (int guess = 0; guess < 10; guess++)
            all += fit->confusion[label][guess];
    assert_int_equal(all, fit->right + fit->wrong);
    assert_true(fit->right > fit->wrong / 10);
    bench_close(&bench);
}

static void a_quadratic_has_its_optimum_and_its_limit(void **state)
{
    struct bench bench;

    (void)state;
    bench_open(&bench);
    run(&bench, "data quadratic lambda=1,4 c=3,-2 n=8");
    run(&bench, "set mode delay lag 1 lr 0.1 replicas 2 accum 2 batch 2");
    run(&bench, "run 200");
    look(&bench, GA_LOOK_FIT | GA_LOOK_LAW, 0);
    assert_int_equal(bench.closeup->fit.kind, GA_FIT_QUADRATIC);
    assert_close((double)bench.closeup->fit.optimum[0], 3, 1e-6);
    assert_close((double)bench.closeup->fit.optimum[1], -2, 1e-6);
    assert_close((double)bench.closeup->fit.weight[1], -2, 1e-3);
    /* lr 0.1 times lambda 4, over the limit 1 of a delay of one update */
    assert_close(bench.closeup->law.gauge, 0.4, 1e-6);
    assert_close(bench.closeup->law.limit, 1, 1e-12);
    bench_close(&bench);
}

/* The mean staleness of async is P-1, and the law says so. */
static void measured_staleness_meets_the_law(void **state)
{
    struct bench bench;
    struct ga_staleness seen;

    (void)state;
    bench_open(&bench);
    run(&bench, "data parabola n=64");
    run(&bench, "set mode async replicas 8 accum 1 batch 8 lr 0.001 jitter exponential");
    for (int part = 0; part < 3; part++) {
        run(&bench, "run 1000");
        look(&bench, GA_LOOK_LAW, 0);
    }
    ga_samples_staleness(bench.samples, &seen);
    assert_in_range(seen.pushes, 2000, 3000);
    assert_true(bench.closeup->law.has_mean && bench.closeup->law.has_shape);
    assert_close(bench.closeup->law.mean, 7, 0);
    assert_close(seen.mean, 7, 0.05);
    for (int bin = 0; bin < 8; bin++)
        assert_true(fabs((double)seen.count[bin] / (double)seen.pushes -
                         bench.closeup->law.shape[bin]) < 0.03);
    bench_close(&bench);
}

static void check_run(const struct ga_scene_run *list, const char *name, size_t rows, bool current)
{
    assert_string_equal(list->name, name);
    assert_int_equal(ga_samples_count(list->samples), rows);
    assert_int_equal(list->current, current);
}

static void runs_are_followed(void **state)
{
    struct bench bench;
    struct ga_engine *engine = NULL;
    struct ga_runs *runs = NULL;
    const struct ga_scene_run *list = NULL;

    (void)state;
    bench_open(&bench);
    engine = ga_console_engine(bench.console);
    assert_int_equal(ga_runs_open(&runs), 0);
    run(&bench, "run 40");
    assert_int_equal(ga_engine_fork(engine, "other"), 0);
    run(&bench, "run 10");
    assert_int_equal(ga_runs_update(runs, engine), 0);
    assert_int_equal(ga_runs_list(runs, &list), 2);
    check_run(&list[0], "main", 50, true);
    check_run(&list[1], "other", 40, false);
    /* Back and into another future: the same number of windows, other losses. */
    double loss = ga_samples_value(list[0].samples, GA_SERIES_LOSS, 49);
    run(&bench, "back 20");
    run(&bench, "set lr 0.03");
    run(&bench, "next 20");
    assert_int_equal(ga_engine_use(engine, "other"), 0);
    assert_int_equal(ga_runs_update(runs, engine), 0);
    assert_int_equal(ga_runs_list(runs, &list), 2);
    check_run(&list[0], "main", 50, false);
    check_run(&list[1], "other", 40, true);
    assert_true(ga_samples_value(list[0].samples, GA_SERIES_LOSS, 49) != loss);
    run(&bench, "back 15");
    assert_int_equal(ga_runs_update(runs, engine), 0);
    ga_runs_list(runs, &list);
    check_run(&list[1], "other", 25, true);
    assert_int_equal(ga_engine_drop(engine, "main"), 0);
    assert_int_equal(ga_runs_update(runs, engine), 0);
    assert_int_equal(ga_runs_list(runs, &list), 1);
    check_run(&list[0], "other", 25, true);
    ga_runs_close(runs);
    bench_close(&bench);
}

/* Another run in use: its curve comes from its records, and goes on from there. */
static void a_run_in_use_again_is_recalled(void **state)
{
    struct bench bench;
    struct ga_engine *engine = NULL;

    (void)state;
    bench_open(&bench);
    engine = ga_console_engine(bench.console);
    run(&bench, "run 30");
    look(&bench, 0, 0);
    assert_int_equal(ga_samples_replicas(bench.samples), 2);
    assert_int_equal(ga_engine_fork(engine, "other"), 0);
    assert_int_equal(ga_engine_use(engine, "other"), 0);
    run(&bench, "next 5");
    look(&bench, 0, 0);
    assert_int_equal(ga_samples_count(bench.samples), 35);
    for (size_t row = 0; row < 35; row++)
        assert_close(ga_samples_x(bench.samples, GA_X_UPDATES, row), (double)row + 1, 0);
    bench_close(&bench);
}

/* A move that goes on while the samples are taken, as under a screen. */
static void run_beside(struct bench *bench, uint64_t updates)
{
    struct ga_engine *engine = ga_console_engine(bench->console);
    const struct ga_move move = {.kind = GA_MOVE_UPDATES, .count = updates};
    struct ga_sample sample;
    struct ga_stop stop;
    uint64_t ticket = 0;

    assert_int_equal(ga_engine_move(engine, &move, &ticket), 0);
    while (!ga_engine_wait(engine, ticket, ga_now_ns() + 1000000, &stop))
        while (ga_watch_take(bench->watch, &sample))
            assert_int_equal(ga_runs_take(bench->samples, engine, &sample), 0);
}

struct extremes {
    double *low, *high;
};

static int take_extremes(const struct ga_update_record *record, void *arg)
{
    struct extremes *extremes = arg;

    *extremes->low = fmin(*extremes->low, record->loss);
    *extremes->high = fmax(*extremes->high, record->loss);
    return 0;
}

/* Windows go by in blocks while a run is fast; nothing that a chart shows is lost by it. */
static void a_fast_run_keeps_its_extremes(void **state)
{
    struct bench bench;
    double low = INFINITY, high = 0;

    (void)state;
    bench_open(&bench);
    run(&bench, "set accum 1 batch 3 replicas 4 log-every 100000");
    run_beside(&bench, 20000);
    look(&bench, 0, 0);
    size_t count = ga_samples_count(bench.samples);
    print_message("%zu rows for 20000 windows\n", count);
    assert_in_range(count, 3000, 12000);
    assert_close(ga_samples_x(bench.samples, GA_X_UPDATES, count - 1), 20000, 0);
    for (size_t row = 1; row < count; row++)
        assert_true(ga_samples_x(bench.samples, GA_X_UPDATES, row) >
                    ga_samples_x(bench.samples, GA_X_UPDATES, row - 1));
    struct extremes extremes = {&low, &high};
    assert_int_equal(ga_engine_records(ga_console_engine(bench.console), take_extremes, &extremes),
                     0);
    struct ga_extent all = ga_samples_extent(bench.samples, GA_SERIES_LOSS, 0, count, false);
    assert_close(all.low, low, 1e-6);
    assert_close(all.high, high, 1e-6);
    bench_close(&bench);
}

static void see(void *self, struct ga_run *run, const struct ga_update_record *record)
{
    (void)self;
    (void)run;
    (void)record;
}

static void compare_rows(const struct bench *a, const struct bench *b, size_t count)
{
    static const int series[] = {GA_SERIES_LOSS,         GA_SERIES_GRAD_NORM,
                                 GA_SERIES_UPDATE_NORM,  GA_SERIES_STALENESS,
                                 GA_SERIES_REPLICA_LOSS, GA_SERIES_REPLICA_NORM};

    assert_int_equal(ga_samples_count(a->samples), count);
    assert_int_equal(ga_samples_count(b->samples), count);
    for (size_t row = 0; row < count; row++) {
        assert_close(ga_samples_x(a->samples, GA_X_UPDATES, row),
                     ga_samples_x(b->samples, GA_X_UPDATES, row), 0);
        assert_close(ga_samples_x(a->samples, GA_X_TIME, row),
                     ga_samples_x(b->samples, GA_X_TIME, row), 0);
        for (size_t k = 0; k < sizeof series / sizeof series[0]; k++) {
            double left = ga_samples_value(a->samples, series[k], row);
            double right = ga_samples_value(b->samples, series[k], row);

            if (left != right && !(isnan(left) && isnan(right)))
                fail_msg("series %d of row %zu: %g and %g", series[k], row, left, right);
        }
    }
}

/* Beside a run that somebody else watches update by update; then in blocks. */
static void bursts_are_seen_whole(void **state)
{
    struct ga_observer observer = {.update = see, .self = &observer};
    struct ga_history_info history[2];
    struct bench bench[2];

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        bench_open_with(&bench[k], true); /* no lines, for which updates are made one by one */
        if (k == 1)
            assert_int_equal(ga_engine_observe(ga_console_engine(bench[k].console), &observer), 0);
        run(&bench[k], "set numerics fast replicas 1 accum 1 batch 50");
        run(&bench[k], "run 2500");
        look(&bench[k], 0, 0);
    }
    compare_rows(&bench[0], &bench[1], 2500);
    for (size_t k = 0; k < 2; k++) {
        run(&bench[k], "run 40000");
        look(&bench[k], 0, 0);
        ga_engine_history(ga_console_engine(bench[k].console), &history[k]);
    }
    assert_true(history[0].states < history[1].states / 4);
    compare_rows(&bench[0], &bench[1], ga_samples_count(bench[1].samples));
    for (size_t k = 0; k < 2; k++)
        bench_close(&bench[k]);
}

/* Much more than the ring has room for: no stretch of the curve is drawn from a few rows only. */
static void a_burst_before_the_first_look_is_drawn_evenly(void **state)
{
    const double updates = 300000;
    struct bench bench;
    size_t count = 0;

    (void)state;
    bench_open_with(&bench, true);
    run(&bench, "set numerics fast replicas 1 accum 1 batch 50");
    run(&bench, "run 300000");
    look(&bench, 0, 0);
    count = ga_samples_count(bench.samples);
    assert_in_range(count, 4096, 4096 + 3 * 1024);
    for (size_t row = 1; row < count; row++)
        assert_true(ga_samples_x(bench.samples, GA_X_UPDATES, row) -
                        ga_samples_x(bench.samples, GA_X_UPDATES, row - 1) <
                    updates / 200);
    assert_close(ga_samples_x(bench.samples, GA_X_UPDATES, count - 1), updates, 0);
    assert_int_equal(ga_samples_nonfinite(bench.samples, GA_SERIES_LOSS), 0);
    assert_int_equal(ga_samples_replicas(bench.samples), 1);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_window_comes_in_order),
        cmocka_unit_test(going_back_is_seen),
        cmocka_unit_test(a_full_ring_keeps_the_last_and_the_worst),
        cmocka_unit_test(the_fit_is_that_of_the_run),
        cmocka_unit_test(spans_follow_each_other),
        cmocka_unit_test(classes_are_counted),
        cmocka_unit_test(a_quadratic_has_its_optimum_and_its_limit),
        cmocka_unit_test(measured_staleness_meets_the_law),
        cmocka_unit_test(runs_are_followed),
        cmocka_unit_test(a_run_in_use_again_is_recalled),
        cmocka_unit_test(a_fast_run_keeps_its_extremes),
        cmocka_unit_test(bursts_are_seen_whole),
        cmocka_unit_test(a_burst_before_the_first_look_is_drawn_evenly),
    };

    return ga_test_main(tests);
}
