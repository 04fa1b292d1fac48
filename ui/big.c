#include "ui/big.h"

#include <string.h>

#define WIDTH 3
#define STEP  4 /* columns from one digit to the next */

/* Rows of dots from the top, three bits each. */
static const unsigned char digits[10][6] = {
    {7, 5, 5, 5, 7, 0}, {2, 6, 2, 2, 7, 0}, {7, 1, 7, 4, 7, 0}, {7, 1, 3, 1, 7, 0},
    {5, 5, 7, 1, 1, 0}, {7, 4, 7, 1, 7, 0}, {7, 4, 7, 5, 7, 0}, {7, 1, 2, 2, 2, 0},
    {7, 5, 7, 5, 7, 0}, {7, 5, 7, 1, 7, 0},
};

int ga_big_columns(const char *text)
{
    int length = (int)strlen(text);

    return length > 0 ? length * STEP - 1 : 0;
}

static void draw_digit(struct ga_cells *cells, int row, int column, const unsigned char *dots,
                       unsigned role)
{
    static const uint32_t halves[] = {' ', 0x2580, 0x2584, 0x2588};
    static const char letters[] = " \".#";

    for (int r = 0; r < 3; r++)
        for (int c = 0; c < WIDTH; c++) {
            unsigned top = dots[2 * r] >> (WIDTH - 1 - c) & 1;
            unsigned bottom = dots[2 * r + 1] >> (WIDTH - 1 - c) & 1;
            unsigned form = top | bottom << 1;

            ga_cells_put(cells, row + r, column + c,
                         cells->glyphs == GA_GLYPHS_ASCII ? (unsigned char)letters[form]
                                                          : halves[form],
                         role, 0);
        }
}

void ga_big_draw(struct ga_cells *cells, int row, int column, const char *text, unsigned role)
{
    for (; *text; text++, column += STEP)
        if (*text >= '0' && *text <= '9')
            draw_digit(cells, row, column, digits[*text - '0'], role);
}
