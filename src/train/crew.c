#include "train/crew.h"

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

size_t ga_crew_item(const struct ga_run *run, const struct ga_settings *settings, size_t r)
{
    size_t window = (size_t)ga_plan_window(settings), replicas = (size_t)settings->replicas;
    bool wraps = settings->tail == GA_TAIL_WRAP;
    size_t share = 0, shard = ga_crew_shard(run, settings, r);

    if (settings->sharding != GA_SHARD_STREAM) {
        share = part(window, replicas, r);
        return share > shard && !wraps ? shard : share;
    }
    return part(window > rows(run) && !wraps ? rows(run) : window, replicas, r);
}

/* Exponential and the others have mean 1; straggler(p,k) has 1 + (k-1)p. */
static double jitter_mean(const struct ga_settings *settings)
{
    if (settings->jitter.kind != GA_JITTER_STRAGGLER)
        return 1;
    return 1 + (settings->jitter.b - 1) * settings->jitter.a;
}

double ga_crew_item_ns(const struct ga_run *run, const struct ga_settings *settings, size_t r)
{
    const struct ga_replica_value *v = ga_run_replica(run, r);
    double nominal = (double)settings->base_ns +
                     (double)settings->per_example_ns * (double)ga_crew_item(run, settings, r);

    return nominal * (v ? v->slow : 1) * jitter_mean(settings);
}

/* An epoch that is no whole number of windows ends in a short one, unless the tail says otherwise.
 */
static bool is_whole(const struct ga_run *run, const struct ga_settings *settings)
{
    size_t window = (size_t)ga_plan_window(settings);

    if (settings->tail != GA_TAIL_SHORT)
        return true;
    if (settings->sharding == GA_SHARD_STREAM)
        return window >= rows(run) || rows(run) % window == 0;
    for (size_t r = 0; r < (size_t)settings->replicas; r++) {
        size_t item = ga_crew_item(run, settings, r);

        if (item > 0 && ga_crew_shard(run, settings, r) % item != 0)
            return false;
    }
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
    bool alike = is_whole(run, settings);

    *out = (struct ga_crew){
        .whole = alike,
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
