#include "console/compare.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "settings/words.h"

void ga_track_fini(struct ga_track *track)
{
    free(track->point);
    *track = (struct ga_track){0};
}

int ga_track_add(struct ga_track *track, double at, double value)
{
    if (ga_grow((void **)&track->point, &track->capacity, track->points + 1,
                sizeof(*track->point)) < 0)
        return GA_ENOMEM;
    track->point[track->points++] = (struct ga_point){at, value};
    return 0;
}

double ga_track_at(const struct ga_track *track, double at)
{
    size_t low = 0;
    size_t high = track->points;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (track->point[middle].at <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? track->point[low - 1].value : NAN;
}

/* The smallest of 1, 2, 5, 10, 20, ... that is not below `least`. */
static double round_step(double least)
{
    static const double factors[] = {1, 2, 5, 10};
    const double power = pow(10, floor(log10(least)));
    for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++)
        if (factors[i] * power >= least)
            return factors[i] * power;
    return 10 * power;
}

static void add_row(const struct ga_track *a, const struct ga_track *b, double at,
                    struct ga_aligned *out, size_t *rows)
{
    out[(*rows)++] =
        (struct ga_aligned){.at = at, .value = {ga_track_at(a, at), ga_track_at(b, at)}};
}

size_t ga_tracks_align(const struct ga_track *a, const struct ga_track *b, bool whole, size_t most,
                       struct ga_aligned *out)
{
    size_t rows = 0;
    if (a->points == 0 || b->points == 0 || most < 2)
        return 0;
    const double first = fmax(a->point[0].at, b->point[0].at);
    const double last = fmin(a->point[a->points - 1].at, b->point[b->points - 1].at);
    if (!(first <= last))
        return 0;
    add_row(a, b, first, out, &rows);
    if (!(last > first))
        return rows;
    double step = most > 2 ? round_step((last - first) / (double)(most - 1)) : INFINITY;
    if (whole && step < 1)
        step = 1;
    const double before = floor(first / step);
    for (int k = 1; (before + k) * step < last && rows + 1 < most; k++)
        add_row(a, b, (before + k) * step, out, &rows);
    add_row(a, b, last, out, &rows);
    return rows;
}

const char *ga_by_name(enum ga_by axis)
{
    static const char *const names[GA_BYS] = {"updates", "examples", "time", "bytes"};
    return names[axis];
}

int ga_by_find(const char *word)
{
    for (int axis = 0; axis < GA_BYS; axis++)
        if (ga_word_same(ga_by_name((enum ga_by)axis), word))
            return axis;
    ga_fail(GA_EINPUT, "'%.40s' is no axis: expected updates, examples, time or bytes", word);
    return -1;
}

double ga_by_position(enum ga_by axis, const struct ga_update_record *record)
{
    switch (axis) {
    case GA_BY_UPDATES:
        return (double)record->update;
    case GA_BY_EXAMPLES:
        return (double)record->examples;
    case GA_BY_TIME:
        return (double)record->time_ns / 1e9;
    default:
        return (double)record->bytes;
    }
}
