/*
 * Charts on cells: axes, and lines of minimum and maximum per dot column.
 *
 * A cell holds a grid of dots: 2x4 in braille, 1x2 in half blocks and in ASCII. A line is given as
 * one extent a dot column; columns that touch are joined, columns without a point between two
 * that have one are bridged. Values that are not finite have no place on the axis and are marked in
 * the row above the plot. Bounds come from finite values only (on a log axis: above 0) and are
 * never equal, so a chart is never blank and a constant line is a line.
 *
 * Pure functions on caller memory, one thread.
 */
#ifndef GA_UI_PLOT_H
#define GA_UI_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/cells.h"
#include "ui/samples.h"

struct ga_axis {
    double low, high; /* low < high; both above 0 when `log` */
    bool log;
};

/* Bounds around finite values. low > high: nothing to show, and the axis is 0..1 (log: 0.1..1). */
struct ga_axis ga_axis_fit(bool log, double low, double high);

/* Where a value lies, 0 at low and 1 at high; not clamped. */
double ga_axis_place(const struct ga_axis *axis, double value);

#define GA_AXIS_LABELS 12
struct ga_axis_label {
    double value;
    char text[16];
};

/*
 * At most `most` (1 .. GA_AXIS_LABELS) labels at 1, 2 or 5 times a power of ten inside the axis,
 * ascending, all texts distinct, at least one. `columns` is the longest text allowed.
 */
int ga_axis_labels(const struct ga_axis *axis, int most, int columns,
                   struct ga_axis_label label[GA_AXIS_LABELS]);

struct ga_plot_line {
    const struct ga_extent *extent; /* (dot columns) */
    unsigned role, attributes;
    uint32_t mark; /* drawn at the line's end, where replicas must differ without colour; 0: none */
};

struct ga_plot {
    struct ga_axis x, y;
    const char *x_unit, *y_unit; /* "", "ms" */
    const struct ga_plot_line *line;
    size_t lines;       /* later ones are drawn over earlier ones */
    int cursor;         /* dot column of the reading cursor; -1: none */
    double zero;        /* a dim horizontal line at this y value; NaN: none */
    uint64_t nonfinite; /* counted over the whole run, for the label */
};

/* Dots a cell has across and down in a glyph set. */
int ga_dots_across(enum ga_glyphs glyphs);
int ga_dots_down(enum ga_glyphs glyphs);

/* The part of `rect` that holds dots, beside labels; what extents are made for. */
struct ga_rect ga_plot_area(const struct ga_plot *plot, enum ga_glyphs glyphs, struct ga_rect rect);
void ga_plot_draw(const struct ga_plot *plot, struct ga_cells *cells, struct ga_rect rect);

/*
 * Exponential moving average without start-up bias: m/(1 - w^n) over the finite values so far; a
 * constant series stays itself. w in [0, 1).
 */
struct ga_ema {
    double weight, mean, power;
};
void ga_ema_init(struct ga_ema *ema, double weight);
double ga_ema_next(struct ga_ema *ema, double value); /* a non-finite value leaves it as it is */

#endif
