#include "ui/paint.h"

#include <stdio.h>

#include "ui/utf8.h"
#include "ui/width.h"

#define GAP    4  /* bytes of a short move: unchanged cells are written again up to it */
#define CODES  12 /* numbers in one change of style */
#define UNSEEN (GA_ATTR_BOLD | GA_ATTR_DIM) /* on a blank */

static const struct ga_look plain = {0, GA_COLOR_DEFAULT, GA_COLOR_DEFAULT};

void ga_paint_init(struct ga_paint *paint, bool utf8, int colors)
{
    *paint = (struct ga_paint){.utf8 = utf8, .colors = colors};
    ga_paint_theme(paint, GA_THEME_MONO);
    ga_paint_forget(paint);
}

static int color_number(const struct ga_paint *paint, const struct ga_color *color)
{
    if (paint->colors == 0)
        return GA_COLOR_DEFAULT;
    if (paint->colors >= 256)
        return color->index256;
    if (color->index16 < 0)
        return GA_COLOR_DEFAULT;
    return paint->colors >= 16 ? color->index16 : color->index16 & 7;
}

void ga_paint_theme(struct ga_paint *paint, enum ga_theme theme)
{
    for (unsigned role = 0; role < GA_ROLE_COUNT; role++) {
        const struct ga_style *style = ga_theme_style(theme, role);
        paint->role[role] =
            (struct ga_look){style->attributes, color_number(paint, &style->foreground),
                             color_number(paint, &style->background)};
    }
}

void ga_paint_forget(struct ga_paint *paint)
{
    paint->row = paint->column = -1;
    paint->look = plain;
}

struct ga_look ga_paint_look(const struct ga_paint *paint, const struct ga_cell *cell)
{
    struct ga_look look = paint->role[cell->role < GA_ROLE_COUNT ? cell->role : GA_ROLE_TEXT];
    look.attributes |= cell->attributes;
    return look;
}

/* Blocks in front of a background look like their counterparts behind a foreground. */
static uint32_t reversed_block(uint32_t character)
{
    static const uint32_t pairs[][2] = {{0x2588, ' '}, {0x2593, 0x2591}, {0x2591, 0x2593}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (pairs[i][0] == character)
            return pairs[i][1];
    return 0;
}

static bool same_style(const struct ga_cell *a, const struct ga_cell *b)
{
    return a->role == b->role && ((a->attributes ^ b->attributes) & ~GA_ATTR_REVERSE) == 0;
}

/* The end of a stretch of blocks and reversed text in one style, from `start`. */
static int bar_end(const struct ga_cell *cell, int start, int columns, bool *reversed)
{
    int end = start;
    *reversed = false;
    for (; end < columns && same_style(&cell[start], &cell[end]); end++) {
        const bool reverse = cell[end].attributes & GA_ATTR_REVERSE;
        if (!reverse && !reversed_block(cell[end].character))
            break;
        *reversed = *reversed || reverse;
    }
    return end;
}

static void join_bars(struct ga_cell *cell, int columns)
{
    for (int start = 0, end = 0; start<columns; start = end> start ? end : start + 1) {
        bool reversed = false;
        end = bar_end(cell, start, columns, &reversed);
        for (int i = start; reversed && i < end; i++) {
            if (!(cell[i].attributes & GA_ATTR_REVERSE))
                cell[i].character = reversed_block(cell[i].character);
            cell[i].attributes |= GA_ATTR_REVERSE;
        }
    }
}

void ga_paint_prepare(const struct ga_paint *paint, struct ga_cell *cell, int columns)
{
    join_bars(cell, columns);
    for (int i = 0; i < columns; i++) {
        const struct ga_look look = ga_paint_look(paint, &cell[i]);
        const bool unseen =
            (look.attributes & ~(unsigned)UNSEEN) == 0 && look.background == GA_COLOR_DEFAULT;
        if (cell[i].character == ' ' && unseen)
            cell[i] = (struct ga_cell){' ', GA_ROLE_TEXT, 0};
    }
}

static bool same_look(const struct ga_look *a, const struct ga_look *b)
{
    return a->attributes == b->attributes && a->foreground == b->foreground &&
           a->background == b->background;
}

/* A list of numbers such as 1;38;5;74. */
struct codes {
    int number[CODES];
    int count;
};

static void add_color(struct codes *codes, int color, int base)
{
    if (color < 0) {
        codes->number[codes->count++] = base + 9;
    } else if (color < 8) {
        codes->number[codes->count++] = base + color;
    } else if (color < 16) {
        codes->number[codes->count++] = base + 60 + color - 8;
    } else {
        codes->number[codes->count++] = base + 8;
        codes->number[codes->count++] = 5;
        codes->number[codes->count++] = color;
    }
}

static void add_attributes(struct codes *codes, unsigned attributes)
{
    static const struct {
        unsigned attribute;
        int number;
    } on[] = {{GA_ATTR_BOLD, 1}, {GA_ATTR_DIM, 2}, {GA_ATTR_UNDERLINE, 4}, {GA_ATTR_REVERSE, 7}};
    for (size_t i = 0; i < sizeof(on) / sizeof(on[0]); i++)
        if (attributes & on[i].attribute)
            codes->number[codes->count++] = on[i].number;
}

static void add_colors(struct codes *codes, const struct ga_look *from, const struct ga_look *to)
{
    if (from->foreground != to->foreground)
        add_color(codes, to->foreground, 30);
    if (from->background != to->background)
        add_color(codes, to->background, 40);
}

/* What differs, switched off and on. Bold and dim go off together. */
static void find_change(struct codes *codes, const struct ga_look *from, const struct ga_look *to)
{
    const unsigned off = from->attributes & ~to->attributes;
    unsigned on = to->attributes & ~from->attributes;
    if (off & UNSEEN) {
        codes->number[codes->count++] = 22;
        on |= to->attributes & UNSEEN;
    }
    if (off & GA_ATTR_UNDERLINE)
        codes->number[codes->count++] = 24;
    if (off & GA_ATTR_REVERSE)
        codes->number[codes->count++] = 27;
    add_attributes(codes, on);
    add_colors(codes, from, to);
}

/* Everything off, then what there is. */
static void find_anew(struct codes *codes, const struct ga_look *to)
{
    codes->number[codes->count++] = 0;
    add_attributes(codes, to->attributes);
    add_colors(codes, &plain, to);
}

static size_t write_codes(const struct codes *codes, char *out, size_t size)
{
    size_t length = (size_t)snprintf(out, size, "\x1b[");
    if (codes->count == 1 && codes->number[0] == 0)
        return length + (size_t)snprintf(out + length, size - length, "m");
    for (int i = 0; i < codes->count; i++)
        length += (size_t)snprintf(out + length, size - length, "%d%c", codes->number[i],
                                   i + 1 < codes->count ? ';' : 'm');
    return length;
}

static void change_look(struct ga_paint *paint, const struct ga_look *to, struct ga_text *out)
{
    char change_text[96];
    char anew_text[96];
    struct codes change = {.count = 0};
    struct codes anew = {.count = 0};
    if (same_look(&paint->look, to))
        return;
    find_change(&change, &paint->look, to);
    find_anew(&anew, to);
    const size_t change_length = write_codes(&change, change_text, sizeof(change_text));
    const size_t anew_length = write_codes(&anew, anew_text, sizeof(anew_text));
    if (change_length <= anew_length)
        ga_text_append(out, change_text, change_length);
    else
        ga_text_append(out, anew_text, anew_length);
    paint->look = *to;
}

void ga_paint_move(struct ga_paint *paint, int row, int column, struct ga_text *out)
{
    if (paint->row == row && paint->column == column)
        return;
    if (paint->row == row && paint->column >= 0 && column == paint->column + 1)
        ga_text_puts(out, "\x1b[C");
    else if (paint->row == row && paint->column >= 0 && column > paint->column)
        ga_text_printf(out, "\x1b[%dC", column - paint->column);
    else if (column == 0)
        ga_text_printf(out, "\x1b[%dH", row + 1);
    else
        ga_text_printf(out, "\x1b[%d;%dH", row + 1, column + 1);
    paint->row = row;
    paint->column = column;
}

static void put_cell(struct ga_paint *paint, const struct ga_cell *cell, int columns,
                     struct ga_text *out)
{
    char bytes[GA_UTF8_BYTES];
    const bool fits = cell->character >= ' ' && (paint->utf8 || cell->character < 0x7f);
    const uint32_t character = fits ? cell->character : '?';
    struct ga_look look = ga_paint_look(paint, cell);
    /* A blank may keep what cannot be seen on it. */
    if (character == ' ' && same_look(&look, &plain) &&
        (paint->look.attributes & ~(unsigned)UNSEEN) == 0 &&
        paint->look.background == GA_COLOR_DEFAULT)
        look = paint->look;
    change_look(paint, &look, out);
    ga_text_append(out, bytes, ga_utf8_write(character, bytes));
    const int width = ga_character_columns(character);
    paint->column += width > 0 ? width : 1;
    if (paint->column >= columns) /* what the cursor does at the edge differs */
        paint->row = paint->column = -1;
}

static bool same_cell(const struct ga_cell *a, const struct ga_cell *b)
{
    return a->character == b->character && a->role == b->role && a->attributes == b->attributes;
}

/* Whether the cells between the cursor and `column`, which did not change, take fewer bytes than a
 * move over them: they must be written in the style that is on. */
static bool bridges(const struct ga_paint *paint, const struct ga_cell *to, int column)
{
    char bytes[GA_UTF8_BYTES];
    size_t length = 0;
    if (paint->column < 0 || column - paint->column > GAP)
        return false;
    for (int i = paint->column; i < column; i++) {
        const struct ga_look look = ga_paint_look(paint, &to[i]);
        const bool blank = to[i].character == ' ' && same_look(&look, &plain) &&
                           (paint->look.attributes & ~(unsigned)UNSEEN) == 0;
        if (to[i].character < ' ' || (!blank && !same_look(&look, &paint->look)))
            return false;
        length += ga_utf8_write(to[i].character, bytes);
    }
    return length <= GAP;
}

static void go_to(struct ga_paint *paint, const struct ga_cell *to, int row, int column,
                  int columns, struct ga_text *out)
{
    if (paint->row == row && paint->column < column && bridges(paint, to, column))
        while (paint->column < column)
            put_cell(paint, &to[paint->column], columns, out);
    ga_paint_move(paint, row, column, out);
}

/* A wide character is written again when its right half changed: that half was something else. */
static void paint_row(struct ga_paint *paint, const struct ga_cell *from, const struct ga_cell *to,
                      int row, int columns, struct ga_text *out)
{
    for (int column = 0; column < columns; column++) {
        const bool wide = column + 1 < columns && to[column + 1].character == 0;
        const bool same = same_cell(&from[column], &to[column]) &&
                          (!wide || same_cell(&from[column + 1], &to[column + 1]));
        if (same || to[column].character == 0)
            continue;
        go_to(paint, to, row, column, columns, out);
        put_cell(paint, &to[column], columns, out);
    }
}

void ga_paint_frame(struct ga_paint *paint, const struct ga_cell *from, const struct ga_cell *to,
                    int rows, int columns, struct ga_text *out)
{
    for (int row = 0; row < rows; row++) {
        const size_t at = (size_t)row * (size_t)columns;
        paint_row(paint, from + at, to + at, row, columns, out);
    }
}
