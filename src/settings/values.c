#include "settings/values.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"

#define SHOWN 80 /* bytes of a refused value, so that what was expected has room */

static const void *field_of(const struct ga_setting *row, const struct ga_settings *from)
{
    return (const char *)from + row->offset;
}

static void store(const struct ga_setting *row, struct ga_settings *draft, const void *value,
                  size_t size_bytes)
{
    memcpy((char *)draft + row->offset, value, size_bytes);
}

int ga_value_refuse(const struct ga_setting *row, const char *text)
{
    const enum ga_code known = ga_error_code();
    const enum ga_code code = known == GA_ERANGE ? GA_ERANGE : GA_EINPUT;
    const bool long_text = strlen(text) > SHOWN;
    return ga_fail(code, "%s %.*s%s: expected %s%s%s", row->name, SHOWN, *text ? text : "''",
                   long_text ? "..." : "", row->values, *row->unit ? " " : "", row->unit);
}

static int read_integer(const struct ga_setting *row, const char *text, int64_t *out)
{
    if (ga_read_int(text, (int64_t)row->low, (int64_t)row->high, out) < 0)
        return ga_value_refuse(row, text);
    return 0;
}

int ga_value_read_int32(const struct ga_setting *row, struct ga_settings *draft, const char *text)
{
    int64_t wide = 0;
    const int code = read_integer(row, text, &wide);
    if (code < 0)
        return code;
    const int32_t value = (int32_t)wide;
    store(row, draft, &value, sizeof(value));
    return 0;
}

void ga_value_write_int32(const struct ga_setting *row, const struct ga_settings *from,
                          struct ga_text *to)
{
    int32_t value = 0;
    memcpy(&value, field_of(row, from), sizeof(value));
    ga_text_printf(to, "%d", (int)value);
}

static int read_word_or_int32(const struct ga_setting *row, struct ga_settings *draft,
                              const char *text, bool is_word, int32_t stands_for)
{
    if (!is_word)
        return ga_value_read_int32(row, draft, text);
    store(row, draft, &stands_for, sizeof(stands_for));
    return 0;
}

int ga_value_read_bound(const struct ga_setting *row, struct ga_settings *draft, const char *text)
{
    const bool none =
        strcmp(text, "none") == 0 || strcmp(text, "off") == 0 || strcmp(text, "-") == 0;
    return read_word_or_int32(row, draft, text, none, -1);
}

void ga_value_write_bound(const struct ga_setting *row, const struct ga_settings *from,
                          struct ga_text *to)
{
    int32_t value = 0;
    memcpy(&value, field_of(row, from), sizeof(value));
    if (value < 0)
        ga_text_puts(to, "none");
    else
        ga_text_printf(to, "%d", (int)value);
}

int ga_value_read_buffer(const struct ga_setting *row, struct ga_settings *draft, const char *text)
{
    return read_word_or_int32(row, draft, text, strcmp(text, "P") == 0, 0);
}

void ga_value_write_buffer(const struct ga_setting *row, const struct ga_settings *from,
                           struct ga_text *to)
{
    int32_t value = 0;
    memcpy(&value, field_of(row, from), sizeof(value));
    if (value == 0)
        ga_text_puts(to, "P");
    else
        ga_text_printf(to, "%d", (int)value);
}

int ga_value_read_int64(const struct ga_setting *row, struct ga_settings *draft, const char *text)
{
    int64_t value = 0;
    const int code = read_integer(row, text, &value);
    if (code < 0)
        return code;
    store(row, draft, &value, sizeof(value));
    return 0;
}

void ga_value_write_int64(const struct ga_setting *row, const struct ga_settings *from,
                          struct ga_text *to)
{
    int64_t value = 0;
    memcpy(&value, field_of(row, from), sizeof(value));
    ga_text_printf(to, "%lld", (long long)value);
}

int ga_value_read_seed(const struct ga_setting *row, struct ga_settings *draft, const char *text)
{
    uint64_t value = 0;
    if (ga_read_uint64(text, &value) < 0)
        return ga_value_refuse(row, text);
    store(row, draft, &value, sizeof(value));
    return 0;
}

void ga_value_write_seed(const struct ga_setting *row, const struct ga_settings *from,
                         struct ga_text *to)
{
    uint64_t value = 0;
    memcpy(&value, field_of(row, from), sizeof(value));
    ga_text_printf(to, "%llu", (unsigned long long)value);
}

int ga_value_read_real(const struct ga_setting *row, struct ga_settings *draft, const char *text)
{
    double value = 0;
    if (ga_read_double(text, row->low, row->high, &value) < 0)
        return ga_value_refuse(row, text);
    value += 0.0; /* -0 becomes 0: a value has one spelling */
    store(row, draft, &value, sizeof(value));
    return 0;
}

void ga_value_write_real(const struct ga_setting *row, const struct ga_settings *from,
                         struct ga_text *to)
{
    double value = 0;
    memcpy(&value, field_of(row, from), sizeof(value));
    ga_text_number(to, value);
}

int ga_value_read_int32_or_off(const struct ga_setting *row, struct ga_settings *draft,
                               const char *text)
{
    return ga_value_read_int32(row, draft, strcmp(text, "off") == 0 ? "0" : text);
}

void ga_value_write_int32_or_off(const struct ga_setting *row, const struct ga_settings *from,
                                 struct ga_text *to)
{
    int32_t value = 0;
    memcpy(&value, field_of(row, from), sizeof(value));
    if (value == 0)
        ga_text_puts(to, "off");
    else
        ga_value_write_int32(row, from, to);
}

int ga_value_read_real_or_off(const struct ga_setting *row, struct ga_settings *draft,
                              const char *text)
{
    return ga_value_read_real(row, draft, strcmp(text, "off") == 0 ? "0" : text);
}

void ga_value_write_real_or_off(const struct ga_setting *row, const struct ga_settings *from,
                                struct ga_text *to)
{
    double value = 0;
    memcpy(&value, field_of(row, from), sizeof(value));
    if (!(value > 0))
        ga_text_puts(to, "off");
    else
        ga_value_write_real(row, from, to);
}

int ga_value_read_switch(const struct ga_setting *row, struct ga_settings *draft, const char *text)
{
    const bool value = strcmp(text, "on") == 0;
    if (!value && strcmp(text, "off") != 0) {
        ga_fail(GA_EINPUT, "neither on nor off");
        return ga_value_refuse(row, text);
    }
    store(row, draft, &value, sizeof(value));
    return 0;
}

void ga_value_write_switch(const struct ga_setting *row, const struct ga_settings *from,
                           struct ga_text *to)
{
    bool value = false;
    memcpy(&value, field_of(row, from), sizeof(value));
    ga_text_puts(to, value ? "on" : "off");
}

/* Every enum of choices.def is as wide as an int; settings.c asserts it. */
int ga_value_read_choice(const struct ga_setting *row, struct ga_settings *draft, const char *text)
{
    const int value = ga_choice_value(row->group, text);
    if (value < 0)
        return GA_EINPUT;
    store(row, draft, &value, sizeof(value));
    return 0;
}

void ga_value_write_choice(const struct ga_setting *row, const struct ga_settings *from,
                           struct ga_text *to)
{
    int value = 0;
    memcpy(&value, field_of(row, from), sizeof(value));
    const char *word = ga_choice_word(row->group, value);
    ga_text_puts(to, word ? word : "?");
}

int ga_value_read_window_batch(const struct ga_setting *row, struct ga_settings *draft,
                               const char *text)
{
    const int code = ga_value_read_int32(row, draft, text);
    if (code == 0)
        draft->global = 0;
    return code;
}

int ga_value_read_aggregate(const struct ga_setting *row, struct ga_settings *draft,
                            const char *text)
{
    int64_t count = 0;
    if (ga_read_int(text, 1, draft->replicas, &count) < 0)
        return ga_fail(ga_error_code(), "replicas_to_aggregate %s: expected 1..%d, the replicas",
                       *text ? text : "''", (int)draft->replicas);
    const int32_t backup = draft->replicas - (int32_t)count;
    store(row, draft, &backup, sizeof(backup));
    return 0;
}
