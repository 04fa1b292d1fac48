#include "console/console.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "console/command.h"
#include "console/session.h"

/* The run that there is before anyone asked for one: y = x^2. */
static int open_demo(struct ga_console *console)
{
    static const char *const words[] = {"parabola"};
    int code = ga_dataset_open(&console->data, 1, words, "");
    if (code < 0)
        return code;
    console->demo_spec = ga_copy_string(ga_dataset_spec(console->data));
    if (!console->demo_spec)
        return GA_ENOMEM;
    return ga_engine_data(console->engine, ga_dataset_share(console->data));
}

static int open_parts(struct ga_console *console)
{
    int code = ga_bell_open(&console->bell);
    if (code == 0)
        code = ga_feed_open(&console->feed, &console->bell);
    const struct ga_engine_options options = {.bell = &console->bell, .threads = 0};
    if (code == 0)
        code = ga_engine_open(&console->engine, &options);
    if (code < 0)
        return code;
    ga_feed_set_lossy(console->feed, console->options.prompt);
    struct ga_columns columns;
    ga_columns_default(&columns, console->options.terminal_columns);
    ga_feed_set_columns(console->feed, &columns);
    const struct ga_observer observer = ga_feed_observer(console->feed);
    if (!console->options.curves)
        code = ga_engine_observe(console->engine, &observer);
    return code < 0 ? code : open_demo(console);
}

int ga_console_open(struct ga_console **out, const struct ga_console_options *options)
{
    *out = NULL;
    struct ga_console *console = ga_alloc(1, sizeof(*console));
    if (!console)
        return GA_ENOMEM;
    console->options = *options;
    console->bell.fd = -1;
    ga_nccl_log_init(&console->nccl_log);
    const int code = open_parts(console);
    if (code < 0) {
        ga_console_close(console);
        return code;
    }
    *out = console;
    return 0;
}

void ga_console_close(struct ga_console *console)
{
    if (!console)
        return;
    if (console->feed)
        ga_feed_set_lossy(console->feed, true); /* an engine held by it goes on */
    if (console->engine && console->move.active)
        ga_engine_pause(console->engine);
    if (console->engine)
        ga_logs_close(console);
    ga_engine_close(console->engine);
    ga_feed_close(console->feed);
    ga_bell_close(&console->bell);
    ga_dataset_close(console->data);
    ga_script_forget(console);
    ga_nccl_log_fini(&console->nccl_log);
    free(console->demo_spec);
    free(console);
}

bool ga_at_prompt(const struct ga_console *console)
{
    return console->options.prompt && console->depth == 0 && !console->origin->file;
}

static int check_words(const struct ga_command *command, size_t count)
{
    if (count >= command->least && count <= command->most)
        return 0;
    return ga_fail(GA_EINPUT, "%s: too %s words: expected `%s%s%s`", command->name,
                   count < command->least ? "few" : "many", command->name,
                   *command->usage ? " " : "", command->usage);
}

static int execute(struct ga_console *console, const struct ga_words *words)
{
    const struct ga_command *command = ga_command_find(words->word[0]);
    if (!command)
        return ga_error_code();
    const int code = check_words(command, words->count - 1);
    if (code < 0)
        return code;
    if ((command->flags & GA_COMMAND_WRITES) && console->options.readonly && words->count > 1)
        return ga_fail(GA_ESTATE, "%s writes a file, and the console was started with --readonly",
                       command->name);
    const int arrived = command->flags & GA_COMMAND_MIDWAY ? 0 : ga_move_arrive(console);
    if (arrived < 0)
        return arrived;
    const int done = command->exec(console, words->count - 1, words->word + 1);
    if (done == 0 && (command->flags & GA_COMMAND_RESTARTS))
        console->script.generation++;
    return done;
}

static int status_of(int code)
{
    return code == GA_ENONFINITE ? GA_STATUS_TRAINING : GA_STATUS_INPUT;
}

int ga_complain(struct ga_console *console)
{
    const int code = ga_error_code();
    const struct ga_origin *origin = console->origin;
    struct ga_text text = GA_TEXT_INIT;
    ga_text_puts(&text, "gaconsole: ");
    if (origin && origin->file)
        ga_text_printf(&text, "%s:%zu: ", origin->file, origin->line);
    ga_text_puts(&text, ga_error_text());
    for (size_t i = 0; i < text.length; i++)
        if ((unsigned char)text.data[i] < 0x20 || text.data[i] == 0x7f)
            text.data[i] = '?';
    ga_text_puts(&text, "\n");
    if (!console->broken && !ga_text_failed(&text))
        console->options.sink.fail(console->options.sink.self, text.data, text.length);
    ga_text_free(&text);
    if (console->status == 0)
        console->status = status_of(code);
    return code;
}

/* A failure is told once, by the innermost line. */
static int end_line(struct ga_console *console, int code)
{
    if (console->broken)
        return GA_EIO;
    if (code < 0 && !console->told) {
        code = ga_complain(console);
        console->told = true;
    }
    return code;
}

int ga_console_line(struct ga_console *console, const char *line, size_t length,
                    const struct ga_origin *origin)
{
    static const struct ga_origin typed = {NULL, 0};
    const struct ga_origin *outer = console->origin;
    struct ga_words words = GA_WORDS_INIT; /* of its own: `source` runs lines within a line */
    if (!outer) {
        console->told = false;
        console->interrupted = false;
        console->script.back = 0;
    }
    console->origin = origin ? origin : &typed;
    int code = ga_words_read(&words, line, length);
    if (code == 0 && words.count > 0)
        code = execute(console, &words);
    code = end_line(console, code);
    ga_words_fini(&words);
    console->origin = outer;
    return code;
}

int ga_console_script(struct ga_console *console, const char *path)
{
    const struct ga_origin *outer = console->origin;
    if (!outer) {
        console->told = false;
        console->interrupted = false;
        console->script.back = 0;
    }
    const int code = end_line(console, ga_script_run(console, path));
    console->origin = outer;
    return code;
}

void ga_console_end(struct ga_console *console)
{
    ga_logs_close(console);
}

int ga_console_status(const struct ga_console *console)
{
    return console->status;
}

bool ga_console_quits(const struct ga_console *console)
{
    return console->quits;
}

bool ga_console_interrupted(const struct ga_console *console)
{
    return console->interrupted;
}

const char *ga_console_stopped(const struct ga_console *console)
{
    return console->stopped;
}

bool ga_console_saved(const struct ga_console *console, uint64_t hash)
{
    return console->saved.known && console->saved.hash == hash;
}

int ga_console_bell(const struct ga_console *console)
{
    return console->bell.fd;
}

bool ga_console_moving(struct ga_console *console)
{
    return ga_engine_moving(console->engine);
}

void ga_console_pause(struct ga_console *console)
{
    ga_engine_pause(console->engine);
}

struct ga_engine *ga_console_engine(struct ga_console *console)
{
    return console->engine;
}
