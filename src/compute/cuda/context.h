/*
 * What the exact and the fast device share: a context, the way of a micro-batch through a card, and
 * its tally. They differ in how rows lie, how sums are kept, and in what is done layer by layer.
 *
 * Data are the host's: a micro-batch's rows go up in one copy, losses come back in one. Gradient
 * sums stay on the card, and so do weights, optimizer state and mean gradients that are held
 * (held.h); others go up and down with each call. All work of a context goes
 * to one stream for each card, and each call ends when its stream has.
 */
#ifndef GA_COMPUTE_CUDA_CONTEXT_H
#define GA_COMPUTE_CUDA_CONTEXT_H

#include "compute/cuda/seat.h"

struct ga_cuda_numerics {
    bool fast; /* rows lie example by example, sums are n floats; else unit by unit, 2n doubles */
    int (*forward)(struct ga_cuda_seat *seat, const struct ga_net *net);
    int (*backward)(struct ga_cuda_seat *seat, const struct ga_net *net, enum ga_into into,
                    void *sums);
    void (*clear)(const struct ga_net *net, void *sums);
};

int ga_cuda_context_open(struct ga_context **out, const struct ga_net *net,
                         const struct ga_cuda_numerics *numerics);
void ga_cuda_context_close(struct ga_context *context);
int ga_cuda_context_gradient(struct ga_context *context, const float *weights,
                             const struct ga_batch *batch, enum ga_into into, void *sums,
                             struct ga_tally *tally);
/* Of fast numerics. */
int ga_cuda_context_gradient_in_parts(struct ga_context *context, const float *weights,
                                      const struct ga_batch *batch, void *sums,
                                      struct ga_tally *tally, const struct ga_told *told);
int ga_cuda_context_evaluate(struct ga_context *context, const float *weights,
                             const struct ga_batch *batch, struct ga_tally *tally);
/* Of fast numerics; see ga_compute.burst. More updates than this are none. */
#define GA_CUDA_BURST_MOST ((size_t)1 << 16)
size_t ga_cuda_context_burst(struct ga_context *context, const struct ga_burst *burst);
int ga_cuda_context_predict(struct ga_context *context, const float *weights,
                            const struct ga_batch *batch, float *outputs);

/* Of both devices. */
extern const struct ga_device_memory ga_cuda_memory;
void *ga_cuda_alloc_first(size_t bytes); /* on card 0 */

#endif
