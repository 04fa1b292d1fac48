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

/* What is done to a product on its way to `out`. */
enum ga_cuda_epilogue {
    GA_CUDA_PLAIN,
    GA_CUDA_BIAS,
    GA_CUDA_RELU,  /* x > 0 ? x : 0 of product and bias, and which were in the mask; may lose NaN */
    GA_CUDA_UNRELU /* 0 where the mask says so; sums over each row of what is left to `row_sums` */
};

/* out (m, n) = op(a) op(b), a (m, k) and b (k, n) before their columns are counted: strides are m,
 * k or n, tightly packed; a transposed matrix is stored the other way round. */
struct ga_cuda_product {
    size_t m, n, k;
    bool transpose_a, transpose_b;
    const float *a, *b;
    enum ga_cuda_epilogue epilogue;
    const float *bias; /* (m) added to each column of the product; or NULL with RELU */
    float *row_sums;   /* (m) with UNRELU; or NULL */
    void *mask;        /* (n) columns of ga_cuda_mask_bits(m) bits, 16-byte aligned */
    bool add;          /* to `out`, instead of in its place */
    float *out;
};

/* Of a column of a mask: a multiple of 128. */
static inline size_t ga_cuda_mask_bits(size_t m)
{
    return (m + 127) / 128 * 128;
}

/* The card is the thread's. */
int ga_cuda_gemm_open(struct ga_cuda_gemm **out, size_t place);
void ga_cuda_gemm_close(struct ga_cuda_gemm *gemm); /* NULL is fine */
/* Whether cuBLASLt does this product; false also with an error, which run() repeats. */
bool ga_cuda_gemm_knows(struct ga_cuda_gemm *gemm, const struct ga_cuda_product *product);
int ga_cuda_gemm_run(struct ga_cuda_gemm *gemm, const struct ga_cuda_product *product,
                     struct CUstream_st *stream);

#endif
