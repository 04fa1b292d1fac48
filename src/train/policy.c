/* The registry of update modes, and the step scales that push modes share. */
#include "train/policy.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "train/policies.h"

static const struct ga_policy *const registry[] = {
    &ga_policy_sync,     &ga_policy_delay, &ga_policy_async,   &ga_policy_ssp,
    &ga_policy_buffered, &ga_policy_local, &ga_policy_hogwild,
};

const struct ga_policy *ga_policy_at(int position)
{
    if (position < 0 || (size_t)position >= sizeof registry / sizeof *registry)
        return NULL;
    return registry[position];
}

const struct ga_policy *ga_policy_find(const char *name)
{
    for (int i = 0; ga_policy_at(i); i++)
        if (strcmp(ga_policy_at(i)->name, name) == 0)
            return ga_policy_at(i);
    ga_fail(GA_EUNSUPPORTED, "no update mode \"%s\"", name);
    return NULL;
}

static double staleness(const struct ga_push *push)
{
    return (double)(push->version_now - push->version_read);
}

static double scale_full(const struct ga_push *push)
{
    (void)push;
    return 1;
}

static double scale_share(const struct ga_push *push)
{
    return push->share;
}

static double scale_staleness(const struct ga_push *push)
{
    return staleness(push) > 1 ? 1 / staleness(push) : 1;
}

static double scale_sqrt(const struct ga_push *push)
{
    return 1 / sqrt(1 + staleness(push));
}

static double scale_rescaled(const struct ga_push *push)
{
    return push->time_all > 0 ? push->share * push->time_mean / push->time_all : push->share;
}

double ga_policy_push_scale(const struct ga_settings *settings, const struct ga_push *push)
{
    static double (*const scale_of[])(const struct ga_push *) = {
        [GA_SCALE_FULL] = scale_full,           [GA_SCALE_SHARE] = scale_share,
        [GA_SCALE_STALENESS] = scale_staleness, [GA_SCALE_SQRT] = scale_sqrt,
        [GA_SCALE_RESCALED] = scale_rescaled,
    };

    return scale_of[settings->scale](push);
}
