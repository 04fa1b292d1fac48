/* The exact kernels for x86-64 with AVX2, compiled with -mavx2 and without FMA. */
#define GA_LANES            8
#define GA_CPU_KERNEL_TABLE ga_cpu_kernel_avx2
#define GA_CPU_KERNEL_NAME  "avx2"
#include "compute/cpu_kernel.inc"
