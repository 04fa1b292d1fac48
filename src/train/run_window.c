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

/* The late replica that arrives first; the run's clock is not asked, as a real one may be ahead. */
static size_t first_late(const struct ga_run *run)
{
    size_t first = SIZE_MAX;

    for (size_t r = 0; r < run->replicas; r++) {
        const struct ga_replica_value *v = &run->replica[r].v;

        if (v->state == GA_REPLICA_LATE &&
            (first == SIZE_MAX || v->finish_ns < run->replica[first].v.finish_ns))
            first = r;
    }
    return first;
}

/* Late items that arrived while the window was being reduced are dropped at their own time. */
static void drop_arrived(struct ga_run *run)
{
    while (run->late > 0) {
        size_t r = first_late(run);
        int64_t time_ns = run->replica[r].v.finish_ns;

        if (time_ns > run->now_ns)
            return;
        ga_item_drop(run, r, time_ns);
    }
}

/* The dead hold no items, and a window that does not wait for them goes on without their parts. */
static bool skips(const struct ga_run *run, const struct ga_replica *replica)
{
    return replica->v.dead && run_set(run)->failure == GA_FAILURE_CONTINUE;
}

static size_t count_living(const struct ga_run *run)
{
    size_t living = 0;

    for (size_t r = 0; r < run->replicas; r++)
        living += !run->replica[r].v.dead;
    return living;
}

/* With a common stream the living take over the whole window, so the numbers stay those of sync. */
static void split_over_living(struct ga_run *run)
{
    size_t living = count_living(run), part = 0, first = 0, count = 0;

    if (run_set(run)->sharding != GA_SHARD_STREAM || run_set(run)->failure != GA_FAILURE_CONTINUE ||
        living == run->replicas)
        return;
    for (size_t r = 0; r < run->replicas; r++) {
        run->rows.start[r] = first;
        if (run->replica[r].v.dead)
            continue;
        ga_split(run->rows.examples, living, part++, &first, &count);
        run->rows.start[r] = first;
        first += count;
    }
    run->rows.start[run->replicas] = run->rows.examples;
}

/* Most rows that one replica can get of a window. */
static size_t largest_part(const struct ga_run *run)
{
    size_t window = (size_t)ga_plan_window(run_set(run)), living = count_living(run);
    size_t share = ga_plan_share(run_set(run));
    bool wraps = run_set(run)->tail == GA_TAIL_WRAP;

    if (run_set(run)->failure == GA_FAILURE_CONTINUE && living > 0 && living < run->replicas)
        share = (window + living - 1) / living;
    return wraps || share < run->table->train ? share : run->table->train;
}

/* Rows of an epoch, as far as one window may hold them. */
static size_t epoch_rows(const struct ga_run *run)
{
    return run->table->train < GA_MAX_WINDOW ? run->table->train : GA_MAX_WINDOW;
}

int ga_run_room_for_rows(struct ga_run *run, struct ga_replica *replica, size_t count)
{
    size_t usual = (epoch_rows(run) + run->replicas - 1) / run->replicas;

    return ga_grow((void **)&replica->rows, &replica->rows_capacity, count > usual ? count : usual,
                   sizeof *replica->rows);
}

int ga_run_next_window(struct ga_run *run)
{
    if (ga_grow((void **)&run->rows.index, &run->rows.index_capacity, epoch_rows(run),
                sizeof *run->rows.index) < 0)
        return ga_error_code();
    return ga_stream_next(run->stream, (size_t)ga_plan_window(run_set(run)), &run->rows);
}

/* Room for any window, before one is taken: a failure loses no rows of the stream. */
static int make_room(struct ga_run *run)
{
    size_t most = largest_part(run);

    for (size_t r = 0; r < run->replicas; r++)
        if (ga_run_room_for_rows(run, &run->replica[r], most) < 0)
            return ga_error_code();
    return GA_OK;
}

/* Hands each replica its rows of the window; returns how many have any. */
static uint32_t deal_rows(struct ga_run *run)
{
    uint32_t active = 0;

    split_over_living(run);
    run->window.examples = run->rows.examples;
    run->window.epoch = run->rows.epoch;
    for (size_t r = 0; r < run->replicas; r++) {
        struct ga_replica *replica = &run->replica[r];
        size_t count = run->rows.start[r + 1] - run->rows.start[r];

        if (skips(run, replica)) {
            run->counters.examples_unused += count;
            count = 0;
        }
        if (count > 0)
            memcpy(replica->rows, run->rows.index + run->rows.start[r],
                   count * sizeof *replica->rows);
        replica->v.part = (uint32_t)count;
        replica->has_kept = false;
        active += count > 0;
    }
    return active;
}

/* Takes a window, or a round of them, from the stream. */
static int take_window(struct ga_run *run, uint32_t *active)
{
    if (run_is(run, GA_FAMILY_ROUND))
        return ga_local_deal(run, active);
    if (make_room(run) < 0 || ga_run_next_window(run) < 0)
        return ga_error_code();
    *active = deal_rows(run);
    return GA_OK;
}

static int start_ready(struct ga_run *run)
{
    for (size_t r = 0; r < run->replicas; r++)
        if (run->replica[r].v.part > 0 && ga_item_may_start(run, r) &&
            ga_item_start(run, r, run->now_ns) < 0)
            return ga_error_code();
    return GA_OK;
}

/* Field by field, as run_event() is. */
void ga_window_begin(struct ga_run *run)
{
    struct ga_window_state *w = &run->window;

    w->number++;
    w->open_ns = run->now_ns;
    w->examples = w->epoch = w->staleness = 0;
    w->expected = w->arrived = w->micros = 0;
    w->closer = -1;
    w->skipped = false;
    w->window_weight = w->micro_norm_square = w->micro_inverse_count = 0;
    w->loss = w->norm = w->lr = w->update_norm = 0;
    w->clip_scale = w->scale = 1;
    ga_tally_clear(&w->total);
}

int ga_window_open_next(struct ga_run *run)
{
    struct ga_window_state before = run->window;
    struct ga_event *event = NULL;
    uint32_t active = 0;

    if (count_living(run) == 0)
        return ga_fail(GA_ESTATE, "all replicas are killed: restore one first");
    drop_arrived(run);
    ga_window_begin(run);
    if (take_window(run, &active) < 0) {
        run->window = before;
        return ga_error_code();
    }
    run->window.expected = run->policy->expected(run_set(run), active);
    run->has_gradient = run->has_average = false;
    run->owed = NULL;
    ga_overlap_begin(run, active);
    run->phase = GA_PHASE_MICRO;
    event = run_event(run, GA_EVENT_OPEN, -1);
    event->examples = (uint32_t)run->window.examples;
    ga_run_emit(run);
    if (active == 0) /* all its rows belong to killed replicas: it closes without an update */
        run->phase = GA_PHASE_REDUCE;
    return start_ready(run);
}

/* What happens to the items that still run when the window closes. */
void ga_window_close(struct ga_run *run, bool cancel)
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
        if (v->part > 0 && ga_item_may_start(run, r))
            return ga_item_start(run, r, time_ns);
        return GA_OK;
    }
    ga_item_finish(run, r, time_ns);
    run->window.arrived++;
    run->window.closer = (int32_t)r;
    if (actions & GA_PUSH_CLOSE)
        ga_window_close(run, (actions & GA_PUSH_CANCEL) != 0);
    return GA_OK;
}

/* The private step is done, and its item's tally still there. */
static void emit_private(struct ga_run *run, size_t r, int64_t time_ns)
{
    const struct ga_replica *replica = &run->replica[r];
    const struct ga_tally *tally = &replica->v.tally;
    struct ga_event *event = ga_item_event(run, GA_EVENT_PRIVATE, r);

    run->now_ns = time_ns;
    event->examples = (uint32_t)tally->examples;
    event->weight = ga_tally_weight_sum(tally);
    event->loss = ga_tally_loss_sum(tally) / event->weight;
    if (replica->has_sole_norm)
        event->norm = replica->sole_norm;
    else if (event->weight > 0)
        event->norm = run->compute->mean(&run->net, replica->sums, event->weight, NULL);
    event->value = replica->v.step;
    ga_run_emit(run);
}

/* After the last micro-batch of an item, or of a private step. */
static int end_of_item(struct ga_run *run, size_t r, int64_t time_ns)
{
    struct ga_replica_value *v = &run->replica[r].v;

    if (v->state != GA_REPLICA_BUSY)
        return push(run, r, time_ns);
    if (run_is(run, GA_FAMILY_ROUND)) {
        if (ga_local_step(run, r) < 0)
            return ga_error_code();
        ga_item_rest(run, r, time_ns);
        if (v->step < v->steps) {
            emit_private(run, r, time_ns);
            return ga_item_start(run, r, time_ns);
        }
    } else {
        ga_item_rest(run, r, time_ns);
    }
    return push(run, r, time_ns);
}

/* Nothing runs and the window is not complete: someone who was killed is missing. */
static int name_missing(const struct ga_run *run)
{
    for (size_t r = 0; r < run->replicas; r++)
        if (run->replica[r].v.dead)
            return ga_fail(GA_ESTATE,
                           "update %llu waits for replica %zu, which was killed (failure wait): "
                           "restore %zu, or flush or discard the window; with failure continue the "
                           "next one goes on without it",
                           (unsigned long long)run->counters.updates + 1, r, r);
    return ga_fail(GA_EINTERNAL, "no replica has work in an open window");
}

int ga_window_turn(struct ga_run *run)
{
    size_t r = 0;
    int64_t time_ns = 0;
    const struct ga_replica_value *v = NULL;

    if (!ga_race_next(run, &r, &time_ns))
        return name_missing(run);
    run->turn_of = r;
    run->turn_ns = time_ns;
    v = &run->replica[r].v;
    if (v->state == GA_REPLICA_BUSY && v->micro < v->micros)
        return ga_item_micro(run, r, time_ns);
    return end_of_item(run, r, time_ns);
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

        if (!replica->v.in_window)
            continue;
        ga_tally_add(&window->total, &replica->v.tally);
        window->micros += replica->v.micro;
        window->micro_norm_square += replica->v.micro_norm_square;
        window->micro_inverse_count += replica->v.micro_inverse_count;
    }
    run->lazy = run->parts != NULL;
    return run->lazy ? GA_OK : ga_overlap_reduce(run);
}

int ga_window_make_reduced(const struct ga_run *run)
{
    for (size_t r = 0; r < run->replicas; r++)
        run->buffers[r] = run->replica[r].v.in_window ? run->replica[r].sums : NULL;
    return run->collective->reduce(run->group, run->buffers, run->reduced, run->sum_elements,
                                   run->compute->sum_type);
}

static void find_cosine(struct ga_run *run, struct ga_replica *replica)
{
    double weight = ga_tally_weight_sum(&replica->v.tally);

    if (!(weight > 0))
        return;
    if (!replica->has_mean)
        run->compute->mean(&run->net, replica->sums, weight, replica->mean);
    replica->has_mean = true;
    replica->v.cosine =
        ga_buffer_dot(run->compute, replica->mean, run->gradient, run->net.parameters) /
        (replica->v.norm * run->window.norm);
}

static void find_cosines(struct ga_run *run)
{
    for (size_t r = 0; r < run->replicas; r++)
        if (run->replica[r].v.in_window)
            find_cosine(run, &run->replica[r]);
}

/* g and its norm, if there is any weight to divide by. */
static void find_gradient(struct ga_run *run, double weight)
{
    double divisor = run_set(run)->reduce == GA_REDUCE_SUM ? 1 : weight;

    if (!(weight > 0))
        return;
    run->has_gradient = true;
    if (run->lazy) {
        ga_parts_mean(run, divisor);
        return;
    }
    run->window.norm = run->compute->mean(&run->net, run->reduced, divisor, run->gradient);
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

/* What local mode adds up over a round: losses and weights of its steps. */
static void total_rounds(struct ga_run *run)
{
    ga_tally_clear(&run->window.total);
    for (size_t r = 0; r < run->replicas; r++)
        if (run->replica[r].v.in_window)
            ga_tally_add(&run->window.total, ga_item_tally(run, &run->replica[r].v));
}

static int reduce_round(struct ga_run *run)
{
    total_rounds(run);
    if (ga_local_average(run) < 0)
        return ga_error_code();
    spend_all_reduce(run);
    return GA_OK;
}

int ga_window_reduce(struct ga_run *run)
{
    double weight = 0;

    if (run_is(run, GA_FAMILY_ROUND)) {
        if (reduce_round(run) < 0)
            return ga_error_code();
    } else {
        if (reduce_sums(run) < 0)
            return ga_error_code();
        spend_all_reduce(run);
    }
    weight = ga_tally_weight_sum(&run->window.total);
    run->window.loss = ga_tally_loss_sum(&run->window.total) / weight;
    if (!run_is(run, GA_FAMILY_ROUND))
        find_gradient(run, weight);
    if (ga_buffer_poll(run->compute) < 0)
        return ga_error_code();
    run->phase = GA_PHASE_CHECK;
    emit_window(run, GA_EVENT_REDUCE);
    return GA_OK;
}

int ga_window_check(struct ga_run *run)
{
    enum ga_nonfinite rule = run_set(run)->nonfinite;
    bool clips = run_set(run)->clip > 0 && !run_is(run, GA_FAMILY_ROUND);
    bool empty = !(ga_tally_weight_sum(&run->window.total) > 0);

    if (!empty && rule != GA_NONFINITE_APPLY && ga_update_examine(run) < 0) {
        if (rule == GA_NONFINITE_STOP)
            return GA_ENONFINITE;
        run->window.skipped = true;
    }
    run->window.skipped = run->window.skipped || empty;
    if (run->window.skipped)
        run->phase = GA_PHASE_CLEAR;
    else
        run->phase = clips ? GA_PHASE_CLIP : GA_PHASE_APPLY;
    emit_window(run, run->window.skipped ? GA_EVENT_SKIP : GA_EVENT_CHECK);
    return GA_OK;
}

int ga_window_clip(struct ga_run *run)
{
    struct ga_event *event = NULL;

    run->window.clip_scale = ga_clip_scale(run_set(run)->clip, run->window.norm);
    run->phase = GA_PHASE_APPLY;
    event = run_event(run, GA_EVENT_CLIP, -1);
    event->norm = run->window.norm;
    event->value = run->window.clip_scale;
    ga_run_emit(run);
    return GA_OK;
}

int ga_window_apply(struct ga_run *run)
{
    struct ga_event *event = NULL;
    bool round = run_is(run, GA_FAMILY_ROUND);

    run->window.lr = ga_update_rate(run_set(run), run->counters.updates);
    if ((round ? ga_local_apply(run) : ga_update_step(run)) < 0)
        return ga_error_code();
    run->phase = GA_PHASE_CLEAR;
    event = run_event(run, GA_EVENT_APPLY, -1);
    event->loss = run->window.loss;
    event->norm = run->window.norm;
    event->value = run->window.lr;
    event->version = run->server->number;
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
    v->step = v->steps = 0;
    v->step_row = 0;
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
