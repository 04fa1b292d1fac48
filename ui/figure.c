#include "ui/figure.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/number.h"

static void print(char out[GA_FIGURE_TEXT], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void print(char out[GA_FIGURE_TEXT], const char *format, ...)
{
    const locale_t old = ga_c_locale_enter();
    va_list args;

    va_start(args, format);
    vsnprintf(out, GA_FIGURE_TEXT, format, args);
    va_end(args);
    ga_c_locale_leave(old);
}

static void align(char out[GA_FIGURE_TEXT], int width)
{
    int length = (int)strlen(out);

    if (length >= width)
        return;
    memmove(out + width - length, out, (size_t)length + 1);
    memset(out, ' ', (size_t)(width - length));
}

/* "1.23e-05" as "1.23e-5": the exponent without its padding. */
static void shorten_exponent(char *text)
{
    char *e = strchr(text, 'e');
    char *from = NULL;

    if (!e)
        return;
    if (e[1] == '+')
        memmove(e + 1, e + 2, strlen(e + 2) + 1);
    from = e + 1 + (e[1] == '-');
    while (from[0] == '0' && from[1])
        memmove(from, from + 1, strlen(from));
}

static void scientific(char out[GA_FIGURE_TEXT], double value, int width, int digits)
{
    for (int decimals = digits - 1; decimals >= 0; decimals--) {
        print(out, "%.*e", decimals, value);
        shorten_exponent(out);
        if ((int)strlen(out) <= width)
            return;
    }
}

const char *ga_figure(char out[GA_FIGURE_TEXT], double value, int width, int digits)
{
    double size = isfinite(value) ? fabs(value) : 0;
    int decade = size > 0 ? (int)floor(log10(size)) : 0;
    int whole = decade < 1 ? 1 : decade + 1;    /* digits before the point */
    int room = width - (value < 0) - whole - 1; /* behind it */
    int wanted = decade >= 0 ? digits - whole : digits - 1 - decade;

    if (!isfinite(value)) {
        print(out, "%s", isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    } else if (size != 0 && (room < 0 || (size < 1 && digits - (wanted - room) < 3))) {
        scientific(out, value, width, digits);
    } else {
        room = room < wanted ? room : wanted;
        print(out, "%.*f", room > 0 ? room : 0, value);
    }
    if ((int)strlen(out) > width && isfinite(value))
        scientific(out, value, width, digits);
    align(out, width);
    return out;
}

const char *ga_figure_count(char out[GA_FIGURE_TEXT], double value)
{
    static const char units[] = " kMGT";
    int unit = 0;

    while (unit < 4 && value >= 999.5) {
        value /= 1000;
        unit++;
    }
    if (!isfinite(value))
        print(out, "%s", isnan(value) ? "n/a" : "inf");
    else if (value >= 999.5)
        print(out, "%.0e", value * 1e12);
    else if (unit == 0)
        print(out, "%.0f", value < 0.5 && value > -0.5 ? 0 : value);
    else
        print(out, "%.*f%c", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, units[unit]);
    shorten_exponent(out);
    return out;
}

const char *ga_figure_percent(char out[GA_FIGURE_TEXT], double share)
{
    if (isnan(share))
        print(out, "  n/a");
    else
        print(out, "%3.0f %%", share < 0 ? 0 : share > 9.99 ? 999 : share * 100);
    return out;
}

const char *ga_figure_time(char out[GA_FIGURE_TEXT], double seconds)
{
    static const struct {
        double size;
        const char *name;
    } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
    int unit = 0;

    if (!isfinite(seconds) || seconds == 0 || fabs(seconds) >= 1e6) {
        print(out, isfinite(seconds) ? "%.4g s" : "n/a", seconds);
        return out;
    }
    while (unit < 3 && fabs(seconds) < units[unit].size * 0.99995)
        unit++;
    double value = seconds / units[unit].size;
    double size = isfinite(value) ? fabs(value) : 0;
    print(out, "%.*f %s",
          size < 9.9995   ? 3
          : size < 99.995 ? 2
          : size < 999.95 ? 1
                          : 0,
          value, units[unit].name);
    return out;
}

const char *ga_figure_bytes(char out[GA_FIGURE_TEXT], double bytes)
{
    char text[GA_NUMBER_TEXT] = "n/a";

    if (bytes >= 0 && bytes < 0x1p63)
        ga_format_bytes(text, (uint64_t)bytes);
    print(out, "%8s", text);
    return out;
}
