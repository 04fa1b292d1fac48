/*
 * How a body becomes a kernel and a function that starts it: threads stride over what is left, so any
 * grid does; it is capped.
 */
#ifndef GA_COMPUTE_CUDA_KERNEL_CUH
#define GA_COMPUTE_CUDA_KERNEL_CUH

#define GA_THREADS 128

static unsigned ga_blocks_for(size_t threads)
{
    const size_t blocks = (threads + GA_THREADS - 1) / GA_THREADS;
    return (unsigned)(blocks < 65535 ? blocks : 65535);
}

/* ga_kernel_NAME takes a struct TYPE k; BODY is done for each number `thread`. */
#define GA_KERNEL_OF(name, type, body)                                                             \
    extern "C" __global__ void ga_kernel_##name(struct type k)                                     \
    {                                                                                              \
        for (size_t thread = blockIdx.x * (size_t)blockDim.x + threadIdx.x; thread < k.threads;    \
             thread += (size_t)gridDim.x * blockDim.x) {                                           \
            body;                                                                                  \
        }                                                                                          \
    }                                                                                              \
    extern "C" int ga_launch_##name(const struct type *k, struct CUstream_st *stream)              \
    {                                                                                              \
        if (k->threads == 0)                                                                       \
            return (int)cudaSuccess;                                                               \
        ga_kernel_##name<<<ga_blocks_for(k->threads), GA_THREADS, 0, stream>>>(*k);                \
        return (int)cudaGetLastError();                                                            \
    }

#define GA_KERNEL(name) GA_KERNEL_OF(name, ga_k_##name, ga_body_##name(&k, thread))

#endif
