#include "console/options.h"

#include <string.h>

#include "base/error.h"
#include "console/wrap.h"
#include "settings/settings.h"
#include "settings/words.h"

static int take_front(struct ga_arguments *arguments, enum ga_front_kind front)
{
    if (arguments->front != GA_FRONT_AUTO && arguments->front != front)
        return ga_fail(GA_EINPUT, "--plain and --batch exclude each other: expected one of them");
    arguments->front = front;
    return 0;
}

static int take_plain(struct ga_arguments *arguments, const char *value)
{
    (void)value;
    return take_front(arguments, GA_FRONT_PLAIN);
}

static int take_batch(struct ga_arguments *arguments, const char *value)
{
    (void)value;
    return take_front(arguments, GA_FRONT_BATCH);
}

static int take_source(struct ga_arguments *arguments, const char *text, bool script)
{
    if (arguments->sources == GA_SOURCES)
        return ga_fail(GA_ERANGE, "too many -e and scripts: expected at most %d", GA_SOURCES);
    arguments->source[arguments->sources++] = (struct ga_source){text, script};
    return 0;
}

static int take_command(struct ga_arguments *arguments, const char *value)
{
    return take_source(arguments, value, false);
}

static int take_seed(struct ga_arguments *arguments, const char *value)
{
    struct ga_settings draft;
    ga_settings_default(&draft);
    const int code = ga_setting_read(ga_setting_find("seed"), &draft, value);
    arguments->seed = value;
    return code < 0 ? ga_fail_within("--seed") : 0;
}

static int take_color(struct ga_arguments *arguments, const char *value)
{
    if (!ga_word_in_list(value, "auto always never"))
        return ga_fail(GA_EINPUT, "--color %s: expected auto, always or never", value);
    arguments->color = value;
    return 0;
}

static int take_glyphs(struct ga_arguments *arguments, const char *value)
{
    if (!ga_word_in_list(value, "braille block ascii"))
        return ga_fail(GA_EINPUT, "--glyphs %s: expected braille, block or ascii", value);
    arguments->glyphs = value;
    return 0;
}

static int take_theme(struct ga_arguments *arguments, const char *value)
{
    if (!ga_word_in_list(value, "dark light contrast mono"))
        return ga_fail(GA_EINPUT, "--theme %s: expected dark, light, contrast or mono", value);
    arguments->theme = value;
    return 0;
}

static int take_autosave(struct ga_arguments *arguments, const char *value)
{
    arguments->autosave = value;
    return 0;
}

static int take_readonly(struct ga_arguments *arguments, const char *value)
{
    (void)value;
    arguments->readonly = true;
    return 0;
}

static int take_version(struct ga_arguments *arguments, const char *value)
{
    (void)value;
    arguments->show = GA_SHOW_VERSION;
    return 0;
}

static int take_help(struct ga_arguments *arguments, const char *value)
{
    (void)value;
    arguments->show = GA_SHOW_HELP;
    return 0;
}

static int take_man(struct ga_arguments *arguments, const char *value)
{
    (void)value;
    arguments->show = GA_SHOW_MAN;
    return 0;
}

static const struct ga_option options[] = {
    {"--plain", NULL, "One prompt, lines that are only appended.", take_plain},
    {"--batch", NULL,
     "No prompt: runs what -e and SCRIPT say, stops at the first failure, ends with its status.",
     take_batch},
    {"-e", "COMMAND", "Runs a command; may be repeated. -e and SCRIPT run in the order given.",
     take_command},
    {"--seed", "N", "Sets the seed before anything runs.", take_seed},
    {"--readonly", NULL, "Refuses commands that write files, and keeps no key history.",
     take_readonly},
    {"--color", "WHEN", "auto, always or never; auto obeys NO_COLOR.", take_color},
    {"--glyphs", "SET", "What charts are made of: braille, block or ascii.", take_glyphs},
    {"--theme", "NAME", "dark, light, contrast or mono.", take_theme},
    {"--autosave", "FILE", "Saves the run there when the terminal hangs up or SIGTERM comes.",
     take_autosave},
    {"--version", NULL, "Prints the version.", take_version},
    {"--help", NULL, "Prints this.", take_help},
    {"--man", NULL, "Prints the manual page: gaconsole --man | man -l -", take_man},
};

#define COUNT (sizeof(options) / sizeof(options[0]))

size_t ga_option_count(void)
{
    return COUNT;
}

const struct ga_option *ga_option_at(size_t position)
{
    return position < COUNT ? &options[position] : NULL;
}

/* The option that `word` is, with "=value" behind it or without. */
static const struct ga_option *find(const char *word, const char **value)
{
    *value = NULL;
    for (size_t i = 0; i < COUNT; i++) {
        const size_t length = strlen(options[i].name);
        if (strncmp(word, options[i].name, length) != 0)
            continue;
        if (word[length] == '=' && word[1] == '-')
            *value = word + length + 1;
        if (word[length] == '\0' || *value)
            return &options[i];
    }
    return NULL;
}

static int fail_unknown(const char *word)
{
    struct ga_word_nearest nearest = {word, NULL, 0};
    for (size_t i = 0; i < COUNT; i++)
        ga_word_consider(&nearest, options[i].name);
    return ga_fail(GA_EINPUT, "unknown option %.64s: %s%s%sexpected one of those that --help lists",
                   word, nearest.name ? "did you mean " : "", nearest.name ? nearest.name : "",
                   nearest.name ? "? " : "");
}

/* The option at argv[*at], and the word behind it where it needs one. */
static int take_option(struct ga_arguments *arguments, int argc, char **argv, int *at)
{
    const char *value = NULL;
    const struct ga_option *option = find(argv[*at], &value);
    if (!option)
        return fail_unknown(argv[*at]);
    if (value && !option->argument)
        return ga_fail(GA_EINPUT, "%s takes no value: expected it alone", option->name);
    if (!value && option->argument) {
        if (*at + 1 == argc)
            return ga_fail(GA_EINPUT, "%s: expected %s behind it", option->name, option->argument);
        value = argv[++*at];
    }
    return option->take(arguments, value);
}

static int check(const struct ga_arguments *arguments)
{
    if (arguments->front == GA_FRONT_BATCH && arguments->sources == 0 &&
        arguments->show == GA_SHOW_NOTHING)
        return ga_fail(GA_EINPUT, "--batch has nothing to do: expected SCRIPT or -e COMMAND");
    if (arguments->readonly && arguments->autosave)
        return ga_fail(GA_EINPUT,
                       "--autosave writes a file, which --readonly refuses: expected one "
                       "of them");
    return 0;
}

int ga_arguments_read(struct ga_arguments *out, int argc, char **argv)
{
    bool only_scripts = false;
    *out = (struct ga_arguments){.color = "auto"};
    for (int at = 1; at < argc; at++) {
        int code = 0;
        if (!only_scripts && strcmp(argv[at], "--") == 0)
            only_scripts = true;
        else if (!only_scripts && argv[at][0] == '-' && argv[at][1])
            code = take_option(out, argc, argv, &at);
        else
            code = take_source(out, argv[at], true);
        if (code < 0)
            return code;
    }
    return check(out);
}

void ga_usage(struct ga_text *out)
{
    ga_text_puts(out, "usage: gaconsole [OPTIONS] [SCRIPT]\n"
                      "       gaconsole bench [NAME]\n"
                      "An interactive console for training with gradient accumulation on several "
                      "replicas.\nWithout arguments: the y = x^2 demo, paused at update 0.\n\n");
    for (size_t i = 0; i < COUNT; i++) {
        const struct ga_option *option = &options[i];
        ga_text_printf(out, "  %s%s%s\n", option->name, option->argument ? " " : "",
                       option->argument ? option->argument : "");
        ga_wrap(option->help, 6, 78, out);
    }
    ga_text_puts(out, "\nExit status: 0 fine; 1 an `expect` failed or training stopped on an "
                      "error; 2 bad\nusage, input or command. `gaconsole --batch -e help` lists "
                      "the commands.\n");
}
