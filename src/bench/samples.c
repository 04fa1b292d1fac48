/* Order statistics of the rounds. */
#include <math.h>

#include "bench/benchmark.h"

/* Kept sorted: there are few, and a median is then a look-up. */
void ga_samples_add(struct ga_samples *samples, double value)
{
    size_t at = samples->count++;

    for (; at > 0 && samples->value[at - 1] > value; at--)
        samples->value[at] = samples->value[at - 1];
    samples->value[at] = value;
}

double ga_samples_median(const struct ga_samples *samples)
{
    if (samples->count == 0)
        return (double)NAN;
    return (samples->value[(samples->count - 1) / 2] + samples->value[samples->count / 2]) / 2;
}

double ga_samples_least(const struct ga_samples *samples)
{
    return samples->count > 0 ? samples->value[0] : (double)NAN;
}
