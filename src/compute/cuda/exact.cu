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
GA_KERNEL(add)
GA_KERNEL(add_float)
GA_KERNEL(mean)
GA_KERNEL(measure)
GA_KERNEL(step)

/* The lanes' sums come together in lane 0. */
static __device__ void gather(double sums[GA_BODY_PATCH])
{
    GA_BODY_UNROLL
    for (int s = 0; s < GA_BODY_PATCH; s++)
        for (int apart = GA_BODY_LANES / 2; apart > 0; apart /= 2)
            sums[s] += __shfl_down_sync(0xffffffffu, sums[s], apart);
}

extern "C" __global__ void ga_kernel_sums(struct ga_k_sums k)
{
    const size_t patches = ga_body_patches(&k);
    const size_t warps = (size_t)gridDim.x * blockDim.x / GA_BODY_LANES;
    const size_t lane = threadIdx.x % GA_BODY_LANES;
    for (size_t patch = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / GA_BODY_LANES;
         patch < patches; patch += warps) {
        double high[GA_BODY_PATCH], low[GA_BODY_PATCH];
        const uint32_t flags = ga_body_sums(&k, patch, lane, high, low);
        if (flags)
            atomicOr(k.flags, flags);
        __syncwarp();
        gather(high);
        gather(low);
        if (lane == 0)
            ga_body_put_sums(&k, patch, high, low);
    }
}

extern "C" int ga_launch_sums(const struct ga_k_sums *k, struct CUstream_st *stream)
{
    static_assert(GA_THREADS % GA_BODY_LANES == 0, "warps are whole");
    if (k->threads == 0)
        return (int)cudaSuccess;
    ga_kernel_sums<<<ga_blocks_for(ga_body_patches(k) * GA_BODY_LANES), GA_THREADS, 0,
                     stream>>>(*k);
    return (int)cudaGetLastError();
}
