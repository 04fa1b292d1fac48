#include "train/crew.h"

#include <math.h>

#include "train/plan.h"
#include "train/time_model.h"

static size_t rows(const struct ga_run *run)
{
    return ga_dataset_table(ga_run_data(run))->train;
}

static size_t part(size_t count, size_t parts, size_t k)
{
    return count / parts + (k < count % parts);
}

size_t ga_crew_shard(const struct ga_run *run, const struct ga_settings *settings, size_t r)
{
    if (settings->sharding == GA_SHARD_STREAM)
        return rows(run);
    return part(rows(run), (size_t)settings->replicas, r);
}

bool ga_crew_has(const struct ga_run *run, const struct ga_settings *settings, size_t r)
{
    const struct ga_replica_value *v = ga_run_replica(run, r);

    return !(v && v->dead) && ga_crew_shard(run, settings, r) > 0;
}

static bool pushes(const struct ga_settings *settings)
{
    return settings->mode == GA_MODE_ASYNC || settings->mode == GA_MODE_SSP ||
           settings->mode == GA_MODE_BUFFERED || settings->mode == GA_MODE_HOGWILD;
}

/* Pieces of a common stream go to whoever comes next, and empty ones to nobody. */
static bool shares_pieces(const struct ga_settings *settings)
{
    return pushes(settings) && settings->sharding == GA_SHARD_STREAM;
}

/* Examples of a full window of the common stream. */
static size_t window_of(const struct ga_run *run, const struct ga_settings *settings)
{
    size_t window = (size_t)ga_plan_window(settings);

    return window > rows(run) && settings->tail != GA_TAIL_WRAP ? rows(run) : window;
}

static size_t pieces_of(const struct ga_run *run, const struct ga_settings *settings)
{
    size_t window = window_of(run, settings), replicas = (size_t)settings->replicas;

    return window < replicas ? window : replicas;
}

size_t ga_crew_item(const struct ga_run *run, const struct ga_settings *settings, size_t r)
{
    size_t replicas = (size_t)settings->replicas, share = 0, shard = 0;

    if (settings->sharding == GA_SHARD_STREAM) {
        size_t pieces = shares_pieces(settings) ? pieces_of(run, settings) : replicas;
        return part(window_of(run, settings), pieces, r % pieces);
    }
    share = part((size_t)ga_plan_window(settings), replicas, r);
    shard = ga_crew_shard(run, settings, r);
    return share > shard && settings->tail != GA_TAIL_WRAP ? shard : share;
}

/* Exponential and the others have mean 1; straggler(p,k) has 1 + (k-1)p. */
static double jitter_mean(const struct ga_settings *settings)
{
    if (settings->jitter.kind != GA_JITTER_STRAGGLER)
        return 1;
    return 1 + (settings->jitter.b - 1) * settings->jitter.a;
}

/* Of a replica's items: all alike, or pieces of two sizes in turn. */
static double mean_examples(const struct ga_run *run, const struct ga_settings *settings, size_t r)
{
    if (!shares_pieces(settings))
        return (double)ga_crew_item(run, settings, r);
    return (double)window_of(run, settings) / (double)pieces_of(run, settings);
}

/* Rounded as the time model rounds, where nothing is drawn. */
double ga_crew_item_ns(const struct ga_run *run, const struct ga_settings *settings, size_t r)
{
    const struct ga_replica_value *v = ga_run_replica(run, r);
    double slow = v ? v->slow : 1;
    double examples = mean_examples(run, settings, r);

    if (settings->jitter.kind == GA_JITTER_CONSTANT && examples == floor(examples))
        return (double)ga_time_item(settings, (uint32_t)r, 0, (size_t)examples, slow);
    return ((double)settings->base_ns + (double)settings->per_example_ns * examples) * slow *
           jitter_mean(settings);
}

static bool is_even(const struct ga_run *run, const struct ga_settings *settings)
{
    return !shares_pieces(settings) || window_of(run, settings) % pieces_of(run, settings) == 0;
}

/* Windows that a replica's shard lasts for; 0: no whole number of them. */
static size_t windows_of(const struct ga_run *run, const struct ga_settings *settings, size_t r)
{
    size_t item = ga_crew_item(run, settings, r), shard = ga_crew_shard(run, settings, r);

    return item > 0 && shard % item == 0 ? shard / item : 0;
}

/*
 * An epoch that is no whole number of windows ends in a short one, unless the tail says otherwise;
 * so does one whose shards last differently long.
 */
static bool is_whole(const struct ga_run *run, const struct ga_settings *settings)
{
    size_t window = (size_t)ga_plan_window(settings);

    if (settings->tail != GA_TAIL_SHORT)
        return true;
    if (settings->sharding == GA_SHARD_STREAM)
        return window >= rows(run) || rows(run) % window == 0;
    for (size_t r = 0; r < (size_t)settings->replicas; r++)
        if (windows_of(run, settings, r) == 0 ||
            windows_of(run, settings, r) != windows_of(run, settings, 0))
            return false;
    return true;
}

static enum ga_times times_of(const struct ga_settings *settings, bool alike)
{
    if (settings->clock != GA_CLOCK_VIRTUAL)
        return GA_TIMES_OTHER;
    if (settings->jitter.kind == GA_JITTER_CONSTANT)
        return alike ? GA_TIMES_EQUAL : GA_TIMES_CONSTANT;
    if (settings->jitter.kind == GA_JITTER_EXPONENTIAL && alike)
        return GA_TIMES_EXPONENTIAL;
    return settings->jitter.kind == GA_JITTER_STRAGGLER && alike ? GA_TIMES_STRAGGLER
                                                                 : GA_TIMES_OTHER;
}

static void add_member(const struct ga_settings *settings, size_t item, double item_ns,
                       struct ga_crew *out)
{
    double turn_ns = item_ns + 2 * out->message_ns + (double)settings->server_ns;

    out->replicas++;
    out->mean_ns += item_ns;
    out->rate += 1 / turn_ns;
    out->slowest_ns = item_ns > out->slowest_ns ? item_ns : out->slowest_ns;
    out->examples = item > out->examples ? item : out->examples;
}

void ga_crew_of(const struct ga_run *run, const struct ga_settings *settings, struct ga_crew *out)
{
    size_t parameters = ga_run_net_of(run)->parameters, replicas = (size_t)settings->replicas;
    double first_ns = -1;
    bool whole = is_whole(run, settings), alike = whole && is_even(run, settings);

    *out = (struct ga_crew){
        .whole = whole,
        .message_ns = (double)ga_time_message(settings, parameters),
        .all_reduce_ns = (double)ga_time_all_reduce(settings, replicas, parameters),
    };
    for (size_t r = 0; r < replicas; r++) {
        size_t item = ga_crew_item(run, settings, r);
        double item_ns = ga_crew_item_ns(run, settings, r);

        if (!ga_crew_has(run, settings, r) || item == 0)
            continue;
        first_ns = first_ns < 0 ? item_ns : first_ns;
        alike = alike && item_ns == first_ns;
        add_member(settings, item, item_ns, out);
    }
    out->mean_ns /= (double)out->replicas;
    out->times = times_of(settings, alike);
}
