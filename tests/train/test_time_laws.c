/*
 * Law 4 over 100,000 windows: with exponential item times the mean window time of sync is H_P, with
 * k backup workers H_P - H_k (order statistics of exponentials), idle 1 - 1/H_P; with
 * straggler(p,k) it is 1 + (k-1)(1 - (1-p)^P). Means within 1 %, or within 5 standard errors of a
 * reduced count.
 */
#include "support/support.h"

#include <math.h>
#include <stdio.h>

#include "train/support/run_rig.h"

#define WINDOWS   100000
#define TOLERANCE 0.01

struct measured {
    double window; /* mean window time over the nominal item time */
    double idle;
    uint64_t windows;
};

static struct measured measure(int replicas, const char *more)
{
    char settings[256];
    struct measured out = {.windows = ga_test_count(WINDOWS)};
    struct ga_run_rig rig;

    snprintf(settings, sizeof settings,
             "replicas %d accum 1 batch 1 sharding strided base 1ms per-example 0 lr 0 %s",
             replicas, more);
    ga_run_rig_open(
        &rig, &(struct ga_test_start){.data = "quadratic lambda=1 n=8", .settings = settings});
    ga_run_rig_updates(&rig, out.windows);
    out.window = (double)ga_run_now(rig.run) / 1e6 / (double)out.windows;
    out.idle = ga_run_metric(rig.run, GA_METRIC_IDLE, -1);
    assert_int_equal(ga_run_rig_spent(&rig), replicas * ga_run_now(rig.run));
    ga_run_rig_close(&rig);
    return out;
}

/* H_n and the sum of squares, whose root is the deviation of the largest of n exponentials. */
static double harmonic(int n)
{
    return n > 0 ? harmonic(n - 1) + 1.0 / n : 0;
}

static double harmonic_square(int n)
{
    return n > 0 ? harmonic_square(n - 1) + 1.0 / ((double)n * n) : 0;
}

static double tolerance(double deviation, double mean, uint64_t windows)
{
    return windows == WINDOWS ? TOLERANCE : 5 * deviation / mean / sqrt((double)windows);
}

static void test_exponential_windows_take_h_p(void **state)
{
    const struct {
        int replicas;
        double h; /* rounded, as stated in the law */
    } cases[] = {{1, 1}, {2, 1.5}, {4, 2.0833}, {8, 2.7179}};

    (void)state;
    for (size_t k = 0; k < 4; k++) {
        int p = cases[k].replicas;
        struct measured got = measure(p, "jitter exponential");
        double within = tolerance(sqrt(harmonic_square(p)), harmonic(p), got.windows);

        assert_close(harmonic(p), cases[k].h, 1e-4);
        assert_close(got.window, harmonic(p), within);
        assert_close(1 - got.idle, 1 / harmonic(p), 2 * within);
    }
}

static void test_backup_windows_take_h_p_minus_h_k(void **state)
{
    const int cases[][2] = {{2, 1}, {4, 1}, {4, 2}, {8, 1}, {8, 3}, {8, 7}};

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        int p = cases[k][0], backup = cases[k][1];
        double want = harmonic(p) - harmonic(backup);
        char more[64];
        struct measured got;

        snprintf(more, sizeof more, "jitter exponential backup %d", backup);
        got = measure(p, more);
        assert_close(
            got.window, want,
            tolerance(sqrt(harmonic_square(p) - harmonic_square(backup)), want, got.windows));
    }
}

static void test_stragglers(void **state)
{
    const struct {
        int replicas;
        double p, k;
    } cases[] = {{4, 0.1, 10}, {8, 0.02, 5}, {1, 0.25, 3}};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        double hit = 1 - pow(1 - cases[i].p, cases[i].replicas);
        double want = 1 + (cases[i].k - 1) * hit;
        double deviation = (cases[i].k - 1) * sqrt(hit * (1 - hit));
        char more[64];
        struct measured got;

        snprintf(more, sizeof more, "jitter straggler(%g,%g)", cases[i].p, cases[i].k);
        got = measure(cases[i].replicas, more);
        assert_close(got.window, want, tolerance(deviation, want, got.windows));
    }
}

/* `late finish` has no closed law, but a window cannot take longer than without backup. */
static void test_late_finish_is_between(void **state)
{
    struct measured sync = measure(4, "jitter exponential");
    struct measured finish = measure(4, "jitter exponential backup 1 late finish");
    struct measured cancel = measure(4, "jitter exponential backup 1 late cancel");

    (void)state;
    assert_true(cancel.window < finish.window);
    assert_true(finish.window < sync.window);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exponential_windows_take_h_p),
        cmocka_unit_test(test_backup_windows_take_h_p_minus_h_k),
        cmocka_unit_test(test_stragglers),
        cmocka_unit_test(test_late_finish_is_between),
    };

    return ga_test_main(tests);
}
