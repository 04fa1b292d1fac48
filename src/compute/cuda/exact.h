/*
 * The exact CUDA device. Weights, optimizer state and data are the host's: a micro-batch's rows and
 * the weights go up in one copy, losses come back in one, and gradient sums stay on the card. All
 * work of a context goes to one stream for each card, and each call ends when its stream has.
 */
#ifndef GA_COMPUTE_CUDA_EXACT_H
#define GA_COMPUTE_CUDA_EXACT_H

#include "compute/compute.h"

extern const struct ga_compute ga_compute_cuda_exact;

#endif
