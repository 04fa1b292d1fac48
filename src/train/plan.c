#include "train/plan.h"

uint64_t ga_plan_window(const struct ga_settings *settings)
{
    if (settings->global > 0)
        return (uint64_t)settings->global;
    return (uint64_t)settings->replicas * (uint64_t)settings->accum * (uint64_t)settings->batch;
}

static size_t divide_up(size_t n, size_t parts)
{
    return n / parts + (n % parts != 0);
}

size_t ga_plan_share(const struct ga_settings *settings)
{
    return divide_up(ga_plan_window(settings), (size_t)settings->replicas);
}

size_t ga_plan_micro(const struct ga_settings *settings)
{
    return divide_up(ga_plan_share(settings), (size_t)settings->accum);
}

uint32_t ga_plan_micros(const struct ga_settings *settings, size_t examples)
{
    size_t accum = (size_t)settings->accum;

    return (uint32_t)(examples < accum ? examples : accum);
}
