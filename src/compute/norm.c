#include "compute/norm.h"

#include <stdint.h>
#include <string.h>

#include "compute/compute.h"

double ga_square_sum(const float *values, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += (double)values[i] * (double)values[i];
    return sum;
}

static double difference_sum(const float *a, const float *b, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double d = (double)a[i] - (double)b[i];
        sum += d * d;
    }
    return sum;
}

static double product_sum(const float *a, const float *b, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

static size_t block_at(size_t at, size_t count)
{
    return count - at < GA_NORM_BLOCK ? count - at : GA_NORM_BLOCK;
}

double ga_norm(const float *values, size_t count)
{
    double total = 0.0;
    for (size_t at = 0; at < count; at += GA_NORM_BLOCK)
        total += ga_square_sum(values + at, block_at(at, count));
    return __builtin_sqrt(total);
}

double ga_norm_of_difference(const float *a, const float *b, size_t count)
{
    double total = 0.0;
    for (size_t at = 0; at < count; at += GA_NORM_BLOCK)
        total += difference_sum(a + at, b + at, block_at(at, count));
    return __builtin_sqrt(total);
}

double ga_dot(const float *a, const float *b, size_t count)
{
    double total = 0.0;
    for (size_t at = 0; at < count; at += GA_NORM_BLOCK)
        total += product_sum(a + at, b + at, block_at(at, count));
    return total;
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
