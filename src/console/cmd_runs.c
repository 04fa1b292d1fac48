/* Several runs: fork, use, runs, drop, compare. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/number.h"
#include "console/command.h"
#include "console/compare.h"
#include "console/describe.h"
#include "console/session.h"
#include "settings/words.h"

#define ROWS 12 /* of a comparison */

int ga_exec_fork(struct ga_console *console, size_t count, const char *const *word)
{
    (void)count;
    struct ga_run_info info;
    int code = ga_engine_fork(console->engine, word[0]);
    if (code == 0)
        code = ga_engine_run_named(console->engine, word[0], &info);
    if (code < 0)
        return code;
    char digits[GA_HASH_TEXT];
    ga_hash_format(digits, info.hash);
    ga_say(console, "run %s: a copy at update %" PRIu64 ", hash %.8s; `use %s` makes it current",
           info.name, info.counters.updates, digits, info.name);
    return 0;
}

/* Settings, data and where it stands are those of the run that is current from now on. */
static void follow_current(struct ga_console *console)
{
    struct ga_dataset *data = ga_engine_dataset(console->engine);
    if (data) {
        ga_dataset_close(console->data);
        console->data = data;
    }
    console->explain_at = 0;
}

int ga_exec_use(struct ga_console *console, size_t count, const char *const *word)
{
    (void)count;
    struct ga_run_info info;
    int code = ga_engine_run_named(console->engine, word[0], &info);
    if (code < 0)
        return code;
    if (console->move.active && !console->move.asked.all && !info.current) {
        ga_engine_pause(console->engine); /* told while it is still the current one */
        ga_console_pump(console);
    }
    code = ga_engine_use(console->engine, word[0]);
    if (code == 0)
        code = ga_engine_run_named(console->engine, word[0], &info);
    if (code < 0)
        return code;
    follow_current(console);
    struct ga_text text = GA_TEXT_INIT;
    ga_text_printf(&text, "run %s: ", info.name);
    ga_describe_mode(&info.settings, &text);
    ga_text_printf(&text, ", at update %" PRIu64, info.counters.updates);
    ga_say_text(console, &text);
    ga_text_free(&text);
    return 0;
}

int ga_exec_drop(struct ga_console *console, size_t count, const char *const *word)
{
    (void)count;
    const int code = ga_engine_drop(console->engine, word[0]);
    if (code == 0)
        ga_say(console, "run %s is gone", word[0]);
    return code;
}

static void append_run(const struct ga_run_info *info, struct ga_text *out)
{
    struct ga_text mode = GA_TEXT_INIT;
    char shape[64];
    char loss[GA_NUMBER_TEXT] = "-";
    char time[GA_NUMBER_TEXT];
    char digits[GA_HASH_TEXT] = "-";
    const struct ga_settings *set = &info->settings;
    ga_describe_mode(set, &mode);
    if (set->global > 0)
        snprintf(shape, sizeof(shape), "%d x %d (%d)", (int)set->replicas, (int)set->accum,
                 (int)set->global);
    else
        snprintf(shape, sizeof(shape), "%d x %d x %d", (int)set->replicas, (int)set->accum,
                 (int)set->batch);
    if (info->counters.updates > 0)
        ga_format_digits(loss, info->loss, 6);
    ga_format_time(time, info->now_ns);
    if (info->open)
        ga_hash_format(digits, info->hash);
    ga_text_printf(out, "%c %-12s  %-28s  %-12s  %8" PRIu64 "  %-11s  %-8.8s  %s\n",
                   info->current ? '*' : ' ', info->name, ga_text_get(&mode), shape,
                   info->counters.updates, loss, digits, time);
    ga_text_free(&mode);
}

int ga_exec_runs(struct ga_console *console, size_t count, const char *const *word)
{
    (void)count;
    (void)word;
    struct ga_run_info info;
    struct ga_text text = GA_TEXT_INIT;
    ga_text_printf(&text, "  %-12s  %-28s  %-12s  %8s  %-11s  %-8s  %s\n", "run", "mode",
                   "P x A x b", "update", "loss", "hash", "virtual time");
    for (size_t k = 0; ga_engine_run_info(console->engine, k, &info); k++)
        append_run(&info, &text);
    ga_say_text(console, &text);
    ga_text_free(&text);
    return 0;
}

/* ---- compare ---- */

struct side {
    const char *name;
    enum ga_by axis;
    struct ga_track track;
    struct ga_update_record last;
};

/* Skipped windows moved nothing. */
static int add_record(const struct ga_update_record *record, void *arg)
{
    struct side *side = arg;
    if (!record->applied)
        return 0;
    side->last = *record;
    return ga_track_add(&side->track, ga_by_position(side->axis, record), record->loss);
}

static int read_side(struct ga_console *console, struct side *side)
{
    const int code = ga_engine_records_of(console->engine, side->name, add_record, side);
    return code < 0 ? (int)ga_fail_within("compare") : 0;
}

static int check_side(const struct side *side)
{
    if (side->track.points == 0)
        return ga_fail(GA_ESTATE, "compare: run %s has made no update yet", side->name);
    return 0;
}

static void append_position(enum ga_by axis, double at, struct ga_text *out)
{
    char text[GA_NUMBER_TEXT];
    if (axis == GA_BY_TIME && fabs(at) < 9e9)
        ga_format_time(text, llround(at * 1e9));
    else if (axis == GA_BY_BYTES)
        ga_format_bytes(text, (uint64_t)at);
    else
        snprintf(text, sizeof(text), "%.0f", at);
    ga_text_printf(out, "%14s", text);
}

static void append_figure(double value, struct ga_text *out)
{
    char text[GA_NUMBER_TEXT];
    ga_format_digits(text, value, 6);
    ga_text_printf(out, "  %-12s", text);
}

static void append_line_end(struct ga_text *out)
{
    while (out->length > 0 && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
    ga_text_puts(out, "\n");
}

static void append_table(const struct side *a, const struct side *b, struct ga_text *out)
{
    struct ga_aligned row[ROWS];
    const bool whole = a->axis != GA_BY_TIME;
    const size_t rows = ga_tracks_align(&a->track, &b->track, whole, ROWS, row);
    ga_text_printf(out, "%14s  %-12.12s  %-12.12s  %.12s/%.12s\n", ga_by_name(a->axis), a->name,
                   b->name, b->name, a->name);
    for (size_t i = 0; i < rows; i++) {
        append_position(a->axis, row[i].at, out);
        append_figure(row[i].value[0], out);
        append_figure(row[i].value[1], out);
        append_figure(row[i].value[1] / row[i].value[0], out);
        append_line_end(out);
    }
    if (rows == 0)
        ga_text_printf(out, "they have no %s in common\n", ga_by_name(a->axis));
}

static void append_last(const struct side *side, struct ga_text *out)
{
    char time[GA_NUMBER_TEXT];
    char bytes[GA_NUMBER_TEXT];
    char loss[GA_NUMBER_TEXT];
    ga_format_time(time, side->last.time_ns);
    ga_format_bytes(bytes, side->last.bytes);
    ga_format_digits(loss, side->last.loss, 6);
    ga_text_printf(out, "%s ends at update %" PRIu64 ", %" PRIu64 " examples, %s, %s: loss %s\n",
                   side->name, side->last.update, side->last.examples, time, bytes, loss);
}

static int compare(struct ga_console *console, struct side *a, struct side *b)
{
    int code = read_side(console, a);
    if (code == 0)
        code = read_side(console, b);
    if (code == 0)
        code = check_side(a);
    if (code == 0)
        code = check_side(b);
    if (code < 0)
        return code;
    struct ga_text text = GA_TEXT_INIT;
    append_table(a, b, &text);
    append_last(a, &text);
    append_last(b, &text);
    ga_say_text(console, &text);
    ga_text_free(&text);
    return 0;
}

int ga_exec_compare(struct ga_console *console, size_t count, const char *const *word)
{
    int axis = GA_BY_UPDATES;
    if (count == 3 || (count == 4 && !ga_word_same(word[2], "by")))
        return ga_fail(GA_EINPUT, "compare: expected `compare A B` or `compare A B by "
                                  "updates|examples|time|bytes`");
    if (count == 4)
        axis = ga_by_find(word[3]);
    if (axis < 0)
        return ga_fail_within("compare by");
    struct side a = {.name = word[0], .axis = (enum ga_by)axis};
    struct side b = {.name = word[1], .axis = (enum ga_by)axis};
    const int code = compare(console, &a, &b);
    ga_track_fini(&a.track);
    ga_track_fini(&b.track);
    return code;
}
