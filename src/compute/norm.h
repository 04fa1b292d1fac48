/*
 * The block rule of the norms (compute.h): squares are added in order within blocks of 256, and the
 * sums of blocks in order. Four blocks go side by side: four chains of additions instead of one.
 */
#ifndef GA_COMPUTE_NORM_H
#define GA_COMPUTE_NORM_H

#include <stddef.h>

#define GA_NORM_BLOCK 256
#define GA_NORM_PIECE (4 * GA_NORM_BLOCK)

/* `total` and behind it the sums of the blocks of up to GA_NORM_PIECE squares. */
static inline double ga_norm_add(double total, const double *squares, size_t count)
{
    size_t at = 0;
    if (count == GA_NORM_PIECE) {
        double sum[4] = {0.0, 0.0, 0.0, 0.0};
        for (size_t i = 0; i < GA_NORM_BLOCK; i++) {
            for (size_t block = 0; block < 4; block++)
                sum[block] += squares[i + block * GA_NORM_BLOCK];
        }
        return (((total + sum[0]) + sum[1]) + sum[2]) + sum[3];
    }
    while (at < count) {
        const size_t end = count - at < GA_NORM_BLOCK ? count : at + GA_NORM_BLOCK;
        double sum = 0.0;
        for (; at < end; at++)
            sum += squares[at];
        total += sum;
    }
    return total;
}

#endif
