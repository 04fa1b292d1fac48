/* help: commands, settings, figures and topics, all from their tables. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "console/command.h"
#include "console/print.h"
#include "console/sensors.h"
#include "console/session.h"
#include "console/topics.h"
#include "console/wrap.h"
#include "settings/words.h"

static void append_command_line(const struct ga_command *command, struct ga_text *out)
{
    ga_text_printf(out, "  %s%s%s\n", command->name, *command->usage ? " " : "", command->usage);
}

static void append_overview(struct ga_text *out)
{
    for (int group = 0; group < GA_GROUPS; group++) {
        ga_text_printf(out, "%s\n", ga_command_group_name((enum ga_command_group)group));
        for (size_t i = 0; i < ga_command_count(); i++)
            if (ga_command_at(i)->group == (enum ga_command_group)group)
                append_command_line(ga_command_at(i), out);
    }
    ga_text_puts(out, "topics\n ");
    for (size_t i = 0; i < ga_topic_count(); i++)
        ga_text_printf(out, " %s", ga_topic_at(i)->name);
    ga_text_puts(out, "\n`help WORD` explains a command, a topic, a setting (`settings` lists "
                      "them) or a\nfigure (`help metrics`). An unambiguous beginning of a name is "
                      "enough.\n");
}

static void append_command(const struct ga_command *command, struct ga_text *out)
{
    ga_text_printf(out, "%s%s%s\n", command->name, *command->usage ? " " : "", command->usage);
    ga_wrap(command->help, 2, 78, out);
    if (*command->alias)
        ga_text_printf(out, "  Also typed as %s.\n", command->alias);
    if (command->exec != ga_exec_print)
        return;
    for (size_t i = 0; i < ga_subject_count(); i++) {
        const struct ga_subject *subject = ga_subject_at(i);
        ga_text_printf(out, "  print %-8s %-11s %s\n", subject->name, subject->usage,
                       subject->help);
    }
}

static void append_metric(const struct ga_metric_info *info, struct ga_text *out)
{
    const char *form = !info->of_run ? "replica R " : "";
    ga_text_printf(out, "  %s%-*s %s%s%s%s%s\n", form, *form ? 12 : 22, info->name, info->help,
                   *info->unit ? " [" : "", info->unit, *info->unit ? "]" : "",
                   info->of_run && info->of_replica ? "; also replica R" : "");
}

static void append_sensor(const struct ga_sensor *sensor, struct ga_text *out)
{
    ga_text_printf(out, "  %-22s %s; also replica R\n", sensor->name, sensor->help);
}

static void append_metrics(struct ga_text *out)
{
    ga_text_puts(out, "Figures for print, columns and conditions\n");
    for (int i = 0; i < GA_METRIC_COUNT; i++)
        append_metric(ga_metric_info((enum ga_metric)i), out);
    ga_text_puts(out, "Of devices, measured: for print alone, n/a where not known\n");
    for (size_t i = 0; i < ga_sensor_count(); i++)
        append_sensor(ga_sensor_at(i), out);
}

static bool append_metrics_named(const char *word, struct ga_text *out)
{
    bool found = false;
    if (ga_word_in_list(word, "metric metrics figure figures")) {
        append_metrics(out);
        return true;
    }
    for (int i = 0; i < GA_METRIC_COUNT; i++) {
        const struct ga_metric_info *info = ga_metric_info((enum ga_metric)i);
        if (!ga_word_same(info->name, word))
            continue;
        append_metric(info, out);
        found = true;
    }
    if (ga_sensor_named(word))
        append_sensor(ga_sensor_named(word), out);
    return found || ga_sensor_named(word);
}

static const struct ga_setting *setting_named(const char *word)
{
    for (size_t i = 0; i < ga_setting_count(); i++)
        if (ga_word_same(ga_setting_at(i)->name, word) ||
            ga_setting_is_alias(ga_setting_at(i), word))
            return ga_setting_at(i);
    return NULL;
}

/* Everything of exactly that name; false when there is nothing. */
static bool append_named(const char *word, struct ga_text *out)
{
    const struct ga_command *command = ga_command_named(word);
    const struct ga_setting *row = setting_named(word);
    const struct ga_topic *topic = ga_topic_named(word);
    if (command)
        append_command(command, out);
    if (row)
        ga_setting_describe(row, out);
    if (topic)
        ga_text_printf(out, "%s\n\n%s", topic->title, topic->text);
    const bool metric = append_metrics_named(word, out);
    return command || row || topic || metric;
}

static int fail_unknown(const char *word)
{
    struct ga_word_nearest nearest = {word, NULL, 0};
    for (size_t i = 0; i < ga_command_count(); i++)
        ga_word_consider(&nearest, ga_command_at(i)->name);
    for (size_t i = 0; i < ga_topic_count(); i++)
        ga_word_consider(&nearest, ga_topic_at(i)->name);
    for (size_t i = 0; i < ga_setting_count(); i++)
        ga_word_consider(&nearest, ga_setting_at(i)->name);
    return ga_fail(GA_EINPUT,
                   "help %.64s: %s%s%sexpected a command, a topic, a setting or a "
                   "figure; `help` lists them",
                   word, nearest.name ? "did you mean " : "", nearest.name ? nearest.name : "",
                   nearest.name ? "? " : "");
}

/* By the beginning of a command's or a setting's name; a refused word says why it is. */
static int append_by_prefix(const char *word, struct ga_text *out)
{
    const struct ga_command *command = ga_command_find(word);
    if (command) {
        append_command(command, out);
        return 0;
    }
    const struct ga_setting *row = ga_setting_find(word);
    if (row) {
        ga_setting_describe(row, out);
        return 0;
    }
    if (strstr(ga_error_text(), "is not a setting here"))
        return ga_error_code();
    return fail_unknown(word);
}

int ga_exec_help(struct ga_console *console, size_t count, const char *const *word)
{
    struct ga_text text = GA_TEXT_INIT;
    int code = 0;
    char *name = ga_join(count, word);
    if (!name)
        return GA_ENOMEM;
    if (count == 0)
        append_overview(&text);
    else if (!append_named(name, &text))
        code = append_by_prefix(name, &text);
    if (code == 0)
        ga_say_text(console, &text);
    ga_text_free(&text);
    free(name);
    return code;
}
