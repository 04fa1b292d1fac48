#include "base/hash.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

/* Test vectors of the authors: http://www.isthe.com/chongo/tech/comp/fnv/ (FNV-1a, 64 bits). */
static void test_published_values(void **state)
{
    (void)state;
    assert_true(ga_hash_bytes(GA_HASH_START, "", 0) == UINT64_C(0xcbf29ce484222325));
    assert_true(ga_hash_bytes(GA_HASH_START, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(ga_hash_bytes(GA_HASH_START, "foobar", 6) == UINT64_C(0x85944171f73967e8));
}

static void test_pieces_equal_the_whole(void **state)
{
    (void)state;
    const uint64_t first = ga_hash_bytes(GA_HASH_START, "foo", 3);
    assert_true(ga_hash_bytes(first, "bar", 3) == UINT64_C(0x85944171f73967e8));
}

static void test_parameters_are_little_endian_bytes(void **state)
{
    (void)state;
    const float values[] = {1.0f, -2.5f, 0.0f, -0.0f, INFINITY};
    const unsigned char bytes[] = {0, 0, 0x80, 0x3f, 0, 0,    0x20, 0xc0, 0,    0,
                                   0, 0, 0,    0,    0, 0x80, 0,    0,    0x80, 0x7f};
    assert_true(ga_hash_parameters(values, 5) == ga_hash_bytes(GA_HASH_START, bytes, sizeof bytes));
    assert_true(ga_hash_parameters(values, 0) == GA_HASH_START);
    assert_true(ga_hash_parameters(values + 2, 1) != ga_hash_parameters(values + 3, 1));
}

static void test_every_nan_counts_the_same(void **state)
{
    (void)state;
    const uint32_t bits[] = {0x7fc00000, 0xffc00000, 0x7f800001, 0xffffffff, 0x7fc12345};
    const unsigned char quiet[] = {0, 0, 0xc0, 0x7f};
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
        float value = 0.0f;
        memcpy(&value, &bits[i], sizeof value);
        assert_true(ga_hash_parameters(&value, 1) == ga_hash_bytes(GA_HASH_START, quiet, 4));
    }
}

static void test_format(void **state)
{
    (void)state;
    char text[GA_HASH_TEXT];
    ga_hash_format(text, UINT64_C(0x0123456789abcdef));
    assert_string_equal(text, "0123456789abcdef");
    ga_hash_format(text, 0);
    assert_string_equal(text, "0000000000000000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_values),
        cmocka_unit_test(test_pieces_equal_the_whole),
        cmocka_unit_test(test_parameters_are_little_endian_bytes),
        cmocka_unit_test(test_every_nan_counts_the_same),
        cmocka_unit_test(test_format),
    };
    return ga_test_main(tests);
}
