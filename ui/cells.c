#include "ui/cells.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/error.h"
#include "base/memory.h"
#include "ui/utf8.h"
#include "ui/width.h"

#define BLANK ((struct ga_cell){' ', GA_ROLE_TEXT, 0})

/* More than any screen; keeps rows * columns far from overflow. */
#define MOST_CELLS 10000

static int allocate(struct ga_cell **out, int rows, int columns)
{
    if (rows < 0 || columns < 0 || rows > MOST_CELLS || columns > MOST_CELLS)
        return ga_fail(GA_ERANGE, "a screen of %d x %d cells: expected at most %d each way", rows,
                       columns, MOST_CELLS);
    *out = ga_alloc((size_t)rows * (size_t)columns + 1, sizeof **out);
    return *out ? GA_OK : GA_ENOMEM;
}

int ga_cells_open(struct ga_cells *cells, int rows, int columns, enum ga_glyphs glyphs)
{
    memset(cells, 0, sizeof *cells);
    cells->glyphs = glyphs;
    return ga_cells_resize(cells, rows, columns);
}

void ga_cells_close(struct ga_cells *cells)
{
    free(cells->cell);
    memset(cells, 0, sizeof *cells);
}

int ga_cells_resize(struct ga_cells *cells, int rows, int columns)
{
    struct ga_cell *cell = NULL;

    if (allocate(&cell, rows, columns) < 0)
        return ga_error_code();
    free(cells->cell);
    cells->cell = cell;
    cells->rows = rows;
    cells->columns = columns;
    ga_cells_clear(cells);
    return GA_OK;
}

void ga_cells_clear(struct ga_cells *cells)
{
    size_t count = (size_t)cells->rows * (size_t)cells->columns;

    for (size_t i = 0; cells->cell && i < count; i++)
        cells->cell[i] = BLANK;
    cells->clip = (struct ga_rect){0, 0, cells->rows, cells->columns};
}

struct ga_rect ga_rect_meet(struct ga_rect a, struct ga_rect b)
{
    int64_t bottom = (int64_t)a.row + a.rows < (int64_t)b.row + b.rows ? (int64_t)a.row + a.rows
                                                                       : (int64_t)b.row + b.rows;
    int64_t right = (int64_t)a.column + a.columns < (int64_t)b.column + b.columns
                        ? (int64_t)a.column + a.columns
                        : (int64_t)b.column + b.columns;
    struct ga_rect meet = {a.row > b.row ? a.row : b.row, a.column > b.column ? a.column : b.column,
                           0, 0};

    if (a.rows > 0 && b.rows > 0 && bottom > meet.row)
        meet.rows = (int)(bottom - meet.row);
    if (a.columns > 0 && b.columns > 0 && right > meet.column)
        meet.columns = (int)(right - meet.column);
    return meet;
}

struct ga_rect ga_cells_clip(struct ga_cells *cells, struct ga_rect rect)
{
    struct ga_rect old = cells->clip;

    cells->clip = ga_rect_meet(old, rect);
    return old;
}

struct ga_cell *ga_cells_at(struct ga_cells *cells, int row, int column)
{
    const struct ga_rect *clip = &cells->clip;

    if (row < clip->row || row >= clip->row + clip->rows || column < clip->column ||
        column >= clip->column + clip->columns)
        return NULL;
    return &cells->cell[(size_t)row * (size_t)cells->columns + (size_t)column];
}

/* What stands for a character where only ASCII may be shown. */
static uint32_t as_ascii(uint32_t character)
{
    static const struct {
        uint32_t character;
        char ascii;
    } stands[] = {
        {0x00b1, '+'}, {0x00b2, '2'}, {0x00b7, '.'},  {0x00d7, 'x'}, {0x03b7, 'n'}, {0x03bb, 'l'},
        {0x03c4, 't'}, {0x2013, '-'}, {0x2014, '-'},  {0x2022, '.'}, {0x2026, '~'}, {0x2190, '<'},
        {0x2191, '^'}, {0x2192, '>'}, {0x2193, 'v'},  {0x2500, '-'}, {0x2501, '='}, {0x2502, '|'},
        {0x2503, '|'}, {0x2550, '='}, {0x2580, '\''}, {0x2584, '.'}, {0x2588, '#'}, {0x2591, '.'},
        {0x2592, ':'}, {0x2593, '%'}, {0x25b2, '^'},  {0x25b6, '>'}, {0x25bc, 'v'}, {0x25c0, '<'},
        {0x25cf, 'o'},
    };

    if (character < 0x7f)
        return character;
    for (size_t i = 0; i < sizeof stands / sizeof *stands; i++)
        if (stands[i].character == character)
            return (unsigned char)stands[i].ascii;
    return character > 0x2500 && character < 0x2580 ? '+' : '?';
}

/* A wide character that loses one half becomes blank in the other. */
static void part_wide(struct ga_cells *cells, int row, int column)
{
    struct ga_cell *line = &cells->cell[(size_t)row * (size_t)cells->columns];

    if (line[column].character == 0 && column > 0)
        line[column - 1].character = ' ';
    if (column + 1 < cells->columns && line[column + 1].character == 0)
        line[column + 1].character = ' ';
}

void ga_cells_put(struct ga_cells *cells, int row, int column, uint32_t character, unsigned role,
                  unsigned attributes)
{
    struct ga_cell *cell = ga_cells_at(cells, row, column);
    int width = 0;

    if (character == 0x2800)
        character = ' ';
    if (cells->glyphs == GA_GLYPHS_ASCII && character > 0x7e)
        width = ga_character_columns(character) < 1 ? -1 : 1;
    else
        width = ga_character_columns(character);
    if (!cell || width < 1)
        return;
    if (cells->glyphs == GA_GLYPHS_ASCII)
        character = as_ascii(character);
    if (width == 2 && !ga_cells_at(cells, row, column + 1)) {
        character = ' ';
        width = 1;
    }
    part_wide(cells, row, column);
    if (width == 2)
        part_wide(cells, row, column + 1);
    *cell = (struct ga_cell){character, (uint8_t)role, (uint8_t)attributes};
    if (width == 2)
        cell[1] = (struct ga_cell){0, (uint8_t)role, (uint8_t)attributes};
}

/* The next character of a text; malformed bytes one by one as '?'. Returns its length in bytes. */
static size_t next_character(const char *text, size_t left, uint32_t *character)
{
    size_t length = ga_utf8_read(text, left, character);

    if (length != 0 && length != GA_UTF8_PART)
        return length;
    *character = '?';
    return 1;
}

static int columns_in(enum ga_glyphs glyphs, uint32_t character)
{
    int width = ga_character_columns(character);

    if (width < 1)
        return 0;
    return glyphs == GA_GLYPHS_ASCII ? 1 : width;
}

int ga_cells_text(struct ga_cells *cells, int row, int column, const char *text, unsigned role,
                  unsigned attributes)
{
    size_t left = strlen(text);

    while (left > 0 && column < cells->columns) {
        uint32_t character = 0;
        size_t length = next_character(text, left, &character);
        int width = columns_in(cells->glyphs, character);

        if (width > 0)
            ga_cells_put(cells, row, column, character, role, attributes);
        column += width;
        text += length;
        left -= length;
    }
    return column;
}

int ga_cells_printf(struct ga_cells *cells, int row, int column, unsigned role, unsigned attributes,
                    const char *format, ...)
{
    char text[512];
    va_list args;
    const locale_t old = ga_c_locale_enter();

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ga_c_locale_leave(old);
    return ga_cells_text(cells, row, column, text, role, attributes);
}

int ga_cells_fit(struct ga_cells *cells, int row, int column, int columns, const char *text,
                 unsigned role, unsigned attributes)
{
    struct ga_rect old = cells->clip;
    bool cut = ga_text_columns(text) > columns;

    if (columns <= 0)
        return column;
    ga_cells_clip(cells, (struct ga_rect){row, column, 1, columns - (cut ? 1 : 0)});
    int end = ga_cells_text(cells, row, column, text, role, attributes);
    cells->clip = old;
    if (!cut)
        return end;
    ga_cells_put(cells, row, column + columns - 1, 0x2026, role, attributes);
    return column + columns;
}

void ga_cells_fill(struct ga_cells *cells, struct ga_rect rect, uint32_t character, unsigned role,
                   unsigned attributes)
{
    struct ga_rect inside = ga_rect_meet(rect, cells->clip);

    for (int r = inside.row; r < inside.row + inside.rows; r++)
        for (int c = inside.column; c < inside.column + inside.columns; c++)
            ga_cells_put(cells, r, c, character, role, attributes);
}

/* Corners, edges: top left, top right, bottom left, bottom right, across, down. */
static const uint32_t *frame_characters(enum ga_glyphs glyphs, bool focused)
{
    static const uint32_t forms[4][6] = {
        {0x256d, 0x256e, 0x2570, 0x256f, 0x2500, 0x2502},
        {0x250f, 0x2513, 0x2517, 0x251b, 0x2501, 0x2503},
        {'+', '+', '+', '+', '-', '|'},
        {'#', '#', '#', '#', '=', '#'},
    };

    return forms[(glyphs == GA_GLYPHS_ASCII ? 2 : 0) + (focused ? 1 : 0)];
}

struct ga_rect ga_cells_frame(struct ga_cells *cells, struct ga_rect rect, const char *title,
                              bool focused)
{
    const uint32_t *form = frame_characters(cells->glyphs, focused);
    unsigned role = focused ? GA_ROLE_FOCUS : GA_ROLE_BORDER;
    int bottom = rect.row + rect.rows - 1, right = rect.column + rect.columns - 1;

    if (rect.rows < 2 || rect.columns < 2)
        return (struct ga_rect){rect.row, rect.column, 0, 0};
    for (int c = rect.column + 1; c < right; c++) {
        ga_cells_put(cells, rect.row, c, form[4], role, 0);
        ga_cells_put(cells, bottom, c, form[4], role, 0);
    }
    for (int r = rect.row + 1; r < bottom; r++) {
        ga_cells_put(cells, r, rect.column, form[5], role, 0);
        ga_cells_put(cells, r, right, form[5], role, 0);
    }
    ga_cells_put(cells, rect.row, rect.column, form[0], role, 0);
    ga_cells_put(cells, rect.row, right, form[1], role, 0);
    ga_cells_put(cells, bottom, rect.column, form[2], role, 0);
    ga_cells_put(cells, bottom, right, form[3], role, 0);
    if (title && *title && rect.columns >= 7) {
        int end = ga_cells_fit(cells, rect.row, rect.column + 3, rect.columns - 6, title,
                               focused ? GA_ROLE_FOCUS : GA_ROLE_TITLE, GA_ATTR_BOLD);
        ga_cells_put(cells, rect.row, rect.column + 2, ' ', role, 0);
        ga_cells_put(cells, rect.row, end, ' ', role, 0);
    }
    return (struct ga_rect){rect.row + 1, rect.column + 1, rect.rows - 2, rect.columns - 2};
}

int ga_text_columns(const char *text)
{
    int columns = 0;

    for (size_t left = strlen(text); left > 0;) {
        uint32_t character = 0;
        size_t length = next_character(text, left, &character);
        int width = ga_character_columns(character);

        columns += width > 0 ? width : 0;
        text += length;
        left -= length;
    }
    return columns;
}

static void dump_row(const struct ga_cell *cell, int columns, struct ga_text *out)
{
    while (columns > 0 && cell[columns - 1].character == ' ')
        columns--;
    for (int c = 0; c < columns; c++) {
        char bytes[GA_UTF8_BYTES];

        if (cell[c].character != 0)
            ga_text_append(out, bytes, ga_utf8_write(cell[c].character, bytes));
    }
    ga_text_puts(out, "\n");
}

void ga_cells_dump(const struct ga_cells *cells, struct ga_text *out)
{
    for (int r = 0; r < cells->rows; r++)
        dump_row(&cells->cell[(size_t)r * (size_t)cells->columns], cells->columns, out);
}
