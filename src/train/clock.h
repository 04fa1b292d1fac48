/*
 * The clock seam: which replica's turn comes next, and when. Events are ordered by (time, replica);
 * a replica has at most one pending event, so no third key is needed.
 *
 * One thread at a time. Times are virtual nanoseconds.
 */
#ifndef GA_TRAIN_CLOCK_H
#define GA_TRAIN_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ga_clock_state;

struct ga_clock_kind {
    const char *name; /* a word of the `clock` choices */
    int (*open)(struct ga_clock_state **out, size_t replicas);
    void (*close)(struct ga_clock_state *clock);
    /* Makes `replica`'s next event happen at `time_ns`, replacing the one it had. */
    void (*schedule)(struct ga_clock_state *clock, size_t replica, int64_t time_ns);
    void (*cancel)(struct ga_clock_state *clock, size_t replica); /* none: nothing happens */
    /* The first event; false when there is none. It stays until scheduled anew or cancelled. */
    bool (*first)(const struct ga_clock_state *clock, size_t *replica, int64_t *time_ns);
};

extern const struct ga_clock_kind ga_clock_virtual;

/* By word of the `clock` setting; NULL with an error. */
const struct ga_clock_kind *ga_clock_find(const char *name);

#endif
