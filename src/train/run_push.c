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
    if (ga_run_next_window(run) < 0)
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
    if (ga_run_room_for_rows(run, replica, count) < 0) {
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

    if (ga_run_room_for_rows(run, replica, ga_plan_share(run_set(run))) < 0 ||
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
    return run->waiting + run->absent < run->replicas;
}

/* Without the killed where a window goes on without them. */
static uint32_t count_pushers(const struct ga_run *run)
{
    bool all = run_set(run)->sharding == GA_SHARD_STREAM || run->replicas < run->table->train;

    if (run_set(run)->failure == GA_FAILURE_CONTINUE)
        return (uint32_t)(run->replicas - run->absent);
    return (uint32_t)(all ? run->replicas : run->table->train);
}

void ga_push_expect(struct ga_run *run)
{
    run->window.expected = run->policy->expected(run_set(run), count_pushers(run));
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

/* Whether those who had to wait when they were last asked may have another answer. */
static bool worth_asking(const struct ga_run *run)
{
    return run->waiting > 0 &&
           (!run->asked || run->asked_clock != run->least_clock ||
            (run->policy->waits_for_update && run->asked_closed != ga_run_closed(run)));
}

static int start_others(struct ga_run *run)
{
    for (size_t r = 0; r < run->replicas && run->waiting > 0; r++)
        if (ga_item_may_start(run, r) && run_has_rows(run, r) && start(run, r) < 0)
            return ga_error_code();
    run->asked = true;
    run->asked_clock = run->least_clock;
    run->asked_closed = ga_run_closed(run);
    return GA_OK;
}

/* Replica `first` (if any) starts before the others, which follow in replica order. */
static int start_waiting(struct ga_run *run, size_t first)
{
    if (run_drains(run))
        return GA_OK;
    if (first < run->replicas && ga_item_may_start(run, first) && start(run, first) < 0)
        return ga_error_code();
    return worth_asking(run) ? start_others(run) : GA_OK;
}

/* Where nobody runs, the next event begins. */
int ga_push_start(struct ga_run *run)
{
    return anyone_runs(run) ? start_waiting(run, SIZE_MAX) : GA_OK;
}

/* ---- the server ---- */

static int buffer_push(struct ga_run *run, struct ga_replica *replica)
{
    struct ga_window_state *buffer = &run->window;
    struct ga_replica_value *v = &replica->v;

    if (buffer->arrived > 0)
        run->compute->add(&run->net, run->reduced, replica->sums);
    else if (ga_buffer_copy(run->compute, run->reduced, replica->sums, run->sum_bytes) < 0)
        return ga_error_code();
    ga_tally_add(&buffer->total, &v->tally);
    buffer->arrived++;
    buffer->examples += v->examples;
    buffer->micros += v->micro;
    buffer->micro_norm_square += v->micro_norm_square;
    buffer->micro_inverse_count += v->micro_inverse_count;
    buffer->window_weight = v->window_weight;
    buffer->closer = (int32_t)(replica - run->replica);
    return GA_OK;
}

/*
 * The buffer as one push of the replica that pushed last, with the largest staleness in it, and how
 * that replica's times compare.
 */
static void describe_buffer(const struct ga_run *run, struct ga_push *push)
{
    const struct ga_window_state *buffer = &run->window;
    const struct ga_replica_value *v = &run->replica[buffer->closer].v;
    double sum = 0;
    size_t known = 0;

    *push = (struct ga_push){
        .replica = buffer->closer,
        .window = buffer->number,
        .version_read = run->counters.updates - buffer->staleness,
        .version_now = run->counters.updates,
        .examples = (uint32_t)buffer->total.examples,
        .time_ns = run->now_ns,
        .share = ga_tally_weight_sum(&buffer->total) / buffer->window_weight,
    };
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

/* A single push, whose own mean is known, is the whole buffer: g is that mean. */
static bool is_sole_mean(const struct ga_run *run)
{
    const struct ga_window_state *w = &run->window;

    return w->arrived == 1 && run_set(run)->reduce != GA_REDUCE_SUM && w->closer >= 0 &&
           run->replica[w->closer].has_mean && run->replica[w->closer].has_kept;
}

static void find_gradient(struct ga_run *run)
{
    struct ga_window_state *w = &run->window;
    double weight = ga_tally_weight_sum(&w->total);
    double divisor = run_set(run)->reduce == GA_REDUCE_SUM ? 1 : weight;

    w->loss = ga_tally_loss_sum(&w->total) / weight;
    run->has_gradient = weight > 0;
    if (!run->has_gradient)
        return;
    if (is_sole_mean(run)) {
        w->norm = run->replica[w->closer].v.norm;
        ga_buffer_fetch(run->compute, run->replica[w->closer].mean);
        memcpy(run->gradient, run->replica[w->closer].mean, run->net.parameters * sizeof(float));
        ga_buffer_renew(run->compute, run->gradient);
        return;
    }
    w->norm = run->compute->mean(&run->net, run->reduced, divisor, run->gradient);
}

/* How the push that just filled the buffer points; its sums are still in the replica. */
static void compare_push(struct ga_run *run, size_t r)
{
    struct ga_window_state *w = &run->window;
    struct ga_replica *replica = &run->replica[r];
    double own = ga_tally_weight_sum(&replica->kept);

    if (!run->has_gradient || !(own > 0))
        return;
    float *mean = replica->mean ? replica->mean : run->item_gradient;

    if (!replica->has_mean)
        run->compute->mean(&run->net, replica->sums, own, mean);
    replica->has_mean = replica->mean != NULL;
    replica->v.cosine = ga_buffer_dot(run->compute, mean, run->gradient, run->net.parameters) /
                        (replica->v.norm * w->norm);
}

static int apply_step(struct ga_run *run)
{
    struct ga_window_state *w = &run->window;
    struct ga_push push;

    describe_buffer(run, &push);
    w->scale = run->policy->scale(run_set(run), &push);
    w->lr = ga_update_rate(run_set(run), run->counters.updates) * w->scale;
    if (run_is(run, GA_FAMILY_SHARED))
        return ga_hogwild_publish(run);
    if (run_set(run)->clip > 0)
        w->clip_scale = ga_clip_scale(run_set(run)->clip, w->norm);
    return ga_update_step(run);
}

/* `version` is the one that the closing push had read. */
static void emit_update(struct ga_run *run, uint64_t version)
{
    const struct ga_window_state *w = &run->window;
    struct ga_event *event = run_event(run, w->skipped ? GA_EVENT_SKIP : GA_EVENT_APPLY, w->closer);

    event->version = version;
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

/* From the full buffer and its gradient to new weights, or to a skip. */
static int close_buffer(struct ga_run *run, uint64_t version)
{
    struct ga_window_state *w = &run->window;
    bool empty = !(ga_tally_weight_sum(&w->total) > 0);

    if (ga_buffer_poll(run->compute) < 0)
        return ga_error_code();
    w->epoch = run->counters.examples / run->table->train;
    w->skipped =
        empty || (run_set(run)->nonfinite == GA_NONFINITE_SKIP && ga_update_examine(run) < 0);
    if (!w->skipped && apply_step(run) < 0)
        return ga_error_code();
    count_items(run);
    emit_update(run, version);
    run->phase = GA_PHASE_IDLE;
    ga_run_noise(run);
    ga_run_record_window(run);
    ga_window_begin(run);
    ga_push_expect(run);
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
    const struct ga_replica_value *v = &run->replica[r].v;
    struct ga_push push = {
        .replica = (int32_t)r,
        .window = v->window,
        .version_read = v->read->number,
        .version_now = run->counters.updates,
        .examples = v->examples,
        .time_ns = time_ns,
    };
    unsigned actions = 0;

    if (refuse_bad_push(run, r) < 0)
        return ga_error_code();
    run->phase = GA_PHASE_MICRO;
    actions = run->policy->on_push(run_set(run), &run->window, &push);
    ga_item_finish(run, r, time_ns);
    if (buffer_push(run, &run->replica[r]) < 0)
        return ga_error_code();
    release_pusher(run, r);
    if (actions & GA_PUSH_CLOSE) {
        find_gradient(run);
        compare_push(run, r);
        if (close_buffer(run, push.version_read) < 0)
            return ga_error_code();
    }
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
    if (served != time_ns || run->clock_kind->begin)
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
    size_t r = 0;

    if (run->absent == run->replicas)
        return ga_fail(GA_ESTATE, "all replicas are killed: restore one first");
    while (r < run->replicas && !run->replica[r].v.dead)
        r++;
    if (r < run->replicas)
        return ga_fail(GA_ESTATE,
                       "update %llu waits for replica %zu, which was killed (failure wait): "
                       "restore %zu, or flush or discard the buffer; with failure continue the "
                       "next one goes on without it",
                       (unsigned long long)run->counters.updates + 1, r, r);
    return ga_fail(GA_EINTERNAL, "no replica may start, and none was killed");
}

/* The server's buffer as it is; nothing when it is empty. */
static int close_now(struct ga_run *run)
{
    run->phase = GA_PHASE_IDLE;
    if (run->window.arrived == 0)
        return GA_OK;
    find_gradient(run);
    return close_buffer(run, run->counters.updates - run->window.staleness);
}

/* A killed replica's push is not missed any more where the rest goes on. */
static bool is_full(const struct ga_run *run)
{
    return run->window.arrived > 0 && run->window.arrived >= run->window.expected;
}

/* Nobody works: at the beginning, when replicas leave the mode, or when someone was killed. */
/* Where nobody can go on nothing has happened: an event that fails leaves the run as it was. */
static int begin(struct ga_run *run)
{
    if (run_drains(run) || is_full(run))
        return close_now(run);
    if (start_waiting(run, SIZE_MAX) < 0)
        return ga_error_code();
    if (!anyone_runs(run))
        return nothing_runs(run);
    run->phase = GA_PHASE_MICRO;
    run_event(run, GA_EVENT_OPEN, -1);
    ga_run_emit(run);
    return GA_OK;
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
    if (ga_push_check_flush(run) < 0)
        return ga_error_code();
    run->counters.events++;
    run_event(run, GA_EVENT_FLUSH, -1);
    ga_run_emit(run);
    return close_now(run) < 0 ? ga_error_code() : ga_push_start(run);
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
    run->window.closer = -1;
    emit_update(run, 0);
    run->phase = GA_PHASE_IDLE;
    ga_run_record_window(run);
    ga_window_begin(run);
    ga_push_expect(run);
    return start_waiting(run, SIZE_MAX);
}
