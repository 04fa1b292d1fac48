/*
 * The lines that the cards' exact kernels run, as C: thread by thread they give the bits of the
 * CPU's exact device, for gradients, losses, means, norms and steps. Needs no toolkit.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "compute/cuda/exact_body.h"
#include "fixture.h"
#include "support/support.h"

#define ROWS   70
#define FLOATS 4096 /* of any block */

struct problem {
    struct ga_net net;
    struct ga_batch batch;
    float *inputs, *targets, *examples, *weights;
    int32_t labels[ROWS];
    /* Unit by unit, as the kernels have them. */
    float rows[4][FLOATS], deltas[4][FLOATS], slopes[4][FLOATS], losses[ROWS];
    uint32_t correct[ROWS], flags;
    double sums[2 * FLOATS], want[2 * FLOATS];
};

static void problem_open(struct problem *p, const struct ga_net *net, size_t count, double size,
                         bool weighted)
{
    const size_t outputs = net->width[net->layers];
    memset(p, 0, sizeof *p);
    p->net = *net;
    p->inputs = test_floats(ROWS * net->width[0], 1, size);
    p->targets = test_floats(ROWS * outputs, 2, 1);
    p->examples = test_floats(ROWS, 3, 2);
    p->weights = test_floats(net->parameters, 4, 1.5);
    for (size_t e = 0; e < ROWS; e++) {
        p->labels[e] = (int32_t)(e * 7 % outputs);
        p->examples[e] = e % 5 == 0 ? 0.0f : fabsf(p->examples[e]) + 0.1f;
    }
    p->batch = (struct ga_batch){.inputs = p->inputs,
                                 .targets = p->targets,
                                 .labels = p->labels,
                                 .weights = weighted ? p->examples : NULL,
                                 .count = count};
    for (size_t e = 0; e < count; e++)
        for (size_t i = 0; i < net->width[0]; i++)
            p->rows[0][i * count + e] = p->inputs[e * net->width[0] + i];
}

static void problem_close(struct problem *p)
{
    free(p->inputs);
    free(p->targets);
    free(p->examples);
    free(p->weights);
}

static void run_forward(struct problem *p)
{
    const struct ga_net *net = &p->net;
    for (size_t k = 0; net->kind == GA_NET_MLP && k < net->layers; k++) {
        const bool last = k + 1 == net->layers;
        const struct ga_k_forward f = {
            .threads = net->width[k + 1] * p->batch.count,
            .count = p->batch.count,
            .inputs = net->width[k],
            .weights = p->weights + net->weight_at[k],
            .bias = net->bias ? p->weights + net->bias_at[k] : NULL,
            .in = p->rows[k],
            .out = p->rows[k + 1],
            .slopes = net->activation == GA_ACT_GELU ? p->slopes[k + 1] : NULL,
            .activation = last ? GA_ACT_IDENTITY : (int32_t)net->activation,
        };
        for (size_t thread = f.threads; thread-- > 0;)
            ga_body_forward(&f, thread);
    }
}

static void run_loss(struct problem *p)
{
    const struct ga_net *net = &p->net;
    const bool bowl = net->kind == GA_NET_QUADRATIC;
    const struct ga_k_loss k = {
        .threads = p->batch.count,
        .outputs = net->width[net->layers],
        .across = p->batch.count,
        .down = 1,
        .values = p->rows[bowl ? 0 : net->layers],
        .targets = p->targets,
        .labels = p->labels,
        .example = p->batch.weights,
        .weights = p->weights,
        .deltas = p->deltas[net->layers],
        .losses = p->losses,
        .correct = p->correct,
    };
    for (size_t e = k.threads; e-- > 0;) {
        if (bowl)
            ga_body_quadratic(&k, e);
        else if (net->loss == GA_LOSS_XENT)
            ga_body_xent(&k, e);
        else
            ga_body_mse(&k, e);
    }
}

static void run_backward(struct problem *p)
{
    const struct ga_net *net = &p->net;
    for (size_t k = net->layers - 1; net->kind == GA_NET_MLP && k > 0; k--) {
        const struct ga_k_backward b = {
            .threads = net->width[k] * p->batch.count,
            .count = p->batch.count,
            .units = net->width[k],
            .outputs = net->width[k + 1],
            .weights = p->weights + net->weight_at[k],
            .in = p->deltas[k + 1],
            .rows = p->rows[k],
            .slopes = net->activation == GA_ACT_GELU ? p->slopes[k] : NULL,
            .out = p->deltas[k],
            .activation = (int32_t)net->activation,
        };
        for (size_t thread = b.threads; thread-- > 0;)
            ga_body_backward(&b, thread);
    }
}

/* The lanes' sums come together in an order of no meaning. */
static void run_sums(struct problem *p, const struct ga_k_sums *k)
{
    for (size_t patch = 0; patch < ga_body_patches(k); patch++) {
        double high[GA_BODY_PATCH] = {0};
        double low[GA_BODY_PATCH] = {0};
        for (size_t lane = 0; lane < GA_BODY_LANES; lane++) {
            double own_high[GA_BODY_PATCH];
            double own_low[GA_BODY_PATCH];
            p->flags |= ga_body_sums(k, patch, lane * 7 % GA_BODY_LANES, own_high, own_low);
            for (size_t s = 0; s < GA_BODY_PATCH; s++) {
                high[s] += own_high[s];
                low[s] += own_low[s];
            }
        }
        ga_body_put_sums(k, patch, high, low);
    }
}

static void run_all_sums(struct problem *p)
{
    const struct ga_net *net = &p->net;
    const bool bowl = net->kind == GA_NET_QUADRATIC;
    for (size_t k = 0; k < net->layers; k++) {
        struct ga_k_sums s = {
            .threads = bowl ? net->width[k] : net->width[k] * net->width[k + 1],
            .count = p->batch.count,
            .inputs = net->width[k],
            .rows = p->rows[k],
            .deltas = p->deltas[k + 1],
            .pairs = bowl,
            .high = p->sums + net->weight_at[k],
            .low = p->sums + net->parameters + net->weight_at[k],
        };
        run_sums(p, &s);
        if (!net->bias)
            continue;
        s.threads = net->width[k + 1];
        s.inputs = 1;
        s.rows = NULL;
        s.high = p->sums + net->bias_at[k];
        s.low = s.high + net->parameters;
        run_sums(p, &s);
    }
}

static void same(double got, double want, const char *what)
{
    if (memcmp(&got, &want, sizeof got) != 0 && !(isnan(got) && isnan(want)))
        fail_msg("%s: %a, expected %a", what, got, want);
}

static void check_tally(const struct problem *p, const struct ga_tally *want)
{
    double loss[3] = {0};
    uint64_t correct = 0;
    uint32_t flags = p->flags;
    for (size_t e = 0; e < p->batch.count; e++) {
        flags |= ga_exact_add_loss(loss, (double)p->losses[e]);
        correct += p->correct[e];
    }
    for (size_t i = 0; i < 3; i++)
        same(loss[i], want->loss[i], "loss");
    assert_int_equal(correct, want->correct);
    assert_int_equal(flags, want->flags);
}

static void check_mean(struct problem *p)
{
    const size_t n = p->net.parameters;
    float *want = test_floats(n, 0, 1);
    float *got = test_floats(n, 5, 1);
    double squares[FLOATS / GA_BODY_BLOCK + 1];
    double measured[FLOATS / GA_BODY_BLOCK + 1];
    const struct ga_k_mean k = {
        (n + GA_BODY_BLOCK - 1) / GA_BODY_BLOCK, n, p->want, p->want + n, 7.5, got, squares};
    const struct ga_k_measure apart = {.threads = k.threads,
                                       .count = n,
                                       .a = got,
                                       .b = p->weights,
                                       .kind = GA_MEASURE_DISTANCE,
                                       .sums = measured};
    double total = 0.0;
    double distance = 0.0;
    same(ga_compute_cpu_exact.mean(&p->net, p->want, 7.5, want),
         ga_compute_cpu_exact.mean(&p->net, p->want, 7.5, NULL), "norm");
    for (size_t block = 0; block < k.threads; block++) {
        ga_body_mean(&k, block);
        ga_body_measure(&apart, block);
        total += squares[block];
        distance += measured[block];
    }
    for (size_t i = 0; i < n; i++)
        same((double)got[i], (double)want[i], "mean");
    same(sqrt(total), ga_compute_cpu_exact.mean(&p->net, p->want, 7.5, NULL), "norm");
    same(sqrt(distance), ga_norm_of_difference(got, p->weights, n), "distance");
    free(want);
    free(got);
}

static void check_net(const struct ga_net *net, size_t count, double size, bool weighted)
{
    struct problem *p = calloc(1, sizeof *p);
    struct ga_context *context = NULL;
    struct ga_tally tally;
    assert_non_null(p);
    problem_open(p, net, count, size, weighted);
    run_forward(p);
    run_loss(p);
    run_backward(p);
    run_all_sums(p);
    assert_int_equal(ga_compute_cpu_exact.open(&context, net, count), GA_OK);
    assert_int_equal(
        ga_compute_cpu_exact.gradient(context, p->weights, &p->batch, GA_ASSIGN, p->want, &tally),
        GA_OK);
    for (size_t i = 0; i < 2 * net->parameters; i++)
        same(p->sums[i], p->want[i], "sum");
    check_tally(p, &tally);
    check_mean(p);
    ga_compute_cpu_exact.close(context);
    problem_close(p);
    free(p);
}

static const size_t shapes[][4] = {{1, 5, 1, 0}, {3, 30, 7, 2}, {20, 17, 4, 0}, {2, 3, 0, 0}};

static void test_every_net(void **state)
{
    static const size_t counts[] = {1, 5, 33, 64, 70};
    size_t turn = 0;
    (void)state;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (int activation = 0; activation <= GA_ACT_IDENTITY; activation++)
            for (int loss = 0; loss <= GA_LOSS_XENT; loss++, turn++) {
                const size_t layers = s == 3 ? 1 : s == 1 ? 3 : 2;
                const struct ga_net net =
                    test_mlp(layers, shapes[s], (enum ga_net_activation)activation,
                             (enum ga_net_loss)loss, turn % 3 != 2);
                check_net(&net, counts[turn % 5], 2, turn % 2);
            }
}

static void test_quadratic_bowl(void **state)
{
    const struct ga_net net = test_quadratic(11);
    (void)state;
    check_net(&net, 33, 3, false);
    check_net(&net, 64, 3, true);
}

/* Terms beyond the range, infinities and NaN: the same flags, and NaN in the same sums. */
static void test_beyond_the_range(void **state)
{
    static const double sizes[] = {1e6, 1e12, 1e30, 3e38};
    static const size_t widths[] = {2, 3, 2};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const struct ga_net relu = test_mlp(2, widths, GA_ACT_RELU, GA_LOSS_MSE, true);
        const struct ga_net gelu = test_mlp(2, widths, GA_ACT_GELU, GA_LOSS_XENT, true);
        check_net(&relu, 40, sizes[i], false);
        check_net(&gelu, 40, sizes[i], true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_net),
        cmocka_unit_test(test_quadratic_bowl),
        cmocka_unit_test(test_beyond_the_range),
    };
    return ga_test_main(tests);
}
