#include "base/c_locale.h"
#include "base/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool format_special(char out[GA_NUMBER_TEXT], double value)
{
    if (isfinite(value))
        return false;
    snprintf(out, GA_NUMBER_TEXT, "%s", isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    return true;
}

/* %.*g with a point, whatever the locale: the decimal sign is all that a locale changes here. */
static void print_digits(char out[GA_NUMBER_TEXT], double value, int digits)
{
    const locale_t old = ga_c_locale_enter();
    snprintf(out, GA_NUMBER_TEXT, "%.*g", digits, value);
    ga_c_locale_leave(old);
}

static double read_back(const char *text)
{
    const locale_t old = ga_c_locale_enter();
    const double value = strtod(text, NULL);
    ga_c_locale_leave(old);
    return value;
}

/*
 * Any decimal of at most DBL_DIG (FLT_DIG) digits survives a round trip, so for normal numbers the
 * first precision tried gives the shorter ones too; subnormal numbers may need fewer digits.
 */
void ga_format_double(char out[GA_NUMBER_TEXT], double value)
{
    if (format_special(out, value))
        return;
    int digits = fabs(value) < 0x1p-1022 ? 1 : 15;
    do {
        print_digits(out, value, digits++);
    } while (digits <= 17 && read_back(out) != value);
}

static float read_back_float(const char *text)
{
    const locale_t old = ga_c_locale_enter();
    const float value = strtof(text, NULL);
    ga_c_locale_leave(old);
    return value;
}

void ga_format_float(char out[GA_NUMBER_TEXT], float value)
{
    if (format_special(out, (double)value))
        return;
    int digits = fabsf(value) < 0x1p-126f ? 1 : 6;
    do {
        print_digits(out, (double)value, digits++);
    } while (digits <= 9 && read_back_float(out) != value);
}

void ga_format_digits(char out[GA_NUMBER_TEXT], double value, int digits)
{
    if (format_special(out, value))
        return;
    print_digits(out, value, digits < 1 ? 1 : digits > 17 ? 17 : digits);
}

void ga_format_int(char out[GA_NUMBER_TEXT], int64_t value)
{
    snprintf(out, GA_NUMBER_TEXT, "%lld", (long long)value);
}

void ga_format_bytes(char out[GA_NUMBER_TEXT], uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    unsigned unit = 0;
    unsigned __int128 tenths = (unsigned __int128)bytes * 10;
    while (unit < 6 && tenths >= 10240) {
        unit++;
        const unsigned shift = unit * 10;
        tenths = (((unsigned __int128)bytes * 10) + ((unsigned __int128)1 << (shift - 1))) >> shift;
    }
    const unsigned long long whole = (unsigned long long)(tenths / 10);
    const unsigned tenth = (unsigned)(tenths % 10);
    if (tenth == 0)
        snprintf(out, GA_NUMBER_TEXT, "%llu %s", whole, units[unit]);
    else
        snprintf(out, GA_NUMBER_TEXT, "%llu.%u %s", whole, tenth, units[unit]);
}

void ga_format_time(char out[GA_NUMBER_TEXT], int64_t nanoseconds)
{
    static const struct {
        const char *name;
        unsigned decimals; /* of one nanosecond in this unit */
        unsigned long long size_ns, step_ns;
    } units[] = {
        {"s", 9, 1000000000, 1000}, {"ms", 6, 1000000, 1}, {"us", 3, 1000, 1}, {"ns", 0, 1, 1}};
    const unsigned long long magnitude =
        nanoseconds < 0 ? 0 - (unsigned long long)nanoseconds : (unsigned long long)nanoseconds;
    unsigned unit = 0;
    while (magnitude != 0 && unit < 3 &&
           (magnitude < units[unit].size_ns || magnitude % units[unit].step_ns != 0))
        unit++;
    unsigned decimals = units[unit].decimals;
    unsigned long long fraction = magnitude % units[unit].size_ns;
    while (decimals > 0 && fraction % 10 == 0) {
        fraction /= 10;
        decimals--;
    }
    int length = snprintf(out, GA_NUMBER_TEXT, "%s%llu", nanoseconds < 0 ? "-" : "",
                          magnitude / units[unit].size_ns);
    if (decimals > 0)
        length += snprintf(out + length, GA_NUMBER_TEXT - (size_t)length, ".%0*llu", (int)decimals,
                           fraction);
    snprintf(out + length, GA_NUMBER_TEXT - (size_t)length, " %s", units[unit].name);
}
