/*
 * Whole screens: golden pictures of fixed scenes, and what must hold at every size.
 *
 * With GA_GOLDEN_WRITE=1 the pictures are written instead of compared: look at each before it is
 * kept.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenes.h"
#include "support/support.h"
#include "ui/decoder.h"
#include "ui/screen.h"

static const char *const glyph_names[] = {"braille", "block", "ascii"};
static const char *const scene_names[TEST_SCENES] = {"empty", "sync", "async", "classes",
                                                     "stopped"};

struct picture {
    struct ga_screen *screen;
    struct ga_cells cells;
    struct ga_layout layout;
    struct ga_layout_wish wish;
};

static void picture_open(struct picture *picture, int rows, int columns, enum ga_glyphs glyphs)
{
    assert_int_equal(ga_screen_open(&picture->screen), 0);
    assert_int_equal(ga_cells_open(&picture->cells, rows, columns, glyphs), 0);
    ga_layout_wish_init(&picture->wish, rows, columns);
}

static void picture_close(struct picture *picture)
{
    ga_screen_close(picture->screen);
    ga_cells_close(&picture->cells);
}

static void picture_draw(struct picture *picture, const struct test_scene *test)
{
    size_t replicas = test->view.replicas < 64 ? test->view.replicas : 64;

    picture->wish.table_rows = (int)replicas + 1;
    ga_layout_make(&picture->layout, &picture->wish);
    ga_screen_draw(picture->screen, &test->scene, &picture->layout, picture->wish.focus, test_hints,
                   test_hint_count(), &picture->cells);
}

static void compare(const char *name, const struct ga_text *picture)
{
    char path[512];

    snprintf(path, sizeof path, "%s/golden/%s.txt", GA_TEST_DIR, name);
    if (getenv("GA_GOLDEN_WRITE")) {
        ga_test_write_file(path, picture->data, picture->length);
        return;
    }
    size_t length = 0;
    char *want = ga_test_read_file(path, &length);
    if (strcmp(want, ga_text_get(picture)) != 0)
        print_error("%s differs; it is now:\n%s", path, ga_text_get(picture));
    assert_string_equal(ga_text_get(picture), want);
    free(want);
}

static void golden(enum test_scene_kind kind, int rows, int columns, enum ga_glyphs glyphs)
{
    struct test_scene *test = test_scene_open(kind);
    struct picture picture;
    struct ga_text text = GA_TEXT_INIT;
    char name[96];

    picture_open(&picture, rows, columns, glyphs);
    picture_draw(&picture, test);
    ga_cells_dump(&picture.cells, &text);
    snprintf(name, sizeof name, "%s-%dx%d-%s", scene_names[kind], columns, rows,
             glyph_names[glyphs]);
    compare(name, &text);
    ga_text_free(&text);
    picture_close(&picture);
    test_scene_close(test);
}

static void pictures_of_a_window_under_way(void **state)
{
    (void)state;
    for (int glyphs = GA_GLYPHS_BRAILLE; glyphs <= GA_GLYPHS_ASCII; glyphs++) {
        golden(TEST_SCENE_SYNC, 24, 80, (enum ga_glyphs)glyphs);
        golden(TEST_SCENE_SYNC, 36, 120, (enum ga_glyphs)glyphs);
    }
    golden(TEST_SCENE_SYNC, 12, 40, GA_GLYPHS_BRAILLE);
    golden(TEST_SCENE_SYNC, 60, 200, GA_GLYPHS_BRAILLE);
    golden(TEST_SCENE_SYNC, 3, 20, GA_GLYPHS_ASCII);
    golden(TEST_SCENE_SYNC, 2, 19, GA_GLYPHS_ASCII);
}

static void pictures_of_other_scenes(void **state)
{
    (void)state;
    golden(TEST_SCENE_EMPTY, 24, 80, GA_GLYPHS_BRAILLE);
    golden(TEST_SCENE_ASYNC, 36, 120, GA_GLYPHS_BRAILLE);
    golden(TEST_SCENE_ASYNC, 60, 200, GA_GLYPHS_ASCII);
    golden(TEST_SCENE_CLASSES, 36, 120, GA_GLYPHS_BLOCK);
    golden(TEST_SCENE_STOPPED, 36, 120, GA_GLYPHS_BRAILLE);
    golden(TEST_SCENE_STOPPED, 24, 80, GA_GLYPHS_ASCII);
}

/* A close-up that is older than the numbers beside it names its update, and only then. */
static void what_is_older_says_so(void **state)
{
    struct test_scene *test = test_scene_open(TEST_SCENE_SYNC);
    struct picture picture;

    (void)state;
    test->closeup.windows = 120;
    picture_open(&picture, 60, 200, GA_GLYPHS_BRAILLE);
    for (int running = 0; running < 2; running++)
        for (int behind = 0; behind < 2; behind++) {
            struct ga_text text = GA_TEXT_INIT;

            test->view.running = running;
            test->view.counters.skipped = 0;
            test->view.counters.updates = 120 + 8 * (uint64_t)behind;
            picture_draw(&picture, test);
            ga_cells_dump(&picture.cells, &text);
            const char *mark = strstr(ga_text_get(&text), "at update 120  parabola");
            assert_int_equal(mark != NULL, running && behind);
            ga_text_free(&text);
        }
    picture_close(&picture);
    test_scene_close(test);
}

/* GPUs beside the CPU: a healthy one, and one that fell off the bus. */
static void picture_of_gpus(void **state)
{
    struct test_scene *test = test_scene_open(TEST_SCENE_CLASSES);
    struct picture picture;
    struct ga_text text = GA_TEXT_INIT;

    (void)state;
    picture_open(&picture, 12, 120, GA_GLYPHS_BRAILLE);
    picture.wish.focus = GA_PANEL_DEVICES;
    picture.wish.zoom = true;
    picture_draw(&picture, test);
    ga_cells_dump(&picture.cells, &text);
    compare("gpus-120x12-braille", &text);
    ga_text_free(&text);
    picture_close(&picture);
    test_scene_close(test);
}

/* Each panel alone on a whole screen, where it is most at ease. */
static void pictures_of_each_panel(void **state)
{
    static const enum test_scene_kind kinds[GA_PANELS] = {
        [GA_PANEL_LOSS] = TEST_SCENE_ASYNC,      [GA_PANEL_FIT] = TEST_SCENE_CLASSES,
        [GA_PANEL_REPLICAS] = TEST_SCENE_ASYNC,  [GA_PANEL_TIMELINE] = TEST_SCENE_ASYNC,
        [GA_PANEL_EXPLAIN] = TEST_SCENE_SYNC,    [GA_PANEL_NORMS] = TEST_SCENE_SYNC,
        [GA_PANEL_STALENESS] = TEST_SCENE_ASYNC, [GA_PANEL_WEIGHTS] = TEST_SCENE_SYNC,
        [GA_PANEL_DEVICES] = TEST_SCENE_SYNC,    [GA_PANEL_RUNS] = TEST_SCENE_ASYNC,
        [GA_PANEL_LOG] = TEST_SCENE_STOPPED,     [GA_PANEL_LESSON] = TEST_SCENE_SYNC,
    };

    (void)state;
    for (int panel = 0; panel < GA_PANELS; panel++) {
        struct test_scene *test = test_scene_open(kinds[panel]);
        struct picture picture;
        struct ga_text text = GA_TEXT_INIT;
        char name[96];

        picture_open(&picture, 24, 80, GA_GLYPHS_BRAILLE);
        picture.wish.focus = panel;
        picture.wish.zoom = true;
        picture_draw(&picture, test);
        ga_cells_dump(&picture.cells, &text);
        snprintf(name, sizeof name, "panel-%s", ga_panel_at(panel)->name);
        compare(name, &text);
        ga_text_free(&text);
        picture_close(&picture);
        test_scene_close(test);
    }
}

/* No cell but those of the panel has changed, and inside its frame something is drawn. */
static void check_panel(struct picture *picture, const struct test_scene *test, int place)
{
    struct ga_rect rect = picture->layout.place[place].rect;
    struct ga_layout alone = picture->layout;
    int drawn = 0;

    alone.places = 1;
    alone.place[0] = picture->layout.place[place];
    alone.status = alone.hint = (struct ga_rect){0, 0, 0, 0};
    ga_screen_draw(picture->screen, &test->scene, &alone, -1, NULL, 0, &picture->cells);
    for (int r = 0; r < picture->cells.rows; r++)
        for (int c = 0; c < picture->cells.columns; c++) {
            bool inside = r >= rect.row && r < rect.row + rect.rows && c >= rect.column &&
                          c < rect.column + rect.columns;
            bool edge = r == rect.row || r == rect.row + rect.rows - 1 || c == rect.column ||
                        c == rect.column + rect.columns - 1;
            uint32_t character = picture->cells.cell[r * picture->cells.columns + c].character;

            if (!inside && character != ' ')
                fail_msg("panel %s at %dx%d draws outside, at row %d, column %d",
                         ga_panel_at(alone.place[0].panel)->name, picture->cells.columns,
                         picture->cells.rows, r, c);
            drawn += inside && !edge && character != ' ';
        }
    if (drawn == 0)
        fail_msg("panel %s is empty at %dx%d", ga_panel_at(alone.place[0].panel)->name,
                 picture->cells.columns, picture->cells.rows);
}

/* A size a step, in an order that changes both ways. */
static void every_size_is_drawn(enum test_scene_kind kind, enum ga_glyphs glyphs, int step)
{
    struct test_scene *test = test_scene_open(kind);
    struct picture picture;

    picture_open(&picture, 1, 1, glyphs);
    for (int rows = 1; rows <= 80; rows += rows < 12 ? 1 : step)
        for (int columns = 1; columns <= 250; columns += columns < 44 ? 1 : 2 * step + 1) {
            assert_int_equal(ga_cells_resize(&picture.cells, rows, columns), 0);
            picture.wish.rows = rows;
            picture.wish.columns = columns;
            picture.wish.focus = (rows * 7 + columns) % (GA_PANELS + 1) - 1;
            picture.wish.zoom = (rows + columns) % 5 == 0;
            picture.wish.lesson_rows =
                (rows + columns) % 7 == 0 && *test->scene.lesson ? 1 + rows % 9 : 0;
            picture_draw(&picture, test);
            for (int i = 0; i < picture.layout.places; i++)
                check_panel(&picture, test, i);
        }
    picture_close(&picture);
    test_scene_close(test);
}

static void no_panel_is_empty_or_draws_outside(void **state)
{
    (void)state;
    for (int kind = 0; kind < TEST_SCENES; kind++)
        every_size_is_drawn((enum test_scene_kind)kind, (enum ga_glyphs)(kind % 3), 5);
}

/* What was drawn before at another size leaves no trace. */
static void a_size_looks_the_same_whatever_came_before(void **state)
{
    struct test_scene *test = test_scene_open(TEST_SCENE_SYNC);
    struct picture fresh, used;
    struct ga_text a = GA_TEXT_INIT, b = GA_TEXT_INIT;

    (void)state;
    picture_open(&fresh, 36, 120, GA_GLYPHS_BRAILLE);
    picture_open(&used, 60, 200, GA_GLYPHS_BRAILLE);
    picture_draw(&used, test);
    assert_int_equal(ga_cells_resize(&used.cells, 3, 21), 0);
    ga_layout_wish_init(&used.wish, 3, 21);
    picture_draw(&used, test);
    assert_int_equal(ga_cells_resize(&used.cells, 36, 120), 0);
    ga_layout_wish_init(&used.wish, 36, 120);
    picture_draw(&used, test);
    picture_draw(&fresh, test);
    ga_cells_dump(&fresh.cells, &a);
    ga_cells_dump(&used.cells, &b);
    assert_string_equal(ga_text_get(&a), ga_text_get(&b));
    ga_text_free(&a);
    ga_text_free(&b);
    picture_close(&fresh);
    picture_close(&used);
    test_scene_close(test);
}

static void glyph_sets_keep_their_promise(void **state)
{
    (void)state;
    for (int kind = 0; kind < TEST_SCENES; kind++)
        for (int glyphs = 0; glyphs < 3; glyphs++)
            for (int focus = -1; focus < GA_PANELS; focus++) {
                struct test_scene *test = test_scene_open((enum test_scene_kind)kind);
                struct picture picture;

                picture_open(&picture, 40, 130, (enum ga_glyphs)glyphs);
                picture.wish.focus = focus;
                picture.wish.zoom = focus >= 0;
                picture_draw(&picture, test);
                for (int i = 0; i < 40 * 130; i++) {
                    assert_int_not_equal(picture.cells.cell[i].character, 0x2800);
                    if (glyphs == GA_GLYPHS_ASCII)
                        assert_in_range(picture.cells.cell[i].character, ' ', '~');
                    if (glyphs == GA_GLYPHS_BLOCK)
                        assert_false(picture.cells.cell[i].character > 0x2800 &&
                                     picture.cells.cell[i].character < 0x2900);
                }
                picture_close(&picture);
                test_scene_close(test);
            }
}

/* Keys in every panel: none may harm, and the picture stays inside. */
static void keys_scroll_and_zoom_without_harm(void **state)
{
    static const int keys[] = {GA_KEY_UP,      GA_KEY_DOWN, GA_KEY_LEFT, GA_KEY_RIGHT,
                               GA_KEY_PAGE_UP, GA_KEY_HOME, GA_KEY_END,  GA_KEY_PAGE_DOWN,
                               GA_KEY_ESCAPE,  'x'};
    const size_t count = sizeof keys / sizeof *keys;

    (void)state;
    for (int kind = 0; kind < TEST_SCENES; kind++) {
        struct test_scene *test = test_scene_open((enum test_scene_kind)kind);
        struct picture picture;

        picture_open(&picture, 30, 100, GA_GLYPHS_BRAILLE);
        for (int focus = 0; focus < GA_PANELS; focus++)
            for (size_t i = 0; i < 40; i++) {
                picture.wish.focus = focus;
                picture_draw(&picture, test);
                ga_screen_key(picture.screen, &test->scene, focus,
                              keys[(i * i + (size_t)focus + i) % count]);
            }
        picture_close(&picture);
        test_scene_close(test);
    }
}

static void arrows_choose_the_parameter(void **state)
{
    struct test_scene *test = test_scene_open(TEST_SCENE_SYNC);
    struct picture picture;

    (void)state;
    picture_open(&picture, 36, 120, GA_GLYPHS_BRAILLE);
    picture_draw(&picture, test);
    assert_true(ga_screen_key(picture.screen, &test->scene, GA_PANEL_EXPLAIN, GA_KEY_RIGHT));
    assert_int_equal(ga_screen_parameter(picture.screen), 1);
    assert_true(ga_screen_key(picture.screen, &test->scene, GA_PANEL_WEIGHTS, GA_KEY_LEFT));
    assert_true(ga_screen_key(picture.screen, &test->scene, GA_PANEL_EXPLAIN, GA_KEY_LEFT));
    assert_int_equal(ga_screen_parameter(picture.screen), 15);
    assert_true(ga_screen_key(picture.screen, &test->scene, GA_PANEL_EXPLAIN, GA_KEY_RIGHT));
    assert_int_equal(ga_screen_parameter(picture.screen), 0);
    assert_false(ga_screen_key(picture.screen, &test->scene, GA_PANEL_DEVICES, 'm'));
    assert_false(ga_screen_key(picture.screen, &test->scene, -1, GA_KEY_UP));
    picture_close(&picture);
    test_scene_close(test);
}

/* Numbers keep their places while a run goes on: same text but for digits, at the same columns. */
static void numbers_do_not_move(void **state)
{
    struct test_scene *test = test_scene_open(TEST_SCENE_ASYNC);
    struct picture picture;
    struct ga_text first = GA_TEXT_INIT, other = GA_TEXT_INIT;

    (void)state;
    test->view.record.epoch = 400;
    picture_open(&picture, 12, 140, GA_GLYPHS_ASCII);
    picture.wish.focus = GA_PANEL_REPLICAS;
    picture_draw(&picture, test);
    ga_cells_dump(&picture.cells, &first);
    for (size_t r = 0; r < test->view.replicas; r++) {
        test->view.replica[r].loss = 1234.5 * (double)(r + 1);
        test->view.replica[r].norm = 1e-7 * (double)(r + 1);
        test->view.replica[r].idle = 1;
    }
    test->view.record.loss = 1e-9;
    test->view.counters.updates = 99999;
    picture_draw(&picture, test);
    ga_cells_dump(&picture.cells, &other);
    assert_int_equal(first.length, other.length);
    for (size_t i = 0; i < first.length; i++)
        if (strchr("|#:+", first.data[i]))
            assert_int_equal(first.data[i], other.data[i]);
    ga_text_free(&first);
    ga_text_free(&other);
    picture_close(&picture);
    test_scene_close(test);
}

static void a_screen_that_cannot_be_had_says_so(void **state)
{
    (void)state;
    for (int64_t successes = 0; successes < 40; successes++) {
        struct ga_screen *screen = NULL;

        ga_test_allocation_limit(successes);
        int code = ga_screen_open(&screen);
        ga_test_allocation_free();
        if (code == 0) {
            assert_true(successes >= GA_PANELS);
            ga_screen_close(screen);
            return;
        }
        assert_null(screen);
    }
    fail_msg("no number of allocations was enough");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_of_a_window_under_way),
        cmocka_unit_test(pictures_of_other_scenes),
        cmocka_unit_test(picture_of_gpus),
        cmocka_unit_test(what_is_older_says_so),
        cmocka_unit_test(pictures_of_each_panel),
        cmocka_unit_test(no_panel_is_empty_or_draws_outside),
        cmocka_unit_test(a_size_looks_the_same_whatever_came_before),
        cmocka_unit_test(glyph_sets_keep_their_promise),
        cmocka_unit_test(keys_scroll_and_zoom_without_harm),
        cmocka_unit_test(arrows_choose_the_parameter),
        cmocka_unit_test(numbers_do_not_move),
        cmocka_unit_test(a_screen_that_cannot_be_had_says_so),
    };

    return ga_test_main(tests);
}
