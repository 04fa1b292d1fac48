/*
 * What one thread of each kernel of the fast device does, beside those it shares with the exact one
 * (exact_body.h, which has the rules for both). Rows lie example by example: (count, units) floats.
 */
#ifndef GA_COMPUTE_CUDA_FAST_BODY_H
#define GA_COMPUTE_CUDA_FAST_BODY_H

#include "compute/cuda/exact_body.h"

/* rows = h(rows), and h' of them where it is kept. */
struct ga_k_activate {
    size_t threads; /* count * units */
    float *rows;
    float *slopes; /* with gelu only; else NULL */
    int32_t activation;
};

GA_BODY void ga_body_activate_row(const struct ga_k_activate *k, size_t thread)
{
    float slope = 0.0f;
    k->rows[thread] = ga_body_activate(k->activation, k->rows[thread], &slope);
    if (k->slopes)
        k->slopes[thread] = slope;
}

/* Whether values are finite. */
struct ga_k_finite {
    size_t threads;
    const float *values; /* (threads) */
    uint32_t *flags;     /* one word, or-ed */
};

GA_BODY uint32_t ga_body_finite(const struct ga_k_finite *k, size_t thread)
{
    return k->values[thread] - k->values[thread] == 0.0f ? 0 : GA_SUM_NONFINITE;
}

/* sums = or += values */
struct ga_k_put {
    size_t threads;
    const float *values;
    float *sums;
    int32_t add;
};

GA_BODY void ga_body_put(const struct ga_k_put *k, size_t thread)
{
    k->sums[thread] = k->values[thread] + (k->add ? k->sums[thread] : 0.0f);
}

/* deltas *= h' at the rows. */
struct ga_k_slope {
    size_t threads; /* count * units */
    float *deltas;
    const float *rows, *slopes; /* slopes with gelu only */
    int32_t activation;
};

GA_BODY void ga_body_slope(const struct ga_k_slope *k, size_t thread)
{
    k->deltas[thread] = ga_body_times_slope(k->activation, k->deltas[thread], k->rows[thread],
                                            k->slopes ? k->slopes[thread] : 0.0f);
}

/* Sums over examples of a column of deltas, or of deltas times rows; thread = column. */
struct ga_k_columns {
    size_t threads; /* columns */
    size_t count;
    const float *rows; /* (count, threads), or NULL: ones */
    const float *deltas;
    float *sums; /* (threads) */
    int32_t add; /* to what is there */
};

GA_BODY void ga_body_columns(const struct ga_k_columns *k, size_t thread)
{
    float sum = k->add ? k->sums[thread] : 0.0f;
    for (size_t e = 0; e < k->count; e++) {
        const size_t at = e * k->threads + thread;
        sum += k->rows ? k->rows[at] * k->deltas[at] : k->deltas[at];
    }
    k->sums[thread] = sum;
}

/* As ga_k_mean for float sums. */
struct ga_k_mean_float {
    size_t threads; /* blocks of GA_BODY_BLOCK parameters */
    size_t parameters;
    const float *sums;
    double divisor;
    float *gradient; /* (parameters), or NULL */
    double *squares; /* (threads) */
};

GA_BODY void ga_body_mean_float(const struct ga_k_mean_float *k, size_t thread)
{
    const size_t first = thread * GA_BODY_BLOCK;
    const size_t left = k->parameters - first;
    const size_t end = first + (left < GA_BODY_BLOCK ? left : GA_BODY_BLOCK);
    double sum = 0.0;
    for (size_t i = first; i < end; i++) {
        const float g = (float)((double)k->sums[i] / k->divisor);
        if (k->gradient)
            k->gradient[i] = g;
        sum += ga_term_square(g);
    }
    k->squares[thread] = sum;
}

#endif
