/*
 * A screen as a picture: what `save-display FILE` writes. Text is ga_cells_dump(); this is SVG, one
 * text element a stretch of equal style, in the colours of a theme. Pure.
 */
#ifndef GA_UI_DUMP_H
#define GA_UI_DUMP_H

#include "base/text.h"
#include "ui/cells.h"
#include "ui/theme.h"

/* Check ga_text_failed() afterwards. */
void ga_cells_svg(const struct ga_cells *cells, enum ga_theme theme, struct ga_text *out);

#endif
