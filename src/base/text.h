/*
 * A growing text buffer. `data` is always NUL-terminated and never NULL once something was added;
 * use ga_text_get() where it may be empty. Running out of memory is remembered: later appends do
 * nothing and ga_text_failed() tells, so that a caller checks once at the end. What is appended
 * must not lie in the buffer itself. Numbers are written as in the C locale, whatever the thread's
 * locale.
 */
#ifndef GA_BASE_TEXT_H
#define GA_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct ga_text {
    char *data;
    size_t length;
    size_t capacity;
    bool failed;
};

#define GA_TEXT_INIT                                                                               \
    {                                                                                              \
        NULL, 0, 0, false                                                                          \
    }

void ga_text_append(struct ga_text *text, const char *bytes, size_t length);
void ga_text_puts(struct ga_text *text, const char *string);
void ga_text_printf(struct ga_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void ga_text_vprintf(struct ga_text *text, const char *format, va_list args);

/* Appends the shortest decimal form that reads back to the same double (see number.h). */
void ga_text_number(struct ga_text *text, double value);

const char *ga_text_get(const struct ga_text *text); /* "" when empty */
bool ga_text_failed(const struct ga_text *text);
void ga_text_clear(struct ga_text *text); /* keeps the memory */
void ga_text_free(struct ga_text *text);

/*
 * `string` as it may stand in a message: in double quotes, control characters and malformed UTF-8
 * as
 * '?', and at most 40 bytes of it, followed by "..." when cut.
 */
#define GA_QUOTE_TEXT 48
const char *ga_quote(char out[GA_QUOTE_TEXT], const char *string);
const char *ga_quote_n(char out[GA_QUOTE_TEXT], const char *bytes, size_t length);

#endif
