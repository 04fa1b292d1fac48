/*
 * The whole screen but the command line, drawn from a scene into cells: status, panels in their
 * frames, key hints. It owns one state per panel. No terminal, no engine, no clock, so a test draws
 * the same picture as the program. One thread, the ui's.
 *
 * A frame, for the app:
 *     ga_layout_make(&layout, &wish);
 *     look = ga_screen_look(&layout);              parts of the close-up that are on screen
 *     ga_watch_look(watch, look, ga_screen_parameter(screen), &closeup);   <= 10 a second, and
 *                                                  after each stop
 *     while (ga_watch_take(watch, &sample)) ga_samples_append(samples, &sample);
 *     ga_screen_draw(...);                         then the command line into layout.command
 */
#ifndef GA_UI_SCREEN_H
#define GA_UI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/cells.h"
#include "ui/layout.h"
#include "ui/panel.h"
#include "ui/status.h"

struct ga_screen;

int ga_screen_open(struct ga_screen **out);
void ga_screen_close(struct ga_screen *screen); /* NULL is fine */

/* `focus`: panel position with the highlighted frame; -1: none. Clears the cells first. */
void ga_screen_draw(struct ga_screen *screen, const struct ga_scene *scene,
                    const struct ga_layout *layout, int focus, const struct ga_hint *hint,
                    size_t hints, struct ga_cells *cells);

/* A key of ui/decoder.h for the focused panel: true when it was used. */
bool ga_screen_key(struct ga_screen *screen, const struct ga_scene *scene, int focus, int key);

/* GA_LOOK_... of the panels on screen. */
unsigned ga_screen_look(const struct ga_layout *layout);

/* The parameter that explain is about, as its arrow keys moved it. */
size_t ga_screen_parameter(const struct ga_screen *screen);
void ga_screen_set_parameter(struct ga_screen *screen, size_t position);

#endif
