/*
 * The exact kernels: each gives the lines of exact_body.h a thread number. Compiled without fused
 * multiply-add and without flushing, with correctly rounded division and root, so that a card's
 * bits are the CPU's.
 */
#include "compute/cuda/exact_body.h"
#include "compute/cuda/exact_launch.h"

#define THREADS 128

/* A grid that covers `threads`, capped: kernels stride over what is left. */
static unsigned blocks_for(size_t threads)
{
    const size_t blocks = (threads + THREADS - 1) / THREADS;
    return (unsigned)(blocks < 65535 ? blocks : 65535);
}

#define EACH(thread, k)                                                                            \
    for (size_t thread = blockIdx.x * (size_t)blockDim.x + threadIdx.x; thread < (k).threads;      \
         thread += (size_t)gridDim.x * blockDim.x)

#define KERNEL(name, body)                                                                         \
    extern "C" __global__ void ga_kernel_##name(struct ga_k_##name k)                              \
    {                                                                                              \
        EACH(thread, k)                                                                            \
        {                                                                                          \
            body;                                                                                  \
        }                                                                                          \
    }                                                                                              \
    extern "C" int ga_launch_##name(const struct ga_k_##name *k, struct CUstream_st *stream)      \
    {                                                                                              \
        if (k->threads == 0)                                                                       \
            return (int)cudaSuccess;                                                                    \
        ga_kernel_##name<<<blocks_for(k->threads), THREADS, 0, stream>>>(*k);                      \
        return (int)cudaGetLastError();                                                            \
    }

#define LOSS(name)                                                                                 \
    extern "C" __global__ void ga_kernel_##name(struct ga_k_loss k)                                \
    {                                                                                              \
        EACH(thread, k)                                                                            \
        {                                                                                          \
            ga_body_##name(&k, thread);                                                            \
        }                                                                                          \
    }                                                                                              \
    extern "C" int ga_launch_##name(const struct ga_k_loss *k, struct CUstream_st *stream)        \
    {                                                                                              \
        if (k->threads == 0)                                                                       \
            return (int)cudaSuccess;                                                                    \
        ga_kernel_##name<<<blocks_for(k->threads), THREADS, 0, stream>>>(*k);                      \
        return (int)cudaGetLastError();                                                            \
    }

KERNEL(forward, ga_body_forward(&k, thread))
KERNEL(backward, ga_body_backward(&k, thread))
LOSS(mse)
LOSS(xent)
LOSS(quadratic)
KERNEL(sums, const uint32_t flags = ga_body_sums(&k, thread); if (flags) atomicOr(k.flags, flags))
KERNEL(add, ga_body_add(&k, thread))
KERNEL(add_float, ga_body_add_float(&k, thread))
KERNEL(mean, ga_body_mean(&k, thread))
KERNEL(step, ga_body_step(&k, thread))
