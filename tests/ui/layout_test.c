/* The layout at every size: inside, without overlap, all space used, every panel reachable. */
#include <stdlib.h>
#include <string.h>

#include "support/support.h"
#include "ui/layout.h"
#include "ui/panel.h"

static bool overlap(struct ga_rect a, struct ga_rect b)
{
    struct ga_rect meet = ga_rect_meet(a, b);

    return meet.rows > 0 && meet.columns > 0;
}

static bool inside(struct ga_rect rect, int rows, int columns)
{
    return rect.row >= 0 && rect.column >= 0 && rect.rows >= 0 && rect.columns >= 0 &&
           rect.row + rect.rows <= rows && rect.column + rect.columns <= columns;
}

static int area(struct ga_rect rect)
{
    return rect.rows * rect.columns;
}

static void check_place(const struct ga_layout *layout, int i, const struct ga_layout_wish *wish)
{
    const struct ga_panel *panel = ga_panel_at(layout->place[i].panel);
    struct ga_rect rect = layout->place[i].rect;

    assert_non_null(panel);
    if (!inside(rect, wish->rows, wish->columns) || rect.rows < panel->min_rows + 2 ||
        rect.columns < panel->min_columns + 2)
        fail_msg("%s has %dx%d at %d,%d on a screen of %dx%d", panel->name, rect.columns, rect.rows,
                 rect.column, rect.row, wish->columns, wish->rows);
    for (int j = 0; j < i; j++) {
        assert_false(overlap(rect, layout->place[j].rect));
        assert_int_not_equal(layout->place[i].panel, layout->place[j].panel);
    }
    assert_false(overlap(rect, layout->status));
    assert_false(overlap(rect, layout->command));
    assert_false(overlap(rect, layout->hint));
}

static void check_layout(const struct ga_layout_wish *wish)
{
    struct ga_layout layout;
    int used = 0;

    ga_layout_make(&layout, wish);
    if (wish->rows < 3 || wish->columns < 20) {
        assert_int_equal(layout.kind, GA_LAYOUT_NOTICE);
        assert_int_equal(layout.places, 0);
        return;
    }
    assert_true(inside(layout.status, wish->rows, wish->columns));
    assert_true(inside(layout.command, wish->rows, wish->columns));
    assert_true(inside(layout.hint, wish->rows, wish->columns));
    assert_true(area(layout.status) > 0 && area(layout.command) > 0);
    assert_false(overlap(layout.status, layout.command));
    assert_false(overlap(layout.hint, layout.command));
    for (int i = 0; i < layout.places; i++) {
        check_place(&layout, i, wish);
        used += area(layout.place[i].rect);
    }
    used += area(layout.status) + area(layout.command) + area(layout.hint);
    if (used != wish->rows * wish->columns)
        fail_msg("%d of %d cells are used at %dx%d", used, wish->rows * wish->columns,
                 wish->columns, wish->rows);
}

static void every_size_fits(void **state)
{
    static const int tables[] = {1, 3, 9, 65};

    (void)state;
    for (int rows = 1; rows <= 80; rows++)
        for (int columns = 1; columns <= 250; columns++)
            for (int focus = -1; focus < GA_PANELS; focus++) {
                struct ga_layout_wish wish;

                ga_layout_wish_init(&wish, rows, columns);
                wish.focus = focus;
                wish.zoom = (rows + columns + focus) % 3 == 0;
                wish.table_rows = tables[(rows + focus + 1) % 4];
                wish.lesson_rows = (columns + focus) % 4 == 0 ? rows % 20 : 0;
                wish.command_rows = 1 + columns % 3;
                check_layout(&wish);
            }
}

static void every_choice_of_panels_fits(void **state)
{
    (void)state;
    for (int panel = 0; panel < GA_PANELS; panel++)
        for (int rows = 3; rows <= 80; rows += 3)
            for (int columns = 20; columns <= 250; columns += 7) {
                struct ga_layout_wish wish;

                ga_layout_wish_init(&wish, rows, columns);
                ga_layout_select(&wish, (panel * 5) % GA_PANELS);
                ga_layout_select(&wish, panel);
                check_layout(&wish);
            }
}

/* From 32x8 on a number key brings its panel to the screen. */
static void every_panel_can_be_reached(void **state)
{
    (void)state;
    for (int panel = 0; panel < GA_PANEL_LOG; panel++)
        for (int rows = 8; rows <= 80; rows++)
            for (int columns = 34; columns <= 250; columns += 3) {
                struct ga_layout_wish wish;
                struct ga_layout layout;

                ga_layout_wish_init(&wish, rows, columns);
                wish.table_rows = rows % 2 ? 3 : 65;
                ga_layout_select(&wish, panel);
                ga_layout_make(&layout, &wish);
                if (area(ga_layout_rect(&layout, panel)) == 0) {
                    wish.zoom = true;
                    ga_layout_make(&layout, &wish);
                }
                if (area(ga_layout_rect(&layout, panel)) == 0)
                    fail_msg("panel %s is not shown at %dx%d", ga_panel_at(panel)->name, columns,
                             rows);
            }
}

static void the_same_wish_gives_the_same_screen(void **state)
{
    struct ga_layout_wish wish;
    struct ga_layout a, b;

    (void)state;
    ga_layout_wish_init(&wish, 36, 120);
    memset(&a, 1, sizeof a);
    memset(&b, 2, sizeof b);
    ga_layout_make(&a, &wish);
    ga_layout_make(&b, &wish);
    assert_memory_equal(&a, &b, sizeof a);
}

static void kinds_by_size(void **state)
{
    static const struct {
        int rows, columns;
        enum ga_layout_kind kind;
    } sizes[] = {{2, 80, GA_LAYOUT_NOTICE},  {24, 19, GA_LAYOUT_NOTICE},
                 {3, 20, GA_LAYOUT_NUMBERS}, {7, 120, GA_LAYOUT_NUMBERS},
                 {12, 40, GA_LAYOUT_TABLE},  {24, 80, GA_LAYOUT_STACK},
                 {36, 120, GA_LAYOUT_FULL},  {60, 200, GA_LAYOUT_WIDE}};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct ga_layout_wish wish;
        struct ga_layout layout;

        ga_layout_wish_init(&wish, sizes[i].rows, sizes[i].columns);
        ga_layout_make(&layout, &wish);
        assert_int_equal(layout.kind, sizes[i].kind);
    }
}

static void keys_select_and_walk(void **state)
{
    struct ga_layout_wish wish;
    struct ga_layout layout;
    int seen = 0;

    (void)state;
    ga_layout_wish_init(&wish, 36, 120);
    ga_layout_select(&wish, GA_PANEL_STALENESS);
    assert_int_equal(wish.focus, GA_PANEL_STALENESS);
    assert_int_equal(wish.chosen[GA_SLOT_RIGHT], GA_PANEL_STALENESS);
    assert_false(wish.zoom);
    ga_layout_select(&wish, GA_PANEL_STALENESS);
    assert_true(wish.zoom);
    ga_layout_select(&wish, GA_PANEL_LOSS);
    assert_true(wish.zoom);
    ga_layout_select(&wish, 99);
    ga_layout_select(&wish, -1);
    assert_int_equal(wish.focus, GA_PANEL_LOSS);
    wish.zoom = false;
    ga_layout_make(&layout, &wish);
    int focus = -1;
    for (int i = 0; i < layout.places; i++) {
        focus = ga_layout_next(&layout, focus, 1);
        assert_int_equal(focus, layout.place[i].panel);
        seen |= 1 << focus;
    }
    assert_int_equal(ga_layout_next(&layout, focus, 1), layout.place[0].panel);
    assert_int_equal(ga_layout_next(&layout, layout.place[0].panel, -1), focus);
    assert_int_equal(__builtin_popcount((unsigned)seen), layout.places);
    memset(&layout, 0, sizeof layout);
    assert_int_equal(ga_layout_next(&layout, 3, 1), -1);
}

static void wild_wishes(void **state)
{
    struct ga_layout_wish wish;

    (void)state;
    for (int i = 0; i < 200; i++) {
        ga_layout_wish_init(&wish, 3 + i % 90, 20 + i);
        wish.focus = i * 7919 - 500;
        wish.zoom = i % 2;
        wish.table_rows = i % 3 ? -5 : 100000000;
        wish.command_rows = i % 5 ? -1 : 1000000;
        wish.chosen[i % GA_SLOTS] = i * 31 - 200;
        struct ga_layout layout;
        ga_layout_make(&layout, &wish);
        for (int k = 0; k < layout.places; k++)
            check_place(&layout, k, &wish);
    }
}

static void the_registry_is_complete(void **state)
{
    (void)state;
    for (int i = 0; i < GA_PANELS; i++) {
        const struct ga_panel *panel = ga_panel_at(i);

        assert_non_null(panel);
        assert_non_null(panel->open);
        assert_non_null(panel->close);
        assert_non_null(panel->draw);
        assert_true(panel->min_rows > 0 && panel->min_columns > 0);
        assert_int_equal(ga_panel_find(panel->name), i);
    }
    assert_null(ga_panel_at(GA_PANELS));
    assert_null(ga_panel_at(-1));
    assert_int_equal(ga_panel_find("no such panel"), -1);
    assert_int_equal(ga_panel_find("staleness"), GA_PANEL_STALENESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_fits),
        cmocka_unit_test(every_choice_of_panels_fits),
        cmocka_unit_test(every_panel_can_be_reached),
        cmocka_unit_test(the_same_wish_gives_the_same_screen),
        cmocka_unit_test(kinds_by_size),
        cmocka_unit_test(keys_select_and_walk),
        cmocka_unit_test(wild_wishes),
        cmocka_unit_test(the_registry_is_complete),
    };

    return ga_test_main(tests);
}
