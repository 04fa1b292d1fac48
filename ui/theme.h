/*
 * Themes as data: what each role of cells.h looks like. Foreground and background are those of the
 * terminal unless a role says otherwise; hues are those of Okabe and Ito (2008), which people with
 * any kind of colour vision can tell apart. Replicas also differ by mark, for print and monochrome.
 * No terminal here: term.c turns these into pairs, svg.c into text. Pure, any thread.
 */
#ifndef GA_UI_THEME_H
#define GA_UI_THEME_H

#include <stdbool.h>
#include <stdint.h>

#include "ui/cells.h"

enum ga_theme { GA_THEME_DARK, GA_THEME_LIGHT, GA_THEME_CONTRAST, GA_THEME_MONO, GA_THEMES };

#define GA_COLOR_DEFAULT (-1)

/* A colour in the three depths that terminals have; each -1: the terminal's own. */
struct ga_color {
    int32_t rgb;      /* 0xRRGGBB */
    int16_t index256; /* of the xterm palette, 16..255 */
    int16_t index16;  /* 0..15; of 8-colour terminals the lower three bits */
};

struct ga_style {
    struct ga_color foreground, background;
    unsigned attributes; /* GA_ATTR_...: added to those of the cell */
};

const char *ga_theme_name(enum ga_theme theme); /* "dark", "light", "contrast", "mono" */
int ga_theme_find(const char *name);            /* -1 and an error naming them */

/* Never fails: a role out of range looks like text. */
const struct ga_style *ga_theme_style(enum ga_theme theme, unsigned role);

/* What the terminal's own colours are taken for, where a picture needs them (SVG, contrast). */
uint32_t ga_theme_paper(enum ga_theme theme);
uint32_t ga_theme_ink(enum ga_theme theme);

/* The role and the mark of a replica; the mark fits the glyph set. */
unsigned ga_replica_role(uint32_t replica);
uint32_t ga_replica_mark(uint32_t replica, enum ga_glyphs glyphs);

/* Contrast of two colours by WCAG 2.1 (1 .. 21). */
double ga_color_contrast(uint32_t rgb, uint32_t other);

#endif
