#include "console/law.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double ga_law_limit(double delay)
{
    return 2 * sin(acos(-1) / (2 * (2 * delay + 1)));
}

/* Every gradient has the same staleness. */
static void always(struct ga_law *out, double staleness)
{
    int bin = staleness < GA_TAU_BINS - 1 ? (int)staleness : GA_TAU_BINS - 1;

    out->has_mean = out->has_shape = true;
    out->mean = staleness;
    out->shape[bin] = 1;
}

static void mean_of(struct ga_law *out, double mean)
{
    out->has_mean = true;
    out->mean = mean;
}

/* (1/P) (1 - 1/P)^j: any of P memoryless replicas is as likely to finish next. */
static void geometric(struct ga_law *out, double replicas)
{
    double left = 1;

    mean_of(out, replicas - 1);
    out->has_shape = true;
    for (int bin = 0; bin < GA_TAU_BINS - 1; bin++) {
        out->shape[bin] = left / replicas;
        left *= 1 - 1 / replicas;
    }
    out->shape[GA_TAU_BINS - 1] = left;
}

static void law_sync(const struct ga_settings *settings, bool equal, struct ga_law *out)
{
    (void)settings;
    (void)equal;
    always(out, 0);
    snprintf(out->text, sizeof out->text, "sync: every gradient is fresh");
}

static void law_delay(const struct ga_settings *settings, bool equal, struct ga_law *out)
{
    (void)equal;
    always(out, settings->lag);
    snprintf(out->text, sizeof out->text, "delay: always %d", settings->lag);
}

static void law_async(const struct ga_settings *settings, bool equal, struct ga_law *out)
{
    int p = settings->replicas;

    if (settings->jitter.kind == GA_JITTER_EXPONENTIAL && settings->base_ns == 0) {
        geometric(out, p);
        snprintf(out->text, sizeof out->text, "geometric, P = %d", p);
    } else if (equal) {
        always(out, p - 1);
        snprintf(out->text, sizeof out->text, "equal times: always P-1 = %d", p - 1);
    } else {
        mean_of(out, p - 1);
        snprintf(out->text, sizeof out->text, "mean P-1 = %d whatever the times", p - 1);
    }
}

static void law_ssp(const struct ga_settings *settings, bool equal, struct ga_law *out)
{
    int p = settings->replicas, s = settings->bound;

    (void)equal;
    if (s == 0) {
        mean_of(out, (p - 1) / 2.0);
        snprintf(out->text, sizeof out->text, "bound 0: mean (P-1)/2");
    } else if (s > 0) {
        snprintf(out->text, sizeof out->text, "at most (P-1)(2s+1) = %lld",
                 (long long)(p - 1) * (2 * (long long)s + 1));
    }
}

static void law_buffered(const struct ga_settings *settings, bool equal, struct ga_law *out)
{
    int p = settings->replicas, k = settings->buffer > 0 ? settings->buffer : p;

    (void)equal;
    if (settings->bound == 0 && k == p) {
        always(out, 0);
        snprintf(out->text, sizeof out->text, "all P wait for the update: fresh, as sync");
    } else if (settings->bound < 0) {
        mean_of(out, (double)(p - 1) / k);
        snprintf(out->text, sizeof out->text, "mean (P-1)/k = %d/%d", p - 1, k);
    }
}

static void law_local(const struct ga_settings *settings, bool equal, struct ga_law *out)
{
    (void)equal;
    always(out, 0);
    snprintf(out->text, sizeof out->text, "local: %d private steps, then an average; none is stale",
             settings->period);
}

void ga_law_make(const struct ga_settings *settings, bool equal, struct ga_law *out)
{
    static void (*const laws[])(const struct ga_settings *, bool, struct ga_law *) = {
        [GA_MODE_SYNC] = law_sync,         [GA_MODE_DELAY] = law_delay,
        [GA_MODE_ASYNC] = law_async,       [GA_MODE_SSP] = law_ssp,
        [GA_MODE_BUFFERED] = law_buffered, [GA_MODE_LOCAL] = law_local,
        [GA_MODE_HOGWILD] = law_async};

    memset(out, 0, sizeof *out);
    out->gauge = out->limit = (double)NAN;
    if ((unsigned)settings->mode < sizeof laws / sizeof *laws && laws[settings->mode])
        laws[settings->mode](settings, equal, out);
}
