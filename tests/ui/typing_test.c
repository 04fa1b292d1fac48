/* Keys and the command line, typed at the program. */
#include "pseudo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

/* High enough for a log in which nothing scrolls out of sight. */
static void start(struct pty *pty)
{
    pty_open(pty, &(struct pty_options){.rows = 60, .columns = 120});
    pty_expect(pty, "PAUSED");
}

static void leave(struct pty *pty)
{
    pty_settle(pty);
    pty_type(pty, "q");
    pty_expect_exit(pty, 0);
    pty_expect_restored(pty);
}

/* Each key is echoed with the command that it ran, and the screen shows what that did. */
static void keys_run_commands(void **state)
{
    struct pty *pty = *state;
    static const struct {
        const char *key, *echo, *shown;
    } steps[] = {
        {"m", "m     micro", "micro 1/5"},
        {"n", "n     next", "update 1 "},
        {"e", "e     event", "1 event: open"},
        {"b", "b     back", "update 1 "},
        {"A", "A     set accum 2", "accum 5 -> 2 from update 2"},
        {"a", "a     set accum 5", "accum"},
        {"+", "+     set batch 10", "batch 5 -> 10 from update 2"},
        {"-", "-     set batch 5", "batch"},
        {">", ">     set pace x2", "pace x2"},
        {"<", "<     set pace x1", "pace x1"},
        {"B", "B     back 100", "update 0 "},
    };
    start(pty);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        pty_type(pty, steps[i].key);
        pty_expect(pty, steps[i].echo);
        pty_expect(pty, steps[i].shown);
        pty_settle(pty);
    }
    pty_type(pty, " ");
    pty_expect(pty, "RUN");
    pty_expect(pty, "update 20");
    pty_type(pty, " ");
    pty_expect(pty, "space pause");
    pty_expect(pty, "PAUSED");
    leave(pty);
}

static void questions_want_a_y(void **state)
{
    struct pty *pty = *state;
    start(pty);
    pty_type(pty, "n");
    pty_expect(pty, "update 1 ");
    pty_type(pty, "R");
    pty_expect(pty, "reset?  y / n");
    pty_type(pty, "n");
    pty_expect_gone(pty, "reset?");
    pty_settle(pty);
    assert_true(pty_shows(pty, "update 1 "));
    pty_type(pty, "Ry");
    pty_expect(pty, "update 0 ");
    leave(pty);
}

static void an_unbound_key_says_how_to_type(void **state)
{
    struct pty *pty = *state;
    start(pty);
    pty_type(pty, "~");
    pty_expect(pty, "press : to type a command");
    pty_type(pty, "m");
    pty_expect(pty, "micro 1/5");
    pty_expect_gone(pty, "press : to type");
    pty_type(pty, "\x1b[15~"); /* F5 is no key at all */
    pty_settle(pty);
    assert_false(pty_shows(pty, "press :"));
    leave(pty);
}

static void a_line_is_edited_and_completed(void **state)
{
    struct pty *pty = *state;
    int row = 0;
    int column = 0;
    start(pty);
    assert_false(pty->visible);
    pty_type(pty, ":set lr 0.0");
    pty_expect(pty, "(gaconsole) set lr 0.0");
    pty_settle(pty); /* the cursor comes last */
    assert_true(pty->visible);
    pty_type(pty, "\x1b[D\x1b[D\x1b[D"); /* left */
    pty_settle(pty);
    pty_cursor(pty, &row, &column);
    assert_int_equal(column, 12 + (int)strlen("set lr "));
    pty_type(pty, "\x01"
                  "say \x05"
                  "2 and \xc3\xa9"); /* home, end */
    pty_expect(pty, "(gaconsole) say set lr 0.02 and \xc3\xa9");
    pty_type(pty, "\x7f\x7f\x7f\x7f\x7f\x7f");
    pty_expect_gone(pty, "0.02 ");
    pty_type(pty, "\x1b[H\x1b[1;5C\x17\x1b[3~"); /* home, a word on, deleted, and its blank */
    pty_expect(pty, "(gaconsole) set lr 0.02");
    pty_type(pty, "\r");
    pty_expect(pty, "lr 0.01 -> 0.02 from update 1");
    pty_expect(pty, "lr 0.02");
    assert_false(pty->visible);
    pty_type(pty, ":expl\t\r"); /* completed */
    pty_expect(pty, "explain");
    pty_type(pty, ":set log-e\tx\x7f 7\r");
    pty_expect(pty, "log-every 1 -> 7");
    pty_type(pty, ":set m\t"); /* offered */
    pty_expect(pty, "momentum");
    pty_type(pty, "\x03\x03");
    pty_expect_gone(pty, "momentum");
    leave(pty);
}

static void history_is_searched(void **state)
{
    struct pty *pty = *state;
    start(pty);
    pty_type(pty, ":say first\r");
    pty_type(pty, ":say second\r:say third\r");
    pty_expect(pty, "third");
    pty_type(pty, ":\x12"
                  "fir"); /* ctrl-R */
    pty_expect(pty, "(reverse-i-search)`fir': say first");
    pty_type(pty, "\x1b"); /* ends the search, not the line */
    pty_expect_gone(pty, "reverse-i-search");
    assert_true(pty_shows(pty, "Enter run"));
    pty_type(pty, "\x12zzz"); /* nothing is found, and given up */
    pty_expect(pty, "(failed reverse-i-search)`zzz'");
    pty_type(pty, "\x03");
    pty_expect(pty, "m micro");
    pty_settle(pty);
    pty_type(pty, ":say fourth\r:\x1b[A\x1b[A\x1b[A");
    pty_expect(pty, "(gaconsole) say second");
    pty_type(pty, "\x1b[B");
    pty_expect(pty, "(gaconsole) say third");
    pty_type(pty, "\x1b");
    pty_expect_gone(pty, "(gaconsole) say");
    leave(pty);
}

/* No byte follows: the key acts by the time that has passed. */
static void escape_acts_by_itself(void **state)
{
    struct pty *pty = *state;
    start(pty);
    pty_type(pty, ":half a command");
    pty_expect(pty, "(gaconsole) half a command");
    pty_type(pty, "\x1b");
    pty_expect_gone(pty, "half a command");
    pty_type(pty, "?");
    pty_expect(pty, "Runs, or pauses");
    pty_type(pty, "\x1b");
    pty_expect_gone(pty, "Runs, or pauses");
    pty_type(pty, "11"); /* the loss alone */
    pty_expect_gone(pty, " 3 replicas ");
    pty_type(pty, "\x1b");
    pty_expect(pty, " 3 replicas ");
    pty_type(pty, "1");
    pty_expect_gone(pty, " 3 replicas ");
    pty_type(pty, "\x1bm"); /* in one packet it is still Esc, then m */
    pty_expect(pty, " 3 replicas ");
    pty_expect(pty, "micro 1/5");
    leave(pty);
}

static void a_line_is_wider_than_the_screen(void **state)
{
    struct pty *pty = *state;
    char text[400];
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    pty_open(pty, &(struct pty_options){.rows = 24, .columns = 60});
    pty_expect(pty, "PAUSED");
    pty_type(pty, ":say ");
    pty_type(pty, text);
    pty_type(pty, "end");
    pty_expect(pty, "xxend");
    pty_type(pty, "\x01");
    pty_expect(pty, "(gaconsole) say xxx");
    pty_expect_gone(pty, "xxend");
    pty_type(pty, "\r");
    leave(pty);
}

static void a_paste_asks_before_it_runs(void **state)
{
    struct pty *pty = *state;
    start(pty);
    pty_type(pty, "\x1b[200~next\nset accum 2\nrun 3\n\x1b[201~");
    pty_expect(pty, "run 3 pasted lines one by one?");
    pty_type(pty, "n");
    pty_expect_gone(pty, "pasted");
    pty_settle(pty);
    assert_true(pty_shows(pty, "update 0 "));
    pty_type(pty, ":half");
    pty_type(pty, "\x1b[200~next\nset accum 2\nrun 3\n\x1b[201~");
    pty_expect(pty, "run 3 pasted lines one by one?");
    pty_type(pty, "n");
    pty_expect(pty, "(gaconsole) half"); /* kept */
    pty_type(pty, "\x1b[200~ and more\x1b[201~");
    pty_expect(pty, "(gaconsole) half and more");
    pty_type(pty, "\x03\x03");
    pty_expect_gone(pty, "half and more");
    pty_type(pty, "\x1b[200~next\rnonsense\rrun 3\r\x1b[201~");
    pty_expect(pty, "run 3 pasted lines one by one?");
    pty_type(pty, "y");
    pty_expect(pty, "pasted:2: no command is called nonsense"); /* and nothing behind it */
    pty_expect(pty, "update 1 ");
    pty_type(pty, "\x1b[200~next\nrun 3\x1b[201~");
    pty_type(pty, "y");
    pty_expect(pty, "update 5 ");
    pty_type(pty, "\x1b[200~say one line\x1b[201~"); /* opens the command line, to be looked at */
    pty_expect(pty, "(gaconsole) say one line");
    pty_type(pty, "\r");
    leave(pty);
}

static void interrupts_pause_and_then_ask(void **state)
{
    struct pty *pty = *state;
    start(pty);
    pty_type(pty, " ");
    pty_expect(pty, "RUN");
    pty_type(pty, "\x03\x03");
    pty_expect(pty, "PAUSED");
    pty_expect(pty, "quit?  y / n");
    pty_type(pty, "n");
    pty_expect_gone(pty, "quit?");
    leave(pty);
    start(pty);
    pty_type(pty, "\x03\x03y");
    pty_expect_exit(pty, 0);
    pty_expect_restored(pty);
}

/* Keys act while a jump is on its way: one looks, one stops it, one waits for its end. */
static void a_long_way_is_live(void **state)
{
    struct pty *pty = *state;
    start(pty);
    pty_type(pty, ":set model 1-256-256-1 lr 0.001 history-budget 64KiB pace max\r");
    pty_type(pty, ":run 60\r");
    pty_expect(pty, "at update 60, hash");
    pty_type(pty, ":goto 55\r:print update\r\x03");
    pty_expect(pty, "stopped on the way from update 60 to 55, at update ");
    pty_expect(pty, "`goto 55` goes on");
    pty_type(pty, ":goto 55\rn");
    pty_expect(pty, "1 update: at update 56, hash");
    pty_type(pty, ":goto 50\rn\x03");
    pty_expect(pty, "stopped on the way from update 56 to 50, at update ");
    pty_expect(pty, "gaconsole: interrupted at update ");
    leave(pty);
}

static void the_palette_finds_commands_and_settings(void **state)
{
    struct pty *pty = *state;
    start(pty);
    pty_type(pty, "/");
    pty_expect(pty, "Enter take");
    pty_type(pty, "momen");
    pty_expect(pty, "momentum");
    pty_type(pty, "\r");
    pty_expect(pty, "(gaconsole) set momentum");
    pty_type(pty, "0.5\r");
    pty_expect(pty, "momentum 0 -> 0.5 from update 1");
    leave(pty);
}

/* The screen as text, as a picture, and what was shown when the file was asked for. */
static void the_display_is_saved(void **state)
{
    struct pty *pty = *state;
    char *folder = ga_test_folder();
    char *text_path = ga_test_path(folder, "screen.txt");
    char *picture_path = ga_test_path(folder, "screen.svg");
    char line[512];
    start(pty);
    pty_type(pty, ":run 3\r");
    pty_expect(pty, "at update 3");
    snprintf(line, sizeof(line), ":save-display %s\r:save-display %s\r", text_path, picture_path);
    pty_type(pty, line);
    pty_type(pty, "q");
    pty_expect_exit(pty, 0);
    char *text = ga_test_read_file(text_path, NULL);
    char *picture = ga_test_read_file(picture_path, NULL);
    assert_non_null(strstr(text, "PAUSED   update 3"));
    assert_non_null(strstr(text, "3 replicas"));
    assert_non_null(strstr(text, "space run  m micro"));
    assert_non_null(strstr(picture, "<svg"));
    assert_non_null(strstr(picture, "</svg>"));
    assert_non_null(strstr(picture, "PAUSED"));
    free(text);
    free(picture);
    free(text_path);
    free(picture_path);
    ga_test_folder_remove(folder);
}

static const struct CMUnitTest tests[] = {
    PTY_TEST(keys_run_commands),
    PTY_TEST(questions_want_a_y),
    PTY_TEST(an_unbound_key_says_how_to_type),
    PTY_TEST(a_line_is_edited_and_completed),
    PTY_TEST(history_is_searched),
    PTY_TEST(escape_acts_by_itself),
    PTY_TEST(a_line_is_wider_than_the_screen),
    PTY_TEST(a_paste_asks_before_it_runs),
    PTY_TEST(interrupts_pause_and_then_ask),
    PTY_TEST(a_long_way_is_live),
    PTY_TEST(the_palette_finds_commands_and_settings),
    PTY_TEST(the_display_is_saved),
};

int main(void)
{
    return ga_test_main(tests);
}
