#include "dataset/options.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"

#define MAX_LIST 65536

static bool has_key(const char *word, const char *key)
{
    size_t length = strlen(key);
    return strncmp(word, key, length) == 0 && word[length] == '=';
}

static size_t find(const struct ga_options *options, const char *key)
{
    size_t i = 0;
    while (i < options->words && !has_key(options->word[i], key)) {
        i++;
    }
    return i;
}

const char *ga_options_get(const struct ga_options *options, const char *key)
{
    size_t i = find(options, key);
    return i < options->words ? options->word[i] + strlen(key) + 1 : NULL;
}

static int refuse(const struct ga_options *options, const char *key)
{
    char quoted[GA_QUOTE_TEXT];
    return ga_fail_within("data %s: %s=%s", options->subject, key,
                          ga_quote(quoted, ga_options_get(options, key)));
}

int ga_options_check(const struct ga_options *options, const char *const *keys, const char *usage)
{
    char quoted[GA_QUOTE_TEXT];
    for (size_t i = 0; i < options->words; i++) {
        size_t k = 0;
        while (keys[k] && !has_key(options->word[i], keys[k])) {
            k++;
        }
        if (!keys[k]) {
            return ga_fail(GA_EINPUT, "data %s: %s is not understood, expected %s",
                           options->subject, ga_quote(quoted, options->word[i]), usage);
        }
        if (find(options, keys[k]) != i) {
            return ga_fail(GA_EINPUT, "data %s: %s is given twice, expected it once",
                           options->subject, keys[k]);
        }
    }
    return 0;
}

int ga_options_count(const struct ga_options *options, const char *key, size_t low, size_t high,
                     size_t *out)
{
    const char *value = ga_options_get(options, key);
    int64_t number = 0;
    if (!value) {
        return 0;
    }
    if (ga_read_int(value, (int64_t)low, (int64_t)high, &number) != 0) {
        return refuse(options, key);
    }
    *out = (size_t)number;
    return 0;
}

int ga_options_seed(const struct ga_options *options, const char *key, uint64_t *out)
{
    const char *value = ga_options_get(options, key);
    return value && ga_read_uint64(value, out) != 0 ? refuse(options, key) : 0;
}

int ga_options_double(const struct ga_options *options, const char *key, double low, double high,
                      double *out)
{
    const char *value = ga_options_get(options, key);
    return value && ga_read_double(value, low, high, out) != 0 ? refuse(options, key) : 0;
}

int ga_options_bytes(const struct ga_options *options, const char *key, uint64_t low, uint64_t high,
                     uint64_t *out)
{
    const char *value = ga_options_get(options, key);
    return value && ga_read_bytes(value, low, high, out) != 0 ? refuse(options, key) : 0;
}

static int read_list(const char *text, double low, double high, double *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = strcspn(text, ",");
        int code = ga_read_double_n(text, length, low, high, &out[i]);
        if (code != 0) {
            return code;
        }
        text += length + 1;
    }
    return 0;
}

int ga_options_list(const struct ga_options *options, const char *key, double low, double high,
                    double **out, size_t *count)
{
    const char *value = ga_options_get(options, key);
    size_t items = 1;
    *out = NULL;
    *count = 0;
    if (!value) {
        return 0;
    }
    for (const char *at = value; *at; at++) {
        items += *at == ',' ? 1 : 0;
    }
    if (items > MAX_LIST) {
        return ga_fail(GA_ERANGE, "data %s: %s has %zu numbers, expected at most %d",
                       options->subject, key, items, MAX_LIST);
    }
    double *list = ga_alloc(items, sizeof *list);
    if (!list) {
        return GA_ENOMEM;
    }
    if (read_list(value, low, high, list, items) != 0) {
        free(list);
        return refuse(options, key);
    }
    *out = list;
    *count = items;
    return 0;
}

int ga_options_choice(const struct ga_options *options, const char *key, const char *const *choices,
                      size_t *out)
{
    const char *value = ga_options_get(options, key);
    struct ga_text names = GA_TEXT_INIT;
    if (!value) {
        return 0;
    }
    for (size_t i = 0; choices[i]; i++) {
        if (strcmp(value, choices[i]) == 0) {
            *out = i;
            ga_text_free(&names);
            return 0;
        }
        ga_text_printf(&names, "%s%s", i > 0 ? ", " : "", choices[i]);
    }
    ga_fail(GA_EINPUT, "expected one of %s", ga_text_get(&names));
    ga_text_free(&names);
    return refuse(options, key);
}
