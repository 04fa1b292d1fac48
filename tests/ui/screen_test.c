/*
 * How the program begins and ends on a terminal, and that it leaves the terminal as it was.
 *
 * Where each promise of the screen is tested (in this file unless another is named):
 * - the terminal is restored on exit and by signals: signals_put_the_terminal_back
 * - also a stuck one, and words at the end: a_stuck_terminal_does_not_keep_it; looks_test
 * - ctrl-Z and fg, the same screen and line: stops_and_goes_on_under_a_shell
 * - hang-up, the run kept and the process gone: a_hang_up_ends_it_and_keeps_the_run
 * - sizes in any order, like a fresh start: looks_test, layout_test, picture_test, storm_test
 * - TERM dumb or unknown, pipes: without_a_movable_cursor_it_is_plain, a_pipe_gets_no_escapes
 * - ASCII without UTF-8, glyphs switch, no U+2800: looks_test, cells_test, picture_test
 * - NO_COLOR, default colours, eyes that differ, the mouse left alone: looks_test, words_test
 * - Esc at once, pastes only after a y, readline never sees one: typing_test, decoder_test
 * - NaN, infinities, spikes, constants, log axes, labels: plot_test, chart_test, samples_test
 * - monitors that fail, stall or lie: monitors_test
 * - what libraries write to either stream: looks_test, stray_output_goes_to_the_log
 * - key history (0600) and configuration: key_history_and_configuration
 * - panels of one moment, or that say which: picture_test, what_is_older_says_so
 * - the first five minutes, lessons: minutes_test
 * - budgets: `gaconsole bench screen`; bench_test has every figure measured
 */
#include "pseudo.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/thread.h"
#include "support/support.h"

static void starts_on_the_demo_and_quits(void **state)
{
    struct pty *pty = *state;
    pty_open(pty, NULL);
    pty_expect(pty, "PAUSED");
    pty_expect(pty, "update 0");
    pty_expect(pty, "P 2 \xc3\x97 A 5 \xc3\x97 b 5 = 50");
    pty_expect(pty, "pace x1");
    assert_true(pty->alternate);
    assert_false(pty->visible);
    pty_type(pty, "q");
    pty_expect_exit(pty, 0);
    pty_expect_restored(pty);
}

static void signals_put_the_terminal_back(void **state)
{
    struct pty *pty = *state;
    static const int numbers[] = {SIGTERM, SIGHUP, SIGSEGV, SIGABRT, SIGQUIT,
                                  SIGBUS,  SIGFPE, SIGUSR1, SIGXCPU};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        pty_open(pty, NULL);
        pty_expect(pty, "PAUSED");
        pty_type(pty, " "); /* also in the middle of training */
        pty_expect(pty, "RUN");
        pty_signal(pty, numbers[i]);
        pty_expect_signal(pty, numbers[i]);
        pty_expect_restored(pty);
    }
}

/* ctrl-\ ends a program that hangs: the terminal itself sends it. */
static void the_quit_key_still_ends_it(void **state)
{
    struct pty *pty = *state;
    pty_open(pty, NULL);
    pty_expect(pty, "PAUSED");
    pty_type(pty, "\x1c");
    pty_expect_signal(pty, SIGQUIT);
    pty_expect_restored(pty);
}

/* A terminal that takes nothing any more holds the program in a write. */
static void a_stuck_terminal_does_not_keep_it(void **state)
{
    struct pty *pty = *state;
    static const int numbers[] = {SIGTERM, SIGSEGV};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        pty_open(pty, NULL);
        pty_expect(pty, "PAUSED");
        assert_int_equal(tcflow(pty->slave, TCOOFF), 0);
        pty_type(pty, "?"); /* help: more than the terminal has room for */
        pty_type(pty, "\x1b");
        pty_type(pty, "g");
        pty_signal(pty, numbers[i]);
        pty_expect_signal(pty, numbers[i]);
    }
}

static void a_hang_up_ends_it_and_keeps_the_run(void **state)
{
    struct pty *pty = *state;
    static const char *const argv[] = {"gaconsole", "--autosave", "left.safetensors", NULL};
    static const char *const load[] = {"gaconsole", "-e", "load left.safetensors", NULL};
    char *folder = ga_test_folder();
    assert_int_equal(chdir(folder), 0);
    pty_open(pty, &(struct pty_options){.argv = argv});
    pty_expect(pty, "PAUSED");
    pty_type(pty, ":run 7\r");
    pty_expect(pty, "at update 7");
    pty_hang_up(pty);
    pty_expect_signal(pty, SIGHUP);
    pty_open(pty, &(struct pty_options){.argv = load});
    pty_expect(pty, "loaded left.safetensors: at update 7");
    pty_close(pty);
    assert_int_equal(chdir("/"), 0);
    ga_test_folder_remove(folder);
}

static void without_a_movable_cursor_it_is_plain(void **state)
{
    struct pty *pty = *state;
    static const struct {
        const char *term, *why;
    } cases[] = {{"TERM=dumb", "TERM=dumb cannot move its cursor"},
                 {"TERM=no-such-terminal", "TERM=no-such-terminal is not known"},
                 {"TERM=", "TERM is not set"},
                 {"TERM", "TERM is not set"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *const env[] = {cases[i].term, NULL};
        pty_open(pty, &(struct pty_options){.env = env});
        pty_expect(pty, cases[i].why);
        pty_expect(pty, "(gaconsole)");
        assert_null(strstr(pty->raw.data, "\x1b[?1049h"));
        pty_type(pty, "quit\r");
        pty_expect_exit(pty, 0);
    }
}

static void plain_is_plain(void **state)
{
    struct pty *pty = *state;
    static const char *const argv[] = {"gaconsole", "--plain", NULL};
    pty_open(pty, &(struct pty_options){.argv = argv});
    pty_expect(pty, "(gaconsole)");
    assert_false(pty->alternate);
    pty_type(pty, "quit\r");
    pty_expect_exit(pty, 0);
}

/* Into a pipe go lines, whatever the terminal of standard input is. */
static void a_pipe_gets_no_escapes(void **state)
{
    struct pty *pty = *state;
    char *home = ga_test_folder();
    char *file = ga_test_path(home, "out");
    char command[512];
    snprintf(command, sizeof(command), "'%s' -e 'run 3' -e quit > '%s'; echo over", GA_PROGRAM,
             file);
    const char *const argv[] = {"sh", "-c", command, NULL};
    size_t length = 0;
    pty_open(pty, &(struct pty_options){.program = "sh", .argv = argv});
    pty_expect(pty, "over");
    pty_expect_exit(pty, 0);
    char *bytes = ga_test_read_file(file, &length);
    assert_non_null(strstr(bytes, "at update 3"));
    assert_null(memchr(bytes, '\x1b', length));
    free(bytes);
    free(file);
    ga_test_folder_remove(home);
}

/* ctrl-Z gives the terminal back to the shell, fg brings the same screen with the half-typed line.
 */
static void stops_and_goes_on_under_a_shell(void **state)
{
    struct pty *pty = *state;
    static const char *const argv[] = {"bash", "--norc", "--noprofile", "-i", NULL};
    static const char *const env[] = {"PS1=shell> ", "INPUTRC=/dev/null", "HISTFILE", NULL};
    char command[512];
    if (access("/bin/bash", X_OK) != 0)
        ga_test_skip("no bash here to stop and continue the program");
    pty_open(pty, &(struct pty_options){.program = "bash", .argv = argv, .env = env});
    pty_expect(pty, "shell>");
    snprintf(command, sizeof(command), "%s\r", GA_PROGRAM);
    pty_type(pty, command);
    pty_expect(pty, "PAUSED");
    pty_type(pty, ":run 7\r");
    pty_expect(pty, "at update 7");
    pty_type(pty, ":say half ty");
    pty_expect(pty, "(gaconsole) say half ty");
    pty_settle(pty);
    char *before = pty_screen(pty);
    pty_type(pty, "\x1a");
    pty_expect(pty, "Stopped");
    assert_false(pty->alternate);
    assert_true(pty->visible);
    pty_type(pty, "echo fre'e'\r");
    pty_expect(pty, "\nfree");
    const size_t stopped = pty->raw.length;
    pty_type(pty, "fg\r");
    pty_expect_screen(pty, before);
    pty_settle(pty);
    const char *drawn = strstr(pty->raw.data + stopped, "\x1b[2J");
    assert_non_null(drawn);
    assert_null(strstr(drawn + 1, "\x1b[2J")); /* once */
    pty_type(pty, "ped\r");
    pty_expect(pty, "half typed");
    pty_type(pty, "q");
    pty_expect(pty, "shell>");
    pty_expect_gone(pty, "PAUSED");
    pty_type(pty, "exit\r");
    pty_expect_exit(pty, 0);
    free(before);
}

static void key_history_and_configuration(void **state)
{
    struct pty *pty = *state;
    char *home = ga_test_folder();
    char *path = ga_test_path(home, "gaconsole");
    char state_home[256];
    char config_home[256];
    struct stat about;
    snprintf(state_home, sizeof(state_home), "XDG_STATE_HOME=%s/state", home);
    snprintf(config_home, sizeof(config_home), "XDG_CONFIG_HOME=%s", home);
    const char *const env[] = {state_home, config_home, NULL};
    assert_int_equal(mkdir(path, 0700), 0);
    char *config = ga_test_path(path, "config");
    ga_test_write_file(config, "set accum 2\nview y linear\n", 26);
    pty_open(pty, &(struct pty_options){.env = env});
    pty_expect(pty, "A 2 ");
    pty_type(pty, ":say remembered\r:\x1b[A");
    pty_expect(pty, "(gaconsole) say remembered");
    pty_type(pty, "\x1b");
    pty_expect_gone(pty, "(gaconsole) say");
    pty_type(pty, "q");
    pty_expect_exit(pty, 0);
    char *history = ga_test_path(home, "state/gaconsole/history");
    assert_int_equal(stat(history, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    pty_open(pty, &(struct pty_options){.env = env});
    pty_expect(pty, "PAUSED");
    pty_type(pty, ":\x1b[A");
    pty_expect(pty, "(gaconsole) say remembered");
    pty_close(pty);
    free(history);
    free(config);
    free(path);
    ga_test_folder_remove(home);
}

static const struct CMUnitTest tests[] = {
    PTY_TEST(starts_on_the_demo_and_quits),
    PTY_TEST(signals_put_the_terminal_back),
    PTY_TEST(the_quit_key_still_ends_it),
    PTY_TEST(a_stuck_terminal_does_not_keep_it),
    PTY_TEST(a_hang_up_ends_it_and_keeps_the_run),
    PTY_TEST(without_a_movable_cursor_it_is_plain),
    PTY_TEST(plain_is_plain),
    PTY_TEST(a_pipe_gets_no_escapes),
    PTY_TEST(stops_and_goes_on_under_a_shell),
    PTY_TEST(key_history_and_configuration),
};

int main(void)
{
    return ga_test_main(tests);
}
