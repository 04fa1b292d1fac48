/* Starting the kernels of tiny nets, as exact_launch.h has it. */
#ifndef GA_COMPUTE_CUDA_TINY_LAUNCH_H
#define GA_COMPUTE_CUDA_TINY_LAUNCH_H

#include "compute/cuda/tiny_body.h"

struct CUstream_st;

#ifdef __cplusplus
extern "C" {
#endif

int ga_launch_tiny(const struct ga_k_tiny *k, struct CUstream_st *stream);
int ga_launch_burst(const struct ga_k_burst *k, struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif

#endif
