/* Themes, figures, status and hint lines, the log, the palette, paragraphs. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenes.h"
#include "support/support.h"
#include "ui/decoder.h"
#include "ui/figure.h"
#include "ui/palette.h"
#include "ui/panels.h"
#include "ui/paragraph.h"
#include "ui/status.h"
#include "ui/theme.h"
#include "ui/utf8.h"

/* What xterm shows for a colour of its cube (16..231) or its greys. */
static uint32_t xterm_color(int index)
{
    static const uint32_t steps[6] = {0, 95, 135, 175, 215, 255};
    const int in_cube = index - 16;

    if (index >= 232)
        return (uint32_t)(8 + 10 * (index - 232)) * 0x010101u;
    return steps[in_cube / 36] << 16 | steps[in_cube / 6 % 6] << 8 | steps[in_cube % 6];
}

static void check_contrast(enum ga_theme theme, unsigned role, uint32_t color, double want)
{
    const double contrast = ga_color_contrast(color, ga_theme_paper(theme));

    if (contrast < want)
        fail_msg("role %u of theme %s as #%06x has contrast %.2f, expected %.2f", role,
                 ga_theme_name(theme), (unsigned)color, contrast, want);
}

static void colours_stand_out(void **state)
{
    static const double least[GA_THEMES] = {
        [GA_THEME_DARK] = 3, [GA_THEME_LIGHT] = 3, [GA_THEME_CONTRAST] = 7, [GA_THEME_MONO] = 0};

    (void)state;
    for (int theme = 0; theme < GA_THEMES; theme++)
        for (unsigned role = 0; role < GA_ROLE_COUNT; role++) {
            const struct ga_style *style = ga_theme_style((enum ga_theme)theme, role);
            /* What is read as text, as a replica's figures are, needs more than a frame. */
            bool text = role != GA_ROLE_BORDER;
            double want = text && least[theme] < 4.5 ? least[theme] * 1.5 : least[theme];

            if (style->foreground.rgb == GA_COLOR_DEFAULT) {
                assert_int_equal(style->foreground.index256, GA_COLOR_DEFAULT);
                assert_int_equal(style->foreground.index16, GA_COLOR_DEFAULT);
                continue;
            }
            assert_int_not_equal(theme, GA_THEME_MONO);
            assert_in_range(style->foreground.index256, 16, 255);
            assert_in_range(style->foreground.index16, 0, 15);
            check_contrast((enum ga_theme)theme, role, (uint32_t)style->foreground.rgb, want);
            check_contrast((enum ga_theme)theme, role, xterm_color(style->foreground.index256),
                           want);
        }
}

static void contrast_is_that_of_the_standard(void **state)
{
    (void)state;
    assert_close(ga_color_contrast(0xffffff, 0x000000), 21, 1e-9);
    assert_close(ga_color_contrast(0x777777, 0xffffff), 4.478, 1e-3);
    assert_int_equal(xterm_color(16), 0x000000);
    assert_int_equal(xterm_color(130), 0xaf5f00);
    assert_int_equal(xterm_color(231), 0xffffff);
    assert_int_equal(xterm_color(240), 0x585858);
    assert_close(ga_color_contrast(0x123456, 0x123456), 1, 1e-9);
}

/* Without any colour replicas are told apart by their marks; in colour also by their hue. */
static void replicas_differ(void **state)
{
    (void)state;
    for (uint32_t a = 0; a < GA_REPLICA_ROLES; a++)
        for (uint32_t b = 0; b < a; b++) {
            for (int glyphs = 0; glyphs < 3; glyphs++)
                assert_int_not_equal(ga_replica_mark(a, (enum ga_glyphs)glyphs),
                                     ga_replica_mark(b, (enum ga_glyphs)glyphs));
            for (int theme = 0; theme < GA_THEME_MONO; theme++)
                assert_int_not_equal(
                    ga_theme_style((enum ga_theme)theme, ga_replica_role(a))->foreground.rgb,
                    ga_theme_style((enum ga_theme)theme, ga_replica_role(b))->foreground.rgb);
        }
    for (uint32_t r = 0; r < 40; r++)
        assert_in_range(ga_replica_mark(r, GA_GLYPHS_ASCII), '!', '~');
    assert_int_equal(ga_replica_role(4095), GA_ROLE_REPLICA + 7);
}

static void themes_by_name(void **state)
{
    (void)state;
    for (int theme = 0; theme < GA_THEMES; theme++)
        assert_int_equal(ga_theme_find(ga_theme_name((enum ga_theme)theme)), theme);
    assert_int_equal(ga_theme_find("solarized"), -1);
    assert_non_null(ga_theme_style((enum ga_theme)99, 99));
}

static void figures_keep_their_width(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (size_t i = 0; i < ga_test_count(100000); i++) {
        char text[GA_FIGURE_TEXT];
        double value = 0;

        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        memcpy(&value, &seed, sizeof value);
        for (int width = 7; width <= 12; width++) {
            ga_figure(text, value, width, 5);
            if ((int)strlen(text) != width)
                fail_msg("%a is \"%s\" in %d columns", value, text, width);
            if (!isfinite(value))
                continue;
            double read = strtod(text, NULL);
            if (width >= 10 && fabs(read - value) > 6e-3 * fabs(value) && fabs(value) > DBL_MIN)
                fail_msg("%a is \"%s\"", value, text);
        }
        assert_true(strlen(ga_figure_count(text, fabs(value))) <= 5);
        assert_int_equal(strlen(ga_figure_percent(text, value)), 5);
        assert_true(strlen(ga_figure_time(text, value)) < 16);
    }
}

static void familiar_figures(void **state)
{
    static const struct {
        double value;
        const char *figure, *count, *percent, *time;
    } some[] = {
        {0, " 0.0000", "0", "  0 %", "0 s"},
        {0.98413, "0.98413", "1", " 98 %", "984.1 ms"},
        {63.2041, " 63.204", "63", "999 %", "63.20 s"},
        {12345, "  12345", "12.3k", "999 %", "12345 s"},
        {1.5e-7, "1.50e-7", "0", "  0 %", "150.0 ns"},
        {999.6, " 999.60", "1.00k", "999 %", "999.6 s"},
        {1, " 1.0000", "1", "100 %", "1.000 s"},
    };
    char text[GA_FIGURE_TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        assert_string_equal(ga_figure(text, some[i].value, 7, 5), some[i].figure);
        assert_string_equal(ga_figure_count(text, some[i].value), some[i].count);
        assert_string_equal(ga_figure_percent(text, some[i].value), some[i].percent);
        assert_string_equal(ga_figure_time(text, some[i].value), some[i].time);
    }
    assert_string_equal(ga_figure(text, (double)NAN, 7, 5), "    nan");
    assert_string_equal(ga_figure_percent(text, (double)NAN), "  n/a");
    assert_string_equal(ga_figure_bytes(text, 1434), " 1.4 KiB");
    assert_string_equal(ga_figure_bytes(text, (double)NAN), "     n/a");
}

static void figures_in_a_locale_with_commas(void **state)
{
    char text[GA_FIGURE_TEXT];
    struct ga_cells cells;

    (void)state;
    if (!ga_test_comma_locale())
        ga_test_skip("localedef could not make a locale");
    ga_figure(text, 0.5, 7, 5);
    assert_int_equal(ga_cells_open(&cells, 1, 20, GA_GLYPHS_ASCII), 0);
    ga_cells_printf(&cells, 0, 0, 0, 0, "%.2f", 1.5);
    ga_test_comma_locale_end();
    assert_string_equal(text, "0.50000");
    assert_int_equal(cells.cell[1].character, '.');
    ga_cells_close(&cells);
}

static char *status_of(const struct test_scene *test, int rows, int columns)
{
    struct ga_cells cells;
    struct ga_text text = GA_TEXT_INIT;

    assert_int_equal(ga_cells_open(&cells, rows, columns, GA_GLYPHS_ASCII), 0);
    ga_status_draw(&test->scene, &cells, (struct ga_rect){0, 0, rows, columns});
    ga_cells_dump(&cells, &text);
    ga_cells_close(&cells);
    return text.data;
}

static void check_status(const struct test_scene *test, int rows, int columns, const char *want)
{
    char *text = status_of(test, rows, columns);

    assert_string_equal(text, want);
    free(text);
}

static void status_lines(void **state)
{
    struct test_scene *test = test_scene_open(TEST_SCENE_SYNC);

    (void)state;
    check_status(
        test, 2, 120,
        " PAUSED   update 128    micro 3/5  epoch 128  sync  P 2 x A 5 x b 5 = 50  sgd lr "
        "0.01  exact 3f9a27c1      - ex/s\n"
        " pending accum 5 -> 10 at update 130  loss 0.56559  pace max  time 3.213 s  window "
        "50, 25 left\n");
    check_status(test, 1, 60, " PAUSED   update 128    pending accum 5 -> 10 at update 130\n");
    check_status(test, 1, 20, " PAUSED  update 128\n");
    check_status(test, 2, 20, " PAUSED  update 128\n sync  loss 0.56559\n");
    test->view.phase = GA_PHASE_IDLE;
    test->view.pending = test->view.settings;
    check_status(test, 1, 40, " PAUSED  update 128  micro 0/5  sync\n");
    test->view.running = true;
    test->view.examples_per_second = 412345;
    test->view.phase = GA_PHASE_REDUCE;
    check_status(test, 1, 120,
                 " RUN      update 128    at reduce  epoch 128  sync  P 2 x A 5 x b 5 = 50  sgd lr "
                 "0.01  exact 3f9a27c1  loss 0.56559\n");
    test->view.jumping = true;
    check_status(test, 1, 20, " JUMP  update 128\n");
    test_scene_close(test);
}

static void pending_changes_by_when_they_hold(void **state)
{
    struct test_scene *test = test_scene_open(TEST_SCENE_SYNC);
    struct ga_text text = GA_TEXT_INIT;

    (void)state;
    test->view.phase = GA_PHASE_IDLE;
    test->view.pending.lr = 0.05;
    test->view.pending.seed = 9;
    ga_status_pending(&test->view, &text);
    assert_string_equal(ga_text_get(&text),
                        "accum 5 -> 10, lr 0.01 -> 0.05 at update 129; seed 1 -> 9 at reset");
    ga_text_free(&text);
    test_scene_close(test);
}

static void hints_that_fit(void **state)
{
    struct ga_cells cells;
    struct ga_text text = GA_TEXT_INIT;

    (void)state;
    assert_int_equal(ga_cells_open(&cells, 1, 30, GA_GLYPHS_ASCII), 0);
    ga_hint_draw(&cells, (struct ga_rect){0, 0, 1, 30}, test_hints, test_hint_count());
    ga_cells_dump(&cells, &text);
    assert_string_equal(text.data, " space run  m micro  n update\n");
    ga_text_free(&text);
    ga_cells_close(&cells);
}

static void notices_at_any_size(void **state)
{
    (void)state;
    for (int rows = 1; rows < 4; rows++)
        for (int columns = 1; columns < 30; columns++) {
            struct ga_cells cells;

            assert_int_equal(ga_cells_open(&cells, rows, columns, GA_GLYPHS_ASCII), 0);
            ga_status_notice(&cells);
            assert_int_not_equal(cells.cell[0].character, ' ');
            ga_cells_close(&cells);
        }
}

static void log_keeps_the_newest_lines(void **state)
{
    struct ga_log_lines *log = NULL;
    struct ga_log_line line;

    (void)state;
    assert_int_not_equal(ga_log_lines_open(&log, 0), 0);
    assert_int_equal(ga_log_lines_open(&log, 3), 0);
    ga_log_lines_add(log, GA_LOG_COMMAND, "m", "micro", 5);
    ga_log_lines_add(log, GA_LOG_ANSWER, "", "one\n\ntwo\x1b[0m\n", 12);
    assert_int_equal(ga_log_lines_count(log), 3);
    assert_true(ga_log_lines_get(log, 2, &line));
    assert_string_equal(line.text, "micro");
    assert_string_equal(line.key, "m");
    assert_true(ga_log_lines_get(log, 0, &line));
    assert_string_equal(line.text, "two [0m");
    ga_log_lines_add(log, GA_LOG_COMMAND, "a-long-key", "next", 4);
    ga_log_lines_add(log, GA_LOG_COMMAND, "n", "next", 4);
    assert_true(ga_log_lines_get(log, 0, &line));
    assert_int_equal(line.repeats, 2);
    assert_int_equal(ga_log_lines_total(log), 5);
    assert_false(ga_log_lines_get(log, 3, &line));
    char *large = calloc(1, 100000);
    assert_non_null(large);
    memset(large, 'x', 100000);
    ga_log_lines_add(log, GA_LOG_STDERR, "", large, 100000);
    assert_true(ga_log_lines_get(log, 0, &line));
    assert_true(strlen(line.text) <= 2000);
    ga_test_allocation_limit(0);
    ga_log_lines_add(log, GA_LOG_NOTE, "", "lost", 4);
    ga_test_allocation_free();
    assert_true(ga_log_lines_get(log, 0, &line));
    assert_int_equal(line.kind, GA_LOG_STDERR);
    free(large);
    ga_log_lines_clear(log);
    assert_int_equal(ga_log_lines_count(log), 0);
    ga_log_lines_close(log);
    ga_log_lines_close(NULL);
}

static const struct ga_palette_key keys[] = {{"m", "micro", "One micro-batch."},
                                             {"space", "run", "Runs or pauses."},
                                             {"?", "", "This page."}};

static void type(struct ga_palette *palette, const char *text)
{
    for (; *text; text++)
        assert_int_equal(ga_palette_press(palette, *text), GA_PALETTE_OPEN);
}

static void palette_finds_what_is_typed(void **state)
{
    static const struct {
        const char *typed, *choice;
    } some[] = {{"micro", "micro "},
                {"accum", "set accum "},
                {"world_size", "set replicas "},
                {"weight-decay", "set weight-decay "},
                {"weight_decay", "set weight-decay "},
                {"SET LR", "set lr "}};
    struct ga_palette *palette = NULL;

    (void)state;
    assert_int_equal(ga_palette_open(&palette, keys, 3), 0);
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        ga_palette_reset(palette);
        type(palette, some[i].typed);
        assert_int_equal(ga_palette_press(palette, GA_KEY_ENTER), GA_PALETTE_CHOSEN);
        assert_string_equal(ga_palette_choice(palette), some[i].choice);
    }
    type(palette, "zzzzqqq");
    assert_int_equal(ga_palette_press(palette, GA_KEY_ENTER), GA_PALETTE_OPEN);
    assert_string_equal(ga_palette_choice(palette), "");
    for (int i = 0; i < 100; i++)
        ga_palette_press(palette, GA_KEY_BACKSPACE);
    ga_palette_press(palette, GA_KEY_DOWN);
    ga_palette_press(palette, GA_KEY_END);
    ga_palette_press(palette, GA_KEY_PAGE_DOWN);
    assert_int_equal(ga_palette_press(palette, GA_KEY_ENTER), GA_PALETTE_CHOSEN);
    assert_true(strlen(ga_palette_choice(palette)) > 0);
    for (int i = 0; i < 300; i++)
        ga_palette_press(palette, 0x65e5);
    assert_int_equal(ga_palette_press(palette, GA_KEY_ESCAPE), GA_PALETTE_LEFT);
    ga_palette_close(palette);
    ga_palette_close(NULL);
}

static void palette_and_help_are_drawn_at_any_size(void **state)
{
    struct ga_palette *palette = NULL;

    (void)state;
    assert_int_equal(ga_palette_open(&palette, keys, 3), 0);
    type(palette, "lr");
    for (int rows = 0; rows < 30; rows += 3)
        for (int columns = 0; columns < 200; columns += 11) {
            struct ga_cells cells;
            struct ga_rect rect = {2, 3, rows, columns};

            assert_int_equal(ga_cells_open(&cells, 34, 210, GA_GLYPHS_BRAILLE), 0);
            ga_palette_draw(palette, &cells, rect);
            ga_help_draw(palette, &cells, rect, 1);
            for (int r = 0; r < 34; r++)
                for (int c = 0; c < 210; c++)
                    if (r < 2 || r >= 2 + rows || c < 3 || c >= 3 + columns)
                        assert_int_equal(cells.cell[r * 210 + c].character, ' ');
            ga_cells_close(&cells);
        }
    ga_palette_close(palette);
}

static void palette_needs_its_memory(void **state)
{
    (void)state;
    for (int64_t successes = 0; successes < 2000; successes++) {
        struct ga_palette *palette = NULL;

        ga_test_allocation_limit(successes);
        int code = ga_palette_open(&palette, keys, 3);
        ga_test_allocation_free();
        if (code == 0) {
            ga_palette_close(palette);
            return;
        }
        assert_null(palette);
    }
    fail_msg("no number of allocations was enough");
}

static void long_words_lose_their_middle(void **state)
{
    char text[600] = "cannot open /a/";

    (void)state;
    memset(text + 15, 'n', 400);
    strcpy(text + 415, ".csv: No such file");
    ga_paragraph_shorten(text, 200, 4); /* fits */
    assert_int_equal(strlen(text), 433);
    ga_paragraph_shorten(text, 60, 2);
    assert_in_range(ga_paragraph_rows(text, 60), 1, 2);
    assert_true(strlen(text) > 60); /* and no more than is needed */
    assert_int_equal(strncmp(text, "cannot open /a/nnn", 18), 0);
    assert_non_null(strstr(text, "n\u2026n"));
    assert_null(strstr(strstr(text, "\u2026") + 3, "\u2026"));
    assert_non_null(strstr(text, "nnn.csv: No such file"));
    ga_paragraph_shorten(text, 20, 0); /* cannot be */
    assert_in_range(strlen(text), 30, 60);
    for (size_t length = 25; length < 200; length++) {
        for (size_t at = 0; at < length; at += 3)
            memcpy(text + at, "\u20ac", 4);
        ga_paragraph_shorten(text, 1, 1);
        assert_in_range(strlen(text), 8, 24);
        for (const char *at = text; *at;) {
            uint32_t character = 0;

            at += ga_utf8_read(at, strlen(at), &character);
            assert_true(character == 0x20ac || character == 0x2026);
        }
    }
}

/* A log of two rows still shows why a file with a very long name could not be written. */
static void the_log_shows_the_reason(void **state)
{
    struct test_scene *test = test_scene_open(TEST_SCENE_SYNC);
    struct ga_panel_state *panel = NULL;
    struct ga_text picture = GA_TEXT_INIT;
    struct ga_cells cells;
    char text[480] = "gaconsole: cannot write ";

    (void)state;
    memset(text + 24, 'n', 400);
    strcpy(text + 424, ": File name too long");
    ga_log_lines_clear(test->log);
    ga_log_lines_add(test->log, GA_LOG_COMMAND, "", text + 24, 400);
    ga_log_lines_add(test->log, GA_LOG_FAILURE, "", text, strlen(text));
    assert_int_equal(ga_cells_open(&cells, 3, 60, GA_GLYPHS_ASCII), 0);
    assert_int_equal(ga_panel_log.open(&panel), 0);
    ga_panel_log.draw(panel, &test->scene, &cells, (struct ga_rect){0, 0, 3, 60});
    ga_cells_dump(&cells, &picture);
    if (!strstr(ga_text_get(&picture), "nnn: File name") ||
        !strstr(ga_text_get(&picture), "gaconsole: cannot write"))
        fail_msg("%s", ga_text_get(&picture));
    ga_text_free(&picture);
    ga_panel_log.close(panel);
    ga_cells_close(&cells);
    test_scene_close(test);
}

/* Of an answer that does not fit above a newer one the beginning is seen, and nothing is drawn
 * outside the panel. */
static void the_log_leaves_no_row_empty(void **state)
{
    struct test_scene *test = test_scene_open(TEST_SCENE_SYNC);
    struct ga_panel_state *panel = NULL;
    struct ga_text picture = GA_TEXT_INIT;
    struct ga_cells cells;

    (void)state;
    ga_log_lines_clear(test->log);
    ga_log_lines_add(test->log, GA_LOG_NOTE, "", "a b c d e f g h i j k l m n o p q r s t", 39);
    ga_log_lines_add(test->log, GA_LOG_NOTE, "", "last", 4);
    assert_int_equal(ga_cells_open(&cells, 4, 20, GA_GLYPHS_ASCII), 0);
    assert_int_equal(ga_panel_log.open(&panel), 0);
    ga_panel_log.draw(panel, &test->scene, &cells, (struct ga_rect){1, 0, 2, 20});
    ga_cells_dump(&cells, &picture);
    assert_string_equal(ga_text_get(&picture), "\n       a b c d e f~\n       last\n\n");
    ga_text_free(&picture);
    ga_panel_log.close(panel);
    ga_cells_close(&cells);
    test_scene_close(test);
}

static void paragraphs_are_broken_at_blanks(void **state)
{
    static const char text[] =
        "one two three four\n  indented words go on\n\nlast-word-too-long-to-fit";
    struct ga_cells cells;
    struct ga_text picture = GA_TEXT_INIT;

    (void)state;
    assert_int_equal(ga_cells_open(&cells, 12, 14, GA_GLYPHS_ASCII), 0);
    ga_paragraph_draw(text, 0, NULL, &cells, (struct ga_rect){0, 0, 12, 14});
    ga_cells_dump(&cells, &picture);
    assert_string_equal(picture.data, "one two three\n  four\n  indented\n    words go\n    on\n\n"
                                      "last-word-too-\n  long-to-fit\n\n\n\n\n");
    assert_int_equal(ga_paragraph_rows(text, 14), 8);
    for (int columns = -1; columns < 40; columns++) {
        int rows = ga_paragraph_rows(text, columns);

        ga_cells_clear(&cells);
        ga_paragraph_draw(text, rows - 1, NULL, &cells, (struct ga_rect){0, 0, 12, columns});
        if (columns > 0)
            assert_int_not_equal(cells.cell[columns >= 26 ? 0 : 2 * (columns > 4)].character, ' ');
        assert_int_equal(cells.cell[14].character, ' ');
    }
    assert_int_equal(ga_paragraph_rows("", 10), 0);
    ga_text_free(&picture);
    ga_cells_close(&cells);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colours_stand_out),
        cmocka_unit_test(contrast_is_that_of_the_standard),
        cmocka_unit_test(replicas_differ),
        cmocka_unit_test(themes_by_name),
        cmocka_unit_test(figures_keep_their_width),
        cmocka_unit_test(familiar_figures),
        cmocka_unit_test(figures_in_a_locale_with_commas),
        cmocka_unit_test(status_lines),
        cmocka_unit_test(pending_changes_by_when_they_hold),
        cmocka_unit_test(hints_that_fit),
        cmocka_unit_test(notices_at_any_size),
        cmocka_unit_test(log_keeps_the_newest_lines),
        cmocka_unit_test(palette_finds_what_is_typed),
        cmocka_unit_test(palette_and_help_are_drawn_at_any_size),
        cmocka_unit_test(palette_needs_its_memory),
        cmocka_unit_test(long_words_lose_their_middle),
        cmocka_unit_test(the_log_shows_the_reason),
        cmocka_unit_test(the_log_leaves_no_row_empty),
        cmocka_unit_test(paragraphs_are_broken_at_blanks),
    };

    return ga_test_main(tests);
}
