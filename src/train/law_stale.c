/*
 * Laws of staleness.
 *
 * Without a bound, at any time: staleness summed over pushes + (version - version read) summed over
 * running items = (P-1) * updates, because each update passes P-1 running items. So the mean tends
 * to P-1, with a buffer of k to (P-1)/k. Exponential times make it geometric. ssp: Ho et al. 2013.
 */
#include <math.h>

#include "train/law_internal.h"

static bool is_unbounded(const struct ga_settings *settings)
{
    switch (settings->mode) {
    case GA_MODE_ASYNC:
    case GA_MODE_HOGWILD:
        return true;
    case GA_MODE_SSP:
    case GA_MODE_BUFFERED:
        return settings->bound < 0;
    default:
        return false;
    }
}

/* Items that end before a change takes effect are not replaced: then fewer than P run. */
static size_t unbounded(const struct ga_law_case *c)
{
    return is_unbounded(c->settings) && !(c->now && c->now->modes && c->now->modes->draining);
}

static double updates_between(const struct ga_law_case *c)
{
    return (double)(c->now->counters.updates - c->since->counters.updates);
}

/* Known beforehand only in kind: the updates are those measured. */
static double predict_sum(const struct ga_law_case *c, size_t k)
{
    (void)k;
    return c->since ? ((double)c->crew->replicas - 1) * updates_between(c) : (double)NAN;
}

static double age_of_running(const struct ga_state *state)
{
    double sum = 0;

    for (size_t r = 0; r < state->replicas; r++) {
        const struct ga_replica_value *v = &state->replica[r];

        if (v->state == GA_REPLICA_BUSY || v->state == GA_REPLICA_SENDING)
            sum += (double)(state->counters.updates - v->read->number);
    }
    return sum;
}

static double measure_sum(const struct ga_law_case *c, size_t k)
{
    (void)k;
    return (double)(c->now->counters.staleness - c->since->counters.staleness) +
           age_of_running(c->now) - age_of_running(c->since);
}

static size_t has_mean(const struct ga_law_case *c)
{
    return !isnan(c->staleness->mean) && c->settings->mode != GA_MODE_SYNC &&
           c->settings->mode != GA_MODE_LOCAL;
}

static double predict_mean(const struct ga_law_case *c, size_t k)
{
    (void)k;
    return c->staleness->mean;
}

static double measure_mean(const struct ga_law_case *c, size_t k)
{
    (void)k;
    return (double)(c->now->counters.staleness - c->since->counters.staleness) /
           (double)(c->now->counters.pushes - c->since->counters.pushes);
}

static size_t has_bound(const struct ga_law_case *c)
{
    return c->settings->mode == GA_MODE_SSP && c->settings->bound >= 0;
}

/* (P-1)(2s+1); with s = 0 the rounds make it P-1, the same. */
static double predict_most(const struct ga_law_case *c, size_t k)
{
    (void)k;
    return ((double)c->crew->replicas - 1) * (2 * (double)c->settings->bound + 1);
}

/* The last bin holds all above: then it is known to be at least that. */
static double measure_most(const struct ga_law_case *c, size_t k)
{
    size_t bin = GA_STALENESS_BINS;

    (void)k;
    while (bin > 1) {
        uint64_t before = c->since->modes ? c->since->modes->stale[bin - 1] : 0;

        if (c->now->modes && c->now->modes->stale[bin - 1] > before)
            break;
        bin--;
    }
    return (double)bin - 1;
}

/* The share of fresh pushes stands for the whole distribution. */
static size_t has_shape(const struct ga_law_case *c)
{
    return c->crew->times == GA_TIMES_EXPONENTIAL && is_unbounded(c->settings) &&
           c->settings->mode != GA_MODE_BUFFERED && c->crew->replicas > 1;
}

static double predict_fresh(const struct ga_law_case *c, size_t k)
{
    (void)k;
    return c->staleness->shape[0];
}

static double measure_fresh(const struct ga_law_case *c, size_t k)
{
    uint64_t before = c->since->modes ? c->since->modes->stale[0] : 0;
    uint64_t after = c->now->modes ? c->now->modes->stale[0] : 0;

    (void)k;
    return (double)(after - before) / (double)(c->now->counters.pushes - c->since->counters.pushes);
}

static double predict_gap(const struct ga_law_case *c, size_t k)
{
    (void)k;
    return (double)c->settings->bound + 1;
}

static double measure_gap(const struct ga_law_case *c, size_t k)
{
    uint64_t low = UINT64_MAX, high = 0;

    (void)k;
    for (size_t r = 0; r < c->now->replicas; r++) {
        uint64_t clock = c->now->replica[r].clock;

        if (!ga_crew_has(c->run, c->settings, r))
            continue;
        low = clock < low ? clock : low;
        high = clock > high ? clock : high;
    }
    return (double)(high - low);
}

static const char *formula_of_mean(const struct ga_law_case *c)
{
    switch (c->settings->mode) {
    case GA_MODE_DELAY:
        return "the lag";
    case GA_MODE_BUFFERED:
        return c->settings->bound < 0 ? "(P-1)/k" : "all wait";
    case GA_MODE_SSP:
        return c->settings->bound == 0 ? "(P-1)/2" : "P-1";
    default:
        return "P-1";
    }
}

const struct ga_law_kind ga_laws_of_staleness[] = {
    {.name = "staleness, summed",
     .formula = "(P-1) updates, running items counted",
     .unit = "updates",
     .rows = unbounded,
     .predict = predict_sum,
     .measure = measure_sum,
     .truth = ga_law_exact},
    {.name = "mean staleness",
     .formula_of = formula_of_mean,
     .unit = "updates",
     .rows = has_mean,
     .predict = predict_mean,
     .measure = measure_mean,
     .truth = ga_law_in_the_mean},
    {.name = "pushes that are fresh",
     .formula = "1/P",
     .unit = "",
     .rows = has_shape,
     .predict = predict_fresh,
     .measure = measure_fresh,
     .truth = ga_law_in_the_mean},
    {.name = "largest staleness",
     .formula = "(P-1)(2s+1)",
     .unit = "updates",
     .rows = has_bound,
     .predict = predict_most,
     .measure = measure_most,
     .truth = ga_law_bound},
    {.name = "clock gap",
     .formula = "s+1",
     .unit = "items",
     .rows = has_bound,
     .predict = predict_gap,
     .measure = measure_gap,
     .truth = ga_law_bound},
};
const size_t ga_laws_of_staleness_count =
    sizeof ga_laws_of_staleness / sizeof *ga_laws_of_staleness;
