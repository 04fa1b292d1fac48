#include "base/number.h"

#include "base/c_locale.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * (-1)^negative * mantissa.next * 10^exponent, where `next` is the first digit that 64 bits had no
 * room for; `cut` when any digit left out was not 0.
 */
struct decimal {
    uint64_t mantissa;
    int64_t exponent;
    size_t left_out;
    unsigned next;
    bool negative;
    bool cut;
};

#define EXPONENT_LIMIT 1000000000

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits from `at` on; those beyond what 64 bits hold count only by their place. */
static size_t scan_digits(const char *text, size_t length, size_t at, int after_point,
                          struct decimal *number)
{
    while (at < length && is_digit(text[at])) {
        const unsigned digit = (unsigned)(text[at] - '0');
        if (number->mantissa <= (UINT64_MAX - 9) / 10) {
            number->mantissa = number->mantissa * 10 + digit;
            number->exponent -= after_point;
        } else {
            number->next = number->left_out++ == 0 ? digit : number->next;
            number->cut |= digit != 0;
            number->exponent += !after_point;
        }
        at++;
    }
    return at;
}

static size_t scan_sign(const char *text, size_t length, size_t at, bool *negative)
{
    if (at < length && (text[at] == '+' || text[at] == '-')) {
        *negative = text[at] == '-';
        at++;
    }
    return at;
}

/* An exponent part if one is complete at `at`; otherwise `at` comes back. */
static size_t scan_exponent(const char *text, size_t length, size_t at, struct decimal *number)
{
    bool negative = false;
    int64_t exponent = 0;
    if (at >= length || (text[at] != 'e' && text[at] != 'E'))
        return at;
    const size_t digits = scan_sign(text, length, at + 1, &negative);
    size_t end = digits;
    for (; end < length && is_digit(text[end]); end++) {
        if (exponent < EXPONENT_LIMIT)
            exponent = exponent * 10 + (text[end] - '0');
    }
    if (end == digits)
        return at;
    number->exponent += negative ? -exponent : exponent;
    return end;
}

/* Bytes taken by the number at the start of `text`, 0 when there is none. */
static size_t scan_decimal(const char *text, size_t length, struct decimal *number)
{
    *number = (struct decimal){0};
    const size_t start = scan_sign(text, length, 0, &number->negative);
    size_t at = scan_digits(text, length, start, 0, number);
    size_t digits = at - start;
    if (at < length && text[at] == '.') {
        const size_t point = at;
        at = scan_digits(text, length, point + 1, 1, number);
        digits += at - point - 1;
    }
    return digits > 0 ? scan_exponent(text, length, at, number) : 0;
}

static int out_of_range(const char *quoted, const char *low, const char *high)
{
    if (low && high)
        return ga_fail(GA_ERANGE, "%s is out of range, expected %s to %s", quoted, low, high);
    if (low)
        return ga_fail(GA_ERANGE, "%s is too small, expected at least %s", quoted, low);
    return ga_fail(GA_ERANGE, "%s is too large, expected at most %s", quoted, high);
}

/* The whole magnitude; false when it does not fit. `text` is checked to be digits only. */
static bool read_digits(const char *text, uint64_t *out)
{
    uint64_t value = 0;
    for (; *text; text++) {
        if (__builtin_mul_overflow(value, UINT64_C(10), &value) ||
            __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
            return false;
    }
    *out = value;
    return true;
}

static bool all_digits(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == '\0';
}

static int not_whole(const char *text, int64_t low, int64_t high)
{
    char quoted[GA_QUOTE_TEXT];
    char low_text[GA_NUMBER_TEXT];
    char high_text[GA_NUMBER_TEXT];
    ga_format_int(low_text, low);
    ga_format_int(high_text, high);
    return ga_fail(GA_EINPUT, "%s is not a whole number, expected %s to %s", ga_quote(quoted, text),
                   low_text, high_text);
}

int ga_read_int(const char *text, int64_t low, int64_t high, int64_t *out)
{
    char quoted[GA_QUOTE_TEXT];
    char low_text[GA_NUMBER_TEXT];
    char high_text[GA_NUMBER_TEXT];
    uint64_t magnitude = 0;
    const bool negative = text[0] == '-';
    const char *digits = text + (negative || text[0] == '+');
    if (!all_digits(digits))
        return not_whole(text, low, high);
    const uint64_t limit = (uint64_t)INT64_MAX + negative;
    if (read_digits(digits, &magnitude) && magnitude <= limit) {
        const int64_t value = (int64_t)(negative ? 0 - magnitude : magnitude);
        if (value >= low && value <= high) {
            *out = value;
            return GA_OK;
        }
    }
    ga_format_int(low_text, low);
    ga_format_int(high_text, high);
    return out_of_range(ga_quote(quoted, text), !negative && low == INT64_MIN ? NULL : low_text,
                        negative && high == INT64_MAX ? NULL : high_text);
}

int ga_read_uint64(const char *text, uint64_t *out)
{
    char quoted[GA_QUOTE_TEXT];
    const char *digits = text + (text[0] == '+');
    uint64_t value = 0;
    if (!all_digits(digits))
        return ga_fail(GA_EINPUT, "%s is not a whole number of at least 0", ga_quote(quoted, text));
    if (!read_digits(digits, &value))
        return out_of_range(ga_quote(quoted, text), NULL, "18446744073709551615");
    *out = value;
    return GA_OK;
}

/* Both factors are exact doubles, so one rounding gives the nearest one (Clinger 1990). */
static bool exact_double(const struct decimal *number, double *out)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (number->cut || number->mantissa > UINT64_C(1) << 53 || number->exponent < -22 ||
        number->exponent > 22)
        return false;
    const double mantissa = (double)number->mantissa;
    const double value = number->exponent < 0 ? mantissa / powers[-number->exponent]
                                              : mantissa * powers[number->exponent];
    *out = number->negative ? -value : value;
    return true;
}

static int library_double(const char *text, size_t length, double *out)
{
    char small[64];
    char *copy = length < sizeof small ? small : ga_alloc(length + 1, 1);
    if (!copy)
        return GA_ENOMEM;
    memcpy(copy, text, length);
    copy[length] = '\0';
    const locale_t old = ga_c_locale_enter();
    *out = strtod(copy, NULL);
    ga_c_locale_leave(old);
    if (copy != small)
        free(copy);
    return GA_OK;
}

static int check_double(const char *text, size_t length, double low, double high, double value)
{
    char quoted[GA_QUOTE_TEXT];
    char low_text[GA_NUMBER_TEXT];
    char high_text[GA_NUMBER_TEXT];
    if (value >= low && value <= high && isfinite(value))
        return GA_OK;
    ga_format_double(low_text, isfinite(low) ? low : -0x1.fffffffffffffp1023);
    ga_format_double(high_text, isfinite(high) ? high : 0x1.fffffffffffffp1023);
    const bool show_low = isfinite(low) || value < -0x1.fffffffffffffp1023;
    const bool show_high = isfinite(high) || value > 0x1.fffffffffffffp1023;
    return out_of_range(ga_quote_n(quoted, text, length), show_low ? low_text : NULL,
                        show_high ? high_text : NULL);
}

static int not_a_number(const char *text, size_t length, double low, double high)
{
    char quoted[GA_QUOTE_TEXT];
    char low_text[GA_NUMBER_TEXT];
    char high_text[GA_NUMBER_TEXT];
    ga_quote_n(quoted, text, length);
    if (low <= -DBL_MAX || high >= DBL_MAX)
        return ga_fail(GA_EINPUT, "%s is not a number, expected one such as 0.5 or 1e-3", quoted);
    ga_format_double(low_text, low);
    ga_format_double(high_text, high);
    return ga_fail(GA_EINPUT, "%s is not a number, expected %s to %s", quoted, low_text, high_text);
}

int ga_read_double_n(const char *text, size_t length, double low, double high, double *out)
{
    struct decimal number;
    double value = 0.0;
    const size_t taken = scan_decimal(text, length, &number);
    if (taken == 0 || taken != length)
        return not_a_number(text, length, low, high);
    if (!exact_double(&number, &value) && library_double(text, length, &value) != GA_OK)
        return GA_ENOMEM;
    const int answer = check_double(text, length, low, high, value);
    if (answer == GA_OK)
        *out = value;
    return answer;
}

int ga_read_double(const char *text, double low, double high, double *out)
{
    return ga_read_double_n(text, strlen(text), low, high, out);
}

struct unit {
    const char *name;
    uint64_t size;
};

/* The unit named by the rest of a quantity, blanks before it allowed; NULL when there is none. */
static const struct unit *find_unit(const char *name, const struct unit *units, bool any_case)
{
    name += strspn(name, " ");
    for (; units->name; units++) {
        size_t i = 0;
        while (name[i] && (name[i] == units->name[i] ||
                           (any_case && (name[i] ^ units->name[i]) == 0x20 && (name[i] & 0x40))))
            i++;
        if (!name[i] && !units->name[i])
            return units;
    }
    return NULL;
}

/* The magnitude times `unit` to the nearest whole number, half up; false beyond 64 bits. */
static bool scale(const struct decimal *number, uint64_t unit, uint64_t *out)
{
    unsigned __int128 value = ((unsigned __int128)number->mantissa * 10 + number->next) * unit;
    int64_t exponent = value == 0 ? 0 : number->exponent - 1;
    if (exponent < -38) {
        *out = 0;
        return true;
    }
    for (; exponent > 0; exponent--) {
        if (value > UINT64_MAX)
            return false;
        value *= 10;
    }
    unsigned __int128 divisor = 1;
    for (; exponent < 0; exponent++)
        divisor *= 10;
    const unsigned __int128 rest = value % divisor;
    value = value / divisor + (rest >= divisor - rest);
    *out = (uint64_t)value;
    return value <= UINT64_MAX;
}

static const struct unit time_units[] = {
    {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {NULL, 0}};

int ga_read_time(const char *text, int64_t low_ns, int64_t high_ns, int64_t *out_ns)
{
    char quoted[GA_QUOTE_TEXT];
    char low_text[GA_NUMBER_TEXT];
    char high_text[GA_NUMBER_TEXT];
    struct decimal number;
    uint64_t magnitude = 0;
    const size_t taken = scan_decimal(text, strlen(text), &number);
    /* Zero needs no unit. */
    const bool bare_zero = number.mantissa == 0 && !text[taken];
    const struct unit *unit = bare_zero ? time_units : find_unit(text + taken, time_units, false);
    if (taken == 0 || !unit)
        return ga_fail(GA_EINPUT, "%s is not a time, expected a number and ns, us, ms or s",
                       ga_quote(quoted, text));
    if (scale(&number, unit->size, &magnitude) && magnitude <= INT64_MAX) {
        const int64_t value = number.negative ? -(int64_t)magnitude : (int64_t)magnitude;
        if (value >= low_ns && value <= high_ns) {
            *out_ns = value;
            return GA_OK;
        }
    }
    ga_format_time(low_text, low_ns);
    ga_format_time(high_text, high_ns);
    return out_of_range(ga_quote(quoted, text), low_text, high_text);
}

static const struct unit byte_units[] = {
    {"", 1},
    {"B", 1},
    {"KiB", UINT64_C(1) << 10},
    {"MiB", UINT64_C(1) << 20},
    {"GiB", UINT64_C(1) << 30},
    {"TiB", UINT64_C(1) << 40},
    {"PiB", UINT64_C(1) << 50},
    {"EiB", UINT64_C(1) << 60},
    {"KB", UINT64_C(1000)},
    {"MB", UINT64_C(1000000)},
    {"GB", UINT64_C(1000000000)},
    {"TB", UINT64_C(1000000000000)},
    {"PB", UINT64_C(1000000000000000)},
    {"EB", UINT64_C(1000000000000000000)},
    {NULL, 0},
};

int ga_read_bytes(const char *text, uint64_t low, uint64_t high, uint64_t *out)
{
    char quoted[GA_QUOTE_TEXT];
    char low_text[GA_NUMBER_TEXT];
    char high_text[GA_NUMBER_TEXT];
    struct decimal number;
    uint64_t value = 0;
    const size_t taken = scan_decimal(text, strlen(text), &number);
    const struct unit *unit = find_unit(text + taken, byte_units, true);
    if (taken == 0 || !unit)
        return ga_fail(GA_EINPUT, "%s is not a size, expected a number and B, KiB, MiB, GiB or TiB",
                       ga_quote(quoted, text));
    if ((!number.negative || number.mantissa == 0) && scale(&number, unit->size, &value) &&
        value >= low && value <= high) {
        *out = value;
        return GA_OK;
    }
    ga_format_bytes(low_text, low);
    ga_format_bytes(high_text, high);
    return out_of_range(ga_quote(quoted, text), low_text, high == UINT64_MAX ? NULL : high_text);
}
