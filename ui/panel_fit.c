/*
 * What the net makes of the data: points and prediction over one input, or for classes what was
 * read as what, with a few of the misread pictures; for a quadratic the weights beside the optimum.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "ui/figure.h"
#include "ui/panels.h"
#include "ui/plot.h"
#include "ui/theme.h"

struct ga_panel_state {
    struct ga_extent extent[GA_PLOT_DOTS];
};

static int fit_open(struct ga_panel_state **out)
{
    *out = ga_alloc(1, sizeof **out);
    return *out ? GA_OK : GA_ENOMEM;
}

static void fit_close(struct ga_panel_state *state)
{
    free(state);
}

static void widen(double value, double *low, double *high)
{
    if (!isfinite(value))
        return;
    *low = fmin(*low, value);
    *high = fmax(*high, value);
}

/* Bounds of the data, and of the prediction up to one height of the data beyond it. */
static struct ga_axis y_bounds(const struct ga_fit *fit)
{
    double low = INFINITY, high = -INFINITY, least = INFINITY, most = -INFINITY;
    double height = 0;

    for (size_t i = 0; i < fit->points; i++) {
        widen((double)fit->point[i].y, &low, &high);
        widen((double)fit->point[i].prediction, &least, &most);
    }
    if (low <= high && least <= most) {
        height = high > low ? high - low : 1;
        least = fmin(fmax(least, low - height), high + height);
        most = fmax(fmin(most, high + height), low - height);
        low = fmin(low, least);
        high = fmax(high, most);
    }
    return ga_axis_fit(false, low, high);
}

static struct ga_axis x_bounds(const struct ga_fit *fit)
{
    double low = INFINITY, high = -INFINITY;

    for (size_t i = 0; i < fit->points; i++)
        widen((double)fit->point[i].x, &low, &high);
    return low < high ? (struct ga_axis){low, high, false} : ga_axis_fit(false, low, high);
}

/* The prediction as extents of dot columns. */
static void gather(struct ga_panel_state *state, const struct ga_fit *fit, const struct ga_axis *x,
                   int dots)
{
    for (int c = 0; c < dots; c++)
        state->extent[c] = GA_EXTENT_NONE;
    for (size_t i = 0; i < fit->points; i++) {
        double place = ga_axis_place(x, (double)fit->point[i].x);
        double value = (double)fit->point[i].prediction;
        struct ga_extent *extent = NULL;

        if (!(place >= 0 && place <= 1))
            continue;
        extent = &state->extent[lround(place * (dots - 1))];
        if (!isfinite(value)) {
            extent->nonfinite++;
            continue;
        }
        extent->first = extent->low <= extent->high ? extent->first : value;
        extent->last = value;
        widen(value, &extent->low, &extent->high);
    }
}

static void draw_points(const struct ga_fit *fit, const struct ga_plot *plot,
                        struct ga_cells *cells, struct ga_rect area)
{
    for (size_t i = 0; i < fit->points; i++) {
        int32_t replica = fit->point[i].replica;
        bool known = replica >= 0;
        uint32_t mark = known ? ga_replica_mark((uint32_t)replica, cells->glyphs) : 0x2022;

        if (fit->point[i].held_out)
            mark = '+';
        ga_plot_mark(plot, cells, area, (double)fit->point[i].x, (double)fit->point[i].y, mark,
                     known ? ga_replica_role((uint32_t)replica) : GA_ROLE_DIM);
    }
}

static void draw_curve(struct ga_panel_state *state, const struct ga_fit *fit,
                       struct ga_cells *cells, struct ga_rect inside)
{
    struct ga_plot plot = {.x = x_bounds(fit), .y = y_bounds(fit), .x_unit = "x"};
    bool few = false;

    for (size_t i = 0; i < fit->points; i++)
        plot.strange = plot.strange || !isfinite(fit->point[i].prediction);
    struct ga_rect area = ga_plot_area(&plot, cells->glyphs, inside);
    if (area.rows < 1 || area.columns < 1)
        return;
    gather(state, fit, &plot.x, area.columns * ga_dots_across(cells->glyphs));
    ga_plot_axes(&plot, cells, inside);
    /* Few points may stand over the line; many would hide it. */
    few = fit->points <= (size_t)area.columns;
    if (!few)
        draw_points(fit, &plot, cells, area);
    ga_plot_line(&plot, cells, area, state->extent, GA_ROLE_WINDOW, GA_ATTR_BOLD, 0);
    if (few)
        draw_points(fit, &plot, cells, area);
    if (plot.strange)
        ga_plot_strange(cells, area, state->extent);
}

static int class_count(const struct ga_fit *fit)
{
    return (int)(fit->classes < GA_FIT_CLASSES_MOST ? fit->classes : GA_FIT_CLASSES_MOST);
}

static void draw_confusion_row(const struct ga_fit *fit, int label, int width,
                               struct ga_cells *cells, int row, int left)
{
    int count = class_count(fit);

    ga_cells_printf(cells, row, left, GA_ROLE_TITLE, GA_ATTR_BOLD, "%2d", label);
    for (int guess = 0; guess < count; guess++) {
        uint32_t times = fit->confusion[label][guess];
        int column = left + 2 + guess * width;

        if (times == 0)
            ga_cells_put(cells, row, column + width - 1, 0x00b7, GA_ROLE_BORDER, GA_ATTR_DIM);
        else
            ga_cells_printf(cells, row, column, label == guess ? GA_ROLE_GOOD : GA_ROLE_BAD,
                            label == guess ? 0 : GA_ATTR_BOLD, "%*u", width,
                            times < 1000 || width > 3 ? times : 999);
    }
}

/* Returns the columns it took. */
static int draw_confusion(const struct ga_fit *fit, struct ga_cells *cells, struct ga_rect inside)
{
    int count = class_count(fit);
    int width = inside.columns >= 2 + 4 * count ? 4 : 3;
    int taken = 2 + width * count;

    if (inside.rows < 2 || inside.columns < taken)
        return 0;
    for (int guess = 0; guess < count; guess++)
        ga_cells_printf(cells, inside.row, inside.column + 2 + guess * width, GA_ROLE_DIM, 0, "%*d",
                        width, guess);
    for (int label = 0; label < count && label + 1 < inside.rows; label++)
        draw_confusion_row(fit, label, width, cells, inside.row + 1 + label, inside.column);
    return taken;
}

/* The mean of a square of pixels, 0 .. 255. */
static unsigned shade(const struct ga_fit *fit, size_t which, int row, int column, int size)
{
    unsigned sum = 0, count = 0;

    for (int r = row * size; r < (row + 1) * size && r < fit->pixel_rows; r++)
        for (int c = column * size; c < (column + 1) * size && c < fit->pixel_columns; c++) {
            sum += fit->miss[which].pixel[r * fit->pixel_columns + c];
            count++;
        }
    return count ? sum / count : 0;
}

static void draw_picture(const struct ga_fit *fit, size_t which, int size, int zoom,
                         struct ga_cells *cells, int row, int column)
{
    static const uint32_t shades[] = {' ', 0x2591, 0x2592, 0x2593, 0x2588};
    static const char letters[] = " .:+#";
    bool ascii = cells->glyphs == GA_GLYPHS_ASCII;

    for (int r = 0; r * size < fit->pixel_rows; r++)
        for (int c = 0; c * size < fit->pixel_columns; c++) {
            unsigned step = shade(fit, which, r, c, size) * 5 / 256;
            uint32_t character = ascii ? (unsigned char)letters[step] : shades[step];

            ga_cells_fill(cells,
                          (struct ga_rect){row + r * zoom, column + 2 * c * zoom, zoom, 2 * zoom},
                          character, GA_ROLE_TEXT, 0);
        }
}

/* Misread pictures beside each other, each with what it is and what it was read as. Too large ones
 * are averaged over squares of `size` pixels, small ones enlarged while two fit. */
static void draw_misread(const struct ga_fit *fit, struct ga_cells *cells, struct ga_rect inside)
{
    int size = 1, zoom = 1, rows = 0, width = 0;

    if (fit->pixel_rows < 1 || fit->pixel_columns < 1 || inside.rows < 4)
        return;
    while ((fit->pixel_rows + size - 1) / size > inside.rows - 1)
        size++;
    rows = (fit->pixel_rows + size - 1) / size;
    width = 2 * ((fit->pixel_columns + size - 1) / size);
    while (zoom < 4 && rows * (zoom + 1) < inside.rows &&
           2 * (width * (zoom + 1) + 2) <= inside.columns)
        zoom++;
    width = width * zoom < 9 ? 9 : width * zoom;
    for (size_t i = 0; i < fit->misread && i < GA_FIT_MISREAD; i++) {
        int column = inside.column + (int)i * (width + 2);

        if (column + width > inside.column + inside.columns)
            return;
        ga_cells_printf(cells, inside.row, column, GA_ROLE_BAD, 0, "%d read %d", fit->miss[i].label,
                        fit->miss[i].predicted);
        draw_picture(fit, i, size, zoom, cells, inside.row + 1, column);
    }
}

static void draw_classes(const struct ga_fit *fit, struct ga_cells *cells, struct ga_rect inside)
{
    int taken = draw_confusion(fit, cells, inside);

    taken += taken ? 2 : 0;
    draw_misread(
        fit, cells,
        (struct ga_rect){inside.row, inside.column + taken, inside.rows, inside.columns - taken});
}

static void draw_quadratic(const struct ga_fit *fit, struct ga_cells *cells, struct ga_rect inside)
{
    int rows = inside.rows - 1;

    ga_cells_fit(cells, inside.row, inside.column + 1, inside.columns - 2,
                 "coordinate     weight    optimum   distance", GA_ROLE_DIM, GA_ATTR_UNDERLINE);
    for (int i = 0; i < rows && (size_t)i < fit->coordinates && i < GA_FIT_CLASSES_MOST; i++) {
        double w = (double)fit->weight[i], c = (double)fit->optimum[i];
        char figure[3][GA_FIGURE_TEXT];

        ga_cells_printf(cells, inside.row + 1 + i, inside.column + 1, GA_ROLE_TEXT, 0,
                        "%10d  %s  %s  %s", i, ga_figure(figure[0], w, 9, 6),
                        ga_figure(figure[1], c, 9, 6), ga_figure(figure[2], fabs(w - c), 9, 6));
    }
}

static void fit_draw(struct ga_panel_state *state, const struct ga_scene *scene,
                     struct ga_cells *cells, struct ga_rect inside)
{
    const struct ga_fit *fit = &scene->closeup->fit;

    if (fit->kind == GA_FIT_CURVE)
        draw_curve(state, fit, cells, inside);
    else if (fit->kind == GA_FIT_CLASSES)
        draw_classes(fit, cells, inside);
    else if (fit->kind == GA_FIT_QUADRATIC)
        draw_quadratic(fit, cells, inside);
    else
        ga_cells_fit(cells, inside.row, inside.column + 1, inside.columns - 1,
                     fit->rows ? "one input, classes or a quadratic can be drawn" : "no run yet",
                     GA_ROLE_DIM, 0);
}

static void fit_caption(struct ga_panel_state *state, const struct ga_scene *scene,
                        struct ga_text *out)
{
    const struct ga_fit *fit = &scene->closeup->fit;
    uint64_t all = fit->right + fit->wrong;

    (void)state;
    if (fit->kind != GA_FIT_NONE)
        ga_moment_write(scene, out);
    if (fit->kind == GA_FIT_CLASSES && all > 0)
        ga_text_printf(out, "%.1f %% of %llu %s right", 100 * (double)fit->right / (double)all,
                       (unsigned long long)all, fit->held_out ? "held-out" : "training");
    else if (fit->kind != GA_FIT_NONE)
        ga_text_printf(out, "%s, %zu %s", fit->name, fit->rows, fit->rows == 1 ? "row" : "rows");
}

const struct ga_panel ga_panel_fit = {
    .name = "fit",
    .title = "fit",
    .min_rows = 3,
    .min_columns = 16,
    .look = GA_LOOK_FIT,
    .open = fit_open,
    .close = fit_close,
    .draw = fit_draw,
    .caption = fit_caption,
};
