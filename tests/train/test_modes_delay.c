/*
 * Law 2 on the built-in quadratic, w_{u+1} = w_u - c w_{u-d}: stable iff c < 2 sin(pi/(2(2d+1))),
 * found by bisection to 1e-6; critically damped at c = d^d/(d+1)^(d+1).
 */
#include "support/support.h"

#include <math.h>
#include <stdio.h>

#include "train/support/run_rig.h"

#define SETTLE 3000 /* updates after which only the slowest pair of roots is left */
#define APART  3000

static const double pi = 3.14159265358979323846;

static void open_delay(struct ga_run_rig *rig, int lag, double c)
{
    char words[128];

    snprintf(words, sizeof words, "replicas 1 accum 1 batch 1 mode delay lag %d lr %.17g", lag, c);
    ga_run_rig_open(rig,
                    &(struct ga_test_start){.data = "quadratic lambda=1 n=1", .settings = words});
}

/* Sum of squares over a whole number of the periods 2(2d+1) that the limit has. */
static double power(struct ga_run_rig *rig, int lag)
{
    double sum = 0;

    for (int k = 0; k < 16 * (2 * lag + 1); k++) {
        double w = ga_run_rig_weight(rig, 0);

        sum += w * w;
        if (!(w * w < 1e12))
            return INFINITY;
        ga_run_rig_updates(rig, 1);
    }
    return sum;
}

static bool grows(struct ga_run_rig *rig, int lag)
{
    double before = 0;

    for (int k = 0; k < SETTLE; k++) {
        double w = ga_run_rig_weight(rig, 0);

        if (!(w * w < 1e12))
            return true;
        ga_run_rig_updates(rig, 1);
    }
    before = power(rig, lag);
    if (!(before > 1e-8)) /* gradients of 1e-8 lose their precision */
        return false;
    for (int k = 0; k < APART && isfinite(before); k++) {
        double w = ga_run_rig_weight(rig, 0);

        if (!(w * w < 1e12))
            return true;
        ga_run_rig_updates(rig, 1);
    }
    return !isfinite(before) || power(rig, lag) > before;
}

static bool is_stable(int lag, double c)
{
    struct ga_run_rig rig;
    bool stable = false;

    open_delay(&rig, lag, c);
    stable = !grows(&rig, lag);
    ga_run_rig_close(&rig);
    return stable;
}

static double bisect(int lag)
{
    double low = 0.01, high = 2.5;

    assert_true(is_stable(lag, low));
    assert_false(is_stable(lag, high));
    while (high - low > 1e-8) {
        double middle = low + (high - low) / 2;

        if (is_stable(lag, middle))
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void test_the_stability_limit(void **state)
{
    const struct {
        int lag;
        double rounded; /* as stated in the law, where it is */
    } cases[] = {{0, 2}, {1, 1}, {2, .618034}, {3, .445042}, {4, .347296},
                 {5, 0}, {6, 0}, {7, .209057}, {8, 0},       {15, .101298}};

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double want = 2 * sin(pi / (2 * (2 * cases[k].lag + 1)));

        if (cases[k].rounded > 0)
            assert_close(cases[k].rounded, want, 5e-6);
        assert_true(fabs(bisect(cases[k].lag) - want) < 1e-6);
    }
}

/* Whether w passes 0 before it is too small to tell. */
static bool swings(int lag, double c)
{
    struct ga_run_rig rig;
    double w = 1;

    open_delay(&rig, lag, c);
    while (w > 1e-10) {
        ga_run_rig_updates(&rig, 1);
        w = ga_run_rig_weight(&rig, 0);
    }
    ga_run_rig_close(&rig);
    return w < -1e-10;
}

static void test_critical_damping(void **state)
{
    (void)state;
    for (int lag = 1; lag <= 8; lag++) {
        double critical = pow(lag, lag) / pow(lag + 1, lag + 1);

        assert_false(swings(lag, critical * 0.98));
        assert_true(swings(lag, critical * 1.02));
    }
    assert_false(swings(0, 0.98));
    assert_true(swings(0, 1.02));
}

/* Before update d the gradient is taken at w_0: w falls in a straight line. */
static void test_the_first_updates_see_the_first_weights(void **state)
{
    struct ga_run_rig rig;

    (void)state;
    open_delay(&rig, 5, 0.125);
    for (int u = 1; u <= 6; u++) {
        ga_run_rig_updates(&rig, 1);
        assert_close((double)ga_run_rig_weight(&rig, 0), 1 - 0.125 * u, 0);
    }
    ga_run_rig_updates(&rig, 1); /* at w_1 = 0.875 */
    assert_close((double)ga_run_rig_weight(&rig, 0), 1 - 0.125 * 6 - 0.125 * 0.875, 0);
    ga_run_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_stability_limit),
        cmocka_unit_test(test_critical_damping),
        cmocka_unit_test(test_the_first_updates_see_the_first_weights),
    };

    return ga_test_main(tests);
}
