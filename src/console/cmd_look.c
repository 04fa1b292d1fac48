/* Looking: print, explain, eval, history, columns. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "console/command.h"
#include "console/describe.h"
#include "console/figures.h"
#include "console/print.h"
#include "console/sensors.h"
#include "console/session.h"
#include "settings/words.h"

/* One metric, in report->at; of a replica when there are words. */
static int print_metric(struct ga_run *run, void *arg)
{
    struct ga_report *report = arg;
    const struct ga_metric_info *info = ga_metric_info((enum ga_metric)report->at);
    int64_t replica = -1;
    if (report->count > 0) {
        if (ga_read_int(report->word[0], 0, (int64_t)ga_run_replicas(run) - 1, &replica) < 0)
            return ga_fail_within("replica");
        ga_text_printf(&report->text, "replica %" PRId64 " ", replica);
    }
    const double value = ga_run_metric(run, (enum ga_metric)report->at, (int32_t)replica);
    ga_text_printf(&report->text, "%s ", info->name);
    ga_text_number(&report->text, value);
    if (*info->unit && strcmp(info->unit, "updates") != 0)
        ga_text_printf(&report->text, " %s", info->unit);
    return 0;
}

/* The newest events, gathered on the engine thread. */
static int append_event(const struct ga_event *event, void *arg)
{
    struct ga_text *out = arg;
    char time[GA_NUMBER_TEXT];
    ga_format_time(time, event->time_ns);
    ga_text_printf(out, "%8" PRIu64 "  %12s  ", event->sequence, time);
    ga_describe_event(event, out);
    ga_text_puts(out, "\n");
    return 0;
}

static int print_events(struct ga_console *console, size_t count, const char *const *word)
{
    int64_t most = 10;
    if (count > 2)
        return ga_fail(GA_EINPUT, "print events: expected a number behind it, or nothing");
    if (count == 2 && ga_read_int(word[1], 1, 1000000, &most) < 0)
        return ga_fail_within("print events");
    struct ga_text text = GA_TEXT_INIT;
    const int code = ga_engine_events(console->engine, (size_t)most, append_event, &text);
    if (code == 0)
        ga_say_text(console, &text);
    ga_text_free(&text);
    return code;
}

static void append_setting(struct ga_console *console, const struct ga_setting *row,
                           struct ga_text *out)
{
    struct ga_settings in_force;
    struct ga_settings draft;
    ga_engine_settings(console->engine, &in_force, &draft);
    ga_setting_write(row, &in_force, out);
    if (ga_setting_same(row, &in_force, &draft))
        return;
    ga_text_puts(out, ", pending: ");
    ga_setting_write(row, &draft, out);
}

/* loss and lr name a metric too: both are said. */
static int print_setting(struct ga_console *console, const struct ga_setting *row, int metric)
{
    struct ga_report report = {.at = (size_t)metric, .text = GA_TEXT_INIT};
    int code = 0;
    if (metric >= 0)
        code = ga_engine_call(console->engine, print_metric, &report);
    else
        ga_text_puts(&report.text, row->name);
    ga_text_puts(&report.text, metric >= 0 ? " (setting: " : " ");
    append_setting(console, row, &report.text);
    ga_text_puts(&report.text, metric >= 0 ? ")" : "");
    if (code == 0)
        ga_say_text(console, &report.text);
    ga_text_free(&report.text);
    return code;
}

static int print_named_metric(struct ga_console *console, size_t count, const char *const *word)
{
    const bool of_replica = strcmp(word[0], "replica") == 0 && count == 3;
    if (count != 1 && !of_replica)
        return ga_fail(GA_EINPUT,
                       "print %s: expected one figure, such as loss, replica 1 loss, "
                       "accum 1 layers.0.weight; `help print` has them",
                       word[0]);
    const int metric = ga_figure_find(word[count - 1], of_replica);
    if (metric < 0)
        return ga_error_code();
    struct ga_report report = {
        .count = of_replica, .word = word + 1, .at = (size_t)metric, .text = GA_TEXT_INIT};
    return ga_report(console, print_metric, &report);
}

/* A setting by its whole name or alias, not by a prefix: those belong to metrics here. */
static const struct ga_setting *setting_named(const char *word)
{
    for (size_t i = 0; i < ga_setting_count(); i++)
        if (ga_word_same(ga_setting_at(i)->name, word) ||
            ga_setting_is_alias(ga_setting_at(i), word))
            return ga_setting_at(i);
    return NULL;
}

/* A figure of a replica alone has its own answer; all else could be any of three tables. */
static int print_unknown(const char *word)
{
    struct ga_word_nearest nearest = {word, NULL, 0};
    if (ga_metric_find(word, true) >= 0)
        return ga_figure_find(word, false);
    for (size_t i = 0; i < ga_subject_count(); i++)
        ga_word_consider(&nearest, ga_subject_at(i)->name);
    for (int i = 0; i < GA_METRIC_COUNT; i++)
        ga_word_consider(&nearest, ga_metric_info((enum ga_metric)i)->name);
    for (size_t i = 0; i < ga_sensor_count(); i++)
        ga_word_consider(&nearest, ga_sensor_at(i)->name);
    for (size_t i = 0; i < ga_setting_count(); i++)
        ga_word_consider(&nearest, ga_setting_at(i)->name);
    return ga_fail(GA_EINPUT,
                   "print %.64s: %s%s%sexpected a metric, a setting, or one of hash, "
                   "weights, grad, accum R, state, memory, counters, window, replicas, "
                   "events, last",
                   word, nearest.name ? "did you mean " : "", nearest.name ? nearest.name : "",
                   nearest.name ? "? " : "");
}

/* `print util`, `print replica 2 util`; 1: it is no sensor. */
static int print_sensor(struct ga_console *console, size_t count, const char *const *word)
{
    const bool of_replica = count == 3 && strcmp(word[0], "replica") == 0;
    const struct ga_sensor *sensor = ga_sensor_named(word[of_replica ? 2 : 0]);
    int64_t replica = -1;
    if (!sensor)
        return 1;
    if (count != 1 && !of_replica)
        return ga_fail(GA_EINPUT, "print %s: expected `print %s` or `print replica R %s`", word[0],
                       sensor->name, sensor->name);
    if (of_replica && ga_read_int(word[1], 0, GA_MAX_REPLICAS - 1, &replica) < 0)
        return ga_fail_within("replica");
    return ga_sensor_print(console, sensor, replica);
}

int ga_exec_print(struct ga_console *console, size_t count, const char *const *word)
{
    const struct ga_subject *subject = ga_subject_named(word[0]);
    const struct ga_setting *row = setting_named(word[0]);
    if (ga_word_same(word[0], "events"))
        return print_events(console, count, word);
    const int printed = print_sensor(console, count, word);
    if (printed <= 0)
        return printed;
    const bool fits = subject && count - 1 >= subject->least && count - 1 <= subject->most;
    if (fits) {
        struct ga_report report = {.count = count - 1, .word = word + 1, .text = GA_TEXT_INIT};
        return ga_report(console, subject->print, &report);
    }
    if (row && count == 1)
        return print_setting(console, row, ga_metric_find(word[0], false));
    if (subject)
        return ga_fail(GA_EINPUT, "print %s: expected `print %s%s%s`", word[0], subject->name,
                       *subject->usage ? " " : "", subject->usage);
    if (count == 1 && ga_figure_find(word[0], false) < 0)
        return print_unknown(word[0]);
    return print_named_metric(console, count, word);
}

static int explain(struct ga_run *run, void *arg)
{
    struct ga_report *report = arg;
    size_t count = 1;
    if (report->count > 0) {
        const int code = ga_run_parameters(run, report->word[0], &report->at, &count);
        if (code < 0)
            return code;
    }
    if (report->at >= ga_run_net_of(run)->parameters)
        report->at = 0;
    return ga_run_explain(run, report->at, &report->text);
}

int ga_exec_explain(struct ga_console *console, size_t count, const char *const *word)
{
    struct ga_report report = {
        .count = count, .word = word, .at = console->explain_at, .text = GA_TEXT_INIT};
    const int code = ga_report(console, explain, &report);
    if (code == 0)
        console->explain_at = report.at;
    return code;
}

static int append_evaluation(struct ga_run *run, bool test, struct ga_text *out)
{
    double loss = 0;
    double accuracy = 0;
    uint64_t examples = 0;
    const int code = ga_run_evaluate(run, test, &loss, &accuracy, &examples);
    if (code < 0)
        return code;
    ga_text_printf(out, "%s: %" PRIu64 " examples, loss ", test ? "held-out" : "training",
                   examples);
    ga_text_number(out, loss);
    if (!isnan(accuracy)) {
        ga_text_puts(out, ", accuracy ");
        ga_text_number(out, accuracy);
    }
    ga_text_puts(out, "\n");
    return 0;
}

static int evaluate(struct ga_run *run, void *arg)
{
    struct ga_report *report = arg;
    const int code = append_evaluation(run, false, &report->text);
    if (code < 0 || ga_dataset_table(ga_run_data(run))->test == 0)
        return code;
    return append_evaluation(run, true, &report->text);
}

int ga_exec_eval(struct ga_console *console, size_t count, const char *const *word)
{
    struct ga_report report = {.count = count, .word = word, .text = GA_TEXT_INIT};
    return ga_report(console, evaluate, &report);
}

int ga_exec_history(struct ga_console *console, size_t count, const char *const *word)
{
    (void)count;
    (void)word;
    struct ga_history_info info;
    char used[GA_NUMBER_TEXT];
    char budget[GA_NUMBER_TEXT];
    ga_engine_history(console->engine, &info);
    ga_format_bytes(used, info.bytes);
    ga_format_bytes(budget, info.budget);
    ga_say(console,
           "updates %" PRIu64 "..%" PRIu64 " can be reached; kept: %" PRIu64 " states, %" PRIu64
           " update records, %" PRIu64 " events; %s of %s",
           info.first_update, info.last_update, info.states, info.records, info.events, used,
           budget);
    return 0;
}

int ga_exec_columns(struct ga_console *console, size_t count, const char *const *word)
{
    struct ga_columns columns;
    struct ga_text text = GA_TEXT_INIT;
    int code = 0;
    if (count == 0)
        ga_feed_columns(console->feed, &columns);
    else if (count == 1 && ga_word_same(word[0], "default"))
        ga_columns_default(&columns, console->options.terminal_columns);
    else
        code = ga_columns_read(&columns, count, word);
    if (code < 0)
        return ga_fail_within("columns");
    if (count > 0)
        ga_feed_set_columns(console->feed, &columns);
    ga_text_puts(&text, "columns ");
    ga_columns_write(&columns, &text);
    ga_say_text(console, &text);
    ga_text_free(&text);
    return 0;
}
