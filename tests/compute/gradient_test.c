/*
 * Gradients, losses and outputs against a reference in double, which is itself held against finite
 * differences: every activation, loss, bias and weighting, small nets and large ones, all kernels.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problem.h"
#include "support/support.h"

#define EXAMPLES 77

struct shape {
    size_t layers;
    size_t widths[5];
};

static const struct shape shapes[] = {
    {1, {3, 2}},    {2, {1, 5, 1}},  {2, {2, 7, 3}},   {3, {4, 6, 5, 2}},   {4, {2, 3, 4, 3, 2}},
    {2, {3, 6, 1}}, {2, {40, 9, 2}}, {2, {3, 41, 10}}, {3, {5, 13, 17, 4}},
};
#define SHAPES (sizeof shapes / sizeof shapes[0])

static void check_gradient(const struct problem *p, const struct bench *bench,
                           const struct ga_cpu_kernel *kernel, const double *want, double want_loss)
{
    const size_t n = p->net.parameters;
    double *sums = malloc(2 * n * sizeof *sums);
    struct ga_tally tally;
    kernel->gradient(&bench->work, p->weights, &p->batch, GA_ASSIGN, sums, &tally);
    for (size_t i = 0; i < n; i++)
        sums[i] += sums[n + i];
    assert_at_most(relative_distance(sums, want, n), 2e-6);
    assert_close(ga_tally_loss_sum(&tally), want_loss, 2e-6);
    assert_int_equal(tally.flags, 0);
    assert_int_equal(tally.examples, EXAMPLES);
    free(sums);
}

static void check_kernels(const struct problem *p)
{
    double *want = calloc(p->net.parameters, sizeof *want);
    const double want_loss = reference_gradient(&p->net, p->wide, &p->batch, want);
    struct bench bench;
    bench_open(&bench, &p->net, EXAMPLES);
    for (size_t k = 0; bench.kernels[k]; k++)
        check_gradient(p, &bench, bench.kernels[k], want, want_loss);
    bench_close(&bench);
    free(want);
}

static void for_each_problem(void (*check)(const struct problem *))
{
    for (size_t variant = 0; variant < SHAPES * 5 * 8; variant++) {
        struct problem p;
        const struct shape *shape = &shapes[variant % SHAPES];
        const size_t rest = variant / SHAPES;
        const struct ga_net net =
            test_mlp(shape->layers, shape->widths, (enum ga_net_activation)(rest % 5),
                     rest / 5 % 2 ? GA_LOSS_XENT : GA_LOSS_MSE, rest / 10 % 2);
        problem_open(&p, &net, EXAMPLES, 0.9, rest / 20 % 2);
        check(&p);
        problem_close(&p);
    }
}

static void test_against_reference(void **state)
{
    (void)state;
    for_each_problem(check_kernels);
}

/* Central differences of the reference's own loss, at some 25 parameters. relu gets more room: a
 * step may cross its kink, where the difference is no derivative. */
static void check_differences(const struct problem *p)
{
    const double h = 1e-5;
    const size_t n = p->net.parameters;
    const size_t step = n / 25 + 1;
    double *gradient = calloc(n, sizeof *gradient);
    double *differences = calloc(n, sizeof *differences);
    double *w = calloc(n, sizeof *w);
    size_t count = 0;
    memcpy(w, p->wide, n * sizeof *w);
    reference_gradient(&p->net, p->wide, &p->batch, gradient);
    for (size_t i = 0; i < n; i += step, count++) {
        w[i] = p->wide[i] + h;
        const double above = reference_loss(&p->net, w, &p->batch);
        w[i] = p->wide[i] - h;
        differences[count] = (above - reference_loss(&p->net, w, &p->batch)) / (2 * h);
        w[i] = p->wide[i];
        gradient[count] = gradient[i];
    }
    const double limit = p->net.activation == GA_ACT_RELU ? 1e-4 : 1e-6;
    assert_at_most(relative_distance(differences, gradient, count), limit);
    free(gradient);
    free(differences);
    free(w);
}

static void test_reference_against_differences(void **state)
{
    (void)state;
    for_each_problem(check_differences);
}

static void check_quadratic(size_t coordinates, bool weighted)
{
    struct problem p;
    const struct ga_net net = test_quadratic(coordinates);
    problem_open(&p, &net, EXAMPLES, 0.9, weighted);
    for (size_t i = 0; i < EXAMPLES * coordinates; i++)
        p.inputs[i] = fabsf(p.inputs[i]); /* lambda: so that no loss cancels another */
    check_kernels(&p);
    check_differences(&p);
    problem_close(&p);
}

static void test_quadratics(void **state)
{
    (void)state;
    const size_t sizes[] = {1, 2, 5, 128, 129, 200};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        check_quadratic(sizes[i], false);
        check_quadratic(sizes[i], true);
    }
}

/* Outputs, and how many examples are right, against plain counting. */
static void check_outputs(const struct problem *p)
{
    const size_t width = p->net.width[p->net.layers];
    float outputs[EXAMPLES * 16];
    struct bench bench;
    bench_open(&bench, &p->net, EXAMPLES);
    for (size_t k = 0; bench.kernels[k]; k++) {
        struct ga_tally evaluated;
        uint64_t correct = 0;
        bench.kernels[k]->predict(&bench.work, p->weights, &p->batch, outputs);
        bench.kernels[k]->evaluate(&bench.work, p->weights, &p->batch, &evaluated);
        for (size_t e = 0; e < EXAMPLES; e++) {
            const float *y = outputs + e * width;
            size_t best = 0;
            for (size_t o = 1; o < width; o++)
                best = y[o] > y[best] ? o : best;
            correct += best == (size_t)p->labels[p->index[e]];
        }
        assert_int_equal(evaluated.correct, p->net.loss == GA_LOSS_XENT ? correct : 0);
        assert_close(ga_tally_loss_sum(&evaluated), reference_loss(&p->net, p->wide, &p->batch),
                     2e-6);
    }
    bench_close(&bench);
}

static void test_outputs(void **state)
{
    (void)state;
    for_each_problem(check_outputs);
}

/* The lowest index wins a tie. */
static void test_tie_goes_to_the_lowest(void **state)
{
    (void)state;
    const size_t widths[] = {1, 4};
    const struct ga_net net = test_mlp(1, widths, GA_ACT_TANH, GA_LOSS_XENT, true);
    const float weights[8] = {0, 0, 0, 0, 1, 2, 2, 1};
    const float inputs[4] = {1, 2, 3, 4};
    const int32_t labels[4] = {0, 1, 2, 3};
    const struct ga_batch batch = {.inputs = inputs, .labels = labels, .count = 4};
    struct bench bench;
    bench_open(&bench, &net, 4);
    for (size_t k = 0; bench.kernels[k]; k++) {
        struct ga_tally tally;
        bench.kernels[k]->evaluate(&bench.work, weights, &batch, &tally);
        assert_int_equal(tally.correct, 1);
    }
    bench_close(&bench);
}

/* An example that is learnt to within 1e-30 still has an exact small loss and gradient. */
static void test_learnt_example_keeps_its_gradient(void **state)
{
    (void)state;
    const size_t widths[] = {1, 3};
    const struct ga_net net = test_mlp(1, widths, GA_ACT_TANH, GA_LOSS_XENT, false);
    const float weights[3] = {0, 9, -1};
    const double wide[3] = {0, 9, -1};
    const float inputs[1] = {1};
    const int32_t labels[1] = {1};
    const struct ga_batch batch = {.inputs = inputs, .labels = labels, .count = 1};
    double want[3];
    struct bench bench;
    bench_open(&bench, &net, 1);
    const double loss = reference_gradient(&net, wide, &batch, want);
    for (size_t k = 0; bench.kernels[k]; k++) {
        double sums[6];
        struct ga_tally tally;
        bench.kernels[k]->gradient(&bench.work, weights, &batch, GA_ASSIGN, sums, &tally);
        assert_close(ga_tally_loss_sum(&tally), loss, 1e-6);
        assert_close(sums[1] + sums[4], -(exp(-9.0) + exp(-10.0)) / (1 + exp(-9.0) + exp(-10.0)),
                     1e-6);
    }
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_reference_against_differences),
        cmocka_unit_test(test_quadratics),
        cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_tie_goes_to_the_lowest),
        cmocka_unit_test(test_learnt_example_keeps_its_gradient),
    };
    return ga_test_main(tests);
}
