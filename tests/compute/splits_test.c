/*
 * One set of bits whatever way a window goes: any partition and order of its examples, by index or
 * by range, every kernel, the small and the large way, weights or none.
 */
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "support/support.h"

#define EXAMPLES 211

struct window {
    struct ga_net net;
    float *weights, *inputs, *targets, *example_weights;
    int32_t labels[EXAMPLES];
    uint32_t order[EXAMPLES];
};

static void window_open(struct window *w, const struct ga_net *net, double size)
{
    const size_t outputs = net->width[net->layers];
    w->net = *net;
    w->weights = test_floats(net->parameters, 11, 1.0);
    w->inputs = test_floats(EXAMPLES * net->width[0], 12, size);
    w->targets = test_floats(EXAMPLES * outputs, 13, 2.0);
    w->example_weights = test_floats(EXAMPLES, 14, 1.0);
    for (size_t e = 0; e < EXAMPLES; e++) {
        w->labels[e] = (int32_t)(test_draw(e) * (double)outputs);
        w->example_weights[e] = e % 11 == 0 ? 0.0f : 0x1p-20f + 3 * w->example_weights[e] + 3;
        w->order[e] = (uint32_t)e;
    }
}

static void window_close(struct window *w)
{
    free(w->weights);
    free(w->inputs);
    free(w->targets);
    free(w->example_weights);
}

static void shuffle(struct window *w, uint64_t seed)
{
    for (size_t i = EXAMPLES - 1; i > 0; i--) {
        const size_t j = (size_t)(test_draw(seed * EXAMPLES + i) * (double)(i + 1));
        const uint32_t kept = w->order[i];
        w->order[i] = w->order[j];
        w->order[j] = kept;
    }
}

/* What a window comes to: both sums of every parameter, and the tally. */
struct result {
    double *sums;
    struct ga_tally tally;
};

static void run(const struct window *w, const struct bench *bench,
                const struct ga_cpu_kernel *kernel, uint64_t cuts, bool weighted,
                struct result *out)
{
    const size_t count = 2 * w->net.parameters;
    double *piece = malloc(count * sizeof *piece);
    memset(out->sums, 0, count * sizeof *piece);
    ga_tally_clear(&out->tally);
    for (size_t at = 0, number = 0; at < EXAMPLES; number++) {
        const size_t left = EXAMPLES - at;
        const double largest = cuts % 3 == 0 ? 9 : cuts % 3 == 1 ? 70 : EXAMPLES;
        size_t size = 1 + (size_t)(test_draw(cuts * 1000 + number) * largest);
        size = cuts == 0 || size > left ? left : size;
        struct ga_tally tally;
        const struct ga_batch batch = {.inputs = w->inputs,
                                       .targets = w->targets,
                                       .labels = w->labels,
                                       .weights = weighted ? w->example_weights : NULL,
                                       .index = cuts == 0 ? NULL : w->order + at,
                                       .first = at,
                                       .count = size};
        if (number % 2) {
            kernel->gradient(&bench->work, w->weights, &batch, GA_ADD, out->sums, &tally);
        } else {
            kernel->gradient(&bench->work, w->weights, &batch, GA_ASSIGN, piece, &tally);
            kernel->add(out->sums, piece, count);
        }
        ga_tally_add(&out->tally, &tally);
        at += size;
    }
    free(piece);
}

/* weight_square is no exact sum: it is compared closely. */
static void check_same(const struct result *got, const struct result *want, size_t count)
{
    assert_memory_equal(got->sums, want->sums, count * sizeof(double));
    assert_memory_equal(got->tally.loss, want->tally.loss, sizeof want->tally.loss);
    assert_memory_equal(got->tally.weight, want->tally.weight, sizeof want->tally.weight);
    assert_close(got->tally.weight_square, want->tally.weight_square, 1e-12);
    assert_int_equal(got->tally.examples, want->tally.examples);
    assert_int_equal(got->tally.correct, want->tally.correct);
    assert_int_equal(got->tally.flags, want->tally.flags);
}

static void check_window(const struct ga_net *net, double size, bool weighted)
{
    struct window w;
    struct bench bench;
    const size_t count = 2 * net->parameters;
    struct result want = {.sums = calloc(count, sizeof(double))};
    struct result got = {.sums = calloc(count, sizeof(double))};
    window_open(&w, net, size);
    bench_open(&bench, net, EXAMPLES);
    run(&w, &bench, bench.kernels[0], 0, weighted, &want);
    for (size_t k = 0; bench.kernels[k]; k++) {
        for (uint64_t cuts = 0; cuts < 7; cuts++) {
            shuffle(&w, cuts);
            bench.work.small = cuts % 2 == 0 && net->parameters <= GA_CPU_SMALL;
            run(&w, &bench, bench.kernels[k], cuts, weighted, &got);
            check_same(&got, &want, count);
        }
    }
    bench_close(&bench);
    window_close(&w);
    free(want.sums);
    free(got.sums);
}

static void test_splits_of_small_nets(void **state)
{
    (void)state;
    const size_t widths[][4] = {{1, 5, 1}, {2, 3, 4, 3}, {3, 8, 2}, {1, 1, 1, 1}, {3, 6, 1}};
    const size_t layers[] = {2, 3, 2, 3, 2};
    for (size_t v = 0; v < 5 * 5 * 2 * 2; v++) {
        const size_t shape = v % 5;
        const struct ga_net net =
            test_mlp(layers[shape], widths[shape], (enum ga_net_activation)(v / 5 % 5),
                     v / 25 % 2 ? GA_LOSS_XENT : GA_LOSS_MSE, v / 50 % 2);
        check_window(&net, 2.0, v % 3 == 0);
    }
}

static void test_splits_of_large_nets(void **state)
{
    (void)state;
    const size_t widths[][4] = {{64, 32, 10}, {3, 50, 2}, {5, 9, 11, 3}, {37, 4}};
    const size_t layers[] = {2, 2, 3, 1};
    for (size_t v = 0; v < 4 * 5; v++) {
        const size_t shape = v % 4;
        const struct ga_net net =
            test_mlp(layers[shape], widths[shape], (enum ga_net_activation)(v / 4),
                     (enum ga_net_loss)(v % 2), v % 3 != 0);
        check_window(&net, 1.5, v % 4 == 1);
    }
}

static void test_splits_of_quadratics(void **state)
{
    (void)state;
    const size_t sizes[] = {1, 6, 128, 150};
    for (size_t i = 0; i < 4; i++) {
        const struct ga_net net = test_quadratic(sizes[i]);
        check_window(&net, 3.0, i % 2);
    }
}

/* Where factors are so large that terms are checked one by one, and none leaves the range. */
static void test_splits_of_checked_terms(void **state)
{
    (void)state;
    const size_t widths[][3] = {{2, 3, 1}, {40, 4, 1}};
    for (size_t i = 0; i < 2; i++) {
        const struct ga_net net = test_mlp(2, widths[i], GA_ACT_TANH, GA_LOSS_MSE, true);
        check_window(&net, 1e6, true);
    }
}

/* And where some do: flags and NaN are free of order too. */
static void test_splits_of_terms_beyond(void **state)
{
    (void)state;
    const size_t widths[][3] = {{2, 3, 1}, {40, 4, 1}};
    for (size_t i = 0; i < 2; i++) {
        const struct ga_net net = test_mlp(2, widths[i], GA_ACT_RELU, GA_LOSS_MSE, true);
        check_window(&net, 3e5, false);
        check_window(&net, 1e30, false);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_splits_of_small_nets),
        cmocka_unit_test(test_splits_of_large_nets),
        cmocka_unit_test(test_splits_of_quadratics),
        cmocka_unit_test(test_splits_of_checked_terms),
        cmocka_unit_test(test_splits_of_terms_beyond),
    };
    return ga_test_main(tests);
}
