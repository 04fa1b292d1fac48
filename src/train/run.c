/* Opening a run, advancing it by events, and looking at it. */
#include "train/run.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "train/plan.h"
#include "train/run_internal.h"

/* Losses of whole data sets are summed in blocks of this many rows, block totals in file order. */
#define EVALUATE_BLOCK ((size_t)1 << 18)

static int open_tools(struct ga_run *run)
{
    const struct ga_settings *set = run_set(run);
    struct ga_stream_spec spec;

    if (!run->compute)
        run->compute = ga_run_compute(set, &run->net);
    if (run->compute)
        ga_buffer_revive(run->compute);
    if (run->compute)
        run->collective = ga_collective_for(run->compute, (size_t)set->replicas);
    run->policy = ga_policy_find(ga_choice_word("mode", (int)set->mode));
    run->clock_kind = ga_clock_find(ga_choice_word("clock", (int)set->clock));
    if (!run->compute || !run->collective || !run->policy || !run->clock_kind)
        return ga_error_code();
    ga_run_stream_spec(set, run->table->train, &spec);
    return ga_stream_open(&run->stream, &spec);
}

static int open_buffers(struct ga_run *run)
{
    run->sum_elements = run->compute->sum_count(&run->net);
    run->sum_bytes = run->sum_elements * ga_type_bytes(run->compute->sum_type);
    if (ga_run_find_places(run_set(run), run->compute, &run->places) < 0)
        return ga_error_code();
    ga_run_find_cards(run);
    run->reduced = ga_run_alloc_sums(run, 0, 1);
    run->gradient = ga_alloc_aligned(run->net.parameters, sizeof *run->gradient);
    run->item_gradient = ga_alloc_aligned(run->net.parameters, sizeof *run->item_gradient);
    run->context = ga_alloc((size_t)run->lanes, sizeof *run->context);
    if (!run->reduced || !run->gradient || !run->item_gradient || !run->context ||
        ga_run_hold_means(run, run->gradient, 1) < 0 ||
        ga_run_hold_means(run, run->item_gradient, 1) < 0)
        return ga_error_code();
    return ga_run_resize(run, (size_t)run_set(run)->replicas);
}

static int open_weights(struct ga_run *run, const struct ga_run_start *start)
{
    static const enum ga_model_init init_of[] = {
        [GA_INIT_NORMAL] = GA_MODEL_NORMAL, [GA_INIT_UNIFORM] = GA_MODEL_UNIFORM,
        [GA_INIT_XAVIER] = GA_MODEL_XAVIER, [GA_INIT_HE] = GA_MODEL_HE,
        [GA_INIT_ZEROS] = GA_MODEL_ZEROS,
    };
    const struct ga_settings *set = run_set(run);

    if (set->init == GA_INIT_FILE && start->weights_count != run->net.parameters)
        return ga_fail(
            GA_EINPUT,
            "init file has %zu weights and the model has %zu: use init-from with a file of "
            "this model, or another init",
            start->weights_count, run->net.parameters);
    if (ga_version_open(&run->server, run->net.parameters, ga_run_state_blocks(set)) < 0)
        return ga_error_code();
    if (set->init == GA_INIT_FILE)
        memcpy(run->server->weights, start->weights, run->net.parameters * sizeof(float));
    else
        ga_model_initialise(&run->net, init_of[set->init], set->seed, run->server->weights);
    return GA_OK;
}

/* On the real clock workers do everything, so that the caller stays free to look at the clock. */
static int open_workers(struct ga_run *run, const struct ga_run_start *start)
{
    int lanes = run->workers ? ga_workers_lanes(run->workers) : 1;

    if (start->settings.clock == GA_CLOCK_REAL) {
        if (ga_workers_open(&run->own_workers, lanes) < 0)
            return ga_error_code();
        run->workers = run->own_workers;
        lanes = ga_workers_lanes(run->workers);
    }
    run->lanes = lanes;
    return GA_OK;
}

static int open_all(struct ga_run *run, const struct ga_run_start *start)
{
    if (open_workers(run, start) < 0 || ga_run_check_settings(&start->settings, start->data) < 0 ||
        ga_run_net(&start->settings, start->data, &run->net) < 0 ||
        ga_settings_share_open(&run->settings, &start->settings, 0) < 0 || open_tools(run) < 0 ||
        open_buffers(run) < 0 || open_weights(run, start) < 0)
        return ga_error_code();
    ga_run_choose_lanes(run);
    return ga_run_enter_mode(run);
}

int ga_run_open(struct ga_run **out, const struct ga_run_start *start)
{
    struct ga_run *run = ga_alloc(1, sizeof *run);

    *out = NULL;
    if (!run)
        return ga_error_code();
    run->data = ga_dataset_share(start->data);
    run->table = ga_dataset_table(run->data);
    run->workers = start->workers;
    run->compute = start->compute;
    ga_window_init(&run->rows);
    if (open_all(run, start) < 0) {
        ga_run_close(run);
        return ga_error_code();
    }
    *out = run;
    return GA_OK;
}

static void close_contexts(struct ga_run *run)
{
    for (int lane = 0; run->context && lane < run->lanes; lane++)
        if (run->context[lane])
            run->compute->close(run->context[lane]);
    free(run->context);
}

void ga_run_close(struct ga_run *run)
{
    if (!run)
        return;
    if (run->replica)
        ga_run_release_replicas(run);
    close_contexts(run);
    if (run->compute)
        run->compute->free(run->reduced);
    ga_workers_close(run->own_workers);
    ga_update_forget_recent(run, 0);
    ga_hogwild_leave(run);
    free(run->race);
    free(run->burst_step);
    free(run->recent);
    free(run->average);
    ga_run_free_means(run, run->gradient, 1);
    ga_run_free_means(run, run->item_gradient, 1);
    ga_stream_close(run->stream);
    ga_window_fini(&run->rows);
    ga_version_close(run->server);
    ga_version_close(run->previous);
    ga_version_close(run->ahead);
    ga_version_close(run->sharpness.of);
    ga_settings_share_close(run->settings);
    ga_settings_share_close(run->pending);
    ga_dataset_close(run->data);
    free(run);
}

int ga_run_event(struct ga_run *run)
{
    static int (*const step_of[GA_PHASES])(struct ga_run *) = {
        [GA_PHASE_IDLE] = ga_window_open_next, [GA_PHASE_MICRO] = ga_window_turn,
        [GA_PHASE_REDUCE] = ga_window_reduce,  [GA_PHASE_CHECK] = ga_window_check,
        [GA_PHASE_CLIP] = ga_window_clip,      [GA_PHASE_APPLY] = ga_window_apply,
        [GA_PHASE_CLEAR] = ga_window_clear,
    };
    int code = GA_OK;

    run->counters.events++;
    run->turn_of = SIZE_MAX;
    if (run->phase == GA_PHASE_IDLE && run->pending)
        code = ga_run_boundary(run);
    if (code == GA_OK)
        code = ga_run_pushes(run) ? ga_push_event(run) : step_of[run->phase](run);
    if (code == GA_OK && run->clock_kind->begin && run->turn_of != SIZE_MAX)
        code = ga_race_note(run, run->turn_of, run->turn_ns);
    if (code < 0)
        run->counters.events--;
    return code;
}

void ga_run_watch(struct ga_run *run, void (*on_event)(void *self, const struct ga_event *event),
                  void (*on_record)(void *self, const struct ga_update_record *record), void *self)
{
    run->on_event = on_event;
    run->on_record = on_record;
    run->sink = self;
}

void ga_run_on_wake(struct ga_run *run, void (*wake)(void *self), void *self)
{
    run->wake = wake;
    run->wake_self = self;
}

uint64_t ga_run_epochs_done(const struct ga_run *run)
{
    return ga_stream_epoch(run->stream) + (ga_stream_left(run->stream) == 0);
}

void ga_run_tell_rate(struct ga_run *run, double examples_per_second)
{
    run->example_rate = examples_per_second;
}

const struct ga_counters *ga_run_counters(const struct ga_run *run)
{
    return &run->counters;
}

enum ga_phase ga_run_phase(const struct ga_run *run)
{
    return run->phase;
}

bool ga_run_at_boundary(const struct ga_run *run)
{
    return run->phase == GA_PHASE_IDLE;
}

uint64_t ga_run_windows_closed(const struct ga_run *run)
{
    bool open = run->phase == GA_PHASE_CLEAR && !run->window.skipped;

    return run->counters.updates + run->counters.skipped - open;
}

int64_t ga_run_now(const struct ga_run *run)
{
    return run->now_ns;
}

const struct ga_net *ga_run_net_of(const struct ga_run *run)
{
    return &run->net;
}

const struct ga_compute *ga_run_compute_of(const struct ga_run *run)
{
    return run->compute;
}

struct ga_dataset *ga_run_data(const struct ga_run *run)
{
    return run->data;
}

const struct ga_settings *ga_run_settings(const struct ga_run *run)
{
    return run_set(run);
}

const struct ga_settings *ga_run_pending(const struct ga_run *run)
{
    return run->pending ? &run->pending->value : run_set(run);
}

uint64_t ga_run_next_window_update(const struct ga_run *run)
{
    return run->counters.updates + (ga_run_at_boundary(run) || run->window.skipped ? 1 : 2) -
           (run->phase == GA_PHASE_CLEAR && !run->window.skipped);
}

uint64_t ga_run_hash(const struct ga_run *run)
{
    return ga_hash_parameters(ga_version_weights(run->server), run->net.parameters);
}

const struct ga_version *ga_run_version(const struct ga_run *run)
{
    ga_version_fetch(run->server);
    return run->server;
}

struct ga_version *ga_run_share_version(const struct ga_run *run)
{
    return ga_version_share(run->server);
}

size_t ga_run_replicas(const struct ga_run *run)
{
    return run->replicas;
}

const struct ga_replica_value *ga_run_replica(const struct ga_run *run, size_t replica)
{
    return replica < run->replicas ? &run->replica[replica].v : NULL;
}

const struct ga_window_state *ga_run_window(const struct ga_run *run)
{
    return &run->window;
}

int ga_run_accumulator(const struct ga_run *run, size_t replica, double *sums, double *weight)
{
    const struct ga_replica *r = NULL;

    if (replica >= run->replicas)
        return ga_fail(GA_ERANGE, "there is no replica %zu: expected 0..%zu", replica,
                       run->replicas - 1);
    r = &run->replica[replica];
    *weight = ga_tally_weight_sum(&r->v.tally);
    if (r->v.micro > 0 && r->v.state != GA_REPLICA_LATE)
        run->compute->read_sums(&run->net, r->sums, 0, run->net.parameters, sums);
    else
        memset(sums, 0, run->net.parameters * sizeof *sums);
    return GA_OK;
}

const uint32_t *ga_run_rows(const struct ga_run *run, size_t replica, size_t *count)
{
    const struct ga_window *last = &run->rows;

    *count = 0;
    if (replica >= run->replicas)
        return NULL;
    const struct ga_replica *r = &run->replica[replica];
    if (r->v.part > 0) {
        *count = r->v.part;
        return r->rows;
    }
    if (replica >= last->replicas || !last->start)
        return NULL;
    *count = last->start[replica + 1] - last->start[replica];
    return last->index + last->start[replica];
}

const float *ga_run_gradient(const struct ga_run *run)
{
    if (!run->has_gradient)
        return NULL;
    if (run->owed)
        run->compute->mean(&run->net, run->owed, run->owed_divisor, run->gradient);
    ga_buffer_fetch(run->compute, run->gradient);
    return run->gradient;
}

const struct ga_event *ga_run_last_event(const struct ga_run *run)
{
    return &run->last_event;
}

const struct ga_update_record *ga_run_last_record(const struct ga_run *run)
{
    return run->has_record ? &run->last_record : NULL;
}

/* One block of at most EVALUATE_BLOCK rows from `first`. */
static int evaluate_block(struct ga_run *run, size_t first, size_t count, struct ga_tally *tally)
{
    struct ga_context *context = run_context(run, 0);
    struct ga_batch batch = run_batch(run);

    if (!context)
        return ga_error_code();
    batch.first = first;
    batch.count = count;
    return run->compute->evaluate(context, run->server->weights, &batch, tally);
}

static int evaluate_rows(struct ga_run *run, size_t first, size_t rows, double *loss,
                         double *accuracy)
{
    double loss_sum = 0, weight_sum = 0;
    uint64_t correct = 0;

    for (size_t done = 0; done < rows; done += EVALUATE_BLOCK) {
        size_t count = rows - done < EVALUATE_BLOCK ? rows - done : EVALUATE_BLOCK;
        struct ga_tally tally;

        if (evaluate_block(run, first + done, count, &tally) < 0)
            return ga_error_code();
        loss_sum += ga_tally_loss_sum(&tally);
        weight_sum += ga_tally_weight_sum(&tally);
        correct += tally.correct;
    }
    *loss = loss_sum / weight_sum;
    *accuracy = run->table->kind == GA_TARGET_CLASS && rows > 0 ? (double)correct / (double)rows
                                                                : __builtin_nan("");
    return GA_OK;
}

int ga_run_evaluate(struct ga_run *run, bool test, double *loss, double *accuracy,
                    uint64_t *examples)
{
    size_t first = test ? run->table->train : 0;
    size_t rows = test ? run->table->test : run->table->train;

    if (!run->evaluated[test].known) {
        if (evaluate_rows(run, first, rows, &run->evaluated[test].loss,
                          &run->evaluated[test].accuracy) < 0)
            return ga_error_code();
        run->evaluated[test].examples = rows;
        run->evaluated[test].known = true;
    }
    *loss = run->evaluated[test].loss;
    *accuracy = run->evaluated[test].accuracy;
    *examples = run->evaluated[test].examples;
    return GA_OK;
}

int ga_run_predict(struct ga_run *run, size_t first, size_t count, float *outputs)
{
    struct ga_context *context = NULL;
    struct ga_batch batch = run_batch(run);

    if (run->net.kind == GA_NET_QUADRATIC)
        return ga_fail(GA_ESTATE, "a quadratic has no outputs to predict");
    if (first > run->table->train + run->table->test ||
        count > run->table->train + run->table->test - first)
        return ga_fail(GA_ERANGE, "rows %zu..%zu: the data has %zu", first, first + count,
                       run->table->train + run->table->test);
    context = run_context(run, 0);
    if (!context)
        return ga_error_code();
    batch.first = first;
    batch.count = count;
    return run->compute->predict(context, run->server->weights, &batch, outputs);
}
