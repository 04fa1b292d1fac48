/*
 * The lines around the panels as pure functions of what the engine published: state and counters on
 * top, pending changes below them, key hints at the bottom. Parts that do not fit are left out from
 * the least important on; numbers keep their width while a run goes on.
 */
#ifndef GA_UI_STATUS_H
#define GA_UI_STATUS_H

#include <stddef.h>

#include "ui/cells.h"
#include "ui/panel.h"

/* One or two rows; with one row pending changes take the place of the less important parts. */
void ga_status_draw(const struct ga_scene *scene, struct ga_cells *cells, struct ga_rect rect);

/* Under 20x3: what the screen is too small for, or as much of it as fits. */
void ga_status_notice(struct ga_cells *cells);

/* A key and what it does, for the bottom line; both borrowed. */
struct ga_hint {
    const char *key;  /* "m", "space" */
    const char *what; /* "micro" */
};
void ga_hint_draw(struct ga_cells *cells, struct ga_rect rect, const struct ga_hint *hint,
                  size_t count);

/* "accum 5 -> 10 at update 129; lr 0.01 -> 0.05 at update 129"; "" when nothing is pending. */
void ga_status_pending(const struct ga_view *view, struct ga_text *out);

#endif
