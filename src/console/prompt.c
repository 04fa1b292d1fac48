/*
 * The readline part of the plain front end: its callback interface, so that the prompt stays live
 * while training runs. What appears while a line is half typed takes the line away, is written, and
 * the line is drawn again below it.
 *
 * readline has no room for a caller's data in its callbacks, so a pointer is kept in this file.
 * It is set for the time of ga_prompt_run() and belongs to its thread.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <readline/readline.h>

#include "base/error.h"
#include "base/text.h"
#include "base/thread.h"
#include "console/plain.h"
#include "console/typing.h"

#define PROMPT    "(gaconsole) "
#define PERIOD_NS INT64_C(100000000) /* between two looks at what training printed */

struct prompt {
    struct ga_plain *plain;
    bool drawn; /* prompt and half-typed line are on the screen */
    bool ended;
    int64_t pumped_ns;
};

static struct prompt *active;

void ga_prompt_hide(void)
{
    if (!active || !active->drawn)
        return;
    rl_clear_visible_line();
    fflush(rl_outstream);
    active->drawn = false;
}

static void show(struct prompt *prompt)
{
    if (prompt->drawn || prompt->ended)
        return;
    rl_on_new_line();
    rl_redisplay();
    prompt->drawn = true;
}

/* A paste comes as one line with newlines: each runs as in a script, up to the first failure. */
static void run_pasted(struct prompt *prompt, const char *line)
{
    struct ga_origin origin = {"pasted", 0};
    int code = 0;
    while (code == 0 && *line && !ga_console_quits(prompt->plain->console)) {
        const size_t length = strcspn(line, "\n");
        origin.line++;
        code = ga_console_line(prompt->plain->console, line, length, &origin);
        line += length + (line[length] == '\n');
    }
}

static void run_typed(struct prompt *prompt, const char *line)
{
    struct ga_console *console = prompt->plain->console;
    ga_console_pump(console); /* what happened before is told before */
    if (strchr(line, '\n'))
        run_pasted(prompt, line);
    else
        ga_console_line(console, line, strlen(line), NULL);
    ga_stream_flush(&prompt->plain->stream);
}

/* readline's handler: a whole line, or NULL for the end of the file. The cursor is on a new line.
 */
static void take_line(char *line)
{
    struct prompt *prompt = active;
    prompt->drawn = false;
    if (line) {
        ga_typing_remember(line);
        run_typed(prompt, line);
    }
    prompt->ended = !line || ga_console_quits(prompt->plain->console) || prompt->plain->caught ||
                    prompt->plain->stream.system_error;
    free(line);
    if (prompt->ended)
        rl_callback_handler_remove();
    prompt->drawn = !prompt->ended; /* readline draws the next prompt by itself */
}

static void suspend(struct prompt *prompt)
{
    ga_prompt_hide();
    rl_deprep_terminal();
    kill(getpid(), SIGSTOP);
    rl_prep_terminal(1);
    show(prompt);
}

static void interrupt(struct prompt *prompt)
{
    if (ga_console_moving(prompt->plain->console)) {
        ga_console_pause(prompt->plain->console);
        return;
    }
    rl_free_line_state();
    rl_callback_sigcleanup();
    rl_replace_line("", 0);
    rl_crlf();
    rl_on_new_line();
    rl_redisplay();
}

static void take_signals(struct prompt *prompt)
{
    int number = 0;
    while ((number = ga_signals_take(prompt->plain->signals)) != 0) {
        if (number == SIGINT)
            interrupt(prompt);
        else if (number == SIGWINCH)
            rl_resize_terminal();
        else if (number == SIGTSTP)
            suspend(prompt);
        else
            prompt->plain->caught = number;
    }
}

static void pump(struct prompt *prompt)
{
    ga_console_pump(prompt->plain->console);
    ga_stream_flush(&prompt->plain->stream);
    prompt->pumped_ns = ga_now_ns();
    show(prompt);
}

/* One round: keys, signals, and not too often what training has printed. */
static void turn(struct prompt *prompt)
{
    const int64_t wait_ns = prompt->pumped_ns + PERIOD_NS - ga_now_ns();
    struct pollfd watched[3] = {
        {.fd = STDIN_FILENO, .events = POLLIN},
        {.fd = prompt->plain->signals, .events = POLLIN},
        {.fd = wait_ns > 0 ? -1 : ga_console_bell(prompt->plain->console), .events = POLLIN}};
    poll(watched, 3, wait_ns > 0 ? (int)(wait_ns / 1000000) + 1 : -1);
    if (watched[1].revents)
        take_signals(prompt);
    if (watched[2].revents)
        pump(prompt);
    if (watched[0].revents && !prompt->plain->caught)
        rl_callback_read_char();
}

void ga_prompt_run(struct ga_plain *plain)
{
    struct prompt prompt = {.plain = plain};
    rl_catch_signals = 0;
    rl_catch_sigwinch = 0;
    rl_change_environment = 0;
    ga_stream_flush(&plain->stream);
    ga_typing_open(plain->console, !plain->arguments->readonly);
    active = &prompt;
    rl_callback_handler_install(PROMPT, take_line);
    prompt.drawn = true;
    while (!prompt.ended && !plain->caught && !plain->stream.system_error)
        turn(&prompt);
    if (!prompt.ended) {
        ga_prompt_hide();
        rl_callback_handler_remove();
    } else if (!ga_console_quits(plain->console)) {
        plain->direct.out(plain->direct.self, "\n", 1);
    }
    active = NULL;
    ga_typing_close();
}
