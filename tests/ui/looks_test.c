/* What may and may not be on the screen: characters, colours, sizes, the output of libraries. */
#include "pseudo.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "support/support.h"

/* Whether a select-graphic-rendition sequence in what was written asks for a colour. */
static bool asks_for_color(const struct pty *pty)
{
    const char *end = pty->raw.data + pty->raw.length;
    for (const char *at = pty->raw.data; at && at < end; at++) {
        at = memmem(at, (size_t)(end - at), "\x1b[", 2);
        if (!at)
            return false;
        const size_t length = strspn(at + 2, "0123456789;");
        if (at[2 + length] != 'm')
            continue;
        for (const char *number = at + 2; number < at + 2 + length;) {
            char *next = NULL;
            const long value = strtol(number, &next, 10);
            if ((value >= 30 && value <= 49) || (value >= 90 && value <= 107))
                return true;
            number = next + 1;
        }
    }
    return false;
}

static size_t beyond_ascii(const struct pty *pty)
{
    size_t count = 0;
    for (size_t i = 0; i < pty->raw.length; i++)
        count += (unsigned char)pty->raw.data[i] > 127;
    return count;
}

/* Some of everything on the screen. */
static void train_a_little(struct pty *pty)
{
    pty_expect(pty, "PAUSED");
    pty_type(pty, ":set pace max\r");
    pty_expect(pty, "pace max");
    pty_type(pty, ":run 300\r");
    pty_expect(pty, "at update 300");
    pty_type(pty, "mm");
    pty_expect(pty, "micro 1/5");
}

static void without_utf8_nothing_is_beyond_ascii(void **state)
{
    struct pty *pty = *state;
    static const char *const argv[] = {"gaconsole", "--glyphs", "braille", NULL};
    static const char *const env[] = {"LC_ALL=C", NULL};
    pty_open(pty, &(struct pty_options){.argv = argv, .env = env});
    train_a_little(pty);
    pty_type(pty, "?");
    pty_expect(pty, "Runs, or pauses");
    pty_type(pty, "\x1b");
    pty_expect_gone(pty, "Runs, or pauses");
    pty_type(pty, "g");
    pty_expect(pty, "the locale has no UTF-8");
    pty_type(pty, ":say h\xc3\xa9llo\r"); /* what is typed beyond it is left out */
    pty_expect(pty, "hllo");
    pty_type(pty, "12345678");
    pty_type(pty, "q");
    pty_expect_exit(pty, 0);
    assert_int_equal(beyond_ascii(pty), 0);
}

static void glyphs_change_while_it_runs(void **state)
{
    struct pty *pty = *state;
    pty_open(pty, NULL);
    train_a_little(pty);
    assert_true(beyond_ascii(pty) > 0);
    pty_type(pty, ":view glyphs ascii\r");
    pty_expect(pty, "P 2 x A 5 x b 5 = 50");
    pty_type(pty, ":view glyphs block\r");
    pty_expect(pty, "P 2 \xc3\x97 A 5 \xc3\x97 b 5 = 50");
    pty_type(pty, "gg"); /* ascii, braille */
    pty_type(pty, ":view\r");
    pty_expect(pty, "view glyphs braille");
    pty_type(pty, "q");
    pty_expect_exit(pty, 0);
    /* The empty braille pattern is a blank in some fonts and a box in others. */
    assert_null(memmem(pty->raw.data, pty->raw.length, "\xe2\xa0\x80", 3));
}

static void no_color_is_obeyed(void **state)
{
    struct pty *pty = *state;
    static const char *const env[] = {"NO_COLOR=1", NULL};
    static const char *const never[] = {"gaconsole", "--color", "never", NULL};
    static const char *const always[] = {"gaconsole", "--color=always", NULL};
    static const struct {
        const char *const *argv;
        const char *const *env;
        bool colored;
    } cases[] = {{NULL, env, false}, {never, NULL, false}, {always, env, true}, {NULL, NULL, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        pty_open(pty, &(struct pty_options){.argv = cases[i].argv, .env = cases[i].env});
        train_a_little(pty);
        pty_type(pty, "TTTT");
        pty_type(pty, "q");
        pty_expect_exit(pty, 0);
        assert_int_equal(asks_for_color(pty), cases[i].colored);
    }
}

/* Terminals of all kinds, down to one that has neither colours nor an alternate screen. */
static void other_terminals(void **state)
{
    struct pty *pty = *state;
    static const char *const terms[] = {"TERM=vt100", "TERM=linux",  "TERM=screen",
                                        "TERM=xterm", "TERM=ansi",   "TERM=tmux-256color",
                                        "TERM=rxvt",  "TERM=cygwin", "TERM=vt220"};
    for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
        const char *const env[] = {terms[i], NULL};
        pty_open(pty, &(struct pty_options){.env = env});
        pty_expect(pty, "update 0");
        pty_type(pty, ":set pace max\r:run 30\r");
        pty_expect(pty, "at update 30");
        pty_type(pty, "q");
        pty_expect_exit(pty, 0);
    }
}

/* Nobody asked for the mouse: selecting text goes on working. */
static void the_mouse_is_left_alone(void **state)
{
    struct pty *pty = *state;
    static const char *const modes[] = {"9",    "1000", "1001", "1002",
                                        "1003", "1005", "1006", "1015"};
    char bytes[16];
    pty_open(pty, NULL);
    train_a_little(pty);
    pty_type(pty, "q");
    pty_expect_exit(pty, 0);
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        const int length = snprintf(bytes, sizeof(bytes), "\x1b[?%sh", modes[i]);
        assert_null(memmem(pty->raw.data, pty->raw.length, bytes, (size_t)length));
    }
}

/* The terminal's own foreground and background: a light one stays light. */
static void the_usual_colors_are_the_terminals_own(void **state)
{
    struct pty *pty = *state;
    pty_open(pty, NULL);
    pty_expect(pty, "PAUSED");
    char *row = pty_row(pty, 0);
    const char *found = strstr(row, "P 2 ");
    assert_non_null(found);
    const struct pty_cell cell = pty_cell(pty, 0, (int)(found - row));
    assert_int_equal(cell.character, 'P');
    assert_false(cell.colored);
    free(row);
    pty_type(pty, "q");
    pty_expect_exit(pty, 0);
}

/* After any sizes the last one looks like a fresh start at it. */
static void sizes_leave_no_trace(void **state)
{
    struct pty *pty = *state;
    static const int sizes[][2] = {{36, 120}, {1, 1},  {100, 300}, {2, 20},   {24, 80},
                                   {3, 300},  {60, 9}, {12, 40},   {44, 160}, {24, 80}};
    const size_t count = sizeof(sizes) / sizeof(sizes[0]);
    pty_open(pty, NULL);
    pty_expect(pty, "PAUSED");
    for (size_t i = 0; i < count; i++) {
        struct pty fresh = {.home = NULL};
        pty_resize(pty, sizes[i][0], sizes[i][1]);
        pty_open(&fresh, &(struct pty_options){.rows = sizes[i][0], .columns = sizes[i][1]});
        const int64_t deadline_ns = pty_deadline_ns();
        bool same = false;
        while (!same && ga_now_ns() < deadline_ns) {
            pty_pump(pty, ga_now_ns() + 10000000);
            pty_pump(&fresh, ga_now_ns() + 10000000);
            char *one = pty_screen(pty);
            char *other = pty_screen(&fresh);
            same = strcmp(one, other) == 0 &&
                   (strstr(one, "update 0") || sizes[i][1] < 20 || sizes[i][0] < 3);
            if (!same && ga_now_ns() >= deadline_ns)
                fprintf(stderr, "%d x %d, resized:\n%s\nfresh:\n%s\n", sizes[i][0], sizes[i][1],
                        one, other);
            free(one);
            free(other);
        }
        pty_close(&fresh);
        assert_true(same);
    }
    pty_type(pty, "q");
    pty_expect_exit(pty, 0);
}

/* In the middle of a line, in help, in the palette, at a question. */
static void sizes_change_anywhere(void **state)
{
    struct pty *pty = *state;
    static const struct {
        const char *keys, *shown;
    } places[] = {{":say abc", "(gaconsole) say abc"},
                  {"?", "Runs, or pauses"},
                  {"/", "Enter take"},
                  {"R", "reset?"},
                  {":set l\t\t", "log-every"}};
    pty_open(pty, NULL);
    pty_expect(pty, "PAUSED");
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        pty_type(pty, places[i].keys);
        pty_expect(pty, places[i].shown);
        for (int rows = 40; rows > 0; rows -= 3)
            pty_resize(pty, rows, rows * 3);
        pty_resize(pty, 36, 120);
        pty_settle(pty);
        pty_expect(pty, places[i].shown);
        pty_type(pty, "\x1b");
        pty_expect(pty, "m micro");
    }
    pty_type(pty, ":say kept while the size changes");
    pty_resize(pty, 20, 60);
    pty_resize(pty, 30, 100);
    pty_settle(pty);
    pty_expect(pty, "(gaconsole) say kept while the size changes");
    pty_type(pty, "\x03"); /* the line, then what it stood in */
    pty_expect_gone(pty, "kept while");
    pty_type(pty, "\x03");
    pty_expect(pty, "ctrl-C once more");
    pty_type(pty, "q");
    pty_expect_exit(pty, 0);
}

/* What a library writes to either stream becomes lines of the log. */
static void stray_output_goes_to_the_log(void **state)
{
    struct pty *pty = *state;
    static const char *const env[] = {"LD_PRELOAD=" GA_NOISE, NULL};
    pty_open(pty, &(struct pty_options){.env = env});
    pty_expect(pty, "PAUSED");
    pty_signal(pty, SIGRTMIN);
    pty_expect(pty, "NOISE on standard error");
    pty_expect(pty, "[31mstandard output");
    char *screen = pty_screen(pty);
    const char *log = strstr(screen, " log ");
    assert_non_null(log);
    assert_true(strstr(screen, "NOISE") > log);
    free(screen);
    pty_type(pty, "\x1a"); /* no shell: nothing stops, the screen is drawn again */
    pty_expect(pty, "NOISE on standard error");
    pty_type(pty, "q");
    pty_expect_exit(pty, 0);
    pty_expect_restored(pty);
}

/* It is not lost when the program dies: it stands below the restored screen. */
static void last_words_are_not_lost(void **state)
{
    struct pty *pty = *state;
    static const char *const env[] = {"LD_PRELOAD=" GA_NOISE, NULL};
    pty_open(pty, &(struct pty_options){.env = env});
    pty_expect(pty, "PAUSED");
    pty_signal(pty, SIGRTMAX);
    pty_expect_signal(pty, SIGABRT);
    pty_expect_restored(pty);
    pty_expect(pty, "NOISE before the end");
}

/* The last screen that a recording leads to, on a terminal of its own. */
static char *play(const char *path)
{
    struct pty player = {.rows = 36, .columns = 120, .home = NULL};
    char *bytes = ga_test_read_file(path, NULL);
    char *rest = NULL;
    int events = 0;
    pty_open_screen(&player);
    for (char *line = strtok_r(bytes, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        json_t *event = json_loads(line, 0, NULL);
        assert_non_null(event);
        const char *kind = json_string_value(json_array_get(event, 1));
        const char *data = json_string_value(json_array_get(event, 2));
        if (kind && *kind == 'o')
            pty_feed(&player, data, strlen(data));
        else if (kind && sscanf(data, "%dx%d", &player.columns, &player.rows) == 2)
            pty_fit_screen(&player);
        events += kind != NULL;
        json_decref(event);
    }
    assert_true(events > 3);
    char *screen = pty_screen(&player);
    pty_close_screen(&player);
    free(bytes);
    return screen;
}

/* Played back, a recording leads to the screen that was there, at its last size. */
static void a_recording_leads_to_the_same_screen(void **state)
{
    struct pty *pty = *state;
    char *folder = ga_test_folder();
    char *path = ga_test_path(folder, "a.cast");
    char line[512];
    pty_open(pty, NULL);
    pty_expect(pty, "PAUSED");
    snprintf(line, sizeof(line), ":log cast %s\r", path);
    pty_type(pty, line);
    pty_expect(pty, "the screen is recorded to");
    pty_type(pty, ":log cast other\r");
    pty_expect(pty, "already");
    train_a_little(pty);
    pty_resize(pty, 30, 100);
    pty_type(pty, "TTTg"); /* themes, glyphs */
    pty_type(pty, ":say half ty");
    pty_expect(pty, "(gaconsole) say half ty");
    pty_settle(pty);
    char *shown = pty_screen(pty);
    char *played = play(path);
    assert_string_equal(shown, played);
    pty_type(pty, "ped\r:log\r");
    pty_expect(pty, "log cast ");
    pty_type(pty, ":log off\r");
    pty_expect(pty, "is closed");
    pty_type(pty, ":log\r");
    pty_expect(pty, "no logs");
    pty_type(pty, "q");
    pty_expect_exit(pty, 0);
    free(shown);
    free(played);
    free(path);
    ga_test_folder_remove(folder);
}

static const struct CMUnitTest tests[] = {
    PTY_TEST(without_utf8_nothing_is_beyond_ascii),
    PTY_TEST(glyphs_change_while_it_runs),
    PTY_TEST(no_color_is_obeyed),
    PTY_TEST(other_terminals),
    PTY_TEST(the_mouse_is_left_alone),
    PTY_TEST(the_usual_colors_are_the_terminals_own),
    PTY_TEST(sizes_leave_no_trace),
    PTY_TEST(sizes_change_anywhere),
    PTY_TEST(stray_output_goes_to_the_log),
    PTY_TEST(last_words_are_not_lost),
    PTY_TEST(a_recording_leads_to_the_same_screen),
};

int main(void)
{
    return ga_test_main(tests);
}
