/*
 * This program once more, on a pseudo-terminal of its own: for measuring it as a terminal sees it.
 * It reads no configuration and keeps no history. One thread; the child is killed by close.
 */
#ifndef GA_UI_SEAT_H
#define GA_UI_SEAT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text.h"

struct ga_seat {
    pid_t child;
    int fd;              /* the master side; -1: closed */
    int64_t started_ns;  /* just before the fork */
    struct ga_text seen; /* all that was written */
    int64_t seen_ns;     /* when the newest of it came */
};

/* `argv` without the program's name, NULL-terminated. */
int ga_seat_open(struct ga_seat *seat, const char *const *argv, int rows, int columns);
void ga_seat_close(struct ga_seat *seat);

/* Takes what comes until the deadline; 1: something came, 0: nothing did, GA_ESTATE: it ended. */
int ga_seat_take(struct ga_seat *seat, int64_t deadline_ns);

/* Waits for bytes behind position `from`; GA_ESTATE and an error when they do not come. */
int ga_seat_expect(struct ga_seat *seat, size_t from, const char *bytes);
void ga_seat_type(struct ga_seat *seat, const char *keys);

/* Of its main thread, and of all others together; -1 where /proc does not tell. */
struct ga_seat_use {
    int64_t cpu_ns, wakes;
    int64_t others_ns;
    int64_t anonymous_bytes; /* of the process: memory that is no file */
};
void ga_seat_use(const struct ga_seat *seat, struct ga_seat_use *out);

#endif
