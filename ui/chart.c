#include "ui/chart.h"

#include <math.h>
#include <string.h>

#include "ui/decoder.h"
#include "ui/figure.h"

/* The next higher sixteenth-or-so, so that a growing axis stands still most of the time. */
static double round_up(double value)
{
    double step = 0;

    if (!(value > 0))
        return 1;
    step = exp2(floor(log2(value)) - 3);
    return ceil(value / step - 1e-9) * step;
}

/* First and last x over all curves; first > last: no rows at all. */
static void reach(const struct ga_curve_look *look, size_t looks, int x_axis, double *first,
                  double *last)
{
    *first = INFINITY;
    *last = -INFINITY;
    for (size_t i = 0; i < looks; i++) {
        size_t count = ga_samples_count(look[i].samples);

        if (count == 0)
            continue;
        *first = fmin(*first, ga_samples_x(look[i].samples, x_axis, 0));
        *last = fmax(*last, ga_samples_x(look[i].samples, x_axis, count - 1));
    }
}

static void choose_range(struct ga_chart *chart, double first, double last)
{
    bool counts = chart->x_axis == GA_X_UPDATES || chart->x_axis == GA_X_EXAMPLES;

    chart->low = 0;
    chart->high = counts ? 10 : 1;
    if (!(first <= last))
        return;
    if (chart->span > 0 && chart->span < last - first) {
        double end = chart->held ? chart->centre + chart->span / 2 : last;

        end = end > last ? last : end < first + chart->span ? first + chart->span : end;
        chart->low = end - chart->span;
        chart->high = end;
        return;
    }
    /* A few updates do not make a whole axis: there are none between two of them. */
    last = counts ? fmax(last, 10) : last;
    chart->low = first < last / 2 || last <= 1 ? 0 : first;
    chart->high = chart->low + round_up(last - chart->low);
}

/* Rows of each dot column; the columns' limits lie half-way between dots. */
static void find_rows(struct ga_chart *chart, const struct ga_samples *samples, int dots)
{
    for (int c = 0; c <= dots; c++) {
        double x = chart->low + (c - 0.5) * chart->dot;

        chart->row[c] = ga_samples_find(samples, chart->x_axis, x);
    }
}

static struct ga_axis y_axis(const struct ga_chart *chart, const struct ga_curve_look *look,
                             size_t looks, bool log, bool *strange)
{
    double low = INFINITY, high = -INFINITY;

    *strange = false;
    for (size_t i = 0; i < looks; i++) {
        const struct ga_samples *samples = look[i].samples;
        size_t first = ga_samples_find(samples, chart->x_axis, chart->low - chart->dot / 2);
        size_t end = ga_samples_find(samples, chart->x_axis, chart->high + chart->dot / 2);
        struct ga_extent extent = ga_samples_extent(samples, look[i].series, first, end, log);

        low = fmin(low, extent.low);
        high = fmax(high, extent.high);
        *strange = *strange || extent.nonfinite > 0;
    }
    return ga_axis_fit(log, low, high);
}

static const char *unit_of(int x_axis, double high, double *factor)
{
    *factor = 1;
    if (x_axis == GA_X_UPDATES)
        return "updates";
    if (x_axis == GA_X_EXAMPLES)
        return "examples";
    *factor = high >= 2 ? 1 : high >= 2e-3 ? 1e3 : 1e6;
    return *factor > 1e3 ? "us" : *factor > 1 ? "ms" : "s";
}

static void draw_lines(struct ga_chart *chart, const struct ga_plot *plot,
                       const struct ga_curve_look *look, size_t looks, struct ga_cells *cells,
                       struct ga_rect area)
{
    int dots = area.columns * ga_dots_across(cells->glyphs);
    const struct ga_samples *found = NULL;
    uint64_t nonfinite = 0;

    for (size_t i = 0; i < looks; i++) {
        if (look[i].samples != found)
            find_rows(chart, look[i].samples, dots);
        found = look[i].samples;
        for (int c = 0; c < dots; c++)
            chart->extent[c] = ga_samples_extent(found, look[i].series, chart->row[c],
                                                 chart->row[c + 1], plot->y.log);
        ga_plot_line(plot, cells, area, chart->extent, look[i].role, look[i].attributes,
                     look[i].mark);
        if (plot->strange)
            ga_plot_strange(cells, area, chart->extent);
        if (i + 1 == looks)
            nonfinite = ga_samples_nonfinite(found, look[i].series);
    }
    if (plot->strange && nonfinite > 0 && area.columns > 30) {
        char count[GA_FIGURE_TEXT];

        ga_cells_printf(cells, area.row - 1, area.column + area.columns - 6, GA_ROLE_BAD,
                        GA_ATTR_BOLD, "%5s", ga_figure_count(count, (double)nonfinite));
    }
}

static int draw_value(const struct ga_chart *chart, const struct ga_curve_look *look,
                      struct ga_cells *cells, int row, int column, int end)
{
    size_t at = ga_samples_find(look->samples, chart->x_axis, chart->at - chart->dot / 2);
    char figure[GA_FIGURE_TEXT];

    if (!look->name || column + ga_text_columns(look->name) + 8 > end ||
        ga_samples_missing(look->samples, look->series, at))
        return column;
    column = ga_cells_text(cells, row, column, look->name, look->role, 0) + 1;
    return ga_cells_text(cells, row, column,
                         ga_figure(figure, ga_samples_value(look->samples, look->series, at), 7, 5),
                         look->role, look->attributes & (unsigned)~GA_ATTR_DIM) +
           2;
}

/* The row of values under the cursor, the last curve (the most important one) first. */
static void draw_reading(const struct ga_chart *chart, const struct ga_curve_look *look,
                         size_t looks, struct ga_cells *cells, struct ga_rect row)
{
    const struct ga_samples *samples = look[looks - 1].samples;
    size_t at = ga_samples_find(samples, chart->x_axis, chart->at - chart->dot / 2);
    int column = row.column, end = row.column + row.columns;

    if (at >= ga_samples_count(samples))
        return;
    column = ga_cells_printf(cells, row.row, column, GA_ROLE_FOCUS, GA_ATTR_BOLD, "update %.0f",
                             ga_samples_x(samples, GA_X_UPDATES, at)) +
             2;
    for (size_t i = looks; i-- > 0;)
        column = draw_value(chart, &look[i], cells, row.row, column, end);
}

void ga_chart_draw(struct ga_chart *chart, const struct ga_scene *scene,
                   const struct ga_curve_look *look, size_t looks, bool log, struct ga_cells *cells,
                   struct ga_rect inside)
{
    struct ga_plot plot = {.x_unit = ""};
    double first = 0, last = 0, factor = 1;
    bool reading = chart->reading && inside.rows >= 4 && looks > 0;
    struct ga_rect rect = inside;

    if (chart->x_axis != scene->x_axis)
        chart->span = 0, chart->reading = reading = false;
    chart->x_axis = scene->x_axis;
    rect.row += reading;
    rect.rows -= reading;
    reach(look, looks, chart->x_axis, &first, &last);
    choose_range(chart, first, last);
    plot.y = y_axis(chart, look, looks, log, &plot.strange);
    struct ga_rect area = ga_plot_area(&plot, cells->glyphs, rect);
    int dots = area.columns * ga_dots_across(cells->glyphs);
    if (area.rows < 1 || area.columns < 1)
        return;
    chart->dot = (chart->high - chart->low) / (dots > 1 ? dots - 1 : 1);
    plot.x_unit = unit_of(chart->x_axis, chart->high, &factor);
    plot.x = (struct ga_axis){chart->low * factor, chart->high * factor, false};
    ga_plot_axes(&plot, cells, rect);
    draw_lines(chart, &plot, look, looks, cells, area);
    if (reading) {
        ga_plot_cursor(cells, area, (int)lround((chart->at - chart->low) / chart->dot));
        draw_reading(chart, look, looks, cells,
                     (struct ga_rect){inside.row, inside.column, 1, inside.columns});
    }
}

/* Moves the cursor by dot columns, and at least to another row. */
static void move_cursor(struct ga_chart *chart, const struct ga_samples *samples, int step)
{
    size_t count = ga_samples_count(samples);
    size_t at = 0, next = 0;

    if (count == 0)
        return;
    if (!chart->reading) {
        chart->reading = true;
        chart->at = ga_samples_x(samples, chart->x_axis, count - 1);
        return;
    }
    at = ga_samples_find(samples, chart->x_axis, chart->at - chart->dot / 2);
    at = at < count ? at : count - 1;
    next = ga_samples_find(samples, chart->x_axis,
                           ga_samples_x(samples, chart->x_axis, at) + step * chart->dot);
    if (step < 0 && next >= at)
        next = at > 0 ? at - 1 : 0;
    if (step > 0 && next <= at)
        next = at + 1;
    chart->at = ga_samples_x(samples, chart->x_axis, next < count ? next : count - 1);
    if (chart->at < chart->low || chart->at > chart->high) {
        chart->held = true;
        chart->centre = chart->at;
    }
}

static void zoom(struct ga_chart *chart, double factor)
{
    chart->centre = chart->reading ? chart->at : (chart->low + chart->high) / 2;
    chart->held = chart->held || chart->reading || chart->span == 0;
    chart->span = (chart->high - chart->low) * factor;
    if (!(chart->span > chart->high * 1e-9))
        chart->span = chart->high * 1e-9;
}

bool ga_chart_key(struct ga_chart *chart, const struct ga_scene *scene, int key)
{
    switch (key) {
    case GA_KEY_LEFT:
    case GA_KEY_RIGHT:
        move_cursor(chart, scene->samples, key == GA_KEY_LEFT ? -1 : 1);
        return true;
    case GA_KEY_PAGE_UP:
    case GA_KEY_PAGE_DOWN:
        move_cursor(chart, scene->samples, key == GA_KEY_PAGE_UP ? -16 : 16);
        return true;
    case GA_KEY_UP:
    case GA_KEY_DOWN:
        zoom(chart, key == GA_KEY_UP ? 0.5 : 2);
        return true;
    case GA_KEY_HOME:
        chart->span = 0;
        chart->held = chart->reading = false;
        return true;
    case GA_KEY_END:
        chart->span = chart->span > 0 ? chart->span : (chart->high - chart->low) / 4;
        chart->held = chart->reading = false;
        return true;
    case GA_KEY_ESCAPE: {
        bool used = chart->reading;

        chart->reading = false;
        return used;
    }
    default:
        return false;
    }
}

void ga_chart_caption(const struct ga_chart *chart, const struct ga_scene *scene,
                      struct ga_text *out)
{
    static const char *const by[GA_X_AXES] = {"", "by examples", "by virtual time", "by wall time"};
    char figure[GA_FIGURE_TEXT];

    if (scene->x_axis > 0 && scene->x_axis < GA_X_AXES)
        ga_text_printf(out, "%s%s", out->length ? ", " : "", by[scene->x_axis]);
    if (chart->span <= 0)
        return;
    ga_text_printf(out, "%s%s ", out->length ? ", " : "", chart->held ? "zoomed to" : "last");
    if (scene->x_axis == GA_X_TIME || scene->x_axis == GA_X_WALL)
        ga_text_puts(out, ga_figure_time(figure, chart->span));
    else
        ga_text_puts(out, ga_figure_count(figure, chart->span));
}
