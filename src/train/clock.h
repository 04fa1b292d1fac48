/*
 * The clock seam: which replica's turn comes next, and when. Events are ordered by (time, replica);
 * a replica has at most one pending event, so no third key is needed.
 *
 * One thread, the run's, calls all of this but finished(), which any worker may call. Times are
 * nanoseconds: of the simulation, or of the wall since the run began, pauses left out.
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
    /*
     * The first event that may happen now; false when there is none. It stays until scheduled anew
     * or cancelled.
     */
    bool (*first)(const struct ga_clock_state *clock, size_t *replica, int64_t *time_ns);

    /* Only on real clocks, NULL otherwise: */

    /* The replica's next event waits for work that begins now, until finished(). */
    void (*begin)(struct ga_clock_state *clock, size_t replica);
    void (*finished)(struct ga_clock_state *clock, size_t replica);
    /* Wall time on which the clock goes on from `time_ns`: after a pause or a restored state. */
    void (*resume)(struct ga_clock_state *clock, int64_t time_ns);
    bool (*pending)(const struct ga_clock_state *clock); /* any event at all is scheduled */
    /* Wall time (ga_now_ns()) of the next event whose work is done; INT64_MAX: none yet. */
    int64_t (*due)(const struct ga_clock_state *clock);
};

extern const struct ga_clock_kind ga_clock_virtual;
extern const struct ga_clock_kind ga_clock_real;

/* By word of the `clock` setting; NULL with an error. */
const struct ga_clock_kind *ga_clock_find(const char *name);

#endif
