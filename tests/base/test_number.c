#include "base/error.h"
#include "base/number.h"
#include "base/random.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_read_int(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t want;
    } good[] = {{"0", 0},
                {"-0", 0},
                {"+7", 7},
                {"007", 7},
                {"-12", -12},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN}};
    static const char *const bad[] = {"",    "-",   "+",   " 1",  "1 ",       "1.0", "1e3",
                                      "0x1", "1,0", "--1", "abc", "\xd9\xa1", "1\n", "+-1"};
    int64_t value = 0;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(ga_read_int(good[i].text, INT64_MIN, INT64_MAX, &value), GA_OK);
        assert_true(value == good[i].want);
    }
    value = 42;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(ga_read_int(bad[i], INT64_MIN, INT64_MAX, &value), GA_EINPUT);
    assert_int_equal(value, 42);
}

static void test_read_int_names_the_range(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t low, high;
        const char *want;
    } cases[] = {
        {"0", 1, 64, "\"0\" is out of range, expected 1 to 64"},
        {"99999999999999999999", 1, 64,
         "\"99999999999999999999\" is out of range, expected 1 to 64"},
        {"-1", 0, INT64_MAX, "\"-1\" is too small, expected at least 0"},
        {"9223372036854775808", INT64_MIN, INT64_MAX,
         "\"9223372036854775808\" is too large, expected at most 9223372036854775807"},
        {"-9223372036854775809", INT64_MIN, INT64_MAX,
         "\"-9223372036854775809\" is too small, expected at least -9223372036854775808"},
    };
    int64_t value = 42;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(ga_read_int(cases[i].text, cases[i].low, cases[i].high, &value),
                         GA_ERANGE);
        assert_string_equal(ga_error_text(), cases[i].want);
    }
    assert_int_equal(ga_read_int("5-2", -1, 64, &value), GA_EINPUT);
    assert_string_equal(ga_error_text(), "\"5-2\" is not a whole number, expected -1 to 64");
    assert_int_equal(value, 42);
}

static void test_read_uint64(void **state)
{
    (void)state;
    uint64_t value = 42;
    assert_int_equal(ga_read_uint64("18446744073709551616", &value), GA_ERANGE);
    assert_int_equal(ga_read_uint64("-1", &value), GA_EINPUT);
    assert_int_equal(ga_read_uint64("-0", &value), GA_EINPUT);
    assert_int_equal(ga_read_uint64("1 ", &value), GA_EINPUT);
    assert_int_equal(ga_read_uint64("", &value), GA_EINPUT);
    assert_true(value == 42);
    assert_int_equal(ga_read_uint64("18446744073709551615", &value), GA_OK);
    assert_true(value == UINT64_MAX);
}

static void test_read_double(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double want;
    } good[] = {
        {"0", 0.0},
        {"1e-3", 1e-3},
        {".5", 0.5},
        {"5.", 5.0},
        {"-2.5E+3", -2500.0},
        {"+1", 1.0},
        {"0.1", 0.1},
        {"1e22", 1e22},
        {"1e23", 1e23},
        {"9007199254740993", 9007199254740992.0},
        {"9007199254740992.999999999999999999999", 9007199254740992.0},
        {"9007199254740993.000000000000000000001", 9007199254740994.0},
        {"100000000000000000000000000000000000000e-38", 1.0},
        {"0.00000000000000000000000000000000000000000000001e47", 1.0},
        {"123456789012345678901234567890", 123456789012345678901234567890.0},
        {"1.7976931348623157e308", 0x1.fffffffffffffp1023},
        {"4.9e-324", 0x1p-1074},
        {"1e-999999999999999999999", 0.0},
        {"0e999999999999999999999", 0.0},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        double value = NAN;
        assert_int_equal(ga_read_double(good[i].text, -INFINITY, INFINITY, &value), GA_OK);
        assert_close(value, good[i].want, 0.0);
    }
    double value = 0.0;
    assert_int_equal(ga_read_double("-0", -1.0, 1.0, &value), GA_OK);
    assert_true(signbit(value));
}

static void test_read_double_refuses(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",     ".",   "-",    "e5",       "1e",  "1e+", "1.2.3", " 1",    "1 ",  "0x1p3",
        "nan",  "inf", "-inf", "infinity", "1,5", "1f",  "--1",   "1e5.0", "1\t", "\xe2\x88\x92 1",
        "1_000"};
    static const char *const large[] = {"1e309", "-1e309", "1e999999999999999999999"};
    double value = 42.0;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(ga_read_double(bad[i], -INFINITY, INFINITY, &value), GA_EINPUT);
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++)
        assert_int_equal(ga_read_double(large[i], -INFINITY, INFINITY, &value), GA_ERANGE);
    assert_int_equal(ga_read_double("0.5", 1.0, INFINITY, &value), GA_ERANGE);
    assert_string_equal(ga_error_text(), "\"0.5\" is too small, expected at least 1");
    assert_int_equal(ga_read_double("1.5", 0.0, 1.0, &value), GA_ERANGE);
    assert_string_equal(ga_error_text(), "\"1.5\" is out of range, expected 0 to 1");
    assert_int_equal(ga_read_double("x", 0, 1, &value), GA_EINPUT);
    assert_string_equal(ga_error_text(), "\"x\" is not a number, expected 0 to 1");
    assert_int_equal(ga_read_double("x", 0, INFINITY, &value), GA_EINPUT);
    assert_string_equal(ga_error_text(), "\"x\" is not a number, expected one such as 0.5 or 1e-3");
    assert_int_equal(ga_read_double("1e400", 0.0, INFINITY, &value), GA_ERANGE);
    assert_close(value, 42.0, 0.0);
}

/* The number ends with the length given, and nothing behind it is looked at. */
static void test_read_double_n(void **state)
{
    (void)state;
    double value = 0.0;
    char *exact = malloc(3);
    memcpy(exact, "1.5", 3);
    assert_int_equal(ga_read_double_n(exact, 3, -INFINITY, INFINITY, &value), GA_OK);
    assert_close(value, 1.5, 0.0);
    assert_int_equal(ga_read_double_n(exact, 2, -INFINITY, INFINITY, &value), GA_OK);
    assert_close(value, 1.0, 0.0);
    assert_int_equal(ga_read_double_n(exact, 0, -INFINITY, INFINITY, &value), GA_EINPUT);
    assert_int_equal(ga_read_double_n("1\0", 2, -INFINITY, INFINITY, &value), GA_EINPUT);
    free(exact);
}

static void test_very_long_numbers(void **state)
{
    (void)state;
    const size_t length = 100000;
    char *text = malloc(length);
    double value = 0.0;
    memset(text, '3', length);
    text[1] = '.';
    assert_int_equal(ga_read_double_n(text, length, -INFINITY, INFINITY, &value), GA_OK);
    assert_close(value, 10.0 / 3.0, 0.0);
    ga_test_allocation_limit(0);
    const int answer = ga_read_double_n(text, length, -INFINITY, INFINITY, &value);
    ga_test_allocation_free();
    assert_int_equal(answer, GA_ENOMEM);
    text[1] = '3';
    assert_int_equal(ga_read_double_n(text, length, -INFINITY, INFINITY, &value), GA_ERANGE);
    free(text);
}

/* Random decimals of 1 to 25 digits with and without point and exponent, held against strtod(). */
static void test_reading_equals_strtod(void **state)
{
    (void)state;
    const size_t count = ga_test_count(200000);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t random[4];
        char text[64];
        double value = NAN;
        ga_draw(1, i, 0, GA_DRAW_NOISE, random);
        const int digits = 1 + (int)(random[0] % 25);
        const int point = (int)(random[1] % 27);
        const uint64_t body = (uint64_t)random[2] << 32 | random[3];
        int length = 0;
        for (int k = 0; k < digits; k++) {
            if (k == point)
                text[length++] = '.';
            text[length++] = (char)('0' + (body >> (2 * k)) % 10);
        }
        text[length] = '\0';
        if (random[1] & 0x10000)
            sprintf(text + length, "e%d", (int)(random[2] % 660) - 340);
        const double want = strtod(text, NULL);
        if (isfinite(want)) {
            assert_int_equal(ga_read_double(text, -INFINITY, INFINITY, &value), GA_OK);
            assert_close(value, want, 0.0);
        } else {
            assert_int_equal(ga_read_double(text, -INFINITY, INFINITY, &value), GA_ERANGE);
        }
    }
}

static void test_format_double(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *want;
    } cases[] = {
        {0.0, "0"},
        {-0.0, "-0"},
        {1.0, "1"},
        {0.1, "0.1"},
        {1.0 / 3.0, "0.3333333333333333"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1e23, "1e+23"},
        {0x1p-1074, "5e-324"},
        {0x1.fffffffffffffp1023, "1.7976931348623157e+308"},
        {-0x1.fffffffffffffp1023, "-1.7976931348623157e+308"},
        {0x1.8p-44, "8.526512829121202e-14"},
        {NAN, "nan"},
        {-NAN, "nan"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
    };
    char text[GA_NUMBER_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ga_format_double(text, cases[i].value);
        assert_string_equal(text, cases[i].want);
    }
}

static void test_format_float(void **state)
{
    (void)state;
    static const struct {
        float value;
        const char *want;
    } cases[] = {
        {0.1f, "0.1"},        {1.0f / 3.0f, "0.33333334"},        {16777216.0f, "16777216"},
        {0x1p-149f, "1e-45"}, {0x1.fffffep127f, "3.4028235e+38"}, {NAN, "nan"},
        {-INFINITY, "-inf"}};
    char text[GA_NUMBER_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ga_format_float(text, cases[i].value);
        assert_string_equal(text, cases[i].want);
    }
}

/* Digits between the first and the last that are not 0, both included. */
static int significant_digits(const char *text)
{
    int seen = 0;
    int significant = 0;
    for (; *text && *text != 'e'; text++) {
        seen += *text >= '0' && *text <= '9' && (seen > 0 || *text != '0');
        significant = *text >= '1' && *text <= '9' ? seen : significant;
    }
    return significant;
}

/* Random bit patterns come back; one digit less does not. */
static void test_doubles_survive_the_round_trip(void **state)
{
    (void)state;
    const size_t count = ga_test_count(100000);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t random[4];
        double value = 0.0;
        char text[GA_NUMBER_TEXT];
        ga_draw(2, i, 0, GA_DRAW_NOISE, random);
        memcpy(&value, random, sizeof value);
        if (!isfinite(value))
            continue;
        ga_format_double(text, value);
        assert_true(memcmp(&value, &(double){strtod(text, NULL)}, sizeof value) == 0);
        int exponent = 0;
        const int digits = significant_digits(text);
        if (digits > 1 && fabs(frexp(value, &exponent)) != 0.5) {
            char shorter[400];
            snprintf(shorter, sizeof shorter, "%.*g", digits - 1, value);
            assert_true(strtod(shorter, NULL) != value);
        }
    }
}

static void test_floats_survive_the_round_trip(void **state)
{
    (void)state;
    const size_t count = ga_test_count(100000);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t random[4];
        float value = 0.0f;
        char text[GA_NUMBER_TEXT];
        ga_draw(3, i, 0, GA_DRAW_NOISE, random);
        memcpy(&value, random, sizeof value);
        if (!isfinite(value))
            continue;
        ga_format_float(text, value);
        assert_true(strtof(text, NULL) == value);
        assert_true(strlen(text) <= 15);
    }
}

static void test_format_digits(void **state)
{
    (void)state;
    char text[GA_NUMBER_TEXT];
    ga_format_digits(text, 3.14159265, 3);
    assert_string_equal(text, "3.14");
    ga_format_digits(text, 1e-7, 4);
    assert_string_equal(text, "1e-07");
    ga_format_digits(text, -1.0 / 3.0, 100);
    assert_string_equal(text, "-0.33333333333333331");
    ga_format_digits(text, 12.0, -3);
    assert_string_equal(text, "1e+01");
    ga_format_digits(text, -NAN, 3);
    assert_string_equal(text, "nan");
}

static void test_locale_changes_nothing(void **state)
{
    (void)state;
    double value = 0.0;
    char texts[3][GA_NUMBER_TEXT];
    if (!ga_test_comma_locale())
        ga_test_skip("localedef cannot make a locale with a decimal comma");
    const int short_answer = ga_read_double("1.5", 0.0, 2.0, &value);
    const int long_answer = ga_read_double("1.50000000000000000000000001", 0.0, 2.0, &value);
    const int comma_answer = ga_read_double("1,5", 0.0, 2.0, &value);
    ga_format_double(texts[0], 0.25);
    ga_format_float(texts[1], 0.1f);
    ga_format_digits(texts[2], 1234.5, 6);
    ga_test_comma_locale_end();
    assert_int_equal(short_answer, GA_OK);
    assert_int_equal(long_answer, GA_OK);
    assert_int_equal(comma_answer, GA_EINPUT);
    assert_close(value, 1.5, 0.0);
    assert_string_equal(texts[0], "0.25");
    assert_string_equal(texts[1], "0.1");
    assert_string_equal(texts[2], "1234.5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_int),
        cmocka_unit_test(test_read_int_names_the_range),
        cmocka_unit_test(test_read_uint64),
        cmocka_unit_test(test_read_double),
        cmocka_unit_test(test_read_double_refuses),
        cmocka_unit_test(test_read_double_n),
        cmocka_unit_test(test_very_long_numbers),
        cmocka_unit_test(test_reading_equals_strtod),
        cmocka_unit_test(test_format_double),
        cmocka_unit_test(test_format_float),
        cmocka_unit_test(test_doubles_survive_the_round_trip),
        cmocka_unit_test(test_floats_survive_the_round_trip),
        cmocka_unit_test(test_format_digits),
        cmocka_unit_test(test_locale_changes_nothing),
    };
    return ga_test_main(tests);
}
