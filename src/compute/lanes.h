/*
 * Vectors of GA_LANES floats (4 or 8) in the compilers' vector extension, and the few operations on
 * them that the kernels need. Everything is inline and private to the file that includes it,
 * because the same names stand for other types elsewhere.
 */
#ifndef GA_COMPUTE_LANES_H
#define GA_COMPUTE_LANES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef GA_LANES
#define GA_LANES 4
#endif

#define LANES_HALF   (GA_LANES / 2)
#define LANES_INLINE static inline __attribute__((always_inline, unused))

typedef float lanes_f __attribute__((vector_size(GA_LANES * 4)));
typedef uint32_t lanes_u __attribute__((vector_size(GA_LANES * 4)));
typedef float lanes_h __attribute__((vector_size(LANES_HALF * 4))); /* half of a lanes_f */
typedef double lanes_d __attribute__((vector_size(LANES_HALF * 8)));
typedef uint64_t lanes_q __attribute__((vector_size(LANES_HALF * 8)));

LANES_INLINE lanes_f lanes_load(const float *from)
{
    lanes_f x;
    memcpy(&x, from, sizeof x);
    return x;
}

LANES_INLINE void lanes_store(float *to, lanes_f x)
{
    memcpy(to, &x, sizeof x);
}

/* Floats `from` .. as doubles; they are half a vector. */
LANES_INLINE lanes_d lanes_load_wide(const float *from)
{
    lanes_h x;
    memcpy(&x, from, sizeof x);
    return __builtin_convertvector(x, lanes_d);
}

LANES_INLINE lanes_f lanes_splat(float x)
{
#if GA_LANES == 8
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

LANES_INLINE lanes_u lanes_larger(lanes_u a, lanes_u b)
{
    const lanes_u mask = (lanes_u)((__attribute__((vector_size(GA_LANES * 4))) int32_t)
                                       a > (__attribute__((vector_size(GA_LANES * 4))) int32_t) b);
    return (mask & a) | (~mask & b);
}

LANES_INLINE uint32_t lanes_largest(lanes_u x)
{
    uint32_t largest = 0;
    for (int i = 0; i < GA_LANES; i++)
        largest = x[i] > largest ? x[i] : largest;
    return largest;
}

/* Sum over lanes; used where sums are exact, so the order is free. */
LANES_INLINE double lanes_total(lanes_d x)
{
#if GA_LANES == 8
    return (x[0] + x[1]) + (x[2] + x[3]);
#else
    return x[0] + x[1];
#endif
}

/* All ones in lanes below `count`, which may be beyond the vector. */
LANES_INLINE lanes_u lanes_first(size_t count)
{
    lanes_u mask;
    for (unsigned i = 0; i < GA_LANES; i++)
        mask[i] = i < count ? 0xffffffffu : 0u;
    return mask;
}

#define EM_FLOAT              lanes_f
#define EM_WORD               lanes_u
#define EM_NAME(name)         lanes_##name
#define EM_INLINE             LANES_INLINE
#define EM_SPLAT(c)           lanes_splat(c)
#define EM_LESS(a, b)         lanes_less(a, b)
#define EM_SELECT(mask, a, b) lanes_select(mask, a, b)
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
#undef EM_BITS
#undef EM_FROM

#endif
