/*
 * The front ends without a screen: batch, and the plain prompt. Each runs a whole session, from the
 * opened engine to the exit status (0, 1, 2), or gives a negative code with text: the session could
 * not begin, or its output could not be written. A session that a signal ended is cleaned up first;
 * then the signal is raised again, so that the shell sees what it sees of every program.
 */
#ifndef GA_CONSOLE_FRONT_H
#define GA_CONSOLE_FRONT_H

#include <stdbool.h>

#include "console/console.h"
#include "console/options.h"

int ga_batch_main(const struct ga_arguments *arguments);
int ga_plain_main(const struct ga_arguments *arguments);

/* What both need. */

/* $XDG_CONFIG_HOME/gaconsole/config: plain commands, before anything else. It may be missing. */
void ga_run_configuration(struct ga_console *console);

/* `--seed`, then -e and SCRIPT in their order; stops at the first failure with `strict`. */
void ga_run_sources(struct ga_console *console, const struct ga_arguments *arguments, bool strict);

/*
 * Signals as a descriptor: blocked for the process before any thread starts, read by the loop.
 * `resize` adds SIGWINCH and SIGTSTP. -1 and an error when the system has none.
 *
 * From the moment TERM or HUP is taken the session has 1.5 seconds to end in order. One that waits
 * longer, for a long micro-batch or a log that nobody reads, is ended by that signal; a terminal is
 * put back before.
 */
int ga_signals_open(bool resize);
int ga_signals_take(int fd); /* the next signal number, 0 when there is none */
void ga_signals_raise(int number);

/*
 * Writes what the stream holds: `status`, or GA_EIO. A reader that has left ends the process as the
 * system would have, by SIGPIPE.
 */
int ga_finish(struct ga_stream *stream, int status);

/* "$XDG_STATE_HOME/gaconsole/history", or under $HOME/.local/state; to be freed, NULL: no home. */
char *ga_user_path(const char *variable, const char *under_home, const char *name);

#endif
