/*
 * The command line: the only file here that knows readline. It gets keys of decoder.h, keeps the
 * line, its history and completions, and draws itself into cells; it neither reads nor writes the
 * terminal.
 *
 * A finished line is taken by ga_line_take(), outside of readline, so that what it runs may ask for
 * another one. One line at a time, one thread: readline has no room for a caller's data.
 */
#ifndef GA_UI_LINE_H
#define GA_UI_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "console/console.h"
#include "ui/cells.h"
#include "ui/decoder.h"

struct ga_line;

/* Before the terminal is opened: readline asks terminfo on its own. The locale must be set. */
int ga_line_open(struct ga_line **out, struct ga_console *console, bool keep_history);
void ga_line_close(struct ga_line *line); /* writes the history; NULL is fine */

/* An empty line behind a prompt. Answers are neither completed nor remembered. */
enum ga_line_use { GA_LINE_COMMAND, GA_LINE_ANSWER };
void ga_line_begin(struct ga_line *line, const char *prompt, enum ga_line_use use);

void ga_line_press(struct ga_line *line, const struct ga_input *input);
void ga_line_insert(struct ga_line *line, const char *text); /* at the cursor; no newlines */
void ga_line_resize(struct ga_line *line, int rows, int columns);

bool ga_line_empty(const struct ga_line *line);
/* Whether Esc is for the line itself: it ends a search, or vi's insertion, but does not leave. */
bool ga_line_takes_escape(const struct ga_line *line);

enum ga_line_end {
    GA_LINE_OPEN, /* not finished */
    GA_LINE_DONE, /* `*out` is the line, to be freed */
    GA_LINE_LEFT  /* the end of file was typed */
};
enum ga_line_end ga_line_take(struct ga_line *line, char **out);

/* Completions offered since the last key: how many, and each. */
size_t ga_line_offers(const struct ga_line *line);
const char *ga_line_offer(const struct ga_line *line, size_t position);

/* Draws prompt and line into the first row of `rect`, shifted so that the cursor is in it. Returns
 * the cursor's column. */
int ga_line_draw(const struct ga_line *line, struct ga_cells *cells, struct ga_rect rect);

#endif
