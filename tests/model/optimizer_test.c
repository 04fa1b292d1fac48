/* Optimizer scalars, clipping, learning-rate schedules and memory accounting. */
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "support/support.h"

static void test_sgd_scalars(void **state)
{
    (void)state;
    const struct ga_optimizer_spec spec = {
        .kind = GA_STEP_SGD, .momentum = 0.9, .nesterov = true, .weight_decay = 0.01};
    struct ga_optimizer_scalars scalars;
    struct ga_step step;
    ga_optimizer_scalars_init(&scalars);
    ga_optimizer_advance(&spec, &scalars, 0.1, 1.0, &step);
    assert_int_equal(step.kind, GA_STEP_SGD);
    assert_true(step.lr == 0.1f && step.momentum == 0.9f && step.weight_decay == 0.01f);
    assert_true(step.nesterov && !step.scaled && step.gradient_scale == 1);
    assert_int_equal(scalars.t, 1);
    ga_optimizer_advance(&spec, &scalars, 0.05, 0.25, &step);
    assert_true(step.lr == 0.05f && step.scaled && step.gradient_scale == 0.25f);
    assert_int_equal(scalars.t, 2);
}

/* Powers are running products in double; every scalar is rounded to float once. */
static void test_adam_scalars(void **state)
{
    (void)state;
    const struct ga_optimizer_spec spec = {
        .kind = GA_STEP_ADAM, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .weight_decay = 0.01};
    struct ga_optimizer_scalars scalars;
    struct ga_step step;
    double power1 = 1;
    double power2 = 1;
    ga_optimizer_scalars_init(&scalars);
    for (int t = 1; t <= 100; t++) {
        power1 *= 0.9;
        power2 *= 0.999;
        ga_optimizer_advance(&spec, &scalars, 0.002, 1.0, &step);
        assert_true(scalars.beta1_power == power1 && scalars.beta2_power == power2);
        assert_true(step.step_size == (float)(0.002 / (1 - power1)));
        assert_true(step.root_bias2 == (float)sqrt(1 - power2));
    }
    assert_true(step.beta1 == 0.9f && step.one_minus_beta1 == (float)(1 - 0.9));
    assert_true(step.beta2 == 0.999f && step.one_minus_beta2 == (float)(1 - 0.999));
    assert_true(step.epsilon == 1e-8f && step.weight_decay == 0.01f && step.decay_factor == 1);
}

static void test_adamw_scalars(void **state)
{
    (void)state;
    const struct ga_optimizer_spec spec = {
        .kind = GA_STEP_ADAMW, .beta1 = 0.9, .beta2 = 0.999, .weight_decay = 0.1};
    struct ga_optimizer_scalars scalars;
    struct ga_step step;
    ga_optimizer_scalars_init(&scalars);
    ga_optimizer_advance(&spec, &scalars, 0.01, 1.0, &step);
    assert_true(step.decay_factor == (float)(1 - 0.01 * 0.1) && step.weight_decay == 0);
    assert_true(step.step_size == (float)(0.01 / (1 - 0.9)));
}

static void test_clip(void **state)
{
    (void)state;
    assert_true(ga_clip_scale(0, 100) == 1);
    assert_true(ga_clip_scale(1, 0) == 1 && ga_clip_scale(1, 0.5) == 1);
    assert_true(ga_clip_scale(1, 4) == 1 / (4 + 1e-6));
    assert_true(ga_clip_scale(2, sqrt(2.0)) == 1);
    assert_true(ga_clip_scale(1, 1) < 1); /* PyTorch's 1e-6 */
    assert_true(ga_clip_scale(1, INFINITY) == 0);
    assert_true(ga_clip_scale(1, (double)NAN) == 1);
}

static void test_constant_rate_and_warmup(void **state)
{
    (void)state;
    struct ga_schedule_spec spec = {.kind = GA_LR_CONSTANT};
    assert_true(ga_schedule_rate(&spec, 0.1, 0) == 0.1);
    assert_true(ga_schedule_rate(&spec, 0.1, UINT64_MAX) == 0.1);
    spec.warmup = 4;
    assert_true(ga_schedule_rate(&spec, 0.1, 0) == 0.1 / 4);
    assert_true(ga_schedule_rate(&spec, 0.1, 2) == 0.1 * 3 / 4);
    assert_true(ga_schedule_rate(&spec, 0.1, 3) == 0.1);
    assert_true(ga_schedule_rate(&spec, 0.1, 4) == 0.1);
}

static void test_step_rate(void **state)
{
    (void)state;
    struct ga_schedule_spec spec = {.kind = GA_LR_STEP, .every = 10, .value = 0.5};
    assert_true(ga_schedule_rate(&spec, 0.8, 9) == 0.8 && ga_schedule_rate(&spec, 0.8, 10) == 0.4);
    assert_true(ga_schedule_rate(&spec, 0.8, 39) == 0.1);
    spec.warmup = 5;
    assert_true(ga_schedule_rate(&spec, 0.8, 14) == 0.8 && ga_schedule_rate(&spec, 0.8, 15) == 0.4);
    assert_true(ga_schedule_rate(&spec, 0.8, UINT64_MAX) == 0);
    spec.every = 0;
    assert_true(ga_schedule_rate(&spec, 0.8, 1000) == 0.8);
}

static void test_cosine_rate(void **state)
{
    (void)state;
    struct ga_schedule_spec spec = {.kind = GA_LR_COSINE, .every = 100, .value = 0.01};
    assert_true(ga_schedule_rate(&spec, 0.1, 0) == 0.01 + (0.1 - 0.01) * 2 / 2);
    assert_close(ga_schedule_rate(&spec, 0.1, 50), 0.055, 1e-14);
    assert_close(ga_schedule_rate(&spec, 0.1, 25), 0.01 + 0.09 * (1 + sqrt(0.5)) / 2, 1e-14);
    assert_close(ga_schedule_rate(&spec, 0.1, 100), 0.01, 1e-14);
    assert_true(ga_schedule_rate(&spec, 0.1, 101) == ga_schedule_rate(&spec, 0.1, 100));
    spec.warmup = 10;
    assert_true(ga_schedule_rate(&spec, 0.1, 10) == 0.01 + (0.1 - 0.01) * 2 / 2);
    assert_close(ga_schedule_rate(&spec, 0.1, 60), 0.055, 1e-14);
    assert_close(ga_schedule_rate(&spec, 0.1, UINT64_MAX), 0.01, 1e-14);
}

static void test_memory(void **state)
{
    (void)state;
    struct ga_net net;
    struct ga_memory memory;
    const int32_t widths[] = {64, 32, 10};
    const struct ga_model_spec spec = {GA_NET_MLP, 2, widths, GA_ACT_RELU, GA_LOSS_XENT, true};
    const struct ga_compute *cpu = &ga_compute_cpu_exact;
    assert_int_equal(ga_net_build(&net, &spec), 0);
    ga_model_memory(&net, cpu, 2, 100, &memory);
    assert_int_equal(memory.weights, 4 * 2410);
    assert_int_equal(memory.optimizer, 2 * 4 * 2410);
    assert_int_equal(memory.accumulators, 2 * 16 * 2410);
    assert_int_equal(memory.activations, cpu->context_bytes(&net, 100));
    assert_int_equal(memory.total,
                     memory.weights + memory.optimizer + memory.accumulators + memory.activations);
    const uint64_t before = memory.activations;
    ga_model_memory(&net, cpu, 0, 200, &memory);
    assert_int_equal(memory.optimizer, 0);
    /* 104 and 200 examples are whole vectors; an example has 64 + 2*32 + 2*10 floats. */
    assert_int_equal(memory.activations - before, 96 * 4 * (64 + 2 * 32 + 2 * 10));
}

/* A batch whose bytes cannot be counted stays the largest number, not a small one. */
static void test_memory_beyond_counting(void **state)
{
    (void)state;
    struct ga_net net;
    struct ga_memory memory;
    const int32_t widths[] = {64, 32, 10};
    const struct ga_model_spec spec = {GA_NET_MLP, 2, widths, GA_ACT_RELU, GA_LOSS_XENT, true};
    assert_int_equal(ga_net_build(&net, &spec), 0);
    ga_model_memory(&net, &ga_compute_cpu_exact, 2, SIZE_MAX, &memory);
    assert_true(memory.activations == UINT64_MAX && memory.total == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sgd_scalars),
        cmocka_unit_test(test_adam_scalars),
        cmocka_unit_test(test_adamw_scalars),
        cmocka_unit_test(test_clip),
        cmocka_unit_test(test_constant_rate_and_warmup),
        cmocka_unit_test(test_step_rate),
        cmocka_unit_test(test_cosine_rate),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_memory_beyond_counting),
    };
    return ga_test_main(tests);
}
