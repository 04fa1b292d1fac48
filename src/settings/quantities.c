/* Times, bytes and bandwidths: numbers with a unit, written exactly and without a blank. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "settings/values.h"

static void append_without_blanks(struct ga_text *to, const char *words)
{
    for (; *words; words++)
        if (*words != ' ')
            ga_text_append(to, words, 1);
}

int ga_value_read_time(const struct ga_setting *row, struct ga_settings *draft, const char *text)
{
    int64_t value = 0;
    if (ga_read_time(text, (int64_t)row->low, (int64_t)row->high, &value) < 0)
        return ga_value_refuse(row, text);
    memcpy((char *)draft + row->offset, &value, sizeof(value));
    return 0;
}

void ga_value_write_time(const struct ga_setting *row, const struct ga_settings *from,
                         struct ga_text *to)
{
    int64_t value = 0;
    memcpy(&value, (const char *)from + row->offset, sizeof(value));
    if (value == 0) {
        ga_text_puts(to, "0");
        return;
    }
    char words[GA_NUMBER_TEXT];
    ga_format_time(words, value);
    append_without_blanks(to, words);
}

struct unit {
    const char *name;
    uint64_t bytes;
};

static const struct unit binary_units[] = {
    {"TiB", UINT64_C(1) << 40},
    {"GiB", UINT64_C(1) << 30},
    {"MiB", UINT64_C(1) << 20},
    {"KiB", UINT64_C(1) << 10},
    {"B", 1},
};
static const struct unit decimal_units[] = {
    {"TB", UINT64_C(1000000000000)}, {"GB", 1000000000}, {"MB", 1000000}, {"KB", 1000}, {"B", 1},
};

/* The largest unit that leaves a whole number, so that reading gives the same value. */
static void append_bytes(struct ga_text *to, uint64_t value, const struct unit *unit)
{
    if (value == 0) {
        ga_text_puts(to, "0");
        return;
    }
    while (value % unit->bytes != 0)
        unit++;
    ga_text_printf(to, "%llu%s", (unsigned long long)(value / unit->bytes), unit->name);
}

int ga_value_read_bytes(const struct ga_setting *row, struct ga_settings *draft, const char *text)
{
    uint64_t value = 0;
    if (ga_read_bytes(text, (uint64_t)row->low, (uint64_t)row->high, &value) < 0)
        return ga_value_refuse(row, text);
    memcpy((char *)draft + row->offset, &value, sizeof(value));
    return 0;
}

void ga_value_write_bytes(const struct ga_setting *row, const struct ga_settings *from,
                          struct ga_text *to)
{
    uint64_t value = 0;
    memcpy(&value, (const char *)from + row->offset, sizeof(value));
    append_bytes(to, value, binary_units);
}

int ga_value_read_bytes_or_off(const struct ga_setting *row, struct ga_settings *draft,
                               const char *text)
{
    return ga_value_read_bytes(row, draft, strcmp(text, "off") == 0 ? "0" : text);
}

void ga_value_write_bytes_or_off(const struct ga_setting *row, const struct ga_settings *from,
                                 struct ga_text *to)
{
    uint64_t value = 0;
    memcpy(&value, (const char *)from + row->offset, sizeof(value));
    if (value == 0)
        ga_text_puts(to, "off");
    else
        append_bytes(to, value, binary_units);
}

static int read_rate(const struct ga_setting *row, const char *text, uint64_t *out)
{
    char amount[64];
    size_t length = strlen(text);
    if (length >= 2 && strcmp(text + length - 2, "/s") == 0)
        length -= 2;
    if (length >= sizeof(amount))
        return ga_fail(GA_EINPUT, "too long for a number");
    memcpy(amount, text, length);
    amount[length] = '\0';
    return ga_read_bytes(amount, (uint64_t)row->low, (uint64_t)row->high, out);
}

int ga_value_read_bandwidth(const struct ga_setting *row, struct ga_settings *draft,
                            const char *text)
{
    uint64_t rate = 0;
    if (strcmp(text, "inf") != 0 && read_rate(row, text, &rate) < 0)
        return ga_value_refuse(row, text);
    const double value = (double)rate;
    memcpy((char *)draft + row->offset, &value, sizeof(value));
    return 0;
}

void ga_value_write_bandwidth(const struct ga_setting *row, const struct ga_settings *from,
                              struct ga_text *to)
{
    double value = 0;
    memcpy(&value, (const char *)from + row->offset, sizeof(value));
    if (!(value > 0)) {
        ga_text_puts(to, "inf");
        return;
    }
    append_bytes(to, (uint64_t)value, decimal_units);
    ga_text_puts(to, "/s");
}
