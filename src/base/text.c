#include "base/text.h"

#include "base/c_locale.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for `more` bytes and the NUL behind them. */
static bool reserve(struct ga_text *text, size_t more)
{
    size_t need = 0;
    if (text->failed)
        return false;
    if (__builtin_add_overflow(text->length, more, &need) || need == SIZE_MAX) {
        ga_fail(GA_ENOMEM, "a text of %zu bytes cannot grow by %zu", text->length, more);
        text->failed = true;
        return false;
    }
    void *data = text->data;
    text->failed = ga_grow(&data, &text->capacity, need + 1, 1) != GA_OK;
    text->data = data;
    return !text->failed;
}

void ga_text_append(struct ga_text *text, const char *bytes, size_t length)
{
    if (!reserve(text, length))
        return;
    if (length > 0)
        memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void ga_text_puts(struct ga_text *text, const char *string)
{
    ga_text_append(text, string, strlen(string));
}

void ga_text_printf(struct ga_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ga_text_vprintf(text, format, args);
    va_end(args);
}

/* Formats into the room there is; the answer is the length wanted, as vsnprintf() gives it. */
static int format_into(struct ga_text *text, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    const int wanted =
        vsnprintf(text->data + text->length, text->capacity - text->length, format, again);
    va_end(again);
    return wanted;
}

static void format_growing(struct ga_text *text, const char *format, va_list args)
{
    if (!reserve(text, 80))
        return;
    int wanted = format_into(text, format, args);
    if (wanted >= 0 && (size_t)wanted >= text->capacity - text->length) {
        if (!reserve(text, (size_t)wanted)) {
            text->data[text->length] = '\0';
            return;
        }
        wanted = format_into(text, format, args);
    }
    if (wanted < 0) {
        text->data[text->length] = '\0';
        text->failed = true;
        ga_fail(GA_ENOMEM, "a text could not be formatted");
        return;
    }
    text->length += (size_t)wanted;
}

void ga_text_vprintf(struct ga_text *text, const char *format, va_list args)
{
    const locale_t old = ga_c_locale_enter();
    format_growing(text, format, args);
    ga_c_locale_leave(old);
}

void ga_text_number(struct ga_text *text, double value)
{
    char number[GA_NUMBER_TEXT];
    ga_format_double(number, value);
    ga_text_puts(text, number);
}

const char *ga_text_get(const struct ga_text *text)
{
    return text->data ? text->data : "";
}

bool ga_text_failed(const struct ga_text *text)
{
    return text->failed;
}

void ga_text_clear(struct ga_text *text)
{
    text->length = 0;
    text->failed = false;
    if (text->data)
        text->data[0] = '\0';
}

void ga_text_free(struct ga_text *text)
{
    if (!text)
        return;
    free(text->data);
    *text = (struct ga_text)GA_TEXT_INIT;
}

/* The length of the well-formed, printable UTF-8 character at `bytes`, or 0. */
static size_t printable(const unsigned char *bytes, size_t length)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {
        {0x80, 0x00, 0x20}, {0xe0, 0xc0, 0xa0}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    size_t form = 0;
    while (form < 4 && (bytes[0] & forms[form].mask) != forms[form].lead)
        form++;
    if (form == 4 || form >= length)
        return 0;
    uint32_t point = bytes[0] & (unsigned char)~forms[form].mask;
    for (size_t i = 1; i <= form; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        point = point << 6 | (bytes[i] & 0x3f);
    }
    const bool bad = point < forms[form].least || point == 0x7f || point > 0x10ffff ||
                     (point >= 0xd800 && point < 0xe000);
    return bad ? 0 : form + 1;
}

const char *ga_quote_n(char out[GA_QUOTE_TEXT], const char *bytes, size_t length)
{
    enum { SHOWN = 40 };
    size_t from = 0;
    size_t to = 0;
    out[to++] = '"';
    while (from < length && from < SHOWN) {
        const size_t good = printable((const unsigned char *)bytes + from, length - from);
        if (good > 0 && from + good > SHOWN)
            break;
        if (good > 0)
            memcpy(out + to, bytes + from, good);
        else
            out[to] = '?';
        to += good > 0 ? good : 1;
        from += good > 0 ? good : 1;
    }
    memcpy(out + to, from < length ? "...\"" : "\"", from < length ? 5 : 2);
    return out;
}

const char *ga_quote(char out[GA_QUOTE_TEXT], const char *string)
{
    return ga_quote_n(out, string, strlen(string));
}
