#include "base/random.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

/* Random123's known answers for philox4x32-10 (kat_vectors); purpose is the counter's last word. */
static void test_known_answers(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], want[4];
    } cases[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const uint32_t *counter = cases[i].counter;
        uint32_t out[4];
        ga_draw((uint64_t)cases[i].key[1] << 32 | cases[i].key[0],
                (uint64_t)counter[1] << 32 | counter[0], counter[2], (enum ga_purpose)counter[3],
                out);
        assert_memory_equal(out, cases[i].want, sizeof out);
    }
}

/* Each of the four inputs alone changes the draw. */
static void test_inputs_matter(void **state)
{
    (void)state;
    uint32_t base[4];
    uint32_t other[5][4];
    ga_draw(1, 2, 3, GA_DRAW_INIT, base);
    ga_draw(2, 2, 3, GA_DRAW_INIT, other[0]);
    ga_draw(1, 3, 3, GA_DRAW_INIT, other[1]);
    ga_draw(1, 2, 4, GA_DRAW_INIT, other[2]);
    ga_draw(1, 2, 3, GA_DRAW_NOISE, other[3]);
    ga_draw(1, UINT64_C(1) << 32 | 2, 3, GA_DRAW_INIT, other[4]);
    for (size_t i = 0; i < 5; i++)
        assert_memory_not_equal(base, other[i], sizeof base);
}

static void test_uniform_is_open(void **state)
{
    (void)state;
    assert_close(ga_uniform(0), 0x1p-33, 0.0);
    assert_close(ga_uniform(UINT32_MAX), 1.0 - 0x1p-33, 0.0);
    assert_close(ga_uniform(UINT32_C(1) << 31), 0.5 + 0x1p-33, 0.0);
    assert_true(ga_uniform(0) > 0.0 && ga_uniform(UINT32_MAX) < 1.0);
}

/* Box and Muller from the words, with the library's functions. */
static void test_normal_follows_its_formula(void **state)
{
    (void)state;
    for (uint64_t index = 0; index < 1000; index++) {
        uint32_t words[4];
        ga_draw(9, index, 1, GA_DRAW_NOISE, words);
        const double radius = sqrt(-2.0 * log(ga_uniform(words[0])));
        const double want = radius * cos(2.0 * acos(-1.0) * ga_uniform(words[1]));
        const double got = ga_normal(9, index, 1, GA_DRAW_NOISE);
        assert_true(fabs(got - want) <= 1e-14 * radius);
    }
}

/* The k-th moment's estimate over n draws has a standard deviation of sqrt(m(2k) - m(k)^2) /
 * sqrt(n). */
static void test_normal_moments(void **state)
{
    (void)state;
    const size_t count = ga_test_count(200000);
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    for (uint64_t index = 0; index < count; index++) {
        const double z = ga_normal(2024, index, 0, GA_DRAW_NOISE);
        sum[0] += z;
        sum[1] += z * z;
        sum[2] += z * z * z;
        sum[3] += z * z * z * z;
    }
    static const double want[4] = {0.0, 1.0, 0.0, 3.0};
    static const double variance[4] = {1.0, 2.0, 15.0, 96.0};
    for (size_t k = 0; k < 4; k++) {
        const double error = fabs(sum[k] / (double)count - want[k]);
        assert_true(error < 5.0 * sqrt(variance[k] / (double)count));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_answers),   cmocka_unit_test(test_inputs_matter),
        cmocka_unit_test(test_uniform_is_open), cmocka_unit_test(test_normal_follows_its_formula),
        cmocka_unit_test(test_normal_moments),
    };
    return ga_test_main(tests);
}
