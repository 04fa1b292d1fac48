/*
 * Waiting for a pipe, terminal or device that was opened with O_NONBLOCK. The console keeps signals
 * blocked and takes them between commands, so a plain read() or open() of a pipe whose other end
 * never comes would wait where neither ctrl-C nor SIGTERM can end it.
 */
#ifndef GA_BASE_WAIT_H
#define GA_BASE_WAIT_H

#include <stdbool.h>

/* How long a pending signal may go unnoticed. */
#define GA_WAIT_LOOK_MS 100

/*
 * Returns GA_OK once `fd` is ready for `events` (POLLIN or POLLOUT) or has failed. GA_EIO, without
 * a path in the text, when SIGINT, SIGTERM or SIGHUP is blocked and pending: the signal stays so.
 */
int ga_wait_ready(int fd, short events);

/* Whether SIGTERM or SIGHUP is blocked and pending, or SIGINT where that counts. */
bool ga_wait_told_to_end(bool by_interrupt);

#endif
