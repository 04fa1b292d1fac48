#include "ui/plot.h"

#include <math.h>
#include <string.h>

#define LABEL_COLUMNS 6 /* of the y axis */
#define BRAILLE       0x2800u

int ga_dots_across(enum ga_glyphs glyphs)
{
    return glyphs == GA_GLYPHS_BRAILLE ? 2 : 1;
}

int ga_dots_down(enum ga_glyphs glyphs)
{
    return glyphs == GA_GLYPHS_BRAILLE ? 4 : 2;
}

/* Small plots do without labels: the curve matters more. */
static int label_columns(struct ga_rect rect)
{
    return rect.columns >= 20 ? LABEL_COLUMNS + 1 : 0;
}

static int label_rows(struct ga_rect rect)
{
    return rect.rows >= 4 ? 1 : 0;
}

struct ga_rect ga_plot_area(const struct ga_plot *plot, enum ga_glyphs glyphs, struct ga_rect rect)
{
    int left = label_columns(rect), top = plot->strange && rect.rows >= 3 ? 1 : 0;
    struct ga_rect area = {rect.row + top, rect.column + left, rect.rows - top - label_rows(rect),
                           rect.columns - left};
    int most = GA_PLOT_DOTS / ga_dots_across(glyphs);

    area.columns = area.columns > most ? most : area.columns;
    return area;
}

/* Dot counted from the low end, clamped to one beyond either end; -1 for what has no place. */
static int dot_at(const struct ga_axis *axis, double value, int dots)
{
    double place = ga_axis_place(axis, value);

    if (!(place > -0.5))
        return -1;
    return place > 1.5 ? dots : (int)lround(place * (dots - 1));
}

static void y_labels(const struct ga_plot *plot, struct ga_cells *cells, struct ga_rect area)
{
    struct ga_axis_label label[GA_AXIS_LABELS];
    int most = area.rows >= 12 ? area.rows / 3 : (area.rows + 1) / 2;
    int count = ga_axis_labels(&plot->y, most > 7 ? 7 : most, LABEL_COLUMNS, label);
    bool ascii = cells->glyphs == GA_GLYPHS_ASCII;

    for (int r = area.row; r < area.row + area.rows; r++)
        ga_cells_put(cells, r, area.column - 1, 0x2502, GA_ROLE_BORDER, 0);
    for (int i = 0; i < count; i++) {
        int down = ga_dots_down(cells->glyphs);
        int dots = area.rows * down;
        int dot = dot_at(&plot->y, label[i].value, dots);
        int row = area.row + area.rows - 1 - dot / down;

        if (dot < 0 || dot >= dots)
            continue;
        for (int c = area.column; !ascii && c < area.column + area.columns; c++)
            ga_cells_put(cells, row, c, 0x2508, GA_ROLE_BORDER, GA_ATTR_DIM);
        ga_cells_text(cells, row, area.column - 1 - ga_text_columns(label[i].text), label[i].text,
                      GA_ROLE_DIM, 0);
        ga_cells_put(cells, row, area.column - 1, 0x2524, GA_ROLE_BORDER, 0);
    }
}

/* The unit stands behind the last label that leaves room for it. */
static void x_labels(const struct ga_plot *plot, struct ga_cells *cells, struct ga_rect area)
{
    struct ga_axis_label label[GA_AXIS_LABELS];
    int most = area.columns / 10, row = area.row + area.rows, free_from = area.column - 2;
    int right = area.column + area.columns;
    int unit = (int)strlen(plot->x_unit) + (*plot->x_unit != 0);
    int count = ga_axis_labels(&plot->x, most < 2 ? 2 : most, 9, label);

    if (unit > 0 && area.columns > 3 * unit)
        right = ga_cells_text(cells, row, right - unit + 1, plot->x_unit, GA_ROLE_DIM, 0) - unit;
    for (int i = 0; i < count; i++) {
        int width = ga_text_columns(label[i].text);
        int across = ga_dots_across(cells->glyphs);
        int dot = dot_at(&plot->x, label[i].value, area.columns * across);
        int column = area.column + dot / across - width / 2;

        column = column < area.column ? area.column : column;
        if (dot < 0 || column < free_from || column + width > right)
            continue;
        free_from = ga_cells_text(cells, row, column, label[i].text, GA_ROLE_DIM, 0) + 1;
    }
}

void ga_plot_axes(const struct ga_plot *plot, struct ga_cells *cells, struct ga_rect rect)
{
    struct ga_rect area = ga_plot_area(plot, cells->glyphs, rect);

    if (area.rows < 1 || area.columns < 1)
        return;
    if (label_columns(rect))
        y_labels(plot, cells, area);
    if (label_rows(rect))
        x_labels(plot, cells, area);
    if (area.row > rect.row && label_columns(rect))
        ga_cells_text(cells, rect.row, area.column - 5, "NaN", GA_ROLE_BAD, GA_ATTR_BOLD);
}

static const uint8_t braille_bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

/* Dots that a cell of a two-dot glyph set has: bit 0 top, bit 1 bottom. */
static unsigned halves_of(uint32_t character, enum ga_glyphs glyphs)
{
    static const uint32_t forms[2][4] = {{' ', 0x2580, 0x2584, 0x2588}, {' ', '\'', '.', ':'}};
    const uint32_t *form = forms[glyphs == GA_GLYPHS_ASCII];

    for (unsigned bits = 1; bits < 4; bits++)
        if (form[bits] == character)
            return bits;
    return 0;
}

static uint32_t halves(unsigned bits, enum ga_glyphs glyphs)
{
    static const uint32_t forms[2][4] = {{' ', 0x2580, 0x2584, 0x2588}, {' ', '\'', '.', ':'}};

    return forms[glyphs == GA_GLYPHS_ASCII][bits & 3];
}

void ga_plot_dot(struct ga_cells *cells, struct ga_rect area, int row, int column, unsigned role,
                 unsigned attributes)
{
    int down = ga_dots_down(cells->glyphs), across = ga_dots_across(cells->glyphs);
    struct ga_cell *cell = NULL;
    uint32_t character = 0;

    if (row < 0 || column < 0 || row >= area.rows * down || column >= area.columns * across)
        return;
    cell = ga_cells_at(cells, area.row + row / down, area.column + column / across);
    if (!cell)
        return;
    if (cells->glyphs == GA_GLYPHS_BRAILLE) {
        bool dots = cell->character > BRAILLE && cell->character < BRAILLE + 256;

        character = (dots ? cell->character : BRAILLE) | braille_bits[row % 4][column % 2];
    } else {
        character =
            halves(halves_of(cell->character, cells->glyphs) | 1u << row % 2, cells->glyphs);
    }
    ga_cells_put(cells, area.row + row / down, area.column + column / across, character, role,
                 attributes);
}

/* A line under way: the dots drawn in its last column, counted from the bottom. */
struct pen {
    struct ga_cells *cells;
    struct ga_rect area;
    unsigned role, attributes;
    int dots; /* of the area, down */
    int column, low, high;
    bool down; /* it has drawn a column */
};

static void stroke(const struct pen *pen, int column, int low, int high)
{
    low = low < 0 ? 0 : low;
    for (int dot = low; dot <= high && dot < pen->dots; dot++)
        ga_plot_dot(pen->cells, pen->area, pen->dots - 1 - dot, column, pen->role, pen->attributes);
}

/* Draws a column, and what is missing between it and the last one, half in each. */
static void join(struct pen *pen, int column, int low, int high)
{
    if (pen->down && low > pen->high + 1) {
        int middle = (low + pen->high) / 2;

        stroke(pen, pen->column, pen->high + 1, middle);
        stroke(pen, column, middle + 1, low - 1);
    } else if (pen->down && high < pen->low - 1) {
        int middle = (high + pen->low) / 2;

        stroke(pen, pen->column, middle + 1, pen->low - 1);
        stroke(pen, column, high + 1, middle);
    }
    stroke(pen, column, low, high);
    pen->column = column;
    pen->low = low;
    pen->high = high;
    pen->down = true;
}

/* Straight from the last column to this one, over the columns without a value between them. */
static void bridge(struct pen *pen, int column, int from, int to)
{
    int start = pen->column;

    for (int c = start + 1; c < column; c++) {
        int dot = from + (int)lround((double)(to - from) * (c - start) / (column - start));

        join(pen, c, dot, dot);
    }
}

void ga_plot_line(const struct ga_plot *plot, struct ga_cells *cells, struct ga_rect area,
                  const struct ga_extent *extent, unsigned role, unsigned attributes, uint32_t mark)
{
    struct pen pen = {.cells = cells, .area = area, .role = role, .attributes = attributes};
    int columns = area.columns * ga_dots_across(cells->glyphs), last = -1;

    pen.dots = area.rows * ga_dots_down(cells->glyphs);
    for (int c = 0; c < columns; c++) {
        if (extent[c].low > extent[c].high) {
            pen.down = pen.down && extent[c].nonfinite == 0;
            continue;
        }
        if (pen.down)
            bridge(&pen, c, last, dot_at(&plot->y, extent[c].first, pen.dots));
        join(&pen, c, dot_at(&plot->y, extent[c].low, pen.dots),
             dot_at(&plot->y, extent[c].high, pen.dots));
        last = dot_at(&plot->y, extent[c].last, pen.dots);
    }
    if (mark != 0 && last >= 0 && last < pen.dots)
        ga_cells_put(cells, area.row + area.rows - 1 - last / ga_dots_down(cells->glyphs),
                     area.column + pen.column / ga_dots_across(cells->glyphs), mark, role,
                     attributes);
}

void ga_plot_strange(struct ga_cells *cells, struct ga_rect area, const struct ga_extent *extent)
{
    int across = ga_dots_across(cells->glyphs);

    for (int c = 0; c < area.columns * across; c++)
        if (extent[c].nonfinite > 0)
            ga_cells_put(cells, area.row - 1, area.column + c / across, 0x00d7, GA_ROLE_BAD,
                         GA_ATTR_BOLD);
}

void ga_plot_mark(const struct ga_plot *plot, struct ga_cells *cells, struct ga_rect area, double x,
                  double y, uint32_t mark, unsigned role)
{
    int across = ga_dots_across(cells->glyphs), down = ga_dots_down(cells->glyphs);
    int column = dot_at(&plot->x, x, area.columns * across);
    int dot = dot_at(&plot->y, y, area.rows * down);

    if (column < 0 || column >= area.columns * across || dot < 0 || dot >= area.rows * down)
        return;
    ga_cells_put(cells, area.row + area.rows - 1 - dot / down, area.column + column / across, mark,
                 role, 0);
}

void ga_plot_cursor(struct ga_cells *cells, struct ga_rect area, int dot_column)
{
    int column = area.column + dot_column / ga_dots_across(cells->glyphs);

    if (dot_column < 0 || column >= area.column + area.columns)
        return;
    for (int r = area.row; r < area.row + area.rows; r++) {
        const struct ga_cell *cell = ga_cells_at(cells, r, column);

        if (cell && (cell->character == ' ' || cell->character == 0x2508))
            ga_cells_put(cells, r, column, 0x2502, GA_ROLE_FOCUS, 0);
    }
}

void ga_ema_init(struct ga_ema *ema, double weight)
{
    *ema = (struct ga_ema){weight, 0, 1};
}

/* m/(1 - w^n) as a step from the old average, so that equal values leave it untouched. */
double ga_ema_next(struct ga_ema *ema, double value)
{
    if (isfinite(value)) {
        ema->power *= ema->weight;
        ema->mean += (value - ema->mean) * ((1 - ema->weight) / (1 - ema->power));
    }
    return ema->power < 1 ? ema->mean : (double)NAN;
}
