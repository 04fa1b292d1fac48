#include "ui/log_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define LINE_BYTES 2000 /* kept of one line */

struct entry {
    enum ga_log_kind kind;
    char key[8];
    unsigned repeats;
    char *text;
};

struct ga_log_lines {
    size_t limit, count, head; /* the newest is before head */
    uint64_t total;
    struct entry entry[];
};

int ga_log_lines_open(struct ga_log_lines **out, size_t limit)
{
    *out = NULL;
    if (limit < 1 || limit > 1000000)
        return ga_fail(GA_ERANGE, "a log of %zu lines: expected 1..1000000", limit);
    struct ga_log_lines *log = ga_alloc(1, sizeof *log + limit * sizeof log->entry[0]);
    if (!log)
        return GA_ENOMEM;
    log->limit = limit;
    *out = log;
    return GA_OK;
}

void ga_log_lines_clear(struct ga_log_lines *log)
{
    for (size_t i = 0; i < log->limit; i++) {
        free(log->entry[i].text);
        log->entry[i].text = NULL;
    }
    log->count = log->head = 0;
}

void ga_log_lines_close(struct ga_log_lines *log)
{
    if (!log)
        return;
    ga_log_lines_clear(log);
    free(log);
}

static struct entry *entry_back(const struct ga_log_lines *log, size_t back)
{
    return (struct entry *)&log->entry[(log->head + log->limit - 1 - back) % log->limit];
}

/* Text without control characters: blanks in their place. */
static char *clean_copy(const char *text, size_t length)
{
    char *copy = NULL;

    length = length < LINE_BYTES ? length : LINE_BYTES;
    while (length > 0 && length == LINE_BYTES && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    copy = ga_alloc(length + 1, 1);
    for (size_t i = 0; copy && i < length; i++)
        copy[i] = (unsigned char)text[i] < 0x20 || text[i] == 0x7f ? ' ' : text[i];
    return copy;
}

static void add_line(struct ga_log_lines *log, enum ga_log_kind kind, const char *key,
                     const char *text, size_t length)
{
    char *copy = clean_copy(text, length);
    struct entry *newest = log->count > 0 ? entry_back(log, 0) : NULL;

    if (!copy)
        return;
    log->total++;
    if (newest && newest->kind == kind && kind != GA_LOG_ANSWER &&
        strcmp(newest->text, copy) == 0) {
        newest->repeats++;
        free(copy);
        return;
    }
    struct entry *entry = &log->entry[log->head];
    free(entry->text);
    *entry = (struct entry){.kind = kind, .repeats = 1, .text = copy};
    snprintf(entry->key, sizeof entry->key, "%s", key ? key : "");
    log->head = (log->head + 1) % log->limit;
    log->count += log->count < log->limit;
}

void ga_log_lines_add(struct ga_log_lines *log, enum ga_log_kind kind, const char *key,
                      const char *text, size_t length)
{
    while (length > 0) {
        const char *end = memchr(text, '\n', length);
        size_t line = end ? (size_t)(end - text) : length;

        if (line > 0)
            add_line(log, kind, key, text, line);
        line += end ? 1 : 0;
        text += line;
        length -= line;
    }
}

size_t ga_log_lines_count(const struct ga_log_lines *log)
{
    return log->count;
}

bool ga_log_lines_get(const struct ga_log_lines *log, size_t back, struct ga_log_line *out)
{
    const struct entry *entry = NULL;

    if (back >= log->count)
        return false;
    entry = entry_back(log, back);
    out->kind = entry->kind;
    memcpy(out->key, entry->key, sizeof out->key);
    out->repeats = entry->repeats;
    out->text = entry->text;
    return true;
}

uint64_t ga_log_lines_total(const struct ga_log_lines *log)
{
    return log->total;
}
