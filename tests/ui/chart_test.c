/* Charts of samples: axes by each x, zoom, the reading cursor, smoothing, values without a place.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenes.h"
#include "support/support.h"
#include "ui/decoder.h"
#include "ui/screen.h"

struct sheet {
    struct test_scene *test;
    struct ga_screen *screen;
    struct ga_cells cells;
    struct ga_layout layout;
    struct ga_text text;
};

/* One panel on a whole screen of 100 columns. */
static void sheet_open(struct sheet *sheet, enum test_scene_kind kind, int panel)
{
    struct ga_layout_wish wish;

    memset(sheet, 0, sizeof *sheet);
    sheet->test = test_scene_open(kind);
    assert_int_equal(ga_screen_open(&sheet->screen), 0);
    assert_int_equal(ga_cells_open(&sheet->cells, 20, 100, GA_GLYPHS_ASCII), 0);
    ga_layout_wish_init(&wish, 20, 100);
    wish.focus = panel;
    wish.zoom = true;
    ga_layout_make(&sheet->layout, &wish);
    assert_int_equal(sheet->layout.places, 1);
}

static void sheet_close(struct sheet *sheet)
{
    ga_text_free(&sheet->text);
    ga_screen_close(sheet->screen);
    ga_cells_close(&sheet->cells);
    test_scene_close(sheet->test);
}

static const char *draw(struct sheet *sheet)
{
    ga_screen_draw(sheet->screen, &sheet->test->scene, &sheet->layout, -1, NULL, 0, &sheet->cells);
    ga_text_clear(&sheet->text);
    ga_cells_dump(&sheet->cells, &sheet->text);
    return ga_text_get(&sheet->text);
}

static void press(struct sheet *sheet, int key)
{
    assert_true(
        ga_screen_key(sheet->screen, &sheet->test->scene, sheet->layout.place[0].panel, key));
}

static void has(const char *picture, const char *part)
{
    if (!strstr(picture, part))
        fail_msg("\"%s\" is not in\n%s", part, picture);
}

static void hasnt(const char *picture, const char *part)
{
    if (strstr(picture, part))
        fail_msg("\"%s\" is in\n%s", part, picture);
}

static void each_x_axis_has_its_unit(void **state)
{
    struct sheet sheet;

    (void)state;
    sheet_open(&sheet, TEST_SCENE_SYNC, GA_PANEL_LOSS);
    has(draw(&sheet), "updates");
    sheet.test->scene.x_axis = GA_X_EXAMPLES;
    has(draw(&sheet), "examples");
    has(draw(&sheet), "by examples");
    has(draw(&sheet), "2k");
    sheet.test->scene.x_axis = GA_X_TIME;
    has(draw(&sheet), "by virtual time");
    sheet.test->scene.x_axis = GA_X_WALL;
    has(draw(&sheet), "by wall time");
    has(draw(&sheet), "ms");
    sheet_close(&sheet);
}

static void the_cursor_reads_values(void **state)
{
    struct sheet sheet;
    char want[64];

    (void)state;
    sheet_open(&sheet, TEST_SCENE_SYNC, GA_PANEL_LOSS);
    hasnt(draw(&sheet), "r1 ");
    press(&sheet, GA_KEY_LEFT);
    has(draw(&sheet), "update 128  window 0.56559");
    press(&sheet, GA_KEY_LEFT);
    const char *picture = draw(&sheet);
    has(picture, "r1 ");
    double at = strtod(strstr(picture, "|update ") + 8, NULL);
    assert_in_range((int)at, 120, 127);
    snprintf(want, sizeof want, "window %.5f",
             ga_samples_value(sheet.test->samples, GA_SERIES_LOSS, (size_t)at - 1));
    has(picture, want);
    for (int i = 0; i < 300; i++)
        press(&sheet, GA_KEY_LEFT);
    has(draw(&sheet), "|update 1 ");
    press(&sheet, GA_KEY_ESCAPE);
    hasnt(draw(&sheet), "r1 ");
    sheet_close(&sheet);
}

static void zoom_and_follow(void **state)
{
    struct sheet sheet;

    (void)state;
    sheet_open(&sheet, TEST_SCENE_SYNC, GA_PANEL_LOSS);
    draw(&sheet);
    press(&sheet, GA_KEY_END);
    has(draw(&sheet), "last 32");
    has(draw(&sheet), " 120");
    hasnt(draw(&sheet), " 80 ");
    press(&sheet, GA_KEY_HOME);
    hasnt(draw(&sheet), "last 32");
    has(draw(&sheet), " 80 ");
    for (int i = 0; i < 4; i++) {
        press(&sheet, GA_KEY_UP);
        has(draw(&sheet), "zoomed to");
    }
    for (int i = 0; i < 80; i++) {
        press(&sheet, GA_KEY_UP);
        draw(&sheet);
    }
    for (int i = 0; i < 120; i++) {
        press(&sheet, GA_KEY_DOWN);
        draw(&sheet);
    }
    has(draw(&sheet), " 80 ");
    sheet_close(&sheet);
}

/* The smoothed line is bold in the window's role, the raw one dim below it. */
static void the_raw_line_is_dim_under_the_smooth_one(void **state)
{
    struct sheet sheet;
    int bold = 0, dim = 0;

    (void)state;
    sheet_open(&sheet, TEST_SCENE_SYNC, GA_PANEL_NORMS);
    sheet.layout.place[0].panel = GA_PANEL_LOSS;
    sheet.test->scene.smoothing = 0.99;
    assert_int_equal(ga_samples_smooth(sheet.test->samples, 0.99), 0);
    has(draw(&sheet), "smooth 0.99");
    for (int i = 0; i < sheet.cells.rows * sheet.cells.columns; i++) {
        const struct ga_cell *cell = &sheet.cells.cell[i];

        if (!strchr("'.:", (int)cell->character))
            continue;
        bold += cell->role == GA_ROLE_WINDOW && cell->attributes == GA_ATTR_BOLD;
        dim += cell->role == GA_ROLE_DIM && cell->attributes == GA_ATTR_DIM;
    }
    assert_true(bold > 20 && dim > 20);
    sheet_close(&sheet);
}

static void values_without_a_place_are_counted(void **state)
{
    struct sheet sheet;

    (void)state;
    sheet_open(&sheet, TEST_SCENE_STOPPED, GA_PANEL_LOSS);
    has(draw(&sheet), "NaN");
    has(draw(&sheet), "xxx   30");
    has(draw(&sheet), "window     nan");
    sheet_close(&sheet);
}

/* Zeros and negative values have no place on a log axis, which stands there all the same. */
static void a_log_axis_is_never_blank(void **state)
{
    struct sheet sheet;
    struct ga_samples *zeros = NULL;

    (void)state;
    assert_int_equal(ga_samples_open(&zeros, 0), 0);
    for (uint64_t w = 1; w <= 50; w++) {
        struct ga_sample sample = {.run = 1, .windows = w, .update = w, .applied = true};

        sample.loss = w == 20 ? -3 : 0;
        assert_int_equal(ga_samples_append(zeros, &sample), 0);
    }
    sheet_open(&sheet, TEST_SCENE_SYNC, GA_PANEL_LOSS);
    sheet.test->scene.samples = zeros;
    has(draw(&sheet), " 0.1+");
    has(draw(&sheet), "   1+");
    sheet.test->scene.log_y = false;
    has(draw(&sheet), "  -2+");
    has(draw(&sheet), "   0+");
    has(draw(&sheet), ":");
    sheet_close(&sheet);
    ga_samples_close(zeros);
}

static void one_row_and_no_rows(void **state)
{
    struct sheet sheet;
    struct ga_samples *few = NULL;
    struct ga_sample sample = {.run = 1, .windows = 1, .update = 1, .applied = true, .loss = 5};

    (void)state;
    assert_int_equal(ga_samples_open(&few, 0), 0);
    sheet_open(&sheet, TEST_SCENE_SYNC, GA_PANEL_LOSS);
    sheet.test->scene.samples = few;
    has(draw(&sheet), " 10 ");
    for (int key = GA_KEY_UP; key <= GA_KEY_PAGE_DOWN; key++)
        ga_screen_key(sheet.screen, &sheet.test->scene, GA_PANEL_LOSS, key);
    draw(&sheet);
    assert_int_equal(ga_samples_append(few, &sample), 0);
    press(&sheet, GA_KEY_HOME);
    press(&sheet, GA_KEY_LEFT);
    has(draw(&sheet), "update 1  window  5.0000");
    sheet_close(&sheet);
    ga_samples_close(few);
}

static void the_large_counter_counts(void **state)
{
    struct sheet sheet;

    (void)state;
    sheet_open(&sheet, TEST_SCENE_SYNC, GA_PANEL_LOSS);
    /* 128 in digits of three rows */
    has(draw(&sheet), "#  \"\"# #\"#");
    has(draw(&sheet), "#  #\"\" #\"#");
    has(draw(&sheet), "\"\"\" \"\"\" \"\"\"");
    sheet_close(&sheet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_x_axis_has_its_unit),
        cmocka_unit_test(the_cursor_reads_values),
        cmocka_unit_test(zoom_and_follow),
        cmocka_unit_test(the_raw_line_is_dim_under_the_smooth_one),
        cmocka_unit_test(values_without_a_place_are_counted),
        cmocka_unit_test(a_log_axis_is_never_blank),
        cmocka_unit_test(one_row_and_no_rows),
        cmocka_unit_test(the_large_counter_counts),
    };

    return ga_test_main(tests);
}
