/*
 * The products of matrices that large nets are made of, by whatever CBLAS the machine has, loaded
 * at the first use; without one the fast device goes the way of small nets with all of them. One
 * thread to a call, whatever the environment says: replicas are the threads. Row-major; any thread.
 */
#ifndef GA_COMPUTE_FAST_BLAS_H
#define GA_COMPUTE_FAST_BLAS_H

#include <stdbool.h>
#include <stddef.h>

bool ga_fast_blas(void); /* there is one */

/* "OpenBLAS (Cooperlake)" to `out`, "CBLAS", or that there is none. */
void ga_fast_blas_name(char *out, size_t size);

/* outputs (count, out) = inputs (count, in) weights (out, in)^T */
void ga_fast_blas_forward(size_t count, size_t in, size_t out, const float *inputs,
                          const float *weights, float *outputs);

/* back (count, in) = deltas (count, out) weights (out, in) */
void ga_fast_blas_backward(size_t count, size_t in, size_t out, const float *deltas,
                           const float *weights, float *back);

/*
 * sums (rows, in) = deltas (count, rows of stride `out`)^T inputs (count, in): some rows of a
 * layer's gradient, `deltas` pointing at the first of them.
 */
void ga_fast_blas_sums(size_t count, size_t in, size_t out, size_t rows, const float *deltas,
                       const float *inputs, float *sums);

#endif
