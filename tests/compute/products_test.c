/*
 * Products of matrices by the kernels of every instruction set and by BLAS, against sums in double:
 * widths on both sides of vectors, panels, tiles and blocks, some rows of a layer's gradient only,
 * nothing written beside the result, and sums that do not depend on the batch around them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/fast_blas.h"
#include "compute/fast_kernel.h"
#include "fixture.h"
#include "support/support.h"

static const struct ga_fast_product shapes[] = {
    {1, 1, 1, NULL},     {2, 3, 5, NULL},     {7, 16, 9, NULL},    {12, 31, 33, NULL},
    {13, 32, 12, NULL},  {32, 48, 47, NULL},  {33, 64, 49, NULL},  {127, 40, 96, NULL},
    {128, 80, 64, NULL}, {129, 65, 10, NULL}, {260, 24, 50, NULL}, {3, 1040, 2, NULL},
    {40, 2, 70, NULL}};
#define SHAPES (sizeof shapes / sizeof shapes[0])

#define MARK 12345.0f /* beside a result */

/* Factors of one shape and room for a result, with a row more than it has. */
struct operands {
    struct ga_fast_product p;
    float *inputs, *weights, *deltas;
    float *result;
};

static void operands_open(struct operands *o, const struct ga_fast_product *shape)
{
    const size_t widest = shape->in > shape->out ? shape->in : shape->out;
    const size_t rows = shape->count > shape->out ? shape->count : shape->out;
    o->p = *shape;
    o->p.scratch = test_floats(GA_FAST_BLOCK * (widest > 32 ? widest : 32), 1, 1.0);
    o->inputs = test_floats(shape->count * shape->in, 2, 1.0);
    o->weights = test_floats(shape->out * shape->in, 3, 1.0);
    o->deltas = test_floats(shape->count * shape->out, 4, 1.0);
    o->result = test_floats((rows + 1) * widest, 5, 1.0);
    for (size_t i = 0; i < (rows + 1) * widest; i++)
        o->result[i] = MARK;
}

static void operands_close(struct operands *o)
{
    free(o->p.scratch);
    free(o->inputs);
    free(o->weights);
    free(o->deltas);
    free(o->result);
}

/* One entry of a result: its terms are a[k * a_step] * b[k * b_step]. */
struct terms {
    const float *a, *b;
    size_t a_step, b_step, count;
};

/* Rounding once or twice a term, in any order, stays below terms * 2^-24 of the sum of sizes. */
static void check_entry(float got, const struct terms *t)
{
    double want = 0;
    double size = 0;
    for (size_t k = 0; k < t->count; k++) {
        const double term = (double)t->a[k * t->a_step] * (double)t->b[k * t->b_step];
        want += term;
        size += fabs(term);
    }
    assert_at_most(fabs((double)got - want), size * (double)(t->count + 1) * 0x1p-24);
}

static void check_forward(struct operands *o, const struct ga_fast_products *by)
{
    const struct ga_fast_product *p = &o->p;
    by->forward(p, o->inputs, o->weights, o->result);
    for (size_t e = 0; e < p->count; e++) {
        for (size_t u = 0; u < p->out; u++)
            check_entry(
                o->result[e * p->out + u],
                &(struct terms){o->inputs + e * p->in, o->weights + u * p->in, 1, 1, p->in});
    }
    assert_true(o->result[p->count * p->out] == MARK);
}

static void check_backward(struct operands *o, const struct ga_fast_products *by)
{
    const struct ga_fast_product *p = &o->p;
    by->backward(p, o->deltas, o->weights, o->result);
    for (size_t e = 0; e < p->count; e++) {
        for (size_t i = 0; i < p->in; i++)
            check_entry(o->result[e * p->in + i],
                        &(struct terms){o->deltas + e * p->out, o->weights + i, 1, p->in, p->out});
    }
    assert_true(o->result[p->count * p->in] == MARK);
}

static void check_sums(struct operands *o, const struct ga_fast_products *by, size_t row,
                       size_t rows)
{
    const struct ga_fast_product *p = &o->p;
    by->sums(p, rows, o->deltas + row, o->inputs, o->result);
    for (size_t u = 0; u < rows; u++) {
        for (size_t i = 0; i < p->in; i++)
            check_entry(
                o->result[u * p->in + i],
                &(struct terms){o->deltas + row + u, o->inputs + i, p->out, p->in, p->count});
    }
    assert_true(o->result[rows * p->in] == MARK);
}

static void check_shape(const struct ga_fast_product *shape, const struct ga_fast_products *by)
{
    void (*const checks[])(struct operands *, const struct ga_fast_products *) = {check_forward,
                                                                                  check_backward};
    for (size_t i = 0; i < 4; i++) {
        struct operands o;
        operands_open(&o, shape);
        if (i < 2)
            checks[i](&o, by);
        else if (i == 2)
            check_sums(&o, by, 0, shape->out);
        else
            check_sums(&o, by, shape->out / 3, (shape->out + 1) / 2);
        operands_close(&o);
    }
}

static void check_all(const struct ga_fast_products *by)
{
    for (size_t s = 0; s < SHAPES; s++)
        check_shape(&shapes[s], by);
}

static void test_kernels(void **state)
{
    const struct ga_fast_kernel *kernels[GA_FAST_KERNELS + 1];
    size_t tried = 0;
    (void)state;
    ga_fast_kernels(kernels);
    for (size_t k = 0; kernels[k]; k++) {
        if (!kernels[k]->products)
            continue;
        print_message("%s\n", kernels[k]->name);
        check_all(kernels[k]->products);
        tried++;
    }
    if (tried == 0)
        skip();
}

static void test_blas(void **state)
{
    (void)state;
    if (!ga_fast_blas())
        skip();
    check_all(&ga_fast_blas_products);
}

/* An example's outputs are the same bits alone as among others; a unit's sums as well. */
static void check_apart(const struct ga_fast_products *by)
{
    struct operands o;
    operands_open(&o, &(struct ga_fast_product){150, 70, 61, NULL});
    float *alone = test_floats(70, 6, 1.0);
    struct ga_fast_product one = o.p;
    one.count = 1;
    by->forward(&o.p, o.inputs, o.weights, o.result);
    for (size_t e = 0; e < 150; e += 29) {
        by->forward(&one, o.inputs + e * 70, o.weights, alone);
        assert_memory_equal(alone, o.result + e * 61, 61 * sizeof(float));
    }
    by->sums(&o.p, 61, o.deltas, o.inputs, o.result);
    for (size_t u = 0; u < 61; u += 7) {
        by->sums(&o.p, 1, o.deltas + u, o.inputs, alone);
        assert_memory_equal(alone, o.result + u * 70, 70 * sizeof(float));
    }
    free(alone);
    operands_close(&o);
}

static void test_sums_do_not_depend_on_others(void **state)
{
    const struct ga_fast_kernel *kernels[GA_FAST_KERNELS + 1];
    (void)state;
    ga_fast_kernels(kernels);
    for (size_t k = 0; kernels[k]; k++) {
        if (kernels[k]->products)
            check_apart(kernels[k]->products);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_blas),
        cmocka_unit_test(test_sums_do_not_depend_on_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
