/* Metrics read from a run as it stands. */
#include <math.h>

#include "train/run_internal.h"

static double of_record(const struct ga_run *run, size_t offset)
{
    if (!run->has_record)
        return NAN;
    return *(const double *)(const void *)((const char *)&run->last_record + offset);
}

#define RECORD(field)                                                                              \
    static double read_##field(struct ga_run *run)                                                 \
    {                                                                                              \
        return of_record(run, offsetof(struct ga_update_record, field));                           \
    }
RECORD(loss)
RECORD(grad_norm)
RECORD(update_norm)
RECORD(lr)
RECORD(clip_scale)
RECORD(window_weight)
RECORD(noise_trace)
RECORD(noise_signal)

#define COUNTER(name, field)                                                                       \
    static double read_##name(struct ga_run *run)                                                  \
    {                                                                                              \
        return (double)run->counters.field;                                                        \
    }
COUNTER(update, updates)
COUNTER(micros, micros)
COUNTER(examples, examples)
COUNTER(skipped, skipped)
COUNTER(dropped, items_dropped)
COUNTER(applied, items_applied)
COUNTER(bytes, bytes)

static double evaluated(struct ga_run *run, bool test, bool accuracy)
{
    double loss = NAN, share = NAN;
    uint64_t examples = 0;

    if (ga_run_evaluate(run, test, &loss, &share, &examples) < 0)
        return NAN;
    return accuracy ? share : loss;
}

static double read_dataset_loss(struct ga_run *run)
{
    return evaluated(run, false, false);
}

static double read_test_loss(struct ga_run *run)
{
    return evaluated(run, true, false);
}

static double read_accuracy(struct ga_run *run)
{
    return evaluated(run, run->table->test > 0, true);
}

static double read_param_norm(struct ga_run *run)
{
    return ga_buffer_norm(run->compute, run->server->weights, run->net.parameters);
}

static double read_epoch(struct ga_run *run)
{
    return run->has_record ? (double)run->last_record.epoch : 0;
}

static double read_time(struct ga_run *run)
{
    return (double)run->now_ns / 1e9;
}

static double read_window(struct ga_run *run)
{
    return run->has_record ? (double)run->last_record.window_examples : (double)NAN;
}

static double read_noise_scale(struct ga_run *run)
{
    return run->noise.trace / run->noise.signal;
}

static double read_example_rate(struct ga_run *run)
{
    return run->example_rate;
}

static double read_virtual_rate(struct ga_run *run)
{
    return (double)run->counters.examples / ((double)run->now_ns * 1e-9);
}

static double read_in_flight(struct ga_run *run)
{
    size_t count = 0;

    for (size_t r = 0; r < run->replicas; r++)
        count += run->replica[r].v.state != GA_REPLICA_READY;
    if (ga_run_pushes(run))
        count += run->window.arrived; /* in the server's buffer */
    return (double)count;
}

static double read_clock_gap(struct ga_run *run)
{
    uint64_t low = UINT64_MAX, high = 0;

    for (size_t r = 0; r < run->replicas; r++) {
        uint64_t finished = run->replica[r].v.finished;

        low = finished < low ? finished : low;
        high = finished > high ? finished : high;
    }
    return (double)(high - low);
}

/* Waiting time since it came, the wait under way included. */
static double idle_ns(const struct ga_run *run, const struct ga_replica_value *v)
{
    bool waits = v->state == GA_REPLICA_READY || v->state == GA_REPLICA_DONE;
    int64_t open = waits && run->now_ns > v->free_ns ? run->now_ns - v->free_ns : 0;

    return (double)(v->idle_ns - v->joined_ns + open);
}

static double read_idle(struct ga_run *run)
{
    double sum = 0, span = 0;

    for (size_t r = 0; r < run->replicas; r++) {
        sum += idle_ns(run, &run->replica[r].v);
        span += (double)(run->now_ns - run->replica[r].v.joined_ns);
    }
    return sum / span;
}

static double read_staleness(struct ga_run *run)
{
    double largest = NAN;

    for (size_t r = 0; r < run->replicas; r++)
        if (!(run->replica[r].v.staleness <= largest))
            largest = run->replica[r].v.staleness;
    return largest;
}

static double (*const run_reader[GA_METRIC_COUNT])(struct ga_run *run) = {
    [GA_METRIC_LOSS] = read_loss,
    [GA_METRIC_DATASET_LOSS] = read_dataset_loss,
    [GA_METRIC_TEST_LOSS] = read_test_loss,
    [GA_METRIC_ACCURACY] = read_accuracy,
    [GA_METRIC_GRAD_NORM] = read_grad_norm,
    [GA_METRIC_UPDATE_NORM] = read_update_norm,
    [GA_METRIC_PARAM_NORM] = read_param_norm,
    [GA_METRIC_LR] = read_lr,
    [GA_METRIC_CLIP_SCALE] = read_clip_scale,
    [GA_METRIC_UPDATE] = read_update,
    [GA_METRIC_MICRO_BATCHES] = read_micros,
    [GA_METRIC_EXAMPLES] = read_examples,
    [GA_METRIC_SKIPPED] = read_skipped,
    [GA_METRIC_DROPPED] = read_dropped,
    [GA_METRIC_APPLIED] = read_applied,
    [GA_METRIC_IN_FLIGHT] = read_in_flight,
    [GA_METRIC_EPOCH] = read_epoch,
    [GA_METRIC_TIME] = read_time,
    [GA_METRIC_WINDOW] = read_window,
    [GA_METRIC_WINDOW_WEIGHT] = read_window_weight,
    [GA_METRIC_NOISE_SCALE] = read_noise_scale,
    [GA_METRIC_NOISE_TRACE] = read_noise_trace,
    [GA_METRIC_NOISE_SIGNAL] = read_noise_signal,
    [GA_METRIC_BYTES] = read_bytes,
    [GA_METRIC_IDLE] = read_idle,
    [GA_METRIC_EXAMPLE_RATE] = read_example_rate,
    [GA_METRIC_VIRTUAL_RATE] = read_virtual_rate,
    [GA_METRIC_CLOCK_GAP] = read_clock_gap,
    [GA_METRIC_STALENESS] = read_staleness,
    [GA_METRIC_STALENESS_MEAN] = ga_read_staleness_mean,
    [GA_METRIC_STALENESS_MAX] = ga_read_staleness_max,
    [GA_METRIC_PUSHES] = ga_read_pushes,
    [GA_METRIC_PRIVATE_STEPS] = ga_read_private_steps,
    [GA_METRIC_DRIFT] = ga_read_drift,
    [GA_METRIC_LOST] = ga_read_lost,
    [GA_METRIC_KILLED] = ga_read_killed,
    [GA_METRIC_SHARPNESS] = ga_read_sharpness,
    [GA_METRIC_GAUGE] = ga_run_gauge,
};

static double replica_micros(const struct ga_run *run, const struct ga_replica *replica)
{
    (void)run;
    return replica->v.micro;
}

static double replica_idle(const struct ga_run *run, const struct ga_replica *replica)
{
    return idle_ns(run, &replica->v) / (double)(run->now_ns - replica->v.joined_ns);
}

static double replica_loss(const struct ga_run *run, const struct ga_replica *replica)
{
    (void)run;
    return replica->v.loss;
}

static double replica_norm(const struct ga_run *run, const struct ga_replica *replica)
{
    (void)run;
    return replica->v.norm;
}

static double replica_cosine(const struct ga_run *run, const struct ga_replica *replica)
{
    (void)run;
    return replica->v.cosine;
}

static double replica_staleness(const struct ga_run *run, const struct ga_replica *replica)
{
    (void)run;
    return replica->v.staleness;
}

static double replica_accum_weight(const struct ga_run *run, const struct ga_replica *replica)
{
    (void)run;
    return ga_tally_weight_sum(&replica->v.tally);
}

static double replica_accum_norm(const struct ga_run *run, const struct ga_replica *replica)
{
    double weight = ga_tally_weight_sum(&replica->v.tally);

    return weight > 0 ? run->compute->mean(&run->net, replica->sums, weight, NULL) : 0;
}

static double (*const replica_reader[GA_METRIC_COUNT])(const struct ga_run *,
                                                       const struct ga_replica *) = {
    [GA_METRIC_MICRO_BATCHES] = replica_micros,  [GA_METRIC_IDLE] = replica_idle,
    [GA_METRIC_REPLICA_LOSS] = replica_loss,     [GA_METRIC_REPLICA_NORM] = replica_norm,
    [GA_METRIC_COSINE] = replica_cosine,         [GA_METRIC_STALENESS] = replica_staleness,
    [GA_METRIC_ACCUM_NORM] = replica_accum_norm, [GA_METRIC_ACCUM_WEIGHT] = replica_accum_weight,
};

double ga_run_metric(struct ga_run *run, enum ga_metric metric, int32_t replica)
{
    if ((unsigned)metric >= GA_METRIC_COUNT)
        return NAN;
    if (replica < 0)
        return run_reader[metric] ? run_reader[metric](run) : NAN;
    if ((size_t)replica >= run->replicas || !replica_reader[metric])
        return NAN;
    return replica_reader[metric](run, &run->replica[replica]);
}
