/*
 * Push modes: each replica takes the next piece of the stream of its own accord, works on the
 * weights it pulled and pushes its sums to the server. A turn is one event: push, apply, pull,
 * start; then all waiting replicas that now may start pull and start in replica order. run.window
 * is the server's buffer.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "train/plan.h"
#include "train/run_internal.h"
#include "train/time_model.h"

/* ---- pieces: the stream cut as sync would cut it ---- */

static int new_pieces(struct ga_run *run)
{
    if (ga_stream_next(run->stream, (size_t)ga_plan_window(run_set(run)), &run->rows) < 0)
        return ga_error_code();
    run->next_piece = 0;
    run->piece_weight = ga_item_row_weight(run, run->rows.index, run->rows.examples);
    return GA_OK;
}

/* The next non-empty piece of the common stream. */
static int shared_piece(struct ga_run *run, struct ga_replica *replica)
{
    size_t first = 0, count = 0;

    while (count == 0) {
        if (run->next_piece >= run->rows.replicas && new_pieces(run) < 0)
            return ga_error_code();
        first = run->rows.start[run->next_piece];
        count = run->rows.start[run->next_piece + 1] - first;
        run->next_piece++;
    }
    if (ga_grow((void **)&replica->rows, &replica->rows_capacity, count, sizeof *replica->rows) <
        0) {
        run->next_piece--;
        return ga_error_code();
    }
    memcpy(replica->rows, run->rows.index + first, count * sizeof *replica->rows);
    replica->v.part = (uint32_t)count;
    replica->v.window_weight = run->piece_weight;
    return GA_OK;
}

/* With example weights the weight of a fixed shard's window is taken in proportion to its examples.
 */
static int own_piece(struct ga_run *run, size_t r)
{
    struct ga_replica *replica = &run->replica[r];
    size_t examples = (size_t)ga_plan_window(run_set(run)), count = 0, window = 0;

    if (ga_grow((void **)&replica->rows, &replica->rows_capacity, ga_plan_share(run_set(run)),
                sizeof *replica->rows) < 0 ||
        ga_stream_take(run->stream, r, examples, replica->rows, &count, &window) < 0)
        return ga_error_code();
    replica->v.part = (uint32_t)count;
    if (count > 0)
        replica->v.window_weight =
            ga_item_row_weight(run, replica->rows, count) * (double)window / (double)count;
    return GA_OK;
}

/* ---- starting ---- */

static int64_t pull_time(const struct ga_run *run)
{
    return ga_time_message(run_set(run), run->net.parameters);
}

static bool anyone_runs(const struct ga_run *run)
{
    return run->waiting + run->dead < run->replicas;
}

static int start(struct ga_run *run, size_t r)
{
    struct ga_replica_value *v = &run->replica[r].v;
    int64_t pull = pull_time(run);
    int code = run_set(run)->sharding == GA_SHARD_STREAM ? shared_piece(run, &run->replica[r])
                                                         : own_piece(run, r);

    if (code < 0 || v->part == 0)
        return code;
    v->idle_ns += run->now_ns - v->free_ns;
    v->communication_ns += pull;
    v->free_ns = ga_time_add(run->now_ns, pull);
    run->counters.bytes += ga_time_message_bytes(run->net.parameters);
    run->waiting--;
    return ga_item_start(run, r, v->free_ns);
}

/* Replica `first` (if any) starts before the others, which follow in replica order. */
static int start_waiting(struct ga_run *run, size_t first)
{
    uint64_t least = ga_item_least_clock(run);

    if (run->draining)
        return GA_OK;
    if (first < run->replicas && ga_item_may_start(run, first, least) && start(run, first) < 0)
        return ga_error_code();
    for (size_t r = 0; r < run->replicas && run->waiting > 0; r++)
        if (r != first && ga_item_may_start(run, r, least) && start(run, r) < 0)
            return ga_error_code();
    return GA_OK;
}

int ga_push_start(struct ga_run *run)
{
    return start_waiting(run, SIZE_MAX);
}

static int start_everyone(struct ga_run *run)
{
    if (start_waiting(run, SIZE_MAX) < 0)
        return ga_error_code();
    run->phase = GA_PHASE_MICRO;
    run_event(run, GA_EVENT_OPEN, -1);
    ga_run_emit(run);
    return GA_OK;
}

/* ---- the server ---- */

static void buffer_push(struct ga_run *run, struct ga_replica *replica)
{
    struct ga_window_state *buffer = &run->window;
    struct ga_replica_value *v = &replica->v;

    if (buffer->arrived == 0)
        memcpy(run->reduced, replica->sums, run->sum_bytes);
    else
        run->compute->add(&run->net, run->reduced, replica->sums);
    ga_tally_add(&buffer->total, &v->tally);
    buffer->arrived++;
    buffer->examples += v->examples;
    buffer->micros += v->micro;
    buffer->micro_norm_square += v->micro_norm_square;
    buffer->micro_inverse_count += v->micro_inverse_count;
    buffer->closer = (int32_t)(replica - run->replica);
}

/* The largest staleness in the buffer, and how the closing replica's times compare. */
static void describe_push(const struct ga_run *run, size_t r, struct ga_push *push)
{
    const struct ga_replica_value *v = &run->replica[r].v;
    double sum = 0;
    size_t known = 0;

    *push = (struct ga_push){
        .replica = (int32_t)r,
        .window = v->window,
        .version_read = v->read->number,
        .version_now = run->counters.updates,
        .examples = v->examples,
        .time_ns = run->now_ns,
    };
    push->share = ga_tally_weight_sum(&run->window.total) / v->window_weight;
    if (run_set(run)->scale != GA_SCALE_RESCALED)
        return;
    for (size_t i = 0; i < run->replicas; i++) {
        const struct ga_replica_value *other = &run->replica[i].v;

        if (other->finished == 0)
            continue;
        sum += (double)other->finished_ns / (double)other->finished;
        known++;
    }
    push->time_mean = (double)v->finished_ns / (double)v->finished;
    push->time_all = sum / (double)known;
}

static void release_pusher(struct ga_run *run, size_t r)
{
    struct ga_replica *replica = &run->replica[r];
    struct ga_replica_value *v = &replica->v;

    replica->kept = v->tally;
    replica->has_kept = true;
    v->state = GA_REPLICA_READY;
    v->in_window = false;
    v->pushed_at = ga_run_closed(run) + 1;
    ga_tally_clear(&v->tally);
    v->micro = 0;
    v->done_examples = 0;
    run->waiting++;
}

static void find_gradient(struct ga_run *run, size_t r)
{
    struct ga_window_state *w = &run->window;
    double weight = ga_tally_weight_sum(&w->total);
    double divisor = run_set(run)->reduce == GA_REDUCE_SUM ? 1 : weight;
    struct ga_replica *replica = &run->replica[r];
    double own = ga_tally_weight_sum(&replica->kept);

    w->loss = ga_tally_loss_sum(&w->total) / weight;
    run->has_gradient = weight > 0;
    if (!run->has_gradient)
        return;
    w->norm = run->compute->mean(&run->net, run->reduced, divisor, run->gradient);
    if (!(own > 0))
        return;
    run->compute->mean(&run->net, replica->sums, own, run->item_gradient);
    replica->v.cosine = ga_dot(run->item_gradient, run->gradient, run->net.parameters) /
                        (replica->v.norm * w->norm);
}

static int apply_step(struct ga_run *run, const struct ga_push *push)
{
    struct ga_window_state *w = &run->window;
    struct ga_push largest = *push;

    largest.version_read = push->version_now - w->staleness;
    w->scale = run->policy->scale(run_set(run), &largest);
    w->lr = ga_update_rate(run_set(run), run->counters.updates) * w->scale;
    if (run_is(run, GA_FAMILY_SHARED))
        return ga_hogwild_publish(run);
    if (run_set(run)->clip > 0)
        w->clip_scale = ga_clip_scale(run_set(run)->clip, w->norm);
    return ga_update_step(run);
}

static void emit_update(struct ga_run *run, const struct ga_push *push)
{
    const struct ga_window_state *w = &run->window;
    struct ga_event *event =
        run_event(run, w->skipped ? GA_EVENT_SKIP : GA_EVENT_APPLY, push->replica);

    event->version = push->version_read;
    event->loss = w->loss;
    event->norm = w->norm;
    event->weight = ga_tally_weight_sum(&w->total);
    event->value = w->lr;
    event->examples = (uint32_t)w->total.examples;
    ga_run_emit(run);
}

static void count_items(struct ga_run *run)
{
    const struct ga_window_state *w = &run->window;

    if (w->skipped) {
        run->counters.skipped++;
        run->counters.items_dropped += w->arrived;
        run->counters.examples_unused += w->total.examples;
    } else {
        run->counters.items_applied += w->arrived;
    }
}

/* From the full buffer to new weights, or to a skip. */
static int close_buffer(struct ga_run *run, const struct ga_push *push)
{
    struct ga_window_state *w = &run->window;
    uint64_t examples = run->counters.examples;
    size_t rows = run->table->train;
    bool empty = !(ga_tally_weight_sum(&w->total) > 0);

    find_gradient(run, (size_t)push->replica);
    w->epoch = examples / rows;
    w->skipped =
        empty || (run_set(run)->nonfinite == GA_NONFINITE_SKIP && ga_update_examine(run) < 0);
    if (!w->skipped && apply_step(run, push) < 0)
        return ga_error_code();
    count_items(run);
    emit_update(run, push);
    run->phase = GA_PHASE_IDLE;
    ga_run_noise(run);
    ga_run_record_window(run);
    ga_window_begin(run);
    run->window.expected = run->policy->expected(run_set(run), (uint32_t)run->replicas);
    return GA_OK;
}

/* A push whose values are not usable stops the run before anything is changed. */
static int refuse_bad_push(struct ga_run *run, size_t r)
{
    const struct ga_replica_value *v = &run->replica[r].v;

    if (v->fault_micro > 0 && run_set(run)->nonfinite == GA_NONFINITE_STOP)
        return ga_update_report(run, &run->replica[r]);
    return GA_OK;
}

static int turn(struct ga_run *run, size_t r, int64_t time_ns)
{
    struct ga_push push;
    unsigned actions = 0;

    if (refuse_bad_push(run, r) < 0)
        return ga_error_code();
    run->phase = GA_PHASE_MICRO;
    run->window.expected = run->policy->expected(run_set(run), (uint32_t)run->replicas);
    ga_item_finish(run, r, time_ns);
    buffer_push(run, &run->replica[r]);
    describe_push(run, r, &push);
    run->window.arrived--; /* the policy is asked before the push counts */
    actions = run->policy->on_push(run_set(run), &run->window, &push);
    run->window.arrived++;
    release_pusher(run, r);
    if ((actions & GA_PUSH_CLOSE) && close_buffer(run, &push) < 0)
        return ga_error_code();
    return start_waiting(run, r);
}

/* The item is done: its push travels, and waits its turn at the server. */
static int64_t send(struct ga_run *run, size_t r, int64_t time_ns)
{
    struct ga_replica_value *v = &run->replica[r].v;
    int64_t arrival = ga_time_add(time_ns, ga_time_message(run_set(run), run->net.parameters));
    int64_t begin = arrival > run->server_free_ns ? arrival : run->server_free_ns;
    int64_t served = ga_time_add(begin, run_set(run)->server_ns);

    if (run_set(run)->server_ns > 0)
        run->server_free_ns = served;
    ga_item_rest(run, r, time_ns);
    v->communication_ns += served - time_ns;
    v->free_ns = served;
    v->state = GA_REPLICA_SENDING;
    v->finish_ns = served;
    run->counters.bytes += ga_time_message_bytes(run->net.parameters);
    return served;
}

static int end_of_work(struct ga_run *run, size_t r, int64_t time_ns)
{
    int64_t served = 0;

    if (run->replica[r].v.state == GA_REPLICA_SENDING)
        return turn(run, r, time_ns);
    served = send(run, r, time_ns);
    run->clock_kind->schedule(run->clock, r, served);
    if (served == time_ns)
        return turn(run, r, time_ns);
    run->now_ns = time_ns;
    run->phase = GA_PHASE_MICRO;
    ga_item_event(run, GA_EVENT_SEND, r);
    ga_run_emit(run);
    return GA_OK;
}

static int nothing_runs(const struct ga_run *run)
{
    for (size_t r = 0; r < run->replicas; r++)
        if (!run->replica[r].v.dead)
            return ga_fail(GA_ESTATE,
                           "no replica can go on: the buffer waits for %u pushes and has %u",
                           run->window.expected, run->window.arrived);
    return ga_fail(GA_ESTATE, "all replicas are killed: restore one first");
}

/* A buffer that no further push will fill, because its replicas are leaving the mode. */
static int close_rest(struct ga_run *run)
{
    struct ga_push push;

    run->phase = GA_PHASE_IDLE;
    if (run->window.arrived == 0)
        return GA_OK;
    describe_push(run, (size_t)run->window.closer, &push);
    return close_buffer(run, &push);
}

static int begin(struct ga_run *run)
{
    if (run->draining)
        return close_rest(run);
    if (start_everyone(run) < 0)
        return ga_error_code();
    return anyone_runs(run) ? GA_OK : nothing_runs(run);
}

/* Hogwild's single reads and writes are steps of the weights, not events that a user sees. */
static bool touches_coordinate(const struct ga_run *run, size_t r)
{
    return !run->clock_kind->begin && run->replica[r].v.state == GA_REPLICA_BUSY &&
           run->replica[r].hogwild && ga_hogwild_between(run, r);
}

int ga_push_event(struct ga_run *run)
{
    size_t r = 0;
    int64_t time_ns = 0;
    const struct ga_replica_value *v = NULL;

    if (!anyone_runs(run) || !ga_race_next(run, &r, &time_ns))
        return begin(run);
    while (touches_coordinate(run, r)) {
        if (ga_hogwild_touch(run, r, time_ns) < 0)
            return ga_error_code();
        ga_race_next(run, &r, &time_ns);
    }
    run->turn_of = r;
    run->turn_ns = time_ns;
    v = &run->replica[r].v;
    if (v->state != GA_REPLICA_BUSY || v->micro == v->micros)
        return end_of_work(run, r, time_ns);
    run->phase = GA_PHASE_MICRO;
    if (run_is(run, GA_FAMILY_SHARED))
        return run->clock_kind->begin ? ga_hogwild_gather(run, r, time_ns)
                                      : ga_hogwild_compute(run, r, time_ns);
    return ga_item_micro(run, r, time_ns);
}

int ga_push_check_flush(const struct ga_run *run)
{
    if (run->window.arrived == 0)
        return ga_fail(GA_ESTATE, "the server's buffer is empty: nothing to flush");
    return GA_OK;
}

int ga_push_flush(struct ga_run *run)
{
    struct ga_push push;

    if (ga_push_check_flush(run) < 0)
        return ga_error_code();
    run->counters.events++;
    run_event(run, GA_EVENT_FLUSH, -1);
    ga_run_emit(run);
    describe_push(run, (size_t)run->window.closer, &push);
    return close_buffer(run, &push);
}

static bool bad(const struct ga_run *run, size_t r)
{
    return run->replica[r].v.fault_micro > 0 && run->replica[r].v.state != GA_REPLICA_READY;
}

int ga_push_check_discard(const struct ga_run *run)
{
    bool any = run->window.arrived > 0;

    for (size_t r = 0; r < run->replicas; r++)
        any = any || bad(run, r);
    return any ? GA_OK : ga_fail(GA_ESTATE, "the server's buffer is empty: nothing to discard");
}

/* Drops the server's buffer, and the items whose values stopped the run. */
int ga_push_discard(struct ga_run *run)
{
    if (ga_push_check_discard(run) < 0)
        return ga_error_code();
    run->counters.events++;
    for (size_t r = 0; r < run->replicas; r++)
        if (bad(run, r))
            ga_item_drop(run, r, run->now_ns);
    run->window.skipped = true;
    run->window.loss = run->window.norm = NAN;
    run->has_gradient = false;
    count_items(run);
    emit_update(run, &(struct ga_push){.replica = -1});
    run->phase = GA_PHASE_IDLE;
    ga_run_record_window(run);
    ga_window_begin(run);
    run->window.expected = run->policy->expected(run_set(run), (uint32_t)run->replicas);
    return start_waiting(run, SIZE_MAX);
}
