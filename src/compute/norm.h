/* The block rule of the norms (compute.h), shared by norm.c and the devices. */
#ifndef GA_COMPUTE_NORM_H
#define GA_COMPUTE_NORM_H

#include <stddef.h>

#define GA_NORM_BLOCK 256                 /* squares are added in order within a block */
#define GA_NORM_PIECE (4 * GA_NORM_BLOCK) /* four blocks go side by side */

/* `total` and behind it the sums of squares of the blocks of `values`, in order. What goes in
 * several calls is cut at multiples of GA_NORM_PIECE. */
double ga_norm_add(double total, const float *values, size_t count);

#endif
