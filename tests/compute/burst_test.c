/*
 * A burst gives the same bits as its updates made one by one with accumulate, mean_part and
 * step_part, or gradient, mean and step where a device has no others: every activation, optimizer
 * and kind of small net, held blocks, and it ends before an update that must not be. Run once for
 * each instruction set, by GA_CPU_KERNEL, and for the device that GA_TEST_DEVICE names.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "compute/fast_blas.h"
#include "compute/fast_kernel.h"
#include "fixture.h"
#include "support/support.h"

#define EXAMPLES 150
#define UPDATES  40
#define MOST     4096 /* floats of weights and state */

static const struct ga_compute *device(void)
{
    const char *name = getenv("GA_TEST_DEVICE");
    return ga_compute_find(name ? name : "cpu", "fast");
}

static bool on_cards(void)
{
    return device()->memory != NULL;
}

static const struct {
    size_t layers;
    size_t widths[4];
    enum ga_net_loss loss;
    bool bias;
} shapes[] = {{2, {1, 5, 1}, GA_LOSS_MSE, true},  {2, {1, 3, 1}, GA_LOSS_MSE, true},
              {2, {1, 6, 1}, GA_LOSS_MSE, true},  {2, {1, 5, 1}, GA_LOSS_MSE, false},
              {2, {3, 5, 2}, GA_LOSS_MSE, true},  {3, {1, 5, 4, 1}, GA_LOSS_MSE, true},
              {2, {2, 4, 3}, GA_LOSS_XENT, true}, {1, {1, 1}, GA_LOSS_MSE, true}};

static const struct ga_step steps[] = {
    {.kind = GA_STEP_SGD, .lr = 0.03f, .gradient_scale = 1},
    {.kind = GA_STEP_SGD, .lr = 0.02f, .gradient_scale = 1, .momentum = 0.9f},
    {.kind = GA_STEP_SGD,
     .lr = 0.02f,
     .gradient_scale = 1,
     .momentum = 0.8f,
     .nesterov = true,
     .weight_decay = 0.01f},
    {.kind = GA_STEP_ADAM,
     .gradient_scale = 1,
     .beta1 = 0.9f,
     .one_minus_beta1 = 0.1f,
     .beta2 = 0.99f,
     .one_minus_beta2 = 0.01f,
     .step_size = 0.02f,
     .root_bias2 = 0.5f,
     .epsilon = 1e-8f,
     .decay_factor = 1},
    {.kind = GA_STEP_ADAMW,
     .gradient_scale = 1,
     .beta1 = 0.9f,
     .one_minus_beta1 = 0.1f,
     .beta2 = 0.99f,
     .one_minus_beta2 = 0.01f,
     .step_size = 0.02f,
     .root_bias2 = 0.5f,
     .epsilon = 1e-8f,
     .decay_factor = 0.999f},
};
#define STEPS (sizeof steps / sizeof steps[0])

struct problem {
    struct ga_net net;
    float *inputs, *targets, *example_weights;
    int32_t labels[EXAMPLES];
    uint32_t index[EXAMPLES];
    struct ga_batch batch;
    double weight;
    struct ga_context *context;
    struct ga_step step[UPDATES]; /* each update's, all different */
    float first[MOST], weights[2][MOST], state[2][MOST];
};

static void open_tables(struct problem *p, const struct ga_net *net)
{
    const size_t outputs = net->width[net->layers];
    p->inputs = test_floats(EXAMPLES * net->width[0], 2, 1.5);
    p->targets = test_floats(EXAMPLES * outputs, 3, 2.0);
    p->example_weights = test_floats(EXAMPLES, 4, 1.0);
    for (size_t e = 0; e < EXAMPLES; e++) {
        p->labels[e] = (int32_t)(test_draw(e + 5000) * (double)outputs);
        p->index[e] = (uint32_t)((e * 31) % EXAMPLES);
        p->example_weights[e] = 1.5f + p->example_weights[e];
    }
}

static void problem_open(struct problem *p, const struct ga_net *net, const struct ga_step *step,
                         size_t variant)
{
    static const size_t counts[] = {50, 7, 64, EXAMPLES, 16, 1};
    float *weights = test_floats(net->parameters, 1, 1.0);
    memset(p, 0, sizeof *p);
    p->net = *net;
    open_tables(p, net);
    p->batch = (struct ga_batch){.inputs = p->inputs,
                                 .targets = p->targets,
                                 .labels = p->labels,
                                 .weights = variant % 5 == 4 ? p->example_weights : NULL,
                                 .index = variant % 3 == 2 ? p->index : NULL,
                                 .count = counts[variant % 6]};
    memcpy(p->first, weights, net->parameters * sizeof(float));
    free(weights);
    for (size_t k = 0; k < UPDATES; k++) {
        p->step[k] = *step;
        p->step[k].lr *= 1.0f + 0.01f * (float)k;
        p->step[k].step_size *= 1.0f + 0.01f * (float)k;
    }
    assert_int_equal(device()->open(&p->context, net, p->batch.count), GA_OK);
}

static void problem_close(struct problem *p)
{
    device()->close(p->context);
    free(p->inputs);
    free(p->targets);
    free(p->example_weights);
}

static void ok(int code)
{
    if (code < 0)
        fail_msg("%s", ga_error_text());
}

static void find_gradient(struct problem *p, void *sums, float *gradient, struct ga_burst_row *row)
{
    const struct ga_part all = {0, p->net.parameters};
    const void *const one = sums;
    struct ga_tally tally;
    double square = 0;
    if (device()->accumulate)
        ok(device()->accumulate(p->context, p->weights[0], &p->batch, NULL, sums, &tally, &square));
    else
        ok(device()->gradient(p->context, p->weights[0], &p->batch, GA_ASSIGN, sums, &tally));
    p->weight = ga_tally_weight_sum(&tally);
    row->loss = ga_tally_loss_sum(&tally) / p->weight;
    row->grad_norm = sqrt(square) / p->weight;
    if (device()->mean_part)
        device()->mean_part(&one, 1, p->weight, &all, gradient, &square, NULL);
    else
        row->grad_norm = device()->mean(&p->net, sums, p->weight, gradient);
}

static void take_step(struct problem *p, const struct ga_step *step, const float *gradient,
                      struct ga_burst_row *row)
{
    const size_t n = p->net.parameters;
    const struct ga_part all = {0, n};
    const struct ga_step_blocks blocks = {gradient, p->weights[0], p->state[0], p->weights[1],
                                          p->state[1]};
    double squares[2];
    if (device()->step_part) {
        device()->step_part(&p->net, step, &blocks, &all, squares);
        row->update_norm = sqrt(squares[0]);
        row->param_norm = sqrt(squares[1]);
        return;
    }
    device()->step(&p->net, step, gradient, p->weights[0], p->state[0], p->weights[1], p->state[1]);
    row->update_norm = ga_norm_of_difference(p->weights[1], p->weights[0], n);
    row->param_norm = ga_norm(p->weights[1], n);
}

/* One update by the functions that the engine calls: from weights[0] and state[0] back to them. */
static void update(struct problem *p, const struct ga_step *step, struct ga_burst_row *row)
{
    const size_t bytes = p->net.parameters * sizeof(float);
    void *sums = device()->alloc(bytes);
    float *gradient = test_floats(p->net.parameters, 0, 1);
    find_gradient(p, sums, gradient, row);
    take_step(p, step, gradient, row);
    memcpy(p->weights[0], p->weights[1], bytes);
    memcpy(p->state[0], p->state[1], sizeof p->state[0]);
    device()->free(sums);
    free(gradient);
}

static void one_by_one(struct problem *p, size_t steps_given, struct ga_burst_row *row)
{
    memcpy(p->weights[0], p->first, sizeof p->first);
    memset(p->state, 0, sizeof p->state);
    for (size_t k = 0; k < UPDATES; k++)
        update(p, &p->step[steps_given > 1 ? k : 0], &row[k]);
}

static size_t in_a_burst(const struct problem *p, size_t steps_given, float *weights, float *state,
                         struct ga_burst_row *row)
{
    static const float none[MOST];
    const struct ga_burst burst = {.batch = p->batch,
                                   .step = p->step,
                                   .steps = steps_given,
                                   .weights = p->first,
                                   .state = none,
                                   .new_weights = weights,
                                   .new_state = state,
                                   .row = row,
                                   .count = UPDATES};
    return device()->burst(p->context, &burst);
}

static void check_same(struct problem *p, size_t steps_given)
{
    const size_t parameters = p->net.parameters;
    const size_t states = ga_step_state_blocks(p->step->kind, p->step->momentum);
    struct ga_burst_row want[UPDATES];
    struct ga_burst_row got[UPDATES];
    float weights[MOST] = {0};
    float state[MOST] = {0};
    one_by_one(p, steps_given, want);
    assert_int_equal(in_a_burst(p, steps_given, weights, state, got), UPDATES);
    for (size_t k = 0; k < UPDATES; k++)
        assert_memory_equal(&got[k], &want[k], sizeof got[k]);
    assert_memory_equal(weights, p->weights[0], parameters * sizeof(float));
    assert_memory_equal(state, p->state[0], states * parameters * sizeof(float));
    assert_true(isfinite(want[UPDATES - 1].loss));
    ok(ga_buffer_poll(device()));
}

static void test_same_bits(void **state)
{
    (void)state;
    for (size_t variant = 0; variant < sizeof shapes / sizeof shapes[0] * STEPS * 5;
         variant += ga_test_stride() | 1) {
        const size_t s = variant % (sizeof shapes / sizeof shapes[0]);
        const struct ga_net net =
            test_mlp(shapes[s].layers, shapes[s].widths, (enum ga_net_activation)(variant / 8 % 5),
                     shapes[s].loss, shapes[s].bias);
        struct problem p;
        problem_open(&p, &net, &steps[variant / 8 % 5 * 3 % STEPS], variant);
        check_same(&p, variant % 2 ? UPDATES : 1);
        problem_close(&p);
    }
}

static void test_a_quadratic(void **state)
{
    const struct ga_net net = test_quadratic(5);
    struct problem p;
    (void)state;
    if (on_cards())
        ga_test_skip("cards make no bursts of it");
    problem_open(&p, &net, &steps[0], 0);
    check_same(&p, 1);
    problem_close(&p);
}

/* More parameters than a block of the norms has. */
static void test_several_blocks(void **state)
{
    const size_t widths[] = {9, 25, 3};
    (void)state;
    for (int activation = 0; activation <= GA_ACT_IDENTITY; activation++)
        for (size_t s = 0; s < STEPS; s += ga_test_stride()) {
            const struct ga_net net = test_mlp(2, widths, (enum ga_net_activation)activation,
                                               s % 2 ? GA_LOSS_XENT : GA_LOSS_MSE, true);
            struct problem p;
            problem_open(&p, &net, &steps[s], 2);
            check_same(&p, UPDATES);
            problem_close(&p);
        }
}

/* Blocks that the device holds: what one burst leaves there is what the next one begins with. */
static void check_held(struct problem *p)
{
    enum { HALF = UPDATES / 2 };
    const size_t bytes = p->net.parameters * sizeof(float);
    const size_t states = ga_step_state_blocks(p->step->kind, p->step->momentum) * bytes;
    float *block[2][3] = {
        {test_floats(MOST, 1, 1), test_floats(MOST, 1, 1), test_floats(MOST, 1, 1)},
        {test_floats(MOST, 1, 1), test_floats(MOST, 1, 1), test_floats(MOST, 1, 1)}};
    struct ga_burst_row want[UPDATES];
    struct ga_burst_row got[UPDATES];
    one_by_one(p, UPDATES, want);
    memcpy(block[0][0], p->first, bytes);
    memset(block[1][0], 0, states);
    for (size_t k = 0; k < (states > 0 ? 6 : 3); k++)
        ok(ga_buffer_hold(device(), block[k / 3][k % 3], k < 3 ? bytes : states));
    for (size_t half = 0; half < 2; half++) {
        const struct ga_burst burst = {.batch = p->batch,
                                       .step = p->step + half * HALF,
                                       .steps = HALF,
                                       .weights = block[0][half],
                                       .state = block[1][half],
                                       .new_weights = block[0][half + 1],
                                       .new_state = block[1][half + 1],
                                       .row = got + half * HALF,
                                       .count = HALF};
        assert_int_equal(device()->burst(p->context, &burst), HALF);
    }
    ga_buffer_fetch(device(), block[0][2]);
    ga_buffer_fetch(device(), block[1][2]);
    assert_memory_equal(got, want, sizeof got);
    assert_memory_equal(block[0][2], p->weights[0], bytes);
    assert_memory_equal(block[1][2], p->state[0], states);
    for (size_t k = 0; k < 6; k++) {
        ga_buffer_release(device(), block[k / 3][k % 3]);
        free(block[k / 3][k % 3]);
    }
}

static void test_held_blocks(void **state)
{
    (void)state;
    for (size_t s = 0; s < STEPS; s++) {
        const struct ga_net net = test_mlp(2, shapes[s].widths, GA_ACT_TANH, GA_LOSS_MSE, true);
        struct problem p;
        problem_open(&p, &net, &steps[s], s);
        check_held(&p);
        problem_close(&p);
    }
}

/* The largest rate that there is: it ends where plain updates would give what is not finite. */
static void check_end(const struct ga_net *net, const struct ga_step *step)
{
    struct ga_burst_row want[UPDATES];
    struct ga_burst_row got[UPDATES];
    float weights[MOST];
    float after[MOST];
    struct problem p;
    size_t finite = 0;
    problem_open(&p, net, step, 0);
    for (size_t k = 0; k < UPDATES; k++)
        p.step[k].lr = 1e15f;
    one_by_one(&p, UPDATES, want);
    while (isfinite(want[finite].loss) && isfinite(want[finite].grad_norm))
        finite++;
    assert_in_range(finite, 1, UPDATES - 2);
    assert_int_equal(in_a_burst(&p, UPDATES, weights, after, got), finite);
    assert_memory_equal(got, want, finite * sizeof got[0]);
    problem_close(&p);
}

static void test_ends_before_what_is_not_finite(void **state)
{
    (void)state;
    for (size_t s = 0; s < 3; s++) {
        const struct ga_net net = test_mlp(2, shapes[s].widths, GA_ACT_RELU, GA_LOSS_MSE, true);
        check_end(&net, &steps[0]);
        check_end(&net, &steps[1]);
    }
}

/* A net that goes layer by layer, or is more than a card's block has room for, gets nothing from a
 * burst, and its new blocks stay as they are. */
static void test_large_nets_have_none(void **state)
{
    const size_t widths[] = {64, 60, 2};
    const struct ga_net net = test_mlp(2, widths, GA_ACT_TANH, GA_LOSS_MSE, true);
    struct problem p;
    struct ga_burst_row row[UPDATES];
    float weights[MOST] = {0};
    (void)state;
    assert_true(net.parameters <= MOST);
    problem_open(&p, &net, &steps[0], 0);
    const bool layered = ga_fast_kernel()->products || ga_fast_blas();
    const size_t done = in_a_burst(&p, 1, weights, NULL, row);
    assert_int_equal(done, on_cards() || layered ? 0 : UPDATES);
    for (size_t i = 0; done == 0 && i < MOST; i++)
        assert_true(weights[i] == 0);
    problem_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_a_quadratic),
        cmocka_unit_test(test_several_blocks),
        cmocka_unit_test(test_held_blocks),
        cmocka_unit_test(test_ends_before_what_is_not_finite),
        cmocka_unit_test(test_large_nets_have_none),
    };
    const char *kernel = getenv("GA_CPU_KERNEL");
    if (kernel && strcmp(kernel, "avx2") == 0 && !__builtin_cpu_supports("avx2")) {
        puts("skipped: this machine has no AVX2");
        return 77;
    }
    if (!device()) {
        printf("skipped: %s\n", ga_error_text());
        return getenv("GA_FAKE_CUDA") ? 1 : 77;
    }
    return ga_test_main(tests);
}
