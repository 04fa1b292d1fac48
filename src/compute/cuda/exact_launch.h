/*
 * Starting the exact kernels on a stream. Each launch names the kernel's argument (exact_body.h)
 * and gives the launch's own error as a number of cudaError_t; what goes wrong later shows at the
 * stream's next call. CUDA's types stay in the files that use them: a stream is a cudaStream_t.
 */
#ifndef GA_COMPUTE_CUDA_EXACT_LAUNCH_H
#define GA_COMPUTE_CUDA_EXACT_LAUNCH_H

#include "compute/cuda/exact_body.h"

struct CUstream_st;

#ifdef __cplusplus
extern "C" {
#endif

int ga_launch_forward(const struct ga_k_forward *k, struct CUstream_st *stream);
int ga_launch_backward(const struct ga_k_backward *k, struct CUstream_st *stream);
int ga_launch_mse(const struct ga_k_loss *k, struct CUstream_st *stream);
int ga_launch_xent(const struct ga_k_loss *k, struct CUstream_st *stream);
int ga_launch_quadratic(const struct ga_k_loss *k, struct CUstream_st *stream);
int ga_launch_sums(const struct ga_k_sums *k, struct CUstream_st *stream);
int ga_launch_add(const struct ga_k_add *k, struct CUstream_st *stream);
int ga_launch_add_float(const struct ga_k_add_float *k, struct CUstream_st *stream);
int ga_launch_mean(const struct ga_k_mean *k, struct CUstream_st *stream);
int ga_launch_measure(const struct ga_k_measure *k, struct CUstream_st *stream);
int ga_launch_step(const struct ga_k_step *k, struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif

#endif
