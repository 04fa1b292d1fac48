/* The fast kernels for x86-64 with AVX2 and FMA. */
#define GA_LANES             8
#define GA_FAST_KERNEL_TABLE ga_fast_kernel_avx2
#define GA_FAST_KERNEL_NAME  "avx2"
#include "compute/fast_kernel.inc"
