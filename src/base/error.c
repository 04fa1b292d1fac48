#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local struct ga_error last = {.update = -1, .replica = -1, .micro = -1};

/* A text that did not fit is cut before a UTF-8 character, not inside it. */
static void cut(char text[GA_ERROR_TEXT], int wanted)
{
    if (wanted < GA_ERROR_TEXT)
        return;
    size_t end = GA_ERROR_TEXT - 1;
    while (end > 0 && ((unsigned char)text[end - 1] & 0xc0) == 0x80)
        end--;
    if (end > 0 && (unsigned char)text[end - 1] >= 0xc0)
        end--;
    text[end] = '\0';
}

/* The arguments may point into the present text, so it is replaced only at the end. */
static void format_text(const char *suffix, const char *format, va_list args)
{
    char text[GA_ERROR_TEXT];
    int length = vsnprintf(text, sizeof text, format, args);
    if (length < 0) {
        text[0] = '\0';
        length = 0;
    }
    if (suffix && length < GA_ERROR_TEXT)
        length += snprintf(text + length, sizeof text - (size_t)length, ": %s", suffix);
    cut(text, length);
    memcpy(last.text, text, sizeof text);
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
