/*
 * The curves of one run as the screen keeps them: a row per closed window, a column per figure,
 * each with a power-of-two pyramid of minimum and maximum, so that any stretch of any length is
 * summed up in logarithmic time and a single spike is never lost.
 *
 * Rows are in the order of their windows (`windows` = applied + skipped so far). Appending a row
 * first drops every row that is not before it, so a new future replaces the old one. Going back
 * only hides: a sample that is a place says how far the run stands, and rows beyond it come into
 * sight again when the run returns to them. A sample of another run clears everything. At `limit`
 * rows the older ones are thinned to half: of each eight rows of a column the least, the greatest,
 * a non-finite one and the last stay.
 *
 * Figures are kept as float (doubles beyond its range become the largest float). A figure is
 * missing where it is not defined, which is not the same as NaN. One thread, the ui's.
 */
#ifndef GA_UI_SAMPLES_H
#define GA_UI_SAMPLES_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "console/watch.h"

struct ga_samples;

enum ga_x_axis { GA_X_UPDATES, GA_X_EXAMPLES, GA_X_TIME, GA_X_WALL, GA_X_AXES };

/* Columns. Replica figures: GA_SERIES_REPLICA_LOSS + r with r < GA_WATCH_REPLICAS. */
enum ga_series {
    GA_SERIES_LOSS,
    GA_SERIES_GRAD_NORM,
    GA_SERIES_NOISE_SCALE,
    GA_SERIES_UPDATE_NORM,
    GA_SERIES_STALENESS, /* largest of the items in the window */
    GA_SERIES_SMOOTH,    /* the loss as ga_samples_smooth() asks */
    GA_SERIES_REPLICA_LOSS,
    GA_SERIES_REPLICA_NORM = GA_SERIES_REPLICA_LOSS + GA_WATCH_REPLICAS,
    GA_SERIES_COUNT = GA_SERIES_REPLICA_NORM + GA_WATCH_REPLICAS
};

/* What a stretch of rows holds. low > high: no finite value. */
struct ga_extent {
    double low, high;   /* of the finite values */
    double first, last; /* first and last finite value; NaN without any */
    size_t nonfinite;
};

/* The start of every extent: nothing seen yet. */
#define GA_EXTENT_NONE ((struct ga_extent){INFINITY, -INFINITY, (double)NAN, (double)NAN, 0})

int ga_samples_open(struct ga_samples **out, size_t limit_rows); /* 0: GA_SAMPLES_LIMIT */
void ga_samples_close(struct ga_samples *samples);
#define GA_SAMPLES_LIMIT ((size_t)1 << 18)

/* A window, or a place (then rows beyond it are hidden), as ga_watch_take() gives them. */
int ga_samples_append(struct ga_samples *samples, const struct ga_sample *sample);
void ga_samples_clear(struct ga_samples *samples);

/*
 * Smooths the loss by an exponential moving average of this weight (0: none), without start-up
 * bias. Costs a pass over all rows when the weight changes, nothing when it is the same.
 */
int ga_samples_smooth(struct ga_samples *samples, double weight);

/* Staleness of the newest pushes in sight (at most GA_SAMPLES_PUSHES) since the mode or the number
 * of replicas changed, bin by bin. */
#define GA_SAMPLES_PUSHES 8192
struct ga_staleness {
    uint64_t count[GA_TAU_BINS]; /* the last bin holds what is beyond it too */
    uint64_t pushes;
    double mean;
    unsigned most;
};
void ga_samples_staleness(const struct ga_samples *samples, struct ga_staleness *out);

/* The run that the rows are of (0: none yet), and the newest window kept, in sight or not. */
uintptr_t ga_samples_run(const struct ga_samples *samples);
uint64_t ga_samples_newest(const struct ga_samples *samples);

/* Rows in sight. */
size_t ga_samples_count(const struct ga_samples *samples);
size_t ga_samples_bytes(const struct ga_samples *samples);                   /* memory held */
uint64_t ga_samples_nonfinite(const struct ga_samples *samples, int series); /* in sight */

/* Replicas that ever had a figure: columns beyond hold nothing. */
size_t ga_samples_replicas(const struct ga_samples *samples);

/* NaN when it is missing. */
double ga_samples_value(const struct ga_samples *samples, int series, size_t row);
bool ga_samples_missing(const struct ga_samples *samples, int series, size_t row);

/* Position on an axis: updates, examples, virtual seconds, wall seconds since the first row. */
double ga_samples_x(const struct ga_samples *samples, int x_axis, size_t row);

/* First row at or behind x (ga_samples_count() when there is none). */
size_t ga_samples_find(const struct ga_samples *samples, int x_axis, double x);

/* Rows first .. end-1 of a column; `positive` takes values <= 0 for missing ones (log axes). */
struct ga_extent ga_samples_extent(const struct ga_samples *samples, int series, size_t first,
                                   size_t end, bool positive);

#endif
