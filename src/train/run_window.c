/*
 * The phases of one update: open a window, let replicas take their turns, reduce, check, clip,
 * apply, clear. Each function is one event and leaves the run in the phase that follows.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "train/plan.h"
#include "train/run_internal.h"
#include "train/time_model.h"

/* Late items that arrived while the window was being reduced are dropped at their own time. */
static void drop_arrived(struct ga_run *run)
{
    size_t r = 0;
    int64_t time_ns = 0;

    while (run->late > 0 && run->clock_kind->first(run->clock, &r, &time_ns) &&
           time_ns <= run->now_ns)
        ga_item_drop(run, r, time_ns);
}

/* Room for any window, before one is taken: a failure loses no rows of the stream. */
static int make_room(struct ga_run *run)
{
    size_t share = ga_plan_share(run_set(run));
    bool wraps = run_set(run)->tail == GA_TAIL_WRAP;
    size_t most = wraps || share < run->table->train ? share : run->table->train;

    for (size_t r = 0; r < run->replicas; r++) {
        struct ga_replica *replica = &run->replica[r];

        if (ga_grow((void **)&replica->rows, &replica->rows_capacity, most, sizeof *replica->rows) <
            0)
            return ga_error_code();
    }
    return GA_OK;
}

/* Hands each replica its rows of the window; returns how many have any. */
static uint32_t deal_rows(struct ga_run *run)
{
    uint32_t active = 0;

    for (size_t r = 0; r < run->replicas; r++) {
        struct ga_replica *replica = &run->replica[r];
        size_t count = run->rows.start[r + 1] - run->rows.start[r];

        if (count > 0)
            memcpy(replica->rows, run->rows.index + run->rows.start[r],
                   count * sizeof *replica->rows);
        replica->v.part = (uint32_t)count;
        replica->has_kept = false;
        active += count > 0;
    }
    return active;
}

static int start_ready(struct ga_run *run)
{
    for (size_t r = 0; r < run->replicas; r++) {
        const struct ga_replica_value *v = &run->replica[r].v;

        if (v->part > 0 && run->policy->may_start(run_set(run), &run->window, v) &&
            ga_item_start(run, r, run->now_ns) < 0)
            return ga_error_code();
    }
    return GA_OK;
}

static void begin_window(struct ga_run *run, uint32_t active)
{
    uint64_t number = run->window.number + 1;

    memset(&run->window, 0, sizeof run->window);
    run->window.number = number;
    run->window.examples = run->rows.examples;
    run->window.epoch = run->rows.epoch;
    run->window.open_ns = run->now_ns;
    run->window.expected = run->policy->expected(run_set(run), active);
    run->window.clip_scale = 1;
    run->has_gradient = false;
    run->phase = GA_PHASE_MICRO;
}

int ga_window_open_next(struct ga_run *run)
{
    struct ga_event *event = NULL;

    if (run->pending && ga_run_apply_pending(run) < 0)
        return ga_error_code();
    drop_arrived(run);
    if (make_room(run) < 0 ||
        ga_stream_next(run->stream, (size_t)ga_plan_window(run_set(run)), &run->rows) < 0)
        return ga_error_code();
    begin_window(run, deal_rows(run));
    event = run_event(run, GA_EVENT_OPEN, -1);
    event->examples = (uint32_t)run->window.examples;
    ga_run_emit(run);
    return start_ready(run);
}

/* What happens to the items that still run when the window closes. */
static void close_window(struct ga_run *run, bool cancel)
{
    for (size_t r = 0; r < run->replicas; r++) {
        struct ga_replica_value *v = &run->replica[r].v;

        if (v->state == GA_REPLICA_BUSY) {
            if (cancel)
                ga_item_drop(run, r, run->now_ns);
            else
                ga_item_make_late(run, r);
        } else if (v->part > 0) { /* a late replica that never began its part */
            run->counters.examples_unused += v->part;
            v->part = 0;
        }
    }
    run->phase = GA_PHASE_REDUCE;
}

static int push(struct ga_run *run, size_t r, int64_t time_ns)
{
    struct ga_replica_value *v = &run->replica[r].v;
    struct ga_push push = {
        .replica = (int32_t)r,
        .window = v->window,
        .version_read = v->read->number,
        .version_now = run->counters.updates,
        .examples = v->examples,
        .time_ns = time_ns,
    };
    unsigned actions = run->policy->on_push(run_set(run), &run->window, &push);

    run->now_ns = time_ns;
    if (actions & GA_PUSH_DROP) {
        ga_item_drop(run, r, time_ns);
        if (v->part > 0 && run->policy->may_start(run_set(run), &run->window, v))
            return ga_item_start(run, r, time_ns);
        return GA_OK;
    }
    ga_item_finish(run, r, time_ns);
    run->window.arrived++;
    if (actions & GA_PUSH_CLOSE)
        close_window(run, (actions & GA_PUSH_CANCEL) != 0);
    return GA_OK;
}

int ga_window_turn(struct ga_run *run)
{
    size_t r = 0;
    int64_t time_ns = 0;
    const struct ga_replica_value *v = NULL;

    if (!run->clock_kind->first(run->clock, &r, &time_ns))
        return ga_fail(GA_EINTERNAL, "no replica has work in an open window");
    v = &run->replica[r].v;
    if (v->state == GA_REPLICA_BUSY && v->micro < v->micros)
        return ga_item_micro(run, r, time_ns);
    return push(run, r, time_ns);
}

/* Charges the all-reduce to every replica that is not late, after its wait for the window. */
static void spend_all_reduce(struct ga_run *run)
{
    int64_t duration = ga_time_all_reduce(run_set(run), run->replicas, run->net.parameters);

    for (size_t r = 0; r < run->replicas; r++) {
        struct ga_replica_value *v = &run->replica[r].v;

        if (v->state == GA_REPLICA_LATE)
            continue;
        v->idle_ns += run->now_ns - v->free_ns;
        v->communication_ns += duration;
        v->free_ns = ga_time_add(run->now_ns, duration);
    }
    run->now_ns = ga_time_add(run->now_ns, duration);
    run->counters.reductions++;
    run->counters.bytes += 2 * (run->replicas - 1) * ga_time_message_bytes(run->net.parameters);
}

static int reduce_sums(struct ga_run *run)
{
    struct ga_window_state *window = &run->window;

    ga_tally_clear(&window->total);
    for (size_t r = 0; r < run->replicas; r++) {
        const struct ga_replica *replica = &run->replica[r];

        run->buffers[r] = replica->v.in_window ? replica->sums : NULL;
        if (!replica->v.in_window)
            continue;
        ga_tally_add(&window->total, &replica->v.tally);
        window->micros += replica->v.micro;
        window->micro_norm_square += replica->v.micro_norm_square;
        window->micro_inverse_count += replica->v.micro_inverse_count;
    }
    return run->collective->reduce(run->group, run->buffers, run->reduced, run->sum_elements,
                                   run->compute->sum_type);
}

/* Whether g is the mean gradient of one replica alone. */
static bool is_of_one(const struct ga_run *run)
{
    size_t members = 0;

    for (size_t r = 0; r < run->replicas; r++)
        members += run->replica[r].v.in_window;
    return members == 1 && run_set(run)->reduce != GA_REDUCE_SUM;
}

static void find_cosines(struct ga_run *run)
{
    const float *gradient = is_of_one(run) ? run->gradient : run->item_gradient;

    for (size_t r = 0; r < run->replicas; r++) {
        struct ga_replica *replica = &run->replica[r];
        double weight = ga_tally_weight_sum(&replica->v.tally);

        if (!replica->v.in_window || !(weight > 0))
            continue;
        if (gradient == run->item_gradient)
            run->compute->mean(&run->net, replica->sums, weight, run->item_gradient);
        replica->v.cosine = ga_dot(gradient, run->gradient, run->net.parameters) /
                            (replica->v.norm * run->window.norm);
    }
}

/* g and its norm, if there is any weight to divide by. */
static void find_gradient(struct ga_run *run, double weight)
{
    double divisor = run_set(run)->reduce == GA_REDUCE_SUM ? 1 : weight;

    if (!(weight > 0))
        return;
    run->window.norm = run->compute->mean(&run->net, run->reduced, divisor, run->gradient);
    run->has_gradient = true;
    find_cosines(run);
}

/* What REDUCE and CHECK tell of the window. */
static void emit_window(struct ga_run *run, enum ga_event_kind kind)
{
    struct ga_event *event = run_event(run, kind, -1);

    event->examples = (uint32_t)run->window.total.examples;
    event->weight = ga_tally_weight_sum(&run->window.total);
    event->loss = run->window.loss;
    event->norm = run->window.norm;
    ga_run_emit(run);
}

int ga_window_reduce(struct ga_run *run)
{
    struct ga_window_state *window = &run->window;
    double weight = 0;

    if (reduce_sums(run) < 0)
        return ga_error_code();
    spend_all_reduce(run);
    weight = ga_tally_weight_sum(&window->total);
    window->loss = ga_tally_loss_sum(&window->total) / weight;
    find_gradient(run, weight);
    run->phase = GA_PHASE_CHECK;
    emit_window(run, GA_EVENT_REDUCE);
    return GA_OK;
}

/* The smallest (replica, micro-batch) of the window with an unusable value; NULL: none. */
static const struct ga_replica *faulty_replica(const struct ga_run *run)
{
    for (size_t r = 0; r < run->replicas; r++)
        if (run->replica[r].v.in_window && run->replica[r].v.fault_micro > 0)
            return &run->replica[r];
    return NULL;
}

static int report_fault(const struct ga_run *run, const struct ga_replica *replica)
{
    const struct ga_replica_value *v = &replica->v;
    const char *what =
        v->fault_tensor < run->net.tensors ? run->net.tensor[v->fault_tensor].name : "the loss";
    bool beyond = (v->fault_flags & GA_TALLY_BEYOND) && !(v->fault_flags & GA_TALLY_NONFINITE);

    return ga_fail(
        GA_ENONFINITE,
        "update %llu, replica %d, micro-batch %u: the gradient of %s is %s; weights are as "
        "before: go back, discard the window, or lower lr",
        (unsigned long long)run->counters.updates + 1, (int)(replica - run->replica),
        v->fault_micro, what,
        beyond ? "beyond the exact range 134,217,728 (scale the data or use numerics fast)"
               : "not finite");
}

static int report_total(const struct ga_run *run)
{
    size_t at = ga_first_nonfinite(run->gradient, run->net.parameters);

    return ga_fail(GA_ENONFINITE, "update %llu: the reduced gradient of %s is not finite",
                   (unsigned long long)run->counters.updates + 1,
                   at < run->net.parameters ? ga_net_tensor_at(&run->net, at)->name : "the loss");
}

void ga_run_fault(const struct ga_run *run, struct ga_error *error)
{
    const struct ga_replica *replica = faulty_replica(run);

    error->update = -1;
    error->replica = error->micro = -1;
    if (error->code != GA_ENONFINITE)
        return;
    error->update = (int64_t)run->counters.updates + 1;
    if (replica) {
        error->replica = (int32_t)(replica - run->replica);
        error->micro = (int32_t)replica->v.fault_micro;
    }
}

/* GA_OK, or GA_ENONFINITE with text. */
static int examine(const struct ga_run *run)
{
    const struct ga_replica *replica = faulty_replica(run);

    if (replica)
        return report_fault(run, replica);
    if (!isfinite(run->window.norm) || !isfinite(run->window.loss))
        return report_total(run);
    return GA_OK;
}

int ga_window_check(struct ga_run *run)
{
    enum ga_nonfinite rule = run_set(run)->nonfinite;
    bool empty = !(ga_tally_weight_sum(&run->window.total) > 0);

    if (!empty && rule != GA_NONFINITE_APPLY && examine(run) < 0) {
        if (rule == GA_NONFINITE_STOP)
            return GA_ENONFINITE;
        run->window.skipped = true;
    }
    run->window.skipped = run->window.skipped || empty;
    if (run->window.skipped)
        run->phase = GA_PHASE_CLEAR;
    else
        run->phase = run_set(run)->clip > 0 ? GA_PHASE_CLIP : GA_PHASE_APPLY;
    emit_window(run, run->window.skipped ? GA_EVENT_SKIP : GA_EVENT_CHECK);
    return GA_OK;
}

int ga_window_clip(struct ga_run *run)
{
    struct ga_event *event = run_event(run, GA_EVENT_CLIP, -1);

    run->window.clip_scale = ga_clip_scale(run_set(run)->clip, run->window.norm);
    event->norm = run->window.norm;
    event->value = run->window.clip_scale;
    run->phase = GA_PHASE_APPLY;
    ga_run_emit(run);
    return GA_OK;
}

static double rate_of_update(const struct ga_settings *settings, uint64_t update)
{
    static const enum ga_schedule_kind kind_of[] = {
        [GA_SCHEDULE_CONSTANT] = GA_LR_CONSTANT,
        [GA_SCHEDULE_STEP] = GA_LR_STEP,
        [GA_SCHEDULE_COSINE] = GA_LR_COSINE,
    };
    struct ga_schedule_spec spec = {
        .kind = kind_of[settings->schedule.kind],
        .every = settings->schedule.every,
        .value = settings->schedule.value,
        .warmup = settings->warmup,
    };

    return ga_schedule_rate(&spec, settings->lr, update);
}

int ga_window_apply(struct ga_run *run)
{
    struct ga_event *event = NULL;
    struct ga_version *old = run->server, *next = NULL;
    struct ga_optimizer_spec spec;
    struct ga_step step;

    if (ga_version_open(&next, run->net.parameters, old->state_blocks) < 0)
        return ga_error_code();
    ga_run_optimizer_spec(run_set(run), &spec);
    run->window.lr = rate_of_update(run_set(run), run->counters.updates);
    next->scalars = old->scalars;
    ga_optimizer_advance(&spec, &next->scalars, run->window.lr, run->window.clip_scale, &step);
    run->compute->step(&run->net, &step, run->gradient, old->weights, old->state, next->weights,
                       next->state);
    run->window.update_norm =
        ga_norm_of_difference(next->weights, old->weights, run->net.parameters);
    next->number = old->number + 1;
    ga_version_close(run->previous);
    run->previous = old;
    run->server = next;
    run->evaluated[0].known = run->evaluated[1].known = false;
    run->counters.updates++;
    run->counters.examples += run->window.total.examples;
    run->phase = GA_PHASE_CLEAR;
    event = run_event(run, GA_EVENT_APPLY, -1);
    event->loss = run->window.loss;
    event->norm = run->window.norm;
    event->value = run->window.lr;
    event->version = next->number;
    ga_run_emit(run);
    return GA_OK;
}

static void release_replica(struct ga_run *run, struct ga_replica *replica)
{
    struct ga_replica_value *v = &replica->v;

    if (v->state == GA_REPLICA_LATE)
        return;
    if (v->in_window) {
        run->counters.items_applied += !run->window.skipped;
        run->counters.items_dropped += run->window.skipped;
        replica->kept = v->tally;
        replica->has_kept = true;
    }
    v->state = GA_REPLICA_READY;
    v->in_window = false;
    ga_tally_clear(&v->tally);
    v->micro = 0;
    v->done_examples = 0;
    ga_version_close(v->read);
    v->read = NULL;
}

int ga_window_clear(struct ga_run *run)
{
    struct ga_event *event = NULL;

    if (run->window.skipped) {
        run->counters.skipped++;
        run->counters.examples_unused += run->window.total.examples;
    }
    for (size_t r = 0; r < run->replicas; r++)
        release_replica(run, &run->replica[r]);
    run->phase = GA_PHASE_IDLE;
    ga_run_noise(run);
    ga_run_record_window(run);
    event = run_event(run, GA_EVENT_CLEAR, -1);
    event->examples = (uint32_t)run->window.total.examples;
    ga_run_emit(run);
    return GA_OK;
}
