/*
 * log, exp, sin and cos in double as + - * / only, with hex constants, so that every machine and
 * compiler gives the same bits (no libm, no contraction, round to nearest). Within 1 unit in the
 * last place of the true value (log, exp) or 2 (sin, cos).
 *
 * It lives in base because random draws need it; compute's exact_math.h may include it. Inline and
 * free of state; compiles as C and as CUDA.
 * Method: reduction of the argument, then the Taylor series, which is short enough on the reduced
 * range.
 */
#ifndef GA_BASE_EXACT_DOUBLE_H
#define GA_BASE_EXACT_DOUBLE_H

#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define GA_EXACT_DOUBLE static __host__ __device__ inline
#else
#define GA_EXACT_DOUBLE static inline
#endif

/* sin and cos give NaN beyond this magnitude: the reduction is exact only below it. */
#define GA_EXACT_ANGLE_LIMIT 0x1p20

#define GA_EXACT_NAN            0x7ff8000000000000ULL
#define GA_EXACT_INFINITY       0x7ff0000000000000ULL
#define GA_EXACT_MINUS_INFINITY 0xfff0000000000000ULL

GA_EXACT_DOUBLE uint64_t ga_exact_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

GA_EXACT_DOUBLE double ga_exact_from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* 2^n for -1022 <= n <= 1023. */
GA_EXACT_DOUBLE double ga_exact_power_of_two(int n)
{
    return ga_exact_from_bits((uint64_t)(n + 1023) << 52);
}

/* Nearest whole number, ties to even, for |x| < 2^51: the sum with 1.5*2^52 has no room for a
 * fraction. */
GA_EXACT_DOUBLE double ga_exact_nearest(double x)
{
    return (x + 0x1.8p52) - 0x1.8p52;
}

/* log(x * 2^k) for finite x >= 2^-1022. With x = 2^k m, sqrt(1/2) <= m < sqrt(2), f = m - 1,
 * s = f/(2+f): log m = 2 atanh(s) = f - s (f - R), R = 2 (s^2/3 + s^4/5 + ...). */
GA_EXACT_DOUBLE double ga_exact_log_of_normal(double x, int k)
{
    uint64_t bits = ga_exact_bits(x);
    k += (int)(bits >> 52) - 1023;
    /* Halved by its exponent where it is sqrt(2) or more; half of all are, so not by a branch. */
    uint64_t fraction = bits & 0x000fffffffffffffULL;
    uint64_t large = fraction >= 0x6a09e667f3bcdULL;
    double m = ga_exact_from_bits(fraction | (0x3ffULL - large) << 52);
    k += (int)large;
    double f = m - 1.0;
    double s = f / (2.0 + f);
    double z = s * s;
    double r = 0x1.642c8590b2164p-4;
    r = r * z + 0x1.8618618618618p-4;
    r = r * z + 0x1.af286bca1af28p-4;
    r = r * z + 0x1.e1e1e1e1e1e1ep-4;
    r = r * z + 0x1.1111111111111p-3;
    r = r * z + 0x1.3b13b13b13b14p-3;
    r = r * z + 0x1.745d1745d1746p-3;
    r = r * z + 0x1.c71c71c71c71cp-3;
    r = r * z + 0x1.2492492492492p-2;
    r = r * z + 0x1.999999999999ap-2;
    r = r * z + 0x1.5555555555555p-1;
    r = r * z;
    return (double)k * 0x1.62e42feep-1 - ((s * (f - r) - (double)k * 0x1.a39ef35793c76p-33) - f);
}

/* -inf at 0, NaN below. */
GA_EXACT_DOUBLE double ga_exact_log(double x)
{
    int k = 0;
    if (!(x > 0.0)) {
        return x == 0.0 ? ga_exact_from_bits(GA_EXACT_MINUS_INFINITY)
                        : ga_exact_from_bits(GA_EXACT_NAN);
    }
    if (x > 0x1.fffffffffffffp1023) {
        return x;
    }
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        k = -54;
    }
    return ga_exact_log_of_normal(x, k);
}

/* 0 below -746, inf above 709.79. With x = n log 2 + r, |r| <= log(2)/2: 2^n (1 + r + r^2 (1/2 +
 * ...)). */
GA_EXACT_DOUBLE double ga_exact_exp(double x)
{
    if (x != x) {
        return x;
    }
    if (x > 710.0) {
        return ga_exact_from_bits(GA_EXACT_INFINITY);
    }
    if (x < -746.0) {
        return 0.0;
    }
    double n = ga_exact_nearest(x * 0x1.71547652b82fep+0);
    double r = (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
    double p = 0x1.6124613a86d09p-33;
    p = p * r + 0x1.1eed8eff8d898p-29;
    p = p * r + 0x1.ae64567f544e4p-26;
    p = p * r + 0x1.27e4fb7789f5cp-22;
    p = p * r + 0x1.71de3a556c734p-19;
    p = p * r + 0x1.a01a01a01a01ap-16;
    p = p * r + 0x1.a01a01a01a01ap-13;
    p = p * r + 0x1.6c16c16c16c17p-10;
    p = p * r + 0x1.1111111111111p-7;
    p = p * r + 0x1.5555555555555p-5;
    p = p * r + 0x1.5555555555555p-3;
    p = p * r + 0.5;
    double value = 1.0 + (r + r * r * p);
    int first = (int)n / 2;
    int second = (int)n - first;
    return value * ga_exact_power_of_two(first) * ga_exact_power_of_two(second);
}

/* sin r and cos r for |r| <= pi/4. */
GA_EXACT_DOUBLE double ga_exact_sin_reduced(double r)
{
    double z = r * r;
    double p = 0x1.952c77030ad4ap-49;
    p = p * z - 0x1.ae7f3e733b81fp-41;
    p = p * z + 0x1.6124613a86d09p-33;
    p = p * z - 0x1.ae64567f544e4p-26;
    p = p * z + 0x1.71de3a556c734p-19;
    p = p * z - 0x1.a01a01a01a01ap-13;
    p = p * z + 0x1.1111111111111p-7;
    p = p * z - 0x1.5555555555555p-3;
    return r + r * z * p;
}

GA_EXACT_DOUBLE double ga_exact_cos_reduced(double r)
{
    double z = r * r;
    double p = -0x1.6827863b97d97p-53;
    p = p * z + 0x1.ae7f3e733b81fp-45;
    p = p * z - 0x1.93974a8c07c9dp-37;
    p = p * z + 0x1.1eed8eff8d898p-29;
    p = p * z - 0x1.27e4fb7789f5cp-22;
    p = p * z + 0x1.a01a01a01a01ap-16;
    p = p * z - 0x1.6c16c16c16c17p-10;
    p = p * z + 0x1.5555555555555p-5;
    double half = 0.5 * z;
    double head = 1.0 - half;
    return head + (((1.0 - head) - half) + z * z * p);
}

/* x = n pi/2 + r; gives r and n mod 4. pi/2 in four pieces of 33, 33, 33 and 53 bits, so that n
 * times each of the first three is exact. */
GA_EXACT_DOUBLE double ga_exact_reduce_angle(double x, unsigned *quarter)
{
    double n = ga_exact_nearest(x * 0x1.45f306dc9c883p-1);
    *quarter = (unsigned)(int)n & 3u;
    double r = x - n * 0x1.921fb544p+0;
    r -= n * 0x1.0b4611a6p-34;
    r -= n * 0x1.3198a2ep-69;
    return r - n * 0x1.b839a252049c1p-104;
}

GA_EXACT_DOUBLE double ga_exact_sin(double x)
{
    unsigned quarter;
    if (!(x >= -GA_EXACT_ANGLE_LIMIT && x <= GA_EXACT_ANGLE_LIMIT)) {
        return ga_exact_from_bits(GA_EXACT_NAN);
    }
    if (x == 0.0) {
        return x;
    }
    double r = ga_exact_reduce_angle(x, &quarter);
    double value = quarter & 1u ? ga_exact_cos_reduced(r) : ga_exact_sin_reduced(r);
    return quarter & 2u ? -value : value;
}

GA_EXACT_DOUBLE double ga_exact_cos(double x)
{
    unsigned quarter;
    if (!(x >= -GA_EXACT_ANGLE_LIMIT && x <= GA_EXACT_ANGLE_LIMIT)) {
        return ga_exact_from_bits(GA_EXACT_NAN);
    }
    double r = ga_exact_reduce_angle(x, &quarter);
    double value = quarter & 1u ? ga_exact_sin_reduced(r) : ga_exact_cos_reduced(r);
    return (quarter + 1u) & 2u ? -value : value;
}

#endif
