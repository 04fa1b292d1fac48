/*
 * The key table: what each key runs. One const record a key feeds the keys themselves, the hint
 * line, the help page and the palette. A key whose command is not in the console's table is not
 * bound and not shown. Pure.
 */
#ifndef GA_UI_KEYS_H
#define GA_UI_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "train/view.h"
#include "ui/decoder.h"
#include "ui/status.h"

enum ga_key_act {
    GA_ACT_COMMAND, /* runs its command */
    GA_ACT_CONFIRM, /* runs it after a y */
    GA_ACT_TYPE,    /* opens the command line with `command` in it */
    GA_ACT_PALETTE,
    GA_ACT_HELP,
    GA_ACT_LEAVE, /* what lies over the panels: help, lesson, zoom */
    GA_ACT_REPAINT,
    GA_ACT_SUSPEND,
    GA_ACT_INTERRUPT,
    GA_ACT_QUIT
};

struct ga_key_row {
    int key, last;    /* a range where digits share a row; else equal */
    const char *name; /* "space", "ctrl-Z" */
    enum ga_key_act act;
    const char *command; /* as shown; "" where the screen itself acts */
    /* The text to run where it depends on the run or the key; NULL: `command`. */
    void (*make)(const struct ga_view *view, int key, struct ga_text *out);
    bool quiet;           /* not echoed in the log: it changes what is seen, not what is trained */
    int rank;             /* in the bottom line, 1 before 2; 0: not there */
    const char *hint;     /* what it says there */
    const char *hint_key; /* its key there; NULL: `name` */
    const char *help;     /* one sentence */
};

size_t ga_key_count(void);
const struct ga_key_row *ga_key_at(size_t position); /* NULL beyond the last */

/* Whether the console knows its command. */
bool ga_key_bound(const struct ga_key_row *row);

/* NULL: not bound. */
const struct ga_key_row *ga_key_find(int key);

/* Appends what the key runs now. */
void ga_key_command(const struct ga_key_row *row, const struct ga_view *view, int key,
                    struct ga_text *out);

/* The bottom line; returns how many. */
size_t ga_key_hints(const struct ga_view *view, struct ga_hint *out, size_t most);

/* The next value up (+1) or down (-1) of 1 2 5 10 20 50 ..., at most `most`; `value` at the ends.
 */
int64_t ga_ladder(int64_t value, int step, int64_t most);

#endif
