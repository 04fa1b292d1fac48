/* An axis of a chart: its range, and where labels stand. Pure. */
#ifndef GA_STORAGE_SVG_AXIS_H
#define GA_STORAGE_SVG_AXIS_H

#include <stdbool.h>
#include <stddef.h>

#define GA_SVG_TICKS     16
#define GA_SVG_TICK_TEXT 32

struct ga_svg_axis {
    double low, high; /* low < high; logarithmic: both above 0 */
    bool logarithmic;
    size_t ticks;
    double tick[GA_SVG_TICKS];
    char label[GA_SVG_TICKS][GA_SVG_TICK_TEXT]; /* all different */
};

/* `low` and `high` are the smallest and largest value; room is added where they are equal. */
void ga_svg_axis_set(struct ga_svg_axis *axis, double low, double high, bool logarithmic,
                     bool padded);

/* 0 at low, 1 at high. */
double ga_svg_axis_place(const struct ga_svg_axis *axis, double value);

#endif
