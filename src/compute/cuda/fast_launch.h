/* Starting the fast device's kernels, as exact_launch.h has it. */
#ifndef GA_COMPUTE_CUDA_FAST_LAUNCH_H
#define GA_COMPUTE_CUDA_FAST_LAUNCH_H

#include "compute/cuda/exact_launch.h"
#include "compute/cuda/fast_body.h"

#ifdef __cplusplus
extern "C" {
#endif

int ga_launch_activate(const struct ga_k_activate *k, struct CUstream_st *stream);
int ga_launch_slope(const struct ga_k_slope *k, struct CUstream_st *stream);
int ga_launch_finite(const struct ga_k_finite *k, struct CUstream_st *stream);
int ga_launch_put(const struct ga_k_put *k, struct CUstream_st *stream);
int ga_launch_columns(const struct ga_k_columns *k, struct CUstream_st *stream);
int ga_launch_mean_float(const struct ga_k_mean_float *k, struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif

#endif
