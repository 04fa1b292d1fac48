#include "train/plan.h"

#include "dataset/stream.h"

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

void ga_plan_part(size_t examples, uint32_t micros, uint32_t micro, size_t *first, size_t *count)
{
    ga_split(examples, micros, micro, first, count);
}
