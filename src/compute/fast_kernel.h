/*
 * Inside the fast CPU device: the work area of a context and the table of kernels. One source
 * (fast_kernel.inc) is compiled once for each instruction set; sums are float32, so their last bits
 * depend on it.
 *
 * A net goes one of two ways, by its size. Small ones go in chunks of 64 examples, each through all
 * layers and into the sums, unit by unit with the examples beside each other: rows[k] is (width[k],
 * stride), the stride being the chunk's examples rounded up to whole vectors. Large ones go layer
 * by layer, example by example, as products of matrices: rows[k] is (examples, width[k]).
 */
#ifndef GA_COMPUTE_FAST_KERNEL_H
#define GA_COMPUTE_FAST_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compute/compute.h"
#include "compute/fast_products.h"
#include "compute/net.h"

#define GA_FAST_CHUNK 64 /* examples */

struct ga_fast_kernel;

struct ga_fast_work {
    const struct ga_net *net;
    const struct ga_fast_kernel *kernel;
    size_t room; /* examples that the rows have room for */
    float *rows[GA_NET_LAYERS + 1];
    float *deltas[GA_NET_LAYERS + 1]; /* d loss / d (input of the activation); from 1 */
    float *slopes[GA_NET_LAYERS + 1]; /* derivatives of the activation, with gelu only; from 1 */
    float *own;      /* the micro-batch's own sums: all, or of large nets own_count of them */
    float *chunk;    /* large nets: outputs and deltas of one chunk, (2, width[layers],
                      * GA_FAST_CHUNK) */
    float *products; /* large nets: scratch of products */
    size_t own_count;
    bool layered; /* a large net */
};

/* Rows of examples lying one after another. */
struct ga_fast_rows {
    size_t count, width;
    const float *bias; /* (width) or NULL */
    float *rows;       /* (count, width) */
    float *slopes;     /* (count, width), with gelu only */
};

struct ga_fast_kernel {
    const char *name;
    const struct ga_fast_products *products; /* NULL without fused multiply-add */
    bool before_blas; /* the products are the faster ones where their panels stay in a cache */

    /* Small nets: whole batches. sums = onto + the batch's own (onto NULL: 0; may be sums). */
    void (*gradient)(const struct ga_fast_work *work, const float *weights,
                     const struct ga_batch *batch, const float *onto, float *sums,
                     struct ga_tally *tally, double *square);
    void (*evaluate)(const struct ga_fast_work *work, const float *weights,
                     const struct ga_batch *batch, struct ga_tally *tally);
    void (*predict)(const struct ga_fast_work *work, const float *weights,
                    const struct ga_batch *batch, float *outputs);

    /* Large nets, between products. Row e is example `first` + e of the batch. */
    void (*gather)(const struct ga_batch *batch, size_t first, const struct ga_fast_rows *to);
    void (*activate)(enum ga_net_activation activation, const struct ga_fast_rows *r);
    void (*lose)(const struct ga_fast_work *work, const struct ga_batch *batch, size_t first,
                 const struct ga_fast_rows *outputs, float *deltas, struct ga_tally *tally);
    /* deltas *= slope of the activation whose outputs are the rows. */
    void (*descend)(enum ga_net_activation activation, const struct ga_fast_rows *r, float *deltas);
    void (*columns)(const float *deltas, size_t count, size_t width, float *sums); /* their sums */
    void (*count)(const struct ga_batch *batch, struct ga_tally *tally);

    /* sums = onto + own, sums of squares of `own` in double. `onto` NULL: own is where the sums are
     * already, and only the squares are wanted. */
    double (*join)(const float *onto, const float *own, float *sums, size_t count);

    /* What compute.h says of mean_part() and step_part(). */
    void (*mean)(const struct ga_part *part, const float *const *sums, size_t ranks, double divisor,
                 float *gradient, double *square, double *dots);
    void (*step)(const struct ga_part *part, size_t parameters, const struct ga_step *step,
                 const struct ga_step_blocks *blocks, double *squares);

    /* Small nets of one part: as ga_compute.burst. */
    size_t (*burst)(const struct ga_fast_work *work, const struct ga_burst *burst);
};

extern const struct ga_fast_kernel ga_fast_kernel_baseline;
#ifdef GA_CPU_AVX2
extern const struct ga_fast_kernel ga_fast_kernel_avx2;
extern const struct ga_fast_kernel ga_fast_kernel_avx512;
#endif

/* Kernels that this build has and this machine can run, best first; NULL behind the last. */
#define GA_FAST_KERNELS 3
void ga_fast_kernels(const struct ga_fast_kernel *out[GA_FAST_KERNELS + 1]);

/* The one in use: the best, or what GA_CPU_KERNEL names. NULL and GA_EINPUT when it names none. */
const struct ga_fast_kernel *ga_fast_kernel(void);

/* The same for what works without a context: never NULL, since opening one reports the error. */
const struct ga_fast_kernel *ga_fast_any_kernel(void);

#endif
