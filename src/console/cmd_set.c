/* set and mode: several settings at once, all or none, and the answer that says from when they
 * hold. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "console/command.h"
#include "console/describe.h"
#include "console/session.h"
#include "settings/words.h"
#include "train/sharpness.h"

#define PAIRS 64 /* of one set */

struct pair {
    const struct ga_setting *row;
    const char *typed; /* the name as typed */
    char *value;       /* to be freed */
};

struct pairs {
    size_t count;
    struct pair pair[PAIRS];
};

static void free_pairs(struct pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++)
        free(pairs->pair[i].value);
}

static bool is_row(const struct ga_setting *row, const char *name)
{
    return strcmp(row->name, name) == 0;
}

/* Words of a value: `schedule step 100 0.5` takes the numbers behind the form's name too. */
static size_t value_words(const struct ga_setting *row, size_t count, const char *const *word)
{
    const bool has_arguments = is_row(row, "schedule") || is_row(row, "jitter");
    size_t words = 1;
    while (has_arguments && words < count && words < 3 && strspn(word[words], "0123456789.") > 0)
        words++;
    return words;
}

static int check_twice(const struct pairs *pairs)
{
    const struct ga_setting *last = pairs->pair[pairs->count - 1].row;
    for (size_t i = 0; i + 1 < pairs->count; i++) {
        const struct ga_setting *row = pairs->pair[i].row;
        if (is_row(row, last->name))
            return ga_fail(GA_EINPUT, "%s is given twice in one `set`: expected once", row->name);
        const bool window = is_row(row, "batch") || is_row(row, "global");
        if (window && (is_row(last, "batch") || is_row(last, "global")))
            return ga_fail(GA_EINPUT, "batch and global in one `set`: expected one of them, since "
                                      "the last one set rules");
    }
    return 0;
}

/* A word that is no setting may be the unit of the value before it: `memory 1 KiB`. */
static int refuse_name(const struct pairs *pairs, const char *word)
{
    struct ga_error error;
    const struct pair *last = pairs->count > 0 ? &pairs->pair[pairs->count - 1] : NULL;
    struct ga_settings scratch;
    struct ga_text joined = GA_TEXT_INIT;
    ga_error_take(&error);
    ga_settings_default(&scratch);
    if (last && strspn(last->value, "0123456789.") > 0 && strspn(word, "0123456789.") == 0 && *word)
        ga_text_printf(&joined, "%s%s", last->value, word);
    if (joined.length > 0 && !ga_text_failed(&joined) &&
        ga_setting_read(last->row, &scratch, ga_text_get(&joined)) == 0)
        ga_fail(GA_EINPUT, "%s %s %s: expected the unit without a blank before it, %s %s",
                last->row->name, last->value, word, last->row->name, ga_text_get(&joined));
    else
        ga_error_put(&error);
    ga_text_free(&joined);
    return ga_error_code();
}

/* Takes one NAME VALUE from the words at *at. */
static int take_pair(struct pairs *pairs, size_t count, const char *const *word, size_t *at)
{
    if (pairs->count == PAIRS)
        return ga_fail(GA_ERANGE, "too many settings in one `set`: expected at most %d", PAIRS);
    struct pair *pair = &pairs->pair[pairs->count];
    pair->typed = word[*at];
    pair->row = ga_setting_find(pair->typed);
    if (!pair->row)
        return refuse_name(pairs, pair->typed);
    if (*at + 1 == count)
        return ga_fail(GA_EINPUT, "%s without a value: expected %s", pair->row->name,
                       pair->row->values);
    const size_t words = value_words(pair->row, count - *at - 1, word + *at + 1);
    pair->value = ga_join(words, word + *at + 1);
    if (!pair->value)
        return GA_ENOMEM;
    pairs->count++;
    *at += 1 + words;
    if (is_row(pair->row, "init") && ga_word_same(pair->value, "file"))
        return ga_fail(GA_EINPUT, "init file: expected `init-from FILE`, which says which file");
    return check_twice(pairs);
}

/* `replicas` first, since replicas_to_aggregate counts from it. */
static int read_values(const struct pairs *pairs, struct ga_settings *draft)
{
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < pairs->count; i++) {
            const struct pair *pair = &pairs->pair[i];
            const int mine = is_row(pair->row, "replicas") ? 0 : 1;
            const int code = mine == turn ? ga_setting_read(pair->row, draft, pair->value) : 0;
            if (code < 0)
                return code;
        }
    }
    return ga_settings_check(draft);
}

static void append_answer(const struct pair *pair, const struct ga_settings *in_force,
                          const struct ga_settings *before, const struct ga_settings *draft,
                          const struct ga_change *change, struct ga_text *out)
{
    const struct ga_setting *row = pair->row;
    ga_text_puts(out, row->name);
    if (ga_setting_is_alias(row, pair->typed))
        ga_text_printf(out, " (%s)", pair->typed);
    ga_text_puts(out, " ");
    if (ga_setting_same(row, in_force, draft)) {
        ga_setting_write(row, draft, out);
        ga_text_puts(out, ga_setting_same(row, before, draft) ? ", as it is\n"
                                                              : ": the pending change is off\n");
        return;
    }
    ga_setting_write(row, in_force, out);
    ga_text_puts(out, " -> ");
    ga_setting_write(row, draft, out);
    ga_text_puts(out, " ");
    ga_write_when((int)row->when, change, out);
    ga_text_puts(out, "\n");
}

static void append_window(const struct ga_console *console, const struct ga_settings *draft,
                          struct ga_text *out)
{
    const int64_t product = (int64_t)draft->replicas * draft->accum * draft->batch;
    const int64_t window = draft->global > 0 ? draft->global : product;
    const size_t train = ga_dataset_table(console->data)->train;
    if (draft->global > 0)
        ga_text_printf(out, "window: global %d examples over replicas %d x accum %d",
                       (int)draft->global, (int)draft->replicas, (int)draft->accum);
    else
        ga_text_printf(out, "window: %d x %d x %d = %" PRId64 " examples", (int)draft->replicas,
                       (int)draft->accum, (int)draft->batch, product);
    if ((uint64_t)window > train)
        ga_text_printf(out, "; the data has %zu", train);
    ga_text_puts(out, "\n");
}

static bool touches_window(const struct pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++)
        if (ga_word_in_list(pairs->pair[i].row->name, "replicas accum batch global"))
            return true;
    return false;
}

/* A model set before its data is fine; that it does not fit those of now is told at once. */
static void append_misfit(const struct ga_console *console, const struct pairs *pairs,
                          const struct ga_settings *draft, struct ga_text *out)
{
    struct ga_net net;
    bool touches = false;
    for (size_t i = 0; i < pairs->count; i++)
        touches |= ga_word_in_list(pairs->pair[i].row->name, "model loss");
    if (touches && ga_run_net(draft, console->data, &net) == GA_EINPUT)
        ga_text_printf(out, "but %s\n", ga_error_text());
}

static bool touches_mode(const struct pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++)
        if (ga_word_in_list(pairs->pair[i].row->name,
                            "mode scale lag bound buffer period backup outer"))
            return true;
    return false;
}

/* Beyond this, examples times parameters, the curvature is not looked for unasked. */
#define MOST_WORK 1e6

/* What is to be expected of the mode: its staleness, and how far it is from diverging. */
static int append_mode(struct ga_run *run, void *arg)
{
    struct ga_text *out = arg;
    const struct ga_settings *settings = ga_run_pending(run);
    const double work =
        (double)ga_dataset_table(ga_run_data(run))->train * (double)ga_run_net_of(run)->parameters;
    struct ga_crew crew;
    struct ga_staleness_law law;
    ga_crew_of(run, settings, &crew);
    ga_staleness_law(settings, &crew, &law);
    ga_describe_mode(settings, out);
    ga_text_printf(out, ": staleness %s", law.text);
    const double gauge = work <= MOST_WORK ? ga_run_gauge(run) : NAN;
    if (!isnan(gauge)) {
        char text[GA_NUMBER_TEXT];
        ga_format_digits(text, gauge, 3);
        ga_text_printf(out, "; gauge %s%s", text, gauge > 1 ? ": above 1 steps diverge" : "");
    }
    ga_text_puts(out, "\n");
    return 0;
}

/* A run that cannot be formed says so when it is needed. */
static void describe_mode(struct ga_console *console, const struct ga_settings *draft,
                          struct ga_text *out)
{
    struct ga_text line = GA_TEXT_INIT;
    if (draft->mode != GA_MODE_SYNC && ga_engine_call(console->engine, append_mode, &line) == 0)
        ga_text_puts(out, ga_text_get(&line));
    ga_text_free(&line);
}

static int apply(struct ga_console *console, const struct pairs *pairs)
{
    struct ga_settings in_force;
    struct ga_settings before;
    struct ga_change change = {0};
    ga_engine_settings(console->engine, &in_force, &before);
    struct ga_settings draft = before;
    int code = read_values(pairs, &draft);
    if (code == 0)
        code = ga_engine_change(console->engine, &draft, &change);
    if (code < 0)
        return code;
    struct ga_text text = GA_TEXT_INIT;
    for (size_t i = 0; i < pairs->count; i++)
        append_answer(&pairs->pair[i], &in_force, &before, &draft, &change, &text);
    if (touches_window(pairs))
        append_window(console, &draft, &text);
    append_misfit(console, pairs, &draft, &text);
    if (touches_mode(pairs))
        describe_mode(console, &draft, &text);
    if (change.forgotten > 0)
        ga_text_puts(&text, "what was recorded beyond this point is forgotten\n");
    ga_say_text(console, &text);
    ga_text_free(&text);
    return 0;
}

int ga_exec_set(struct ga_console *console, size_t count, const char *const *word)
{
    struct pairs pairs = {.count = 0};
    int code = 0;
    for (size_t at = 0; code == 0 && at < count;)
        code = take_pair(&pairs, count, word, &at);
    if (code == 0)
        code = apply(console, &pairs);
    free_pairs(&pairs);
    return code;
}

/* `mode ssp 3` sets the mode and the number that belongs to it. */
int ga_exec_mode(struct ga_console *console, size_t count, const char *const *word)
{
    const int mode = ga_choice_value("mode", word[0]);
    const char *words[] = {"mode", word[0], NULL, NULL};
    if (mode < 0)
        return ga_fail_within("mode");
    if (count == 2) {
        words[2] = ga_mode_number((enum ga_mode)mode);
        words[3] = word[1];
        if (!words[2])
            return ga_fail(GA_EINPUT, "mode %s %s: %s has no number of its own: expected `mode %s`",
                           word[0], word[1], word[0], word[0]);
    }
    return ga_exec_set(console, 2 * count, words);
}

/* The settings that `fit` comes to, given as `set` would be. */
static int set_fit(struct ga_console *console, const struct ga_settings *draft)
{
    char accum[GA_NUMBER_TEXT];
    char examples[GA_NUMBER_TEXT];
    const bool global = draft->global > 0;
    const char *words[] = {"accum", accum, global ? "global" : "batch", examples};
    ga_format_int(accum, draft->accum);
    ga_format_int(examples, global ? draft->global : draft->batch);
    return ga_exec_set(console, 4, words);
}

int ga_exec_fit(struct ga_console *console, size_t count, const char *const *word)
{
    struct ga_settings in_force;
    struct ga_settings draft;
    struct ga_net net;
    int64_t window = 0;
    (void)count;
    ga_engine_settings(console->engine, &in_force, &draft);
    if (ga_read_int(word[0], draft.replicas, GA_MAX_WINDOW, &window) < 0)
        return ga_fail_within("fit");
    if (ga_run_net(&draft, console->data, &net) < 0)
        return ga_error_code();
    const struct ga_compute *compute = ga_run_compute(&draft, &net);
    if (!compute)
        return ga_error_code();
    const size_t fits = ga_run_largest_batch(&draft, &net, compute);
    ga_run_keep_window(&draft, (size_t)window, fits > 0 ? fits : 1);
    return set_fit(console, &draft);
}
