/*
 * Any bytes as lines of a script: the lexer, the command and settings tables, conditions,
 * completion, and every command that neither moves nor touches files. Nothing may crash, leak or
 * write.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "console/command.h"
#include "console/complete.h"
#include "console/condition.h"
#include "console/console.h"
#include "console/lexer.h"
#include "support/replay.h"

static int swallow_out(void *self, const char *bytes, size_t length)
{
    (void)self;
    (void)bytes;
    (void)length;
    return 0;
}

static void swallow_fail(void *self, const char *bytes, size_t length)
{
    swallow_out(self, bytes, length);
}

static void swallow_word(void *self, const char *word)
{
    (void)self;
    (void)word;
}

/* A model may ask for all the memory there is. */
static bool is_model(const struct ga_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        if (strcmp(words->word[i], "model") == 0)
            return true;
    return false;
}

/* Moves take time and files are the system's; all else may run. */
static bool may_run(const char *line, size_t length)
{
    struct ga_words words = GA_WORDS_INIT;
    bool may = ga_words_read(&words, line, length) < 0 || words.count == 0;
    if (!may) {
        const struct ga_command *command = ga_command_find(words.word[0]);
        may = !command || (!(command->flags & (GA_COMMAND_MOVES | GA_COMMAND_WRITES)) &&
                           command->complete != GA_COMPLETE_FILE && !is_model(&words));
    }
    ga_words_fini(&words);
    return may;
}

static void try_condition(const char *line)
{
    struct ga_condition condition;
    if (ga_condition_read(&condition, line) == 0)
        ga_condition_fini(&condition);
}

static void run_line(struct ga_console *console, const char *bytes, size_t length, size_t number)
{
    const struct ga_origin origin = {"fuzz", number};
    const struct ga_completion completion = {swallow_word, NULL, "layers.0.weight", "main"};
    char *line = malloc(length + 1);
    if (!line)
        return;
    memcpy(line, bytes, length);
    line[length] = '\0';
    try_condition(line);
    ga_complete(line, &completion);
    if (may_run(line, length))
        ga_console_line(console, line, length, &origin);
    free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct ga_console *console = NULL;
    const struct ga_console_options options = {.sink = {NULL, swallow_out, swallow_fail},
                                               .readonly = true};
    const char *text = (const char *)bytes;
    size_t at = 0;
    size_t number = 1;
    if (ga_console_open(&console, &options) < 0)
        return 0;
    while (at < size && !ga_console_quits(console)) {
        const char *end = memchr(text + at, '\n', size - at);
        const size_t length = end ? (size_t)(end - text) - at : size - at;
        run_line(console, text + at, length, number++);
        at += length + 1;
    }
    ga_console_close(console);
    return 0;
}
