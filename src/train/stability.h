/*
 * How stale a mode's gradients are expected to be, and from which rate on steps on weights so stale
 * diverge. Pure arithmetic, doubles.
 *
 * On a quadratic with c = lr * lambda, w_{u+1} = w_u - c w_{u-d} is stable iff c < c_max(d) =
 * 2 sin(pi / (2 (2d + 1))) (Levin and May, "A note on difference-delay equations", 1976). A mode
 * whose staleness varies is judged by its mean: a guide. On a net lambda is the largest eigenvalue
 * of the Hessian at the present weights: a guide as well.
 */
#ifndef GA_TRAIN_STABILITY_H
#define GA_TRAIN_STABILITY_H

#include <stdbool.h>

#include "train/crew.h"

#define GA_SHAPE_BINS 64 /* staleness 0, 1, ...; the last bin holds all above */

/* Expected staleness. NaN mean: no law. */
struct ga_staleness_law {
    double mean;
    bool has_shape;
    double shape[GA_SHAPE_BINS]; /* probability of each staleness */
    double most;                 /* no staleness is larger; INFINITY: no bound */
    char text[96];               /* the law in words: "mean P-1 = 7" */
};

void ga_staleness_law(const struct ga_settings *settings, const struct ga_crew *crew,
                      struct ga_staleness_law *out);

double ga_stability_limit(double staleness);    /* c_max */
double ga_stability_critical(uint32_t updates); /* d^d / (d+1)^(d+1): critically damped */

/*
 * What the stability gauge of a run is made of: factor * lr * (lambda + weight_decay) / limit. Not
 * defined (limit NaN, `text` says why) for optimizers other than sgd, for momentum on stale
 * weights, and for an outer optimizer.
 */
struct ga_stability {
    double staleness; /* used for the limit */
    double factor;    /* on lr: the step scale of the mode, and the weight under reduce sum */
    double limit;
    bool exact;    /* on a quadratic; false: a guide there too */
    char text[96]; /* what it rests on: "staleness P-1 = 7" */
};

void ga_stability(const struct ga_settings *settings, const struct ga_crew *crew,
                  struct ga_stability *out);

#endif
