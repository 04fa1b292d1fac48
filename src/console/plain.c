/* The session of the plain front end: configuration, sources, then lines until they end. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/error.h"
#include "base/version.h"
#include "console/lexer.h"
#include "console/plain.h"

/* What ended a write that waited for a reader. */
static void take_signal(struct ga_plain *plain)
{
    int number = plain->stream.system_error == EINTR && !plain->caught ? -1 : 0;
    while (number != 0 && !plain->caught) {
        number = ga_signals_take(plain->signals);
        if (number == SIGTERM || number == SIGHUP || (number == SIGINT && !plain->terminal))
            plain->caught = number;
    }
}

static int plain_out(void *self, const char *bytes, size_t length)
{
    struct ga_plain *plain = self;
    ga_prompt_hide();
    const int code = plain->direct.out(plain->direct.self, bytes, length);
    take_signal(plain);
    return code;
}

static void plain_fail(void *self, const char *bytes, size_t length)
{
    struct ga_plain *plain = self;
    ga_prompt_hide();
    plain->direct.fail(plain->direct.self, bytes, length);
}

/* While a script waits for a move. */
static enum ga_wait plain_wait(void *self, int bell_fd)
{
    struct ga_plain *plain = self;
    struct pollfd watched[2] = {{.fd = bell_fd, .events = POLLIN},
                                {.fd = plain->signals, .events = POLLIN}};
    if (ga_stream_flush(&plain->stream) < 0) {
        take_signal(plain);
        return GA_WAIT_BROKEN;
    }
    poll(watched, 2, -1);
    const int number = ga_signals_take(plain->signals);
    if (number == SIGTERM || number == SIGHUP || (number == SIGINT && !plain->terminal))
        plain->caught = number;
    return number == SIGINT || plain->caught ? GA_WAIT_INTERRUPTED : GA_WAIT_ON;
}

/* Without readline: the answer to `ask` is typed on a line of the terminal's own making. */
static char *plain_read_line(void *self, const char *prompt)
{
    struct ga_plain *plain = self;
    int number = 0;
    size_t length = 0;
    plain->direct.out(plain->direct.self, prompt, strlen(prompt));
    ga_stream_flush(&plain->stream);
    char *line = ga_line_next(&plain->input, &length, &number);
    if (number == SIGTERM || number == SIGHUP)
        plain->caught = number;
    plain->left = number != 0;
    if (!line)
        plain->direct.out(plain->direct.self, "\n", 1);
    return line;
}

static void plain_wait_key(void *self)
{
    static const char text[] = "press a key to go on";
    static const char gone[] = "\r                    \r";
    struct ga_plain *plain = self;
    struct termios usual;
    struct pollfd watched[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
                                {.fd = plain->signals, .events = POLLIN}};
    if (tcgetattr(STDIN_FILENO, &usual) < 0)
        return;
    struct termios raw = usual;
    raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    plain->direct.out(plain->direct.self, text, sizeof(text) - 1);
    ga_stream_flush(&plain->stream);
    poll(watched, 2, -1);
    char key = 0;
    if ((watched[0].revents & POLLIN) && read(STDIN_FILENO, &key, 1) < 0)
        plain->input.ended = true;
    const int number = ga_signals_take(plain->signals);
    if (number == SIGTERM || number == SIGHUP)
        plain->caught = number;
    plain->left = number != 0;
    plain->direct.out(plain->direct.self, gone, sizeof(gone) - 1);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &usual);
}

/* ctrl-C instead of a key or an answer leaves the script. */
static enum ga_leave plain_leaves(void *self)
{
    struct ga_plain *plain = self;
    const bool left = plain->left;
    plain->left = false;
    return left ? GA_LEAVE_SCRIPT : GA_LEAVE_NOT;
}

/* Lines from a pipe or file: like a script, but a failure does not end it. */
static void run_pipe(struct ga_plain *plain)
{
    static const char cut[] = "gaconsole: stdin: what stands behind that line is not read\n";
    struct ga_origin origin = {"stdin", 0};
    while (!ga_console_quits(plain->console) && !plain->caught) {
        size_t length = 0;
        char *line = ga_line_next(&plain->input, &length, &plain->caught);
        if (!line)
            return;
        if (length > 0 && line[length - 1] == '\r')
            line[--length] = '\0';
        origin.line++;
        ga_console_line(plain->console, line, length, &origin);
        free(line);
        if (length > GA_LINE_LIMIT && plain->input.ended) {
            plain_fail(plain, cut, sizeof(cut) - 1);
            return;
        }
        if (ga_stream_flush(&plain->stream) < 0) {
            take_signal(plain);
            return;
        }
    }
}

static void greet(const struct ga_plain *plain)
{
    char text[256];
    const int length =
        snprintf(text, sizeof(text),
                 "gaconsole %s: y = x^2 on 2 replicas x accumulation 5 x batch 5 = 50 examples.\n"
                 "Paused at update 0: `next` makes an update, `run 100` many, `help` lists all.\n",
                 ga_version());
    plain->direct.out(plain->direct.self, text, (size_t)length);
}

/* 0: not known. */
static int terminal_columns(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static int open_plain(struct ga_plain *plain)
{
    plain->terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    plain->signals = ga_signals_open(plain->terminal);
    if (plain->signals < 0)
        return plain->signals;
    ga_stream_init(&plain->stream, STDOUT_FILENO, STDERR_FILENO);
    plain->stream.by_interrupt = !plain->terminal;
    plain->direct = ga_stream_sink(&plain->stream);
    plain->input = (struct ga_line_reader){.fd = STDIN_FILENO, .signals = plain->signals};
    const struct ga_console_options options = {
        .sink = {plain, plain_out, plain_fail},
        .front = {.self = plain,
                  .wait = plain_wait,
                  .read_line = plain->terminal ? plain_read_line : NULL,
                  .wait_key = plain->terminal ? plain_wait_key : NULL,
                  .leaves = plain_leaves},
        .prompt = plain->terminal,
        .terminal_columns = plain->terminal ? terminal_columns() : 0,
        .readonly = plain->arguments->readonly,
    };
    return ga_console_open(&plain->console, &options);
}

static void run_session(struct ga_plain *plain)
{
    if (plain->terminal && plain->arguments->sources == 0)
        greet(plain);
    if (plain->terminal)
        ga_run_configuration(plain->console);
    ga_run_sources(plain->console, plain->arguments, false);
    if (plain->caught || ga_console_quits(plain->console))
        return;
    if (plain->terminal)
        ga_prompt_run(plain);
    else
        run_pipe(plain);
}

int ga_plain_main(const struct ga_arguments *arguments)
{
    struct ga_plain plain = {.arguments = arguments, .signals = -1};
    const int code = open_plain(&plain);
    if (code < 0)
        return code;
    run_session(&plain);
    ga_console_end(plain.console);
    const int status = plain.terminal ? GA_STATUS_FINE : ga_console_status(plain.console);
    const int finished = ga_finish(&plain.stream, status);
    take_signal(&plain);
    ga_console_close(plain.console);
    ga_line_reader_fini(&plain.input);
    close(plain.signals);
    if (plain.caught)
        ga_signals_raise(plain.caught);
    return finished;
}
