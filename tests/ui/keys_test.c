/* The key table, what keys run, and the words of `view`. No terminal. */
#include "support/support.h"

#include <string.h>

#include "base/error.h"
#include "console/command.h"
#include "ui/display.h"
#include "ui/keys.h"
#include "ui/panel.h"
#include "ui/samples.h"

static void expect_command(const struct ga_view *view, int key, const char *want)
{
    struct ga_text text = GA_TEXT_INIT;
    const struct ga_key_row *row = ga_key_find(key);
    assert_non_null(row);
    ga_key_command(row, view, key, &text);
    assert_string_equal(ga_text_get(&text), want);
    ga_text_free(&text);
}

static struct ga_view usual_view(void)
{
    struct ga_view view = {.open = true};
    ga_settings_default(&view.settings);
    view.settings.accum = 5;
    view.settings.batch = 5;
    view.settings.pace.kind = GA_PACE_FACTOR;
    view.settings.pace.value = 1;
    view.pending = view.settings;
    return view;
}

static void each_key_has_one_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < ga_key_count(); i++) {
        const struct ga_key_row *row = ga_key_at(i);
        assert_true(row->last >= row->key);
        assert_true(*row->name && *row->help);
        assert_int_equal(row->rank > 0, row->hint != NULL);
        for (size_t k = 0; k < i; k++)
            assert_true(ga_key_at(k)->last < row->key || ga_key_at(k)->key > row->last);
    }
    assert_null(ga_key_at(ga_key_count()));
}

static void keys_that_are_bound_run_known_commands(void **state)
{
    (void)state;
    const struct ga_view view = usual_view();
    for (size_t i = 0; i < ga_key_count(); i++) {
        const struct ga_key_row *row = ga_key_at(i);
        if (!ga_key_bound(row) || !*row->command)
            continue;
        struct ga_text text = GA_TEXT_INIT;
        ga_key_command(row, &view, row->key, &text);
        char verb[16] = "";
        memcpy(verb, text.data, strcspn(text.data, " "));
        assert_non_null(ga_command_named(verb));
        ga_text_free(&text);
    }
    assert_null(ga_key_find('~'));
}

static void ladders_go_one_two_five(void **state)
{
    (void)state;
    static const int64_t rungs[] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000};
    for (size_t i = 0; i + 1 < sizeof(rungs) / sizeof(rungs[0]); i++) {
        assert_int_equal(ga_ladder(rungs[i], 1, 262144), rungs[i + 1]);
        assert_int_equal(ga_ladder(rungs[i + 1], -1, 262144), rungs[i]);
    }
    assert_int_equal(ga_ladder(1, -1, 262144), 1);
    assert_int_equal(ga_ladder(3, 1, 262144), 5);
    assert_int_equal(ga_ladder(3, -1, 262144), 2);
    assert_int_equal(ga_ladder(200000, 1, 262144), 200000);
    assert_int_equal(ga_ladder(262144, -1, 262144), 200000);
}

static void keys_start_from_what_is_pending(void **state)
{
    (void)state;
    struct ga_view view = usual_view();
    expect_command(&view, 'a', "set accum 10");
    expect_command(&view, 'A', "set accum 2");
    view.pending.accum = 2;
    expect_command(&view, 'A', "set accum 1");
    expect_command(&view, '+', "set batch 10");
    expect_command(&view, '-', "set batch 2");
    expect_command(&view, ' ', "run");
    view.running = true;
    expect_command(&view, ' ', "pause");
    expect_command(&view, '3', "view panel 3");
}

static void pace_halves_and_doubles(void **state)
{
    (void)state;
    struct ga_view view = usual_view();
    expect_command(&view, '>', "set pace x2");
    expect_command(&view, '<', "set pace x0.5");
    view.pending.pace.value = 1024;
    expect_command(&view, '>', "set pace max");
    view.pending.pace.kind = GA_PACE_MAX;
    expect_command(&view, '>', "set pace max");
    expect_command(&view, '<', "set pace x1024");
    view.pending.pace.kind = GA_PACE_UPDATES;
    view.pending.pace.value = 40;
    expect_command(&view, '>', "set pace 80");
}

static void hints_begin_with_what_a_beginner_needs(void **state)
{
    (void)state;
    struct ga_hint hint[64];
    struct ga_view view = usual_view();
    const size_t count = ga_key_hints(&view, hint, 64);
    assert_true(count > 8);
    assert_string_equal(hint[0].key, "space");
    assert_string_equal(hint[0].what, "run");
    view.running = true;
    assert_int_equal(ga_key_hints(&view, hint, 5), 5);
    assert_string_equal(hint[0].what, "pause");
    assert_string_equal(hint[3].key, "?");
    assert_string_equal(hint[4].key, ":");
}

struct seen {
    struct ga_display display;
    struct ga_layout layout;
    struct ga_text answer;
};

static int view(struct seen *seen, const char *first, const char *second)
{
    const char *const words[] = {first, second};
    const size_t count = !first ? 0 : second ? 2 : 1;
    seen->display.wish.rows = 36;
    seen->display.wish.columns = 120;
    ga_layout_make(&seen->layout, &seen->display.wish);
    return ga_display_command(&seen->display, &seen->layout, count, words, &seen->answer);
}

static void view_changes_what_is_shown(void **state)
{
    (void)state;
    struct seen seen = {.answer = GA_TEXT_INIT};
    ga_display_init(&seen.display);
    assert_true(seen.display.log_y);
    assert_int_equal(view(&seen, "y", NULL), 0);
    assert_false(seen.display.log_y);
    assert_int_equal(view(&seen, "y", "log"), 0);
    assert_true(seen.display.log_y);
    for (int axis = 1; axis <= GA_X_AXES; axis++) {
        assert_int_equal(view(&seen, "x", NULL), 0);
        assert_int_equal(seen.display.x_axis, axis % GA_X_AXES);
    }
    assert_int_equal(view(&seen, "x", "time"), 0);
    assert_int_equal(seen.display.x_axis, GA_X_TIME);
    assert_int_equal(view(&seen, "smoothing", NULL), 0);
    assert_close(seen.display.smoothing, 0.5, 0);
    assert_int_equal(view(&seen, "smoothing", "0.97"), 0);
    assert_int_equal(view(&seen, "smoothing", "less"), 0);
    assert_close(seen.display.smoothing, 0.9, 0);
    assert_int_equal(view(&seen, "zoom", "on"), 0);
    assert_true(seen.display.wish.zoom);
    assert_int_equal(view(&seen, "zoom", NULL), 0);
    assert_false(seen.display.wish.zoom);
    assert_int_equal(view(&seen, "theme", "contrast"), 0);
    assert_int_equal(seen.display.theme, GA_THEME_CONTRAST);
    assert_int_equal(view(&seen, "glyphs", "block"), 0);
    assert_int_equal(seen.display.glyphs, GA_GLYPHS_BLOCK);
    assert_int_equal(view(&seen, "panel", "staleness"), 0);
    assert_int_equal(seen.display.wish.focus, ga_panel_find("staleness"));
    assert_int_equal(view(&seen, "panel", "staleness"), 0); /* a name never zooms */
    assert_false(seen.display.wish.zoom);
    ga_text_free(&seen.answer);
}

/* What `view` prints brings the same view back. */
static void view_alone_can_be_typed_again(void **state)
{
    (void)state;
    struct seen seen = {.answer = GA_TEXT_INIT};
    ga_display_init(&seen.display);
    assert_int_equal(view(&seen, "x", "wall"), 0);
    assert_int_equal(view(&seen, "smoothing", "0.98"), 0);
    assert_int_equal(view(&seen, "panel", "weights"), 0);
    assert_int_equal(view(&seen, "glyphs", "ascii"), 0);
    assert_int_equal(view(&seen, NULL, NULL), 0);
    assert_string_equal(ga_text_get(&seen.answer),
                        "view panel weights\nview zoom off\nview y log\nview x wall\n"
                        "view smoothing 0.98\nview glyphs ascii\nview theme dark\n");
    ga_text_free(&seen.answer);
}

static void view_refuses_with_what_it_expected(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second, *expected;
    } cases[] = {
        {"colour", "red", "panel, zoom, y, x, smoothing, glyphs, theme"},
        {"y", "up", "log or linear"},
        {"x", "epochs", "updates, examples, time, wall"},
        {"zoom", "yes", "on or off"},
        {"glyphs", "emoji", "braille, block, ascii"},
        {"theme", "solarized", "dark"},
        {"smoothing", "1", "0.9999"},
        {"smoothing", "nan", "smoothing"},
        {"panel", "nothing", "loss"},
        {"panel", "0", "loss"},
        {"panel", "99", "loss"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct seen seen = {.answer = GA_TEXT_INIT};
        ga_display_init(&seen.display);
        const struct ga_display before = seen.display;
        assert_true(view(&seen, cases[i].first, cases[i].second) < 0);
        assert_non_null(strstr(ga_error_text(), cases[i].expected));
        assert_int_equal(seen.display.theme, before.theme);
        assert_int_equal(seen.display.wish.focus, before.wish.focus);
        assert_close(seen.display.smoothing, before.smoothing, 0);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_key_has_one_row),
    cmocka_unit_test(keys_that_are_bound_run_known_commands),
    cmocka_unit_test(ladders_go_one_two_five),
    cmocka_unit_test(keys_start_from_what_is_pending),
    cmocka_unit_test(pace_halves_and_doubles),
    cmocka_unit_test(hints_begin_with_what_a_beginner_needs),
    cmocka_unit_test(view_changes_what_is_shown),
    cmocka_unit_test(view_alone_can_be_typed_again),
    cmocka_unit_test(view_refuses_with_what_it_expected),
};

int main(void)
{
    return ga_test_main(tests);
}
