/* Laws beside measurements: which earlier state of the run they are measured from. */
#include <math.h>

#include "train/engine_internal.h"
#include "train/law.h"

struct law_request {
    uint64_t updates;
    bool look_at_curvature;
    struct ga_law_report *out;
};

/*
 * The first event count behind the last thing that a user did to replicas or a window; a state of
 * that very count was kept before it. 0: nothing was done.
 */
static uint64_t behind_disturbance(const struct engine_slot *at)
{
    for (size_t k = at->cursor; k > 0; k--)
        if (ga_history_intervention(at->history, k - 1)->kind != GA_DID_CHANGE)
            return ga_history_intervention(at->history, k - 1)->events + 1;
    return 0;
}

/* Kept states of the present settings form the end of the list, up to where the run stands. */
static bool is_comparable(const struct engine_slot *at, const struct ga_state *state,
                          uint64_t undisturbed)
{
    const struct ga_settings *now = ga_run_settings(at->run);

    return state->settings->epoch == ga_run_settings_epoch(at->run) &&
           state->settings->value.mode == now->mode &&
           state->replicas == ga_run_replicas(at->run) && state->counters.events >= undisturbed;
}

static size_t first_comparable(const struct engine_slot *at, size_t end)
{
    uint64_t undisturbed = behind_disturbance(at);
    size_t low = 0, high = end;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (is_comparable(at, ga_history_state(at->history, middle), undisturbed))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* States with at most this much in the counter, events or closed windows. */
static size_t states_up_to(const struct engine_slot *at, enum ga_history_key key, uint64_t most)
{
    size_t low = 0, high = ga_history_states(at->history);

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (ga_history_key(&ga_history_state(at->history, middle)->counters, key) <= most)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The mean of the first weights over the states [first, end). */
static void mean_weights(const struct engine_slot *at, size_t first, size_t end, double *mean)
{
    size_t n = ga_run_net_of(at->run)->parameters;

    for (size_t j = 0; j < GA_LAW_COORDINATES; j++)
        mean[j] = j < n ? 0 : (double)NAN;
    for (size_t k = first; k < end; k++) {
        const float *weights = ga_version_weights(ga_history_state(at->history, k)->server);

        for (size_t j = 0; j < GA_LAW_COORDINATES && j < n; j++)
            mean[j] += (double)weights[j] / (double)(end - first);
    }
}

static int law_call(struct ga_engine *engine, void *arg)
{
    const struct law_request *request = arg;
    struct engine_slot *at = engine->at;
    const struct ga_state *since = NULL;
    uint64_t closed = 0, events = 0;
    size_t end = 0, first = 0, wanted = 0;
    double mean[GA_LAW_COORDINATES];

    if (ga_engine_ensure_run(engine) < 0)
        return ga_error_code();
    closed = ga_run_windows_closed(at->run);
    events = ga_run_counters(at->run)->events;
    end = states_up_to(at, GA_KEY_EVENTS, events);
    first = first_comparable(at, end);
    wanted =
        closed >= request->updates ? states_up_to(at, GA_KEY_CLOSED, closed - request->updates) : 0;
    if (wanted > first + 1)
        first = wanted - 1;
    mean_weights(at, first, end, mean);
    if (first < end)
        since = ga_history_state(at->history, first);
    if (since && since->counters.events == events)
        since = NULL;
    return ga_law_report(at->run, since, mean, request->look_at_curvature, request->out);
}

int ga_engine_laws(struct ga_engine *engine, uint64_t updates, bool look_at_curvature,
                   struct ga_law_report *out)
{
    struct law_request request = {updates, look_at_curvature, out};

    return ga_engine_ask(engine, law_call, &request);
}
