#include "base/error.h"
#include "base/number.h"
#include "base/random.h"
#include "support/support.h"

static void test_format_bytes(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        const char *want;
    } cases[] = {{0, "0 B"},
                 {1023, "1023 B"},
                 {1024, "1 KiB"},
                 {1536, "1.5 KiB"},
                 {(UINT64_C(1) << 20) - 1, "1 MiB"},
                 {UINT64_C(256) << 20, "256 MiB"},
                 {UINT64_C(1023) << 10, "1023 KiB"},
                 {UINT64_C(5) << 40, "5 TiB"},
                 {UINT64_MAX, "16 EiB"}};
    char text[GA_NUMBER_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ga_format_bytes(text, cases[i].bytes);
        assert_string_equal(text, cases[i].want);
    }
}

static void test_read_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t want;
    } good[] = {{"0", 0},
                {"4096", 4096},
                {"1.5KiB", 1536},
                {"256 MiB", UINT64_C(256) << 20},
                {"1gb", 1000000000},
                {"2 TiB", UINT64_C(2) << 40},
                {"0.5 B", 1},
                {"1e3 B", 1000},
                {"15.99 EiB", UINT64_C(18435214858663483146)},
                {"18446744073709551615", UINT64_MAX}};
    static const char *const bad[] = {"",      "MiB",  "1 Mi", "1 MiBs", "1M",
                                      "1 [IB", "1\tB", "1e B", "1 k\x0b"};
    static const char *const large[] = {"16 EiB", "18446744073709551616", "1e30", "-1",
                                        "-1 KiB", "1e999999999"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        uint64_t value = 42;
        assert_int_equal(ga_read_bytes(good[i].text, 0, UINT64_MAX, &value), GA_OK);
        assert_true(value == good[i].want);
    }
    uint64_t value = 42;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(ga_read_bytes(bad[i], 0, UINT64_MAX, &value), GA_EINPUT);
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++)
        assert_int_equal(ga_read_bytes(large[i], 0, UINT64_MAX, &value), GA_ERANGE);
    assert_int_equal(ga_read_bytes("1 B", 1024, 1048576, &value), GA_ERANGE);
    assert_string_equal(ga_error_text(), "\"1 B\" is out of range, expected 1 KiB to 1 MiB");
    assert_true(value == 42);
}

static void test_format_time(void **state)
{
    (void)state;
    static const struct {
        int64_t ns;
        const char *want;
    } cases[] = {{0, "0 s"},
                 {7, "7 ns"},
                 {13000, "13 us"},
                 {1234, "1.234 us"},
                 {1000000, "1 ms"},
                 {1000001, "1.000001 ms"},
                 {2500000000, "2.5 s"},
                 {2500000001, "2500.000001 ms"},
                 {2500001000, "2.500001 s"},
                 {-1500, "-1.5 us"},
                 {INT64_MAX, "9223372036854.775807 ms"},
                 {INT64_MIN, "-9223372036854.775808 ms"}};
    char text[GA_NUMBER_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ga_format_time(text, cases[i].ns);
        assert_string_equal(text, cases[i].want);
    }
}

static void test_read_time(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t want;
    } good[] = {{"0", 0},
                {"0.0", 0},
                {"1ms", 1000000},
                {"2.5 s", 2500000000},
                {"10us", 10000},
                {"0.4 ns", 0},
                {"0.5 ns", 1},
                {"-1.5 us", -1500},
                {"1e-9s", 1},
                {"0.0000000004999999999999999999999999999999999999999 s", 0},
                {"9223372036.854775807 s", INT64_MAX},
                {"4611686018427.387905ms", INT64_C(4611686018427387905)}};
    static const char *const bad[] = {"",      "1",   "s",     "1 m",   "1 S",
                                      "1 msx", "ms1", "1,5 s", "nan s", "0x1s"};
    static const char *const large[] = {"9223372036.8547758075 s", "1e30 s", "-1e300 ns"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int64_t value = 42;
        assert_int_equal(ga_read_time(good[i].text, INT64_MIN, INT64_MAX, &value), GA_OK);
        assert_true(value == good[i].want);
    }
    int64_t value = 42;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(ga_read_time(bad[i], INT64_MIN, INT64_MAX, &value), GA_EINPUT);
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++)
        assert_int_equal(ga_read_time(large[i], INT64_MIN, INT64_MAX, &value), GA_ERANGE);
    assert_int_equal(ga_read_time("2 s", 0, 1000000, &value), GA_ERANGE);
    assert_string_equal(ga_error_text(), "\"2 s\" is out of range, expected 0 s to 1 ms");
    assert_true(value == 42);
}

static void test_times_survive_the_round_trip(void **state)
{
    (void)state;
    const size_t count = ga_test_count(100000);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t random[4];
        char text[GA_NUMBER_TEXT];
        int64_t back = 0;
        ga_draw(4, i, 0, GA_DRAW_NOISE, random);
        const uint64_t bits = ((uint64_t)random[0] << 32 | random[1]) >> (1 + random[2] % 62);
        const int64_t time = random[3] & 1 ? -(int64_t)bits : (int64_t)bits;
        ga_format_time(text, time);
        assert_int_equal(ga_read_time(text, INT64_MIN, INT64_MAX, &back), GA_OK);
        assert_true(back == time);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format_bytes),
        cmocka_unit_test(test_read_bytes),
        cmocka_unit_test(test_format_time),
        cmocka_unit_test(test_read_time),
        cmocka_unit_test(test_times_survive_the_round_trip),
    };
    return ga_test_main(tests);
}
