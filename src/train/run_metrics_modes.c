/* Metrics that modes other than sync give a meaning to, and those that cost a search. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "train/run_internal.h"

double ga_read_staleness_mean(struct ga_run *run)
{
    return (double)(run->counters.staleness - run->stretch.staleness) /
           (double)(run->counters.pushes - run->stretch.pushes);
}

double ga_read_staleness_max(struct ga_run *run)
{
    return run->counters.pushes > run->stretch.pushes ? (double)run->stretch.most : (double)NAN;
}

double ga_read_pushes(struct ga_run *run)
{
    return (double)run->counters.pushes;
}

double ga_read_private_steps(struct ga_run *run)
{
    return (double)run->counters.private_steps;
}

double ga_read_lost(struct ga_run *run)
{
    return (double)run->counters.lost;
}

double ga_read_killed(struct ga_run *run)
{
    size_t killed = 0;

    for (size_t r = 0; r < run->replicas; r++)
        killed += run->replica[r].v.dead;
    return (double)killed;
}

double ga_read_sharpness(struct ga_run *run)
{
    struct ga_sharpness sharpness;

    return ga_run_sharpness(run, &sharpness) < 0 ? (double)NAN : sharpness.lambda;
}

/* A replica's examples in the round under way, or in the last one; 0: it has no part in it. */
static double examples_of(const struct ga_replica_value *v)
{
    return v->own ? (double)v->round.examples : 0;
}

static double square_distance(const float *weights, const double *mean, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += ((double)weights[i] - mean[i]) * ((double)weights[i] - mean[i]);
    return sum;
}

/* The weighted mean into `mean`, which is zeroed. */
static void average(const struct ga_run *run, double total, double *mean)
{
    for (size_t r = 0; r < run->replicas; r++) {
        const struct ga_replica_value *v = &run->replica[r].v;
        const float *weights = ga_version_weights(v->own);

        for (size_t i = 0; i < run->net.parameters && examples_of(v) > 0; i++)
            mean[i] += examples_of(v) / total * (double)weights[i];
    }
}

double ga_read_drift(struct ga_run *run)
{
    double total = 0, sum = 0, *mean = NULL;

    for (size_t r = 0; r < run->replicas; r++)
        total += examples_of(&run->replica[r].v);
    if (!run_is(run, GA_FAMILY_ROUND) || !(total > 0))
        return (double)NAN;
    mean = ga_alloc(run->net.parameters, sizeof *mean);
    if (!mean)
        return (double)NAN;
    average(run, total, mean);
    for (size_t r = 0; r < run->replicas; r++) {
        const struct ga_replica_value *v = &run->replica[r].v;

        if (examples_of(v) > 0)
            sum += examples_of(v) / total *
                   square_distance(ga_version_weights(v->own), mean, run->net.parameters);
    }
    free(mean);
    return sqrt(sum);
}
