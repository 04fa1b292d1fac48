/* One replica's item: its micro-batches, one after another, on one snapshot of the weights. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "train/plan.h"
#include "train/run_internal.h"
#include "train/time_model.h"

/*
 * Micro-batches of an item end in proportion to the examples done; the last one ends with the item.
 * The product is up to 2^62 * 2^18, hence 128 bits.
 */
int64_t ga_item_micro_end(const struct ga_replica_value *value, uint32_t micro)
{
    size_t first = 0, count = 0;
    __extension__ __int128 span = value->finish_ns - value->start_ns;

    ga_plan_part(value->examples, value->micros, micro, &first, &count);
    if (first + count == value->examples)
        return value->finish_ns;
    return value->start_ns + (int64_t)(span * (int64_t)(first + count) / value->examples);
}

/* Computes the replica's next micro-batch into `sums`. Runs on any lane. */
static int compute_micro(struct ga_run *run, struct ga_replica *replica, int lane, void *sums)
{
    struct ga_context *context = NULL;
    struct ga_batch batch;
    size_t first = 0;

    if (ga_run_context(run, lane, &context) < 0)
        return ga_error_code();
    ga_run_batch(run, &batch);
    ga_plan_part(replica->v.examples, replica->v.micros, replica->v.micro, &first, &batch.count);
    batch.index = replica->rows + replica->v.step_row + first;
    return run->compute->gradient(context, replica->v.read->weights, &batch, GA_ASSIGN, sums,
                                  &replica->micro_tally);
}

static struct ga_replica *task_replica(struct ga_task *task)
{
    return (struct ga_replica *)(void *)((char *)task - offsetof(struct ga_replica, task));
}

static void work(struct ga_task *task, int lane)
{
    struct ga_replica *replica = task_replica(task);

    replica->error.code = GA_OK;
    if (compute_micro(replica->run, replica, lane, replica->micro_sums) < 0)
        ga_error_take(&replica->error);
}

static void submit_next(struct ga_run *run, struct ga_replica *replica)
{
    if (!run->parallel || replica->submitted || replica->v.micro == replica->v.micros)
        return;
    replica->task.work = work;
    replica->submitted = true;
    ga_workers_submit(run->workers, &replica->task);
}

void ga_item_settle(struct ga_run *run, size_t r)
{
    struct ga_replica *replica = &run->replica[r];

    if (replica->submitted)
        ga_workers_wait(run->workers, &replica->task);
    replica->submitted = false;
}

static void clear_item(struct ga_replica_value *v)
{
    ga_tally_clear(&v->tally);
    v->micro = 0;
    v->done_examples = 0;
    v->micro_norm_square = 0;
    v->micro_inverse_count = 0;
    v->fault_micro = 0;
    v->fault_tensor = 0;
    v->fault_flags = 0;
}

double ga_item_row_weight(const struct ga_run *run, const uint32_t *rows, size_t count)
{
    double sum = 0;

    if (!run->table->weights)
        return (double)count;
    for (size_t i = 0; i < count; i++)
        sum += (double)run->table->weights[rows[i]];
    return sum;
}

uint64_t ga_item_least_clock(const struct ga_run *run)
{
    uint64_t least = UINT64_MAX;

    for (size_t r = 0; r < run->replicas; r++)
        if (!run->replica[r].v.dead && run->replica[r].v.clock < least)
            least = run->replica[r].v.clock;
    return least;
}

bool ga_item_may_start(const struct ga_run *run, size_t r, uint64_t least_clock)
{
    const struct ga_replica_value *v = &run->replica[r].v;
    struct ga_turn turn = {
        .settings = run_set(run),
        .window = &run->window,
        .replica = v,
        .closed = ga_run_closed(run),
        .least_clock = least_clock,
    };

    return v->state == GA_REPLICA_READY && !v->dead && run->policy->may_start(&turn);
}

void ga_item_schedule(struct ga_run *run, size_t r)
{
    const struct ga_replica *replica = &run->replica[r];
    const struct ga_replica_value *v = &replica->v;
    int64_t time_ns = v->finish_ns;

    if (v->state == GA_REPLICA_BUSY && replica->hogwild)
        time_ns = ga_hogwild_next(run, r);
    else if (v->state == GA_REPLICA_BUSY && v->micro < v->micros)
        time_ns = ga_item_micro_end(v, v->micro);
    run->clock_kind->schedule(run->clock, r, time_ns);
}

/* The weights it will work on: private ones in local mode, else what the server gives out. */
static int pull(struct ga_run *run, size_t r)
{
    struct ga_replica_value *v = &run->replica[r].v;

    ga_version_close(v->read);
    v->read = NULL;
    if (!run_is(run, GA_FAMILY_ROUND))
        return ga_update_pull(run, &v->read);
    if (v->step == 0 && ga_local_pull(run, r) < 0)
        return ga_error_code();
    v->read = ga_version_share(v->own);
    return GA_OK;
}

int ga_item_start(struct ga_run *run, size_t r, int64_t time_ns)
{
    struct ga_replica *replica = &run->replica[r];
    struct ga_replica_value *v = &replica->v;

    if (pull(run, r) < 0)
        return ga_error_code();
    clear_item(v);
    replica->has_kept = false;
    v->state = GA_REPLICA_BUSY;
    v->in_window = false;
    v->window = run->window.number;
    v->examples = run_is(run, GA_FAMILY_ROUND) ? replica->step_count[v->step] : v->part;
    v->micros = ga_plan_micros(run_set(run), v->examples);
    v->idle_ns += time_ns - v->free_ns;
    v->start_ns = time_ns;
    v->finish_ns = ga_time_add(
        time_ns, ga_time_item(run_set(run), (uint32_t)r, v->items, v->examples, v->slow));
    v->items++;
    if (run_is(run, GA_FAMILY_SHARED))
        return ga_hogwild_start(run, r);
    ga_item_schedule(run, r);
    submit_next(run, replica);
    return GA_OK;
}

/* Where the micro-batch's sums are; the first of an item is computed straight into the accumulator.
 */
static int micro_result(struct ga_run *run, size_t r, void **sums)
{
    struct ga_replica *replica = &run->replica[r];
    bool straight = !replica->submitted && replica->v.micro == 0;

    if (!replica->submitted) {
        *sums = straight ? replica->sums : replica->micro_sums;
        return compute_micro(run, replica, 0, *sums);
    }
    ga_item_settle(run, r);
    *sums = replica->micro_sums;
    return replica->error.code == GA_OK ? GA_OK : ga_error_put(&replica->error);
}

static uint32_t first_bad_tensor(const struct ga_run *run, const void *sums)
{
    for (size_t i = 0; i < run->net.parameters; i++) {
        double sum = 0;

        run->compute->read_sums(&run->net, sums, i, 1, &sum);
        if (!isfinite(sum))
            return (uint32_t)(ga_net_tensor_at(&run->net, i) - run->net.tensor);
    }
    return UINT32_MAX;
}

static void note_fault(const struct ga_run *run, struct ga_replica *replica, const void *sums,
                       uint32_t flags)
{
    if (replica->v.fault_micro != 0)
        return;
    replica->v.fault_micro = replica->v.micro;
    replica->v.fault_flags = flags;
    replica->v.fault_tensor = first_bad_tensor(run, sums);
}

/* Effective number of examples: (sum w)^2 / sum w^2. */
static double effective_count(const struct ga_tally *tally)
{
    double weight = ga_tally_weight_sum(tally);

    return weight * weight / tally->weight_square;
}

void ga_item_event(const struct ga_replica_value *v, size_t r, struct ga_event *event)
{
    event->replica = (int32_t)r;
    event->start_ns = v->start_ns;
    event->version = v->read ? v->read->number : 0;
    event->micro = v->micro;
    event->micros = v->micros;
}

static void emit_micro(struct ga_run *run, size_t r, double norm)
{
    const struct ga_replica *replica = &run->replica[r];
    const struct ga_tally *tally = &replica->micro_tally;
    struct ga_event event = {.kind = GA_EVENT_MICRO, .norm = norm};

    ga_item_event(&replica->v, r, &event);
    event.examples = (uint32_t)tally->examples;
    event.weight = ga_tally_weight_sum(tally);
    event.loss = ga_tally_loss_sum(tally) / event.weight;
    ga_run_emit(run, &event);
}

int ga_item_micro(struct ga_run *run, size_t r, int64_t time_ns)
{
    struct ga_replica *replica = &run->replica[r];
    struct ga_replica_value *v = &replica->v;
    struct ga_tally *tally = &replica->micro_tally;
    void *sums = NULL;
    double weight = 0, norm = 0;

    if (micro_result(run, r, &sums) < 0)
        return ga_error_code();
    weight = ga_tally_weight_sum(tally);
    if (weight > 0) {
        norm = run->compute->mean(&run->net, sums, weight, NULL);
        v->micro_norm_square += norm * norm;
        v->micro_inverse_count += 1 / effective_count(tally);
    }
    if (v->micro == 0 && sums != replica->sums)
        memcpy(replica->sums, sums, run->sum_bytes);
    else if (v->micro > 0)
        run->compute->add(&run->net, replica->sums, sums);
    ga_tally_add(&v->tally, tally);
    v->micro++;
    v->done_examples += (uint32_t)tally->examples;
    run->counters.micros++;
    run->now_ns = time_ns;
    if (tally->flags != 0 || !isfinite(norm))
        note_fault(run, replica, sums, tally->flags);
    emit_micro(run, r, norm);
    ga_item_schedule(run, r);
    submit_next(run, replica);
    return GA_OK;
}

/* What the item's own accumulator says of it; in local mode, of its whole round. */
static void measure_item(struct ga_run *run, size_t r)
{
    struct ga_replica_value *v = &run->replica[r].v;
    const struct ga_tally *tally = run_is(run, GA_FAMILY_ROUND) ? &v->round : &v->tally;
    double weight = ga_tally_weight_sum(&v->tally);

    v->loss = ga_tally_loss_sum(tally) / ga_tally_weight_sum(tally);
    v->norm = weight > 0 ? run->compute->mean(&run->net, run->replica[r].sums, weight, NULL) : 0;
    v->staleness = (double)(run->counters.updates - v->read->number);
}

static void count_staleness(struct ga_run *run, uint64_t staleness)
{
    size_t bin = staleness < GA_STALENESS_BINS ? (size_t)staleness : GA_STALENESS_BINS - 1;

    run->counters.pushes++;
    run->counters.staleness += staleness;
    run->stale[bin]++;
    if (staleness > run->window.staleness)
        run->window.staleness = staleness;
}

void ga_item_finish(struct ga_run *run, size_t r, int64_t time_ns)
{
    struct ga_replica_value *v = &run->replica[r].v;
    struct ga_event event = {.kind = GA_EVENT_PUSH};

    run->clock_kind->cancel(run->clock, r);
    run->now_ns = time_ns;
    v->finished++;
    v->clock++;
    v->part = 0;
    v->step_row = 0;
    v->state = GA_REPLICA_DONE;
    v->in_window = true;
    measure_item(run, r);
    count_staleness(run, run->counters.updates - v->read->number);
    ga_item_event(v, r, &event);
    event.examples = run_is(run, GA_FAMILY_ROUND) ? (uint32_t)v->round.examples : v->examples;
    event.weight = ga_tally_weight_sum(run_is(run, GA_FAMILY_ROUND) ? &v->round : &v->tally);
    event.loss = v->loss;
    event.norm = v->norm;
    event.value = v->staleness;
    ga_run_emit(run, &event);
}

void ga_item_rest(struct ga_run *run, size_t r, int64_t time_ns)
{
    struct ga_replica_value *v = &run->replica[r].v;

    v->busy_ns += time_ns - v->start_ns;
    v->finished_ns += time_ns - v->start_ns;
    v->free_ns = time_ns;
}

void ga_item_drop(struct ga_run *run, size_t r, int64_t time_ns)
{
    struct ga_replica_value *v = &run->replica[r].v;
    struct ga_event event = {.kind = GA_EVENT_DROP};

    ga_item_settle(run, r);
    run->clock_kind->cancel(run->clock, r);
    if (v->state == GA_REPLICA_LATE)
        run->late--;
    if (v->state == GA_REPLICA_BUSY || v->state == GA_REPLICA_SENDING)
        v->part = 0;
    if (v->state != GA_REPLICA_SENDING && v->state != GA_REPLICA_DONE) {
        v->busy_ns += time_ns - v->start_ns;
        v->free_ns = time_ns;
    }
    v->state = GA_REPLICA_READY;
    v->in_window = false;
    v->step_row = 0;
    ga_hogwild_item_close(run->replica[r].hogwild);
    run->replica[r].hogwild = NULL;
    run->counters.items_dropped++;
    run->counters.examples_dropped += v->examples;
    ga_item_event(v, r, &event);
    event.examples = v->examples;
    event.weight = ga_tally_weight_sum(&v->tally);
    ga_run_emit(run, &event);
    clear_item(v);
    ga_version_close(v->read);
    v->read = NULL;
}

void ga_item_make_late(struct ga_run *run, size_t r)
{
    struct ga_replica_value *v = &run->replica[r].v;

    ga_item_settle(run, r);
    v->state = GA_REPLICA_LATE;
    v->part = 0;
    run->late++;
    ga_tally_clear(&v->tally);
    run->clock_kind->schedule(run->clock, r, v->finish_ns);
}
