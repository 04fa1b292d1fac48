/* What a run's memory comes to, before it is asked for and while it is held; the budget of a
 * replica. */
#include "base/memory.h"
#include "base/number.h"
#include "train/plan.h"
#include "train/run_internal.h"

/* The sum, or the largest number where it does not fit. */
static uint64_t plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t need(const struct ga_settings *settings, const struct ga_net *net,
                     const struct ga_compute *compute, size_t batch)
{
    struct ga_memory memory;

    ga_model_memory(net, compute, ga_run_private_blocks(settings), batch, &memory);
    return memory.total;
}

size_t ga_run_largest_batch(const struct ga_settings *settings, const struct ga_net *net,
                            const struct ga_compute *compute)
{
    size_t fits = 0, beyond = GA_MAX_WINDOW + 1;

    if (settings->memory == 0)
        return GA_MAX_WINDOW;
    while (beyond - fits > 1) {
        size_t middle = fits + (beyond - fits) / 2;

        if (need(settings, net, compute, middle) <= settings->memory)
            fits = middle;
        else
            beyond = middle;
    }
    return fits;
}

void ga_run_keep_window(struct ga_settings *settings, size_t window, size_t batch)
{
    size_t replicas = (size_t)settings->replicas, share = (window + replicas - 1) / replicas;
    size_t least = (share + batch - 1) / batch;

    for (size_t accum = least; accum <= 2 * least && accum <= share; accum++) {
        if (window % (replicas * accum) != 0)
            continue;
        settings->accum = (int32_t)accum;
        settings->batch = (int32_t)(window / (replicas * accum));
        settings->global = 0;
        return;
    }
    settings->accum = (int32_t)least;
    settings->global = (int32_t)window;
}

/* What would do instead, as one would type it. */
static void suggest(const struct ga_settings *settings, size_t fits, struct ga_text *out)
{
    struct ga_settings draft = *settings;
    uint64_t window = ga_plan_window(settings);

    ga_run_keep_window(&draft, (size_t)window, fits);
    if (draft.global > 0)
        ga_text_printf(out, "set accum %d keeps the window of %llu", (int)draft.accum,
                       (unsigned long long)window);
    else
        ga_text_printf(out, "set batch %d accum %d keeps the window of %llu", (int)draft.batch,
                       (int)draft.accum, (unsigned long long)window);
}

static int refuse(const struct ga_settings *settings, size_t batch, uint64_t bytes, size_t fits)
{
    char needed[GA_NUMBER_TEXT], limit[GA_NUMBER_TEXT];
    struct ga_text advice = GA_TEXT_INIT;

    ga_format_bytes(needed, bytes);
    ga_format_bytes(limit, settings->memory);
    if (fits > 0) {
        suggest(settings, fits, &advice);
        ga_fail(
            GA_ERANGE,
            "a micro-batch of %zu examples needs %s for each replica: expected at most the %s of "
            "the setting memory, in which %zu fit; %s",
            batch, needed, limit, fits, ga_text_get(&advice));
    } else {
        ga_fail(
            GA_ERANGE,
            "not even a micro-batch of one example fits: it needs more than the %s of the setting "
            "memory (%s with this batch): expected a smaller model or more memory",
            limit, needed);
    }
    ga_text_free(&advice);
    return ga_error_code();
}

/* A model that does not fit the data is refused elsewhere, when a run is needed. */
int ga_run_check_memory(const struct ga_settings *settings, const struct ga_dataset *data)
{
    const struct ga_compute *compute = NULL;
    struct ga_net net;
    size_t batch = ga_plan_micro(settings);
    uint64_t bytes = 0;

    if (settings->memory == 0 || ga_run_net(settings, data, &net) < 0)
        return GA_OK;
    compute = ga_run_compute(settings, &net);
    if (!compute)
        return GA_OK;
    bytes = need(settings, &net, compute, batch);
    if (bytes <= settings->memory)
        return GA_OK;
    return refuse(settings, batch, bytes, ga_run_largest_batch(settings, &net, compute));
}

static uint64_t context_bytes(const struct ga_run *run)
{
    size_t each = run->compute->context_bytes(&run->net, atomic_load(&run->micro_examples));
    uint64_t bytes = 0;

    for (size_t open = atomic_load(&run->contexts); open > 0; open--)
        bytes = plus(bytes, each);
    return bytes;
}

/* Versions that the run holds, those that replicas read included; shared ones count once. */
static uint64_t version_bytes(const struct ga_run *run)
{
    uint64_t bytes = ga_version_bytes(run->server) + ga_version_bytes(run->previous);
    const struct ga_version *last = NULL;

    for (size_t i = 0; i < run->recent_count; i++)
        if (run->recent[i] != run->previous)
            bytes += ga_version_bytes(run->recent[i]);
    for (size_t r = 0; r < run->replicas; r++) {
        const struct ga_replica_value *v = &run->replica[r].v;

        bytes += ga_version_bytes(v->own);
        if (v->read && v->read != v->own && v->read != run->server && v->read != run->previous &&
            v->read != last)
            bytes += ga_version_bytes(v->read);
        last = v->read;
    }
    return bytes;
}

static uint64_t row_bytes(const struct ga_run *run)
{
    uint64_t count = 0;

    for (size_t r = 0; r < run->replicas; r++)
        count += run->replica[r].rows_capacity + run->replica[r].step_capacity;
    return (count + run->rows.index_capacity) * sizeof(uint32_t);
}

static uint64_t sum_bytes(const struct ga_run *run)
{
    uint64_t sums = run->replicas + 1; /* the reduced one */

    if (run->lanes > 1)
        sums += run->replicas;
    else if (!run_joins(run))
        sums += run->places;
    for (size_t place = 0; place < run->places; place++)
        sums += run->totals[place] != NULL;
    return sums * run->sum_bytes;
}

void ga_run_memory(const struct ga_run *run, struct ga_memory *replica, uint64_t *run_bytes,
                   uint64_t *history_bytes)
{
    uint64_t block = run->net.parameters * sizeof(float);
    uint64_t bytes = sum_bytes(run) + 2 * block; /* gradient and scratch */

    ga_model_memory(&run->net, run->compute, ga_run_private_blocks(run_set(run)),
                    ga_plan_micro(run_set(run)), replica);
    if (run->parts)
        bytes += ga_parts_bytes(run->net.parameters, (size_t)run->lanes, run->replicas);
    else
        bytes += run->replicas * block;
    bytes += sizeof *run + run->replicas * sizeof *run->replica;
    bytes = plus(bytes, context_bytes(run) + version_bytes(run) + row_bytes(run));
    *run_bytes = plus(bytes, ga_dataset_bytes(run->data));
    *history_bytes = 0;
}
