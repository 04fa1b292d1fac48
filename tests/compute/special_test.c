/*
 * Values that are not finite or too large: what is flagged, which parameters turn NaN, and that
 * lanes which only fill up a vector have no part in it. Small and large way, all kernels.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "support/support.h"

#define MOST 70 /* examples */

struct outcome {
    double high[512], low[512];
    struct ga_tally tally;
};

/* The window on every kernel and both ways, which must agree to the bit. */
static void run_all(const struct ga_net *net, const float *weights, const struct ga_batch *batch,
                    struct outcome *out)
{
    struct bench bench;
    double sums[1024];
    const size_t n = net->parameters;
    bool first = true;
    assert_true(2 * n <= 1024 && batch->count <= MOST);
    bench_open(&bench, net, MOST);
    for (size_t k = 0; bench.kernels[k]; k++) {
        for (int small = 0; small < 2; small++) {
            struct ga_tally tally;
            memset(sums, 0, sizeof sums);
            bench.work.small = small && n <= GA_CPU_SMALL;
            bench.kernels[k]->gradient(&bench.work, weights, batch, GA_ASSIGN, sums, &tally);
            if (first) {
                memcpy(out->high, sums, n * sizeof(double));
                memcpy(out->low, sums + n, n * sizeof(double));
                out->tally = tally;
            }
            first = false;
            assert_memory_equal(out->high, sums, n * sizeof(double));
            assert_memory_equal(out->low, sums + n, n * sizeof(double));
            assert_memory_equal(&out->tally, &tally, sizeof tally);
        }
    }
    bench_close(&bench);
}

static struct ga_net net_1_2_1(enum ga_net_activation activation)
{
    const size_t widths[] = {1, 2, 1};
    return test_mlp(2, widths, activation, GA_LOSS_MSE, true);
}

/* Weight inf and inputs that are not 0: every real example saturates and nothing is wrong. In a
 * lane with input 0 inf * 0 would be NaN. */
static void test_filling_lanes_meet_no_infinity(void **state)
{
    (void)state;
    const struct ga_net net = net_1_2_1(GA_ACT_TANH);
    const float weights[7] = {INFINITY, 1, 0.5f, 0.25f, 1, -1, 0.125f};
    const float inputs[5] = {1, 2, -1, 3, -2};
    const float targets[5] = {0, 1, 2, 3, 4};
    for (size_t count = 1; count <= 5; count++) {
        struct outcome o;
        const struct ga_batch batch = {.inputs = inputs, .targets = targets, .count = count};
        run_all(&net, weights, &batch, &o);
        assert_int_equal(o.tally.flags, 0);
        for (size_t i = 0; i < net.parameters; i++)
            assert_true(isfinite(o.high[i]) && isfinite(o.low[i]));
        assert_true(o.high[0] == 0 && o.low[0] == 0);
    }
}

/* One NaN input: every parameter but the hidden unit's that relu switches off is NaN. */
static void test_nan_input(void **state)
{
    (void)state;
    const struct ga_net net = net_1_2_1(GA_ACT_TANH);
    const float weights[7] = {1, 2, 0, 0, 1, 1, 0};
    float inputs[MOST];
    float targets[MOST];
    for (size_t e = 0; e < MOST; e++) {
        inputs[e] = (float)test_draw(e);
        targets[e] = 1;
    }
    const size_t places[] = {0, 7, 8, 63, 64, 69};
    for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
        struct outcome o;
        const struct ga_batch batch = {.inputs = inputs, .targets = targets, .count = MOST};
        inputs[places[p]] = NAN;
        run_all(&net, weights, &batch, &o);
        inputs[places[p]] = 0.5f;
        assert_int_equal(o.tally.flags, GA_TALLY_NONFINITE);
        for (size_t i = 0; i < net.parameters; i++)
            assert_true(isnan(o.high[i]) && isnan(o.low[i]));
        assert_true(isnan(ga_tally_loss_sum(&o.tally)));
    }
}

/* A NaN in an example of weight 0 is still a NaN, and is said. */
static void test_nan_of_weight_zero(void **state)
{
    (void)state;
    const struct ga_net net = net_1_2_1(GA_ACT_SIGMOID);
    const float weights[7] = {1, 2, 0, 0, 1, 1, 0};
    const float inputs[3] = {1, NAN, 2};
    const float targets[3] = {1, 1, 1};
    const float example_weights[3] = {1, 0, 1};
    struct outcome o;
    const struct ga_batch batch = {
        .inputs = inputs, .targets = targets, .weights = example_weights, .count = 3};
    run_all(&net, weights, &batch, &o);
    assert_int_equal(o.tally.flags, GA_TALLY_NONFINITE);
}

/* A unit that relu switches off for all examples keeps gradient 0 beside a diverging one. */
static void test_only_touched_parameters_turn_nan(void **state)
{
    (void)state;
    const struct ga_net net = net_1_2_1(GA_ACT_RELU);
    const float weights[7] = {-1, 1, 0, 0, 1, 1e30f, 0};
    const float inputs[2] = {1, 2};
    const float targets[2] = {0, 0};
    struct outcome o;
    const struct ga_batch batch = {.inputs = inputs, .targets = targets, .count = 2};
    run_all(&net, weights, &batch, &o);
    assert_true(o.tally.flags & GA_TALLY_BEYOND);
    assert_true(o.high[0] == 0 && o.high[2] == 0);
    assert_true(isnan(o.high[1]) && isnan(o.low[1]) && isnan(o.high[3]));
    assert_true(o.high[4] == 0 && isnan(o.high[5]) && isnan(o.high[6]));
}

/* The last term inside the range and the first outside, of either sign. */
static void check_range(size_t coordinates, float lambda, float d, uint32_t flags)
{
    const struct ga_net net = test_quadratic(coordinates);
    float inputs[256];
    float centers[256];
    float *weights = calloc(coordinates, sizeof *weights);
    struct outcome o;
    for (size_t j = 0; j < coordinates; j++) {
        inputs[j] = j == 1 ? lambda : 1.0f;
        centers[j] = j == 1 ? -d : 1.0f;
    }
    const struct ga_batch batch = {.inputs = inputs, .targets = centers, .count = 1};
    run_all(&net, weights, &batch, &o);
    assert_int_equal(o.tally.flags, flags);
    assert_true(flags ? isnan(o.high[1]) && isnan(o.low[1])
                      : o.high[1] + o.low[1] == (double)lambda * (double)d);
    assert_true(o.high[0] == -1 && o.low[0] == 0 && o.high[2] == -1 && o.low[2] == 0);
    free(weights);
}

static void test_range_of_terms(void **state)
{
    (void)state;
    const size_t sizes[] = {3, 130};
    for (size_t i = 0; i < 2; i++) {
        check_range(sizes[i], 0x1p13f, 0x1p14f, 0);
        check_range(sizes[i], 0x1p20f, -0x1p7f, 0);
        check_range(sizes[i], 0x1.000002p13f, 0x1p14f, GA_TALLY_BEYOND);
        check_range(sizes[i], 0x1p20f, -0x1.000002p7f, GA_TALLY_BEYOND);
        check_range(sizes[i], INFINITY, 0x1p-20f, GA_TALLY_NONFINITE);
        check_range(sizes[i], 0x1p-20f, NAN, GA_TALLY_NONFINITE);
        check_range(sizes[i], NAN, 0, GA_TALLY_NONFINITE);
        check_range(sizes[i], INFINITY, 0, GA_TALLY_NONFINITE);
    }
}

/* A loss is flagged by its own range, 2^63, even where the gradient is small. */
static void test_range_of_losses(void **state)
{
    (void)state;
    const size_t widths[] = {1, 1};
    const struct ga_net net = test_mlp(1, widths, GA_ACT_TANH, GA_LOSS_MSE, false);
    const float weights[1] = {0};
    const float inputs[2] = {0, 0};
    const float sizes[] = {0x1p31f, 0x1.6ap31f, 0x1.6bp31f, 0x1p63f, 0x1p64f, INFINITY};
    const uint32_t flags[] = {
        0, 0, GA_TALLY_BEYOND, GA_TALLY_BEYOND, GA_TALLY_NONFINITE, GA_TALLY_NONFINITE};
    for (size_t i = 0; i < 6; i++) {
        const float targets[2] = {sizes[i], 3};
        struct outcome o;
        const struct ga_batch batch = {.inputs = inputs, .targets = targets, .count = 2};
        run_all(&net, weights, &batch, &o);
        assert_int_equal(o.tally.flags, flags[i]);
        if (flags[i])
            assert_true(isnan(ga_tally_loss_sum(&o.tally)));
        else
            assert_close(ga_tally_loss_sum(&o.tally), (double)(sizes[i] * sizes[i]) + 9, 1e-15);
    }
}

/* Outputs of any size through the softmax. */
static void test_softmax_of_extremes(void **state)
{
    (void)state;
    const size_t widths[] = {1, 3};
    const struct ga_net net = test_mlp(1, widths, GA_ACT_TANH, GA_LOSS_XENT, true);
    const float inputs[1] = {0};
    const int32_t labels[1] = {1};
    const float cases[][3] = {{0, 1e30f, 0},     {0, -1e6f, 0},    {3e38f, 3e38f, 3e38f},
                              {0, -INFINITY, 0}, {INFINITY, 0, 0}, {NAN, 0, 0},
                              {0, 0, -INFINITY}};
    const uint32_t flags[] = {0, 0, 0, GA_TALLY_NONFINITE, GA_TALLY_NONFINITE, GA_TALLY_NONFINITE,
                              0};
    const double losses[] = {0, 1e6, log(3.0), 0, 0, 0, log(2.0)};
    const struct ga_batch batch = {.inputs = inputs, .labels = labels, .count = 1};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct outcome o;
        const float weights[6] = {0, 0, 0, cases[i][0], cases[i][1], cases[i][2]};
        run_all(&net, weights, &batch, &o);
        assert_int_equal(o.tally.flags, flags[i]);
        if (!flags[i] && losses[i] == 0)
            assert_true(ga_tally_loss_sum(&o.tally) == 0);
        else if (!flags[i])
            assert_close(ga_tally_loss_sum(&o.tally), losses[i], 1e-6);
    }
}

static void test_empty_batch(void **state)
{
    (void)state;
    const struct ga_net net = net_1_2_1(GA_ACT_TANH);
    const float weights[7] = {1, 2, 0, 0, 1, 1, 0};
    const float inputs[1] = {1};
    struct outcome o;
    const struct ga_batch batch = {.inputs = inputs, .targets = inputs};
    run_all(&net, weights, &batch, &o);
    assert_int_equal(o.tally.examples, 0);
    assert_true(ga_tally_loss_sum(&o.tally) == 0 && ga_tally_weight_sum(&o.tally) == 0);
    for (size_t i = 0; i < net.parameters; i++)
        assert_true(o.high[i] == 0 && o.low[i] == 0);
}

/* GA_ASSIGN clears by assignment: what stood there, NaN too, is gone. */
static void test_assign_forgets_nan(void **state)
{
    (void)state;
    const struct ga_net nets[] = {net_1_2_1(GA_ACT_TANH), test_quadratic(140)};
    for (size_t i = 0; i < 2; i++) {
        struct bench bench;
        float *weights = test_floats(140, 1, 1);
        float *table = test_floats(140, 2, 1);
        const struct ga_batch batch = {.inputs = table, .targets = table, .count = 1};
        const struct ga_batch none = {.inputs = table, .targets = table};
        bench_open(&bench, &nets[i], 1);
        for (size_t k = 0; bench.kernels[k]; k++) {
            for (int empty = 0; empty < 2; empty++) {
                double sums[280];
                struct ga_tally tally;
                for (size_t p = 0; p < 280; p++)
                    sums[p] = (double)NAN;
                bench.kernels[k]->gradient(&bench.work, weights, empty ? &none : &batch, GA_ASSIGN,
                                           sums, &tally);
                for (size_t p = 0; p < 2 * nets[i].parameters; p++)
                    assert_true(isfinite(sums[p]));
            }
        }
        bench_close(&bench);
        free(weights);
        free(table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filling_lanes_meet_no_infinity),
        cmocka_unit_test(test_nan_input),
        cmocka_unit_test(test_nan_of_weight_zero),
        cmocka_unit_test(test_only_touched_parameters_turn_nan),
        cmocka_unit_test(test_range_of_terms),
        cmocka_unit_test(test_range_of_losses),
        cmocka_unit_test(test_softmax_of_extremes),
        cmocka_unit_test(test_empty_batch),
        cmocka_unit_test(test_assign_forgets_nan),
    };
    return ga_test_main(tests);
}
