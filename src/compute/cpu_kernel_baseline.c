/* The exact kernels for any machine: vectors of 128 bits. */
#define GA_LANES            4
#define GA_CPU_KERNEL_TABLE ga_cpu_kernel_baseline
#define GA_CPU_KERNEL_NAME  "baseline"
#include "compute/cpu_kernel.inc"
