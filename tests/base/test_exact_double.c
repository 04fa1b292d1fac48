/* exact_double.h against the long double functions of libm, and its bits against fixed ones. */
#include "support/support.h"

#include <math.h>

#include "base/exact_double.h"
#include "base/hash.h"
#include "base/random.h"

/* Distance in units in the last place of the wanted value. */
static double units_off(double got, long double want)
{
    const double rounded = fabs((double)want);
    return (double)(fabsl((long double)got - want) /
                    (long double)(nextafter(rounded, INFINITY) - rounded));
}

/* The reference needs more bits than double has; valgrind's long double has not. */
static void need_long_double(void)
{
    volatile long double one = 1.0L;
    if (one + 0x1p-60L == one) {
        ga_test_skip("long double is no wider than double here");
    }
}

/* Uniform in (low, high), from the number of the draw. */
static double draw(uint64_t index, double low, double high)
{
    uint32_t words[4];
    ga_draw(17, index, 0, GA_DRAW_SPLIT, words);
    return low + (high - low) * ga_uniform(words[0]);
}

static void test_log(void **state)
{
    (void)state;
    need_long_double();
    for (uint64_t i = 0; i < ga_test_count(300000); i++) {
        const double x = i % 2 ? draw(i, 0.5, 2.0) : exp2(draw(i, -1074.0, 1024.0));
        assert_true(units_off(ga_exact_log(x), logl((long double)x)) <= 1.0);
    }
    assert_close(ga_exact_log(1.0), 0.0, 0.0);
    assert_close(ga_exact_log(0x1p-1074), -744.4400719213812, 1e-15);
    assert_true(ga_exact_log(0.0) == -INFINITY && ga_exact_log(-0.0) == -INFINITY);
    assert_true(ga_exact_log(INFINITY) == INFINITY);
    assert_true(isnan(ga_exact_log(-1.0)) && isnan(ga_exact_log(NAN)));
}

static void test_exp(void **state)
{
    (void)state;
    need_long_double();
    for (uint64_t i = 0; i < ga_test_count(300000); i++) {
        const double x = i % 2 ? draw(i, -5.0, 5.0) : draw(i, -708.0, 709.7);
        assert_true(units_off(ga_exact_exp(x), expl((long double)x)) <= 1.0);
    }
    assert_close(ga_exact_exp(0.0), 1.0, 0.0);
    assert_close(ga_exact_exp(-745.0), 0x1p-1074, 0.0);
    assert_true(ga_exact_exp(709.79) == INFINITY && ga_exact_exp(INFINITY) == INFINITY);
    assert_true(ga_exact_exp(-746.5) == 0.0 && ga_exact_exp(-INFINITY) == 0.0);
    assert_true(isnan(ga_exact_exp(NAN)));
}

static void assert_angle(double x)
{
    assert_true(units_off(ga_exact_sin(x), sinl((long double)x)) <= 3.0);
    assert_true(units_off(ga_exact_cos(x), cosl((long double)x)) <= 3.0);
}

/* Anywhere, and at the doubles nearest to multiples of pi/2, where the reduction has the least
 * left. */
static void test_sin_and_cos(void **state)
{
    (void)state;
    need_long_double();
    for (uint64_t i = 0; i < ga_test_count(200000); i++) {
        const double limit = i % 2 ? 7.0 : GA_EXACT_ANGLE_LIMIT;
        assert_angle(draw(i, -limit, limit));
        assert_angle((double)((long double)(i + 1) * (M_PIl / 2)));
    }
    assert_true(ga_exact_sin(0.0) == 0.0 && signbit(ga_exact_sin(-0.0)));
    assert_close(ga_exact_cos(0.0), 1.0, 0.0);
    assert_true(isnan(ga_exact_sin(INFINITY)) && isnan(ga_exact_cos(-INFINITY)));
    assert_true(isnan(ga_exact_sin(NAN)) && isnan(ga_exact_cos(1.1e6)));
}

/* The same bits from every compiler and machine: a hash over many values. */
static void test_bits(void **state)
{
    (void)state;
    uint64_t hash = GA_HASH_START;
    for (uint64_t i = 0; i < 10000; i++) {
        const double x = draw(i, 0.0, 100.0);
        const double values[] = {ga_exact_log(x), ga_exact_exp(x), ga_exact_sin(x), ga_exact_cos(x),
                                 ga_normal(1, i, 2, GA_DRAW_JITTER)};
        for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
            uint8_t bytes[8];
            for (size_t b = 0; b < 8; b++) {
                bytes[b] = (uint8_t)(ga_exact_bits(values[k]) >> (8 * b));
            }
            hash = ga_hash_bytes(hash, bytes, sizeof bytes);
        }
    }
    char text[GA_HASH_TEXT];
    ga_hash_format(text, hash);
    assert_string_equal(text, "483b3cfb988bab03");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_exp),
        cmocka_unit_test(test_sin_and_cos),
        cmocka_unit_test(test_bits),
    };
    return ga_test_main(tests);
}
