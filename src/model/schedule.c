#include "compute/exact_math.h"
#include "model/model.h"

#define PI 0x1.921fb54442d18p+1

/* `u` counts from the end of the warm-up, `every` is at least 1. */
static double step_rate(const struct ga_schedule_spec *spec, double lr, uint64_t u)
{
    return lr * ga_exact_power(spec->value, u / (uint64_t)spec->every);
}

static double cosine_rate(const struct ga_schedule_spec *spec, double lr, uint64_t u)
{
    const uint64_t total = (uint64_t)spec->every;
    const double part = (double)(u < total ? u : total) / (double)total;
    return spec->value + (lr - spec->value) * (1.0 + ga_exact_cos(PI * part)) / 2.0;
}

double ga_schedule_rate(const struct ga_schedule_spec *spec, double lr, uint64_t update)
{
    const uint64_t warmup = spec->warmup > 0 ? (uint64_t)spec->warmup : 0;
    if (update < warmup)
        return lr * (double)(update + 1) / (double)warmup;
    if (spec->every < 1)
        return lr;
    if (spec->kind == GA_LR_STEP)
        return step_rate(spec, lr, update - warmup);
    if (spec->kind == GA_LR_COSINE)
        return cosine_rate(spec, lr, update - warmup);
    return lr;
}
