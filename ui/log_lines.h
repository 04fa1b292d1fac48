/*
 * The lines of the log panel: commands that keys and the prompt ran, their answers, failures, what
 * libraries wrote to stderr. A bounded queue: the oldest lines go first. A new line is cut at
 * newlines; control characters become blanks. One thread, the ui's.
 */
#ifndef GA_UI_LOG_LINES_H
#define GA_UI_LOG_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ga_log_lines;

enum ga_log_kind {
    GA_LOG_COMMAND, /* what was run; `key` is the key that ran it, "" when it was typed */
    GA_LOG_ANSWER,
    GA_LOG_FAILURE,
    GA_LOG_NOTE,  /* a script's `say` */
    GA_LOG_STDERR /* of a library */
};

struct ga_log_line {
    enum ga_log_kind kind;
    char key[8];
    unsigned repeats; /* how often the same command came in a row, 1 at first */
    const char *text; /* borrowed until the next add */
};

int ga_log_lines_open(struct ga_log_lines **out, size_t limit); /* lines kept */
void ga_log_lines_close(struct ga_log_lines *log);

/* `text` need not end in a newline; several lines become several, empty ones are left out. Memory
 * that is not there loses the line. */
void ga_log_lines_add(struct ga_log_lines *log, enum ga_log_kind kind, const char *key,
                      const char *text, size_t length);
void ga_log_lines_clear(struct ga_log_lines *log);

size_t ga_log_lines_count(const struct ga_log_lines *log);
/* Line `back` counted from the newest, 0; false beyond the oldest. */
bool ga_log_lines_get(const struct ga_log_lines *log, size_t back, struct ga_log_line *out);
uint64_t ga_log_lines_total(const struct ga_log_lines *log); /* ever added */

#endif
