/* Cells: clipping, widths, glyph sets, frames, and the pictures made of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"
#include "ui/cells.h"
#include "ui/dump.h"
#include "ui/width.h"

static struct ga_cells open_cells(int rows, int columns, enum ga_glyphs glyphs)
{
    struct ga_cells cells;

    assert_int_equal(ga_cells_open(&cells, rows, columns, glyphs), 0);
    return cells;
}

static char *picture_of(const struct ga_cells *cells)
{
    struct ga_text text = GA_TEXT_INIT;

    ga_cells_dump(cells, &text);
    assert_false(ga_text_failed(&text));
    return text.data;
}

static void check(struct ga_cells *cells, const char *want)
{
    char *picture = picture_of(cells);

    assert_string_equal(picture, want);
    free(picture);
    ga_cells_close(cells);
}

static void text_is_clipped(void **state)
{
    struct ga_cells cells = open_cells(3, 8, GA_GLYPHS_BRAILLE);

    (void)state;
    assert_int_equal(ga_cells_text(&cells, 0, 0, "abc", 0, 0), 3);
    ga_cells_text(&cells, 0, 6, "xyz", 0, 0);
    ga_cells_text(&cells, 1, -2, "xyz", 0, 0);
    ga_cells_text(&cells, 5, 0, "far", 0, 0);
    ga_cells_text(&cells, -1, 0, "far", 0, 0);
    struct ga_rect old = ga_cells_clip(&cells, (struct ga_rect){2, 2, 1, 3});
    ga_cells_text(&cells, 2, 0, "abcdefgh", 0, 0);
    ga_cells_clip(&cells, (struct ga_rect){0, 0, 3, 8});
    ga_cells_text(&cells, 1, 0, "no", 0, 0);
    cells.clip = old;
    check(&cells, "abc   xy\nz\n  cde\n");
}

static void wide_and_combining_characters(void **state)
{
    struct ga_cells cells = open_cells(4, 6, GA_GLYPHS_BRAILLE);

    (void)state;
    assert_int_equal(ga_text_columns("\u65e5a\u0301\u65e5"), 5);
    assert_int_equal(ga_cells_text(&cells, 0, 0, "\u65e5a\u0301b", 0, 0), 4);
    ga_cells_text(&cells, 1, 5, "\u65e5", 0, 0); /* half of it has no place */
    ga_cells_text(&cells, 2, 0, "\u65e5\u672c", 0, 0);
    ga_cells_text(&cells, 2, 1, "x", 0, 0); /* over the right half */
    ga_cells_text(&cells, 3, 0, "\u65e5\u672c", 0, 0);
    ga_cells_text(&cells, 3, 1, "\u6f22", 0, 0); /* over two halves */
    assert_int_equal(cells.cell[1].character, 0);
    check(&cells, "\u65e5ab\n\n x\u672c\n \u6f22\n");
}

static void bad_bytes_and_controls(void **state)
{
    struct ga_cells cells = open_cells(1, 12, GA_GLYPHS_BRAILLE);

    (void)state;
    ga_cells_text(&cells, 0, 0, "a\xff\xc3(\x1b[31m\tb\xe2\x82", 0, 0);
    check(&cells, "a?"
                  "?([31mb?"
                  "?\n");
}

static void ascii_is_all_that_is_stored(void **state)
{
    struct ga_cells cells = open_cells(2, 40, GA_GLYPHS_ASCII);

    (void)state;
    ga_cells_text(&cells, 0, 0,
                  "P 2 \u00d7 A 5 \u2192 \u2026 \u03c4 \u65e5 \u2502\u2500\u256d \u00e9", 0, 0);
    for (uint32_t c = 0; c < 0x30000; c++)
        ga_cells_put(&cells, 1, (int)(c % 40), c, 0, 0);
    for (int i = 0; i < 80; i++)
        assert_in_range(cells.cell[i].character, ' ', '~');
    ga_cells_fill(&cells, (struct ga_rect){1, 0, 1, 40}, ' ', 0, 0);
    check(&cells, "P 2 x A 5 > ~ t ? |-+ ?\n\n");
}

static void no_blank_braille(void **state)
{
    struct ga_cells cells = open_cells(1, 4, GA_GLYPHS_BRAILLE);

    (void)state;
    ga_cells_put(&cells, 0, 0, 0x2800, 0, 0);
    ga_cells_text(&cells, 0, 1, "\u2800", 0, 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(cells.cell[i].character, ' ');
    ga_cells_close(&cells);
}

static void cut_text_ends_in_an_ellipsis(void **state)
{
    struct ga_cells cells = open_cells(5, 10, GA_GLYPHS_BRAILLE);

    (void)state;
    assert_int_equal(ga_cells_fit(&cells, 0, 0, 5, "abcde", 0, 0), 5);
    assert_int_equal(ga_cells_fit(&cells, 1, 0, 5, "abcdef", 0, 0), 5);
    assert_int_equal(ga_cells_fit(&cells, 2, 0, 4, "\u65e5\u672c\u6f22", 0, 0), 4);
    assert_int_equal(ga_cells_fit(&cells, 3, 0, 0, "abc", 0, 0), 0);
    assert_int_equal(ga_cells_fit(&cells, 4, 0, -3, "abc", 0, 0), 0);
    check(&cells, "abcde\nabcd\u2026\n\u65e5 \u2026\n\n\n");
}

static void frames_of_any_size(void **state)
{
    (void)state;
    for (int rows = 0; rows < 6; rows++)
        for (int columns = 0; columns < 14; columns++)
            for (int glyphs = 0; glyphs < 3; glyphs++) {
                struct ga_cells cells = open_cells(6, 14, (enum ga_glyphs)glyphs);
                struct ga_rect inside = ga_cells_frame(
                    &cells, (struct ga_rect){0, 0, rows, columns}, "a long title", columns % 2);

                assert_true(inside.rows <= (rows > 2 ? rows - 2 : 0) || inside.columns == 0);
                for (int r = 0; r < 6; r++)
                    for (int c = 0; c < 14; c++)
                        if (r >= rows || c >= columns)
                            assert_int_equal(cells.cell[r * 14 + c].character, ' ');
                ga_cells_close(&cells);
            }
    struct ga_cells cells = open_cells(3, 14, GA_GLYPHS_ASCII);
    ga_cells_frame(&cells, (struct ga_rect){0, 0, 3, 14}, "loss", false);
    check(&cells, "+- loss -----+\n|            |\n+------------+\n");
}

static void impossible_sizes_are_refused(void **state)
{
    struct ga_cells cells;

    (void)state;
    assert_int_not_equal(ga_cells_open(&cells, -1, 5, GA_GLYPHS_ASCII), 0);
    assert_int_not_equal(ga_cells_open(&cells, 1000000, 1000000, GA_GLYPHS_ASCII), 0);
    cells = open_cells(2, 2, GA_GLYPHS_ASCII);
    ga_cells_text(&cells, 0, 0, "ab", 0, 0);
    ga_test_allocation_limit(0);
    int code = ga_cells_resize(&cells, 5, 5);
    ga_test_allocation_free();
    assert_int_not_equal(code, 0);
    assert_int_equal(cells.rows, 2);
    check(&cells, "ab\n\n");
}

static void rectangles_meet(void **state)
{
    const struct ga_rect far = {2000000000, 2000000000, 2000000000, 2000000000};
    struct ga_rect meet =
        ga_rect_meet((struct ga_rect){0, 0, 10, 10}, (struct ga_rect){5, 6, 10, 10});

    (void)state;
    assert_int_equal(meet.row, 5);
    assert_int_equal(meet.column, 6);
    assert_int_equal(meet.rows, 5);
    assert_int_equal(meet.columns, 4);
    assert_int_equal(ga_rect_meet((struct ga_rect){0, 0, 5, 5}, far).rows, 0);
    assert_int_equal(ga_rect_meet(far, far).rows, 2000000000);
    assert_int_equal(ga_rect_meet((struct ga_rect){0, 0, -5, 5}, (struct ga_rect){0, 0, 5, 5}).rows,
                     0);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;

    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        count++;
    return count;
}

static void svg_is_well_formed(void **state)
{
    struct ga_cells cells = open_cells(3, 20, GA_GLYPHS_BRAILLE);
    struct ga_text svg = GA_TEXT_INIT;

    (void)state;
    ga_cells_text(&cells, 0, 0, "a < b && c > d", GA_ROLE_BAD, GA_ATTR_BOLD);
    ga_cells_text(&cells, 1, 2, "\u28ff\u28c0 x", GA_ROLE_WINDOW,
                  GA_ATTR_REVERSE | GA_ATTR_UNDERLINE);
    ga_cells_text(&cells, 2, 0, "\u65e5]]>", GA_ROLE_DIM, GA_ATTR_DIM);
    ga_cells_svg(&cells, GA_THEME_DARK, &svg);
    assert_false(ga_text_failed(&svg));
    assert_non_null(strstr(svg.data, "a &lt; b &amp;&amp; c &gt; d"));
    assert_int_equal(count_of(svg.data, "<text"), count_of(svg.data, "</text>"));
    assert_int_equal(count_of(svg.data, "<tspan"), count_of(svg.data, "</tspan>"));
    assert_int_equal(count_of(svg.data, "<svg "), 1);
    assert_string_equal(svg.data + svg.length - 7, "</svg>\n");
    assert_null(strstr(svg.data, "\x1b"));
    /* Every ampersand begins an entity. */
    assert_int_equal(count_of(svg.data, "&"), count_of(svg.data, "&lt;") +
                                                  count_of(svg.data, "&gt;") +
                                                  count_of(svg.data, "&amp;"));
    ga_text_free(&svg);
    ga_cells_close(&cells);
}

static void widths_of_characters(void **state)
{
    static const struct {
        uint32_t character;
        int columns;
    } some[] = {{'a', 1},     {0, -1},     {0x1b, -1},   {0x7f, -1},   {0x9b, -1},  {0xe9, 1},
                {0x301, 0},   {0x200b, 0}, {0x28ff, 1},  {0x2500, 1},  {0x65e5, 2}, {0xac00, 2},
                {0x1f600, 2}, {0x25cf, 1}, {0xd800, -1}, {0xfffe, -1}, {0x3000, 2}, {0x110000, -1}};

    (void)state;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        if (ga_character_columns(some[i].character) != some[i].columns)
            fail_msg("U+%04x has %d columns, expected %d", some[i].character,
                     ga_character_columns(some[i].character), some[i].columns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_clipped),        cmocka_unit_test(wide_and_combining_characters),
        cmocka_unit_test(bad_bytes_and_controls), cmocka_unit_test(ascii_is_all_that_is_stored),
        cmocka_unit_test(no_blank_braille),       cmocka_unit_test(cut_text_ends_in_an_ellipsis),
        cmocka_unit_test(frames_of_any_size),     cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(rectangles_meet),        cmocka_unit_test(svg_is_well_formed),
        cmocka_unit_test(widths_of_characters),
    };

    return ga_test_main(tests);
}
