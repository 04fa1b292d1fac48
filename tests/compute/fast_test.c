/*
 * The fast device keeps the promise of the numerics: gradients against a reference in double at
 * drawn weights, every activation, loss, bias and weighting, nets of both ways, cut over replicas,
 * accumulation and micro-batches that are no powers of two. And the passes that fuse: accumulate,
 * mean_part, step_part. Run once for each instruction set, by GA_CPU_KERNEL.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "problem.h"
#include "support/support.h"

#define EXAMPLES 512 /* 8 * 8 * 8 */

static const struct ga_compute *device(void)
{
    const struct ga_compute *c = ga_compute_find("cpu", "fast");
    assert_non_null(c);
    return c;
}

struct shape {
    size_t layers;
    size_t widths[5];
};

/* The last three have a layer that is a product of matrices. */
static const struct shape shapes[] = {
    {1, {3, 2}},      {2, {1, 5, 1}},      {2, {2, 7, 3}},    {3, {4, 6, 5, 2}},
    {2, {3, 6, 1}},   {3, {5, 13, 17, 4}}, {2, {64, 32, 10}}, {3, {37, 53, 41, 3}},
    {2, {3, 251, 9}}, {3, {64, 33, 35, 1}}};
#define SHAPES (sizeof shapes / sizeof shapes[0])

/* Weights that leave sums of a usual size. */
static void open_problem(struct problem *p, const struct ga_net *net, bool weighted)
{
    problem_open(p, net, EXAMPLES, 1.5 / sqrt((double)net->width[0]), weighted);
}

static struct ga_net net_of(const struct shape *shape, size_t variant)
{
    return test_mlp(shape->layers, shape->widths, (enum ga_net_activation)(variant % 5),
                    variant / 5 % 2 ? GA_LOSS_XENT : GA_LOSS_MSE, variant / 10 % 2 == 0);
}

/* In reduced runs a share of them, of every shape: the step has no factor in common with SHAPES. */
static void for_each_problem(void (*check)(const struct problem *, size_t variant))
{
    const size_t wanted = ga_test_stride();
    const size_t stride = wanted < 20 ? 1 : 37;
    for (size_t variant = 0; variant < SHAPES * 5 * 8; variant += stride) {
        struct problem p;
        const struct ga_net net = net_of(&shapes[variant % SHAPES], variant / SHAPES);
        open_problem(&p, &net, variant / SHAPES / 20 % 2);
        check(&p, variant);
        problem_close(&p);
    }
}

/* What P replicas with A micro-batches each make of the first P*A*b examples. */
struct window {
    float *sums[8];
    size_t replicas, accum, batch;
    double weight, loss;
};

static void run_window(const struct problem *p, struct window *w)
{
    struct ga_context *context = NULL;
    struct ga_batch batch = p->batch;
    struct ga_tally tally;
    double square = 0;
    assert_int_equal(device()->open(&context, &p->net, w->batch), GA_OK);
    batch.count = w->batch;
    for (size_t r = 0; r < w->replicas; r++) {
        w->sums[r] = device()->alloc(p->net.parameters * sizeof(float));
        for (size_t a = 0; a < w->accum; a++, batch.index += w->batch) {
            assert_int_equal(device()->accumulate(context, p->weights, &batch,
                                                  a > 0 ? w->sums[r] : NULL, w->sums[r], &tally,
                                                  &square),
                             GA_OK);
            assert_int_equal(tally.examples, w->batch);
            assert_int_equal(tally.flags, 0);
            w->weight += ga_tally_weight_sum(&tally);
            w->loss += ga_tally_loss_sum(&tally);
        }
    }
    device()->close(context);
}

static void check_promise(const struct problem *p, size_t variant)
{
    static const size_t counts[] = {1, 2, 3, 5, 7, 8};
    const size_t n = p->net.parameters;
    struct window w = {.replicas = counts[variant % 6], .accum = counts[variant / 6 % 6]};
    struct ga_batch batch = p->batch;
    w.batch = counts[variant / 36 % 6];
    batch.count = w.replicas * w.accum * w.batch;
    double *want = calloc(n, sizeof *want);
    double *got = calloc(n, sizeof *got);
    float *g = calloc(n, sizeof *g);
    double squares[2];
    const struct ga_part all = {0, n};
    const double want_loss = reference_gradient(&p->net, p->wide, &batch, want);
    run_window(p, &w);
    device()->mean_part((const void *const *)w.sums, w.replicas, w.weight, &all, g, squares, NULL);
    for (size_t i = 0; i < n; i++)
        got[i] = (double)g[i] * w.weight;
    assert_at_most(relative_distance(got, want, n), 2e-6);
    assert_close(w.loss, want_loss, 2e-6);
    for (size_t r = 0; r < w.replicas; r++)
        device()->free(w.sums[r]);
    free(want);
    free(got);
    free(g);
}

static void test_promise(void **state)
{
    (void)state;
    for_each_problem(check_promise);
}

/* One large micro-batch, and the sums of squares of what it adds. */
static void check_accumulate(const struct problem *p, size_t variant)
{
    const size_t n = p->net.parameters;
    struct ga_context *context = NULL;
    struct ga_tally tally;
    double square = 0;
    double added = 0;
    float *own = device()->alloc(n * sizeof(float));
    float *to = device()->alloc(n * sizeof(float));
    float *onto = test_floats(n, variant + 50, 3.0);
    double *want = calloc(n, sizeof *want);
    double *got = calloc(n, sizeof *got);
    reference_gradient(&p->net, p->wide, &p->batch, want);
    assert_int_equal(device()->open(&context, &p->net, 8), GA_OK);
    assert_int_equal(
        device()->accumulate(context, p->weights, &p->batch, NULL, own, &tally, &square), GA_OK);
    device()->read_sums(&p->net, own, 0, n, got);
    assert_at_most(relative_distance(got, want, n), 2e-6);
    assert_close(square, pow(device()->mean(&p->net, own, 1, NULL), 2), 1e-9);
    assert_int_equal(device()->accumulate(context, p->weights, &p->batch, onto, to, &tally, &added),
                     GA_OK);
    assert_close(added, square, 1e-5);
    for (size_t i = 0; i < n; i++)
        assert_true(fabsf(to[i] - (onto[i] + own[i])) <=
                    1e-5f * (fabsf(onto[i]) + fabsf(own[i])) + 1e-3f);
    assert_int_equal(device()->gradient(context, p->weights, &p->batch, GA_ADD, onto, &tally),
                     GA_OK);
    assert_memory_equal(onto, to, n * sizeof(float));
    device()->close(context);
    device()->free(own);
    device()->free(to);
    free(onto);
    free(want);
    free(got);
}

static void test_accumulate(void **state)
{
    (void)state;
    for_each_problem(check_accumulate);
}

/* Outputs by predict(), losses by evaluate(), against gradient()'s tally. */
static void check_looking(const struct problem *p, size_t variant)
{
    const size_t outputs = p->net.width[p->net.layers];
    struct ga_context *context = NULL;
    struct ga_tally tally;
    struct ga_tally looked;
    double square = 0;
    double loss = 0;
    float *sums = device()->alloc(p->net.parameters * sizeof(float));
    float *y = calloc(EXAMPLES * outputs, sizeof *y);
    struct ga_batch batch = p->batch;
    batch.weights = NULL;
    (void)variant;
    assert_int_equal(device()->open(&context, &p->net, 3), GA_OK);
    assert_int_equal(device()->evaluate(context, p->weights, &batch, &looked), GA_OK);
    assert_int_equal(device()->predict(context, p->weights, &batch, y), GA_OK);
    assert_int_equal(device()->accumulate(context, p->weights, &batch, NULL, sums, &tally, &square),
                     GA_OK);
    assert_close(ga_tally_loss_sum(&looked), ga_tally_loss_sum(&tally), 1e-6);
    assert_int_equal(looked.examples, tally.examples);
    for (size_t e = 0; p->net.loss == GA_LOSS_MSE && e < EXAMPLES; e++) {
        for (size_t o = 0; o < outputs; o++) {
            const double d =
                (double)y[e * outputs + o] - (double)p->targets[p->index[e] * outputs + o];
            loss += d * d;
        }
    }
    if (p->net.loss == GA_LOSS_MSE)
        assert_close(loss, ga_tally_loss_sum(&tally), 2e-6);
    device()->close(context);
    device()->free(sums);
    free(y);
}

static void test_looking(void **state)
{
    (void)state;
    for_each_problem(check_looking);
}

static void test_quadratics(void **state)
{
    (void)state;
    const struct ga_net net = test_quadratic(37);
    struct problem p;
    open_problem(&p, &net, true);
    for (size_t i = 0; i < EXAMPLES * 37; i++)
        p.inputs[i] = fabsf(p.inputs[i]);
    check_promise(&p, 5 + 6 * 4 + 36 * 3);
    check_accumulate(&p, 0);
    problem_close(&p);
}

/* Sums, products and squares of parts, cut in two ways, are the same bits and the right ones. */
static void test_means(void **state)
{
    (void)state;
    const size_t n = 3 * GA_PART + 77;
    const struct ga_part all = {0, n};
    const struct ga_part halves[] = {{0, 2 * GA_PART}, {2 * GA_PART, GA_PART + 77}};
    float *sums[3];
    float *g[2] = {calloc(n, sizeof(float)), calloc(n, sizeof(float))};
    double squares[2][4];
    double dots[2][12];
    double square = 0;
    for (size_t r = 0; r < 3; r++)
        sums[r] = test_floats(n, r, 2.0);
    device()->mean_part((const void *const *)sums, 3, 7, &all, g[0], squares[0], dots[0]);
    for (size_t i = 0; i < 2; i++)
        device()->mean_part((const void *const *)sums, 3, 7, &halves[i], g[1], squares[1] + 2 * i,
                            dots[1] + 6 * i);
    assert_memory_equal(g[0], g[1], n * sizeof(float));
    assert_memory_equal(squares[0], squares[1], sizeof squares[0]);
    assert_memory_equal(dots[0], dots[1], sizeof dots[0]);
    for (size_t i = 0; i < n; i++)
        assert_close((double)g[0][i] * 7, (double)(sums[0][i] + sums[1][i] + sums[2][i]), 1e-6);
    for (size_t b = 0; b < 4; b++)
        square += squares[0][b];
    assert_close(sqrt(square), ga_norm(g[0], n), 1e-12);
    assert_close(dots[0][3] + dots[0][0] + dots[0][6] + dots[0][9], ga_dot(sums[0], g[0], n), 1e-9);
    for (size_t r = 0; r < 3; r++)
        free(sums[r]);
    free(g[0]);
    free(g[1]);
}

/* Steps against the exact device's, which is tested against PyTorch's formulas. */
static void check_step(const struct ga_step *step, size_t n)
{
    const struct ga_net net = {.parameters = n};
    const struct ga_part all = {0, n};
    float *w = test_floats(n, 1, 1.0);
    float *g = test_floats(n, 2, 1.0);
    float *s = test_floats(2 * n, 3, 0.5);
    float *out[2] = {calloc(n, sizeof(float)), calloc(n, sizeof(float))};
    float *kept[2] = {calloc(2 * n, sizeof(float)), calloc(2 * n, sizeof(float))};
    double squares[8];
    double total[2] = {0, 0};
    const struct ga_step_blocks blocks = {g, w, s, out[1], kept[1]};
    for (size_t i = 0; i < n; i++)
        s[n + i] = fabsf(s[n + i]);
    ga_compute_cpu_exact.step(&net, step, g, w, s, out[0], kept[0]);
    device()->step_part(&net, step, &blocks, &all, squares);
    assert_at_most(ga_norm_of_difference(out[0], out[1], n) / ga_norm(out[0], n), 1e-6);
    const size_t kept_count = ga_step_state_blocks(step->kind, step->momentum) * n;
    if (kept_count > 0)
        assert_at_most(ga_norm_of_difference(kept[0], kept[1], kept_count) /
                           ga_norm(kept[0], kept_count),
                       1e-6);
    for (size_t b = 0; b * GA_PART < n; b++) {
        total[0] += squares[2 * b];
        total[1] += squares[2 * b + 1];
    }
    assert_close(sqrt(total[0]), ga_norm_of_difference(out[1], w, n), 1e-6);
    assert_close(sqrt(total[1]), ga_norm(out[1], n), 1e-9);
    device()->step(&net, step, g, w, s, out[0], kept[0]);
    assert_memory_equal(out[0], out[1], n * sizeof(float));
    for (int i = 0; i < 2; i++) {
        free(out[i]);
        free(kept[i]);
    }
    free(w);
    free(g);
    free(s);
}

static void test_steps(void **state)
{
    (void)state;
    const struct ga_step base = {.lr = 0.05f,
                                 .decay_factor = 0.99f,
                                 .beta1 = 0.9f,
                                 .one_minus_beta1 = 0.1f,
                                 .beta2 = 0.999f,
                                 .one_minus_beta2 = 0.001f,
                                 .step_size = 0.02f,
                                 .root_bias2 = 0.5f,
                                 .epsilon = 1e-8f};
    for (size_t v = 0; v < 3 * 2 * 2 * 2 * 2; v++) {
        struct ga_step step = base;
        step.kind = (enum ga_step_kind)(v % 3);
        step.momentum = v / 3 % 2 ? 0.9f : 0.0f;
        step.nesterov = v / 6 % 2 && step.momentum != 0;
        step.weight_decay = v / 12 % 2 ? 0.1f : 0.0f;
        step.scaled = v / 24 % 2;
        step.gradient_scale = step.scaled ? 0.3f : 1.0f;
        check_step(&step, 16);
        check_step(&step, 2 * GA_PART + 5);
    }
}

/* Values that are no numbers are flagged and reach the sums; an empty batch adds nothing. */
static void test_special(void **state)
{
    (void)state;
    struct problem p;
    double square = -1;
    struct ga_tally tally;
    for (size_t s = 0; s < SHAPES; s++) {
        const struct ga_net net = net_of(&shapes[s], 1);
        struct ga_context *context = NULL;
        open_problem(&p, &net, false);
        float *sums = test_floats(net.parameters, 9, 1);
        p.batch.count = 0;
        assert_int_equal(device()->open(&context, &net, 1), GA_OK);
        assert_int_equal(
            device()->accumulate(context, p.weights, &p.batch, NULL, sums, &tally, &square), GA_OK);
        assert_true(square == 0 && tally.examples == 0 && sums[0] == 0);
        p.batch.count = 5;
        p.inputs[p.index[3] * net.width[0]] = NAN;
        assert_int_equal(
            device()->accumulate(context, p.weights, &p.batch, NULL, sums, &tally, &square), GA_OK);
        assert_int_equal(tally.flags, GA_TALLY_NONFINITE);
        assert_true(isnan(square));
        assert_true(isnan(device()->mean(&net, sums, 5, NULL)));
        device()->clear(&net, sums);
        assert_true(sums[0] == 0 && device()->mean(&net, sums, 1, NULL) == 0);
        device()->close(context);
        free(sums);
        problem_close(&p);
    }
}

static void test_accounting(void **state)
{
    (void)state;
    for (size_t s = 0; s < SHAPES; s++) {
        const struct ga_net net = net_of(&shapes[s], s);
        test_context_bytes(device(), &net, 1);
        test_context_bytes(device(), &net, 100);
        test_context_bytes(device(), &net, 20000);
    }
    const struct ga_net large = net_of(&shapes[6], 2);
    if (device()->context_bytes(&large, 20000) > device()->context_bytes(&large, 64))
        assert_true(device()->context_bytes(&large, SIZE_MAX / 8) == SIZE_MAX);
}

/* Each allocation of opening and of growing fails once; then nothing is allocated any more. */
static void check_no_memory(const struct ga_net *net)
{
    struct problem p;
    struct ga_context *context = NULL;
    struct ga_tally tally;
    double square = 0;
    open_problem(&p, net, false);
    float *sums = device()->alloc(net->parameters * sizeof(float));
    assert_non_null(sums);
    for (int64_t allowed = 0; allowed < 10 && !context; allowed++) {
        ga_test_allocation_limit(allowed);
        const int code = device()->open(&context, net, 8);
        ga_test_allocation_free();
        assert_int_equal(code, context ? GA_OK : GA_ENOMEM);
    }
    assert_non_null(context);
    device()->accumulate(context, p.weights, &p.batch, NULL, sums, &tally, &square);
    ga_test_allocation_limit(0);
    assert_int_equal(
        device()->accumulate(context, p.weights, &p.batch, sums, sums, &tally, &square), GA_OK);
    assert_int_equal(device()->evaluate(context, p.weights, &p.batch, &tally), GA_OK);
    assert_null(device()->alloc(100));
    ga_test_allocation_free();
    device()->close(context);
    device()->free(sums);
    problem_close(&p);
}

static void test_no_memory(void **state)
{
    (void)state;
    const struct ga_net small = net_of(&shapes[1], 0);
    const struct ga_net large = net_of(&shapes[6], 2);
    check_no_memory(&small);
    check_no_memory(&large);
}

static void test_refusals(void **state)
{
    (void)state;
    const struct ga_net net = net_of(&shapes[6], 5);
    struct problem p;
    struct ga_context *context = NULL;
    struct ga_tally tally;
    double square = 0;
    float sum = 0;
    open_problem(&p, &net, false);
    assert_int_equal(device()->open(&context, &net, 8), GA_OK);
    p.batch.labels = NULL;
    assert_int_equal(
        device()->accumulate(context, p.weights, &p.batch, NULL, &sum, &tally, &square),
        GA_EINTERNAL);
    p.batch.inputs = NULL;
    assert_int_equal(device()->evaluate(context, p.weights, &p.batch, &tally), GA_EINTERNAL);
    device()->close(context);
    problem_close(&p);
    char name[160];
    ga_compute_fast_library(name, sizeof name);
    assert_non_null(strstr(name, " kernels"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_promise),   cmocka_unit_test(test_accumulate),
        cmocka_unit_test(test_looking),   cmocka_unit_test(test_quadratics),
        cmocka_unit_test(test_means),     cmocka_unit_test(test_steps),
        cmocka_unit_test(test_special),   cmocka_unit_test(test_accounting),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_refusals),
    };
    const char *kernel = getenv("GA_CPU_KERNEL");
    if (kernel && strcmp(kernel, "avx2") == 0 && !__builtin_cpu_supports("avx2")) {
        puts("skipped: this machine has no AVX2");
        return 77;
    }
    return ga_test_main(tests);
}
