/*
 * The screen as a recording: frames painted as for an xterm with 256 colours, whatever the terminal
 * is, into a file of storage/cast.h. Main thread.
 */
#ifndef GA_UI_RECORDER_H
#define GA_UI_RECORDER_H

#include <stdbool.h>

#include "ui/cells.h"
#include "ui/theme.h"

struct ga_recorder;

/* Of a screen with as many rows and columns as `cells`. */
int ga_recorder_open(struct ga_recorder **out, const char *path, const struct ga_cells *cells,
                     bool utf8, bool colored);

/* A frame, as for ga_term_show(). The first error ends the recording. */
int ga_recorder_show(struct ga_recorder *recorder, const struct ga_cells *cells,
                     enum ga_theme theme, int cursor_row, int cursor_column);

const char *ga_recorder_path(const struct ga_recorder *recorder);
int ga_recorder_close(struct ga_recorder *recorder); /* its first error; NULL is fine */

#endif
