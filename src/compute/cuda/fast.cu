/* The fast device's own kernels (fast_body.h); matrices are cuBLASLt's, see gemm.c. */
#include "compute/cuda/fast_body.h"
#include "compute/cuda/fast_launch.h"
#include "compute/cuda/kernel.cuh"

GA_KERNEL_OF(activate, ga_k_activate, ga_body_activate_row(&k, thread))
GA_KERNEL(slope)
GA_KERNEL(columns)
GA_KERNEL(put)
GA_KERNEL_OF(finite, ga_k_finite, const uint32_t flags = ga_body_finite(&k, thread);
             if (flags) atomicOr(k.flags, flags))
GA_KERNEL(mean_float)
