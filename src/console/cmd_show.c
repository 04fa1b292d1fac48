/* show and settings: what is in force, what is pending, what was changed. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "console/command.h"
#include "console/session.h"
#include "console/wrap.h"
#include "settings/words.h"

struct pair_of_settings {
    struct ga_settings in_force;
    struct ga_settings draft;
};

static void append_value(const struct ga_setting *row, const struct pair_of_settings *now,
                         struct ga_text *out)
{
    ga_setting_write(row, &now->in_force, out);
    if (ga_setting_same(row, &now->in_force, &now->draft))
        return;
    ga_text_puts(out, " (pending: ");
    ga_setting_write(row, &now->draft, out);
    ga_text_puts(out, ")");
}

static void append_row(const struct ga_setting *row, const struct pair_of_settings *now,
                       struct ga_text *out)
{
    ga_text_printf(out, "%-15s ", row->name);
    append_value(row, now, out);
    ga_text_puts(out, "\n");
}

static void show_all(struct ga_console *console, const struct pair_of_settings *now)
{
    struct ga_text text = GA_TEXT_INIT;
    ga_text_printf(&text, "%-15s %s\n", "data", ga_dataset_spec(console->data));
    for (size_t i = 0; i < ga_setting_count(); i++)
        append_row(ga_setting_at(i), now, &text);
    ga_say_text(console, &text);
    ga_text_free(&text);
}

static const char *when_text(enum ga_when when)
{
    static const char *const texts[] = {"takes effect at once", "takes effect at the next window",
                                        "takes effect when a run starts"};
    return texts[when];
}

void ga_setting_describe(const struct ga_setting *row, struct ga_text *out)
{
    ga_text_printf(out, "%s: %s\n", row->name, row->help);
    ga_text_printf(out, "  values   %s%s%s\n", row->values, *row->unit ? " " : "", row->unit);
    ga_text_printf(out, "  default  %s; %s%s%s\n", row->initial, when_text(row->when),
                   *row->modes ? "; matters in mode " : "", row->modes);
    if (*row->aliases)
        ga_text_printf(out, "  also     %s\n", row->aliases);
    for (int value = 0; row->group && value < ga_choice_count(row->group); value++)
        ga_text_printf(out, "  %-12s %s\n", ga_choice_word(row->group, value),
                       ga_choice_help(row->group, value));
}

static int show_one(struct ga_console *console, const char *name,
                    const struct pair_of_settings *now)
{
    const struct ga_setting *row = ga_setting_find(name);
    if (!row)
        return ga_error_code();
    struct ga_text text = GA_TEXT_INIT;
    append_row(row, now, &text);
    ga_setting_describe(row, &text);
    ga_say_text(console, &text);
    ga_text_free(&text);
    return 0;
}

/* One `set` line holds all but a batch that global overrules: that comes first, on its own. */
static void append_changed(const struct ga_settings *draft, struct ga_text *out)
{
    struct ga_settings initial;
    struct ga_text line = GA_TEXT_INIT;
    ga_settings_default(&initial);
    if (draft->global > 0 && draft->batch != initial.batch)
        ga_text_printf(out, "set batch %d\n", (int)draft->batch);
    for (size_t i = 0; i < ga_setting_count(); i++) {
        const struct ga_setting *row = ga_setting_at(i);
        const bool by_file = strcmp(row->name, "init") == 0 && draft->init == GA_INIT_FILE;
        const bool overruled = strcmp(row->name, "batch") == 0 && draft->global > 0;
        if (by_file || overruled || ga_setting_same(row, &initial, draft))
            continue;
        ga_text_printf(&line, " %s ", row->name);
        ga_setting_write(row, draft, &line);
    }
    if (line.length > 0)
        ga_text_printf(out, "set%s\n", line.data);
    ga_text_free(&line);
}

static int append_slow(struct ga_run *run, void *arg)
{
    struct ga_text *out = arg;
    for (size_t i = 0; i < ga_run_replicas(run); i++) {
        const double factor = ga_run_replica(run, i)->slow;
        if (!(factor < 1 || factor > 1))
            continue;
        ga_text_printf(out, "slow %zu ", i);
        ga_text_number(out, factor);
        ga_text_puts(out, "\n");
    }
    return 0;
}

/* Quotes what the lexer would cut. */
static void append_word(const char *word, struct ga_text *out)
{
    if (*word && !strpbrk(word, " \t\"'#\\")) {
        ga_text_puts(out, word);
        return;
    }
    ga_text_puts(out, "\"");
    for (; *word; word++) {
        if (*word == '"' || *word == '\\')
            ga_text_puts(out, "\\");
        ga_text_append(out, word, 1);
    }
    ga_text_puts(out, "\"");
}

static void show_changed(struct ga_console *console, const struct ga_settings *draft)
{
    char path[4096];
    struct ga_text text = GA_TEXT_INIT;
    if (strcmp(ga_dataset_spec(console->data), console->demo_spec) != 0)
        ga_text_printf(&text, "data %s\n", ga_dataset_spec(console->data));
    append_changed(draft, &text);
    ga_engine_init_path(console->engine, path, sizeof(path));
    if (draft->init == GA_INIT_FILE && *path) {
        ga_text_puts(&text, "init-from ");
        append_word(path, &text);
        ga_text_puts(&text, "\n");
    }
    /* Without a run there are no replicas, so none is slow: not a failure. */
    ga_engine_call(console->engine, append_slow, &text);
    if (text.length == 0)
        ga_text_puts(&text, "# nothing was changed\n");
    ga_say_text(console, &text);
    ga_text_free(&text);
}

static void show_data(struct ga_console *console)
{
    struct ga_text text = GA_TEXT_INIT;
    ga_text_printf(&text, "data %s: ", ga_dataset_spec(console->data));
    ga_dataset_describe(console->data, &text);
    ga_say_text(console, &text);
    ga_text_free(&text);
}

int ga_exec_show(struct ga_console *console, size_t count, const char *const *word)
{
    struct pair_of_settings now;
    ga_engine_settings(console->engine, &now.in_force, &now.draft);
    if (count == 0)
        show_all(console, &now);
    else if (ga_word_same(word[0], "changed"))
        show_changed(console, &now.draft);
    else if (ga_word_same(word[0], "data"))
        show_data(console);
    else
        return show_one(console, word[0], &now);
    return 0;
}

int ga_exec_settings(struct ga_console *console, size_t count, const char *const *word)
{
    (void)count;
    (void)word;
    struct ga_text text = GA_TEXT_INIT;
    struct ga_text values = GA_TEXT_INIT;
    for (size_t i = 0; i < ga_setting_count(); i++) {
        const struct ga_setting *row = ga_setting_at(i);
        ga_text_clear(&values);
        ga_text_printf(&values, "%s%s%s; default %s", row->values, *row->unit ? " " : "", row->unit,
                       row->initial);
        ga_text_printf(&text, "%-15s %s\n", row->name, row->help);
        ga_wrap(ga_text_get(&values), 16, 78, &text);
    }
    ga_say_text(console, &text);
    ga_text_free(&values);
    ga_text_free(&text);
    return 0;
}
