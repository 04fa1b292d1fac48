/* Initial weights: their statistics, their bits, and that a draw belongs to its parameter alone. */
#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/random.h"
#include "model/model.h"
#include "support/support.h"

static struct ga_net net_of(int32_t in, int32_t hidden, int32_t out)
{
    struct ga_net net;
    const int32_t widths[] = {in, hidden, out};
    const struct ga_model_spec spec = {GA_NET_MLP, 2, widths, GA_ACT_TANH, GA_LOSS_MSE, true};
    assert_int_equal(ga_net_build(&net, &spec), 0);
    return net;
}

struct moments {
    double mean, deviation, largest;
};

static struct moments moments_of(const float *values, size_t count)
{
    struct moments m = {0, 0, 0};
    for (size_t i = 0; i < count; i++) {
        const double x = (double)values[i];
        m.mean += x / (double)count;
        m.largest = fabs(x) > m.largest ? fabs(x) : m.largest;
    }
    for (size_t i = 0; i < count; i++)
        m.deviation += ((double)values[i] - m.mean) * ((double)values[i] - m.mean);
    m.deviation = sqrt(m.deviation / (double)count);
    return m;
}

/* Of tensor `number`; the mean must lie within 5 standard errors of 0. */
static struct moments check_tensor(const struct ga_net *net, size_t number, const float *weights,
                                   double deviation)
{
    const struct ga_tensor *t = &net->tensor[number];
    const size_t count = t->rows * t->columns;
    const struct moments m = moments_of(weights + t->offset, count);
    const double error = 5 / sqrt((double)count);
    assert_true(fabs(m.mean) <= deviation * error);
    assert_true(fabs(m.deviation - deviation) <= deviation * error);
    return m;
}

static void test_statistics(void **state)
{
    (void)state;
    const struct ga_net net = net_of(400, 250, 300);
    float *w = calloc(net.parameters, sizeof *w);
    ga_model_initialise(&net, GA_MODEL_NORMAL, 1, w);
    for (size_t t = 0; t < 4; t++)
        check_tensor(&net, t, w, 1.0);
    ga_model_initialise(&net, GA_MODEL_UNIFORM, 1, w);
    for (size_t t = 0; t < 4; t++) {
        const double bound = 1 / sqrt(t < 2 ? 400.0 : 250.0);
        const struct moments m = check_tensor(&net, t, w, bound / sqrt(3.0));
        assert_true(m.largest <= bound && m.largest > 0.97 * bound);
    }
    ga_model_initialise(&net, GA_MODEL_XAVIER, 1, w);
    const double xavier = sqrt(6.0 / 650);
    const struct moments m = check_tensor(&net, 0, w, xavier / sqrt(3.0));
    assert_true(m.largest <= xavier * (1 + 1e-7) && m.largest > 0.99 * xavier);
    check_tensor(&net, 2, w, sqrt(6.0 / 550 / 3));
    assert_true(moments_of(w + net.bias_at[0], 250).largest == 0);
    ga_model_initialise(&net, GA_MODEL_HE, 1, w);
    check_tensor(&net, 0, w, sqrt(2.0 / 400));
    check_tensor(&net, 2, w, sqrt(2.0 / 250));
    assert_true(moments_of(w + net.bias_at[1], 300).largest == 0);
    ga_model_initialise(&net, GA_MODEL_ZEROS, 1, w);
    assert_true(moments_of(w, net.parameters).largest == 0);
    free(w);
}

/* Parameter i is draw i of its purpose, whatever the net around it. */
static void test_draw_belongs_to_its_parameter(void **state)
{
    (void)state;
    const struct ga_net narrow = net_of(1, 5, 1);
    const struct ga_net wide = net_of(3, 7, 2);
    float a[16];
    float b[100];
    ga_model_initialise(&narrow, GA_MODEL_NORMAL, 42, a);
    ga_model_initialise(&wide, GA_MODEL_NORMAL, 42, b);
    assert_memory_equal(a, b, sizeof a);
    for (uint64_t i = 0; i < 16; i++)
        assert_true(a[i] == (float)ga_normal(42, i, 0, GA_DRAW_INIT));
    ga_model_initialise(&wide, GA_MODEL_NORMAL, 43, b);
    assert_true(a[0] != b[0] && a[15] != b[15]);
}

static void test_quadratic_starts_at_one(void **state)
{
    (void)state;
    struct ga_net net;
    const int32_t widths[] = {9};
    const struct ga_model_spec spec = {.kind = GA_NET_QUADRATIC, .widths = widths};
    assert_int_equal(ga_net_build(&net, &spec), 0);
    for (int init = GA_MODEL_NORMAL; init <= GA_MODEL_ZEROS; init++) {
        float w[9] = {0};
        ga_model_initialise(&net, (enum ga_model_init)init, 5, w);
        for (size_t i = 0; i < 9; i++)
            assert_true(w[i] == 1);
    }
}

/* The bits that seed 1 gives on every machine. */
static void test_golden(void **state)
{
    (void)state;
    static const uint64_t want[] = {UINT64_C(0x94fe188e616da470), UINT64_C(0xd44748b44fbd7ccc),
                                    UINT64_C(0xe9045cb6796a95c7), UINT64_C(0x29bbb6d8cbc999e7)};
    const struct ga_net net = net_of(20, 30, 10);
    float w[1000];
    assert_true(net.parameters <= 1000);
    for (int init = GA_MODEL_NORMAL; init < GA_MODEL_ZEROS; init++) {
        ga_model_initialise(&net, (enum ga_model_init)init, 1, w);
        const uint64_t hash = ga_hash_parameters(w, net.parameters);
        if (hash != want[init])
            fail_msg("initialiser %d gives 0x%016llx", init, (unsigned long long)hash);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statistics),
        cmocka_unit_test(test_draw_belongs_to_its_parameter),
        cmocka_unit_test(test_quadratic_starts_at_one),
        cmocka_unit_test(test_golden),
    };
    return ga_test_main(tests);
}
