#include "ui/table.h"

#include <math.h>

#define GAP 2

/* A narrow column may have room where a more important wide one had none. */
static void take_back(const struct ga_table_column *column, int count, int width, bool *chosen,
                      int *need)
{
    for (;;) {
        int best = -1;

        for (int i = 0; i < count; i++)
            if (!chosen[i] && column[i].weight > 0 && *need + column[i].width <= width &&
                (best < 0 || column[i].weight > column[best].weight))
                best = i;
        if (best < 0)
            return;
        chosen[best] = true;
        *need += column[best].width + GAP;
    }
}

void ga_table_place(const struct ga_table_column *column, int count, int left, int width,
                    struct ga_table_place place[GA_TABLE_COLUMNS])
{
    bool chosen[GA_TABLE_COLUMNS];
    int need = 0, at = left;

    for (int i = 0; i < count; i++) {
        chosen[i] = column[i].weight > 0;
        need += chosen[i] ? column[i].width + GAP : 0;
    }
    while (need - GAP > width) {
        int least = -1;

        for (int i = 0; i < count; i++)
            if (chosen[i] && (least < 0 || column[i].weight < column[least].weight))
                least = i;
        if (least < 0)
            break;
        chosen[least] = false;
        need -= column[least].width + GAP;
    }
    take_back(column, count, width, chosen, &need);
    for (int i = 0; i < count; i++) {
        int spare = width - (need - GAP);
        int grown = column[i].grows && spare > 0 ? column[i].width + spare : column[i].width;

        grown = column[i].grows && grown > column[i].most ? column[i].most : grown;
        place[i] = (struct ga_table_place){at, chosen[i] ? grown : 0};
        at += chosen[i] ? grown + GAP : 0;
    }
}

void ga_table_text(const struct ga_table_column *column, const struct ga_table_place *place,
                   struct ga_cells *cells, int row, const char *text, unsigned role,
                   unsigned attributes)
{
    int columns = ga_text_columns(text);
    int indent = column->left || columns > place->width ? 0 : place->width - columns;

    if (place->width > 0)
        ga_cells_fit(cells, row, place->column + indent, place->width - indent, text, role,
                     attributes);
}

void ga_table_heading(const struct ga_table_column *column,
                      const struct ga_table_place place[GA_TABLE_COLUMNS], int count,
                      struct ga_cells *cells, int row)
{
    for (int i = 0; i < count; i++)
        ga_table_text(&column[i], &place[i], cells, row, column[i].heading, GA_ROLE_DIM,
                      GA_ATTR_UNDERLINE);
}

void ga_bar_draw(struct ga_cells *cells, int row, int column, int width, double share,
                 unsigned role)
{
    bool ascii = cells->glyphs == GA_GLYPHS_ASCII;
    int halves = (int)lround((share > 1 ? 1 : share > 0 ? share : 0) * width * 2);

    for (int i = 0; i < width; i++) {
        if (2 * i + 1 < halves)
            ga_cells_put(cells, row, column + i, ascii ? '#' : 0x2588, role, 0);
        else if (2 * i < halves)
            ga_cells_put(cells, row, column + i, ascii ? '=' : 0x258c, role, 0);
        else
            ga_cells_put(cells, row, column + i, ascii ? '.' : 0x2591, GA_ROLE_BORDER, GA_ATTR_DIM);
    }
}
