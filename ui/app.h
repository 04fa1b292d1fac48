/*
 * The full-screen console: panels over a command line, one loop over keys, signals and what the
 * engine publishes. Runs a whole session, as the front ends of console/front.h do.
 */
#ifndef GA_UI_APP_H
#define GA_UI_APP_H

#include "console/options.h"

/* Whether a full screen can be shown here: 0, or GA_EUNSUPPORTED and a text that says why not. */
int ga_app_check(void);

/* The exit status, or a negative code when the screen could not be opened. A session that a signal
 * ended raises it again when all is put back. */
int ga_app_main(const struct ga_arguments *arguments);

#endif
