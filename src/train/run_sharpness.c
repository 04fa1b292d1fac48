#include "train/sharpness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "train/run_internal.h"
#include "train/stability.h"

/* A quotient this near to the largest magnitude is it. */
#define GA_SHARPNESS_NEAR 1e-4

/* Length of the step to either side, for weights of norm sqrt(n) and below. */
#define STEP 4e-3

struct prober {
    struct ga_run *run;
    struct ga_context *context;
    size_t n;
    void *sums;
    float *weights;                 /* (n) beside the run's */
    double *gradient[2];            /* (n) on either side */
    double *vector, *moved, *image; /* (n): the direction, the step made, and H times the direction
                                     */
    double step;
    double weight; /* of all training rows */
};

static void prober_fini(struct prober *prober)
{
    prober->run->compute->free(prober->sums);
    free(prober->weights);
    free(prober->gradient[0]);
    free(prober->gradient[1]);
    free(prober->vector);
    free(prober->moved);
    free(prober->image);
}

static double norm(const double *vector, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += vector[i] * vector[i];
    return sqrt(sum);
}

static int prober_init(struct prober *prober, struct ga_run *run)
{
    size_t n = run->net.parameters;
    double root_mean_square =
        ga_buffer_norm(run->compute, run->server->weights, n) / sqrt((double)n);

    *prober = (struct prober){
        .run = run,
        .n = n,
        .step = STEP * (root_mean_square > 1 ? root_mean_square : 1),
        .context = run_context(run, 0),
        .sums = ga_run_alloc_sums(run, 0, 1),
        .weights = ga_alloc_aligned(n, sizeof(float)),
        .gradient = {ga_alloc(n, sizeof(double)), ga_alloc(n, sizeof(double))},
        .vector = ga_alloc(n, sizeof(double)),
        .moved = ga_alloc(n, sizeof(double)),
        .image = ga_alloc(n, sizeof(double)),
    };
    if (prober->context && prober->sums && prober->weights && prober->gradient[0] &&
        prober->gradient[1] && prober->vector && prober->moved && prober->image)
        return GA_OK;
    prober_fini(prober);
    return ga_error_code();
}

/* Blocks of rows, so that no batch is larger than a device expects. */
#define BLOCK ((size_t)4096)

/* The mean gradient over all training rows at `weights`. */
static int mean_gradient(struct prober *prober, double *out)
{
    const struct ga_run *run = prober->run;
    struct ga_batch batch = run_batch(run);
    struct ga_tally tally;

    memset(out, 0, prober->n * sizeof *out);
    prober->weight = 0;
    for (size_t first = 0; first < run->table->train; first += BLOCK) {
        batch.first = first;
        batch.count = run->table->train - first < BLOCK ? run->table->train - first : BLOCK;
        if (run->compute->gradient(prober->context, prober->weights, &batch, GA_ASSIGN,
                                   prober->sums, &tally) < 0)
            return ga_error_code();
        run->compute->read_sums(&run->net, prober->sums, 0, prober->n, prober->image);
        prober->weight += ga_tally_weight_sum(&tally);
        for (size_t i = 0; i < prober->n; i++)
            out[i] += prober->image[i];
    }
    for (size_t i = 0; i < prober->n; i++)
        out[i] /= prober->weight;
    return GA_OK;
}

static int gradient_beside(struct prober *prober, double step, double *out)
{
    const float *weights = ga_version_weights(prober->run->server);

    for (size_t i = 0; i < prober->n; i++) {
        float weight = (float)((double)weights[i] + step * prober->vector[i]);

        prober->moved[i] += (step > 0 ? 1 : -1) * (double)weight;
        prober->weights[i] = weight;
    }
    return mean_gradient(prober, out);
}

/* image = H * moved / |moved|, moved = the step that the weights really made; vector = moved, of
 * length 1. */
static int multiply(struct prober *prober)
{
    double length = 0;

    memset(prober->moved, 0, prober->n * sizeof *prober->moved);
    if (gradient_beside(prober, prober->step, prober->gradient[0]) < 0 ||
        gradient_beside(prober, -prober->step, prober->gradient[1]) < 0)
        return ga_error_code();
    length = norm(prober->moved, prober->n);
    for (size_t i = 0; i < prober->n; i++) {
        prober->vector[i] = prober->moved[i] / length;
        prober->image[i] = (prober->gradient[0][i] - prober->gradient[1][i]) / length;
    }
    return GA_OK;
}

/* The same signs and sizes for every run; no direction is left out. */
static void start_vector(struct prober *prober)
{
    double length = 0;

    for (size_t i = 0; i < prober->n; i++) {
        uint32_t words[4];

        ga_draw(0, i, 0, GA_DRAW_PROBE, words);
        prober->vector[i] = ga_uniform(words[0]) - 0.5;
    }
    length = norm(prober->vector, prober->n);
    for (size_t i = 0; i < prober->n; i++)
        prober->vector[i] /= length;
}

/* vector = (image + shift * vector) / its length, unless that is 0; returns vector' H vector of the
 * old one. */
static double turn(struct prober *prober, double shift, double *length)
{
    double quotient = 0;

    for (size_t i = 0; i < prober->n; i++) {
        quotient += prober->vector[i] * prober->image[i];
        prober->vector[i] = prober->image[i] + shift * prober->vector[i];
    }
    *length = norm(prober->vector, prober->n);
    for (size_t i = 0; i < prober->n; i++)
        prober->vector[i] /= *length;
    return quotient;
}

/*
 * Power iteration on H + shift until the length of (H + shift) v stands still: that tends to the
 * largest magnitude even where two eigenvalues of opposite signs share it.
 */
static int iterate(struct prober *prober, double shift, double *length, struct ga_sharpness *out)
{
    double last = (double)NAN;
    int still = 0;

    start_vector(prober);
    for (int k = 0; k < GA_SHARPNESS_ITERATIONS && still < 2; k++) {
        if (multiply(prober) < 0)
            return ga_error_code();
        out->lambda = turn(prober, shift, length);
        out->iterations++;
        if (!(*length > 0) || !isfinite(*length))
            break;
        still = fabs(*length - last) <= GA_SHARPNESS_TOLERANCE * *length ? still + 1 : 0;
        last = *length;
    }
    out->converged = still >= 2 || *length == 0;
    if (!isfinite(*length))
        out->lambda = (double)NAN;
    return GA_OK;
}

/* A magnitude that is not the quotient belongs to a negative eigenvalue, at least in part: with
 * that as a shift no eigenvalue is negative. */
static int find(struct prober *prober, struct ga_sharpness *out)
{
    double length = 0;

    if (iterate(prober, 0, &length, out) < 0)
        return ga_error_code();
    if (!(out->lambda < (1 - GA_SHARPNESS_NEAR) * length))
        return GA_OK;
    return iterate(prober, length, &length, out);
}

static int probe(struct ga_run *run, struct ga_sharpness *out)
{
    struct prober prober;
    int code = GA_OK;

    if (prober_init(&prober, run) < 0)
        return ga_error_code();
    code = find(&prober, out);
    prober_fini(&prober);
    return code;
}

/* The mean over the rows of lambda_ij, weighted as they are; the largest over coordinates j. */
static void closed_form(const struct ga_run *run, struct ga_sharpness *out)
{
    const struct ga_table *table = run->table;

    out->exact = out->converged = true;
    out->lambda = -(double)INFINITY;
    for (size_t j = 0; j < table->input_width; j++) {
        double sum = 0, weight = 0;

        for (size_t i = 0; i < table->train; i++) {
            double w = table->weights ? (double)table->weights[i] : 1;

            sum += w * (double)table->inputs[i * table->input_width + j];
            weight += w;
        }
        if (!(sum / weight <= out->lambda))
            out->lambda = sum / weight;
    }
}

/* The version it was found for is held, so that no other one can have its address. */
int ga_run_sharpness(struct ga_run *run, struct ga_sharpness *out)
{
    struct ga_sharpness fresh = {0};

    if (run->sharpness.of != run->server) {
        if (run->net.kind == GA_NET_QUADRATIC)
            closed_form(run, &fresh);
        else if (probe(run, &fresh) < 0)
            return ga_error_code();
        ga_version_close(run->sharpness.of);
        run->sharpness.of = ga_version_share(run->server);
        run->sharpness.value = fresh;
    }
    *out = run->sharpness.value;
    return GA_OK;
}

/* What the next window will be made with. */
static const struct ga_settings *coming(const struct ga_run *run)
{
    return ga_run_pending(run);
}

static double curvature(struct ga_run *run, const struct ga_settings *settings,
                        const struct ga_stability *stability)
{
    struct ga_sharpness sharpness;

    if (ga_run_sharpness(run, &sharpness) < 0)
        return (double)NAN;
    return stability->factor * ga_update_rate(settings, run->counters.updates) *
           (sharpness.lambda + settings->weight_decay);
}

static void stability_with(const struct ga_run *run, const struct ga_settings *settings,
                           struct ga_stability *out)
{
    struct ga_crew crew;

    ga_crew_of(run, settings, &crew);
    ga_stability(settings, &crew, out);
}

void ga_run_stability(const struct ga_run *run, struct ga_stability *out)
{
    stability_with(run, coming(run), out);
}

void ga_run_stability_in_force(const struct ga_run *run, struct ga_stability *out)
{
    stability_with(run, run_set(run), out);
}

double ga_run_step_curvature(struct ga_run *run)
{
    struct ga_stability stability;

    ga_run_stability(run, &stability);
    return curvature(run, coming(run), &stability);
}

double ga_run_step_curvature_in_force(struct ga_run *run)
{
    struct ga_stability stability;

    ga_run_stability_in_force(run, &stability);
    return curvature(run, run_set(run), &stability);
}

double ga_run_gauge(struct ga_run *run)
{
    struct ga_stability stability;

    ga_run_stability(run, &stability);
    if (isnan(stability.limit))
        return (double)NAN;
    return curvature(run, coming(run), &stability) / stability.limit;
}
