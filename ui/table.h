/*
 * Tables: columns of fixed width with a heading, the least important ones left out where there is
 * no room, one of them taking what is left. Pure.
 */
#ifndef GA_UI_TABLE_H
#define GA_UI_TABLE_H

#include <stdbool.h>

#include "ui/cells.h"

struct ga_table_column {
    const char *heading;
    int width;  /* columns; of the growing one the least */
    bool left;  /* aligned left, else right */
    bool grows; /* takes what is left, up to `most` */
    int most;
    int weight; /* the lowest is left out first; 0: not wanted at all */
};

#define GA_TABLE_COLUMNS 20

struct ga_table_place {
    int column, width; /* width 0: left out */
};

/* Chooses among `count` columns for `width` columns of screen from `left` on; two blanks between
 * them. */
void ga_table_place(const struct ga_table_column *column, int count, int left, int width,
                    struct ga_table_place place[GA_TABLE_COLUMNS]);

void ga_table_heading(const struct ga_table_column *column,
                      const struct ga_table_place place[GA_TABLE_COLUMNS], int count,
                      struct ga_cells *cells, int row);

/* A text in a table's cell; nothing where the column is left out. */
void ga_table_text(const struct ga_table_column *column, const struct ga_table_place *place,
                   struct ga_cells *cells, int row, const char *text, unsigned role,
                   unsigned attributes);

/* A bar of `width` cells, filled to `share` of 1. */
void ga_bar_draw(struct ga_cells *cells, int row, int column, int width, double share,
                 unsigned role);

#endif
