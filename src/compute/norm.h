/* The block rule of the norms, shared by norm.c and the devices. */
#ifndef GA_COMPUTE_NORM_H
#define GA_COMPUTE_NORM_H

#include <stddef.h>

#define GA_NORM_BLOCK 256

/* Sum of squares in double, in order. Callers go in blocks of GA_NORM_BLOCK and add the answers in
 * order. */
double ga_square_sum(const float *values, size_t count);

#endif
