/* One replica's item: its micro-batches, one after another, on one snapshot of the weights. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "train/plan.h"
#include "train/run_internal.h"
#include "train/time_model.h"

/* The product is up to 2^62 * 2^33; 64 bits nearly always hold it, and divide faster. */
int64_t ga_item_part_of(int64_t span_ns, uint64_t done, uint64_t all)
{
    if (span_ns >> 44 == 0 && done >> 20 == 0)
        return (int64_t)((uint64_t)span_ns * done / all);
    return (int64_t)((__extension__(__int128) span_ns) * (int64_t)done / (int64_t)all);
}

static void work_out_cut(struct ga_item_cut *cut, const struct ga_replica_value *v)
{
    size_t first = 0, last = 0;

    ga_plan_part(v->examples, v->micros, v->micros - 1, &first, &last);
    cut->examples = v->examples;
    cut->micros = v->micros;
    cut->whole = (uint32_t)last;
    cut->longer = v->examples - v->micros * cut->whole;
    cut->span_ns = v->finish_ns - v->start_ns;
    cut->each_ns = cut->span_ns % v->examples == 0 ? cut->span_ns / v->examples : -1;
}

/* Micro-batches of an item end in proportion to the examples done, the last one with the item. */
int64_t ga_item_aim(struct ga_replica *replica)
{
    const struct ga_replica_value *v = &replica->v;
    struct ga_item_cut *cut = &replica->cut;
    size_t done = 0;

    if (v->micro == v->micros)
        return v->finish_ns;
    if (cut->examples != v->examples || cut->micros != v->micros ||
        cut->span_ns != v->finish_ns - v->start_ns)
        work_out_cut(cut, v);
    replica->next_first =
        (size_t)v->micro * cut->whole + (v->micro < cut->longer ? v->micro : cut->longer);
    replica->next_count = cut->whole + (v->micro < cut->longer);
    replica->next_whole = replica->next_count == replica->run->table->train &&
                          run_set(replica->run)->tail != GA_TAIL_WRAP;
    done = replica->next_first + replica->next_count;
    if (cut->each_ns >= 0)
        return v->start_ns + cut->each_ns * (int64_t)done;
    if (done == v->examples)
        return v->finish_ns;
    return v->start_ns + ga_item_part_of(cut->span_ns, done, v->examples);
}

struct ga_replica *ga_item_of_task(struct ga_task *task)
{
    return (struct ga_replica *)(void *)((char *)task - offsetof(struct ga_replica, task));
}

/* On a worker: tells the real clock, and whoever drives the run. */
void ga_item_worked(struct ga_replica *replica)
{
    struct ga_run *run = replica->run;

    if (!run->clock_kind->finished)
        return;
    run->clock_kind->finished(run->clock, (size_t)(replica - run->replica));
    if (run->wake)
        run->wake(run->wake_self);
}

/* What a micro-batch joins; its own sums go elsewhere until its event commits it. */
static const void *accumulated(const struct ga_replica *replica)
{
    return replica->v.micro > 0 ? replica->sums : NULL;
}

static void work(struct ga_task *task, int lane)
{
    struct ga_replica *replica = ga_item_of_task(task);

    replica->error.code = GA_OK;
    if (ga_item_compute(replica->run, replica, lane, accumulated(replica), replica->micro_sums,
                        NULL) < 0)
        ga_error_take(&replica->error);
    ga_item_worked(replica);
}

/* In virtual time hogwild's weights are not all read yet when its item starts. */
void ga_item_hand_over(struct ga_run *run, size_t r)
{
    struct ga_replica *replica = &run->replica[r];
    bool real = run->clock_kind->begin != NULL;

    if (!(real ? run->live : run->parallel && !replica->hogwild) || replica->submitted ||
        replica->v.state != GA_REPLICA_BUSY || replica->v.micro == replica->v.micros)
        return;
    replica->task.work = real && replica->hogwild         ? ga_hogwild_race
                         : ga_overlap_tells(run, replica) ? ga_overlap_work
                                                          : work;
    replica->terms = ga_settings_share_take(run->settings);
    replica->told = false;
    replica->submitted = true;
    if (real)
        run->clock_kind->begin(run->clock, r);
    ga_workers_submit(run->workers, &replica->task);
}

void ga_item_settle(struct ga_run *run, size_t r)
{
    struct ga_replica *replica = &run->replica[r];

    if (replica->submitted && run->own_workers)
        ga_workers_join(run->own_workers, &replica->task);
    else if (replica->submitted)
        ga_workers_wait(run->workers, &replica->task);
    replica->submitted = false;
    ga_settings_share_close(replica->terms);
    replica->terms = NULL;
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

bool ga_item_may_start(const struct ga_run *run, size_t r)
{
    const struct ga_replica_value *v = &run->replica[r].v;
    struct ga_turn turn;

    if (v->state != GA_REPLICA_READY || v->dead)
        return false;
    turn = (struct ga_turn){
        .settings = run_set(run),
        .window = &run->window,
        .replica = v,
        .closed = ga_run_closed(run),
        .least_clock = run->least_clock,
    };
    return run->policy->may_start(&turn);
}

void ga_item_schedule(struct ga_run *run, size_t r)
{
    struct ga_replica *replica = &run->replica[r];
    int64_t time_ns = replica->v.finish_ns;

    if (replica->v.state == GA_REPLICA_BUSY)
        time_ns = replica->hogwild ? ga_hogwild_next(run, r) : ga_item_aim(replica);
    run->clock_kind->schedule(run->clock, r, time_ns);
}

/* The weights it will work on: private ones in local mode, else what the server gives out. */
static int pull(struct ga_run *run, size_t r)
{
    struct ga_replica_value *v = &run->replica[r].v;

    if (run_is(run, GA_FAMILY_SHARED))
        return ga_hogwild_pull(run, r);
    ga_version_close(v->read);
    v->read = NULL;
    if (!run_is(run, GA_FAMILY_ROUND)) {
        if (ga_update_pull(run, &v->read) < 0)
            return ga_error_code();
    } else {
        if (v->step == 0 && ga_local_pull(run, r) < 0)
            return ga_error_code();
        v->read = ga_version_share(v->own);
    }
    return ga_version_hold(v->read, run->compute);
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
    v->finish_ns =
        ga_time_add(time_ns, ga_time_next_item(run_set(run), &replica->ahead, (uint32_t)r, v->items,
                                               v->examples, v->slow));
    v->items++;
    replica->timed = ga_run_closed(run) < run->timed_before;
    replica->work_now = 0;
    if (run_is(run, GA_FAMILY_SHARED) && ga_hogwild_start(run, r) < 0)
        return ga_error_code();
    ga_item_schedule(run, r);
    run_submit(run, r);
    return GA_OK;
}

/* Where the micro-batch's sums are; the first of an item is computed straight into the accumulator.
 */
static int micro_result(struct ga_run *run, size_t r, void **sums)
{
    struct ga_replica *replica = &run->replica[r];
    bool straight = run_joins(run) || replica->v.micro == 0;

    if (!replica->submitted) {
        *sums = straight ? replica->sums : replica->micro_sums;
        replica->told = false;
        ga_overlap_drop(run);
        return ga_item_compute(run, replica, 0, accumulated(replica), *sums, NULL);
    }
    ga_item_settle(run, r);
    if (replica->error.code != GA_OK)
        return ga_error_put(&replica->error);
    *sums = replica->micro_sums;
    if (run_joins(run)) {
        replica->micro_sums = replica->sums;
        replica->sums = *sums;
    }
    return GA_OK;
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

struct ga_event *ga_item_event(struct ga_run *run, enum ga_event_kind kind, size_t r)
{
    const struct ga_replica_value *v = &run->replica[r].v;
    struct ga_event *event = run_event(run, kind, (int32_t)r);

    event->start_ns = v->start_ns;
    event->version = v->read ? v->read->number : 0;
    event->micro = v->micro;
    event->micros = v->micros;
    return event;
}

static void emit_micro(struct ga_run *run, size_t r, double weight, double norm)
{
    const struct ga_tally *tally = &run->replica[r].micro_tally;
    struct ga_event *event = ga_item_event(run, GA_EVENT_MICRO, r);

    event->norm = norm;
    event->weight = weight;
    event->examples = (uint32_t)tally->examples;
    event->loss = ga_tally_loss_sum(tally) / weight;
    ga_run_emit(run);
}

/* They have joined already. */
static void take_total(struct ga_replica *replica)
{
    void *before = replica->sums;

    replica->sums = replica->total;
    replica->total = before;
}

/* The sums and the tally of the micro-batch join the item's. */
static int add_micro(struct ga_run *run, struct ga_replica *replica, const void *sums)
{
    struct ga_replica_value *v = &replica->v;

    if (v->micro > 0) {
        if (replica->told)
            take_total(replica);
        else if (!run_joins(run))
            run->compute->add(&run->net, replica->sums, sums);
        ga_tally_add(&v->tally, &replica->micro_tally);
    } else {
        if (sums != replica->sums &&
            ga_buffer_copy(run->compute, replica->sums, sums, run->sum_bytes) < 0)
            return ga_error_code();
        v->tally = replica->micro_tally;
    }
    v->micro++;
    v->done_examples += (uint32_t)replica->micro_tally.examples;
    run->counters.micros++;
    return GA_OK;
}

/* |mean gradient| of the micro-batch, also added to what the noise scale needs: the inverse of the
 * effective number of examples is sum w^2 / (sum w)^2. */
static double micro_norm(struct ga_run *run, struct ga_replica *replica, const void *sums,
                         double weight)
{
    struct ga_replica_value *v = &replica->v;
    double norm = 0;

    replica->has_mean = false;
    if (!(weight > 0))
        return 0;
    if (run_joins(run)) {
        norm = sqrt(replica->micro_square) / weight;
    } else {
        replica->has_mean = v->micro == 0;
        norm =
            run->compute->mean(&run->net, sums, weight, replica->has_mean ? replica->mean : NULL);
    }
    v->micro_norm_square += norm * norm;
    v->micro_inverse_count += replica->micro_tally.weight_square / (weight * weight);
    return norm;
}

int ga_item_micro(struct ga_run *run, size_t r, int64_t time_ns)
{
    struct ga_replica *replica = &run->replica[r];
    void *sums = NULL;
    double weight = 0, norm = 0;

    if (micro_result(run, r, &sums) < 0)
        return ga_fail_within("replica %zu", r);
    weight = ga_tally_weight_sum(&replica->micro_tally);
    norm = micro_norm(run, replica, sums, weight);
    if (add_micro(run, replica, sums) < 0 || ga_buffer_poll(run->compute) < 0)
        return ga_error_code();
    replica->sole_norm = norm;
    replica->has_sole_norm = replica->v.micro == 1;
    run->now_ns = time_ns;
    if (replica->micro_tally.flags != 0 || !isfinite(norm))
        note_fault(run, replica, sums, replica->micro_tally.flags);
    emit_micro(run, r, weight, norm);
    ga_item_schedule(run, r);
    run_submit(run, r);
    return GA_OK;
}

static double square_of(const struct ga_run *run, const void *sums)
{
    double norm = run->compute->mean(&run->net, sums, 1, NULL);

    return norm * norm;
}

int ga_item_take_whole(struct ga_run *run, size_t r, int64_t time_ns, uint32_t micros)
{
    struct ga_replica *replica = &run->replica[r];
    double weight = ga_tally_weight_sum(&replica->micro_tally);
    double norm = 0;

    if (run_joins(run))
        replica->micro_square = square_of(run, replica->sums);
    norm = micro_norm(run, replica, replica->sums, weight);
    replica->v.tally = replica->micro_tally;
    replica->v.micro = micros;
    replica->v.done_examples = (uint32_t)replica->micro_tally.examples;
    replica->sole_norm = norm;
    replica->has_sole_norm = true;
    run->counters.micros += micros;
    run->now_ns = time_ns;
    if (replica->micro_tally.flags != 0 || !isfinite(norm))
        note_fault(run, replica, replica->sums, replica->micro_tally.flags);
    emit_micro(run, r, weight, norm);
    ga_item_schedule(run, r);
    return GA_OK;
}

/* |mean gradient| of all that the accumulator holds. */
static double item_norm(const struct ga_run *run, struct ga_replica *replica, double weight)
{
    if (replica->has_sole_norm)
        return replica->sole_norm;
    if (!(weight > 0))
        return 0;
    if (run_joins(run))
        return run->compute->mean(&run->net, replica->sums, weight, NULL);
    replica->has_mean = true;
    return run->compute->mean(&run->net, replica->sums, weight, replica->mean);
}

/* What the item's own accumulator says of it; in local mode, of its whole round. */
const struct ga_tally *ga_item_tally(const struct ga_run *run, const struct ga_replica_value *v)
{
    return run_is(run, GA_FAMILY_ROUND) ? &v->round : &v->tally;
}

static void count_staleness(struct ga_run *run, uint64_t staleness)
{
    size_t bin = staleness < GA_STALENESS_BINS ? (size_t)staleness : GA_STALENESS_BINS - 1;

    run->counters.pushes++;
    run->counters.staleness += staleness;
    run->stale[bin]++;
    if (staleness > run->stretch.most)
        run->stretch.most = staleness;
    if (staleness > run->window.staleness)
        run->window.staleness = staleness;
}

void ga_item_rest(struct ga_run *run, size_t r, int64_t time_ns)
{
    struct ga_replica_value *v = &run->replica[r].v;

    v->busy_ns += time_ns - v->start_ns;
    v->finished_ns += time_ns - v->start_ns;
    v->free_ns = time_ns;
    run->replica[r].work = run->replica[r].timed ? run->replica[r].work_now : (double)NAN;
}

void ga_item_finish(struct ga_run *run, size_t r, int64_t time_ns)
{
    struct ga_replica_value *v = &run->replica[r].v;
    const struct ga_tally *tally = ga_item_tally(run, v);
    struct ga_event *event = NULL;

    run->clock_kind->cancel(run->clock, r);
    run->now_ns = time_ns;
    v->finished++;
    ga_run_advance_clock(run, r);
    v->part = 0;
    v->step_row = 0;
    v->state = GA_REPLICA_DONE;
    v->in_window = true;
    count_staleness(run, run->counters.updates - v->read->number);
    event = ga_item_event(run, GA_EVENT_PUSH, r);
    event->examples = (uint32_t)tally->examples;
    event->weight = ga_tally_weight_sum(tally);
    v->loss = ga_tally_loss_sum(tally) / event->weight;
    v->norm = item_norm(run, &run->replica[r], ga_tally_weight_sum(&v->tally));
    v->staleness = (double)(run->counters.updates - v->read->number);
    event->loss = v->loss;
    event->norm = v->norm;
    event->value = v->staleness;
    ga_run_emit(run);
}

/* Work or a message that ends before its time; a pull or push that was to come takes no time. */
static void stop_work(struct ga_replica_value *v, int64_t time_ns)
{
    int64_t from_ns = v->state == GA_REPLICA_SENDING ? v->free_ns : v->start_ns;

    if (from_ns > time_ns)
        v->communication_ns -= from_ns - time_ns;
    else if (v->state != GA_REPLICA_SENDING)
        v->busy_ns += time_ns - from_ns;
    if (v->state != GA_REPLICA_SENDING || from_ns > time_ns)
        v->free_ns = time_ns;
}

/* The examples that a dropped item takes with it; in local mode, a whole round of them. */
static uint32_t lost_examples(const struct ga_run *run, const struct ga_replica_value *v)
{
    return run_is(run, GA_FAMILY_ROUND) ? v->part : v->examples;
}

void ga_item_drop(struct ga_run *run, size_t r, int64_t time_ns)
{
    struct ga_replica_value *v = &run->replica[r].v;
    uint32_t lost = lost_examples(run, v);
    struct ga_event *event = NULL;

    ga_item_settle(run, r);
    ga_overlap_drop(run);
    run->clock_kind->cancel(run->clock, r);
    if (v->state == GA_REPLICA_LATE)
        run->late--;
    if (v->state == GA_REPLICA_BUSY || v->state == GA_REPLICA_SENDING)
        v->part = 0;
    stop_work(v, time_ns);
    v->state = GA_REPLICA_READY;
    v->in_window = false;
    v->step_row = 0;
    ga_hogwild_item_close(run->replica[r].hogwild);
    run->replica[r].hogwild = NULL;
    run->waiting++;
    run->asked = false;
    run->counters.items_dropped++;
    run->counters.examples_dropped += lost;
    event = ga_item_event(run, GA_EVENT_DROP, r);
    event->examples = lost;
    event->weight = ga_tally_weight_sum(&v->tally);
    ga_run_emit(run);
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
