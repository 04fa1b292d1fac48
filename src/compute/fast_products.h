/*
 * The products of matrices that large nets are made of, all row-major, float32. There are two
 * makers: the kernels, with AVX-512 for layers whose panels stay in a core's own cache, and a
 * library of BLAS (fast_blas.h), where there is one, for all others. Scratch is the caller's; any
 * thread.
 */
#ifndef GA_COMPUTE_FAST_PRODUCTS_H
#define GA_COMPUTE_FAST_PRODUCTS_H

#include <stddef.h>

/* Examples that the kernels bring into panels at a time. */
#define GA_FAST_BLOCK 128

/* Rows that tiles of the kernels divide. */
#define GA_FAST_TILES 24

struct ga_fast_product {
    size_t count, in, out;
    float *scratch; /* GA_FAST_BLOCK * max(in, out, 32) floats; BLAS needs none */
};

struct ga_fast_products {
    /* outputs (count, out) = inputs (count, in) weights (out, in)^T */
    void (*forward)(const struct ga_fast_product *product, const float *inputs,
                    const float *weights, float *outputs);

    /* back (count, in) = deltas (count, out) weights (out, in) */
    void (*backward)(const struct ga_fast_product *product, const float *deltas,
                     const float *weights, float *back);

    /*
     * sums (rows, in) = deltas (count, rows of stride `out`)^T inputs (count, in): some rows of a
     * layer's gradient, `deltas` pointing at the first of them.
     */
    void (*sums)(const struct ga_fast_product *product, size_t rows, const float *deltas,
                 const float *inputs, float *sums);
};

#endif
