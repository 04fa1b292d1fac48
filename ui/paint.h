/*
 * From one grid of cells to another in few bytes, for terminals that understand ECMA-48: the cursor
 * goes to absolute places, styles change by what differs, neighbours that did not change are
 * written again where that is shorter than a move. curses needs twice as much on
 * xterm-256color, whose entry chooses a character set with each change of style.
 *
 * Pure: bytes go to a text. The terminal's own state is kept between frames. One thread.
 */
#ifndef GA_UI_PAINT_H
#define GA_UI_PAINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "ui/cells.h"
#include "ui/theme.h"

/* A style as the terminal has it; colours are numbers of its palette, -1 the usual one. */
struct ga_look {
    unsigned attributes; /* GA_ATTR_... */
    int foreground, background;
};

struct ga_paint {
    bool utf8;  /* else what is beyond ASCII becomes '?' */
    int colors; /* 0, 8, 16 or 256 */
    struct ga_look role[GA_ROLE_COUNT];
    /* The terminal: where its cursor is (-1: unknown) and what it writes in. */
    int row, column;
    struct ga_look look;
};

void ga_paint_init(struct ga_paint *paint, bool utf8, int colors);
void ga_paint_theme(struct ga_paint *paint, enum ga_theme theme);

/* The terminal was cleared and its style reset by someone else. */
void ga_paint_forget(struct ga_paint *paint);

struct ga_look ga_paint_look(const struct ga_paint *paint, const struct ga_cell *cell);

/*
 * A row as it is shown: bars with numbers in them become one stretch of one style, blanks have no
 * style that could not be seen.
 */
void ga_paint_prepare(const struct ga_paint *paint, struct ga_cell *cell, int columns);

/* Appends what turns prepared rows `from` into prepared rows `to`, both (rows, columns). */
void ga_paint_frame(struct ga_paint *paint, const struct ga_cell *from, const struct ga_cell *to,
                    int rows, int columns, struct ga_text *out);

/* Appends a move of the cursor. */
void ga_paint_move(struct ga_paint *paint, int row, int column, struct ga_text *out);

#endif
