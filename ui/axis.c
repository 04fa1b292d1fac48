/* Bounds and labels of axes. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/c_locale.h"
#include "ui/plot.h"

/* Bounds stay where powers of ten and their reciprocals are finite. */
#define TINY 1e-290
#define HUGE 1e290

static const double mantissas[] = {1, 2, 5};

static double ten_to(int exponent)
{
    return pow(10, exponent);
}

/* The largest 1, 2 or 5 times a power of ten that is not above `value` (> 0). */
static double nice_below(double value)
{
    int exponent = (int)floor(log10(value));
    double best = 5 * ten_to(exponent - 1);

    for (int i = 0; i < 3; i++)
        if (mantissas[i] * ten_to(exponent) <= value * (1 + 1e-12))
            best = mantissas[i] * ten_to(exponent);
    return best;
}

static double nice_above(double value)
{
    double below = nice_below(value);

    if (below >= value * (1 - 1e-12))
        return below;
    return nice_below(below * 2.51);
}

static struct ga_axis fit_log(double low, double high)
{
    struct ga_axis axis = {0.1, 1, true};

    if (!(low <= high) || !(high > 0))
        return axis;
    low = low < TINY ? TINY : low > HUGE ? HUGE : low;
    high = high > HUGE ? HUGE : high < low ? low : high;
    axis.low = nice_below(low);
    axis.high = nice_above(high);
    if (!(axis.low < axis.high)) {
        axis.low = nice_below(axis.low * 0.6);
        axis.high = nice_above(axis.high * 1.5);
    }
    return axis;
}

struct ga_axis ga_axis_fit(bool log, double low, double high)
{
    struct ga_axis axis = {0, 1, false};

    if (log)
        return fit_log(low, high);
    if (!(low <= high))
        return axis;
    low = low < -HUGE ? -HUGE : low > HUGE ? HUGE : low;
    high = high > HUGE ? HUGE : high < low ? low : high;
    if (low > 0 && low < 0.4 * high)
        low = 0;
    double size = fmax(fabs(low), fabs(high));
    if (!(high - low > size * 1e-9)) {
        double pad = size > TINY ? size * 0.1 : 1;

        low -= pad;
        high += pad;
    }
    double step = nice_above((high - low) / 5);
    axis.low = floor(low / step + 1e-9) * step;
    axis.high = ceil(high / step - 1e-9) * step;
    return axis;
}

double ga_axis_place(const struct ga_axis *axis, double value)
{
    if (axis->log)
        return (log10(value) - log10(axis->low)) / (log10(axis->high) - log10(axis->low));
    return (value / 2 - axis->low / 2) / (axis->high / 2 - axis->low / 2);
}

double ga_axis_value(const struct ga_axis *axis, double place)
{
    if (axis->log)
        return pow(10, log10(axis->low) + place * (log10(axis->high) - log10(axis->low)));
    return axis->low * (1 - place) + axis->high * place;
}

/* "1e+05" as "1e5", "5e-05" as "5e-5". */
static void shorten(char *text)
{
    char *e = strchr(text, 'e');

    if (!e)
        return;
    e += e[1] == '-' ? 2 : 1;
    while ((*e == '+' || *e == '0') && e[1])
        memmove(e, e + 1, strlen(e));
}

/* A multiple of 10^exponent with no digit below it; true when it fits. */
static bool write_label(struct ga_axis_label *label, double value, int exponent, bool thousands,
                        int columns)
{
    const locale_t old = ga_c_locale_enter();
    int decimals = exponent < 0 ? -exponent : 0;
    int length = 0;

    label->value = value;
    if (value == 0)
        length = snprintf(label->text, sizeof label->text, "0");
    else if (thousands && exponent >= 3 && fabs(value) < 999999.5)
        length = snprintf(label->text, sizeof label->text, "%.0fk", value / 1000);
    else if (exponent > -7 && fabs(value) < 1e7)
        length = snprintf(label->text, sizeof label->text, "%.*f", decimals, value);
    if (length == 0 || length > columns) {
        int digits = (int)floor(log10(fabs(value)) + 1e-9) - exponent;

        length = snprintf(label->text, sizeof label->text, "%.*e", digits > 0 ? digits : 0, value);
        shorten(label->text);
        length = length < (int)sizeof label->text ? (int)strlen(label->text) : columns + 1;
    }
    ga_c_locale_leave(old);
    return length <= columns;
}

/* Labels at multiples of m * 10^exponent; 0 when they do not fit or are too many. */
static int labels_at(const struct ga_axis *axis, double m, int exponent, int most, int columns,
                     struct ga_axis_label label[GA_AXIS_LABELS])
{
    double step = m * ten_to(exponent);
    double first = ceil(axis->low / step - 1e-9), last = floor(axis->high / step + 1e-9);
    int count = 0;

    if (!(step > 0) || !(last - first < most) || last < first)
        return 0;
    for (int i = 0; i <= (int)(last - first); i++) {
        double times = first + i;
        double value = exponent < 0 ? times * m / ten_to(-exponent) : times * step;

        if (!write_label(&label[count], value, exponent, true, columns))
            return 0;
        if (count > 0 && strcmp(label[count].text, label[count - 1].text) == 0)
            return 0;
        count++;
    }
    return count;
}

/* The lower bound itself, with as many digits as fit. */
static int label_bound(const struct ga_axis *axis, int columns,
                       struct ga_axis_label label[GA_AXIS_LABELS])
{
    const locale_t old = ga_c_locale_enter();

    label[0].value = axis->low;
    for (int digits = 7; digits > 0; digits--) {
        snprintf(label[0].text, sizeof label[0].text, "%.*g", digits, axis->low);
        shorten(label[0].text);
        if ((int)strlen(label[0].text) <= columns)
            break;
    }
    ga_c_locale_leave(old);
    return 1;
}

/* Multiples of 4, or else the one multiple of 5. */
static int fours(const struct ga_axis *axis, int exponent, int most, int columns,
                 struct ga_axis_label label[GA_AXIS_LABELS])
{
    int count = labels_at(axis, 4, exponent, most, columns, label);

    return count > 0 ? count : labels_at(axis, 5, exponent, most, columns, label);
}

static int linear_labels(const struct ga_axis *axis, int most, int columns,
                         struct ga_axis_label label[GA_AXIS_LABELS])
{
    int exponent = (int)floor(log10((axis->high / 2 - axis->low / 2) / most)) - 1;

    for (int tries = 0; tries < 24; tries++, exponent++)
        for (int i = 0; i < 3; i++) {
            int count = labels_at(axis, mantissas[i], exponent, most, columns, label);

            /* -4 to 4, where there is no room for steps of 2: one label says little. */
            if (count == 1 && i == 2 && most > 1 && !axis->log)
                return fours(axis, exponent, most, columns, label);
            if (count > 0)
                return count;
        }
    return label_bound(axis, columns, label);
}

/* These multiples of every `stride`-th decade; 0 when they are too many. */
static int decades(const struct ga_axis *axis, int stride, const double *multiple, int each,
                   int most, int columns, struct ga_axis_label label[GA_AXIS_LABELS])
{
    int first = (int)floor(log10(axis->low) + 1e-9), last = (int)floor(log10(axis->high) + 1e-9);
    int count = 0;

    if (stride < 1)
        return 0;
    for (int e = first; e <= last; e++)
        for (int i = 0; i < each; i++) {
            double value = e < 0 ? multiple[i] / ten_to(-e) : multiple[i] * ten_to(e);

            if (e % stride != 0 || value < axis->low * (1 - 1e-9) ||
                value > axis->high * (1 + 1e-9))
                continue;
            if (count == most || !write_label(&label[count], value, e, false, columns))
                return 0;
            count++;
        }
    return count;
}

/* 1, 2, 5 of each decade, or only 1 of some; 1, 3 where there is but one decade in sight. */
static int log_labels(const struct ga_axis *axis, int most, int columns,
                      struct ga_axis_label label[GA_AXIS_LABELS])
{
    static const double thirds[] = {1, 3};
    int spread = (int)(log10(axis->high) - log10(axis->low)) / most;
    int stride = spread > 1 ? spread : 1;
    int count = decades(axis, 1, mantissas, 3, most, columns, label);

    if (count == 0 && axis->high / axis->low < 100)
        count = decades(axis, 1, thirds, 2, most, columns, label);
    for (; count == 0 && stride < 700; stride++)
        count = decades(axis, stride, mantissas, 1, most, columns, label);
    return count;
}

int ga_axis_labels(const struct ga_axis *axis, int most, int columns,
                   struct ga_axis_label label[GA_AXIS_LABELS])
{
    most = most < 1 ? 1 : most > GA_AXIS_LABELS ? GA_AXIS_LABELS : most;
    if (axis->log) {
        int count = log_labels(axis, most, columns, label);

        /* One label says little of a stretch below a decade: even steps may have more. */
        if (count > 1 || (count == 1 && (most == 1 || axis->high / axis->low >= 10)))
            return count;
    }
    return linear_labels(axis, most, columns, label);
}
