/* Whatever two frames hold, the bytes from one to the other bring a terminal there. */
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

#include <vterm.h>

#include "ui/paint.h"
#include "ui/width.h"

#define MOST_ROWS    24
#define MOST_COLUMNS 60

struct screen {
    int rows, columns;
    VTerm *vterm;
    struct ga_paint paint;
    struct ga_cell shown[MOST_ROWS * MOST_COLUMNS];
};

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static size_t below(uint64_t *state, size_t limit)
{
    return (size_t)(draw(state) % limit);
}

static void open_screen(struct screen *screen, int rows, int columns, int colors)
{
    screen->rows = rows;
    screen->columns = columns;
    screen->vterm = vterm_new(rows, columns);
    vterm_set_utf8(screen->vterm, 1);
    vterm_screen_reset(vterm_obtain_screen(screen->vterm), 1);
    ga_paint_init(&screen->paint, true, colors);
    ga_paint_theme(&screen->paint, GA_THEME_DARK);
    for (int i = 0; i < rows * columns; i++)
        screen->shown[i] = (struct ga_cell){' ', GA_ROLE_TEXT, 0};
}

/* A few stretches of text, bars and blanks over what is there. */
static void change(uint64_t *state, struct ga_cell *cell, int rows, int columns)
{
    static const uint32_t characters[] = {'a',    'b',    ' ',    ' ',    '1',    0x2588, 0x2593,
                                          0x2591, 0x28ff, 0x2500, 0x25cf, 0x4e2d, 0xe9};
    const size_t stretches = 1 + below(state, 12);
    for (size_t s = 0; s < stretches; s++) {
        struct ga_cell *row = cell + below(state, (size_t)rows) * (size_t)columns;
        const int start = (int)below(state, (size_t)columns);
        const int length = 1 + (int)below(state, 12);
        const unsigned role = (unsigned)below(state, GA_ROLE_COUNT);
        unsigned attributes = (unsigned)below(state, 3) == 0 ? (unsigned)below(state, 16) : 0;
        for (int i = start; i < start + length && i < columns; i++) {
            uint32_t character = characters[below(state, sizeof(characters) / sizeof(uint32_t))];
            if (character == 0x4e2d && i + 1 >= columns)
                character = 'x';
            if (below(state, 6) == 0)
                attributes ^= GA_ATTR_REVERSE;
            /* Half a wide character is none. */
            if (row[i].character == 0 && i > 0)
                row[i - 1].character = '.';
            if (i + 1 < columns && row[i + 1].character == 0)
                row[i + 1] = (struct ga_cell){' ', GA_ROLE_TEXT, 0};
            row[i] = (struct ga_cell){character, (uint8_t)role, (uint8_t)attributes};
            if (ga_character_columns(character) == 2) {
                if (i + 2 < columns && row[i + 2].character == 0)
                    row[i + 2] = (struct ga_cell){' ', GA_ROLE_TEXT, 0};
                row[i + 1] = (struct ga_cell){0, (uint8_t)role, (uint8_t)attributes};
                i++;
            }
        }
    }
}

static bool same_color(const VTermColor *got, int want, bool foreground)
{
    if (want < 0)
        return foreground ? VTERM_COLOR_IS_DEFAULT_FG(got) : VTERM_COLOR_IS_DEFAULT_BG(got);
    return VTERM_COLOR_IS_INDEXED(got) && got->indexed.idx == want;
}

/* libvterm knows no faint text, so dim is not looked at; nor is what cannot be seen on a blank. */
static void expect_cell(const struct screen *screen, int row, int column,
                        const struct ga_cell *want)
{
    VTermScreenCell got;
    const VTermPos at = {.row = row, .col = column};
    const struct ga_look look = ga_paint_look(&screen->paint, want);
    vterm_screen_get_cell(vterm_obtain_screen(screen->vterm), at, &got);
    const uint32_t character = got.chars[0] ? got.chars[0] : ' ';
    if (want->character == 0) {
        assert_true(got.chars[0] == (uint32_t)-1);
        return;
    }
    assert_int_equal(character, want->character);
    assert_int_equal(got.attrs.reverse, (look.attributes & GA_ATTR_REVERSE) != 0);
    assert_int_equal(got.attrs.underline != 0, (look.attributes & GA_ATTR_UNDERLINE) != 0);
    assert_true(same_color(&got.bg, look.background, false));
    const bool blank = character == ' ' && !got.attrs.reverse && !got.attrs.underline;
    if (blank)
        return;
    assert_int_equal(got.attrs.bold, (look.attributes & GA_ATTR_BOLD) != 0);
    assert_true(same_color(&got.fg, look.foreground, true));
}

static size_t show(struct screen *screen, const struct ga_cell *cell)
{
    const size_t count = (size_t)screen->rows * (size_t)screen->columns;
    struct ga_cell wanted[MOST_ROWS * MOST_COLUMNS];
    struct ga_text bytes = GA_TEXT_INIT;
    memcpy(wanted, cell, count * sizeof(*cell));
    for (int row = 0; row < screen->rows; row++)
        ga_paint_prepare(&screen->paint, wanted + (size_t)row * (size_t)screen->columns,
                         screen->columns);
    ga_paint_frame(&screen->paint, screen->shown, wanted, screen->rows, screen->columns, &bytes);
    vterm_input_write(screen->vterm, ga_text_get(&bytes), bytes.length);
    for (int row = 0; row < screen->rows; row++)
        for (int column = 0; column < screen->columns; column++)
            expect_cell(screen, row, column, &wanted[row * screen->columns + column]);
    memcpy(screen->shown, wanted, count * sizeof(*wanted));
    const size_t length = bytes.length;
    ga_text_free(&bytes);
    return length;
}

static void random_frames_arrive(void **state)
{
    (void)state;
    static const int sizes[][3] = {{24, 60, 256}, {24, 60, 0}, {1, 1, 256},
                                   {1, 60, 8},    {24, 2, 16}, {5, 17, 256}};
    uint64_t seed = 88172645463325252u;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct screen screen;
        struct ga_cell cell[MOST_ROWS * MOST_COLUMNS];
        open_screen(&screen, sizes[i][0], sizes[i][1], sizes[i][2]);
        memcpy(cell, screen.shown, sizeof(cell));
        for (size_t n = ga_test_count(400); n > 0; n--) {
            change(&seed, cell, screen.rows, screen.columns);
            show(&screen, cell);
            if (below(&seed, 10) == 0) { /* the cursor rests elsewhere in between */
                struct ga_text bytes = GA_TEXT_INIT;
                ga_paint_move(&screen.paint, (int)below(&seed, (size_t)screen.rows),
                              (int)below(&seed, (size_t)screen.columns), &bytes);
                vterm_input_write(screen.vterm, ga_text_get(&bytes), bytes.length);
                ga_text_free(&bytes);
            }
        }
        vterm_free(screen.vterm);
    }
}

static void what_is_the_same_costs_nothing(void **state)
{
    (void)state;
    struct screen screen;
    struct ga_cell cell[MOST_ROWS * MOST_COLUMNS];
    uint64_t seed = 7;
    open_screen(&screen, 24, 60, 256);
    memcpy(cell, screen.shown, sizeof(cell));
    change(&seed, cell, 24, 60);
    assert_true(show(&screen, cell) > 0);
    assert_int_equal(show(&screen, cell), 0);
    vterm_free(screen.vterm);
}

static void put_text(struct ga_cell *cell, const char *text, unsigned role, unsigned attributes)
{
    for (; *text; text++, cell++)
        *cell = (struct ga_cell){(unsigned char)*text, (uint8_t)role, (uint8_t)attributes};
}

/* Two words that changed are one move apart; a bar with a number in it is one stretch. */
static void bytes_are_few(void **state)
{
    (void)state;
    struct screen screen;
    struct ga_cell cell[MOST_ROWS * MOST_COLUMNS];
    open_screen(&screen, 24, 60, 256);
    memcpy(cell, screen.shown, sizeof(cell));
    put_text(cell, "update 100  loss 0.123", GA_ROLE_TEXT, 0);
    show(&screen, cell);
    put_text(cell, "update 101  loss 0.122", GA_ROLE_TEXT, 0);
    assert_int_equal(show(&screen, cell), strlen("\x1b[1;10H1\x1b[11C2"));
    for (int i = 0; i < 20; i++)
        cell[60 + i] = (struct ga_cell){0x2588, GA_ROLE_REPLICA, 0};
    cell[70] = (struct ga_cell){'3', GA_ROLE_REPLICA, GA_ATTR_REVERSE};
    const size_t bar = show(&screen, cell);
    assert_true(bar < 20 + strlen("\x1b[2H\x1b[7;38;5;200m") + 1);
    vterm_free(screen.vterm);
}

/* Without UTF-8 no byte above 127 leaves. */
static void without_utf8_it_is_ascii(void **state)
{
    (void)state;
    struct ga_paint paint;
    struct ga_text bytes = GA_TEXT_INIT;
    const struct ga_cell from[3] = {{' ', 0, 0}, {' ', 0, 0}, {' ', 0, 0}};
    const struct ga_cell to[3] = {{0x28ff, 0, 0}, {0xe9, 0, 0}, {0x9b, 0, 0}};
    ga_paint_init(&paint, false, 256);
    ga_paint_frame(&paint, from, to, 1, 3, &bytes);
    assert_non_null(strstr(ga_text_get(&bytes), "???"));
    for (size_t i = 0; i < bytes.length; i++)
        assert_true((unsigned char)bytes.data[i] < 128);
    ga_text_free(&bytes);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(random_frames_arrive),
    cmocka_unit_test(what_is_the_same_costs_nothing),
    cmocka_unit_test(bytes_are_few),
    cmocka_unit_test(without_utf8_it_is_ascii),
};

int main(void)
{
    return ga_test_main(tests);
}
