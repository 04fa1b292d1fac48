/*
 * One line about a long move on a terminal, rewritten in place without any escape sequence:
 * carriage returns and blanks. Nothing is shown for moves of less than half a second.
 */
#ifndef GA_CONSOLE_PROGRESS_H
#define GA_CONSOLE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "train/engine.h"

struct ga_progress {
    int fd;               /* a terminal; -1: nothing is shown */
    int64_t started_ns;   /* of the move as seen here; 0: none */
    int64_t shown_ns;     /* last time it was written */
    uint64_t from_update; /* where the move was then */
    uint64_t target;      /* of that move: another one is another move */
    int width;            /* columns that are occupied now */
};

void ga_progress_init(struct ga_progress *progress, int fd); /* decides whether fd will do */

/* Looks at the engine's view and writes when it is time. */
void ga_progress_tick(struct ga_progress *progress, struct ga_engine *engine);

void ga_progress_clear(struct ga_progress *progress); /* takes the line away */

#endif
