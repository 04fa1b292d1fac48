/* The fast kernels for any machine: vectors of four. */
#define GA_LANES             4
#define GA_FAST_KERNEL_TABLE ga_fast_kernel_baseline
#define GA_FAST_KERNEL_NAME  "baseline"
#include "compute/fast_kernel.inc"
