#include "storage/fields.h"

#include <float.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "storage/dtype.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "integers are copied by their low bytes");

static int64_t load_integer(const struct ga_field *field, const char *from)
{
    int64_t value = 0;
    int32_t narrow = 0;
    if (field->kind == GA_FIELD_SIGNED && field->bytes == sizeof narrow) {
        memcpy(&narrow, from, sizeof narrow);
        return narrow;
    }
    memcpy(&value, from, field->bytes);
    return value;
}

static json_t *write_bool(const struct ga_field *field, const char *from)
{
    return json_boolean(load_integer(field, from) != 0);
}

static json_t *write_integer(const struct ga_field *field, const char *from)
{
    const int64_t value = load_integer(field, from);
    if (field->bytes < sizeof value)
        return json_integer(value);
    return json_sprintf("%" PRId64, value);
}

static json_t *write_real(const struct ga_field *field, const char *from)
{
    char text[GA_NUMBER_TEXT];
    double value = 0;
    (void)field;
    memcpy(&value, from, sizeof value);
    ga_format_double(text, value);
    return json_string(text);
}

static json_t *write_word(const struct ga_field *field, const char *from)
{
    const char *word = field->word((int)load_integer(field, from));
    return json_string(word ? word : "?");
}

static json_t *write_group(const struct ga_field *field, const char *from)
{
    return ga_fields_write(field->group, from);
}

static json_t *write_element(const struct ga_field *field, const char *from);

static json_t *write_list(const struct ga_field *field, const char *from)
{
    json_t *list = json_array();
    for (size_t i = 0; i < field->list; i++)
        if (json_array_append_new(list, write_element(field, from + i * field->bytes))) {
            json_decref(list);
            return NULL;
        }
    return list;
}

json_t *ga_fields_write(const struct ga_fields *table, const void *from)
{
    json_t *object = json_object();
    for (size_t i = 0; i < table->count; i++) {
        const struct ga_field *field = &table->field[i];
        const char *place = (const char *)from + field->offset;
        json_t *value = field->list > 0 ? write_list(field, place) : write_element(field, place);
        if (json_object_set_new(object, field->name, value)) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

/* What was found in place of `expected`. */
static int refuse(json_t *value, const char *expected)
{
    char shown[GA_SHOWN_NAME];
    char *found = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    ga_show_name(shown, !value ? "missing" : found ? found : "?");
    free(found);
    return ga_fail(GA_EINPUT, "is %s, expected %s", shown, expected);
}

int ga_fields_read_integer(json_t *value, int64_t low, int64_t high, int64_t *out)
{
    const char *text = json_string_value(value);
    char expected[80];
    if (text && ga_read_int(text, low, high, out) == GA_OK)
        return GA_OK;
    snprintf(expected, sizeof expected, "a string of a whole number from %" PRId64 " to %" PRId64,
             low, high);
    return refuse(value, expected);
}

static int read_small(json_t *value, int64_t low, int64_t high, int64_t *out)
{
    const json_int_t number = json_integer_value(value);
    char expected[80];
    if (json_is_integer(value) && number >= low && number <= high) {
        *out = number;
        return GA_OK;
    }
    snprintf(expected, sizeof expected, "a whole number from %" PRId64 " to %" PRId64, low, high);
    return refuse(value, expected);
}

static int read_integer(const struct ga_field *field, json_t *value, char *to)
{
    const int64_t low = (int64_t)field->low, high = (int64_t)field->high;
    int64_t number = 0;
    const int code = field->bytes < sizeof number
                         ? read_small(value, low, high, &number)
                         : ga_fields_read_integer(value, low, high, &number);
    if (!code)
        memcpy(to, &number, field->bytes);
    return code;
}

static bool read_special(const char *text, double *out)
{
    static const struct {
        const char *word;
        double value;
    } specials[] = {{"nan", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY}};
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++)
        if (strcmp(text, specials[i].word) == 0) {
            *out = specials[i].value;
            return true;
        }
    return false;
}

static int read_real(const struct ga_field *field, json_t *value, char *to)
{
    const char *text = json_string_value(value);
    double number = 0;
    if (!text ||
        (!read_special(text, &number) && ga_read_double(text, -DBL_MAX, DBL_MAX, &number) != GA_OK))
        return refuse(value, "a string of a number, nan, inf or -inf");
    (void)field;
    memcpy(to, &number, sizeof number);
    return GA_OK;
}

static int read_finite(const struct ga_field *field, json_t *value, char *to)
{
    const char *text = json_string_value(value);
    double number = 0;
    char expected[80];
    snprintf(expected, sizeof expected, "a string of a number from %g to %g", field->low,
             field->high);
    if (!text || ga_read_double(text, field->low, field->high, &number) != GA_OK)
        return refuse(value, expected);
    memcpy(to, &number, sizeof number);
    return GA_OK;
}

static int refuse_word(const struct ga_field *field, json_t *value)
{
    struct ga_text words = GA_TEXT_INIT;
    for (int i = 0; field->word(i); i++)
        ga_text_printf(&words, "%s%s", i ? ", " : "one of ", field->word(i));
    const int code = refuse(value, ga_text_get(&words));
    ga_text_free(&words);
    return code;
}

static int read_word(const struct ga_field *field, json_t *value, char *to)
{
    const char *text = json_string_value(value);
    int found = 0;
    while (text && field->word(found) && strcmp(text, field->word(found)) != 0)
        found++;
    if (!text || !field->word(found))
        return refuse_word(field, value);
    memcpy(to, &found, field->bytes);
    return GA_OK;
}

static int read_bool(const struct ga_field *field, json_t *value, char *to)
{
    const bool truth = json_is_true(value);
    (void)field;
    memcpy(to, &truth, sizeof truth);
    return json_is_boolean(value) ? GA_OK : refuse(value, "true or false");
}

static int read_group(const struct ga_field *field, json_t *value, char *to)
{
    return ga_fields_read(field->group, value, to);
}

static const struct {
    json_t *(*write)(const struct ga_field *field, const char *from);
    int (*read)(const struct ga_field *field, json_t *value, char *to);
} codecs[] = {
    [GA_FIELD_BOOL] = {write_bool, read_bool},
    [GA_FIELD_SIGNED] = {write_integer, read_integer},
    [GA_FIELD_UNSIGNED] = {write_integer, read_integer},
    [GA_FIELD_REAL] = {write_real, read_real},
    [GA_FIELD_FINITE] = {write_real, read_finite},
    [GA_FIELD_WORD] = {write_word, read_word},
    [GA_FIELD_GROUP] = {write_group, read_group},
};

static json_t *write_element(const struct ga_field *field, const char *from)
{
    return codecs[field->kind].write(field, from);
}

static int read_element(const struct ga_field *field, json_t *value, char *to)
{
    return codecs[field->kind].read(field, value, to);
}

static int read_list(const struct ga_field *field, json_t *list, char *to)
{
    char expected[48];
    snprintf(expected, sizeof expected, "a list of %zu", field->list);
    if (!json_is_array(list) || json_array_size(list) != field->list)
        return refuse(list, expected);
    for (size_t i = 0; i < field->list; i++)
        if (read_element(field, json_array_get(list, i), to + i * field->bytes))
            return ga_fail_within("element %zu", i);
    return GA_OK;
}

/* All fields were found: a larger object has one that the table lacks. */
static int find_stranger(const struct ga_fields *table, json_t *object)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(object, key, value)
    {
        char shown[GA_SHOWN_NAME];
        size_t i = 0;
        while (i < table->count && strcmp(table->field[i].name, key) != 0)
            i++;
        if (i == table->count)
            return ga_fail(GA_EINPUT, "unknown field \"%s\"", ga_show_name(shown, key));
    }
    return GA_OK;
}

int ga_fields_read(const struct ga_fields *table, json_t *object, void *to)
{
    if (!json_is_object(object))
        return refuse(object, "an object");
    for (size_t i = 0; i < table->count; i++) {
        const struct ga_field *field = &table->field[i];
        json_t *value = json_object_get(object, field->name);
        char *place = (char *)to + field->offset;
        if (field->list > 0 ? read_list(field, value, place) : read_element(field, value, place))
            return ga_fail_within("\"%s\"", field->name);
    }
    return json_object_size(object) == table->count ? GA_OK : find_stranger(table, object);
}
