#include "compute/norm.h"

#include <stdint.h>
#include <string.h>

#include "compute/compute.h"

enum term { SQUARE, SQUARE_OF_DIFFERENCE, PRODUCT };

static inline double term_at(const enum term term, const float *a, const float *b, size_t i)
{
    const double x = (double)a[i];
    const double y = term == SQUARE ? 0.0 : (double)b[i];
    if (term == PRODUCT)
        return x * y;
    return term == SQUARE ? x * x : (x - y) * (x - y);
}

/* Four blocks at once: four chains of additions instead of one, each in its own order. */
static inline double add_piece(const enum term term, double total, const float *a, const float *b,
                               size_t at)
{
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    for (size_t i = at; i < at + GA_NORM_BLOCK; i++) {
        for (size_t block = 0; block < 4; block++)
            sum[block] += term_at(term, a, b, i + block * GA_NORM_BLOCK);
    }
    return (((total + sum[0]) + sum[1]) + sum[2]) + sum[3];
}

static inline double add_blocks(const enum term term, double total, const float *a, const float *b,
                                size_t count)
{
    size_t at = 0;
    for (; count - at >= GA_NORM_PIECE; at += GA_NORM_PIECE)
        total = add_piece(term, total, a, b, at);
    while (at < count) {
        const size_t end = count - at < GA_NORM_BLOCK ? count : at + GA_NORM_BLOCK;
        double sum = 0.0;
        for (; at < end; at++)
            sum += term_at(term, a, b, at);
        total += sum;
    }
    return total;
}

double ga_norm_add(double total, const float *values, size_t count)
{
    return add_blocks(SQUARE, total, values, NULL, count);
}

double ga_norm(const float *values, size_t count)
{
    return __builtin_sqrt(add_blocks(SQUARE, 0.0, values, NULL, count));
}

double ga_norm_of_difference(const float *a, const float *b, size_t count)
{
    return __builtin_sqrt(add_blocks(SQUARE_OF_DIFFERENCE, 0.0, a, b, count));
}

double ga_dot(const float *a, const float *b, size_t count)
{
    return add_blocks(PRODUCT, 0.0, a, b, count);
}

size_t ga_first_nonfinite(const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, values + i, sizeof bits);
        if ((bits & 0x7f800000u) == 0x7f800000u)
            return i;
    }
    return count;
}
