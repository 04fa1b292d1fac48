#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static _Thread_local struct ga_error last = {.update = -1, .replica = -1, .micro = -1};

#define WHOLE_TEXT 8192 /* bytes: two of the longest paths have room beside the words */
#define HEAD       (GA_ERROR_TEXT / 2)

static bool is_inside_character(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* What does not fit is a long name as a rule: it loses its middle, so that the reason behind it
 * stays. Characters stay whole. */
static void keep(const char *text)
{
    static const char gap[] = "...";
    const size_t length = strlen(text);
    size_t head = HEAD;
    size_t tail = length - (GA_ERROR_TEXT - 1 - HEAD - (sizeof gap - 1));
    if (length < GA_ERROR_TEXT) {
        memcpy(last.text, text, length + 1);
        return;
    }
    while (head > 0 && is_inside_character(text[head]))
        head--;
    while (is_inside_character(text[tail]))
        tail++;
    memcpy(last.text, text, head);
    memcpy(last.text + head, gap, sizeof gap - 1);
    memcpy(last.text + head + sizeof gap - 1, text + tail, length - tail + 1);
}

/* The arguments may point into the present text, so it is replaced only at the end. */
static void format_text(const char *suffix, const char *format, va_list args)
{
    char text[WHOLE_TEXT];
    const size_t room = sizeof text - (suffix ? strlen(suffix) + 2 : 0);
    if (vsnprintf(text, room, format, args) < 0)
        text[0] = '\0';
    if (suffix) {
        const size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, ": %s", suffix);
    }
    keep(text);
}

static int set(enum ga_code code)
{
    last.code = code;
    last.update = -1;
    last.replica = -1;
    last.micro = -1;
    return code;
}

int ga_fail(enum ga_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    format_text(NULL, format, args);
    va_end(args);
    return set(code);
}

int ga_fail_within(const char *format, ...)
{
    char inner[GA_ERROR_TEXT];
    memcpy(inner, last.text, sizeof inner);
    va_list args;
    va_start(args, format);
    format_text(inner, format, args);
    va_end(args);
    if (last.code == GA_OK)
        last.code = GA_EINTERNAL;
    return last.code;
}

int ga_fail_errno(enum ga_code code, int system_error, const char *format, ...)
{
    char buffer[128];
    const char *reason = strerror_r(system_error, buffer, sizeof buffer);
    va_list args;
    va_start(args, format);
    format_text(reason, format, args);
    va_end(args);
    return set(code);
}

const char *ga_error_text(void)
{
    return last.text;
}

enum ga_code ga_error_code(void)
{
    return last.code;
}

void ga_error_take(struct ga_error *out)
{
    *out = last;
    out->update = -1;
    out->replica = -1;
    out->micro = -1;
}

int ga_error_put(const struct ga_error *error)
{
    if (error != &last)
        last = *error;
    return last.code;
}
