/*
 * Products of matrices by cuBLASLt in plain float32 (no TF32). Matrices are stored column by
 * column, as cuBLAS has them: a row-major (rows, columns) table of ours is its (columns, rows)
 * matrix. How a product of a shape is done is asked once and kept.
 *
 * Threads: one at a time for each.
 */
#ifndef GA_COMPUTE_CUDA_GEMM_H
#define GA_COMPUTE_CUDA_GEMM_H

#include <stdbool.h>
#include <stddef.h>

struct CUstream_st;
struct ga_cuda_gemm; /* opaque, of one card */

#define GA_CUDA_GEMM_BYTES ((size_t)4 << 20) /* device memory that each takes to work in */

/* out (m, n) = op(a) op(b), a (m, k) and b (k, n) before their columns are counted: strides are m,
 * k or n, tightly packed; a transposed matrix is stored the other way round. */
struct ga_cuda_product {
    size_t m, n, k;
    bool transpose_a, transpose_b;
    const float *a, *b;
    const float *bias; /* (m) added to each column of the product; or NULL */
    bool add;          /* to `out`, instead of in its place */
    float *out;
};

/* The card is the thread's. */
int ga_cuda_gemm_open(struct ga_cuda_gemm **out, size_t place);
void ga_cuda_gemm_close(struct ga_cuda_gemm *gemm); /* NULL is fine */
int ga_cuda_gemm_run(struct ga_cuda_gemm *gemm, const struct ga_cuda_product *product,
                     struct CUstream_st *stream);

#endif
