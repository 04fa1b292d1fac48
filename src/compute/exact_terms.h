/*
 * The exact devices' formulas, written once: those of a vector of examples as macros, because the
 * same text serves floats and the CPU kernels' vectors; the others as functions of single values.
 * What is computed in which order around them stands with the kernels (cpu_*.inc,
 * cuda/exact_body.h).
 *
 * Inline and free of state; the file compiles as C and as CUDA.
 */
#ifndef GA_COMPUTE_EXACT_TERMS_H
#define GA_COMPUTE_EXACT_TERMS_H

#include "compute/exact_math.h"

/* gelu(z) = z * P(z), with the distribution function P and its density of the normal law. */
#define GA_TERM_GELU(z, below)                ((z) * (below))
#define GA_TERM_GELU_SLOPE(z, below, density) ((below) + (z) * (density))

/* s times the slope of an activation whose output is a. */
#define GA_TERM_TANH_BACK(s, a)    ((s) * (1.0f - (a) * (a)))
#define GA_TERM_SIGMOID_BACK(s, a) ((s) * ((a) * (1.0f - (a))))

/* mse: the loss of an output with error e, and its delta; a quadratic's coordinate, which has e as
 * its delta, before the half. */
#define GA_TERM_MSE(e)                ((e) * (e))
#define GA_TERM_MSE_DELTA(e)          ((e) + (e))
#define GA_TERM_QUADRATIC(lambda, e)  ((lambda) * ((e) * (e)))
#define GA_TERM_QUADRATIC_LOSS(terms) (0.5f * (terms))

/* xent, from the sum of exp(y_k - largest) over all but the first largest output: what deltas are
 * divided by, and the loss. */
#define GA_TERM_XENT_SUM(beside_largest) (1.0f + (beside_largest))

GA_EXACT_DOUBLE float ga_term_xent_loss(float largest, float at_label, float beside_largest)
{
    const double distance = (double)largest - (double)at_label;
    return (float)(ga_exact_log(1.0 + (double)beside_largest) + distance);
}

/* An element of the mean gradient. */
GA_EXACT_DOUBLE float ga_term_mean(double high, double low, double divisor)
{
    return (float)((high + low) / divisor);
}

/* Of a norm's sum, in double. */
GA_EXACT_DOUBLE double ga_term_square(float a)
{
    return (double)a * (double)a;
}

GA_EXACT_DOUBLE double ga_term_distance(float a, float b)
{
    const double apart = (double)a - (double)b;
    return apart * apart;
}

GA_EXACT_DOUBLE double ga_term_product(float a, float b)
{
    return (double)a * (double)b;
}

#endif
