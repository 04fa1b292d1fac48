/* The fast kernels for x86-64 with AVX-512. */
#define GA_LANES             16
#define GA_FAST_KERNEL_TABLE ga_fast_kernel_avx512
#define GA_FAST_KERNEL_NAME  "avx512"
#include "compute/fast_kernel.inc"
