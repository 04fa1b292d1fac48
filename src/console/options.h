/*
 * The command line: one table of options feeds the parser, --help and the man page. What is run
 * (-e, SCRIPT) is kept in the order given. Strings are borrowed from argv.
 */
#ifndef GA_CONSOLE_OPTIONS_H
#define GA_CONSOLE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

#define GA_SOURCES 64 /* -e and SCRIPT on one command line */

enum ga_front_kind { GA_FRONT_AUTO, GA_FRONT_PLAIN, GA_FRONT_BATCH };
enum ga_show { GA_SHOW_NOTHING, GA_SHOW_VERSION, GA_SHOW_HELP, GA_SHOW_MAN };

struct ga_source {
    const char *text; /* a command, or a file name */
    bool script;
};

struct ga_arguments {
    enum ga_front_kind front;
    enum ga_show show;
    bool readonly;
    const char *seed;  /* as typed; NULL: none */
    const char *color; /* auto, always, never */
    /* Of the full screen; NULL: not given. */
    const char *glyphs;   /* braille, block, ascii */
    const char *theme;    /* dark, light, contrast, mono */
    const char *autosave; /* file */
    size_t sources;
    struct ga_source source[GA_SOURCES];
};

struct ga_option {
    const char *name;     /* "--seed", "-e" */
    const char *argument; /* "N"; NULL: none */
    const char *help;
    int (*take)(struct ga_arguments *arguments, const char *value);
};

size_t ga_option_count(void);
const struct ga_option *ga_option_at(size_t position);

int ga_arguments_read(struct ga_arguments *out, int argc, char **argv);

void ga_usage(struct ga_text *out); /* --help */
void ga_man(struct ga_text *out);   /* --man: the manual page in roff, from the tables */

#endif
