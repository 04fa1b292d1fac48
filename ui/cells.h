/*
 * The grid that panels draw into: cells of one character, a colour role and attributes. It knows no
 * terminal: term.c shows it through curses, tests and `save-display` dump it as text or SVG.
 *
 * Coordinates are (row, column) from 0 at the top left. Drawing outside the clip rectangle does
 * nothing, so a panel can never damage its neighbour. Text is UTF-8; wide characters take two
 * cells, combining ones and control characters are dropped. Under the ASCII glyph set nothing above
 * 127 is ever stored. One thread, the ui's.
 */
#ifndef GA_UI_CELLS_H
#define GA_UI_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* What a colour is for; the theme says what it looks like. */
enum ga_role {
    GA_ROLE_TEXT,
    GA_ROLE_DIM, /* axes, hints, raw lines under a smoothed one */
    GA_ROLE_TITLE,
    GA_ROLE_BORDER,
    GA_ROLE_FOCUS,   /* border and title of the focused panel */
    GA_ROLE_GOOD,    /* running, finite, within the law */
    GA_ROLE_WARN,    /* pending, late, stale */
    GA_ROLE_BAD,     /* stopped, NaN, dropped */
    GA_ROLE_WINDOW,  /* the window's own line */
    GA_ROLE_LAW,     /* what theory says */
    GA_ROLE_KEY,     /* a key in the hint line */
    GA_ROLE_REPLICA, /* GA_ROLE_REPLICA + r % GA_REPLICA_ROLES */
    GA_ROLE_COUNT = GA_ROLE_REPLICA + 8
};
#define GA_REPLICA_ROLES 8

enum { GA_ATTR_BOLD = 1, GA_ATTR_DIM = 2, GA_ATTR_REVERSE = 4, GA_ATTR_UNDERLINE = 8 };

struct ga_cell {
    uint32_t character; /* a Unicode scalar value; 0: the right half of a wide one */
    uint8_t role;
    uint8_t attributes;
};

struct ga_rect {
    int row, column, rows, columns; /* empty when rows or columns <= 0 */
};

enum ga_glyphs { GA_GLYPHS_BRAILLE, GA_GLYPHS_BLOCK, GA_GLYPHS_ASCII };

struct ga_cells {
    int rows, columns;
    enum ga_glyphs glyphs;
    struct ga_rect clip;  /* drawing is limited to it */
    struct ga_cell *cell; /* (rows, columns) */
};

int ga_cells_open(struct ga_cells *cells, int rows, int columns, enum ga_glyphs glyphs);
void ga_cells_close(struct ga_cells *cells);
int ga_cells_resize(struct ga_cells *cells, int rows, int columns); /* clears */
void ga_cells_clear(struct ga_cells *cells);                        /* blanks, clip = everything */

/* Limits drawing to the part of `rect` that lies inside the present clip; returns the old clip. */
struct ga_rect ga_cells_clip(struct ga_cells *cells, struct ga_rect rect);

void ga_cells_put(struct ga_cells *cells, int row, int column, uint32_t character, unsigned role,
                  unsigned attributes);
/* Returns the column after the text, also where it was clipped. */
int ga_cells_text(struct ga_cells *cells, int row, int column, const char *text, unsigned role,
                  unsigned attributes);
int ga_cells_printf(struct ga_cells *cells, int row, int column, unsigned role, unsigned attributes,
                    const char *format, ...) __attribute__((format(printf, 6, 7)));
/* The same in at most `columns` columns, the last one an ellipsis where the text is cut. */
int ga_cells_fit(struct ga_cells *cells, int row, int column, int columns, const char *text,
                 unsigned role, unsigned attributes);
void ga_cells_fill(struct ga_cells *cells, struct ga_rect rect, uint32_t character, unsigned role,
                   unsigned attributes);
/* A frame with a title in its upper edge; returns the rectangle inside. */
struct ga_rect ga_cells_frame(struct ga_cells *cells, struct ga_rect rect, const char *title,
                              bool focused);

/* The cell if it lies in the clip, else NULL. For drawing that adds to what is there. */
struct ga_cell *ga_cells_at(struct ga_cells *cells, int row, int column);

/* What two rectangles share; empty where they do not meet. */
struct ga_rect ga_rect_meet(struct ga_rect a, struct ga_rect b);

/* Columns that a UTF-8 text takes. */
int ga_text_columns(const char *text);

/* Rows of text, trailing blanks cut, one newline a row. */
void ga_cells_dump(const struct ga_cells *cells, struct ga_text *out);

#endif
