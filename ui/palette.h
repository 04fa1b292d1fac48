/*
 * The palette of everything that can be typed: commands and settings from their tables, keys from
 * the list given, narrowed by what is typed. Help pages are found the same way.
 *
 * The palette owns its query and selection. What is chosen is a text for the command line. One
 * thread, the ui's.
 */
#ifndef GA_UI_PALETTE_H
#define GA_UI_PALETTE_H

#include <stddef.h>

#include "ui/cells.h"

/* A key of the key table, borrowed for the life of the palette. */
struct ga_palette_key {
    const char *key;     /* "m", "ctrl-Z" */
    const char *command; /* what it runs; "" when it acts on the screen only */
    const char *help;
};

struct ga_palette;

int ga_palette_open(struct ga_palette **out, const struct ga_palette_key *key, size_t keys);
void ga_palette_close(struct ga_palette *palette);

enum ga_palette_answer { GA_PALETTE_OPEN, GA_PALETTE_CHOSEN, GA_PALETTE_LEFT };

/* A key of ui/decoder.h: letters narrow, arrows select, Enter chooses, Esc leaves. */
enum ga_palette_answer ga_palette_press(struct ga_palette *palette, int key);

/* After CHOSEN: the text for the command line, "set lr " or "micro"; owned by the palette. */
const char *ga_palette_choice(const struct ga_palette *palette);

void ga_palette_reset(struct ga_palette *palette); /* empty query, first entry */
void ga_palette_draw(const struct ga_palette *palette, struct ga_cells *cells, struct ga_rect rect);

/* The keys of the same list on a page of their own; `first` is the row scrolled to. */
int ga_help_rows(const struct ga_palette *palette, int columns);
void ga_help_draw(const struct ga_palette *palette, struct ga_cells *cells, struct ga_rect rect,
                  int first);

#endif
