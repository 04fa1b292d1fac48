/*
 * Inside the exact CPU device: the work area of a context and the table of kernels. One source
 * (cpu_kernel.inc) is compiled once for each instruction set; all give the same bits, because lanes
 * go over examples and change no order of operations.
 *
 * Examples lie in chunks of 64, and within a chunk unit by unit: rows[k] holds for chunk c the
 * outputs of layer k (rows[0]: the inputs) as (chunk, width[k], stride) floats. The stride is 64
 * examples, in the last chunk what is left, rounded up to whole vectors. Examples that only fill up
 * a vector hold zeros and contribute nothing.
 */
#ifndef GA_COMPUTE_CPU_KERNEL_H
#define GA_COMPUTE_CPU_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compute/compute.h"
#include "compute/net.h"

#define GA_CPU_CHUNK 64 /* examples */

#define GA_CPU_SMALL 128 /* parameters up to which a net may be small: see cpu_small.inc */

struct ga_cpu_work {
    const struct ga_net *net;
    float *rows[GA_NET_LAYERS + 1];
    float *deltas[GA_NET_LAYERS + 1]; /* d loss / d (input of the activation); from 1 */
    float *slopes[GA_NET_LAYERS + 1]; /* derivatives of the activation, with gelu only; from 1 */
    double *wide;                     /* ones, then a layer's rows as doubles, GA_CPU_CHUNK apart */
    bool small;                       /* which of two ways is taken; they give the same bits */
};

struct ga_cpu_kernel {
    const char *name;

    /* The work area has room for batch->count examples. */
    void (*gradient)(const struct ga_cpu_work *work, const float *weights,
                     const struct ga_batch *batch, enum ga_into into, double *sums,
                     struct ga_tally *tally);

    /* One chunk of room is enough for these two. `outputs` (count, width[layers]). */
    void (*evaluate)(const struct ga_cpu_work *work, const float *weights,
                     const struct ga_batch *batch, struct ga_tally *tally);
    void (*predict)(const struct ga_cpu_work *work, const float *weights,
                    const struct ga_batch *batch, float *outputs);

    void (*add)(double *to, const double *from, size_t count);

    /* out[i] = (float)((high[i] + low[i]) / divisor) where `out` is not NULL; gives their norm. */
    double (*mean)(const double *high, const double *low, double divisor, size_t count, float *out);

    void (*step)(const struct ga_step *step, size_t count, const float *gradient,
                 const float *weights, const float *state, float *new_weights, float *new_state);
};

extern const struct ga_cpu_kernel ga_cpu_kernel_baseline;
#ifdef GA_CPU_AVX2
extern const struct ga_cpu_kernel ga_cpu_kernel_avx2;
#endif

/* Kernels that this build has and this machine can run, best first; NULL behind the last. */
#define GA_CPU_KERNELS 2
void ga_cpu_kernels(const struct ga_cpu_kernel *out[GA_CPU_KERNELS + 1]);

/* The one in use: the best, or what GA_CPU_KERNEL names. NULL and GA_EINPUT when it names none. */
const struct ga_cpu_kernel *ga_cpu_kernel(void);

#endif
