#include "ui/dump.h"

#include <string.h>

#include "ui/utf8.h"

/*
 * A cell in a picture, pixels, and the font size at which DejaVu Sans Mono and Menlo fill it. What
 * is not ASCII may come from another font, so each of its characters has its own place.
 */
#define WIDTH     10
#define HEIGHT    19
#define BASELINE  15
#define FONT_SIZE "16.61"

struct look {
    uint32_t ink, paper;
    unsigned attributes;
};

static uint32_t resolved(const struct ga_color *color, uint32_t own)
{
    return color->rgb == GA_COLOR_DEFAULT ? own : (uint32_t)color->rgb;
}

static struct look look_of(const struct ga_cell *cell, enum ga_theme theme)
{
    const struct ga_style *style = ga_theme_style(theme, cell->role);
    struct look look = {resolved(&style->foreground, ga_theme_ink(theme)),
                        resolved(&style->background, ga_theme_paper(theme)),
                        cell->attributes | style->attributes};

    if (look.attributes & GA_ATTR_REVERSE) {
        uint32_t ink = look.ink;

        look.ink = look.paper;
        look.paper = ink;
    }
    return look;
}

static bool same(const struct look *a, const struct look *b)
{
    return a->ink == b->ink && a->paper == b->paper && a->attributes == b->attributes;
}

static void write_character(uint32_t character, struct ga_text *out)
{
    char bytes[GA_UTF8_BYTES];

    if (character == '<')
        ga_text_puts(out, "&lt;");
    else if (character == '>')
        ga_text_puts(out, "&gt;");
    else if (character == '&')
        ga_text_puts(out, "&amp;");
    else
        ga_text_append(out, bytes, ga_utf8_write(character, bytes));
}

/* From the first character that is not ASCII on, each has its own place. */
static void write_characters(const struct ga_cell *cell, int column, int count, struct ga_text *out)
{
    bool placed = false;

    for (int i = 0; i < count; i++) {
        placed = placed || cell[i].character > 0x7e;
        if (cell[i].character == 0 || (placed && cell[i].character == ' '))
            continue;
        if (placed)
            ga_text_printf(out, "<tspan x=\"%d\">", (column + i) * WIDTH);
        write_character(cell[i].character, out);
        if (placed)
            ga_text_puts(out, "</tspan>");
    }
}

static bool is_blank(const struct ga_cell *cell, int count)
{
    for (int i = 0; i < count; i++)
        if (cell[i].character != ' ')
            return false;
    return true;
}

/* Cells of equal style in one row. */
static void write_stretch(const struct ga_cell *cell, int row, int column, int count,
                          const struct look *look, uint32_t paper, struct ga_text *out)
{
    if (look->paper != paper)
        ga_text_printf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#%06x\"/>\n",
                       column * WIDTH, row * HEIGHT, count * WIDTH, HEIGHT, look->paper);
    if (is_blank(cell, count) && !(look->attributes & GA_ATTR_UNDERLINE))
        return;
    ga_text_printf(out, "<text x=\"%d\" y=\"%d\" fill=\"#%06x\"", column * WIDTH,
                   row * HEIGHT + BASELINE, look->ink);
    if (look->attributes & GA_ATTR_BOLD)
        ga_text_puts(out, " font-weight=\"bold\"");
    if (look->attributes & GA_ATTR_DIM)
        ga_text_puts(out, " opacity=\"0.75\"");
    if (look->attributes & GA_ATTR_UNDERLINE)
        ga_text_puts(out, " text-decoration=\"underline\"");
    ga_text_puts(out, ">");
    write_characters(cell, column, count, out);
    ga_text_puts(out, "</text>\n");
}

static void write_row(const struct ga_cells *cells, int row, enum ga_theme theme,
                      struct ga_text *out)
{
    const struct ga_cell *line = &cells->cell[(size_t)row * (size_t)cells->columns];

    for (int c = 0; c < cells->columns;) {
        struct look look = look_of(&line[c], theme);
        int end = c + 1;

        while (end < cells->columns) {
            struct look next = look_of(&line[end], theme);

            if (!same(&look, &next))
                break;
            end++;
        }
        write_stretch(line + c, row, c, end - c, &look, ga_theme_paper(theme), out);
        c = end;
    }
}

void ga_cells_svg(const struct ga_cells *cells, enum ga_theme theme, struct ga_text *out)
{
    int width = cells->columns * WIDTH, height = cells->rows * HEIGHT;

    ga_text_printf(out,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" viewBox=\"0 0 "
                   "%d %d\" width=\"%d\" "
                   "height=\"%d\">\n"
                   "<style>text{font:" FONT_SIZE "px \"DejaVu Sans Mono\",Menlo,Consolas,monospace;"
                   "white-space:pre}</style>\n"
                   "<rect width=\"100%%\" height=\"100%%\" fill=\"#%06x\"/>\n",
                   width, height, width, height, ga_theme_paper(theme));
    for (int r = 0; r < cells->rows; r++)
        write_row(cells, r, theme, out);
    ga_text_puts(out, "</svg>\n");
}
