/*
 * Waiting for a pipe, terminal or device that was opened with O_NONBLOCK. The console keeps signals
 * blocked and takes them between commands, so a plain read() or open() of a pipe whose other end
 * never comes would wait where neither ctrl-C nor SIGTERM can end it.
 */
#ifndef GA_BASE_WAIT_H
#define GA_BASE_WAIT_H

/*
 * Returns GA_OK once `fd` is ready for `events` (POLLIN or POLLOUT) or has failed. GA_EIO, without
 * a path in the text, when SIGINT, SIGTERM or SIGHUP is blocked and pending: the signal stays so.
 */
int ga_wait_ready(int fd, short events);

#endif
