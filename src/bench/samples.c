/* Order statistics of wall times. */
#include <math.h>

#include "bench/benchmark.h"

/* Kept sorted: there are few, and a median is then a look-up. */
void ga_samples_add(struct ga_samples *samples, double ns)
{
    size_t at = samples->count++;

    for (; at > 0 && samples->ns[at - 1] > ns; at--)
        samples->ns[at] = samples->ns[at - 1];
    samples->ns[at] = ns;
}

double ga_samples_median(const struct ga_samples *samples)
{
    if (samples->count == 0)
        return (double)NAN;
    return (samples->ns[(samples->count - 1) / 2] + samples->ns[samples->count / 2]) / 2;
}

double ga_samples_best(const struct ga_samples *samples)
{
    return samples->count > 0 ? samples->ns[0] : (double)NAN;
}
