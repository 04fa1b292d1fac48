/*
 * What every prompt shares of readline: completion from the tables, and the history of typed lines
 * with its file, $XDG_STATE_HOME/gaconsole/history (0600), which is optional.
 *
 * readline has no room for a caller's data in its callbacks, so one session at a time is kept
 * inside; it belongs to the console's thread. No type of readline appears here.
 */
#ifndef GA_CONSOLE_TYPING_H
#define GA_CONSOLE_TYPING_H

#include <stdbool.h>

#include "console/console.h"

/* Without `keep` lines are remembered for the session only. A file that cannot be used is no error.
 */
void ga_typing_open(struct ga_console *console, bool keep);
void ga_typing_remember(const char *line); /* unless it is empty, repeated or begins with a blank */
void ga_typing_close(void);                /* adds to the file what was typed */

#endif
