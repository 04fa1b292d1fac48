/*
 * The terminal: the only file that knows curses. It takes a grid of cells and brings the terminal
 * to that state with few bytes; keys are read elsewhere, as bytes.
 *
 * While it is open the terminal is in raw input, on its alternate screen, with bracketed paste on;
 * ctrl-\ still ends a program that hangs. ga_term_close() and ga_term_leave() put everything back;
 * what has to be done when neither can run is prepared as bytes for signals.h.
 *
 * One terminal at a time, one thread.
 */
#ifndef GA_UI_TERM_H
#define GA_UI_TERM_H

#include <stdbool.h>
#include <termios.h>

#include "ui/cells.h"
#include "ui/theme.h"

struct ga_term;

enum ga_color_when { GA_COLOR_AUTO, GA_COLOR_ALWAYS, GA_COLOR_NEVER };

/*
 * Whether a full screen is possible on standard input and output: 0, or GA_EUNSUPPORTED with a text
 * that names TERM and what it lacks. Touches nothing.
 */
int ga_term_check(void);

/*
 * Draws on a copy of standard output, so that the original may be redirected afterwards.
 * AUTO: colours where the terminal has eight and NO_COLOR is not set.
 */
int ga_term_open(struct ga_term **out, enum ga_color_when when);
void ga_term_close(struct ga_term *term); /* NULL is fine */

bool ga_term_utf8(const struct ga_term *term);
bool ga_term_colored(const struct ga_term *term);
enum ga_glyphs ga_term_glyphs(const struct ga_term *term); /* the finest that it can show */

/* The size as of the last ga_term_measure(); at least 1x1. */
int ga_term_rows(const struct ga_term *term);
int ga_term_columns(const struct ga_term *term);
bool ga_term_measure(struct ga_term *term); /* asks again: true when it changed */

/* The grid must have the terminal's size. A row below 0 hides the cursor. */
void ga_term_show(struct ga_term *term, const struct ga_cells *cells, enum ga_theme theme,
                  int cursor_row, int cursor_column);
void ga_term_forget(struct ga_term *term); /* the next show draws everything again */

/* The terminal as it was before, for a stop; and the screen again. */
void ga_term_leave(struct ga_term *term);
void ga_term_enter(struct ga_term *term);
bool ga_term_foreground(const struct ga_term *term); /* whether it may be touched at all */

/* What puts the terminal back without curses; borrowed, as long as the terminal is open. */
struct ga_term_rescue {
    int fd;
    const char *bytes;
    size_t count;
    struct termios usual;
};
void ga_term_rescue(const struct ga_term *term, struct ga_term_rescue *out);

#endif
