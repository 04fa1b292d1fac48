/* The exact device on cards gives the bits of the CPU's, for every net, batch and card. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cards.h"
#include "compute/fixture.h"
#include "examples.h"
#include "support/support.h"

#define ROWS 300

static void ok(int code)
{
    if (code < 0)
        fail_msg("%s", ga_error_text());
}

static void *must(void *block)
{
    if (!block)
        fail_msg("%s", ga_error_text());
    return block;
}

/* Both devices, one net, data for it, and sums on one card. */
struct pair {
    const struct ga_compute *cpu, *cuda;
    struct ga_context *on_cpu, *on_cuda;
    struct ga_net net;
    size_t card;
    struct test_examples examples;
    float *weights;
    double *want, *got; /* (2n) sums, the second one a copy of `sums` */
    void *sums;
};

static void pair_open(struct pair *p, const struct ga_net *net, size_t card, double size)
{
    memset(p, 0, sizeof *p);
    p->cpu = &ga_compute_cpu_exact;
    p->cuda = test_cuda("exact");
    p->net = *net;
    p->card = card;
    ok(p->cpu->open(&p->on_cpu, net, 8));
    ok(p->cuda->open(&p->on_cuda, net, 8));
    ga_buffer_home(p->cuda, p->on_cuda, card);
    test_examples_open(&p->examples, net, ROWS, size);
    for (size_t i = 0; i < ROWS; i += 5)
        p->examples.weights[i] = 0;
    p->weights = test_floats(net->parameters, 4, 1.5);
    p->want = must(calloc(2 * net->parameters, sizeof *p->want));
    p->got = must(calloc(2 * net->parameters, sizeof *p->got));
    p->sums = must(ga_buffer_alloc(p->cuda, 2 * net->parameters * sizeof(double), card));
}

static void pair_close(struct pair *p)
{
    p->cpu->close(p->on_cpu);
    p->cuda->close(p->on_cuda);
    p->cuda->free(p->sums);
    test_examples_close(&p->examples);
    free(p->weights);
    free(p->want);
    free(p->got);
    ok(ga_buffer_poll(p->cuda));
    test_no_faults();
}

/* Equal bits, or both not a number. */
static void same(double got, double want, const char *what, size_t at)
{
    if (memcmp(&got, &want, sizeof got) != 0 && !(isnan(got) && isnan(want)))
        fail_msg("%s %zu: %a, expected %a", what, at, got, want);
}

static void same_tally(const struct ga_tally *got, const struct ga_tally *want)
{
    for (size_t i = 0; i < 3; i++)
        same(got->loss[i], want->loss[i], "loss part", i);
    for (size_t i = 0; i < 2; i++)
        same(got->weight[i], want->weight[i], "weight part", i);
    same(got->weight_square, want->weight_square, "weight square", 0);
    assert_int_equal(got->examples, want->examples);
    assert_int_equal(got->correct, want->correct);
    assert_int_equal(got->flags, want->flags);
}

static void same_sums(struct pair *p)
{
    ok(ga_buffer_copy_out(p->cuda, p->got, p->sums, 2 * p->net.parameters * sizeof(double)));
    for (size_t i = 0; i < 2 * p->net.parameters; i++)
        same(p->got[i], p->want[i], "sum", i);
}

static void check_gradient(struct pair *p, const struct ga_batch *batch, enum ga_into into)
{
    struct ga_tally want;
    struct ga_tally got;
    ok(p->cpu->gradient(p->on_cpu, p->weights, batch, into, p->want, &want));
    ok(p->cuda->gradient(p->on_cuda, p->weights, batch, into, p->sums, &got));
    test_at_rest();
    same_tally(&got, &want);
    same_sums(p);
}

static void check_looks(struct pair *p, const struct ga_batch *batch)
{
    const size_t outputs = batch->count * p->net.width[p->net.layers];
    struct ga_tally want;
    struct ga_tally got;
    float *a = NULL;
    float *b = NULL;
    ok(p->cpu->evaluate(p->on_cpu, p->weights, batch, &want));
    ok(p->cuda->evaluate(p->on_cuda, p->weights, batch, &got));
    test_at_rest();
    same_tally(&got, &want);
    if (p->net.kind != GA_NET_MLP) {
        assert_int_equal(p->cuda->predict(p->on_cuda, p->weights, batch, NULL), GA_EUNSUPPORTED);
        return;
    }
    a = test_floats(outputs, 0, 1);
    b = test_floats(outputs, 0, 2);
    ok(p->cpu->predict(p->on_cpu, p->weights, batch, a));
    ok(p->cuda->predict(p->on_cuda, p->weights, batch, b));
    test_at_rest();
    for (size_t i = 0; i < outputs; i++)
        same((double)b[i], (double)a[i], "output", i);
    free(a);
    free(b);
}

/* One net on one card: batches of all kinds, assigned and added. */
static void check_net(const struct ga_net *net, size_t card, double size)
{
    static const size_t counts[] = {1, 2, 5, 64, 65, 130, 0, 7};
    struct pair p;
    pair_open(&p, net, card, size);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const struct ga_batch batch =
            test_examples_batch(&p.examples, counts[i], i % 2 == 1, i % 3 == 1);
        check_gradient(&p, &batch, i % 3 == 0 ? GA_ASSIGN : GA_ADD);
        check_looks(&p, &batch);
    }
    pair_close(&p);
}

static const size_t shapes[][4] = {{1, 5, 1, 0}, {3, 40, 7, 2}, {20, 17, 4, 0}, {2, 3, 0, 0}};

static size_t layers_of(const size_t *widths)
{
    size_t layers = 0;
    while (layers < 3 && widths[layers + 1] > 0)
        layers++;
    return layers;
}

static void test_every_net(void **state)
{
    (void)state;
    const size_t cards = test_cards(test_cuda("exact"));
    size_t turn = 0;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (int activation = 0; activation <= GA_ACT_IDENTITY; activation++)
            for (int loss = 0; loss <= GA_LOSS_XENT; loss++) {
                const struct ga_net net =
                    test_mlp(layers_of(shapes[s]), shapes[s], (enum ga_net_activation)activation,
                             (enum ga_net_loss)loss, turn % 3 != 2);
                check_net(&net, turn++ % cards, 2);
            }
}

static void test_quadratic_bowl(void **state)
{
    const struct ga_net net = test_quadratic(11);
    (void)state;
    check_net(&net, test_cards(test_cuda("exact")) - 1, 3);
}

/* Terms beyond the range, infinities and NaN: the same flags, and NaN in the same sums. */
static void test_beyond_the_range(void **state)
{
    static const size_t widths[] = {2, 3, 2};
    static const double sizes[] = {1e6, 1e12, 1e30, 3e38};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const struct ga_net relu = test_mlp(2, widths, GA_ACT_RELU, GA_LOSS_MSE, true);
        const struct ga_net gelu = test_mlp(2, widths, GA_ACT_GELU, GA_LOSS_XENT, true);
        const struct ga_net bowl = test_quadratic(3);
        check_net(&relu, 0, sizes[i]);
        check_net(&gelu, 0, sizes[i]);
        check_net(&bowl, 0, sizes[i]);
    }
}

static void check_mean(struct pair *p, double divisor)
{
    const size_t n = p->net.parameters;
    float *want = test_floats(n, 0, 1);
    float *got = test_floats(n, 9, 1);
    double element = 0;
    const double norm = p->cpu->mean(&p->net, p->want, divisor, want);
    same(p->cuda->mean(&p->net, p->sums, divisor, got), norm, "norm", 0);
    same(p->cuda->mean(&p->net, p->sums, divisor, NULL), norm, "norm alone", 0);
    test_at_rest();
    for (size_t i = 0; i < n; i++)
        same((double)got[i], (double)want[i], "mean", i);
    p->cuda->read_sums(&p->net, p->sums, n / 2, 1, &element);
    same(element, p->want[n / 2] + p->want[n / 2 + n], "sum read", n / 2);
    free(want);
    free(got);
}

/* Adding, also from another card, dividing, clearing. */
static void test_sums(void **state)
{
    static const size_t widths[] = {9, 40, 7};
    const struct ga_net net = test_mlp(2, widths, GA_ACT_TANH, GA_LOSS_MSE, true);
    const size_t bytes = 2 * net.parameters * sizeof(double);
    (void)state;
    const size_t cards = test_cards(test_cuda("exact"));
    for (size_t card = 0; card < cards; card++) {
        struct pair p;
        pair_open(&p, &net, 0, 2);
        const struct ga_batch batch = test_examples_batch(&p.examples, 33, true, false);
        void *other = must(ga_buffer_alloc(p.cuda, bytes, card));
        check_gradient(&p, &batch, GA_ASSIGN);
        ok(ga_buffer_copy(p.cuda, other, p.sums, bytes));
        check_mean(&p, 33.5);
        p.cuda->add(&net, p.sums, other);
        test_at_rest();
        p.cuda->add(&net, p.sums, other);
        for (size_t i = 0; i < 2 * net.parameters; i++)
            p.want[i] = (p.want[i] + p.want[i]) + p.want[i];
        same_sums(&p);
        check_mean(&p, 1);
        p.cuda->clear(&net, p.sums);
        test_at_rest();
        memset(p.want, 0, bytes);
        same_sums(&p);
        p.cuda->free(other);
        pair_close(&p);
    }
}

static const struct ga_step steps[] = {
    {.kind = GA_STEP_SGD, .lr = 0.1f},
    {.kind = GA_STEP_SGD, .lr = 0.1f, .scaled = true, .gradient_scale = 0.3f},
    {.kind = GA_STEP_SGD, .lr = 0.1f, .momentum = 0.9f, .weight_decay = 0.01f},
    {.kind = GA_STEP_SGD, .lr = 0.1f, .momentum = 0.9f, .nesterov = true},
    {.kind = GA_STEP_ADAM,
     .weight_decay = 0.1f,
     .beta1 = 0.9f,
     .one_minus_beta1 = 0.1f,
     .beta2 = 0.999f,
     .one_minus_beta2 = 0.001f,
     .step_size = 0.1f,
     .root_bias2 = 0.03f,
     .epsilon = 1e-8f},
    {.kind = GA_STEP_ADAMW,
     .weight_decay = 0.1f,
     .decay_factor = 0.99f,
     .beta1 = 0.9f,
     .one_minus_beta1 = 0.1f,
     .beta2 = 0.99f,
     .one_minus_beta2 = 0.01f,
     .step_size = 0.02f,
     .root_bias2 = 0.1f,
     .epsilon = 1e-8f},
};

static void test_steps(void **state)
{
    static const size_t widths[] = {9, 40, 7};
    const struct ga_net net = test_mlp(2, widths, GA_ACT_TANH, GA_LOSS_MSE, true);
    const size_t n = net.parameters;
    (void)state;
    const struct ga_compute *cuda = test_cuda("exact");
    for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++) {
        const size_t blocks = ga_step_state_blocks(steps[s].kind, steps[s].momentum);
        float *gradient = test_floats(n, 5, 2);
        float *weights = test_floats(n, 6, 2);
        float *before = test_floats(2 * n, 7, 1);
        float *want = test_floats(3 * n, 0, 1);
        float *got = test_floats(3 * n, 0, 1);
        for (size_t i = n; i < 2 * n; i++)
            before[i] = fabsf(before[i]);
        ga_compute_cpu_exact.step(&net, &steps[s], gradient, weights, blocks ? before : NULL, want,
                                  blocks ? want + n : NULL);
        cuda->step(&net, &steps[s], gradient, weights, blocks ? before : NULL, got,
                   blocks ? got + n : NULL);
        test_at_rest();
        ok(ga_buffer_poll(cuda));
        assert_memory_equal(got, want, (1 + blocks) * n * sizeof *got);
        free(gradient);
        free(weights);
        free(before);
        free(want);
        free(got);
    }
    test_no_faults();
}

/* A block that the card is ahead with: norms and products of it, and a step, without the host. */
static void test_held(void **state)
{
    static const size_t widths[] = {9, 40, 7};
    const struct ga_net net = test_mlp(2, widths, GA_ACT_TANH, GA_LOSS_MSE, true);
    const size_t n = net.parameters;
    const size_t bytes = n * sizeof(float);
    float *held[3]; /* gradient, old weights, new weights */
    struct pair p;
    (void)state;
    setenv("GA_CUDA_BRINGS_BACK", "0", 1);
    pair_open(&p, &net, 0, 2);
    const struct ga_batch batch = test_examples_batch(&p.examples, 33, false, false);
    float *want = test_floats(n, 0, 1);
    float *mean = test_floats(n, 0, 1);
    for (size_t k = 0; k < 3; k++) {
        held[k] = test_floats(n, k, 1);
        ok(ga_buffer_hold(p.cuda, held[k], bytes));
    }
    check_gradient(&p, &batch, GA_ASSIGN);
    p.cpu->mean(&net, p.want, 33, mean);
    p.cuda->mean(&net, p.sums, 33, held[0]);
    assert_true(memcmp(held[0], mean, bytes) != 0); /* not here yet */
    assert_true(ga_buffer_norm(p.cuda, held[0], n) == ga_norm(mean, n));
    assert_true(ga_buffer_dot(p.cuda, held[0], held[1], n) == ga_dot(mean, held[1], n));
    p.cpu->step(&net, &steps[1], mean, held[1], NULL, want, NULL);
    p.cuda->step(&net, &steps[1], held[0], held[1], NULL, held[2], NULL);
    assert_true(ga_buffer_distance(p.cuda, held[2], held[1], n) ==
                ga_norm_of_difference(want, held[1], n));
    test_at_rest();
    memcpy(p.weights, want, bytes);
    for (size_t turn = 0; turn < 3; turn++) { /* weights that only the card has */
        struct ga_tally tally;
        ok(p.cpu->gradient(p.on_cpu, want, &batch, GA_ASSIGN, p.want, &tally));
        ok(p.cuda->gradient(p.on_cuda, held[2], &batch, GA_ASSIGN, p.sums, &tally));
        same_sums(&p);
    }
    ga_buffer_fetch(p.cuda, held[0]);
    ga_buffer_fetch(p.cuda, held[2]);
    assert_memory_equal(held[0], mean, bytes);
    assert_memory_equal(held[2], want, bytes);
    held[2][0] = want[0] = 7;
    ga_buffer_renew(p.cuda, held[2]);
    assert_true(ga_buffer_norm(p.cuda, held[2], n) == ga_norm(want, n));
    for (size_t k = 0; k < 3; k++) {
        ga_buffer_release(p.cuda, held[k]);
        free(held[k]);
    }
    free(want);
    free(mean);
    pair_close(&p);
    unsetenv("GA_CUDA_BRINGS_BACK");
}

/* A wait left out of any call is found: its work is still under way, and where another stream comes
 * upon the same bytes, that is a fault. */
static void test_a_wait_left_out(void **state)
{
    static const size_t widths[] = {9, 40, 7};
    const struct ga_net net = test_mlp(2, widths, GA_ACT_TANH, GA_LOSS_MSE, true);
    const size_t bytes = 2 * net.parameters * sizeof(double);
    struct ga_tally tally;
    struct pair p;
    (void)state;
    if (!test_on_the_fake())
        ga_test_skip("no wait can be left out of a module that is right");
    pair_open(&p, &net, 0, 2);
    void *other = must(ga_buffer_alloc(p.cuda, bytes, 0));
    float *new_weights = test_floats(net.parameters, 0, 1);
    const struct ga_batch batch = test_examples_batch(&p.examples, 33, false, false);
    check_gradient(&p, &batch, GA_ASSIGN);
    for (int call = 0; call < 5; call++) {
        test_fake_set("deaf=2"); /* a question, and the wait behind it */
        if (call == 0)
            p.cuda->add(&net, p.sums, other);
        else if (call == 1)
            p.cuda->clear(&net, p.sums);
        else if (call == 2)
            (void)p.cuda->mean(&net, p.sums, 33, NULL);
        else if (call == 3)
            p.cuda->step(&net, &steps[0], p.weights, p.weights, NULL, new_weights, NULL);
        else
            ok(p.cuda->gradient(p.on_cuda, p.weights, &batch, GA_ASSIGN, p.sums, &tally));
        assert_int_equal(test_fake_under_way(), 1);
        p.cuda->clear(&net, other);
        ok(p.cuda->evaluate(p.on_cuda, p.weights, &batch, &tally));
        test_at_rest();
    }
    test_fake_set("deaf=2");
    p.cuda->clear(&net, p.sums);
    assert_int_equal(p.cuda->gradient(p.on_cuda, p.weights, &batch, GA_ADD, p.sums, &tally),
                     GA_EIO);
    assert_non_null(strstr(ga_error_text(), "a wait is missing"));
    p.cuda->clear(&net, p.sums);
    ok(p.cuda->evaluate(p.on_cuda, p.weights, &batch, &tally));
    test_fault("a wait is missing");
    p.cuda->free(other);
    free(new_weights);
    pair_close(&p);
}

/* The same work again is a graph from the second time on: a window's micro-batches and its shorter
 * last one, by turns. More shapes than are kept make others go. */
static void test_graphs(void **state)
{
    static const size_t widths[] = {9, 40, 7};
    const struct ga_net net = test_mlp(2, widths, GA_ACT_RELU, GA_LOSS_MSE, true);
    const size_t before = test_on_the_fake() ? test_fake_launches() : 0;
    struct pair p;
    (void)state;
    pair_open(&p, &net, 0, 2);
    for (size_t turn = 0; turn < 6; turn++) {
        const struct ga_batch whole = test_examples_batch(&p.examples, 30, true, turn % 2);
        const struct ga_batch tail = test_examples_batch(&p.examples, 13, true, false);
        check_gradient(&p, &whole, GA_ASSIGN);
        check_gradient(&p, &whole, GA_ADD);
        check_gradient(&p, &tail, GA_ADD);
        p.weights[turn] += 1;
    }
    if (test_on_the_fake())
        assert_int_equal(test_fake_launches() - before, 3 * 5);
    for (size_t turn = 0; turn < 3; turn++)
        for (size_t count = 1; count < 40; count++) {
            const struct ga_batch batch = test_examples_batch(&p.examples, count, false, true);
            check_gradient(&p, &batch, count % 2 ? GA_ASSIGN : GA_ADD);
        }
    pair_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_net),
        cmocka_unit_test(test_quadratic_bowl),
        cmocka_unit_test(test_beyond_the_range),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_held),
        cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_a_wait_left_out),
    };
    return ga_test_main(tests);
}
