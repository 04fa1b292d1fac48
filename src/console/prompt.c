/*
 * The readline part of the plain front end: its callback interface, so that the prompt stays live
 * while training runs. What appears while a line is half typed takes the line away, is written, and
 * the line is drawn again below it.
 *
 * readline has no room for a caller's data in its callbacks, so two pointers are kept in this file.
 * They are set for the time of ga_prompt_run() and belong to its thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <readline/history.h>
#include <readline/readline.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/thread.h"
#include "console/complete.h"
#include "console/plain.h"

#define PROMPT    "(gaconsole) "
#define KEPT      1000               /* lines of key history */
#define PERIOD_NS INT64_C(100000000) /* between two looks at what training printed */

struct prompt {
    struct ga_plain *plain;
    bool drawn; /* prompt and half-typed line are on the screen */
    bool ended;
    int64_t pumped_ns;
    char *history; /* file; NULL: none is kept */
    int typed;     /* lines to add to it */
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

static void remember(struct prompt *prompt, const char *line)
{
    const HIST_ENTRY *last =
        history_length > 0 ? history_get(history_base + history_length - 1) : NULL;
    if (!*line || *line == ' ' || (last && strcmp(last->line, line) == 0))
        return;
    add_history(line);
    prompt->typed++;
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
        remember(prompt, line);
        run_typed(prompt, line);
    }
    prompt->ended = !line || ga_console_quits(prompt->plain->console) || prompt->plain->caught ||
                    prompt->plain->stream.system_error;
    free(line);
    if (prompt->ended)
        rl_callback_handler_remove();
    prompt->drawn = !prompt->ended; /* readline draws the next prompt by itself */
}

struct candidates {
    char **word;
    size_t count, capacity, next;
};

static struct candidates *offered; /* for readline's generator; set during complete_line() */

static void add_candidate(void *self, const char *word)
{
    struct candidates *candidates = self;
    if (ga_grow((void **)&candidates->word, &candidates->capacity, candidates->count + 1,
                sizeof(*candidates->word)) < 0)
        return;
    char *copy = ga_copy_string(word);
    if (copy)
        candidates->word[candidates->count++] = copy;
}

/* Hands the candidates over one by one; readline frees them. */
static char *next_candidate(const char *text, int again)
{
    (void)text;
    (void)again;
    return offered->next < offered->count ? offered->word[offered->next++] : NULL;
}

static int append_tensors(struct ga_run *run, void *arg)
{
    const struct ga_net *net = ga_run_net_of(run);
    for (size_t i = 0; i < net->tensors; i++)
        ga_text_printf(arg, "%s ", net->tensor[i].name);
    return 0;
}

static char **complete_line(const char *text, int start, int end)
{
    (void)start;
    struct candidates candidates = {NULL, 0, 0, 0};
    struct ga_text tensors = GA_TEXT_INIT;
    struct ga_text line = GA_TEXT_INIT;
    char **matches = NULL;
    ga_engine_call(ga_console_engine(active->plain->console), append_tensors, &tensors);
    ga_text_append(&line, rl_line_buffer, (size_t)end);
    const struct ga_completion completion = {add_candidate, &candidates, ga_text_get(&tensors)};
    rl_attempted_completion_over = !ga_complete(ga_text_get(&line), &completion);
    offered = &candidates;
    if (candidates.count > 0)
        matches = rl_completion_matches(text, next_candidate);
    offered = NULL;
    free(candidates.word);
    ga_text_free(&tensors);
    ga_text_free(&line);
    return matches;
}

/* Makes the folders that lead to a file. */
static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
}

static void open_history(struct prompt *prompt)
{
    using_history();
    stifle_history(KEPT);
    if (prompt->plain->arguments->readonly)
        return;
    prompt->history = ga_user_path("XDG_STATE_HOME", ".local/state", "history");
    if (!prompt->history)
        return;
    make_folders(prompt->history);
    const int fd = open(prompt->history, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) { /* a history that cannot be kept is no reason not to work */
        free(prompt->history);
        prompt->history = NULL;
        return;
    }
    fchmod(fd, 0600);
    close(fd);
    read_history(prompt->history);
}

static void close_history(struct prompt *prompt)
{
    if (prompt->history && prompt->typed > 0) {
        append_history(prompt->typed < KEPT ? prompt->typed : KEPT, prompt->history);
        history_truncate_file(prompt->history, KEPT);
        chmod(prompt->history, 0600);
    }
    free(prompt->history);
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
    rl_readline_name = "gaconsole";
    rl_catch_signals = 0;
    rl_catch_sigwinch = 0;
    rl_change_environment = 0;
    rl_attempted_completion_function = complete_line;
    rl_completer_word_break_characters = " \t";
    ga_stream_flush(&plain->stream);
    open_history(&prompt);
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
    close_history(&prompt);
    clear_history();
}
