/*
 * What the engine is measured against: the same training written down without thought for speed or
 * order. Plain loops, float32, tanhf of libm; SGD on the mean squared error of a 1-H-1 tanh net.
 *
 * `weights` holds (3H + 1) floats in the engine's layout: H input weights, H biases, H output
 * weights, the output bias. Memory is the caller's; one thread at a time for one `weights`.
 */
#ifndef GA_BENCH_NAIVE_H
#define GA_BENCH_NAIVE_H

#include <stddef.h>
#include <stdint.h>

struct ga_naive {
    size_t hidden; /* H */
    size_t examples;
    const float *x, *y; /* (examples) */
    float lr;
    float *weights;  /* (3H + 1) */
    float *gradient; /* (3H + 1) scratch */
    float *units;    /* (H) scratch */
};

/* All examples in every update. */
void ga_naive_train(const struct ga_naive *naive, int64_t updates);

/* Mean squared error over all examples at the present weights. */
double ga_naive_loss(const struct ga_naive *naive);

#endif
