/*
 * exact_math.h against libm in long double, at its edges, against fixed bits, and against the same
 * formulas on vectors.
 */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "compute/exact_math.h"
#include "compute/lanes.h"
#include "fixture.h"
#include "support/support.h"

/* Distance in units in the last place of the wanted value rounded to float. */
static double units_off(float got, long double want)
{
    const float rounded = fabsf((float)want);
    const float next = nextafterf(rounded, INFINITY);
    if (isinf(rounded) || isinf(got))
        return (float)want == got ? 0 : 1e9;
    return (double)(fabsl((long double)got - want) / (long double)(next - rounded));
}

static long double true_sigmoid(long double x)
{
    return 1 / (1 + expl(-x));
}

static long double true_normal(long double x)
{
    return 0.5L * erfcl(-x / sqrtl(2.0L));
}

static long double true_density(long double x)
{
    return expl(-x * x / 2) / sqrtl(2 * acosl(-1.0L));
}

static float normal(float x)
{
    float density;
    return ga_exact_normalf(x, &density);
}

static float density(float x)
{
    float answer;
    ga_exact_normalf(x, &answer);
    return answer;
}

struct function {
    const char *name;
    float (*got)(float);
    long double (*want)(long double);
    double low, high; /* where it is sampled densely */
    double limit;     /* units in the last place */
};

static const struct function functions[] = {
    {"exp", ga_exact_expf, expl, -105, 90, 1.5},
    {"tanh", ga_exact_tanhf, tanhl, -10, 10, 3},
    {"sigmoid", ga_exact_sigmoidf, true_sigmoid, -105, 20, 3},
    {"normal", normal, true_normal, -15, 8, 6},
    {"density", density, true_density, -15, 15, 4},
};
#define FUNCTIONS (sizeof functions / sizeof functions[0])

static void need_long_double(void)
{
    volatile long double one = 1.0L;
    if (one + 0x1p-60L == one)
        ga_test_skip("long double is no wider than double here");
}

static void check_at(const struct function *f, float x)
{
    const double off = units_off(f->got(x), f->want((long double)x));
    if (!(off <= f->limit))
        fail_msg("%s(%a) is %a, %g units off", f->name, (double)x, (double)f->got(x), off);
}

static void test_dense_samples(void **state)
{
    (void)state;
    need_long_double();
    const size_t count = ga_test_count(200000);
    for (size_t f = 0; f < FUNCTIONS; f++) {
        for (size_t i = 0; i < count; i++) {
            const double part = test_draw(i);
            check_at(&functions[f],
                     (float)(functions[f].low + (functions[f].high - functions[f].low) * part));
            check_at(&functions[f], (float)test_between(i, -1.0, 1.0));
        }
    }
}

/* All exponents, both signs. */
static void test_all_magnitudes(void **state)
{
    (void)state;
    need_long_double();
    const uint64_t step = UINT64_C(40009);
    for (size_t f = 0; f < FUNCTIONS; f++) {
        for (uint64_t bits = 0; bits <= UINT32_MAX; bits += step) {
            const float x = ga_exact_float_from_bits((uint32_t)bits);
            if (isnan(x))
                assert_true(isnan(functions[f].got(x)));
            else
                check_at(&functions[f], x);
        }
    }
}

static void test_edges(void **state)
{
    (void)state;
    assert_true(ga_exact_expf(0.0f) == 1 && ga_exact_expf(-0.0f) == 1);
    assert_true(ga_exact_expf(INFINITY) == INFINITY && ga_exact_expf(-INFINITY) == 0);
    assert_true(ga_exact_expf(88.72283f) < INFINITY && ga_exact_expf(88.7229f) == INFINITY);
    assert_true(ga_exact_expf(-103.9f) == 0x1p-149f && ga_exact_expf(-104.0f) == 0);
    assert_true(ga_exact_tanhf(INFINITY) == 1 && ga_exact_tanhf(-INFINITY) == -1);
    assert_true(ga_exact_tanhf(9.1f) == 1 && ga_exact_tanhf(-50.0f) == -1);
    assert_true(ga_exact_float_bits(ga_exact_tanhf(-0.0f)) == 0x80000000u);
    assert_true(ga_exact_float_bits(ga_exact_tanhf(0.0f)) == 0);
    assert_true(ga_exact_sigmoidf(INFINITY) == 1 && ga_exact_sigmoidf(-INFINITY) == 0);
    assert_true(ga_exact_sigmoidf(0.0f) == 0.5f);
    assert_true(normal(INFINITY) == 1 && normal(-INFINITY) == 0 && normal(0.0f) == 0.5f);
    assert_true(density(INFINITY) == 0 && density(-INFINITY) == 0);
}

/* Every float in steps of 5 units: never above 1, so that a slope is never negative. */
static void test_tanh_stays_within_one(void **state)
{
    (void)state;
    const uint32_t step = ga_test_count(1000) == 1000 ? 5 : 5003;
    float largest = 0;
    for (uint32_t bits = 0x3f000000u; bits < 0x41200000u; bits += step) {
        const float y = ga_exact_tanhf(ga_exact_float_from_bits(bits));
        largest = y > largest ? y : largest;
    }
    assert_true(largest == 1);
}

/* One more ulp anywhere, on any compiler, and this number is another. */
static void test_bits(void **state)
{
    (void)state;
    static const uint64_t want[FUNCTIONS] = {
        UINT64_C(0xfb563e180a5709b7), UINT64_C(0x5ba5429c46f412a1), UINT64_C(0x54263a9a4245a5e8),
        UINT64_C(0x0e9cf589ab6777ab), UINT64_C(0x172ab15664c46c51),
    };
    for (size_t f = 0; f < FUNCTIONS; f++) {
        uint64_t hash = GA_HASH_START;
        for (uint64_t i = 0; i < 20000; i++) {
            const float x = functions[f].got((float)test_between(i, -16, 16));
            hash = ga_hash_bytes(hash, &x, sizeof x);
        }
        if (hash != want[f])
            fail_msg("%s: the bits hash to 0x%016llx", functions[f].name, (unsigned long long)hash);
    }
}

static void check_lanes(const float *x)
{
    float got[5][GA_LANES];
    const lanes_f v = lanes_load(x);
    lanes_f bell;
    lanes_store(got[0], lanes_expf(v));
    lanes_store(got[1], lanes_tanhf(v));
    lanes_store(got[2], lanes_sigmoidf(v));
    lanes_store(got[3], lanes_normalf(v, &bell));
    lanes_store(got[4], bell);
    for (size_t f = 0; f < FUNCTIONS; f++) {
        for (size_t i = 0; i < GA_LANES; i++) {
            const float want = functions[f].got(x[i]);
            assert_true(isnan(want) ? isnan(got[f][i])
                                    : ga_exact_float_bits(got[f][i]) == ga_exact_float_bits(want));
        }
    }
}

static void test_vectors_have_the_same_bits(void **state)
{
    (void)state;
    const float special[8] = {NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 0x1p-149f, 88.9f, -103.95f};
    check_lanes(special);
    check_lanes(special + 4);
    for (uint64_t i = 0; i < ga_test_count(200000); i++) {
        float x[GA_LANES];
        for (size_t k = 0; k < GA_LANES; k++)
            x[k] = (float)(test_between(GA_LANES * i + k, -1, 1) * exp2((double)(i % 16) - 8));
        check_lanes(x);
    }
}

static void test_power(void **state)
{
    (void)state;
    assert_true(ga_exact_power(0.0, 0) == 1 && ga_exact_power(2.0, 0) == 1);
    assert_true(ga_exact_power(2.0, 1000) == 0x1p1000 && ga_exact_power(2.0, 1024) == INFINITY);
    assert_true(ga_exact_power(-1.0, UINT64_MAX) == -1 && ga_exact_power(1.0, UINT64_MAX) == 1);
    assert_true(ga_exact_power(0.5, 1074) == 0x1p-1074);
    assert_close(ga_exact_power(0.999, 12345), pow(0.999, 12345), 1e-12);
    assert_true(isnan(ga_exact_power((double)NAN, 3)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dense_samples), cmocka_unit_test(test_all_magnitudes),
        cmocka_unit_test(test_edges),         cmocka_unit_test(test_tanh_stays_within_one),
        cmocka_unit_test(test_bits),          cmocka_unit_test(test_vectors_have_the_same_bits),
        cmocka_unit_test(test_power),
    };
    return ga_test_main(tests);
}
