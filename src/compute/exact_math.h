/*
 * Elementary functions that reach weights, data order or virtual time, as + - * / sqrt only, with
 * hex constants, so that every machine and compiler gives the same bits. Inline, shared by all
 * devices: the file compiles as C and as CUDA.
 *
 * In float: ga_exact_expf, ga_exact_tanhf, ga_exact_sigmoidf, ga_exact_normalf (the normal
 * distribution function, that is erf) within 4 units in the last place; the CPU kernels run the
 * same formulas on vectors. In double: ga_exact_exp, _log, _sin, _cos (base/exact_double.h) and
 * ga_exact_power.
 */
#ifndef GA_COMPUTE_EXACT_MATH_H
#define GA_COMPUTE_EXACT_MATH_H

#include <stdint.h>
#include <string.h>

#include "base/exact_double.h"

GA_EXACT_DOUBLE uint32_t ga_exact_float_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

GA_EXACT_DOUBLE float ga_exact_float_from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#define EM_FLOAT              float
#define EM_WORD               uint32_t
#define EM_NAME(name)         ga_exact_##name
#define EM_INLINE             GA_EXACT_DOUBLE
#define EM_SPLAT(c)           (c)
#define EM_LESS(a, b)         ((a) < (b))
#define EM_SELECT(mask, a, b) ((mask) ? (a) : (b))
#define EM_SMALLER(a, b)      ((a) < (b) ? (a) : (b))
#define EM_BITS(x)            ga_exact_float_bits(x)
#define EM_FROM(w)            ga_exact_float_from_bits(w)
#include "compute/exact_math.inc"
#undef EM_FLOAT
#undef EM_WORD
#undef EM_NAME
#undef EM_INLINE
#undef EM_SPLAT
#undef EM_LESS
#undef EM_SELECT
#undef EM_SMALLER
#undef EM_BITS
#undef EM_FROM

/* x^n by squaring, from the lowest bit of n up: a fixed order, at most 2 log2(n) products. 0^0 = 1.
 */
GA_EXACT_DOUBLE double ga_exact_power(double x, uint64_t n)
{
    double result = 1.0;
    while (n > 0) {
        if (n & 1u) {
            result *= x;
        }
        x *= x;
        n >>= 1;
    }
    return result;
}

#endif
