/*
 * Two runs side by side: their tracks read off at the same positions of a common axis. Pure; the
 * table of `compare` and charts use it.
 *
 * A track is a list of points in ascending order of position, a point being what held from there
 * on. Rows stand at round positions of the range that both tracks cover, its two ends included.
 */
#ifndef GA_CONSOLE_COMPARE_H
#define GA_CONSOLE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "train/metrics.h"

struct ga_point {
    double at, value;
};

struct ga_track {
    struct ga_point *point; /* (points) */
    size_t points, capacity;
};

void ga_track_fini(struct ga_track *track);
int ga_track_add(struct ga_track *track, double at, double value);

/* The value that holds at a position: of the last point at or before it; NaN before the first. */
double ga_track_at(const struct ga_track *track, double at);

struct ga_aligned {
    double at;
    double value[2];
};

/*
 * At most `most` rows (2 or more) into `out`; returns how many. None when a track is empty or they
 * have no position in common. `whole`: positions are whole numbers.
 */
size_t ga_tracks_align(const struct ga_track *a, const struct ga_track *b, bool whole, size_t most,
                       struct ga_aligned *out);

/* What the axis of a comparison counts. */
enum ga_by { GA_BY_UPDATES, GA_BY_EXAMPLES, GA_BY_TIME, GA_BY_BYTES, GA_BYS };
const char *ga_by_name(enum ga_by axis); /* "updates", ...; time is in seconds */
int ga_by_find(const char *word);        /* or -1 and an error */
double ga_by_position(enum ga_by axis, const struct ga_update_record *record);

#endif
