/*
 * Vectors of GA_LANES floats (4, 8 or 16) in the compilers' vector extension, and the few
 * operations on them that the kernels need; eight lanes mean AVX2, sixteen AVX-512 (fast kernels
 * only), and a few of their instructions are named because gcc does not find them by itself.
 * Everything is inline and private to the file that includes it, because the same names stand for
 * other types elsewhere.
 */
#ifndef GA_COMPUTE_LANES_H
#define GA_COMPUTE_LANES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef GA_LANES
#define GA_LANES 4
#endif

#if GA_LANES >= 8
#include <immintrin.h>
#endif

#define LANES_HALF   (GA_LANES / 2)
#define LANES_INLINE static inline __attribute__((always_inline, unused))

typedef float lanes_f __attribute__((vector_size(GA_LANES * 4)));
typedef uint32_t lanes_u __attribute__((vector_size(GA_LANES * 4)));
typedef int32_t lanes_i __attribute__((vector_size(GA_LANES * 4)));
typedef float lanes_h __attribute__((vector_size(LANES_HALF * 4))); /* half of a lanes_f */
typedef double lanes_d __attribute__((vector_size(LANES_HALF * 8)));
typedef uint64_t lanes_q __attribute__((vector_size(LANES_HALF * 8)));

/* Lanes of a and b by number, b's behind a's. */
#if defined(__clang__) || __GNUC__ >= 12
#define lanes_shuffle(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define lanes_shuffle(a, b, ...) __builtin_shuffle(a, b, (lanes_q){__VA_ARGS__})
#endif

LANES_INLINE lanes_f lanes_load(const float *from)
{
    lanes_f x;
    memcpy(&x, from, sizeof x);
    return x;
}

/* The first `count` floats, at most GA_LANES of them; the other lanes are 0. */
LANES_INLINE lanes_f lanes_load_first(const float *from, size_t count)
{
#if GA_LANES == 16
    return (lanes_f)_mm512_maskz_loadu_ps((__mmask16)(0xffffu >> (16 - count)), from);
#else
    lanes_f x = {0};
    for (size_t i = 0; i < count; i++)
        x[i] = from[i];
    return x;
#endif
}

LANES_INLINE void lanes_store(float *to, lanes_f x)
{
    memcpy(to, &x, sizeof x);
}

LANES_INLINE lanes_d lanes_widen(lanes_h x)
{
#if GA_LANES == 16
    return (lanes_d)_mm512_cvtps_pd((__m256)x);
#elif GA_LANES == 8
    return (lanes_d)_mm256_cvtps_pd((__m128)x);
#else
    return __builtin_convertvector(x, lanes_d);
#endif
}

LANES_INLINE lanes_h lanes_narrow(lanes_d x)
{
#if GA_LANES == 8
    return (lanes_h)_mm256_cvtpd_ps((__m256d)x);
#else
    return __builtin_convertvector(x, lanes_h);
#endif
}

/* Floats `from` .. as doubles; they are half a vector. */
LANES_INLINE lanes_d lanes_load_wide(const float *from)
{
    lanes_h x;
    memcpy(&x, from, sizeof x);
    return lanes_widen(x);
}

LANES_INLINE lanes_f lanes_splat(float x)
{
#if GA_LANES == 16
    return (lanes_f)_mm512_set1_ps(x);
#elif GA_LANES == 8
    return (lanes_f){x, x, x, x, x, x, x, x};
#else
    return (lanes_f){x, x, x, x};
#endif
}

LANES_INLINE lanes_u lanes_less(lanes_f a, lanes_f b)
{
    return (lanes_u)(a < b);
}

LANES_INLINE lanes_f lanes_select(lanes_u mask, lanes_f a, lanes_f b)
{
    return (lanes_f)((mask & (lanes_u)a) | (~mask & (lanes_u)b));
}

/* Bits of |x|: as integers they order finite < inf < NaN. */
LANES_INLINE lanes_u lanes_size(lanes_f x)
{
    return (lanes_u)x & 0x7fffffffu;
}

/* a where a < b, else b; b where one is NaN. */
LANES_INLINE lanes_f lanes_smaller(lanes_f a, lanes_f b)
{
#if GA_LANES == 16
    return (lanes_f)_mm512_min_ps((__m512)a, (__m512)b);
#elif GA_LANES == 8
    return (lanes_f)_mm256_min_ps((__m256)a, (__m256)b);
#else
    return lanes_select(lanes_less(a, b), a, b);
#endif
}

/* Of words below 2^31. */
LANES_INLINE lanes_u lanes_larger(lanes_u a, lanes_u b)
{
#if GA_LANES == 8
    return (lanes_u)_mm256_max_epi32((__m256i)a, (__m256i)b);
#else
    const lanes_u mask = (lanes_u)((lanes_i)a > (lanes_i)b);
    return (mask & a) | (~mask & b);
#endif
}

/* The lanes of a, words below 2^31, that are above b. */
LANES_INLINE lanes_u lanes_above(lanes_u a, uint32_t b)
{
    return (lanes_u)((lanes_i)a > (int32_t)b);
}

LANES_INLINE uint32_t lanes_largest(lanes_u x)
{
    uint32_t largest = 0;
    for (int i = 0; i < GA_LANES; i++)
        largest = x[i] > largest ? x[i] : largest;
    return largest;
}

LANES_INLINE lanes_d lanes_load_d(const double *from)
{
    lanes_d x;
    memcpy(&x, from, sizeof x);
    return x;
}

LANES_INLINE void lanes_store_d(double *to, lanes_d x)
{
    memcpy(to, &x, sizeof x);
}

/* The lower (0) or upper half as doubles. */
LANES_INLINE lanes_d lanes_half(lanes_f x, const int half)
{
#if GA_LANES == 16
    return lanes_widen(
        (lanes_h)(half ? _mm512_extractf32x8_ps((__m512)x, 1) : _mm512_castps512_ps256((__m512)x)));
#else
    lanes_h halves[2];
    memcpy(halves, &x, sizeof x);
    return lanes_widen(halves[half]);
#endif
}

LANES_INLINE void lanes_store_wide(double *to, lanes_f x)
{
    lanes_store_d(to, lanes_half(x, 0));
    lanes_store_d(to + LANES_HALF, lanes_half(x, 1));
}

LANES_INLINE int lanes_any(lanes_q mask)
{
    uint64_t any = 0;
    for (int i = 0; i < LANES_HALF; i++)
        any |= mask[i];
    return any != 0;
}

/* Sum over lanes; used where sums are exact, so the order is free. */
LANES_INLINE double lanes_total(lanes_d x)
{
#if GA_LANES == 16
    return ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
#elif GA_LANES == 8
    return (x[0] + x[1]) + (x[2] + x[3]);
#else
    return x[0] + x[1];
#endif
}

#if GA_LANES < 16
/* The sums over lanes of four vectors, as neighbours in one or two vectors. */
LANES_INLINE void lanes_totals(const lanes_q s[4], lanes_q out[4 / LANES_HALF])
{
#if GA_LANES == 8
    const lanes_q u = lanes_shuffle(s[0], s[1], 0, 4, 2, 6) + lanes_shuffle(s[0], s[1], 1, 5, 3, 7);
    const lanes_q v = lanes_shuffle(s[2], s[3], 0, 4, 2, 6) + lanes_shuffle(s[2], s[3], 1, 5, 3, 7);
    out[0] = lanes_shuffle(u, v, 0, 1, 4, 5) + lanes_shuffle(u, v, 2, 3, 6, 7);
#else
    out[0] = lanes_shuffle(s[0], s[1], 0, 2) + lanes_shuffle(s[0], s[1], 1, 3);
    out[1] = lanes_shuffle(s[2], s[3], 0, 2) + lanes_shuffle(s[2], s[3], 1, 3);
#endif
}
#endif

/* All ones in lanes below `count`, which may be beyond the vector. */
LANES_INLINE lanes_u lanes_first(size_t count)
{
#if GA_LANES == 16
    const lanes_i number = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#elif GA_LANES == 8
    const lanes_i number = {0, 1, 2, 3, 4, 5, 6, 7};
#else
    const lanes_i number = {0, 1, 2, 3};
#endif
    return (lanes_u)(number < (int32_t)(count < GA_LANES ? count : GA_LANES));
}

LANES_INLINE lanes_f lanes_keep(lanes_f x, lanes_u mask)
{
    return (lanes_f)((lanes_u)x & mask);
}

LANES_INLINE lanes_u lanes_equal(lanes_u a, uint32_t b)
{
    return (lanes_u)(a == b);
}

#define EM_FLOAT              lanes_f
#define EM_WORD               lanes_u
#define EM_NAME(name)         lanes_##name
#define EM_INLINE             LANES_INLINE
#define EM_SPLAT(c)           lanes_splat(c)
#define EM_LESS(a, b)         lanes_less(a, b)
#define EM_SELECT(mask, a, b) lanes_select(mask, a, b)
#define EM_SMALLER(a, b)      lanes_smaller(a, b)
#define EM_BITS(x)            ((lanes_u)(x))
#define EM_FROM(w)            ((lanes_f)(w))
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

#endif
