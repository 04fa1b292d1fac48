/*
 * What the fields of a state say about each other. The train room never makes a state that is
 * refused here, and relies on what is demanded: a busy replica has rows, weights and sums, an open
 * window can be closed, a gradient is there where the next event needs it.
 */
#include <string.h>

#include "base/error.h"
#include "storage/checkpoint_format.h"
#include "train/plan.h"

static int refuse(size_t replica, const char *what)
{
    return ga_fail(GA_EINPUT, "\"replicas\": %zu: %s", replica, what);
}

/* A rule that a replica can break, with its words. */
struct rule {
    bool (*holds)(const struct ga_state *state, const struct ga_replica_value *v);
    const char *otherwise;
};

static bool working(const struct ga_replica_value *v)
{
    return v->state == GA_REPLICA_BUSY || v->state == GA_REPLICA_LATE;
}

/* Micro-batches that were committed make up the examples that were. */
static bool progress_fits(const struct ga_state *state, const struct ga_replica_value *v)
{
    size_t first = 0, count = 0;
    (void)state;
    if (v->state == GA_REPLICA_READY)
        return v->micro == 0;
    if (v->micros == 0 || v->micros > v->examples || v->examples > GA_MAX_WINDOW ||
        v->micro > v->micros)
        return false;
    if (v->micro == v->micros)
        return v->done_examples == v->examples;
    ga_plan_part(v->examples, v->micros, v->micro, &first, &count);
    return v->done_examples == first;
}

static bool state_fits_phase(const struct ga_state *state, const struct ga_replica_value *v)
{
    if (v->state == GA_REPLICA_BUSY)
        return state->phase == GA_PHASE_MICRO;
    if (v->state == GA_REPLICA_DONE)
        return state->phase != GA_PHASE_IDLE && v->micro > 0;
    return true;
}

static bool window_fits(const struct ga_state *state, const struct ga_replica_value *v)
{
    const uint64_t now = state->window.number;
    if (v->in_window != (v->state == GA_REPLICA_DONE) || v->window > now)
        return false;
    if (v->state == GA_REPLICA_LATE)
        return state->phase != GA_PHASE_MICRO || v->window < now;
    return v->state == GA_REPLICA_READY || v->window == now;
}

static bool weights_fit(const struct ga_state *state, const struct ga_replica_value *v)
{
    if (!v->read)
        return v->state == GA_REPLICA_READY;
    return v->state != GA_REPLICA_READY && v->read->number <= state->counters.updates;
}

static bool part_fits(const struct ga_state *state, const struct ga_replica_value *v)
{
    if (v->state == GA_REPLICA_BUSY)
        return v->part == v->examples &&
               v->micros == ga_plan_micros(&state->settings->value, v->part);
    return v->part == 0 || (v->state == GA_REPLICA_LATE && state->phase == GA_PHASE_MICRO);
}

static bool times_fit(const struct ga_state *state, const struct ga_replica_value *v)
{
    if (!working(v))
        return true;
    return v->start_ns <= state->now_ns && v->start_ns <= v->finish_ns &&
           (v->state == GA_REPLICA_LATE || state->now_ns <= v->finish_ns);
}

static const struct rule rules[] = {
    {progress_fits, "micro, micros, examples and done_examples contradict each other"},
    {state_fits_phase, "its state does not fit the phase of the run"},
    {window_fits, "window or in_window does not fit its state"},
    {weights_fit, "the version it works on does not fit its state"},
    {part_fits, "part or micros does not fit its state and the settings"},
    {times_fit, "start_ns, finish_ns and the run's now_ns contradict each other"},
};

static int examine_replicas(const struct ga_state *state)
{
    uint64_t rows = 0;
    for (size_t r = 0; r < state->replicas; r++) {
        for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
            if (!rules[i].holds(state, &state->replica[r]))
                return refuse(r, rules[i].otherwise);
        rows += state->replica[r].part;
    }
    if (rows == state->rows && rows <= state->window.examples)
        return GA_OK;
    return ga_fail(GA_EINPUT,
                   "%zu row numbers, expected %llu by the replicas' parts of %zu examples",
                   state->rows, (unsigned long long)rows, state->window.examples);
}

/* Exactly the replicas that committed something to the open window hold sums, in rising order. */
static int examine_sums(const struct ga_state *state)
{
    size_t k = 0;
    for (size_t r = 0; r < state->replicas; r++) {
        const struct ga_replica_value *v = &state->replica[r];
        if (v->micro == 0 || v->state == GA_REPLICA_LATE)
            continue;
        if (k == state->sums || state->sums_of[k] != (int32_t)r)
            return refuse(r, "its accumulator is missing, or not in its place");
        k++;
    }
    if (k == state->sums)
        return GA_OK;
    return ga_fail(GA_EINPUT, "%zu accumulators, expected %zu by the replicas' counts", state->sums,
                   k);
}

/* In an open window the pushes that came, and enough replicas that can still push. */
static int examine_window(const struct ga_state *state)
{
    const struct ga_window_state *window = &state->window;
    uint64_t arrived = 0, coming = 0;
    if (window->examples > GA_MAX_WINDOW)
        return ga_fail(GA_EINPUT, "\"window\": %zu examples, expected at most %d", window->examples,
                       GA_MAX_WINDOW);
    if (state->phase != GA_PHASE_MICRO)
        return GA_OK;
    for (size_t r = 0; r < state->replicas; r++) {
        const struct ga_replica_value *v = &state->replica[r];
        arrived += v->state == GA_REPLICA_DONE;
        coming += working(v) && v->part > 0;
    }
    if (window->arrived == arrived && arrived < window->expected &&
        window->expected - arrived <= coming)
        return GA_OK;
    return ga_fail(
        GA_EINPUT,
        "\"window\": %u of %u expected pushes arrived; the replicas say %llu, and %llu may "
        "come",
        window->arrived, window->expected, (unsigned long long)arrived, (unsigned long long)coming);
}

/* g is there where the next events use it, and only while a window is being closed. */
static int examine_gradient(const struct ga_state *state)
{
    const bool reduced = state->phase > GA_PHASE_REDUCE;
    const bool stepping = state->phase == GA_PHASE_CLIP || state->phase == GA_PHASE_APPLY;
    const bool weighed = ga_tally_weight_sum(&state->window.total) > 0;
    const bool needed = stepping || (state->phase == GA_PHASE_CHECK && weighed);
    if (reduced != (state->reduced != NULL))
        return ga_fail(GA_EINPUT, "tensor \"%s\" is %s in phase %s", GA_CHECKPOINT_REDUCED,
                       reduced ? "missing" : "not expected", ga_phase_name(state->phase));
    if ((needed && !state->gradient) || (!reduced && state->gradient))
        return ga_fail(GA_EINPUT, "tensor \"%s\" is %s in phase %s", GA_CHECKPOINT_GRADIENT,
                       needed ? "missing" : "not expected", ga_phase_name(state->phase));
    if (stepping && (state->window.skipped || !weighed))
        return ga_fail(GA_EINPUT, "\"window\": nothing to apply in phase %s",
                       ga_phase_name(state->phase));
    return GA_OK;
}

static int examine_server(const struct ga_state *state)
{
    static const enum ga_step_kind kind_of[] = {
        [GA_SGD] = GA_STEP_SGD, [GA_ADAM] = GA_STEP_ADAM, [GA_ADAMW] = GA_STEP_ADAMW};
    const struct ga_settings *settings = &state->settings->value;
    const size_t blocks =
        ga_step_state_blocks(kind_of[settings->optimizer], (float)settings->momentum);
    if (state->server->number != state->counters.updates)
        return ga_fail(GA_EINPUT, "\"versions\": 0: number %llu, expected %llu, the updates so far",
                       (unsigned long long)state->server->number,
                       (unsigned long long)state->counters.updates);
    if (state->server->state_blocks != blocks)
        return ga_fail(
            GA_EINPUT,
            "\"versions\": 0: %zu blocks of optimizer state, expected %zu by the settings",
            state->server->state_blocks, blocks);
    return GA_OK;
}

/* Events of one replica name one that is there, the others none. */
static int examine_event(const struct ga_state *state)
{
    const struct ga_event *event = &state->last_event;
    const bool of_replica = event->kind == GA_EVENT_MICRO || event->kind == GA_EVENT_PUSH ||
                            event->kind == GA_EVENT_DROP;
    const bool first = event->kind == GA_EVENT_NONE;
    if (first        ? state->counters.events == 0 && event->replica <= 0
        : of_replica ? event->replica >= 0 && (size_t)event->replica < state->replicas
                     : event->replica == -1)
        return GA_OK;
    return ga_fail(GA_EINPUT, "\"last_event\": %s of replica %d among %zu replicas",
                   ga_event_name((enum ga_event_kind)event->kind), (int)event->replica,
                   state->replicas);
}

int ga_checkpoint_examine(const struct ga_state *state)
{
    static int (*const steps[])(const struct ga_state *) = {examine_server,   examine_replicas,
                                                            examine_sums,     examine_window,
                                                            examine_gradient, examine_event};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        if (steps[i](state))
            return ga_error_code();
    return GA_OK;
}
