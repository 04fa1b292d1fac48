/*
 * The CUDA devices: exact, with the CPU's bits, and fast, with float32 sums and matrices by
 * cuBLASLt.
 */
#ifndef GA_COMPUTE_CUDA_EXACT_H
#define GA_COMPUTE_CUDA_EXACT_H

#include "compute/compute.h"

extern const struct ga_compute ga_compute_cuda_exact, ga_compute_cuda_fast;

#endif
