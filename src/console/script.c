/*
 * Running scripts, leaving them and going on. A script is cut into pages by its pauses (`ask`,
 * `wait key`): going back a page runs it again from its first line, with the run taken back to the
 * event at which it began.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "console/command.h"
#include "console/session.h"

#define SCRIPT_LIMIT (16u << 20) /* bytes */

struct script {
    struct ga_console *console;
    const char *path; /* in messages */
    const char *bytes;
    size_t length;
    size_t at;   /* of the next line */
    size_t line; /* its number, less 1 */
    struct ga_page *page;
    size_t pages, capacity;
};

static int read_events(struct ga_run *run, void *arg)
{
    *(uint64_t *)arg = ga_run_counters(run)->events;
    return 0;
}

/* A run that cannot be formed yet has had none. */
static uint64_t events_now(struct ga_console *console)
{
    uint64_t events = 0;
    ga_engine_call(console->engine, read_events, &events);
    return events;
}

static int begin_page(struct script *script)
{
    if (ga_grow((void **)&script->page, &script->capacity, script->pages + 1,
                sizeof(*script->page)) < 0)
        return GA_ENOMEM;
    script->page[script->pages++] = (struct ga_page){
        script->at, script->line, events_now(script->console), script->console->script.generation};
    return 0;
}

/* The page that is wanted, or the first one when there are not as many. */
static int turn_back(struct script *script)
{
    struct ga_console *console = script->console;
    const size_t back = console->script.back;
    const size_t target = script->pages >= back ? script->pages - back : 0;
    const struct ga_page page = script->page[target];
    const uint64_t events = events_now(console);
    if (page.generation != console->script.generation || page.events > events) {
        ga_say(console, "the page before began with another run: it cannot be gone back to");
        script->pages--;
        script->at = script->page[script->pages].at;
        script->line = script->page[script->pages].line;
        return begin_page(script);
    }
    script->pages = target + 1;
    script->at = page.at;
    script->line = page.line;
    if (page.events == events)
        return 0;
    struct ga_move move = {.kind = GA_MOVE_BACK_EVENTS, .count = events - page.events};
    return ga_move_start(console, &move, false);
}

/* The next line without its end. */
static const char *next_line(struct script *script, size_t *size)
{
    const char *line = script->bytes + script->at;
    const char *end = memchr(line, '\n', script->length - script->at);
    *size = end ? (size_t)(end - line) : script->length - script->at;
    script->at += *size + 1;
    script->line++;
    if (*size > 0 && line[*size - 1] == '\r')
        --*size;
    return line;
}

/* Where to go on: the pause itself, or behind a move that was broken off. */
static void keep_place(struct script *script, size_t at, size_t line)
{
    struct ga_console *console = script->console;
    char *copy = ga_copy_string(script->path);
    if (!copy || console->script.places == GA_SOURCE_DEPTH) {
        free(copy);
        return;
    }
    if (console->script.places == 0)
        ga_say(console, "left %s at line %zu; `resume` goes on", script->path, line + 1);
    console->script.place[console->script.places++] =
        (struct ga_place){copy, at, line, script->page, script->pages};
    script->page = NULL;
    script->pages = script->capacity = 0;
}

static int run_lines(struct script *script)
{
    struct ga_console *console = script->console;
    int code = script->pages > 0 ? 0 : begin_page(script);
    while (code == 0 && script->at < script->length && !console->quits && !console->interrupted) {
        const size_t at = script->at;
        size_t size = 0;
        const char *line = next_line(script, &size);
        const struct ga_origin origin = {script->path, script->line};
        console->script.paused = false;
        console->script.back = 0;
        code = ga_console_line(console, line, size, &origin);
        const bool paused = console->script.paused;
        if (console->interrupted && paused)
            keep_place(script, at, script->line - 1);
        else if (console->interrupted)
            keep_place(script, script->at, script->line);
        else if (code == 0 && console->script.back > 0)
            code = turn_back(script);
        else if (code == 0 && paused)
            code = begin_page(script);
        console->script.paused = false;
        console->script.back = 0;
    }
    free(script->page);
    return code;
}

/* The lines of a file from a place on, whose pages are taken. */
static int run_from(struct ga_console *console, struct ga_place *place)
{
    char *bytes = NULL;
    size_t length = 0;
    struct script script = {.console = console,
                            .path = place->path,
                            .at = place->at,
                            .line = place->line,
                            .page = place->page,
                            .pages = place->pages,
                            .capacity = place->pages};
    place->page = NULL;
    const int code = ga_file_read(place->path, SCRIPT_LIMIT, &bytes, &length);
    if (code < 0) {
        free(script.page);
        return code;
    }
    script.bytes = bytes;
    script.length = length;
    if (script.at == 0 && length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        script.at = 3;
    console->depth++;
    const int done = run_lines(&script);
    console->depth--;
    free(bytes);
    return done;
}

static int check_depth(const struct ga_console *console, const char *path)
{
    if (console->depth < GA_SOURCE_DEPTH)
        return 0;
    return ga_fail(GA_ERANGE,
                   "source %s: scripts call each other too deeply: expected at most %d levels",
                   path, GA_SOURCE_DEPTH);
}

int ga_script_run(struct ga_console *console, const char *path)
{
    struct ga_place place = {.path = NULL};
    int code = check_depth(console, path);
    if (console->depth == 0)
        ga_script_forget(console);
    if (code == 0)
        code = ga_find_file(console, path, &place.path);
    if (code == 0)
        code = run_from(console, &place);
    free(place.path);
    return code;
}

static void free_place(struct ga_place *place)
{
    free(place->path);
    free(place->page);
}

void ga_script_forget(struct ga_console *console)
{
    for (size_t i = 0; i < console->script.places; i++)
        free_place(&console->script.place[i]);
    console->script.places = 0;
}

int ga_exec_source(struct ga_console *console, size_t count, const char *const *word)
{
    (void)count;
    return ga_script_run(console, word[0]);
}

/* The innermost script first, then those that called it; those not reached are kept again. */
int ga_exec_resume(struct ga_console *console, size_t count, const char *const *word)
{
    (void)count;
    (void)word;
    struct ga_place place[GA_SOURCE_DEPTH];
    const size_t places = console->script.places;
    int code = 0;
    if (places == 0)
        return ga_fail(GA_ESTATE, "resume: no script was left: expected one that Esc or ctrl-C "
                                  "ended at a question, a pause or a move");
    memcpy(place, console->script.place, sizeof(place));
    console->script.places = 0;
    for (size_t i = 0; i < places; i++) {
        const bool goes_on = code == 0 && !console->interrupted && !console->quits;
        if (goes_on)
            code = check_depth(console, place[i].path);
        if (goes_on && code == 0)
            code = run_from(console, &place[i]);
        if (!goes_on && console->interrupted && console->script.places < GA_SOURCE_DEPTH)
            console->script.place[console->script.places++] = place[i];
        else
            free_place(&place[i]);
    }
    return code;
}
