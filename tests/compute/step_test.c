/* Optimizer steps against PyTorch's formulas in double, over many updates, on all kernels, and to
 * the bit against the formula that all devices share. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "support/support.h"

#define COUNT   601 /* more than two blocks of the kernel */
#define UPDATES 40

/* What torch.optim.SGD, Adam and AdamW keep, in double. */
struct oracle {
    double w[COUNT], m[COUNT], v[COUNT];
    double beta1, beta2; /* their powers come from t */
    int t;
};

struct setting {
    enum ga_step_kind kind;
    bool nesterov;
    double lr, momentum, weight_decay, clip;
};

static const struct setting settings[] = {
    {GA_STEP_SGD, false, 0.05, 0, 0, 1},      {GA_STEP_SGD, false, 0.05, 0, 0.1, 1},
    {GA_STEP_SGD, false, 0.05, 0.9, 0, 1},    {GA_STEP_SGD, true, 0.05, 0.9, 0.01, 0.3},
    {GA_STEP_SGD, true, 0.05, 0.5, 0, 0.7},   {GA_STEP_ADAM, false, 0.01, 0, 0, 1},
    {GA_STEP_ADAM, false, 0.01, 0, 0.1, 0.5}, {GA_STEP_ADAMW, false, 0.01, 0, 0.1, 1},
    {GA_STEP_ADAMW, false, 0.02, 0, 0, 0.25},
};

static void oracle_sgd(struct oracle *o, const struct setting *s, size_t i, double g)
{
    if (s->momentum != 0) {
        o->m[i] = s->momentum * o->m[i] + g;
        g = s->nesterov ? g + s->momentum * o->m[i] : o->m[i];
    }
    o->w[i] -= s->lr * g;
}

static void oracle_adam(struct oracle *o, const struct setting *s, size_t i, double g)
{
    o->m[i] = 0.9 * o->m[i] + 0.1 * g;
    o->v[i] = 0.999 * o->v[i] + 0.001 * g * g;
    const double m = o->m[i] / (1 - pow(0.9, o->t));
    const double v = o->v[i] / (1 - pow(0.999, o->t));
    o->w[i] -= s->lr * m / (sqrt(v) + 1e-8);
}

static void oracle_step(struct oracle *o, const struct setting *s, const float *gradient)
{
    o->t++;
    for (size_t i = 0; i < COUNT; i++) {
        double g = (double)gradient[i] * s->clip;
        if (s->kind == GA_STEP_ADAMW)
            o->w[i] *= 1 - s->lr * s->weight_decay;
        else
            g += s->weight_decay * o->w[i];
        if (s->kind == GA_STEP_SGD)
            oracle_sgd(o, s, i, g);
        else
            oracle_adam(o, s, i, g);
    }
}

/* The scalars of update t, written out by hand. */
static struct ga_step step_of(const struct setting *s, int t)
{
    const bool decoupled = s->kind == GA_STEP_ADAMW;
    return (struct ga_step){.kind = s->kind,
                            .gradient_scale = (float)s->clip,
                            .scaled = s->clip != 1,
                            .lr = (float)s->lr,
                            .momentum = (float)s->momentum,
                            .nesterov = s->nesterov,
                            .weight_decay = decoupled ? 0.0f : (float)s->weight_decay,
                            .decay_factor = (float)(1 - s->lr * s->weight_decay),
                            .beta1 = 0.9f,
                            .one_minus_beta1 = (float)(1 - 0.9),
                            .beta2 = 0.999f,
                            .one_minus_beta2 = (float)(1 - 0.999),
                            .step_size = (float)(s->lr / (1 - pow(0.9, t))),
                            .root_bias2 = (float)sqrt(1 - pow(0.999, t)),
                            .epsilon = 1e-8f};
}

/* Two copies of weights and state, used in turn. */
struct run {
    float weights[2][COUNT], state[2][2 * COUNT];
};

/* Each parameter's step is that of step.h, to the bit. */
static void check_formula(const struct ga_step *step, const float *gradient, const struct run *run,
                          int from)
{
    for (size_t i = 0; i < COUNT; i++) {
        float state[2] = {run->state[from][i], run->state[from][COUNT + i]};
        const float w = ga_step_one(step, gradient[i], run->weights[from][i], &state[0], &state[1]);
        assert_memory_equal(&run->weights[1 - from][i], &w, sizeof w);
        assert_memory_equal(&run->state[1 - from][i], &state[0], sizeof state[0]);
        assert_memory_equal(&run->state[1 - from][COUNT + i], &state[1], sizeof state[1]);
    }
}

static void check_setting(const struct setting *s, const struct ga_cpu_kernel *kernel,
                          struct run *run)
{
    struct oracle *o = calloc(1, sizeof *o);
    float gradient[COUNT];
    memset(run, 0, sizeof *run);
    const bool stateless = ga_step_state_blocks(s->kind, (float)s->momentum) == 0;
    for (size_t i = 0; i < COUNT; i++) {
        run->weights[0][i] = (float)test_between(i, -1, 1);
        o->w[i] = (double)run->weights[0][i];
    }
    for (int t = 1; t <= UPDATES; t++) {
        const int from = (t - 1) % 2;
        const struct ga_step step = step_of(s, t);
        for (size_t i = 0; i < COUNT; i++)
            gradient[i] =
                run->weights[from][i] * 2 + (float)test_between(i * 77 + (size_t)t, -1, 1);
        kernel->step(&step, COUNT, gradient, run->weights[from],
                     stateless ? NULL : run->state[from], run->weights[1 - from],
                     stateless ? NULL : run->state[1 - from]);
        check_formula(&step, gradient, run, from);
        oracle_step(o, s, gradient);
    }
    double got[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        got[i] = (double)run->weights[UPDATES % 2][i];
    assert_at_most(relative_distance(got, o->w, COUNT), 2e-6);
    free(o);
}

static void test_against_pytorch_formulas(void **state)
{
    (void)state;
    const struct ga_cpu_kernel *kernels[GA_CPU_KERNELS + 1];
    struct run *runs = calloc(2, sizeof *runs);
    ga_cpu_kernels(kernels);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        check_setting(&settings[i], kernels[0], &runs[0]);
        for (size_t k = 1; kernels[k]; k++) {
            check_setting(&settings[i], kernels[k], &runs[1]);
            assert_memory_equal(&runs[0], &runs[1], sizeof runs[0]);
        }
    }
    free(runs);
}

/* One step of each kind, digit by digit. */
static void test_single_steps(void **state)
{
    (void)state;
    const float w[1] = {2};
    const float g[1] = {4};
    const float old[2] = {8, 16};
    float out[1];
    float new_state[2];
    const struct ga_net net = test_quadratic(1);
    struct ga_step step = {.kind = GA_STEP_SGD, .lr = 0.25f};
    ga_compute_cpu_exact.step(&net, &step, g, w, NULL, out, NULL);
    assert_true(out[0] == 1);
    step.momentum = 0.5f;
    ga_compute_cpu_exact.step(&net, &step, g, w, old, out, new_state);
    assert_true(new_state[0] == 8 && out[0] == 0);
    step.nesterov = true;
    ga_compute_cpu_exact.step(&net, &step, g, w, old, out, new_state);
    assert_true(new_state[0] == 8 && out[0] == 0);
    step.weight_decay = 2;
    step.scaled = true;
    step.gradient_scale = 0.5f;
    ga_compute_cpu_exact.step(&net, &step, g, w, old, out, new_state);
    assert_true(new_state[0] == 10 && out[0] == 2 - 0.25f * (6 + 5));
    step = (struct ga_step){.kind = GA_STEP_ADAMW,
                            .decay_factor = 0.5f,
                            .beta1 = 0.5f,
                            .one_minus_beta1 = 0.5f,
                            .beta2 = 0.75f,
                            .one_minus_beta2 = 0.25f,
                            .step_size = 0.5f,
                            .root_bias2 = 1,
                            .weight_decay = 7};
    ga_compute_cpu_exact.step(&net, &step, g, w, old, out, new_state);
    assert_true(new_state[0] == 6 && new_state[1] == 16 && out[0] == 0.5f * 2 - 0.5f * (6.0f / 4));
}

static void test_state_blocks(void **state)
{
    (void)state;
    assert_int_equal(ga_step_state_blocks(GA_STEP_SGD, 0.0f), 0);
    assert_int_equal(ga_step_state_blocks(GA_STEP_SGD, 0.9f), 1);
    assert_int_equal(ga_step_state_blocks(GA_STEP_ADAM, 0.0f), 2);
    assert_int_equal(ga_step_state_blocks(GA_STEP_ADAMW, 0.5f), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_pytorch_formulas),
        cmocka_unit_test(test_single_steps),
        cmocka_unit_test(test_state_blocks),
    };
    return ga_test_main(tests);
}
