/*
 * Charts on cells: axes, and lines of minimum and maximum per dot column.
 *
 * A cell holds a grid of dots: 2x4 in braille, 1x2 in half blocks and in ASCII. A line is given as
 * one extent a dot column; neighbours are joined, columns without a value between two that have one
 * are bridged, and a column whose values are all not finite is a gap. Such values have no place on
 * the axis: a row above the plot marks them. Bounds come from finite values only (on a log axis:
 * above 0) and are never equal, so a chart is never blank and a constant line is a line.
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

/* The value at a place, the inverse. */
double ga_axis_value(const struct ga_axis *axis, double place);

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

struct ga_plot {
    struct ga_axis x, y;
    const char *x_unit; /* behind the last label: "ms"; "" */
    bool strange;       /* values that are not finite are in sight: keep a row for their marks */
};

#define GA_PLOT_DOTS 1024 /* dot columns of a plot at most; wider ones are not used */

/* Dots a cell has across and down in a glyph set. */
int ga_dots_across(enum ga_glyphs glyphs);
int ga_dots_down(enum ga_glyphs glyphs);

/* The part of `rect` that holds dots: without labels, and without the row of marks above it. */
struct ga_rect ga_plot_area(const struct ga_plot *plot, enum ga_glyphs glyphs, struct ga_rect rect);

/* Labels, ticks and grid; to be drawn before the lines. */
void ga_plot_axes(const struct ga_plot *plot, struct ga_cells *cells, struct ga_rect rect);

/* One dot, counted from the top left of `area`; adds to the dots that the cell has. */
void ga_plot_dot(struct ga_cells *cells, struct ga_rect area, int row, int column, unsigned role,
                 unsigned attributes);

/*
 * A line over the dot columns of `area`, drawn over what is there. A `mark` other than 0 is put at
 * its last value, so that lines differ without colour too.
 */
void ga_plot_line(const struct ga_plot *plot, struct ga_cells *cells, struct ga_rect area,
                  const struct ga_extent *extent, unsigned role, unsigned attributes,
                  uint32_t mark);

/* Marks above `area` where the extents hold values that are not finite. */
void ga_plot_strange(struct ga_cells *cells, struct ga_rect area, const struct ga_extent *extent);

/* A character at a value, and a vertical line that leaves the dots as they are. */
void ga_plot_mark(const struct ga_plot *plot, struct ga_cells *cells, struct ga_rect area, double x,
                  double y, uint32_t mark, unsigned role);
void ga_plot_cursor(struct ga_cells *cells, struct ga_rect area, int dot_column);

/*
 * Exponential moving average without start-up bias: m/(1 - w^n) over the finite values so far; a
 * constant series stays itself. w in [0, 1).
 */
struct ga_ema {
    double weight, mean, power; /* power: weight^n */
};
void ga_ema_init(struct ga_ema *ema, double weight);
double ga_ema_next(struct ga_ema *ema, double value); /* a non-finite value leaves it as it is */

#endif
