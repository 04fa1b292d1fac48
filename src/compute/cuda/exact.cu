/*
 * The exact kernels: each gives the lines of exact_body.h a thread number. Compiled without fused
 * multiply-add and without flushing, with correctly rounded division and root, so that a card's
 * bits are the CPU's.
 */
#include "compute/cuda/exact_body.h"
#include "compute/cuda/exact_launch.h"
#include "compute/cuda/kernel.cuh"

GA_KERNEL(forward)
GA_KERNEL(backward)
GA_KERNEL_OF(mse, ga_k_loss, ga_body_mse(&k, thread))
GA_KERNEL_OF(xent, ga_k_loss, ga_body_xent(&k, thread))
GA_KERNEL_OF(quadratic, ga_k_loss, ga_body_quadratic(&k, thread))
GA_KERNEL_OF(sums, ga_k_sums, const uint32_t flags = ga_body_sums(&k, thread);
             if (flags) atomicOr(k.flags, flags))
GA_KERNEL(add)
GA_KERNEL(add_float)
GA_KERNEL(mean)
GA_KERNEL(measure)
GA_KERNEL(step)
