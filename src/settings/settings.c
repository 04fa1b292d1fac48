#include "settings/settings.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "settings/settings_table.h"
#include "settings/values.h"
#include "settings/words.h"

/* Choices are stored through an int. */
_Static_assert(sizeof(enum ga_mode) == sizeof(int), "an enum is as wide as an int");
_Static_assert(sizeof(bool) == 1, "a bool is one byte");

size_t ga_setting_count(void)
{
    return ga_settings_table_count;
}

const struct ga_setting *ga_setting_at(size_t position)
{
    return position < ga_settings_table_count ? &ga_settings_table[position] : NULL;
}

static const struct ga_setting *find_whole(const char *word)
{
    for (size_t i = 0; i < ga_settings_table_count; i++) {
        const struct ga_setting *row = &ga_settings_table[i];
        if (ga_word_same(row->name, word) || ga_word_in_list(word, row->aliases))
            return row;
    }
    if (ga_word_in_list(word, ga_settings_aggregate_row.aliases))
        return &ga_settings_aggregate_row;
    return NULL;
}

static int refuse_foreign(const char *word)
{
    for (size_t i = 0; i < ga_settings_refused_count; i++)
        if (ga_word_same(ga_settings_refused[i].word, word))
            return ga_fail(GA_EINPUT, "%s is not a setting here: %s", word,
                           ga_settings_refused[i].why);
    return 0;
}

/* The one name that starts with `word`; NULL with an error when there are several, without when
 * none. */
static const struct ga_setting *find_prefix(const char *word, int *code)
{
    const struct ga_setting *found = NULL;
    struct ga_text names = GA_TEXT_INIT;
    int count = 0;
    for (size_t i = 0; *word && i < ga_settings_table_count; i++) {
        if (!ga_word_starts(ga_settings_table[i].name, word))
            continue;
        found = &ga_settings_table[i];
        ga_text_printf(&names, "%s%s", count++ ? ", " : "", found->name);
    }
    if (count > 1)
        *code = ga_fail(GA_EINPUT, "setting %s could be %s: expected more letters", word,
                        ga_text_get(&names));
    ga_text_free(&names);
    return count == 1 ? found : NULL;
}

static void fail_unknown(const char *word)
{
    struct ga_word_nearest nearest = {word, NULL, 0};
    for (size_t i = 0; i < ga_settings_table_count; i++)
        ga_word_consider(&nearest, ga_settings_table[i].name);
    if (nearest.name)
        ga_fail(GA_EINPUT, "no setting is called %s: did you mean %s? `settings` lists them", word,
                nearest.name);
    else
        ga_fail(GA_EINPUT, "no setting is called %s: expected one of those that `settings` lists",
                *word ? word : "''");
}

const struct ga_setting *ga_setting_find(const char *word)
{
    const struct ga_setting *row = find_whole(word);
    if (row)
        return row;
    int code = refuse_foreign(word);
    if (code == 0)
        row = find_prefix(word, &code);
    if (!row && code == 0)
        fail_unknown(word);
    return row;
}

bool ga_setting_is_alias(const struct ga_setting *row, const char *word)
{
    return ga_word_in_list(word, row->aliases);
}

void ga_settings_default(struct ga_settings *out)
{
    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < ga_settings_table_count; i++) {
        const struct ga_setting *row = &ga_settings_table[i];
        const int code = row->read(row, out, row->initial);
        assert(code == 0);
        (void)code;
    }
}

int ga_setting_read(const struct ga_setting *row, struct ga_settings *draft, const char *text)
{
    return row->read(row, draft, text);
}

void ga_setting_write(const struct ga_setting *row, const struct ga_settings *from,
                      struct ga_text *to)
{
    row->write(row, from, to);
}

bool ga_setting_same(const struct ga_setting *row, const struct ga_settings *a,
                     const struct ga_settings *b)
{
    struct ga_text one = GA_TEXT_INIT;
    struct ga_text other = GA_TEXT_INIT;
    row->write(row, a, &one);
    row->write(row, b, &other);
    const bool same = !ga_text_failed(&one) && !ga_text_failed(&other) &&
                      strcmp(ga_text_get(&one), ga_text_get(&other)) == 0;
    ga_text_free(&one);
    ga_text_free(&other);
    return same;
}

static int64_t window_of(const struct ga_settings *settings)
{
    return settings->global > 0 ? settings->global
                                : (int64_t)settings->replicas * settings->accum * settings->batch;
}

static int check_window(const struct ga_settings *settings)
{
    const int64_t window = window_of(settings);
    if (window <= GA_MAX_WINDOW)
        return 0;
    return ga_fail(GA_ERANGE,
                   "replicas %d x accum %d x batch %d = %lld examples per window: expected at most "
                   "%d",
                   (int)settings->replicas, (int)settings->accum, (int)settings->batch,
                   (long long)window, GA_MAX_WINDOW);
}

static int check_backup(const struct ga_settings *settings)
{
    if (settings->backup < settings->replicas)
        return 0;
    return ga_fail(GA_ERANGE,
                   "backup %d with %d replica%s: expected 0..%d, fewer than the replicas",
                   (int)settings->backup, (int)settings->replicas,
                   settings->replicas == 1 ? "" : "s", (int)settings->replicas - 1);
}

static int check_nesterov(const struct ga_settings *settings)
{
    if (!settings->nesterov || settings->momentum > 0)
        return 0;
    return ga_fail(GA_ERANGE, "nesterov on with momentum 0: expected a momentum above 0");
}

/* Push modes hand out the pieces of a window one by one: each replica must find one in it. */
static int check_pieces(const struct ga_settings *settings)
{
    const bool pushes = settings->mode == GA_MODE_ASYNC || settings->mode == GA_MODE_SSP ||
                        settings->mode == GA_MODE_BUFFERED || settings->mode == GA_MODE_HOGWILD;
    if (!pushes || settings->global == 0 || settings->global >= settings->replicas)
        return 0;
    return ga_fail(GA_ERANGE,
                   "mode %s with global %d and %d replicas: expected at least one example each, so "
                   "global %d or more",
                   ga_choice_word("mode", (int)settings->mode), (int)settings->global,
                   (int)settings->replicas, (int)settings->replicas);
}

static int check_outer(const struct ga_settings *settings)
{
    if (settings->outer.kind != GA_OUTER_NESTEROV || settings->outer.momentum > 0)
        return 0;
    return ga_fail(GA_ERANGE, "outer nesterov with momentum 0: expected a momentum above 0");
}

static int check_hogwild(const struct ga_settings *settings)
{
    if (settings->mode != GA_MODE_HOGWILD ||
        (settings->optimizer == GA_SGD && settings->momentum == 0))
        return 0;
    return ga_fail(GA_ERANGE,
                   "mode hogwild has no server to keep optimizer state: expected optimizer "
                   "sgd with momentum 0");
}

static int check_buffer(const struct ga_settings *settings)
{
    const int64_t share = (window_of(settings) + settings->replicas - 1) / settings->replicas;
    const int64_t pushes = settings->buffer > 0 ? settings->buffer : settings->replicas;
    if (settings->mode != GA_MODE_BUFFERED || pushes * share <= GA_MAX_WINDOW)
        return 0;
    return ga_fail(GA_ERANGE,
                   "buffer %lld x %lld examples of an item: expected at most %d examples in one "
                   "update",
                   (long long)pushes, (long long)share, GA_MAX_WINDOW);
}

/* With bound 0 every replica waits for the update that only more of them could complete. */
static int check_waiting(const struct ga_settings *settings)
{
    if (settings->mode != GA_MODE_BUFFERED || settings->bound != 0 ||
        settings->buffer <= settings->replicas)
        return 0;
    return ga_fail(GA_ERANGE,
                   "buffer %d with bound 0 and %d replicas would wait for ever: expected a buffer "
                   "of at most %d, or another bound",
                   (int)settings->buffer, (int)settings->replicas, (int)settings->replicas);
}

/* Rows of a whole round are kept while it runs. */
static int check_round(const struct ga_settings *settings)
{
    const int64_t most = INT64_C(1) << 24;
    if (settings->mode != GA_MODE_LOCAL || settings->period * window_of(settings) <= most)
        return 0;
    return ga_fail(GA_ERANGE,
                   "period %d x %lld examples of a window: expected at most %lld in a round",
                   (int)settings->period, (long long)window_of(settings), (long long)most);
}

static int check_devices(const struct ga_settings *settings)
{
    if (settings->devices.count == 0 || settings->device == GA_DEVICE_CUDA)
        return 0;
    return ga_fail(
        GA_ERANGE, "devices cuda:%d... with device %s: expected device cuda, or devices all",
        (int)settings->devices.number[0], ga_choice_word("device", (int)settings->device));
}

int ga_settings_check(const struct ga_settings *settings)
{
    static int (*const rules[])(const struct ga_settings *) = {
        check_window, check_backup,  check_nesterov,       check_pieces,
        check_outer,  check_hogwild, check_buffer,         check_waiting,
        check_round,  check_devices, ga_value_check_jitter};
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        const int code = rules[i](settings);
        if (code < 0)
            return code;
    }
    return 0;
}
