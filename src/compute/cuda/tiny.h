/*
 * Tiny nets on a card (tiny_body.h): a micro-batch in one launch, many updates in another. Which
 * nets and batches are tiny depends on their sizes alone, so that a burst and the gradients before
 * and after it are made by the same lines. The bound is the shared memory that a block has on every
 * card: what fills it takes a block about as long as the launches alone that it saves.
 */
#ifndef GA_COMPUTE_CUDA_TINY_H
#define GA_COMPUTE_CUDA_TINY_H

#include "compute/cuda/seat.h"

bool ga_cuda_tiny_fits(const struct ga_net *net, size_t count);

/* Queues a micro-batch that the seat has been sent: sums, losses, correct and flags. */
int ga_cuda_tiny_gradient(const struct ga_cuda_seat *seat, const struct ga_net *net,
                          const struct ga_batch *batch, enum ga_into into, float *sums);

/*
 * Makes the updates of a burst whose batch and weights are filled in, and waits for them; `weight`
 * is the sum of the example weights. GA_ENOMEM has done nothing.
 */
int ga_cuda_tiny_burst(struct ga_cuda_seat *seat, const struct ga_net *net,
                       const struct ga_burst *burst, double weight, size_t *done);

#endif
