/* The fast device on cards against an independent gradient in double: nets, batches, cards. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cards.h"
#include "compute/fixture.h"
#include "examples.h"
#include "support/support.h"

#define ROWS 200

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

struct desk {
    const struct ga_compute *cuda;
    struct ga_context *context;
    struct ga_net net;
    struct test_examples examples;
    float *weights;
    double *wide, *want, *got; /* (n) weights in double, gradients */
    void *sums;
};

static void desk_open(struct desk *d, const struct ga_net *net, size_t card)
{
    memset(d, 0, sizeof *d);
    d->cuda = test_cuda("fast");
    d->net = *net;
    assert_int_equal(d->cuda->sum_count(net), net->parameters);
    assert_int_equal(d->cuda->sum_type, GA_FLOAT32);
    ok(d->cuda->open(&d->context, net, 8));
    ga_buffer_home(d->cuda, d->context, card);
    test_examples_open(&d->examples, net, ROWS, 2);
    d->weights = test_floats(net->parameters, 4, 1);
    d->wide = must(calloc(net->parameters, sizeof(double)));
    d->want = must(calloc(net->parameters, sizeof(double)));
    d->got = must(calloc(net->parameters, sizeof(double)));
    for (size_t i = 0; i < net->parameters; i++)
        d->wide[i] = (double)d->weights[i];
    d->sums = must(ga_buffer_alloc(d->cuda, net->parameters * sizeof(float), card));
}

static void desk_close(struct desk *d)
{
    d->cuda->close(d->context);
    d->cuda->free(d->sums);
    test_examples_close(&d->examples);
    free(d->weights);
    free(d->wide);
    free(d->want);
    free(d->got);
    ok(ga_buffer_poll(d->cuda));
    test_no_faults();
}

/* Assigned, then added once more: twice the gradient; losses and weights once each time. */
static void check_gradient(struct desk *d, const struct ga_batch *batch)
{
    const size_t n = d->net.parameters;
    const double loss = reference_gradient(&d->net, d->wide, batch, d->want);
    double *again = must(calloc(n, sizeof *again));
    struct ga_tally tally;
    ok(d->cuda->gradient(d->context, d->weights, batch, GA_ASSIGN, d->sums, &tally));
    assert_int_equal(tally.flags, 0);
    assert_int_equal(tally.examples, batch->count);
    assert_close(ga_tally_loss_sum(&tally), loss, 2e-6);
    d->cuda->read_sums(&d->net, d->sums, 0, n, d->got);
    assert_at_most(relative_distance(d->got, d->want, n), 2e-6);
    ok(d->cuda->gradient(d->context, d->weights, batch, GA_ADD, d->sums, &tally));
    d->cuda->read_sums(&d->net, d->sums, 0, n, d->got);
    for (size_t turn = 0; turn < 2; turn++) { /* as a graph */
        ok(d->cuda->gradient(d->context, d->weights, batch, GA_ASSIGN, d->sums, &tally));
        ok(d->cuda->gradient(d->context, d->weights, batch, GA_ADD, d->sums, &tally));
        assert_close(ga_tally_loss_sum(&tally), loss, 2e-6);
    }
    d->cuda->read_sums(&d->net, d->sums, 0, n, again);
    assert_memory_equal(again, d->got, n * sizeof *again);
    free(again);
    for (size_t i = 0; i < n; i++)
        d->want[i] *= 2;
    assert_at_most(relative_distance(d->got, d->want, n), 3e-6);
    ok(d->cuda->evaluate(d->context, d->weights, batch, &tally));
    assert_close(ga_tally_loss_sum(&tally), loss, 2e-6);
}

static void check_elements(struct desk *d, size_t cards)
{
    const size_t n = d->net.parameters;
    float *gradient = test_floats(n, 0, 1);
    double square = 0;
    void *other = must(ga_buffer_alloc(d->cuda, n * sizeof(float), cards - 1));
    ok(ga_buffer_copy(d->cuda, other, d->sums, n * sizeof(float)));
    d->cuda->add(&d->net, d->sums, other);
    const double norm = d->cuda->mean(&d->net, d->sums, 4, gradient);
    for (size_t i = 0; i < n; i++) {
        assert_close((double)gradient[i], (double)(float)(d->got[i] / 2), 1e-7);
        square += (double)gradient[i] * (double)gradient[i];
    }
    assert_close(norm, sqrt(square), 1e-12);
    d->cuda->clear(&d->net, d->sums);
    assert_true(d->cuda->mean(&d->net, d->sums, 1, NULL) == 0);
    d->cuda->free(other);
    free(gradient);
}

static void check_net(const struct ga_net *net, size_t card, size_t cards)
{
    static const size_t counts[] = {1, 5, 64, 130};
    struct desk d;
    desk_open(&d, net, card);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const struct ga_batch batch =
            test_examples_batch(&d.examples, counts[i], i % 2 == 1, i % 3 == 1);
        check_gradient(&d, &batch);
    }
    check_elements(&d, cards);
    desk_close(&d);
}

static const size_t shapes[][4] = {{1, 5, 1, 0}, {3, 40, 7, 2}, {20, 17, 4, 0}, {33, 65, 3, 0}};

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
    const size_t cards = test_cards(test_cuda("fast"));
    size_t turn = 0;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (int activation = 0; activation <= GA_ACT_IDENTITY; activation++)
            for (int loss = 0; loss <= GA_LOSS_XENT; loss++) {
                const struct ga_net net =
                    test_mlp(layers_of(shapes[s]), shapes[s], (enum ga_net_activation)activation,
                             (enum ga_net_loss)loss, turn % 3 != 2);
                /* One output is certain of its class: loss and gradient are 0. */
                if (loss == GA_LOSS_XENT && net.width[net.layers] == 1)
                    continue;
                check_net(&net, turn++ % cards, cards);
            }
}

static void test_quadratic_bowl(void **state)
{
    const struct ga_net net = test_quadratic(11);
    (void)state;
    check_net(&net, 0, test_cards(test_cuda("fast")));
}

static void test_predictions(void **state)
{
    static const size_t widths[] = {3, 20, 2};
    const struct ga_net net = test_mlp(2, widths, GA_ACT_TANH, GA_LOSS_MSE, true);
    struct ga_context *exact = NULL;
    float want[2 * 9];
    float got[2 * 9];
    struct desk d;
    (void)state;
    desk_open(&d, &net, 0);
    const struct ga_batch batch = test_examples_batch(&d.examples, 9, false, true);
    ok(ga_compute_cpu_exact.open(&exact, &net, 9));
    ok(ga_compute_cpu_exact.predict(exact, d.weights, &batch, want));
    ok(d.cuda->predict(d.context, d.weights, &batch, got));
    for (size_t i = 0; i < 2 * 9; i++)
        assert_close((double)got[i], (double)want[i], 1e-5);
    ga_compute_cpu_exact.close(exact);
    desk_close(&d);
}

/* NaN stays one through every activation, relu too, and a loss that is none is flagged. */
static void test_not_finite(void **state)
{
    static const size_t widths[] = {2, 4, 1};
    (void)state;
    for (int activation = 0; activation <= GA_ACT_IDENTITY; activation++) {
        const struct ga_net net =
            test_mlp(2, widths, (enum ga_net_activation)activation, GA_LOSS_MSE, true);
        struct ga_tally tally;
        struct desk d;
        desk_open(&d, &net, 0);
        d.examples.inputs[2 * 4] = NAN;
        const struct ga_batch batch = test_examples_batch(&d.examples, 10, false, false);
        /* A relu that is part of a product may hide it from the loss, but from no sum. */
        ok(d.cuda->gradient(d.context, d.weights, &batch, GA_ASSIGN, d.sums, &tally));
        if (activation != GA_ACT_RELU)
            assert_int_equal(tally.flags, GA_TALLY_NONFINITE);
        assert_true(isnan(d.cuda->mean(&net, d.sums, 10, NULL)));
        ok(d.cuda->evaluate(d.context, d.weights, &batch, &tally));
        assert_int_equal(tally.flags, GA_TALLY_NONFINITE);
        d.examples.inputs[2 * 4] = 1;
        d.weights[1] = NAN;
        ok(d.cuda->gradient(d.context, d.weights, &batch, GA_ASSIGN, d.sums, &tally));
        assert_int_equal(tally.flags, GA_TALLY_NONFINITE);
        desk_close(&d);
    }
}

/* The work of a gradient is timed only when that was asked for before. */
static void test_work_is_timed(void **state)
{
    static const size_t widths[] = {9, 40, 33, 3};
    const struct ga_net net = test_mlp(3, widths, GA_ACT_TANH, GA_LOSS_MSE, true);
    struct ga_tally tally;
    struct desk d;
    (void)state;
    desk_open(&d, &net, 0);
    const struct ga_batch batch = test_examples_batch(&d.examples, 20, false, false);
    for (int turn = 0; turn < 4; turn++) { /* plainly, and as a graph */
        const bool timed = turn % 2 == 1;
        (void)d.cuda->memory->work_seconds(d.context, timed);
        ok(d.cuda->gradient(d.context, d.weights, &batch, GA_ASSIGN, d.sums, &tally));
        const double seconds = d.cuda->memory->work_seconds(d.context, false);
        assert_true(timed ? seconds > 0 && seconds < 60 : isnan(seconds));
        assert_true(isnan(d.cuda->memory->work_seconds(d.context, false)));
    }
    desk_close(&d);
}

/* Where cuBLASLt has no way for a relu within a product, it is done behind it. */
static void test_without_fused_products(void **state)
{
    static const size_t widths[] = {9, 40, 33, 3};
    (void)state;
    if (!test_on_the_fake())
        ga_test_skip("no real card can be told to know fewer products");
    test_fake_set("unfused=1");
    for (int bias = 0; bias < 2; bias++) {
        const struct ga_net net = test_mlp(3, widths, GA_ACT_RELU, GA_LOSS_XENT, bias);
        check_net(&net, 0, 1);
    }
    test_fake_set("unfused=0");
}

/* All that the runtime says is taken of a card is in the account, and nothing else. */
static size_t check_account(const struct ga_compute *cuda, size_t card, enum ga_device_use use)
{
    size_t used[GA_DEVICE_USES];
    size_t taken = 0;
    cuda->memory->usage(card, used);
    for (int u = 0; u < GA_DEVICE_USES; u++)
        taken += u == GA_USE_PINNED ? 0 : used[u];
    if (test_on_the_fake())
        assert_int_equal(taken, test_fake_used(card));
    return used[use];
}

/* Of a net that is too large for one block: what its contexts take is what they said they would. */
static void check_context(const struct ga_net *net, size_t card, size_t count)
{
    struct desk d;
    struct ga_tally tally;
    desk_open(&d, net, card);
    const struct ga_batch batch = test_examples_batch(&d.examples, count, true, true);
    const size_t batches = check_account(d.cuda, card, GA_USE_BATCHES);
    const size_t products = check_account(d.cuda, card, GA_USE_PRODUCTS);
    assert_true(check_account(d.cuda, card, GA_USE_SUMS) >= net->parameters * sizeof(float));
    ok(d.cuda->gradient(d.context, d.weights, &batch, GA_ASSIGN, d.sums, &tally));
    assert_int_equal(check_account(d.cuda, card, GA_USE_BATCHES) - batches +
                         check_account(d.cuda, card, GA_USE_PRODUCTS) - products,
                     d.cuda->context_bytes(net, count));
    desk_close(&d);
    assert_int_equal(check_account(test_cuda("fast"), card, GA_USE_BATCHES), batches);
    assert_int_equal(check_account(test_cuda("fast"), card, GA_USE_PRODUCTS), products);
}

static void test_account(void **state)
{
    static const size_t wide[] = {33, 65, 3};
    static const size_t tiny[] = {1, 5, 1};
    const struct ga_net nets[] = {test_mlp(2, wide, GA_ACT_GELU, GA_LOSS_MSE, true),
                                  test_mlp(2, wide, GA_ACT_RELU, GA_LOSS_XENT, false),
                                  test_mlp(2, tiny, GA_ACT_TANH, GA_LOSS_MSE, true)};
    (void)state;
    const size_t cards = test_cards(test_cuda("fast"));
    for (size_t n = 0; n < sizeof nets / sizeof nets[0]; n++)
        check_context(&nets[n], n % cards, 130);
}

/* Copies of held blocks are in it; they make way for a batch that needs their room. */
static void test_held_makes_way(void **state)
{
    static const size_t widths[] = {33, 65, 3};
    const struct ga_net net = test_mlp(2, widths, GA_ACT_TANH, GA_LOSS_MSE, true);
    const size_t bytes = net.parameters * sizeof(float);
    const struct ga_step step = {.kind = GA_STEP_SGD, .lr = 0.1f};
    struct ga_tally tally;
    struct desk d;
    (void)state;
    if (!test_on_the_fake())
        ga_test_skip("a real card has too much memory for this");
    float *blocks = test_floats(40 * net.parameters, 1, 1);
    float *want = test_floats(40 * net.parameters, 0, 1);
    desk_open(&d, &net, 0);
    const size_t before = check_account(d.cuda, 0, GA_USE_HELD);
    for (size_t b = 0; b < 40; b++)
        ok(ga_buffer_hold(d.cuda, blocks + b * net.parameters, bytes));
    setenv("GA_CUDA_BRINGS_BACK", "0", 1);
    memcpy(want, blocks, bytes);
    for (size_t b = 1; b < 40; b++) {
        d.cuda->step(&net, &step, d.weights, blocks + (b - 1) * net.parameters, NULL,
                     blocks + b * net.parameters, NULL);
        ga_compute_cpu_exact.step(&net, &step, d.weights, want + (b - 1) * net.parameters, NULL,
                                  want + b * net.parameters, NULL);
    }
    unsetenv("GA_CUDA_BRINGS_BACK");
    assert_true(check_account(d.cuda, 0, GA_USE_HELD) >= before + 30 * bytes);
    const struct ga_batch batch = test_examples_batch(&d.examples, 190, false, true);
    const size_t room = d.cuda->context_bytes(&net, 190);
    char words[64];
    snprintf(words, sizeof words, "memory=%zu", test_fake_used(0) + room - 20 * bytes);
    test_fake_set(words);
    ok(d.cuda->gradient(d.context, d.weights, &batch, GA_ASSIGN, d.sums, &tally));
    (void)check_account(d.cuda, 0, GA_USE_HELD);
    test_fake_set("memory=67108864");
    for (size_t b = 0; b < 40; b++) {
        ga_buffer_fetch(d.cuda, blocks + b * net.parameters);
        ga_buffer_release(d.cuda, blocks + b * net.parameters);
    }
    assert_memory_equal(blocks, want, 40 * bytes);
    free(blocks);
    free(want);
    desk_close(&d);
}

/* What a burst needs beside its batch. */
struct series {
    struct ga_burst burst;
    struct ga_step step;
    struct ga_burst_row row[9];
    float new_weights[16], new_state[1];
};

/* On the fake runtime: a real card cannot be told what to do wrong. */
static void series_open(struct series *s, struct desk *d)
{
    static const size_t widths[] = {1, 5, 1};
    const struct ga_net net = test_mlp(2, widths, GA_ACT_TANH, GA_LOSS_MSE, true);
    if (!test_on_the_fake())
        ga_test_skip("a real card cannot be told to fail");
    desk_open(d, &net, 0);
    memset(s, 0, sizeof *s);
    assert_in_range(net.parameters, 1, 16);
    s->step = (struct ga_step){.kind = GA_STEP_SGD, .lr = 0.01f};
    s->burst = (struct ga_burst){.batch = test_examples_batch(&d->examples, 50, false, true),
                                 .step = &s->step,
                                 .steps = 1,
                                 .weights = d->weights,
                                 .new_weights = s->new_weights,
                                 .new_state = s->new_state,
                                 .row = s->row,
                                 .count = 9};
}

static size_t run_series(struct series *s, const struct desk *d)
{
    return d->cuda->burst(d->context, &s->burst);
}

/* Each burst waits for its work; one that does not is found, and its results are not taken. */
static void test_a_burst_waits(void **state)
{
    struct series s;
    struct desk d;
    (void)state;
    series_open(&s, &d);
    assert_int_equal(run_series(&s, &d), 9);
    test_at_rest();
    test_fake_set("deaf=2");
    assert_int_equal(run_series(&s, &d), 0);
    assert_int_equal(test_fake_under_way(), 1);
    assert_true(ga_buffer_poll(d.cuda) < 0);
    ga_buffer_revive(d.cuda);
    d.examples.inputs[0] += 1;
    assert_int_equal(run_series(&s, &d), 0);
    test_fault("pinned memory changed while");
    ga_buffer_revive(d.cuda);
    assert_int_equal(run_series(&s, &d), 9);
    test_at_rest();
    desk_close(&d);
}

/* Without room for a burst there is none, and nothing has failed. */
static void test_a_burst_without_room(void **state)
{
    struct series s;
    struct desk d;
    (void)state;
    series_open(&s, &d);
    check_gradient(&d, &s.burst.batch); /* has room for the batch now */
    test_fake_set("oom=1");
    assert_int_equal(run_series(&s, &d), 0);
    ok(ga_buffer_poll(d.cuda));
    assert_int_equal(run_series(&s, &d), 9);
    desk_close(&d);
}

/* Wherever a card stops to answer in a burst, it is named in time, and nothing is written. */
static void test_a_burst_that_hangs(void **state)
{
    static const float none[16];
    struct series s;
    struct desk d;
    (void)state;
    series_open(&s, &d);
    setenv("GA_CUDA_DEADLINE", "0.05", 1);
    for (int nth = 1; nth <= 5; nth++) { /* weights, steps, batch, the burst, its rows */
        char words[32];
        snprintf(words, sizeof words, "hang=%d", nth);
        test_fake_set(words);
        d.weights[0] += 1;
        assert_int_equal(run_series(&s, &d), 0);
        assert_true(ga_buffer_poll(d.cuda) < 0);
        assert_non_null(strstr(ga_error_text(), "cuda:0: a burst: no answer after 0.05 s"));
        assert_memory_equal(s.new_weights, none, sizeof none);
        test_fake_set("resume");
        ga_buffer_revive(d.cuda);
        ok(ga_buffer_poll(d.cuda));
    }
    unsetenv("GA_CUDA_DEADLINE");
    assert_int_equal(run_series(&s, &d), 9);
    desk_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_net),
        cmocka_unit_test(test_quadratic_bowl),
        cmocka_unit_test(test_predictions),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_work_is_timed),
        cmocka_unit_test(test_without_fused_products),
        cmocka_unit_test(test_account),
        cmocka_unit_test(test_held_makes_way),
        cmocka_unit_test(test_a_burst_waits),
        cmocka_unit_test(test_a_burst_without_room),
        cmocka_unit_test(test_a_burst_that_hangs),
    };
    return ga_test_main(tests);
}
