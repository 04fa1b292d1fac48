#include "storage/svg_axis.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

#define WANTED_TICKS 5

/* 1, 2 or 5 times a power of ten, at least `least`. */
static double nice_step(double least)
{
    static const double steps[] = {1, 2, 5, 10};
    const double power = pow(10, floor(log10(least)));
    size_t i = 0;
    while (i < 3 && steps[i] * power < least * (1 - 1e-9))
        i++;
    return steps[i] * power;
}

/* As many digits as tell two ticks apart. */
static void label_tick(struct ga_svg_axis *axis, double value, double step)
{
    char *label = axis->label[axis->ticks];
    const double size = fabs(value) / step;
    const int digits = size > 1 ? (int)floor(log10(size) + 1e-9) + 2 : 2;
    ga_format_digits(label, value, digits < 15 ? digits : 15);
    if (step >= 1 && fabs(value) < 1e9)
        snprintf(label, GA_SVG_TICK_TEXT, "%.0f", value);
    axis->tick[axis->ticks++] = value;
}

static void linear_ticks(struct ga_svg_axis *axis)
{
    const double least = axis->high / WANTED_TICKS - axis->low / WANTED_TICKS;
    const double step = nice_step(least);
    const double slack = least * 1e-9;
    double next = ceil((axis->low - slack) / step);
    while (next * step <= axis->high + slack && isfinite(next * step) &&
           axis->ticks < GA_SVG_TICKS) {
        label_tick(axis, next == 0 ? 0 : next * step, step);
        next++;
    }
}

static void add_power(struct ga_svg_axis *axis, double value)
{
    if (axis->ticks < GA_SVG_TICKS && isfinite(value) && value >= axis->low * (1 - 1e-9) &&
        value <= axis->high * (1 + 1e-9)) {
        ga_format_digits(axis->label[axis->ticks], value, 6);
        axis->tick[axis->ticks++] = value;
    }
}

/* Powers of ten, some left out when there are many; with 2 and 5 between when there are few. */
static void log_ticks(struct ga_svg_axis *axis)
{
    const int first = (int)floor(log10(axis->low));
    const int last = (int)ceil(log10(axis->high));
    const int step = (last - first) / (WANTED_TICKS + 1) + 1;
    for (int power = first; power <= last; power += step) {
        add_power(axis, pow(10, power));
        if (last - first <= 3) {
            add_power(axis, 2 * pow(10, power));
            add_power(axis, 5 * pow(10, power));
        }
    }
}

void ga_svg_axis_set(struct ga_svg_axis *axis, double low, double high, bool logarithmic,
                     bool padded)
{
    memset(axis, 0, sizeof *axis);
    axis->logarithmic = logarithmic;
    if (logarithmic) {
        axis->low = fmax(low / 1.15, 5e-324);
        axis->high = fmin(high * 1.15, DBL_MAX);
        log_ticks(axis);
        return;
    }
    const double span = high / 2 - low / 2;
    const double size = fmax(fabs(low), fabs(high));
    const double pad = span > size * 1e-12 ? (padded ? span * 0.1 : 0) : fmax(size * 0.1, 0.5);
    axis->low = fmax(low - pad, -DBL_MAX);
    axis->high = fmin(high + pad, DBL_MAX);
    linear_ticks(axis);
}

/* Halves and logarithms, since differences and quotients could overflow. */
double ga_svg_axis_place(const struct ga_svg_axis *axis, double value)
{
    if (!axis->logarithmic)
        return (value / 2 - axis->low / 2) / (axis->high / 2 - axis->low / 2);
    return (log(value) - log(axis->low)) / (log(axis->high) - log(axis->low));
}
