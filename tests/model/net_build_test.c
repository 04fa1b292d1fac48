/* The layout of parameters: PyTorch's names, shapes and order, and what is refused. */
#include <string.h>

#include "base/error.h"
#include "model/model.h"
#include "support/support.h"

static struct ga_net build(size_t layers, const int32_t *widths, bool bias)
{
    struct ga_net net;
    const struct ga_model_spec spec = {GA_NET_MLP, layers, widths, GA_ACT_GELU, GA_LOSS_XENT, bias};
    assert_int_equal(ga_net_build(&net, &spec), GA_OK);
    return net;
}

static void check_tensor(const struct ga_net *net, size_t number, const char *name, size_t offset,
                         size_t rows, size_t columns, int dimensions)
{
    const struct ga_tensor *t = &net->tensor[number];
    assert_string_equal(t->name, name);
    assert_int_equal(t->offset, offset);
    assert_int_equal(t->rows, rows);
    assert_int_equal(t->columns, columns);
    assert_int_equal(t->dimensions, dimensions);
    assert_ptr_equal(ga_net_tensor(net, name), t);
}

static void test_mlp_with_bias(void **state)
{
    (void)state;
    const int32_t widths[] = {64, 32, 10};
    const struct ga_net net = build(2, widths, true);
    assert_int_equal(net.parameters, 2410);
    assert_int_equal(net.tensors, 4);
    check_tensor(&net, 0, "layers.0.weight", 0, 32, 64, 2);
    check_tensor(&net, 1, "layers.0.bias", 2048, 32, 1, 1);
    check_tensor(&net, 2, "layers.1.weight", 2080, 10, 32, 2);
    check_tensor(&net, 3, "layers.1.bias", 2400, 10, 1, 1);
    assert_true(net.weight_at[0] == 0 && net.bias_at[0] == 2048);
    assert_true(net.weight_at[1] == 2080 && net.bias_at[1] == 2400);
    assert_true(net.width[0] == 64 && net.width[1] == 32 && net.width[2] == 10);
    assert_true(net.kind == GA_NET_MLP && net.layers == 2 && net.bias);
    assert_true(net.activation == GA_ACT_GELU && net.loss == GA_LOSS_XENT);
}

static void test_mlp_without_bias(void **state)
{
    (void)state;
    const int32_t widths[] = {1, 5, 1};
    const struct ga_net net = build(2, widths, false);
    assert_int_equal(net.parameters, 10);
    assert_int_equal(net.tensors, 2);
    check_tensor(&net, 0, "layers.0.weight", 0, 5, 1, 2);
    check_tensor(&net, 1, "layers.1.weight", 5, 1, 5, 2);
    assert_null(ga_net_tensor(&net, "layers.0.bias"));
}

static void test_quadratic(void **state)
{
    (void)state;
    const int32_t widths[] = {3};
    struct ga_net net;
    const struct ga_model_spec spec = {
        .kind = GA_NET_QUADRATIC, .widths = widths, .bias = true, .activation = GA_ACT_GELU};
    assert_int_equal(ga_net_build(&net, &spec), GA_OK);
    assert_int_equal(net.parameters, 3);
    assert_int_equal(net.tensors, 1);
    check_tensor(&net, 0, "weight", 0, 3, 1, 1);
    assert_true(net.layers == 1 && net.width[0] == 3 && net.width[1] == 3 && !net.bias);
    assert_int_equal(net.activation, GA_ACT_IDENTITY);
}

static void test_most_layers(void **state)
{
    (void)state;
    int32_t widths[GA_NET_LAYERS + 1];
    for (size_t i = 0; i <= GA_NET_LAYERS; i++)
        widths[i] = 2;
    const struct ga_net net = build(GA_NET_LAYERS, widths, true);
    assert_int_equal(net.tensors, GA_NET_TENSORS);
    assert_int_equal(net.parameters, GA_NET_LAYERS * 6);
    assert_string_equal(net.tensor[31].name, "layers.15.bias");
}

/* What is refused leaves the caller's net alone. */
static void check_refused(size_t layers, const int32_t *widths, const char *said)
{
    struct ga_net net = {.parameters = 77};
    const struct ga_model_spec spec = {GA_NET_MLP, layers, widths, GA_ACT_TANH, GA_LOSS_MSE, true};
    assert_int_equal(ga_net_build(&net, &spec), GA_ERANGE);
    assert_non_null(strstr(ga_error_text(), said));
    assert_int_equal(net.parameters, 77);
}

static void test_refusals(void **state)
{
    (void)state;
    const int32_t zero[] = {1, 0, 1};
    const int32_t negative[] = {1, 2, -5};
    int32_t many[GA_NET_LAYERS + 2];
    int32_t huge[GA_NET_LAYERS + 1];
    for (size_t i = 0; i < GA_NET_LAYERS + 2; i++)
        many[i] = 1;
    for (size_t i = 0; i <= GA_NET_LAYERS; i++)
        huge[i] = INT32_MAX;
    check_refused(2, zero, "width 1 of the model is 0: expected 1 or more");
    check_refused(2, negative, "width 2 of the model is -5");
    check_refused(0, zero, "expected 1 to 16");
    check_refused(GA_NET_LAYERS + 1, many, "expected 1 to 16");
    check_refused(GA_NET_LAYERS, huge, "more parameters");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mlp_with_bias), cmocka_unit_test(test_mlp_without_bias),
        cmocka_unit_test(test_quadratic),     cmocka_unit_test(test_most_layers),
        cmocka_unit_test(test_refusals),
    };
    return ga_test_main(tests);
}
