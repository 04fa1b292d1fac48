#include "train/stability.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/exact_double.h"
#include "train/plan.h"

#define HALF_PI 0x1.921fb54442d18p+0

double ga_stability_limit(double staleness)
{
    return 2 * ga_exact_sin(HALF_PI / (2 * staleness + 1));
}

double ga_stability_critical(uint32_t updates)
{
    double d = updates;

    return d == 0 ? 1 : exp(d * log(d / (d + 1))) / (d + 1);
}

/* ---- staleness ---- */

static void always(struct ga_staleness_law *out, double staleness)
{
    size_t bin = staleness < GA_SHAPE_BINS - 1 ? (size_t)staleness : GA_SHAPE_BINS - 1;

    out->mean = out->most = staleness;
    out->has_shape = true;
    out->shape[bin] = 1;
}

/* (1/P) (1 - 1/P)^j: each of P memoryless replicas is as likely to finish next. */
static void geometric(struct ga_staleness_law *out, double replicas)
{
    double left = 1;

    out->mean = replicas - 1;
    out->has_shape = true;
    for (size_t bin = 0; bin + 1 < GA_SHAPE_BINS; bin++) {
        out->shape[bin] = left / replicas;
        left *= 1 - 1 / replicas;
    }
    out->shape[GA_SHAPE_BINS - 1] = left;
}

/* Rounds: all pull one version, then push one after another, whatever the times. */
static void uniform(struct ga_staleness_law *out, size_t replicas)
{
    out->mean = ((double)replicas - 1) / 2;
    out->most = (double)replicas - 1;
    out->has_shape = true;
    for (size_t k = 0; k < replicas; k++)
        out->shape[k < GA_SHAPE_BINS ? k : GA_SHAPE_BINS - 1] += 1 / (double)replicas;
}

static void law_fresh(const struct ga_settings *settings, const struct ga_crew *crew,
                      struct ga_staleness_law *out)
{
    (void)settings;
    (void)crew;
    always(out, 0);
    snprintf(out->text, sizeof out->text, "0: every gradient is fresh");
}

static void law_delay(const struct ga_settings *settings, const struct ga_crew *crew,
                      struct ga_staleness_law *out)
{
    (void)crew;
    always(out, settings->lag);
    snprintf(out->text, sizeof out->text, "always %d: the lag", settings->lag);
}

static void law_async(const struct ga_settings *settings, const struct ga_crew *crew,
                      struct ga_staleness_law *out)
{
    double p = (double)crew->replicas;

    (void)settings;
    if (crew->times == GA_TIMES_EXPONENTIAL) {
        geometric(out, p);
        snprintf(out->text, sizeof out->text, "mean P-1 = %g, geometric (1/P)(1-1/P)^j", p - 1);
    } else if (crew->times == GA_TIMES_EQUAL) {
        always(out, p - 1);
        snprintf(out->text, sizeof out->text, "always P-1 = %g after the first round: equal times",
                 p - 1);
    } else {
        out->mean = p - 1;
        snprintf(out->text, sizeof out->text, "mean P-1 = %g, whatever the times", p - 1);
    }
}

static void law_ssp(const struct ga_settings *settings, const struct ga_crew *crew,
                    struct ga_staleness_law *out)
{
    double p = (double)crew->replicas;

    if (settings->bound < 0 || (settings->bound > 0 && crew->times == GA_TIMES_EQUAL)) {
        law_async(settings, crew, out); /* nobody ever waits */
        return;
    }
    if (settings->bound == 0) {
        uniform(out, crew->replicas);
        snprintf(out->text, sizeof out->text, "0..P-1 in rounds, mean (P-1)/2 = %g", out->mean);
        return;
    }
    out->most = (p - 1) * (2 * (double)settings->bound + 1);
    snprintf(out->text, sizeof out->text, "at most (P-1)(2s+1) = %g", out->most);
}

static double buffer_of(const struct ga_settings *settings)
{
    return settings->buffer > 0 ? settings->buffer : settings->replicas;
}

static void law_buffered(const struct ga_settings *settings, const struct ga_crew *crew,
                         struct ga_staleness_law *out)
{
    double p = (double)crew->replicas, k = buffer_of(settings);

    if (settings->bound == 0 && k == p) {
        always(out, 0);
        snprintf(out->text, sizeof out->text, "0: all P wait for the update, as in sync");
    } else if (settings->bound < 0) {
        out->mean = (p - 1) / k;
        snprintf(out->text, sizeof out->text, "mean (P-1)/k = %g/%g", p - 1, k);
    } else {
        snprintf(out->text, sizeof out->text, "without a closed law: buffered with a bound");
    }
}

void ga_staleness_law(const struct ga_settings *settings, const struct ga_crew *crew,
                      struct ga_staleness_law *out)
{
    static void (*const law_of[])(const struct ga_settings *, const struct ga_crew *,
                                  struct ga_staleness_law *) = {
        [GA_MODE_SYNC] = law_fresh,        [GA_MODE_DELAY] = law_delay,
        [GA_MODE_ASYNC] = law_async,       [GA_MODE_SSP] = law_ssp,
        [GA_MODE_BUFFERED] = law_buffered, [GA_MODE_LOCAL] = law_fresh,
        [GA_MODE_HOGWILD] = law_async,
    };

    memset(out, 0, sizeof *out);
    out->mean = (double)NAN;
    out->most = (double)INFINITY;
    if (crew->replicas > 0)
        law_of[settings->mode](settings, crew, out);
}

/* ---- stability ---- */

/* PyTorch's sgd: heavy ball, or its Nesterov form, on fresh gradients. */
static double momentum_limit(const struct ga_settings *settings)
{
    double m = settings->momentum;

    return settings->nesterov ? 2 * (1 + m) / (1 + 2 * m) : 2 * (1 + m);
}

static double scale_full(double staleness, double share)
{
    (void)staleness;
    (void)share;
    return 1;
}

static double scale_share(double staleness, double share)
{
    (void)staleness;
    return share;
}

static double scale_staleness(double staleness, double share)
{
    (void)share;
    return staleness > 1 ? 1 / staleness : 1;
}

static double scale_sqrt(double staleness, double share)
{
    (void)share;
    return 1 / sqrt(1 + staleness);
}

/* The mean over replicas is that of `share`. */
static double (*const scale_of[])(double staleness, double share) = {
    [GA_SCALE_FULL] = scale_full,           [GA_SCALE_SHARE] = scale_share,
    [GA_SCALE_STALENESS] = scale_staleness, [GA_SCALE_SQRT] = scale_sqrt,
    [GA_SCALE_RESCALED] = scale_share,
};

static bool pushes(const struct ga_settings *settings)
{
    return settings->mode == GA_MODE_ASYNC || settings->mode == GA_MODE_SSP ||
           settings->mode == GA_MODE_BUFFERED || settings->mode == GA_MODE_HOGWILD;
}

static void describe_staleness(const struct ga_settings *settings, const struct ga_crew *crew,
                               struct ga_stability *out)
{
    struct ga_staleness_law law;

    ga_staleness_law(settings, crew, &law);
    if (isnan(law.mean)) { /* bounded: no more stale than without the bound */
        law.mean = ((double)crew->replicas - 1) /
                   (settings->mode == GA_MODE_BUFFERED ? buffer_of(settings) : 1);
        snprintf(law.text, sizeof law.text, "as without the bound: %g", law.mean);
    }
    out->staleness = law.mean;
    out->exact = law.has_shape && law.mean == law.most;
    snprintf(out->text, sizeof out->text, "staleness %.84s", law.text);
}

/* Weight of what one step adds up: a window, or what a push or a buffer brings. */
static double step_weight(const struct ga_settings *settings, const struct ga_crew *crew)
{
    double share = (double)crew->examples;

    if (settings->mode == GA_MODE_BUFFERED)
        return share * buffer_of(settings);
    if (pushes(settings) || settings->mode == GA_MODE_LOCAL)
        return share;
    return (double)ga_plan_window(settings);
}

static void refuse(struct ga_stability *out, const char *why)
{
    out->limit = (double)NAN;
    snprintf(out->text, sizeof out->text, "%s", why);
}

void ga_stability(const struct ga_settings *settings, const struct ga_crew *crew,
                  struct ga_stability *out)
{
    double share = 1;

    memset(out, 0, sizeof *out);
    if (crew->replicas == 0) {
        refuse(out, "no replica takes part");
        return;
    }
    describe_staleness(settings, crew, out);
    share = settings->mode == GA_MODE_BUFFERED ? buffer_of(settings) / settings->replicas
                                               : 1.0 / settings->replicas;
    out->factor = pushes(settings) ? scale_of[settings->scale](out->staleness, share) : 1;
    if (settings->reduce == GA_REDUCE_SUM)
        out->factor *= step_weight(settings, crew);
    out->limit = ga_stability_limit(out->staleness);
    if (settings->momentum > 0 && out->staleness == 0)
        out->limit = momentum_limit(settings);
    if (settings->optimizer != GA_SGD)
        refuse(out, "known for sgd only");
    else if (settings->momentum > 0 && out->staleness > 0)
        refuse(out, "no closed limit for momentum on stale weights");
    else if (settings->mode == GA_MODE_LOCAL && settings->outer.kind != GA_OUTER_NONE)
        refuse(out, "no closed limit with an outer optimizer");
}
