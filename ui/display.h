/*
 * What the screen shows and how, apart from what is trained: theme, glyphs, axes, smoothing, the
 * panels chosen. It is changed by the words of `view`, which keys, the prompt and scripts share.
 * Pure apart from this thread's error text.
 */
#ifndef GA_UI_DISPLAY_H
#define GA_UI_DISPLAY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "ui/cells.h"
#include "ui/layout.h"
#include "ui/theme.h"

struct ga_display {
    enum ga_theme theme;
    enum ga_glyphs glyphs;
    bool utf8;    /* else only ASCII glyphs can be shown */
    bool colored; /* else every theme looks like mono */
    bool log_y;
    int x_axis;       /* enum ga_x_axis */
    double smoothing; /* 0: none, else an EMA weight below 1 */
    struct ga_layout_wish wish;
};

void ga_display_init(struct ga_display *display);

/* The theme as it comes out on this terminal. */
enum ga_theme ga_display_theme(const struct ga_display *display);

/*
 * The words behind `view`. `layout` is the present one, for the order of panels. Appends an answer
 * only to `view` alone: the present view as commands. Nothing changes on failure.
 */
int ga_display_command(struct ga_display *display, const struct ga_layout *layout, size_t count,
                       const char *const *word, struct ga_text *answer);

int ga_glyphs_find(const char *name); /* -1 and an error naming them */

#endif
