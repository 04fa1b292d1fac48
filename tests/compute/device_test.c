/*
 * The device table as its callers see it: the registry, memory and its accounting, running out of
 * it, refusals, means, norms and the first gradient of the parabola reference.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "fixture.h"
#include "support/support.h"

static const struct ga_compute *device(void)
{
    const struct ga_compute *c = ga_compute_find("cpu", "exact");
    assert_non_null(c);
    return c;
}

static struct ga_net parabola_net(void)
{
    const size_t widths[] = {1, 5, 1};
    return test_mlp(2, widths, GA_ACT_TANH, GA_LOSS_MSE, true);
}

static void test_registry(void **state)
{
    (void)state;
    assert_ptr_equal(device(), &ga_compute_cpu_exact);
    assert_null(ga_compute_find("cpu", "vague"));
    assert_int_equal(ga_error_code(), GA_EUNSUPPORTED);
    assert_non_null(strstr(ga_error_text(), "cpu exact"));
    assert_null(ga_compute_find("abacus", "exact"));
    assert_non_null(strstr(ga_error_text(), "abacus"));
    const char *kernel = ga_compute_cpu_kernel();
    assert_true(strcmp(kernel, "avx2") == 0 || strcmp(kernel, "baseline") == 0);
}

/* Every slot of the table, so that a caller may use it unasked. */
static void test_table_is_complete(void **state)
{
    (void)state;
    const struct ga_compute *c = device();
    assert_true(c->sum_count && c->open && c->close && c->context_bytes && c->alloc && c->free);
    assert_true(c->gradient && c->evaluate && c->predict && c->add && c->clear && c->mean);
    assert_true(c->read_sums && c->step);
    assert_int_equal(c->sum_type, GA_FLOAT64);
    assert_int_equal(ga_type_bytes(GA_FLOAT64), 8);
    assert_int_equal(ga_type_bytes(GA_FLOAT32), 4);
    c->close(NULL);
    c->free(NULL);
}

static void test_accounting(void **state)
{
    (void)state;
    const size_t widths[] = {64, 32, 10};
    const struct ga_net nets[] = {
        parabola_net(), test_mlp(2, widths, GA_ACT_GELU, GA_LOSS_XENT, true),
        test_mlp(2, widths, GA_ACT_RELU, GA_LOSS_XENT, false), test_quadratic(300)};
    for (size_t i = 0; i < 4; i++) {
        test_context_bytes(device(), &nets[i], 1);
        test_context_bytes(device(), &nets[i], 100);
        test_context_bytes(device(), &nets[i], 20000);
        assert_true(device()->context_bytes(&nets[i], SIZE_MAX) == SIZE_MAX);
        assert_true(device()->context_bytes(&nets[i], SIZE_MAX / 8) == SIZE_MAX);
    }
}

/* Each allocation of opening and of growing fails once. */
static void test_no_memory(void **state)
{
    (void)state;
    const struct ga_net net = parabola_net();
    const float *table = (const float[64]){0};
    const float weights[16] = {0};
    double sums[32];
    struct ga_tally tally;
    struct ga_context *context = NULL;
    const struct ga_batch batch = {.inputs = table, .targets = table, .count = 64};
    int64_t allowed = 0;
    for (; allowed < 10 && !context; allowed++) {
        ga_test_allocation_limit(allowed);
        const int code = device()->open(&context, &net, 8);
        ga_test_allocation_free();
        assert_int_equal(code, context ? GA_OK : GA_ENOMEM);
    }
    assert_true(context && allowed == 4);
    ga_test_allocation_limit(0);
    assert_int_equal(device()->gradient(context, weights, &batch, GA_ASSIGN, sums, &tally),
                     GA_ENOMEM);
    ga_test_allocation_free();
    assert_non_null(strstr(ga_error_text(), "64 examples"));
    assert_int_equal(device()->gradient(context, weights, &batch, GA_ASSIGN, sums, &tally), GA_OK);
    device()->close(context);
    ga_test_allocation_limit(0);
    assert_null(device()->alloc(100));
    ga_test_allocation_free();
}

/* Once there is room nothing is allocated, whatever is called. */
static void test_no_allocation_in_training(void **state)
{
    (void)state;
    const struct ga_net net = parabola_net();
    const float *table = (const float[64]){0};
    const float weights[16] = {0};
    const struct ga_step step = {.kind = GA_STEP_SGD, .lr = 0.1f};
    float gradient[16];
    float outputs[64];
    double sums[32];
    struct ga_tally tally;
    struct ga_context *context = NULL;
    const struct ga_batch batch = {.inputs = table, .targets = table, .count = 64};
    assert_int_equal(device()->open(&context, &net, 64), GA_OK);
    const uint64_t before = ga_test_allocations();
    assert_int_equal(device()->gradient(context, weights, &batch, GA_ASSIGN, sums, &tally), GA_OK);
    assert_int_equal(device()->evaluate(context, weights, &batch, &tally), GA_OK);
    assert_int_equal(device()->predict(context, weights, &batch, outputs), GA_OK);
    device()->add(&net, sums, sums);
    device()->mean(&net, sums, 128, gradient);
    device()->step(&net, &step, gradient, weights, NULL, outputs, NULL);
    device()->clear(&net, sums);
    assert_int_equal(ga_test_allocations(), before);
    device()->close(context);
}

static void test_buffers(void **state)
{
    (void)state;
    unsigned char *block = device()->alloc(1000);
    assert_non_null(block);
    assert_int_equal((uintptr_t)block % 64, 0);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(block[i], 0);
    device()->free(block);
    block = device()->alloc(0);
    assert_non_null(block);
    device()->free(block);
    assert_null(device()->alloc(SIZE_MAX));
    assert_int_equal(ga_error_code(), GA_ENOMEM);
}

static void test_refusals(void **state)
{
    (void)state;
    const struct ga_net net = parabola_net();
    const struct ga_net quadratic = test_quadratic(2);
    const float table[2] = {0};
    const float weights[16] = {0};
    float outputs[2];
    double sums[32];
    struct ga_tally tally;
    struct ga_context *context = NULL;
    struct ga_batch batch = {.inputs = table, .count = 1};
    assert_int_equal(device()->open(&context, &net, 1), GA_OK);
    assert_int_equal(device()->gradient(context, weights, &batch, GA_ASSIGN, sums, &tally),
                     GA_EINTERNAL);
    batch.targets = table;
    batch.first = UINT32_MAX;
    assert_int_equal(device()->evaluate(context, weights, &batch, &tally), GA_EINTERNAL);
    batch.first = 0;
    batch.inputs = NULL;
    assert_int_equal(device()->predict(context, weights, &batch, outputs), GA_EINTERNAL);
    device()->close(context);
    assert_int_equal(device()->open(&context, &quadratic, 1), GA_OK);
    batch.inputs = table;
    assert_int_equal(device()->predict(context, weights, &batch, outputs), GA_EUNSUPPORTED);
    device()->close(context);
}

/* Sums of known values: add, mean, its norm, reading, clearing. */
static void test_sums(void **state)
{
    (void)state;
    const struct ga_net net = test_quadratic(3);
    double sums[6] = {3, -1.5, 0.25, 0x1p-30, 0, -0x1p-40};
    const double more[6] = {1, 1.5, 0, 0, 0x1p-44, 0x1p-40};
    double read[2];
    float g[3];
    device()->add(&net, sums, more);
    device()->read_sums(&net, sums, 1, 2, read);
    assert_true(read[0] == 0x1p-44 && read[1] == 0.25);
    const double norm = device()->mean(&net, sums, 3, g);
    assert_true(g[0] == (float)((4 + 0x1p-30) / 3) && g[1] == (float)(0x1p-44 / 3));
    assert_true(g[2] == (float)(0.25 / 3));
    assert_true(norm == ga_norm(g, 3) && device()->mean(&net, sums, 3, NULL) == norm);
    sums[0] = (double)NAN;
    assert_true(isnan(device()->mean(&net, sums, 3, NULL)));
    sums[1] = INFINITY;
    device()->clear(&net, sums);
    for (size_t i = 0; i < 6; i++)
        assert_true(sums[i] == 0);
}

/* The block rule, written as it is defined. */
static double sum_by_blocks(const float *a, const float *b, size_t count)
{
    double total = 0;
    for (size_t block = 0; block * 256 < count; block++) {
        double sum = 0;
        for (size_t i = block * 256; i < count && i < (block + 1) * 256; i++)
            sum += (double)a[i] * (double)b[i];
        total += sum;
    }
    return total;
}

static void check_norms(const float *a, const float *b, size_t count)
{
    const struct ga_net net = {.parameters = count};
    double *sums = calloc(2 * count + 1, sizeof *sums);
    double difference = 0;
    for (size_t i = 0; i < count; i++) {
        sums[i] = (double)a[i];
        difference += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    }
    assert_true(ga_norm(a, count) == sqrt(sum_by_blocks(a, a, count)));
    assert_true(ga_dot(a, b, count) == sum_by_blocks(a, b, count));
    assert_true(device()->mean(&net, sums, 1, NULL) == ga_norm(a, count));
    assert_close(ga_norm_of_difference(a, b, count), sqrt(difference), 1e-13);
    assert_true(ga_norm_of_difference(a, a, count) == 0);
    free(sums);
}

static void test_norms(void **state)
{
    (void)state;
    const size_t counts[] = {0, 1, 255, 256, 257, 1023, 1024, 1025, 2410, 5000};
    float *a = test_floats(5000, 1, 3);
    float *b = test_floats(5000, 2, 3);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        check_norms(a, b, counts[i]);
    free(a);
    free(b);
}

static void test_first_nonfinite(void **state)
{
    (void)state;
    float values[4] = {0, FLT_MAX, -0.0f, 0x1p-149f};
    assert_int_equal(ga_first_nonfinite(values, 4), 4);
    values[3] = NAN;
    assert_int_equal(ga_first_nonfinite(values, 4), 3);
    values[1] = -INFINITY;
    assert_int_equal(ga_first_nonfinite(values, 4), 1);
    assert_int_equal(ga_first_nonfinite(values, 1), 1);
    assert_int_equal(ga_first_nonfinite(values, 0), 0);
}

static void test_tensors_by_place_and_name(void **state)
{
    (void)state;
    const struct ga_net net = parabola_net();
    assert_ptr_equal(ga_net_tensor_at(&net, 0), &net.tensor[0]);
    assert_ptr_equal(ga_net_tensor_at(&net, 4), &net.tensor[0]);
    assert_ptr_equal(ga_net_tensor_at(&net, 5), &net.tensor[1]);
    assert_ptr_equal(ga_net_tensor_at(&net, 15), &net.tensor[3]);
    assert_null(ga_net_tensor_at(&net, 16));
    assert_ptr_equal(ga_net_tensor(&net, "bias"), &net.tensor[1]);
    assert_null(ga_net_tensor(&net, "weigh"));
}

/* A file of the reference runs; the block is the caller's. */
static char *reference_file(const char *name, size_t *length)
{
    char path[512];
    snprintf(path, sizeof path, "%s/tests/data/reference/parabola/%s", GA_TOP_DIR, name);
    return ga_test_read_file(path, length);
}

/* The last 64 bytes of the file are the 16 parameters in file order. */
static void read_initial_weights(float weights[16])
{
    size_t length;
    char *file = reference_file("init.safetensors", &length);
    assert_true(length > 64);
    memcpy(weights, file + length - 64, 64);
    free(file);
}

static void read_reference_gradient(double gradient[16])
{
    size_t count = 0;
    char *rest = NULL;
    char *file = reference_file("grad_step0.csv", NULL);
    strtok_r(file, "\n", &rest);
    for (char *line = strtok_r(NULL, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        assert_true(count < 16);
        gradient[count++] = strtod(strrchr(line, ',') + 1, NULL);
    }
    assert_int_equal(count, 16);
    free(file);
}

/* y = x^2 on 50 points: 2e-6 in L2, and the loss before the first update. */
static void test_first_gradient_of_the_parabola(void **state)
{
    (void)state;
    const struct ga_net net = parabola_net();
    float weights[16];
    float g[16];
    float x[50];
    float y[50];
    double sums[32];
    double got[16];
    double want[16];
    struct ga_tally tally;
    struct ga_context *context = NULL;
    for (int i = 0; i < 50; i++) {
        const double point = -2 + 4.0 * i / 49;
        x[i] = (float)point;
        y[i] = (float)(point * point);
    }
    read_initial_weights(weights);
    read_reference_gradient(want);
    const struct ga_batch batch = {.inputs = x, .targets = y, .count = 50};
    assert_int_equal(device()->open(&context, &net, 50), GA_OK);
    assert_int_equal(device()->gradient(context, weights, &batch, GA_ASSIGN, sums, &tally), GA_OK);
    const double norm = device()->mean(&net, sums, ga_tally_weight_sum(&tally), g);
    for (size_t i = 0; i < 16; i++)
        got[i] = (double)g[i];
    assert_at_most(relative_distance(got, want, 16), 2e-6);
    assert_close(norm, 20.272058512135089, 2e-6);
    assert_close(ga_tally_loss_sum(&tally) / 50, 32.694506010776706, 2e-6);
    device()->close(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registry),
        cmocka_unit_test(test_table_is_complete),
        cmocka_unit_test(test_accounting),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_no_allocation_in_training),
        cmocka_unit_test(test_buffers),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_norms),
        cmocka_unit_test(test_first_nonfinite),
        cmocka_unit_test(test_tensors_by_place_and_name),
        cmocka_unit_test(test_first_gradient_of_the_parabola),
    };
    return ga_test_main(tests);
}
