#include "storage/svg.h"

#include <math.h>
#include <stdio.h>

#include "storage/svg_axis.h"

/* Sizes in the picture's units, which are pixels at its own size. */
enum {
    WIDTH = 960,
    LEFT = 92,
    RIGHT = 24,
    HEAD = 74,
    PANEL = 236,
    TOP = 34, /* of a panel: title and legend */
    BOTTOM = 18,
    FOOT = 40,
    PLOT_WIDTH = WIDTH - LEFT - RIGHT,
    PLOT_HEIGHT = PANEL - TOP - BOTTOM
};

static const struct {
    const char *colour, *dash; /* of Okabe and Ito (2008) */
} styles[GA_SVG_SERIES] = {{"#0072b2", ""},        {"#d55e00", "7 3"}, {"#009e73", "2 3"},
                           {"#cc79a7", "9 3 2 3"}, {"#e69f00", "4 4"}, {"#56b4e9", "1 4"}};

/* On dark, blue is too dark to be read. */
static const char style_sheet[] =
    "<style>\n"
    ".back{fill:#ffffff}.frame{fill:none;stroke:#999999}.grid{stroke:#dddddd}\n"
    ".mark{stroke:#777777;stroke-dasharray:3 3}\n"
    "text{fill:#222222;font-family:sans-serif;font-size:13px}.big{font-size:18px;font-weight:bold}"
    "\n"
    ".name{font-weight:bold}.faint{fill:#555555}.end{text-anchor:end}.mid{text-anchor:middle}\n"
    ".line{fill:none;stroke-width:1.6;stroke-linejoin:round;stroke-linecap:round}\n"
    "@media (prefers-color-scheme:dark){\n"
    ".back{fill:#1c1c1c}.frame{stroke:#888888}.grid{stroke:#3a3a3a}.mark{stroke:#aaaaaa}\n"
    "text{fill:#eeeeee}.faint{fill:#bbbbbb}.s0{stroke:#4aa8de}}\n"
    "</style>\n";

static void put_escaped(struct ga_text *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '&')
            ga_text_puts(out, "&amp;");
        else if (*text == '<')
            ga_text_puts(out, "&lt;");
        else if (*text == '>')
            ga_text_puts(out, "&gt;");
        else
            ga_text_append(out, (unsigned char)*text < ' ' ? " " : text, 1);
    }
}

static void put_text(struct ga_text *out, const char *classes, double x, double y, const char *text)
{
    ga_text_printf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", classes, x, y);
    put_escaped(out, text);
    ga_text_puts(out, "</text>\n");
}

static void put_line(struct ga_text *out, const char *classes, double x1, double y1, double x2,
                     double y2)
{
    ga_text_printf(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                   classes, x1, y1, x2, y2);
}

/* What one panel is drawn with. */
struct plot {
    const struct ga_svg_chart *chart;
    const struct ga_svg_panel *panel;
    struct ga_svg_axis y;
    const struct ga_svg_axis *x;
    double top; /* of the frame */
};

static bool is_drawn(const struct plot *plot, double value)
{
    return isfinite(value) && (!plot->y.logarithmic || value > 0);
}

static double x_of(const struct plot *plot, double value)
{
    return LEFT + ga_svg_axis_place(plot->x, value) * PLOT_WIDTH;
}

static double y_of(const struct plot *plot, double value)
{
    return plot->top + (1 - ga_svg_axis_place(&plot->y, value)) * PLOT_HEIGHT;
}

/* Range of all finite values above `floor`; false when there are none. */
static bool find_range(const struct ga_svg_chart *chart, const struct ga_svg_panel *panel,
                       double floor, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t s = 0; s < panel->count; s++)
        for (size_t i = 0; i < chart->points; i++) {
            const double value = panel->series[s].y[i];
            if (isfinite(value) && value > floor) {
                *low = fmin(*low, value);
                *high = fmax(*high, value);
            }
        }
    return *low <= *high;
}

static void set_axis(const struct ga_svg_chart *chart, const struct ga_svg_panel *panel,
                     struct ga_svg_axis *out)
{
    double low = 0;
    double high = 1;
    if (panel->logarithmic && find_range(chart, panel, 0, &low, &high) && high / low > 20) {
        ga_svg_axis_set(out, low, high, true, true);
        return;
    }
    const bool any = find_range(chart, panel, -INFINITY, &low, &high);
    ga_svg_axis_set(out, any ? low : 0, any ? high : 1, false, true);
}

static void put_grid(const struct plot *plot, struct ga_text *out)
{
    const double bottom = plot->top + PLOT_HEIGHT;
    for (size_t i = 0; i < plot->y.ticks; i++) {
        const double y = y_of(plot, plot->y.tick[i]);
        put_line(out, "grid", LEFT, y, LEFT + PLOT_WIDTH, y);
        put_text(out, "end", LEFT - 8, y + 4.5, plot->y.label[i]);
    }
    for (size_t i = 0; i < plot->x->ticks; i++) {
        const double x = x_of(plot, plot->x->tick[i]);
        put_line(out, "grid", x, plot->top, x, bottom);
        put_text(out, "mid faint", x, bottom + 16, plot->x->label[i]);
    }
    ga_text_printf(out, "<rect class=\"frame\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%d\"/>\n",
                   LEFT, plot->top, PLOT_WIDTH, PLOT_HEIGHT);
}

/* The points of one column of the picture, so far. */
struct column {
    long place;
    size_t count;
    double x, low, high;
    bool rising; /* the smallest came first */
};

static void put_point(struct ga_text *out, bool *begun, double x, double y)
{
    ga_text_printf(out, "%s%.1f %.1f", *begun ? "L" : "M", x, y);
    *begun = true;
}

static void put_column(const struct plot *plot, const struct column *column, bool *begun,
                       struct ga_text *out)
{
    if (column->count == 0)
        return;
    const double first = column->rising ? column->low : column->high;
    const double second = column->rising ? column->high : column->low;
    put_point(out, begun, column->x, y_of(plot, first));
    if (second != first)
        put_point(out, begun, column->x, y_of(plot, second));
}

static void add_point(struct column *column, double x, double value)
{
    if (column->count++ == 0) {
        column->x = x;
        column->low = column->high = value;
        return;
    }
    if (value > column->high) {
        column->high = value;
        column->rising = true;
    }
    if (value < column->low) {
        column->low = value;
        column->rising = false;
    }
}

/* The line through all points; gives how many have no place. */
static size_t put_curve(const struct plot *plot, const double *y, struct ga_text *out)
{
    struct column column = {.count = 0};
    size_t missing = 0;
    bool begun = false;
    for (size_t i = 0; i < plot->chart->points; i++) {
        const double x = x_of(plot, plot->chart->x[i]);
        const long place = (long)floor(x);
        const bool drawn = is_drawn(plot, y[i]);
        if (!drawn || (column.count > 0 && place != column.place)) {
            put_column(plot, &column, &begun, out);
            column = (struct column){.count = 0};
        }
        if (!drawn && begun)
            ga_text_puts(out, "h0"); /* one point alone is a dot */
        begun = begun && drawn;
        missing += !drawn;
        column.place = place;
        if (drawn)
            add_point(&column, x, y[i]);
    }
    put_column(plot, &column, &begun, out);
    ga_text_puts(out, begun ? "h0" : "");
    return missing;
}

static void begin_path(size_t s, struct ga_text *out)
{
    ga_text_printf(out, "<path class=\"line s%zu\" stroke=\"%s\" stroke-dasharray=\"%s\"", s,
                   styles[s].colour, *styles[s].dash ? styles[s].dash : "none");
}

/* Gives how many points have no place. */
static size_t put_series(const struct plot *plot, size_t s, struct ga_text *out)
{
    const struct ga_svg_series *series = &plot->panel->series[s];
    begin_path(s, out);
    ga_text_puts(out, series->faint ? " stroke-opacity=\"0.5\" d=\"" : " d=\"");
    const size_t missing = put_curve(plot, series->y, out);
    ga_text_puts(out, "\"/>\n");
    return missing;
}

/* An entry of the legend, which ends at `right`; gives where the one before it ends. */
static double put_entry(const struct plot *plot, size_t s, size_t missing, double right,
                        struct ga_text *out)
{
    struct ga_text name = GA_TEXT_INIT;
    ga_text_puts(&name, plot->panel->series[s].name);
    if (missing > 0)
        ga_text_printf(&name, " (%zu not %s)", missing, plot->y.logarithmic ? "above 0" : "finite");
    put_text(out, "end", right - 38, plot->top - 9, ga_text_get(&name));
    begin_path(s, out);
    ga_text_printf(out, " d=\"M%.1f %.1fh30\"/>\n", right - 30, plot->top - 13.5);
    const double width = 8.0 * (double)name.length;
    ga_text_free(&name);
    return right - 38 - width - 24;
}

static void put_marks(const struct plot *plot, bool named, struct ga_text *out)
{
    for (size_t i = 0; i < plot->chart->marks; i++) {
        const struct ga_svg_mark *mark = &plot->chart->mark[i];
        const double x = x_of(plot, mark->x);
        put_line(out, "mark", x, plot->top, x, plot->top + PLOT_HEIGHT);
        if (named)
            put_text(out, "faint", x + 4, plot->top + 14, mark->text);
    }
}

static void put_panel(const struct ga_svg_chart *chart, size_t k, const struct ga_svg_axis *x,
                      struct ga_text *out)
{
    const struct ga_svg_panel *panel = &chart->panel[k];
    struct plot plot = {.chart = chart, .panel = panel, .x = x};
    size_t missing[GA_SVG_SERIES];
    char title[160];
    plot.top = HEAD + (double)k * PANEL + TOP;
    set_axis(chart, panel, &plot.y);
    snprintf(title, sizeof title, "%s%s%s%s%s", panel->title, *panel->unit ? " [" : "", panel->unit,
             *panel->unit ? "]" : "", plot.y.logarithmic ? ", logarithmic" : "");
    put_text(out, "name", LEFT, plot.top - 9, title);
    put_grid(&plot, out);
    put_marks(&plot, k == 0, out);
    for (size_t s = 0; s < panel->count; s++)
        missing[s] = put_series(&plot, s, out);
    double right = LEFT + PLOT_WIDTH;
    for (size_t s = panel->count; s-- > 0;)
        right = put_entry(&plot, s, missing[s], right, out);
}

void ga_svg_write(const struct ga_svg_chart *chart, struct ga_text *out)
{
    struct ga_svg_axis x;
    const int height = HEAD + (int)chart->panels * PANEL + FOOT;
    ga_svg_axis_set(&x, chart->points ? chart->x[0] : 0,
                    chart->points ? chart->x[chart->points - 1] : 1, false, false);
    ga_text_printf(out,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%d\" "
                   "height=\"%d\" viewBox=\"0 0 %d %d\">\n<title>",
                   WIDTH, height, WIDTH, height);
    put_escaped(out, chart->title);
    ga_text_puts(out, "</title>\n<desc>");
    put_escaped(out, chart->subtitle);
    ga_text_puts(out, "</desc>\n");
    ga_text_puts(out, style_sheet);
    ga_text_printf(out, "<rect class=\"back\" width=\"%d\" height=\"%d\"/>\n", WIDTH, height);
    put_text(out, "big", LEFT, 34, chart->title);
    put_text(out, "faint", LEFT, 56, chart->subtitle);
    for (size_t k = 0; k < chart->panels; k++)
        put_panel(chart, k, &x, out);
    put_text(out, "mid", LEFT + PLOT_WIDTH / 2.0, height - 14, chart->x_label);
    ga_text_puts(out, "</svg>\n");
}
