/*
 * What theory says about the staleness of the mode in force, to be drawn beside what is measured.
 * The laws and their sources are those of the update modes: staleness is exact on average for
 * pushes (each update makes P - 1 running items one older), and its shape is known for equal and
 * for exponential item times. Pure.
 */
#ifndef GA_CONSOLE_LAW_H
#define GA_CONSOLE_LAW_H

#include <stdbool.h>

#include "settings/settings.h"

#define GA_TAU_BINS 64

struct ga_law {
    bool has_mean, has_shape;
    double mean;               /* staleness on average over many pushes */
    double shape[GA_TAU_BINS]; /* probability of each staleness; the last bin holds the tail */
    double gauge, limit;       /* lr * lambda, and where that becomes unstable; NaN: unknown */
    char text[160];            /* the law in words */
};

/*
 * All but the gauge, which needs to know the data: NaN. `equal`: every item takes the same time (as
 * many examples, no jitter, no slow replica).
 */
void ga_law_make(const struct ga_settings *settings, bool equal, struct ga_law *out);

/* Largest stable lr * lambda under a delay of d updates: 2 sin(pi / (2 (2 d + 1))). */
double ga_law_limit(double delay);

#endif
