#include "ui/paragraph.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ui/utf8.h"
#include "ui/width.h"

#define LINE   240 /* bytes of a row, and of a line that a role is asked for */
#define SHORT  24  /* bytes of a word that is left as it is */
#define INDENT 2   /* more than the line has, for what goes on in the next row */

struct piece {
    size_t start, length; /* bytes of the line */
    int indent;           /* columns before it */
};

static size_t character_at(const char *text, size_t left, int *columns)
{
    uint32_t character = 0;
    size_t length = ga_utf8_read(text, left, &character);

    if (length == 0 || length == GA_UTF8_PART) {
        *columns = 1;
        return 1;
    }
    *columns = ga_character_columns(character);
    *columns = *columns < 0 ? 0 : *columns;
    return length;
}

/* The next row of a line from byte `start`: up to the last blank that fits. */
static struct piece next_piece(const char *line, size_t length, size_t start, int columns)
{
    size_t indent = strspn(line, " ");
    struct piece piece = {start, 0, 0};
    size_t at = start, last_blank = 0;
    int used = 0;

    if (start > 0) {
        piece.indent = (int)(indent + INDENT < (size_t)columns / 2 ? indent + INDENT : 0);
        used = piece.indent;
    }
    while (at < length) {
        int width = 0;
        size_t bytes = character_at(line + at, length - at, &width);

        if (used + width > columns || at + bytes - start >= LINE)
            break;
        if (line[at] == ' ' && at > start + (start == 0 ? indent : 0))
            last_blank = at;
        used += width;
        at += bytes;
    }
    if (at < length && line[at] != ' ' && last_blank > start)
        at = last_blank;
    if (at == start)
        at += 1;
    piece.length = at - start;
    return piece;
}

static size_t skip_blanks(const char *line, size_t length, size_t at)
{
    while (at < length && line[at] == ' ')
        at++;
    return at;
}

int ga_paragraph_rows(const char *text, int columns)
{
    int rows = 0;

    columns = columns < 1 ? 1 : columns;
    while (*text) {
        size_t length = strcspn(text, "\n"), at = 0;

        do {
            struct piece piece = next_piece(text, length, at, columns);

            at = skip_blanks(text, length, piece.start + piece.length);
            rows++;
        } while (at < length);
        text += length + (text[length] == '\n');
    }
    return rows;
}

/* The longest word; its bytes. */
static size_t longest_word(char *text, char **out)
{
    size_t most = 0;

    for (char *at = text; *at;) {
        size_t length = strcspn(at, " \n");

        if (length > most) {
            most = length;
            *out = at;
        }
        at += length > 0 ? length : 1;
    }
    return most;
}

static bool is_inside_character(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

void ga_paragraph_shorten(char *text, int columns, int rows)
{
    static const char gap[] = "\u2026";
    char *word = text;
    size_t length = 0;

    while (ga_paragraph_rows(text, columns) > rows &&
           (length = longest_word(text, &word)) > SHORT) {
        /* an eighth of it, and the mark of an earlier cut in its middle */
        size_t head = length / 2 - length / 16 - sizeof gap;
        size_t tail = length / 2 + length / 16 + sizeof gap;

        while (head > 0 && is_inside_character(word[head]))
            head--;
        while (tail < length && is_inside_character(word[tail]))
            tail++;
        memcpy(word + head, gap, sizeof gap - 1);
        memmove(word + head + sizeof gap - 1, word + tail, strlen(word + tail) + 1);
    }
}

static void draw_piece(const char *line, const struct piece *piece, unsigned role,
                       unsigned attributes, struct ga_cells *cells, int row, int column)
{
    char bytes[LINE + 1];

    snprintf(bytes, sizeof bytes, "%.*s", (int)piece->length, line + piece->start);
    ga_cells_text(cells, row, column + piece->indent, bytes, role, attributes);
}

static void draw(const char *text, int first, ga_line_role *role, unsigned usual,
                 struct ga_cells *cells, struct ga_rect rect)
{
    int row = -first, columns = rect.columns < 1 ? 1 : rect.columns;

    while (*text && row < rect.rows) {
        size_t length = strcspn(text, "\n"), at = 0;
        unsigned attributes = 0, look = usual;
        char line[LINE + 1];

        snprintf(line, sizeof line, "%.*s", (int)(length < LINE ? length : LINE), text);
        if (role)
            look = role(line, &attributes);
        do {
            struct piece piece = next_piece(text, length, at, columns);

            if (row >= 0 && row < rect.rows && length > 0)
                draw_piece(text, &piece, look, attributes, cells, rect.row + row, rect.column);
            at = skip_blanks(text, length, piece.start + piece.length);
            row++;
        } while (at < length);
        text += length + (text[length] == '\n');
    }
}

void ga_paragraph_draw(const char *text, int first, ga_line_role *role, struct ga_cells *cells,
                       struct ga_rect rect)
{
    draw(text, first, role, GA_ROLE_TEXT, cells, rect);
}

void ga_paragraph_draw_in(const char *text, int first, unsigned role, struct ga_cells *cells,
                          struct ga_rect rect)
{
    draw(text, first, NULL, role, cells, rect);
}
