/* The manual page, in roff, from the tables of options, commands, settings, figures and topics. */
#include <string.h>

#include "base/version.h"
#include "console/command.h"
#include "console/options.h"
#include "console/topics.h"
#include "settings/settings.h"
#include "train/metrics.h"

/* A line of text: what roff would take for a request or an escape is disarmed. */
static void append_text(const char *text, struct ga_text *out)
{
    bool line_start = true;
    for (; *text; text++) {
        if (line_start && (*text == '.' || *text == '\''))
            ga_text_puts(out, "\\&");
        if (*text == '\\')
            ga_text_puts(out, "\\e");
        else if (*text == '-')
            ga_text_puts(out, "\\-");
        else
            ga_text_append(out, text, 1);
        line_start = *text == '\n';
    }
    ga_text_puts(out, "\n");
}

static void append_entry(const char *name, const char *usage, const char *help, struct ga_text *out)
{
    ga_text_puts(out, ".TP\n.B ");
    append_text(name, out);
    if (*usage) {
        out->length--; /* the usage stands on the name's line */
        ga_text_puts(out, " ");
        append_text(usage, out);
    }
    append_text(help, out);
}

static void append_options(struct ga_text *out)
{
    ga_text_puts(out, ".SH OPTIONS\n");
    for (size_t i = 0; i < ga_option_count(); i++) {
        const struct ga_option *option = ga_option_at(i);
        append_entry(option->name, option->argument ? option->argument : "", option->help, out);
    }
}

static void append_commands(struct ga_text *out)
{
    ga_text_puts(out, ".SH COMMANDS\n");
    for (int group = 0; group < GA_GROUPS; group++) {
        ga_text_printf(out, ".SS %s\n", ga_command_group_name((enum ga_command_group)group));
        for (size_t i = 0; i < ga_command_count(); i++) {
            const struct ga_command *command = ga_command_at(i);
            if (command->group == (enum ga_command_group)group)
                append_entry(command->name, command->usage, command->help, out);
        }
    }
}

static void append_settings(struct ga_text *out)
{
    ga_text_puts(out, ".SH SETTINGS\n");
    for (size_t i = 0; i < ga_setting_count(); i++) {
        const struct ga_setting *row = ga_setting_at(i);
        struct ga_text help = GA_TEXT_INIT;
        ga_text_printf(&help, "%s. Values: %s%s%s; default %s.%s%s%s", row->help, row->values,
                       *row->unit ? " " : "", row->unit, row->initial,
                       *row->aliases ? " Also typed as " : "", row->aliases,
                       *row->aliases ? "." : "");
        append_entry(row->name, "", ga_text_get(&help), out);
        ga_text_free(&help);
    }
}

static void append_metrics(struct ga_text *out)
{
    ga_text_puts(out, ".SH FIGURES\n");
    for (int i = 0; i < GA_METRIC_COUNT; i++) {
        const struct ga_metric_info *info = ga_metric_info((enum ga_metric)i);
        append_entry(info->name, info->of_run ? "" : "(of replica R)", info->help, out);
    }
}

static void append_topics(struct ga_text *out)
{
    for (size_t i = 0; i < ga_topic_count(); i++) {
        ga_text_puts(out, ".SH ");
        append_text(ga_topic_at(i)->title, out);
        ga_text_puts(out, ".nf\n");
        append_text(ga_topic_at(i)->text, out);
        ga_text_puts(out, ".fi\n");
    }
}

void ga_man(struct ga_text *out)
{
    ga_text_printf(out, ".TH GACONSOLE 1 \"\" \"gaconsole %s\"\n", ga_version());
    ga_text_puts(out, ".SH NAME\ngaconsole \\- training console: gradient accumulation on several "
                      "replicas\n.SH SYNOPSIS\n.B gaconsole\n[OPTIONS] [SCRIPT]\n.br\n.B gaconsole "
                      "bench\n[NAME]\n");
    append_options(out);
    append_commands(out);
    append_settings(out);
    append_metrics(out);
    append_topics(out);
    ga_text_puts(out, ".SH EXIT STATUS\n0 fine; 1 an expect failed or training stopped on an "
                      "error; 2 bad usage, input or command.\n"
                      ".SH FILES\n.TP\n$XDG_CONFIG_HOME/gaconsole/config\ncommands to run before "
                      "the prompt appears (not in batch)\n.TP\n$XDG_STATE_HOME/gaconsole/history\n"
                      "lines typed at the prompt\n");
}
