#include "compute/norm.h"

#include <stdint.h>
#include <string.h>

#include "compute/compute.h"
#include "compute/exact_terms.h"

enum term { SQUARE, SQUARE_OF_DIFFERENCE, PRODUCT };

static inline double term_at(const enum term term, const float *a, const float *b, size_t i)
{
    if (term == PRODUCT)
        return ga_term_product(a[i], b[i]);
    return term == SQUARE ? ga_term_square(a[i]) : ga_term_distance(a[i], b[i]);
}

/* So few are added in their order without setting the terms apart: the same sum, sooner. */
#define FEW 16

static inline double add_few(const enum term term, const float *a, const float *b, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += term_at(term, a, b, i);
    return 0.0 + sum;
}

static inline double add_blocks(const enum term term, const float *a, const float *b, size_t count)
{
    double terms[GA_NORM_PIECE];
    double total = 0.0;
    if (count <= FEW)
        return add_few(term, a, b, count);
    for (size_t at = 0; at < count; at += GA_NORM_PIECE) {
        const size_t left = count - at;
        const size_t here = left < GA_NORM_PIECE ? left : GA_NORM_PIECE;
        for (size_t i = 0; i < here; i++)
            terms[i] = term_at(term, a, b, at + i);
        total = ga_norm_add(total, terms, here);
    }
    return total;
}

double ga_norm(const float *values, size_t count)
{
    return __builtin_sqrt(add_blocks(SQUARE, values, NULL, count));
}

double ga_norm_of_difference(const float *a, const float *b, size_t count)
{
    return __builtin_sqrt(add_blocks(SQUARE_OF_DIFFERENCE, a, b, count));
}

double ga_dot(const float *a, const float *b, size_t count)
{
    return add_blocks(PRODUCT, a, b, count);
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
