/*
 * The largest eigenvalue of the Hessian: in closed form on quadratics; on nets against all
 * eigenvalues of a Hessian that is computed here in double, by a different route. And the gauge.
 */
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "train/sharpness.h"
#include "train/support/engine_rig.h"
#include "train/support/run_rig.h"

#define HIDDEN 5
#define N      (3 * HIDDEN + 1) /* parameters of 1-5-1 */

static struct ga_sharpness look(struct ga_run_rig *rig)
{
    struct ga_sharpness out;

    ga_test_ok(ga_run_sharpness(rig->run, &out));
    return out;
}

/* ---- the net in double: weights, gradient of the mean squared error, Hessian, eigenvalues ---- */

static void add_gradient(const double w[N], double x, double y, double share, double out[N])
{
    double hidden[HIDDEN], error = w[N - 1] - y;

    for (int i = 0; i < HIDDEN; i++) {
        hidden[i] = tanh(w[i] * x + w[HIDDEN + i]);
        error += w[2 * HIDDEN + i] * hidden[i];
    }
    error *= 2 * share;
    out[N - 1] += error;
    for (int i = 0; i < HIDDEN; i++) {
        double slope = error * w[2 * HIDDEN + i] * (1 - hidden[i] * hidden[i]);

        out[i] += slope * x;
        out[HIDDEN + i] += slope;
        out[2 * HIDDEN + i] += error * hidden[i];
    }
}

static void gradient(const struct ga_table *table, const double w[N], double out[N])
{
    memset(out, 0, N * sizeof *out);
    for (size_t i = 0; i < table->train; i++)
        add_gradient(w, (double)table->inputs[i], (double)table->targets[i],
                     1 / (double)table->train, out);
}

static void hessian(const struct ga_table *table, const double w[N], double out[N][N])
{
    for (int i = 0; i < N; i++) {
        double beside[N], up[N], down[N];

        memcpy(beside, w, sizeof beside);
        beside[i] = w[i] + 1e-5;
        gradient(table, beside, up);
        beside[i] = w[i] - 1e-5;
        gradient(table, beside, down);
        for (int j = 0; j < N; j++)
            out[i][j] = (up[j] - down[j]) / 2e-5;
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < i; j++)
            out[i][j] = out[j][i] = (out[i][j] + out[j][i]) / 2;
}

/* One Jacobi rotation that makes a[p][q] zero. */
static void rotate(double a[N][N], int p, int q)
{
    double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
    double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;

    for (int k = 0; k < N; k++) {
        double x = a[k][p], y = a[k][q];

        a[k][p] = c * x - s * y;
        a[k][q] = s * x + c * y;
    }
    for (int k = 0; k < N; k++) {
        double x = a[p][k], y = a[q][k];

        a[p][k] = c * x - s * y;
        a[q][k] = s * x + c * y;
    }
}

/* The largest and the smallest eigenvalue by Jacobi's method. */
static void extremes(double a[N][N], double *least, double *most)
{
    for (int sweep = 0; sweep < 60; sweep++)
        for (int p = 0; p < N; p++)
            for (int q = p + 1; q < N; q++)
                if (fabs(a[p][q]) > 1e-14)
                    rotate(a, p, q);
    *least = *most = a[0][0];
    for (int i = 1; i < N; i++) {
        *least = fmin(*least, a[i][i]);
        *most = fmax(*most, a[i][i]);
    }
}

static void expected(const struct ga_run *run, double *least, double *most)
{
    double w[N], a[N][N];

    assert_int_equal(ga_run_net_of(run)->parameters, N);
    for (int i = 0; i < N; i++)
        w[i] = (double)ga_run_version(run)->weights[i];
    hessian(ga_dataset_table(ga_run_data(run)), w, a);
    extremes(a, least, most);
}

static void check(struct ga_run_rig *rig)
{
    struct ga_sharpness got = look(rig);
    double least = 0, most = 0;

    expected(rig->run, &least, &most);
    assert_false(got.exact);
    assert_true(got.converged);
    assert_true(got.iterations <= 2 * GA_SHARPNESS_ITERATIONS);
    assert_close(got.lambda, most, 1e-4);
}

static void test_a_net_at_any_weights(void **state)
{
    (void)state;
    for (int seed = 0; seed < 30; seed++) {
        char settings[64];
        struct ga_run_rig rig;

        snprintf(settings, sizeof settings, "seed %d", seed);
        ga_run_rig_open(&rig, &(struct ga_test_start){.settings = settings});
        check(&rig);
        ga_run_rig_updates(&rig, 20);
        check(&rig);
        ga_run_rig_updates(&rig, 600);
        check(&rig);
        ga_run_rig_close(&rig);
    }
}

/* With all weights 0 the eigenvalues come in pairs of opposite signs, and -lambda_max is one. */
static void test_pairs_of_opposite_signs(void **state)
{
    struct ga_run_rig rig;
    double least = 0, most = 0;

    (void)state;
    ga_run_rig_open(&rig, &(struct ga_test_start){.settings = "init zeros"});
    expected(rig.run, &least, &most);
    assert_close(-least, most, 1e-6);
    check(&rig);
    ga_run_rig_close(&rig);
}

/* A target that the net is far beyond makes the largest magnitude a negative eigenvalue. */
static void test_a_dominant_negative_eigenvalue(void **state)
{
    float weights[N];
    struct ga_run_rig rig;
    double least = 0, most = 0;

    (void)state;
    for (int i = 0; i < N; i++)
        weights[i] = i < HIDDEN ? 0.4F : i < 2 * HIDDEN ? 0.7F : 2.0F;
    weights[N - 1] = 6;
    ga_run_rig_open(&rig, &(struct ga_test_start){.data = "parabola n=8 range=0.5,0.6",
                                                  .weights = weights,
                                                  .weights_count = N});
    expected(rig.run, &least, &most);
    assert_true(-least > 2 * most);
    check(&rig);
    ga_run_rig_close(&rig);
}

static void test_quadratics(void **state)
{
    const struct {
        const char *data;
        double lambda;
    } cases[] = {
        {"quadratic lambda=1,4,2", 4},
        {"quadratic lambda=0.25 n=7", 0.25},
    };
    struct ga_run_rig rig;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        ga_run_rig_open(&rig, &(struct ga_test_start){.data = cases[i].data});
        assert_true(look(&rig).exact && look(&rig).converged);
        assert_close(look(&rig).lambda, cases[i].lambda, 1e-15);
        ga_run_rig_close(&rig);
    }
    ga_run_rig_open(&rig, &(struct ga_test_start){.csv = "l1,l2,c1,c2,w\n1,2,0,0,1\n5,3,0,0,3\n",
                                                  .data = "kind=quadratic weight=w"});
    assert_close(look(&rig).lambda, 4, 1e-15); /* (1*1 + 3*5) / 4, above (1*2 + 3*3) / 4 */
    ga_run_rig_close(&rig);
}

/* Known until the weights change, and found again when they come back. */
static void test_it_belongs_to_the_weights(void **state)
{
    struct ga_engine_rig rig;
    double first = 0;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.settings = "seed 3"});
    first = ga_engine_rig_metric(&rig, GA_METRIC_SHARPNESS, -1);
    assert_true(ga_engine_rig_metric(&rig, GA_METRIC_SHARPNESS, -1) == first);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 50);
    assert_true(ga_engine_rig_metric(&rig, GA_METRIC_SHARPNESS, -1) != first);
    ga_engine_rig_go(&rig, GA_MOVE_BACK_UPDATES, 50);
    assert_true(ga_engine_rig_metric(&rig, GA_METRIC_SHARPNESS, -1) == first);
    ga_engine_rig_close(&rig);
}

/* Weights that are not finite have no curvature. */
static void test_not_finite(void **state)
{
    struct ga_run_rig rig;

    (void)state;
    ga_run_rig_open(&rig, &(struct ga_test_start){.settings = "lr 1e6 nonfinite apply"});
    ga_run_rig_updates(&rig, 60);
    assert_true(isnan(ga_run_metric(rig.run, GA_METRIC_SHARPNESS, -1)));
    assert_true(isnan(ga_run_metric(rig.run, GA_METRIC_GAUGE, -1)));
    ga_run_rig_close(&rig);
}

/* The gauge is 1 where training begins to diverge: a little below it converges. */
static void test_the_gauge_is_the_edge(void **state)
{
    static const char *const modes[] = {
        "mode sync",
        "momentum 0.9",
        "momentum 0.7 nesterov on",
        "mode delay lag 1",
        "mode delay lag 4",
        "mode async replicas 4",
        "mode async replicas 8",
        "mode async replicas 4 scale staleness",
        "mode async replicas 4 scale sqrt",
        "mode ssp bound 3 replicas 3",
        "mode buffered buffer 3 replicas 3 bound 0",
        "weight-decay 0.3",
        "mode local period 4",
    };
    const double margins[] = {0.99, 1.01};

    (void)state;
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        for (size_t k = 0; k < 2; k++) {
            char settings[256];
            double edge = 0;
            struct ga_run_rig rig;

            snprintf(settings, sizeof settings, "replicas 1 accum 1 global 24 lr 1 %s", modes[m]);
            ga_run_rig_open(&rig, &(struct ga_test_start){.data = "quadratic lambda=1 n=24",
                                                          .settings = settings});
            edge = 1 / ga_run_metric(rig.run, GA_METRIC_GAUGE, -1);
            snprintf(settings, sizeof settings, "lr %.17g", edge * margins[k]);
            ga_test_ok(ga_run_rig_set(&rig, settings));
            assert_close(ga_run_metric(rig.run, GA_METRIC_GAUGE, -1), margins[k], 1e-12);
            for (int u = 0; u < 4000 && fabsf(ga_run_rig_weight(&rig, 0)) < 100; u += 20)
                ga_run_rig_updates(&rig, 20);
            if ((fabsf(ga_run_rig_weight(&rig, 0)) > 1) != (k == 1))
                fail_msg("%s: %g at gauge %g", modes[m], (double)ga_run_rig_weight(&rig, 0),
                         margins[k]);
            ga_run_rig_close(&rig);
        }
    }
}

/* What is pending counts: the gauge speaks before the first window of it. */
static void test_the_gauge_looks_ahead(void **state)
{
    struct ga_engine_rig rig;
    double before = 0, after = 0;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.settings = "seed 1"});
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 1284);
    before = ga_engine_rig_metric(&rig, GA_METRIC_GAUGE, -1);
    ga_engine_rig_set(&rig, "mode async replicas 8 lr 0.05");
    after = ga_engine_rig_metric(&rig, GA_METRIC_GAUGE, -1);
    assert_close(after, before * 5 * 2 / ga_stability_limit(7), 1e-12);
    assert_true(before < 0.1 && after > 2.5 && after < 3);
    ga_engine_rig_set(&rig, "scale staleness");
    assert_close(ga_engine_rig_metric(&rig, GA_METRIC_GAUGE, -1), after / 7, 1e-12);
    ga_engine_rig_set(&rig, "optimizer adam");
    assert_true(isnan(ga_engine_rig_metric(&rig, GA_METRIC_GAUGE, -1)));
    ga_engine_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_net_at_any_weights),
        cmocka_unit_test(test_pairs_of_opposite_signs),
        cmocka_unit_test(test_a_dominant_negative_eigenvalue),
        cmocka_unit_test(test_quadratics),
        cmocka_unit_test(test_it_belongs_to_the_weights),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_the_gauge_is_the_edge),
        cmocka_unit_test(test_the_gauge_looks_ahead),
    };

    return ga_test_main(tests);
}
