/*
 * The kernels of tiny nets: one block, which keeps all in its shared memory. Compiled like the
 * exact ones, so that what is computed does not depend on how the compiler fuses.
 */
#include "compute/cuda/tiny_body.h"
#include "compute/cuda/tiny_launch.h"

static __device__ struct ga_tiny_crew crew_here()
{
    struct ga_tiny_crew crew;
    crew.thread = threadIdx.x;
    crew.threads = blockDim.x;
    crew.warp = threadIdx.x / GA_BODY_LANES;
    crew.warps = blockDim.x / GA_BODY_LANES;
    crew.leads = threadIdx.x % GA_BODY_LANES == 0;
    return crew;
}

extern __shared__ double ga_tiny_room[];

extern "C" __global__ void __launch_bounds__(GA_TINY_THREADS)
    ga_kernel_tiny(const __grid_constant__ struct ga_k_tiny k)
{
    const struct ga_tiny_crew crew = crew_here();
    ga_body_tiny(&k, &crew, (float *)ga_tiny_room);
}

extern "C" __global__ void __launch_bounds__(GA_TINY_THREADS)
    ga_kernel_burst(const __grid_constant__ struct ga_k_burst k)
{
    const struct ga_tiny_crew crew = crew_here();
    ga_body_burst(&k, &crew, (float *)ga_tiny_room);
}

extern "C" int ga_launch_tiny(const struct ga_k_tiny *k, struct CUstream_st *stream)
{
    ga_kernel_tiny<<<1, GA_TINY_THREADS, k->net.at.floats * sizeof(float), stream>>>(*k);
    return (int)cudaGetLastError();
}

extern "C" int ga_launch_burst(const struct ga_k_burst *k, struct CUstream_st *stream)
{
    ga_kernel_burst<<<1, GA_TINY_THREADS, k->net.at.floats * sizeof(float), stream>>>(*k);
    return (int)cudaGetLastError();
}
