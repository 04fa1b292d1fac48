/*
 * Lines of text broken at blanks to the width of a panel, with the indent of the line they go on.
 * Pure.
 */
#ifndef GA_UI_PARAGRAPH_H
#define GA_UI_PARAGRAPH_H

#include "ui/cells.h"

/* Rows that the text takes in `columns`. */
int ga_paragraph_rows(const char *text, int columns);

/*
 * Takes the middles out of the longest words, names of files as a rule, until the text fits `rows`
 * or no word is long: what stands behind a name is then seen.
 */
void ga_paragraph_shorten(char *text, int columns, int rows);

/* The role and attributes of a whole line of the text (NUL-terminated, as much as fits 240 bytes).
 */
typedef unsigned ga_line_role(const char *line, unsigned *attributes);

/* From row `first` on, as many as `rect` has. `role` may be NULL: plain text. A text in one role
 * may as well be drawn by ga_paragraph_draw_in(). */
void ga_paragraph_draw(const char *text, int first, ga_line_role *role, struct ga_cells *cells,
                       struct ga_rect rect);
void ga_paragraph_draw_in(const char *text, int first, unsigned role, struct ga_cells *cells,
                          struct ga_rect rect);

#endif
