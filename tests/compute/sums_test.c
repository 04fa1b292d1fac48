/*
 * The exact sums against 128-bit integers: adversarial terms, up to 2^18 of them, in several orders
 * and partitions, on every kernel. With weights 0 and centers -d a quadratic's terms are lambda *
 * d, any two floats.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "support/support.h"

typedef __int128 wide;

/* x in units of 2^-44, ties to even. */
static wide in_units(double x)
{
    int exponent;
    const double mantissa = frexp(x, &exponent);
    const wide digits = (wide)ldexp(mantissa, 53);
    const int shift = exponent - 53 + 44;
    if (shift >= 0)
        return digits * ((wide)1 << shift);
    if (shift < -60)
        return 0;
    const wide step = (wide)1 << -shift;
    wide whole = digits / step;
    wide rest = digits - whole * step;
    if (rest < 0) {
        whole--;
        rest += step;
    }
    if (rest * 2 > step || (rest * 2 == step && whole % 2 != 0))
        whole++;
    return whole;
}

/* A double that holds a multiple of 2^-places, as a number of these. */
static wide multiples(double x, int places)
{
    const double scaled = ldexp(x, places);
    assert_true(scaled == floor(scaled) && fabs(scaled) < 0x1p63);
    return (wide)scaled;
}

static wide sum_in_units(double high, double low)
{
    return multiples(high, 8) * ((wide)1 << 36) + multiples(low, 44);
}

/* Term i of n as two factors. */
struct factors {
    float lambda, d;
};

static struct factors extreme(size_t i)
{
    (void)i;
    return (struct factors){0x1p14f, 0x1p13f};
}

static struct factors negative_extreme(size_t i)
{
    (void)i;
    return (struct factors){0x1p14f, -0x1p13f};
}

static struct factors alternating(size_t i)
{
    return (struct factors){0x1p14f, i % 2 ? -0x1p13f : 0x1p13f};
}

/* Just below 2^27, all bits in use. */
static struct factors near_extreme(size_t i)
{
    return (struct factors){0x1.fffffep13f, i % 3 ? 0x1.fffffep12f : -0x1.fffffcp12f};
}

static struct factors any_size(size_t i)
{
    const double exponent = test_between(2 * i, -40, 13);
    return (struct factors){(float)exp2(exponent),
                            (float)(exp2(exponent / 2) * test_between(2 * i + 1, -1, 1))};
}

/* Around the halves of the smallest unit, 2^-45, and below. */
static struct factors ties(size_t i)
{
    const float odd = (float)(2 * (i % 9) + 1);
    return (struct factors){0x1p-22f * odd, i % 2 ? 0x1p-23f : -0x1p-23f};
}

static struct factors below_the_unit(size_t i)
{
    return (struct factors){0x1p-23f, i % 5 ? 0x1.fffffep-24f : -0x1p-30f};
}

/* Around the halves of the upper unit, 2^-9. */
static struct factors upper_ties(size_t i)
{
    const float odd = (float)(2 * (i % 1001) + 1);
    return (struct factors){odd * 0x1p-5f, i % 2 ? 0x1p-4f : -0x1.000002p-4f};
}

/* A large term, its opposite, and a small one that must survive. */
static struct factors cancelling(size_t i)
{
    const struct factors kinds[] = {
        {0x1p13f, 0x1.fffffep13f}, {0x1p-20f, 0x1.8p-10f}, {0x1p13f, -0x1.fffffep13f}};
    return kinds[i % 3];
}

static struct factors subnormal(size_t i)
{
    return (struct factors){i % 2 ? 0x1p-140f : 0x1p13f, i % 3 ? 0x1p-149f : -0x1p-50f};
}

/* 2^24 and many ones: what a float would lose. */
static struct factors float_trap(size_t i)
{
    return (struct factors){1.0f, i == 0 ? 0x1p24f : 1.0f};
}

static struct factors zeros(size_t i)
{
    return (struct factors){i % 2 ? -0.0f : 0.0f, i % 3 ? -0.0f : 5.0f};
}

static struct factors (*const patterns[])(size_t) = {
    extreme,        negative_extreme, alternating, near_extreme, any_size,   ties,
    below_the_unit, upper_ties,       cancelling,  subnormal,    float_trap, zeros,
};
#define PATTERNS (sizeof patterns / sizeof patterns[0])

struct terms {
    size_t count, coordinates;
    float *lambda, *center;
    uint32_t *order;
    wide *want; /* by coordinate */
};

static void terms_open(struct terms *t, size_t count, size_t coordinates, size_t pattern)
{
    *t = (struct terms){.count = count, .coordinates = coordinates};
    t->lambda = malloc(count * coordinates * sizeof *t->lambda);
    t->center = malloc(count * coordinates * sizeof *t->center);
    t->order = malloc(count * sizeof *t->order);
    t->want = calloc(coordinates, sizeof *t->want);
    for (size_t i = 0; i < count * coordinates; i++) {
        const size_t j = i % coordinates;
        const struct factors f = patterns[(pattern + j) % PATTERNS](i / coordinates);
        t->lambda[i] = f.lambda;
        t->center[i] = -f.d;
        t->want[j] += in_units((double)f.lambda * (double)f.d);
    }
}

static void terms_close(struct terms *t)
{
    free(t->lambda);
    free(t->center);
    free(t->order);
    free(t->want);
}

enum order { FORWARD, BACKWARD, SHUFFLED };

static void set_order(struct terms *t, enum order order)
{
    for (size_t i = 0; i < t->count; i++)
        t->order[i] = (uint32_t)(order == BACKWARD ? t->count - 1 - i : i);
    for (size_t i = t->count; order == SHUFFLED && i-- > 1;) {
        const size_t j = (size_t)(test_draw(i) * (double)(i + 1));
        const uint32_t kept = t->order[i];
        t->order[i] = t->order[j];
        t->order[j] = kept;
    }
}

/* Pieces of `piece` examples, or of random sizes up to 300 when it is 0; every second piece is
 * summed apart and added. */
static void run_pieces(const struct terms *t, const struct bench *bench,
                       const struct ga_cpu_kernel *kernel, size_t piece, double *sums)
{
    const size_t n = t->coordinates;
    float *weights = calloc(n, sizeof *weights);
    double *apart = calloc(2 * n, sizeof *apart);
    struct ga_tally tally;
    size_t number = 0;
    for (size_t i = 0; i < 2 * n; i++)
        sums[i] = 0;
    for (size_t at = 0; at < t->count; number++) {
        size_t size = piece ? piece : 1 + (size_t)(test_draw(number) * 300);
        size = t->count - at < size ? t->count - at : size;
        const struct ga_batch batch = {
            .inputs = t->lambda, .targets = t->center, .index = t->order + at, .count = size};
        double *to = number % 2 ? apart : sums;
        kernel->gradient(&bench->work, weights, &batch, number % 2 ? GA_ASSIGN : GA_ADD, to,
                         &tally);
        assert_int_equal(tally.flags, 0);
        if (number % 2)
            kernel->add(sums, apart, 2 * n);
        at += size;
    }
    free(weights);
    free(apart);
}

static void check_sums(const struct terms *t, const double *sums, double *first)
{
    const size_t n = t->coordinates;
    for (size_t j = 0; j < n; j++)
        assert_true(sum_in_units(sums[j], sums[n + j]) == t->want[j]);
    if (first[0] != first[0])
        memcpy(first, sums, 2 * n * sizeof *first);
    assert_memory_equal(first, sums, 2 * n * sizeof *first);
}

/* All orders, kernels and partitions of one set of terms. Both sums of each are the same bits. */
static void check_terms(size_t count, size_t coordinates, size_t pattern, size_t piece)
{
    struct terms t;
    struct bench bench;
    const struct ga_net net = test_quadratic(coordinates);
    double *sums = malloc(2 * coordinates * sizeof *sums);
    double *first = malloc(2 * coordinates * sizeof *first);
    first[0] = (double)NAN;
    terms_open(&t, count, coordinates, pattern);
    bench_open(&bench, &net, count);
    for (int order = FORWARD; order <= SHUFFLED; order++) {
        set_order(&t, (enum order)order);
        for (size_t k = 0; bench.kernels[k]; k++) {
            run_pieces(&t, &bench, bench.kernels[k], count, sums);
            check_sums(&t, sums, first);
            run_pieces(&t, &bench, bench.kernels[k], piece, sums);
            check_sums(&t, sums, first);
        }
    }
    bench_close(&bench);
    terms_close(&t);
    free(sums);
    free(first);
}

static void test_adversarial_sums_of_a_small_net(void **state)
{
    (void)state;
    const size_t pieces[] = {0, 1, 7, 64, 1000};
    for (size_t pattern = 0; pattern < PATTERNS; pattern++)
        check_terms(3000, 5, pattern, pieces[pattern % 5]);
}

static void test_adversarial_sums_of_a_large_net(void **state)
{
    (void)state;
    const size_t pieces[] = {0, 1, 9, 65, 200};
    for (size_t pattern = 0; pattern < PATTERNS; pattern++)
        check_terms(700, 131, pattern, pieces[pattern % 5]);
}

static void test_as_many_terms_as_an_update_may_have(void **state)
{
    (void)state;
    const size_t count = ga_test_count(UINT64_C(1) << 18);
    for (size_t pattern = 0; pattern < PATTERNS; pattern++)
        check_terms(count, 1, pattern, pattern % 2 ? 0 : 65536);
}

/* (y - t)^2 of a net without inputs that matter, as three doubles. */
static void test_losses(void **state)
{
    (void)state;
    const size_t widths[] = {1, 1};
    const struct ga_net net = test_mlp(1, widths, GA_ACT_IDENTITY, GA_LOSS_MSE, false);
    const size_t count = 5000;
    const float weights[1] = {0};
    float *inputs = test_floats(count, 1, 1);
    float *targets = test_floats(count, 2, 1);
    wide want = 0;
    struct bench bench;
    bench_open(&bench, &net, count);
    for (size_t i = 0; i < count; i++) {
        targets[i] *= (float)exp2(test_between(i, -30, i % 3 ? 31 : 5));
        want += in_units((double)(targets[i] * targets[i]));
    }
    for (size_t k = 0; bench.kernels[k]; k++) {
        for (size_t piece = 1; piece <= count; piece = piece * 3 + 1) {
            struct ga_tally total;
            ga_tally_clear(&total);
            for (size_t at = 0; at < count; at += piece) {
                struct ga_tally tally;
                const struct ga_batch batch = {.inputs = inputs,
                                               .targets = targets,
                                               .first = at,
                                               .count = count - at < piece ? count - at : piece};
                bench.kernels[k]->evaluate(&bench.work, weights, &batch, &tally);
                assert_int_equal(tally.flags, 0);
                ga_tally_add(&total, &tally);
            }
            assert_true(multiples(total.loss[0], -28) * ((wide)1 << 72) +
                            sum_in_units(total.loss[1], total.loss[2]) ==
                        want);
            assert_int_equal(total.examples, count);
        }
    }
    bench_close(&bench);
    free(inputs);
    free(targets);
}

/* Example weights of all sizes allowed, in any order. */
static void test_weight_sums(void **state)
{
    (void)state;
    const size_t widths[] = {1, 1};
    const struct ga_net net = test_mlp(1, widths, GA_ACT_IDENTITY, GA_LOSS_MSE, false);
    const size_t count = 3001;
    const float weights[1] = {0};
    float *inputs = test_floats(count, 1, 1);
    float *example_weights = test_floats(count, 2, 1);
    wide want = 0;
    struct bench bench;
    bench_open(&bench, &net, count);
    for (size_t i = 0; i < count; i++) {
        example_weights[i] = i % 5 ? (float)exp2(test_between(i, -20, 20)) : 0.0f;
        want += in_units((double)example_weights[i]);
    }
    for (size_t k = 0; bench.kernels[k]; k++) {
        struct ga_tally tally;
        const struct ga_batch batch = {
            .inputs = inputs, .targets = inputs, .weights = example_weights, .count = count};
        bench.kernels[k]->evaluate(&bench.work, weights, &batch, &tally);
        assert_true(sum_in_units(tally.weight[0], tally.weight[1]) == want);
        assert_int_equal(tally.flags, 0);
    }
    bench_close(&bench);
    free(inputs);
    free(example_weights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adversarial_sums_of_a_small_net),
        cmocka_unit_test(test_adversarial_sums_of_a_large_net),
        cmocka_unit_test(test_as_many_terms_as_an_update_may_have),
        cmocka_unit_test(test_losses),
        cmocka_unit_test(test_weight_sums),
    };
    return ga_test_main(tests);
}
