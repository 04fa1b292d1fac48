/* Numbers that the back row can read: digits of 3x5 dots in half blocks, three rows high. */
#ifndef GA_UI_BIG_H
#define GA_UI_BIG_H

#include "ui/cells.h"

/* Columns that a text of digits takes. Other characters than 0..9 are blanks. */
int ga_big_columns(const char *text);

/* Three rows from (row, column) on; in ASCII the digits are drawn with '#'. */
void ga_big_draw(struct ga_cells *cells, int row, int column, const char *text, unsigned role);

#endif
