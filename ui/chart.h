/*
 * Curves of samples over an axis that a person moves: fit to all or following the newest, zoomed,
 * with a reading cursor. What the loss, norm and run panels share. One thread, the ui's.
 */
#ifndef GA_UI_CHART_H
#define GA_UI_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/panel.h"
#include "ui/plot.h"
#include "ui/samples.h"

struct ga_chart {
    double span;           /* of the x axis, in its own unit; 0: all */
    bool held;             /* the window stays where it is; else it follows the newest */
    double centre;         /* of a held one */
    bool reading;          /* the cursor is on */
    double at;             /* the cursor */
    int x_axis;            /* the unit of the figures above */
    double low, high, dot; /* as drawn last: the range, and the width of a dot column */
    struct ga_extent extent[GA_PLOT_DOTS];
    size_t row[GA_PLOT_DOTS + 1]; /* first row of each dot column */
};

struct ga_curve_look {
    const struct ga_samples *samples;
    int series;
    unsigned role, attributes;
    uint32_t mark;    /* 0: none */
    const char *name; /* beside its value under the cursor; NULL: not read */
};

void ga_chart_draw(struct ga_chart *chart, const struct ga_scene *scene,
                   const struct ga_curve_look *look, size_t looks, bool log, struct ga_cells *cells,
                   struct ga_rect inside);

/* Arrows move the cursor and zoom, Home shows all, End follows. */
bool ga_chart_key(struct ga_chart *chart, const struct ga_scene *scene, int key);

/* ", by examples, last 200": what differs from a chart of everything by updates. */
void ga_chart_caption(const struct ga_chart *chart, const struct ga_scene *scene,
                      struct ga_text *out);

#endif
