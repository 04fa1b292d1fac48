/*
 * The exact sums of compute.h, one term at a time: what every device does, whatever order it adds
 * in. The constants are 1.5*2^52 times the unit that a sum keeps: 2^28, 2^-8 and 2^-44. Inline; the
 * file compiles as C and as CUDA.
 */
#ifndef GA_COMPUTE_EXACT_SUM_H
#define GA_COMPUTE_EXACT_SUM_H

#include <stdint.h>

#include "base/exact_double.h"

#define GA_SPLIT_LOSS 0x1.8p80
#define GA_SPLIT_HIGH 0x1.8p44
#define GA_SPLIT_LOW  0x1.8p8
#define GA_TERM_LIMIT 0x1p27
#define GA_LOSS_LIMIT 0x1p63

/* Of what a term met: the bits are those of ga_tally.flags. */
#define GA_SUM_BEYOND    1u
#define GA_SUM_NONFINITE 2u

/* The flag of an x with !(|x| <= limit). */
GA_EXACT_DOUBLE uint32_t ga_exact_flag(double x)
{
    const uint64_t exponent = ga_exact_bits(x) & GA_EXACT_INFINITY;
    return exponent == GA_EXACT_INFINITY ? GA_SUM_NONFINITE : GA_SUM_BEYOND;
}

/* Adds x to the two doubles, or NaN to both where it is out of range, and gives the flag. */
GA_EXACT_DOUBLE uint32_t ga_exact_add(double *high, double *low, double x)
{
    uint32_t flag = 0;
    double q = 0.0;
    if (!(x <= GA_TERM_LIMIT && x >= -GA_TERM_LIMIT)) {
        flag = ga_exact_flag(x);
        x = ga_exact_from_bits(GA_EXACT_NAN);
    }
    q = (x + GA_SPLIT_HIGH) - GA_SPLIT_HIGH;
    *high += q;
    *low += ((x - q) + GA_SPLIT_LOW) - GA_SPLIT_LOW;
    return flag;
}

/* A loss of any size up to 2^63 into three doubles; beyond, NaN, and the flag. */
GA_EXACT_DOUBLE uint32_t ga_exact_add_loss(double sum[3], double x)
{
    uint32_t flag = 0;
    double top = 0.0;
    double high = 0.0;
    if (!(x <= GA_LOSS_LIMIT && x >= -GA_LOSS_LIMIT)) {
        flag = ga_exact_flag(x);
        x = ga_exact_from_bits(GA_EXACT_NAN);
    }
    top = (x + GA_SPLIT_LOSS) - GA_SPLIT_LOSS;
    high = ((x - top) + GA_SPLIT_HIGH) - GA_SPLIT_HIGH;
    sum[0] += top;
    sum[1] += high;
    sum[2] += (((x - top) - high) + GA_SPLIT_LOW) - GA_SPLIT_LOW;
    return flag;
}

#endif
