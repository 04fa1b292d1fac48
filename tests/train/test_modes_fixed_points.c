/*
 * Law 6: where each replica has its own f_i = lambda_i/2 (x - c_i)^2 and share a_i of the data,
 * modes settle at different places; and what of that a net shows.
 */
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "train/support/reference.h"
#include "train/support/run_rig.h"

#define OWNERS 3

/* Rows of three contiguous shards: 3, 2 and 2 rows, one function each, in two coordinates. */
static const int owner_rows[OWNERS] = {3, 2, 2};
static const double lambda[2][OWNERS] = {{1, 0.25, 2}, {0.5, 1.5, 1}};
static const double center[2][OWNERS] = {{1, -2, 0.5}, {0.25, 3, -1}};

static char *owner_data(void)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    assert_non_null(out);
    fputs("lambda_1,c_1,lambda_2,c_2\n", out);
    for (int r = 0; r < OWNERS; r++)
        for (int k = 0; k < owner_rows[r]; k++)
            fprintf(out, "%.9g,%.9g,%.9g,%.9g\n", lambda[0][r], center[0][r], lambda[1][r],
                    center[1][r]);
    fclose(out);
    return text;
}

static void open_owners(struct ga_run_rig *rig, const char *more)
{
    char *text = owner_data();
    char words[256];

    snprintf(words, sizeof words,
             "replicas 3 accum 1 global 7 sharding contiguous base 10ms per-example 0 %s", more);
    ga_run_rig_open(
        rig, &(struct ga_test_start){.csv = text, .data = "kind=quadratic", .settings = words});
    free(text);
}

/* Sum of q_i c_i over the sum of q_i. */
static double weighted(const double q[OWNERS], int j)
{
    double sum = 0, all = 0;

    for (int i = 0; i < OWNERS; i++) {
        sum += q[i] * center[j][i];
        all += q[i];
    }
    return sum / all;
}

static void check_local(int period, double lr, const char *more)
{
    struct ga_run_rig rig;
    char words[128];

    snprintf(words, sizeof words, "mode local period %d lr %.17g %s", period, lr, more);
    open_owners(&rig, words);
    ga_run_rig_updates(&rig, 3000);
    for (int j = 0; j < 2; j++) {
        double q[OWNERS];

        for (int i = 0; i < OWNERS; i++)
            q[i] = owner_rows[i] * (1 - pow(1 - lr * lambda[j][i], period));
        assert_true(fabs((double)ga_run_rig_weight(&rig, (size_t)j) - weighted(q, j)) < 1e-6);
    }
    ga_run_rig_close(&rig);
}

static void test_local_settles_between_the_replicas(void **state)
{
    const int periods[] = {1, 2, 3, 5, 10, 40};

    (void)state;
    for (size_t k = 0; k < 6; k++) {
        check_local(periods[k], 0.1, "");
        check_local(periods[k], 0.5, "");
        check_local(periods[k], 0.1, "outer sgd(0.7,0)");
        check_local(periods[k], 0.1, "outer nesterov(0.3,0.5)");
    }
}

/* ---- replicas of different speed push more or less often ---- */

static const double item_ms[OWNERS] = {10, 25, 40};

struct rate_case {
    const char *settings;
    double steps[OWNERS]; /* factor s_i of a replica's step */
};

/* Mean over the updates of many rounds, after the run has settled. */
static double mean_weight(struct ga_run_rig *rig, int j, double lr)
{
    uint64_t settle = (uint64_t)(60 / lr), updates = (uint64_t)(40 / lr);
    double sum = 0;

    ga_run_rig_updates(rig, j == 0 ? settle : 0);
    for (uint64_t u = 0; u < updates; u++) {
        ga_run_rig_updates(rig, 1);
        sum += (double)ga_run_rig_weight(rig, (size_t)j);
    }
    return sum / (double)updates;
}

static void check_rates(const struct rate_case *c, double lr)
{
    struct ga_run_rig rig;
    char words[128];

    snprintf(words, sizeof words, "%s lr %.17g", c->settings, lr);
    open_owners(&rig, words);
    for (size_t r = 0; r < OWNERS; r++)
        ga_test_ok(ga_run_slow(rig.run, r, item_ms[r] / 10));
    for (int j = 0; j < 2; j++) {
        double q[OWNERS], steepest = 0;

        for (int i = 0; i < OWNERS; i++) {
            q[i] = c->steps[i] * lambda[j][i] / item_ms[i];
            steepest = fmax(steepest, lambda[j][i]);
        }
        assert_true(fabs(mean_weight(&rig, j, lr) - weighted(q, j)) < lr * steepest);
    }
    ga_run_rig_close(&rig);
}

/* Shares 3/7, 2/7, 2/7. Rescaled steps are T_i times larger, which makes up for the rates. */
static void test_async_settles_where_the_fast_pull(void **state)
{
    static const struct rate_case cases[] = {
        {"mode async", {1, 1, 1}},
        {"mode async scale share", {3, 2, 2}},
        {"mode async scale rescaled", {3 * 10, 2 * 25, 2 * 40}},
    };

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        check_rates(&cases[k], 0.04);
        check_rates(&cases[k], 0.01);
        check_rates(&cases[k], 0.0025);
    }
}

/* ---- on the parabola's net ---- */

static void open_parabola(struct ga_run_rig *rig, const char *settings)
{
    struct ga_net net;
    float *weights = NULL;

    ga_test_parabola_net(&net);
    weights = ga_test_reference_weights("parabola/init.safetensors", &net);
    ga_run_rig_open(rig, &(struct ga_test_start){.settings = settings,
                                                 .weights = weights,
                                                 .weights_count = net.parameters});
    free(weights);
}

/* From where 1,284 updates of sync at 0.01 lead, `updates` more with other settings. */
static double loss_after(const char *change, uint64_t updates, double *largest)
{
    struct ga_run_rig rig;
    double loss = 0;

    open_parabola(&rig, "replicas 8 accum 1 global 50 base 10ms per-example 0 lr 0.01 "
                        "nonfinite apply");
    ga_run_rig_updates(&rig, 1284);
    *largest = loss = ga_run_rig_dataset_loss(&rig);
    ga_test_ok(ga_run_rig_set(&rig, change));
    for (uint64_t u = 0; u < updates; u++) {
        ga_run_rig_updates(&rig, 1);
        loss = ga_run_rig_dataset_loss(&rig);
        *largest = loss < *largest ? *largest : loss;
    }
    ga_run_rig_close(&rig);
    return loss;
}

static void test_stale_full_steps_leave_the_minimum(void **state)
{
    double start = 0, full = 0, scaled = 0, sync = 0, loss = 0;

    (void)state;
    loss_after("lr 0.01", 0, &start);
    loss_after("mode async lr 0.05 scale full", 500, &full);
    assert_false(full < 10 * start);
    loss = loss_after("mode async lr 0.05 scale staleness", 4000, &scaled);
    assert_true(loss < start);
    loss = loss_after("lr 0.05", 500, &sync);
    assert_true(loss < start);
}

static double settle(const char *settings, double slow, uint64_t updates)
{
    struct ga_run_rig rig;
    double loss = 0;

    open_parabola(&rig, settings);
    ga_test_ok(ga_run_slow(rig.run, 3, slow));
    ga_run_rig_updates(&rig, updates);
    loss = ga_run_rig_dataset_loss(&rig);
    ga_run_rig_close(&rig);
    return loss;
}

#define CONTIGUOUS "replicas 4 accum 1 global 50 sharding contiguous base 10ms per-example 0 "

/*
 * In the time of a slow item there are 13 pushes, and each shard makes T_r/mean(T) = 16/7 steps:
 * 4,000 updates of sync are 22,750 pushes.
 */
static void test_a_slow_owner_is_heard_again_when_rescaled(void **state)
{
    double sync = settle(CONTIGUOUS "lr 0.02", 4, 4000);
    double biased = settle(CONTIGUOUS "lr 0.02 mode async scale share", 4, 22750);
    double rescaled = settle(CONTIGUOUS "lr 0.02 mode async scale rescaled", 4, 22750);

    (void)state;
    print_message("sync %g, share %g, rescaled %g\n", sync, biased, rescaled);
    assert_true(biased > 1.1 * sync);
    assert_close(rescaled, sync, 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_local_settles_between_the_replicas),
        cmocka_unit_test(test_async_settles_where_the_fast_pull),
        cmocka_unit_test(test_stale_full_steps_leave_the_minimum),
        cmocka_unit_test(test_a_slow_owner_is_heard_again_when_rescaled),
    };

    return ga_test_main(tests);
}
