/*
 * Charts as an SVG picture: panels below each other with one x axis in common, each with lines, a
 * legend and a y axis of its own. No scripts, no fonts and nothing from elsewhere; readable on
 * light and on dark (the picture brings its own background and follows the viewer's preference),
 * lines in the colours of Okabe and Ito, told apart by dashes too.
 *
 * Every point counts, whatever their number: where several fall on one column of the picture their
 * smallest and largest are drawn. What is not finite, and what a logarithmic axis has no place for,
 * is a gap, counted in the legend. Pure: text is all that is made.
 */
#ifndef GA_STORAGE_SVG_H
#define GA_STORAGE_SVG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

struct ga_svg_series {
    const char *name;
    const double *y; /* (points of the chart) */
    bool faint;      /* drawn lightly, as what another line sums up */
};

#define GA_SVG_SERIES 6 /* in one panel, at the most */

/* A vertical line with a word, where something changed. */
struct ga_svg_mark {
    double x;
    const char *text;
};

struct ga_svg_panel {
    const char *title;
    const char *unit; /* of the y axis; "": a plain number */
    bool logarithmic; /* when what is positive spans more than a factor of 20 */
    size_t count;
    struct ga_svg_series series[GA_SVG_SERIES];
};

struct ga_svg_chart {
    const char *title, *subtitle;
    const char *x_label;
    size_t points;
    const double *x; /* (points) ascending */
    size_t panels;
    const struct ga_svg_panel *panel;
    size_t marks;
    const struct ga_svg_mark *mark;
};

void ga_svg_write(const struct ga_svg_chart *chart, struct ga_text *out);

#endif
