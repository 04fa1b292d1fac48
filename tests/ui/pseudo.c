#include "pseudo.h"

#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

#include <vterm.h>

#include "base/thread.h"
#include "support/support.h"
#include "ui/utf8.h"

#define SANITIZER                                                                                  \
    "abort_on_error=1:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_abort=0:handle_sigill=" \
    "0"

int64_t pty_deadline_ns(void)
{
    return ga_now_ns() + PTY_PATIENCE_NS;
}

static VTermScreen *screen_of(const struct pty *pty)
{
    return vterm_obtain_screen(pty->vterm);
}

static int keep_property(VTermProp property, VTermValue *value, void *user)
{
    struct pty *pty = user;
    if (property == VTERM_PROP_ALTSCREEN)
        pty->alternate = value->boolean;
    if (property == VTERM_PROP_CURSORVISIBLE)
        pty->visible = value->boolean;
    return 1;
}

static const VTermScreenCallbacks callbacks = {.settermprop = keep_property};

static void open_vterm(struct pty *pty)
{
    pty->vterm = vterm_new(pty->rows, pty->columns);
    assert_non_null(pty->vterm);
    vterm_set_utf8(pty->vterm, 1);
    vterm_screen_enable_altscreen(screen_of(pty), 1);
    vterm_screen_set_callbacks(screen_of(pty), &callbacks, pty);
    vterm_screen_reset(screen_of(pty), 1);
    pty->visible = true;
}

void pty_open_screen(struct pty *pty)
{
    open_vterm(pty);
}

void pty_feed(struct pty *pty, const char *bytes, size_t count)
{
    vterm_input_write(pty->vterm, bytes, count);
}

void pty_fit_screen(struct pty *pty)
{
    vterm_set_size(pty->vterm, pty->rows, pty->columns);
}

void pty_close_screen(struct pty *pty)
{
    vterm_free(pty->vterm);
    pty->vterm = NULL;
}

static void apply(const char *const *env)
{
    for (; env && *env; env++) {
        char *copy = strdup(*env);
        if (copy && strchr(copy, '='))
            putenv(copy);
        else if (copy)
            unsetenv(copy);
    }
}

static void start(const struct pty *pty, const struct pty_options *options)
{
    static const char *const usual[] = {
        "TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR", "COLORFGBG", "LINES", "COLUMNS",
        "XDG_STATE_HOME", "XDG_CONFIG_HOME", "INPUTRC",
        /* Sanitizers leave signals to the program, and end it by one when they found something. */
        "ASAN_OPTIONS=" SANITIZER
        ":detect_leaks=1:allocator_may_return_null=1:verify_asan_link_order=0",
        "UBSAN_OPTIONS=" SANITIZER ":print_stacktrace=1",
        "TSAN_OPTIONS=" SANITIZER ":halt_on_error=1", NULL};
    static const char *const alone[] = {"gaconsole", NULL};
    const char *program = options->program ? options->program : GA_PROGRAM;
    const char *const *argv = options->argv ? options->argv : alone;
    setenv("HOME", pty->home, 1);
    apply(usual);
    apply(options->env);
    execvp(program, (char *const *)argv);
    _exit(127);
}

/* A child on the slave as its controlling terminal; the parent keeps the slave too, so that its
 * modes can be asked for after the end. */
static void start_child(struct pty *pty, const struct pty_options *options)
{
    pty->child = fork();
    assert_true(pty->child >= 0);
    if (pty->child == 0) {
        close(pty->master);
        if (login_tty(pty->slave) == 0)
            start(pty, options);
        _exit(127);
    }
    pty->process = pidfd_open(pty->child, 0);
    assert_true(pty->process >= 0);
}

void pty_open(struct pty *pty, const struct pty_options *options)
{
    static const struct pty_options usual = {0};
    const struct pty_options *chosen = options ? options : &usual;
    pty_close(pty);
    *pty = (struct pty){.rows = chosen->rows ? chosen->rows : 36,
                        .columns = chosen->columns ? chosen->columns : 120};
    const struct winsize size = {.ws_row = (unsigned short)pty->rows,
                                 .ws_col = (unsigned short)pty->columns};
    pty->home = ga_test_folder();
    open_vterm(pty);
    assert_int_equal(openpty(&pty->master, &pty->slave, NULL, NULL, &size), 0);
    assert_int_equal(tcgetattr(pty->slave, &pty->before), 0);
    start_child(pty, chosen);
}

static void reap(struct pty *pty)
{
    if (!pty->ended && waitpid(pty->child, &pty->status, 0) == pty->child)
        pty->ended = true;
}

void pty_close(struct pty *pty)
{
    if (!pty->home)
        return;
    if (!pty->ended)
        kill(pty->child, SIGKILL);
    reap(pty);
    if (pty->master >= 0) {
        close(pty->master);
        close(pty->slave);
    }
    close(pty->process);
    vterm_free(pty->vterm);
    ga_text_free(&pty->raw);
    ga_test_folder_remove(pty->home);
    pty->home = NULL;
}

int pty_setup(void **state)
{
    *state = calloc(1, sizeof(struct pty));
    return *state ? 0 : -1;
}

int pty_teardown(void **state)
{
    pty_close(*state);
    free(*state);
    return 0;
}

static void take(struct pty *pty)
{
    char bytes[65536];
    const ssize_t count = read(pty->master, bytes, sizeof(bytes));
    if (count <= 0)
        return;
    ga_text_append(&pty->raw, bytes, (size_t)count);
    vterm_input_write(pty->vterm, bytes, (size_t)count);
}

bool pty_pump(struct pty *pty, int64_t deadline_ns)
{
    struct pollfd watched[2] = {{.fd = pty->master, .events = POLLIN},
                                {.fd = pty->ended ? -1 : pty->process, .events = POLLIN}};
    const int64_t left_ms = (deadline_ns - ga_now_ns() + 999999) / 1000000;
    if (poll(watched, 2, left_ms > 0 ? (int)left_ms : 0) <= 0)
        return false;
    if (watched[0].revents & POLLIN)
        take(pty);
    else if (watched[1].revents)
        reap(pty);
    else
        return false;
    return true;
}

/* Typing never waits for the program to read: what it writes meanwhile is taken. */
void pty_type(struct pty *pty, const char *keys)
{
    const int64_t deadline_ns = pty_deadline_ns();
    size_t left = strlen(keys);
    while (left > 0) {
        struct pollfd watched = {.fd = pty->master, .events = POLLIN | POLLOUT};
        assert_true(ga_now_ns() < deadline_ns);
        poll(&watched, 1, 1000);
        if (watched.revents & POLLIN)
            take(pty);
        if (!(watched.revents & POLLOUT))
            continue;
        const ssize_t count = write(pty->master, keys, left < 256 ? left : 256);
        assert_true(count > 0);
        keys += count;
        left -= (size_t)count;
    }
}

void pty_resize(struct pty *pty, int rows, int columns)
{
    const struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};
    pty->rows = rows;
    pty->columns = columns;
    vterm_set_size(pty->vterm, rows, columns);
    assert_int_equal(ioctl(pty->master, TIOCSWINSZ, &size), 0);
}

void pty_signal(const struct pty *pty, int number)
{
    assert_int_equal(kill(pty->child, number), 0);
}

void pty_hang_up(struct pty *pty)
{
    close(pty->master);
    close(pty->slave);
    pty->master = pty->slave = -1;
}

static void append_cell(const VTermScreenCell *cell, struct ga_text *out)
{
    char bytes[GA_UTF8_BYTES];
    if (cell->chars[0] == 0 || cell->chars[0] == (uint32_t)-1) {
        ga_text_puts(out, cell->chars[0] == 0 ? " " : "");
        return;
    }
    for (int i = 0; i < VTERM_MAX_CHARS_PER_CELL && cell->chars[i]; i++)
        ga_text_append(out, bytes, ga_utf8_write(cell->chars[i], bytes));
}

static void append_row(const struct pty *pty, int row, struct ga_text *out)
{
    const size_t start = out->length;
    for (int column = 0; column < pty->columns; column++) {
        VTermScreenCell cell;
        vterm_screen_get_cell(screen_of(pty), (VTermPos){.row = row, .col = column}, &cell);
        append_cell(&cell, out);
    }
    while (out->length > start && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
}

char *pty_row(const struct pty *pty, int row)
{
    struct ga_text text = GA_TEXT_INIT;
    ga_text_puts(&text, "");
    append_row(pty, row, &text);
    assert_false(ga_text_failed(&text));
    return text.data;
}

char *pty_screen(const struct pty *pty)
{
    struct ga_text text = GA_TEXT_INIT;
    for (int row = 0; row < pty->rows; row++) {
        append_row(pty, row, &text);
        ga_text_puts(&text, "\n");
    }
    assert_false(ga_text_failed(&text));
    return text.data;
}

bool pty_shows(const struct pty *pty, const char *text)
{
    char *screen = pty_screen(pty);
    const bool shows = strstr(screen, text) != NULL;
    free(screen);
    return shows;
}

static void fail_with_screen(const struct pty *pty, const char *what, const char *text)
{
    char *screen = pty_screen(pty);
    fprintf(stderr, "%s \"%s\" within %d s%s; the screen is\n%s\n", what, text,
            (int)(PTY_PATIENCE_NS / 1000000000), pty->ended ? ", and the program ended" : "",
            screen);
    free(screen);
    fail();
}

static void expect(struct pty *pty, const char *text, bool shown)
{
    const int64_t deadline_ns = pty_deadline_ns();
    while (pty_shows(pty, text) != shown) {
        const bool over = pty->ended && !pty_pump(pty, 0);
        if (over || ga_now_ns() >= deadline_ns)
            fail_with_screen(pty, shown ? "expected" : "expected to be without", text);
        if (!over)
            pty_pump(pty, deadline_ns);
    }
}

void pty_expect(struct pty *pty, const char *text)
{
    expect(pty, text, true);
}

void pty_expect_gone(struct pty *pty, const char *text)
{
    expect(pty, text, false);
}

void pty_expect_screen(struct pty *pty, const char *screen)
{
    const int64_t deadline_ns = pty_deadline_ns();
    for (;;) {
        char *now = pty_screen(pty);
        const bool same = strcmp(now, screen) == 0;
        free(now);
        if (same)
            return;
        if (!pty_pump(pty, deadline_ns))
            fail_with_screen(pty, "expected", screen);
    }
}

/* Of the program in front, which a shell may have started. */
static bool sleeps(const struct pty *pty)
{
    char path[64];
    char line[512] = "";
    const pid_t front = tcgetpgrp(pty->master);
    const int process = (int)(front > 0 ? front : pty->child);
    snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", process, process);
    FILE *file = fopen(path, "re");
    if (!file)
        return true; /* it ended */
    const size_t count = fread(line, 1, sizeof(line) - 1, file);
    fclose(file);
    line[count] = '\0';
    const char *name_end = strrchr(line, ')');
    return name_end && name_end[1] == ' ' && name_end[2] == 'S';
}

void pty_settle(struct pty *pty)
{
    const int64_t deadline_ns = pty_deadline_ns();
    int quiet = 0;
    while (quiet < 5 && !pty->ended && ga_now_ns() < deadline_ns) {
        int unread = 0;
        int unwritten = 0;
        assert_int_equal(ioctl(pty->slave, FIONREAD, &unread), 0);
        assert_int_equal(ioctl(pty->slave, TIOCOUTQ, &unwritten), 0);
        const bool busy = unread > 0 || unwritten > 0 || !sleeps(pty);
        quiet = pty_pump(pty, ga_now_ns() + 1000000) || busy ? 0 : quiet + 1;
    }
    assert_true(quiet == 5 || pty->ended);
}

int pty_wait(struct pty *pty)
{
    const int64_t deadline_ns = pty_deadline_ns();
    while (!pty->ended) {
        if (ga_now_ns() >= deadline_ns)
            fail_with_screen(pty, "expected", "the end of the program");
        pty_pump(pty, deadline_ns);
    }
    while (pty->master >= 0 && pty_pump(pty, 0))
        continue;
    return pty->status;
}

void pty_expect_exit(struct pty *pty, int status)
{
    const int found = pty_wait(pty);
    if (!WIFEXITED(found) || WEXITSTATUS(found) != status) {
        char *screen = pty_screen(pty);
        fprintf(stderr, "wait status %#x, expected the exit status %d; the screen is\n%s\n", found,
                status, screen);
        free(screen);
        fail();
    }
}

void pty_expect_signal(struct pty *pty, int number)
{
    const int found = pty_wait(pty);
    if (!WIFSIGNALED(found) || WTERMSIG(found) != number) {
        char *screen = pty_screen(pty);
        fprintf(stderr, "wait status %#x, expected signal %d; the screen is\n%s\n", found, number,
                screen);
        free(screen);
        fail();
    }
}

void pty_expect_restored(struct pty *pty)
{
    struct termios now;
    assert_int_equal(tcgetattr(pty->slave, &now), 0);
    assert_int_equal(now.c_iflag, pty->before.c_iflag);
    assert_int_equal(now.c_oflag, pty->before.c_oflag);
    assert_int_equal(now.c_cflag, pty->before.c_cflag);
    assert_int_equal(now.c_lflag, pty->before.c_lflag);
    assert_memory_equal(now.c_cc, pty->before.c_cc, sizeof(now.c_cc));
    assert_false(pty->alternate);
    assert_true(pty->visible);
    const char *on = NULL;
    const char *off = NULL;
    for (const char *at = ga_text_get(&pty->raw); (at = strstr(at, "\x1b[?2004")); at += 7) {
        on = at[7] == 'h' ? at : on;
        off = at[7] == 'l' ? at : off;
    }
    assert_true(on == NULL || off > on); /* bracketed paste */
}

static bool is_default(const VTermColor *color)
{
    return VTERM_COLOR_IS_DEFAULT_FG(color) || VTERM_COLOR_IS_DEFAULT_BG(color);
}

struct pty_cell pty_cell(const struct pty *pty, int row, int column)
{
    VTermScreenCell cell;
    vterm_screen_get_cell(screen_of(pty), (VTermPos){.row = row, .col = column}, &cell);
    return (struct pty_cell){.character = cell.chars[0],
                             .bold = cell.attrs.bold,
                             .reverse = cell.attrs.reverse,
                             .underline = cell.attrs.underline != 0,
                             .colored = !is_default(&cell.fg) || !is_default(&cell.bg)};
}

void pty_cursor(const struct pty *pty, int *row, int *column)
{
    VTermPos at = {0, 0};
    vterm_state_get_cursorpos(vterm_obtain_state(pty->vterm), &at);
    *row = at.row;
    *column = at.col;
}
