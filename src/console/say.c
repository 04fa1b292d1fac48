/* Writing to the sink, and small texts that several commands share. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "console/session.h"

static void put(struct ga_console *console, const char *bytes, size_t length)
{
    if (!console->broken && length > 0)
        console->broken = console->options.sink.out(console->options.sink.self, bytes, length) < 0;
}

void ga_say(struct ga_console *console, const char *format, ...)
{
    struct ga_text text = GA_TEXT_INIT;
    va_list args;
    va_start(args, format);
    ga_text_vprintf(&text, format, args);
    va_end(args);
    ga_text_puts(&text, "\n");
    put(console, ga_text_get(&text), text.length);
    ga_text_free(&text);
}

void ga_say_text(struct ga_console *console, const struct ga_text *text)
{
    put(console, ga_text_get(text), text->length);
    if (text->length > 0 && text->data[text->length - 1] != '\n')
        put(console, "\n", 1);
}

int ga_report(struct ga_console *console, int (*call)(struct ga_run *run, void *report),
              struct ga_report *report)
{
    int code = ga_engine_call(console->engine, call, report);
    if (code == 0 && ga_text_failed(&report->text))
        code = ga_fail(GA_ENOMEM, "no memory for the answer");
    if (code == 0)
        ga_say_text(console, &report->text);
    ga_text_free(&report->text);
    return code;
}

char *ga_join(size_t count, const char *const *word)
{
    struct ga_text text = GA_TEXT_INIT;
    ga_text_puts(&text, "");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            ga_text_puts(&text, " ");
        ga_text_puts(&text, word[i]);
    }
    if (!ga_text_failed(&text))
        return text.data;
    ga_text_free(&text);
    ga_fail(GA_ENOMEM, "no memory for a line");
    return NULL;
}

/* "FOLDER/path" for a script FOLDER/name; NULL when the script has no folder. */
static char *beside_script(const char *script, const char *path)
{
    const char *slash = script ? strrchr(script, '/') : NULL;
    if (!slash)
        return NULL;
    struct ga_text text = GA_TEXT_INIT;
    ga_text_append(&text, script, (size_t)(slash - script) + 1);
    ga_text_puts(&text, path);
    return text.data;
}

int ga_find_file(const struct ga_console *console, const char *path, char **out)
{
    *out = NULL;
    char *beside = NULL;
    if (*path != '/' && access(path, F_OK) != 0)
        beside = beside_script(console->origin ? console->origin->file : NULL, path);
    if (beside && access(beside, F_OK) != 0) {
        ga_fail_errno(GA_EINPUT, errno, "cannot find %s, neither from here nor as %s", path,
                      beside);
        free(beside);
        return GA_EINPUT;
    }
    *out = beside ? beside : ga_copy_string(path);
    return *out ? 0 : GA_ENOMEM;
}

void ga_write_when(int when, const struct ga_change *change, struct ga_text *out)
{
    if (when == GA_WHEN_NOW)
        ga_text_puts(out, "at once");
    else if (when == GA_WHEN_START && change->start_waits)
        ga_text_puts(out, "from the next reset");
    else
        ga_text_printf(out, "from update %llu", (unsigned long long)change->from_update);
}
