/*
 * The sharpest curvature of a run's loss: the largest eigenvalue lambda_max of the Hessian of the
 * mean loss over all training rows, at the newest weights.
 *
 * A quadratic has it in closed form (its Hessian is diagonal). A net's is found by power iteration:
 * Hessian-vector products are central differences of the exact gradient sums along the step that
 * float32 weights really make, divided in double; the start vector is the same for every run. It
 * ends when the length of the product moves by less than GA_SHARPNESS_TOLERANCE of itself, twice in
 * a row; the differences themselves are good to about 1e-5. Where negative eigenvalues are as large
 * the spectrum is shifted by that length and iterated again.
 */
#ifndef GA_TRAIN_SHARPNESS_H
#define GA_TRAIN_SHARPNESS_H

#include <stdbool.h>
#include <stdint.h>

#include "train/run.h"
#include "train/stability.h"

#define GA_SHARPNESS_TOLERANCE  1e-6
#define GA_SHARPNESS_ITERATIONS 300 /* at the most */

struct ga_sharpness {
    double lambda; /* NaN: not finite there */
    bool exact;    /* closed form */
    bool converged;
    uint32_t iterations;
};

/* Known until the weights change. Fails on memory only. */
int ga_run_sharpness(struct ga_run *run, struct ga_sharpness *out);

/*
 * factor * lr * (lambda + weight_decay) over the limit of the run's mode and its staleness, with
 * the settings that the next window will have: above 1 steps diverge on a quadratic. NaN where
 * train/stability.h knows no limit.
 */
double ga_run_gauge(struct ga_run *run);
double ga_run_step_curvature(struct ga_run *run); /* the gauge's numerator */
void ga_run_stability(const struct ga_run *run, struct ga_stability *out);

/* The same with the settings in force, as laws are measured under those. */
double ga_run_step_curvature_in_force(struct ga_run *run);
void ga_run_stability_in_force(const struct ga_run *run, struct ga_stability *out);

#endif
