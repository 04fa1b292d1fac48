#include "console/typing.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <readline/history.h>
#include <readline/readline.h>

#include "base/memory.h"
#include "base/text.h"
#include "console/complete.h"
#include "console/front.h"

#define KEPT 1000 /* lines of history */

struct typing {
    struct ga_console *console;
    char *file; /* NULL: none is kept */
    int typed;  /* lines to add to it */
};

/* The session; readline's completion has no other way to it. */
static struct typing *active;

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

static void append_runs(struct ga_engine *engine, struct ga_text *out)
{
    struct ga_run_info info;
    for (size_t k = 0; ga_engine_run_info(engine, k, &info); k++)
        ga_text_printf(out, "%s ", info.name);
}

static char **complete_line(const char *text, int start, int end)
{
    (void)start;
    struct candidates candidates = {NULL, 0, 0, 0};
    struct ga_text tensors = GA_TEXT_INIT;
    struct ga_text runs = GA_TEXT_INIT;
    struct ga_text line = GA_TEXT_INIT;
    char **matches = NULL;
    ga_engine_call(ga_console_engine(active->console), append_tensors, &tensors);
    append_runs(ga_console_engine(active->console), &runs);
    ga_text_append(&line, rl_line_buffer, (size_t)end);
    const struct ga_completion completion = {.each = add_candidate,
                                             .self = &candidates,
                                             .tensors = ga_text_get(&tensors),
                                             .runs = ga_text_get(&runs)};
    rl_attempted_completion_over = !ga_complete(ga_text_get(&line), &completion);
    offered = &candidates;
    if (candidates.count > 0)
        matches = rl_completion_matches(text, next_candidate);
    /* the value of an option is typed on behind it */
    if (matches && matches[0] && matches[0][0])
        rl_completion_suppress_append = matches[0][strlen(matches[0]) - 1] == '=';
    offered = NULL;
    free(candidates.word);
    ga_text_free(&tensors);
    ga_text_free(&runs);
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

/* The file that lines go to, made when it is not there; NULL when it cannot be used. */
static char *open_file(void)
{
    char *path = ga_user_path("XDG_STATE_HOME", ".local/state", "history");
    if (!path)
        return NULL;
    make_folders(path);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        free(path);
        return NULL;
    }
    fchmod(fd, 0600);
    close(fd);
    return path;
}

void ga_typing_open(struct ga_console *console, bool keep)
{
    active = ga_alloc(1, sizeof(*active));
    if (!active)
        return;
    active->console = console;
    rl_readline_name = "gaconsole";
    rl_attempted_completion_function = complete_line;
    rl_completer_word_break_characters = " \t";
    using_history();
    stifle_history(KEPT);
    active->file = keep ? open_file() : NULL;
    if (active->file)
        read_history(active->file);
}

void ga_typing_remember(const char *line)
{
    const HIST_ENTRY *last =
        history_length > 0 ? history_get(history_base + history_length - 1) : NULL;
    if (!active || !*line || *line == ' ' || (last && strcmp(last->line, line) == 0))
        return;
    add_history(line);
    active->typed++;
}

static void append_file(const char *path, int lines)
{
    append_history(lines < KEPT ? lines : KEPT, path);
    history_truncate_file(path, KEPT);
    chmod(path, 0600);
}

void ga_typing_close(void)
{
    if (!active)
        return;
    if (active->file && active->typed > 0)
        append_file(active->file, active->typed);
    rl_attempted_completion_function = NULL;
    free(active->file);
    free(active);
    active = NULL;
    clear_history();
}
