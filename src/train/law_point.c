/*
 * Where training on a quadratic comes to rest, coordinate by coordinate.
 *
 * Each replica with data of its own has f_i = lambda_i/2 (w - c_i)^2 and a share a_i of them. local
 * h: sum q_i c_i / sum q_i, q_i = a_i (1 - (1 - lr lambda_i)^h). Pushes, with item rates r_i and
 * step factors s_i: sum r_i s_i lambda_i c_i / sum r_i s_i lambda_i for lr -> 0: whoever is faster
 * pulls harder. All others: the minimum of the whole.
 */
#include <math.h>

#include "train/law_internal.h"

static bool owns_rows(const struct ga_law_case *c)
{
    return c->settings->sharding != GA_SHARD_STREAM;
}

static bool pushes(const struct ga_settings *settings)
{
    return settings->mode == GA_MODE_ASYNC || settings->mode == GA_MODE_SSP ||
           settings->mode == GA_MODE_BUFFERED || settings->mode == GA_MODE_HOGWILD;
}

/* Steps that depend on the staleness differ from replica to replica in no closed form. */
static bool has_factors(const struct ga_settings *settings)
{
    return settings->scale != GA_SCALE_STALENESS && settings->scale != GA_SCALE_SQRT;
}

static bool has_point(const struct ga_law_case *c)
{
    const struct ga_settings *settings = c->settings;

    if (settings->optimizer != GA_SGD || settings->weight_decay > 0)
        return false;
    if (!owns_rows(c))
        return true;
    if (settings->mode == GA_MODE_BUFFERED ||
        (settings->mode == GA_MODE_SSP && settings->bound >= 0))
        return false;
    return (!pushes(settings) || has_factors(settings)) && !(settings->backup > 0);
}

static size_t rows(const struct ga_law_case *c)
{
    const struct ga_net *net = ga_run_net_of(c->run);

    if (net->kind != GA_NET_QUADRATIC || !has_point(c))
        return 0;
    return net->parameters < GA_LAW_COORDINATES ? net->parameters : GA_LAW_COORDINATES;
}

/* A replica's own quadratic in one coordinate. */
struct bowl {
    double lambda, center;
    double share; /* a_i: of the examples */
};

static bool owns(const struct ga_law_case *c, size_t replica, size_t row)
{
    size_t replicas = ga_run_replicas(c->run), n = ga_dataset_table(ga_run_data(c->run))->train;
    size_t longer = n % replicas, size = n / replicas;
    size_t first = replica * size + (replica < longer ? replica : longer);

    if (c->settings->sharding == GA_SHARD_STRIDED)
        return row % replicas == replica;
    return row >= first && row < first + size + (replica < longer);
}

static struct bowl bowl_of(const struct ga_law_case *c, size_t replica, size_t coordinate)
{
    const struct ga_table *table = ga_dataset_table(ga_run_data(c->run));
    double lambda = 0, pull = 0, weight = 0;
    size_t count = 0;

    for (size_t i = 0; i < table->train; i++) {
        double w = table->weights ? (double)table->weights[i] : 1;
        size_t at = i * table->input_width + coordinate;

        if (owns_rows(c) && !owns(c, replica, i))
            continue;
        lambda += w * (double)table->inputs[at];
        pull += w * (double)table->inputs[at] * (double)table->targets[at];
        weight += w;
        count++;
    }
    return (struct bowl){.lambda = lambda / weight,
                         .center = pull / lambda,
                         .share = (double)count / (double)table->train};
}

/* q_i of local; lambda_i, or its like for pushes. */
static double force_of(const struct ga_law_case *c, size_t r, const struct bowl *bowl)
{
    const struct ga_settings *settings = c->settings;
    double item_ns = ga_crew_item_ns(c->run, settings, r);
    double rate = 1 / (item_ns + 2 * c->crew->message_ns + (double)settings->server_ns);

    if (settings->mode == GA_MODE_LOCAL)
        return bowl->share * (1 - pow(1 - settings->lr * bowl->lambda, settings->period));
    if (!pushes(settings))
        return bowl->share * bowl->lambda;
    switch (settings->scale) {
    case GA_SCALE_SHARE:
        return rate * bowl->share * bowl->lambda;
    case GA_SCALE_RESCALED:
        return rate * bowl->share * item_ns * bowl->lambda;
    default:
        return rate * bowl->lambda;
    }
}

static double predict(const struct ga_law_case *c, size_t k)
{
    size_t replicas = owns_rows(c) ? ga_run_replicas(c->run) : 1;
    double sum = 0, weighted = 0;

    for (size_t r = 0; r < replicas; r++) {
        struct bowl bowl;
        double force = 0;

        if (owns_rows(c) && !ga_crew_has(c->run, c->settings, r))
            continue;
        bowl = bowl_of(c, r, k);
        force = force_of(c, r, &bowl);
        sum += force;
        weighted += force * bowl.center;
    }
    return weighted / sum;
}

/* Pushes circle around the point, so their mean is looked at; the others come to rest there. */
static double measure(const struct ga_law_case *c, size_t k)
{
    return pushes(c->settings) ? c->mean[k] : (double)ga_run_version(c->run)->weights[k];
}

static bool takes_whole_shards(const struct ga_law_case *c)
{
    for (size_t r = 0; r < ga_run_replicas(c->run); r++)
        if (ga_crew_item(c->run, c->settings, r) != ga_crew_shard(c->run, c->settings, r))
            return false;
    return true;
}

static enum ga_law_truth truth(const struct ga_law_case *c)
{
    bool plain = c->settings->momentum == 0 || c->settings->mode != GA_MODE_LOCAL;

    if (!owns_rows(c))
        return GA_LAW_MEAN;
    return plain && takes_whole_shards(c) && c->settings->clip == 0 ? GA_LAW_MEAN : GA_LAW_GUIDE;
}

static const char *formula(const struct ga_law_case *c)
{
    if (!owns_rows(c))
        return "minimum of the loss";
    if (c->settings->mode == GA_MODE_LOCAL)
        return "q_i = a_i (1-(1-lr l_i)^h)";
    return pushes(c->settings) ? "r_i s_i l_i, for small lr" : "minimum of the loss";
}

const struct ga_law_kind ga_laws_of_points[] = {
    {.name = "comes to rest at w",
     .formula_of = formula,
     .unit = "",
     .rows = rows,
     .predict = predict,
     .measure = measure,
     .truth = truth},
};
const size_t ga_laws_of_points_count = sizeof ga_laws_of_points / sizeof *ga_laws_of_points;
