/* The plain prompt: the program on a pseudo-terminal, with someone typing; and lines from a pipe.
 */
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/text.h"
#include "base/thread.h"
#include "console/front.h"
#include "program.h"
#include "support/support.h"

#define PATIENCE_NS INT64_C(60000000000)

struct seat {
    pid_t child;
    int terminal;
    char *home;
    struct ga_text screen; /* everything that was written */
    size_t looked;         /* up to where expect_text() has looked */
};

static void start_program(const struct seat *seat, const char *const *argv)
{
    setenv("TERM", "xterm", 1);
    setenv("HOME", seat->home, 1);
    unsetenv("XDG_STATE_HOME");
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("INPUTRC");
    char *const *words = NULL; /* execv() does not write to them, whatever its type says */
    memcpy(&words, &argv, sizeof(words));
    execv(GA_PROGRAM, words);
    _exit(127);
}

static void sit_down(struct seat *seat, const char *const *argv)
{
    const struct winsize size = {.ws_row = 24, .ws_col = 100};
    seat->looked = 0;
    seat->screen = (struct ga_text)GA_TEXT_INIT;
    seat->child = forkpty(&seat->terminal, NULL, NULL, &size);
    assert_true(seat->child >= 0);
    if (seat->child == 0)
        start_program(seat, argv);
}

static void type(const struct seat *seat, const char *keys)
{
    assert_int_equal(write(seat->terminal, keys, strlen(keys)), strlen(keys));
}

/* Reads what is there; false when the program has gone. */
static bool look(struct seat *seat, int64_t deadline_ns)
{
    char bytes[4096];
    struct pollfd watched = {.fd = seat->terminal, .events = POLLIN};
    const int64_t left_ms = (deadline_ns - ga_now_ns()) / 1000000;
    if (left_ms <= 0 || poll(&watched, 1, (int)left_ms) <= 0)
        return false;
    const ssize_t count = read(seat->terminal, bytes, sizeof(bytes));
    for (ssize_t i = 0; i < count; i++)
        if (bytes[i])
            ga_text_append(&seat->screen, bytes + i, 1);
    return count > 0;
}

/* Waits until `part` appears behind what was looked at before. */
static void expect_text(struct seat *seat, const char *part)
{
    const int64_t deadline = ga_now_ns() + PATIENCE_NS;
    for (;;) {
        const char *found = strstr(ga_text_get(&seat->screen) + seat->looked, part);
        if (found) {
            seat->looked = (size_t)(found - seat->screen.data) + strlen(part);
            return;
        }
        if (!look(seat, deadline))
            fail_msg("'%s' did not appear in '%s'", part,
                     ga_text_get(&seat->screen) + seat->looked);
    }
}

static int wait_for_end(struct seat *seat)
{
    int status = 0;
    const int64_t deadline = ga_now_ns() + PATIENCE_NS;
    while (look(seat, deadline))
        continue;
    assert_int_equal(waitpid(seat->child, &status, 0), seat->child);
    close(seat->terminal);
    ga_text_free(&seat->screen);
    return status;
}

static void expect_fine_end(struct seat *seat)
{
    const int status = wait_for_end(seat);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int open_home(void **state)
{
    static struct seat seat;
    seat.home = ga_test_folder();
    *state = &seat;
    return 0;
}

static int close_home(void **state)
{
    struct seat *seat = *state;
    ga_test_folder_remove(seat->home);
    return 0;
}

static const char *const plain[] = {"gaconsole", "--plain", NULL};

static void test_commands_and_key_history(void **state)
{
    struct seat *seat = *state;
    struct stat status;
    sit_down(seat, plain);
    expect_text(seat, "Paused at update 0");
    expect_text(seat, "(gaconsole) ");
    type(seat, "next\r");
    expect_text(seat, "1 update: at update 1, hash ");
    type(seat, "foo\r");
    expect_text(seat, "gaconsole: no command is called foo");
    type(seat, "hist\t\r"); /* completion */
    expect_text(seat, "updates 0..1 can be reached");
    type(seat, "quit\r");
    expect_fine_end(seat);
    char *path = ga_test_path(seat->home, ".local/state/gaconsole/history");
    size_t length = 0;
    char *kept = ga_test_read_file(path, &length);
    assert_string_equal(kept, "next\nfoo\nhistory \nquit\n");
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    free(kept);
    /* The next session finds it: up, up is the line before the last. */
    sit_down(seat, plain);
    expect_text(seat, "(gaconsole) ");
    type(seat, "\x1b[A\x1b[A\r");
    expect_text(seat, "can be reached");
    expect_text(seat, "(gaconsole) "); /* before, the terminal itself would take it */
    type(seat, "\x04");
    expect_fine_end(seat);
    free(path);
}

static void test_prompt_lives_while_training_runs(void **state)
{
    struct seat *seat = *state;
    sit_down(seat, plain);
    expect_text(seat, "(gaconsole) ");
    type(seat, "set log-every 1000000 pace 1000\r");
    expect_text(seat, "at once");
    type(seat, "run\r");
    expect_text(seat, "running");
    type(seat, "until updat\b\b\b\b\b\b\b\b\b\b\bset lr 0.02\r");
    expect_text(seat, "lr 0.01 -> 0.02 from update ");
    type(seat, "print replica 1 loss\r");
    expect_text(seat, "replica 1 loss ");
    type(seat, "\x03");
    expect_text(seat, "paused at update ");
    type(seat, "say half typed\x03");
    type(seat, "next\r");
    expect_text(seat, "1 update: at update ");
    expect_text(seat, "(gaconsole) "); /* before, the terminal itself would take it */
    type(seat, "\x04");
    expect_fine_end(seat);
}

/* A jump is looked at and stopped like a run; what changes something waits for its end. */
static void test_prompt_lives_on_a_long_way(void **state)
{
    struct seat *seat = *state;
    sit_down(seat, plain);
    expect_text(seat, "(gaconsole) ");
    type(seat, "set model 1-256-256-1 lr 0.001 history-budget 64KiB log-every 1000\r");
    type(seat, "run 60\r");
    expect_text(seat, "at update 60, hash ");
    type(seat, "goto 55\rprint update\rpause\r");
    expect_text(seat, "stopped on the way from update 60 to 55, at update ");
    expect_text(seat, "; `goto 55` goes on");
    type(seat, "goto 55\rset lr 0.002\r");
    expect_text(seat, "at update 55, hash ");
    expect_text(seat, "lr 0.001 -> 0.002 from update 56");
    type(seat, "replay\rpause\r");
    expect_text(seat, "stopped on the way from event ");
    expect_text(seat, "; `event ");
    type(seat, "goto 55\rreplay\rquit\r");
    expect_text(seat, "at update 55, hash ");
    expect_fine_end(seat);
}

/* Logged lines appear above the line that is being typed, which is still there afterwards. */
static void test_lines_above_the_typed_one(void **state)
{
    struct seat *seat = *state;
    sit_down(seat, plain);
    expect_text(seat, "(gaconsole) ");
    type(seat, "set pace 10\r");
    expect_text(seat, "at once");
    type(seat, "run 30\r");
    type(seat, "say typed while ");
    expect_text(seat, "update       5 ");
    expect_text(seat, "say typed while "); /* drawn again */
    type(seat, "it ran\r");
    expect_text(seat, "it ran");
    expect_text(seat, "typed while it ran\r\n");
    type(seat, "pause\r");
    expect_text(seat, "paused at update ");
    type(seat, "quit\r");
    expect_fine_end(seat);
}

static void test_pasted_lines_run_in_order(void **state)
{
    struct seat *seat = *state;
    sit_down(seat, plain);
    expect_text(seat, "(gaconsole) ");
    type(seat, "\x1b[200~run 50\nprint update\x1b[201~\r");
    expect_text(seat, "at update 50, hash ");
    expect_text(seat, "update 50\r\n");
    expect_text(seat, "(gaconsole) "); /* before, the terminal itself would take it */
    type(seat, "\x04");
    expect_fine_end(seat);
}

static void write_home_file(const struct seat *seat, const char *name, const char *text)
{
    char *path = ga_test_path(seat->home, name);
    ga_test_write_file(path, text, strlen(text));
    free(path);
}

static void test_configuration_and_questions(void **state)
{
    struct seat *seat = *state;
    struct ga_text path = GA_TEXT_INIT;
    ga_text_printf(&path, "%s/.config", seat->home);
    assert_int_equal(mkdir(path.data, 0700), 0);
    ga_text_puts(&path, "/gaconsole");
    assert_int_equal(mkdir(path.data, 0700), 0);
    write_home_file(seat, ".config/gaconsole/config", "say from the configuration\nset lr 0.5\n");
    write_home_file(seat, "lesson.ga", "ask \"How many?\" answer=50\nwait key\nrun 3\nsay done\n");
    ga_text_clear(&path);
    ga_text_printf(&path, "%s/lesson.ga", seat->home);
    sit_down(seat, (const char *[]){"gaconsole", "--plain", path.data, NULL});
    expect_text(seat, "from the configuration");
    expect_text(seat, "lr 0.01 -> 0.5 from update 1");
    expect_text(seat, "How many?");
    expect_text(seat, "answer: ");
    type(seat, "10\r");
    expect_text(seat, "not yet");
    type(seat, "50\r");
    expect_text(seat, "right");
    expect_text(seat, "press a key");
    type(seat, "x");
    expect_text(seat, "at update 3, hash ");
    expect_text(seat, "done");
    expect_text(seat, "(gaconsole) ");
    type(seat, "\x04");
    expect_fine_end(seat);
    ga_text_free(&path);
}

static void test_readonly_keeps_nothing(void **state)
{
    struct seat *seat = *state;
    sit_down(seat, (const char *[]){"gaconsole", "--plain", "--readonly", NULL});
    expect_text(seat, "(gaconsole) ");
    type(seat, "save x\r");
    expect_text(seat, "--readonly");
    expect_text(seat, "(gaconsole) "); /* before, the terminal itself would take it */
    type(seat, "\x04");
    expect_fine_end(seat);
    char *path = ga_test_path(seat->home, ".local");
    assert_int_equal(access(path, F_OK), -1);
    free(path);
}

static void assert_killed(struct seat *seat, int number)
{
    struct termios terminal;
    sit_down(seat, plain);
    expect_text(seat, "(gaconsole) ");
    type(seat, "run\r");
    expect_text(seat, "running");
    assert_int_equal(kill(seat->child, number), 0);
    int status = 0;
    while (look(seat, ga_now_ns() + PATIENCE_NS))
        continue;
    /* The last reader of a terminal's settings is its master. */
    assert_int_equal(tcgetattr(seat->terminal, &terminal), 0);
    assert_true(terminal.c_lflag & ICANON);
    assert_true(terminal.c_lflag & ECHO);
    assert_int_equal(waitpid(seat->child, &status, 0), seat->child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), number);
    close(seat->terminal);
    ga_text_free(&seat->screen);
}

static void test_signals_end_it_cleanly(void **state)
{
    struct seat *seat = *state;
    assert_killed(seat, SIGTERM);
    assert_killed(seat, SIGHUP);
}

/* Batch on a terminal: a progress line while it takes long, and ctrl-C ends it as it ends others.
 */
static void test_long_batch_on_a_terminal(void **state)
{
    struct seat *seat = *state;
    sit_down(seat, (const char *[]){"gaconsole", "--batch", "-e", "set log-every 1000000000", "-e",
                                    "run 1000000000", "-e", "say never", NULL});
    expect_text(seat, " of 1000000000 (0 %)  loss ");
    expect_text(seat, " examples/s");
    type(seat, "\x03");
    expect_text(seat, "paused at update ");
    expect_text(seat, "gaconsole: -e:2: interrupted at update ");
    assert_null(strstr(ga_text_get(&seat->screen), "never"));
    const int status = wait_for_end(seat);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGINT);
}

/* From a pipe: lines run one after the other, a failure does not end them, and it is told at last.
 */
static void test_lines_from_a_pipe(void **state)
{
    (void)state;
    struct outcome outcome;
    program_run((const char *[]){"/bin/sh", "-c",
                                 "printf 'run 2\\r\\nfoo\\nprint update' | \"$0\" --plain",
                                 GA_PROGRAM, NULL},
                NULL, &outcome);
    assert_int_equal(outcome.status, 2);
    assert_non_null(strstr(ga_text_get(&outcome.out), "at update 2, hash "));
    assert_non_null(strstr(ga_text_get(&outcome.out), "\nupdate 2\n"));
    assert_null(strstr(ga_text_get(&outcome.out), "(gaconsole)"));
    assert_null(strchr(ga_text_get(&outcome.out), '\x1b'));
    assert_int_equal(strncmp(ga_text_get(&outcome.fail), "gaconsole: stdin:2: ", 20), 0);
    outcome_fini(&outcome);
    program_run((const char *[]){"/bin/sh", "-c", "\"$0\" --plain -e 'run 2' < /dev/null",
                                 GA_PROGRAM, NULL},
                NULL, &outcome);
    assert_int_equal(outcome.status, 0);
    outcome_fini(&outcome);
}

/* Runs the program as `sh -c SCRIPT` does, with the program as $0. */
static void run_shell(const char *script, struct outcome *outcome)
{
    program_run((const char *[]){"/bin/sh", "-c", script, GA_PROGRAM, NULL}, NULL, outcome);
}

/* A session that does not come to its end is ended by the signal that asked for it. */
static void test_an_end_that_cannot_wait(void **state)
{
    (void)state;
    static const int numbers[] = {SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        int status = 0;
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            const int signals = ga_signals_open(false);
            raise(numbers[i]);
            if (signals < 0 || ga_signals_take(signals) != numbers[i])
                _exit(1);
            for (;;)
                pause();
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), numbers[i]);
    }
}

/* A line may have no end: zeros for ever, a file without line ends. */
static void test_lines_without_end(void **state)
{
    (void)state;
    static const char *const floods[] = {"exec \"$0\" --plain < /dev/zero",
                                         "exec \"$0\" --plain < /dev/full",
                                         "yes xxxxxxxx | tr -d '\\n' | \"$0\" --plain"};
    for (size_t i = 0; i < sizeof(floods) / sizeof(floods[0]); i++) {
        struct outcome outcome;
        run_shell(floods[i], &outcome);
        assert_int_equal(outcome.status, 2);
        assert_int_equal(strncmp(ga_text_get(&outcome.fail), "gaconsole: stdin:1: a line of ", 30),
                         0);
        assert_non_null(strstr(ga_text_get(&outcome.fail), "expected at most 65536"));
        assert_non_null(strstr(ga_text_get(&outcome.fail), "is not read\n"));
        assert_int_equal(outcome.out.length, 0);
        outcome_fini(&outcome);
    }
}

/* A NUL does not end a line, and what stands before it is not run. */
static void test_zeros_within_lines(void **state)
{
    (void)state;
    struct outcome outcome;
    run_shell("printf 'run 3\\0junk\\nprint update' | \"$0\" --plain", &outcome);
    assert_int_equal(outcome.status, 2);
    assert_string_equal(ga_text_get(&outcome.out), "update 0\n");
    assert_non_null(strstr(ga_text_get(&outcome.fail), "gaconsole: stdin:1: "));
    outcome_fini(&outcome);
}

int main(void)
{
#define AT_HOME(test) cmocka_unit_test_setup_teardown(test, open_home, close_home)
    const struct CMUnitTest tests[] = {
        AT_HOME(test_commands_and_key_history),
        AT_HOME(test_prompt_lives_while_training_runs),
        AT_HOME(test_prompt_lives_on_a_long_way),
        AT_HOME(test_lines_above_the_typed_one),
        AT_HOME(test_pasted_lines_run_in_order),
        AT_HOME(test_configuration_and_questions),
        AT_HOME(test_readonly_keeps_nothing),
        AT_HOME(test_signals_end_it_cleanly),
        AT_HOME(test_long_batch_on_a_terminal),
        cmocka_unit_test(test_lines_from_a_pipe),
        cmocka_unit_test(test_an_end_that_cannot_wait),
        cmocka_unit_test(test_lines_without_end),
        cmocka_unit_test(test_zeros_within_lines),
    };
    return ga_test_main(tests);
}
