/* What can be seen of the engine's runs: observers, records, events, history, views. */
#include <string.h>

#include "train/engine_internal.h"

static int observe_call(struct ga_engine *engine, void *arg)
{
    for (size_t i = 0; i < ENGINE_OBSERVERS; i++) {
        if (engine->observers[i].observer.update)
            continue;
        engine->observers[i] = *(const struct engine_observer *)arg;
        engine->observers[i].slot = engine->at;
        return GA_OK;
    }
    return ga_fail(GA_ERANGE, "there are %d logs already", ENGINE_OBSERVERS);
}

int ga_engine_observe_runs(struct ga_engine *engine, enum ga_observed which,
                           const struct ga_observer *observer)
{
    struct engine_observer copy = {.observer = *observer, .which = which};

    return ga_engine_ask(engine, observe_call, &copy);
}

int ga_engine_observe(struct ga_engine *engine, const struct ga_observer *observer)
{
    return ga_engine_observe_runs(engine, GA_OBSERVE_CURRENT, observer);
}

static int unobserve_call(struct ga_engine *engine, void *arg)
{
    for (size_t i = 0; i < ENGINE_OBSERVERS; i++)
        if (engine->observers[i].observer.update && engine->observers[i].observer.self == arg)
            memset(&engine->observers[i], 0, sizeof engine->observers[i]);
    return GA_OK;
}

void ga_engine_unobserve(struct ga_engine *engine, void *self)
{
    ga_engine_ask(engine, unobserve_call, self);
}

struct events_request {
    size_t most;
    int (*each)(const struct ga_event *event, void *arg);
    void *arg;
};

static int events_call(struct ga_engine *engine, void *arg)
{
    const struct events_request *request = arg;

    if (!engine->at->run)
        return GA_OK;
    return ga_history_each_event(engine->at->history, request->most,
                                 ga_run_counters(engine->at->run)->events, request->each,
                                 request->arg);
}

int ga_engine_events(struct ga_engine *engine, size_t most,
                     int (*each)(const struct ga_event *event, void *arg), void *arg)
{
    struct events_request request = {most, each, arg};

    return ga_engine_ask(engine, events_call, &request);
}

static int history_call(struct ga_engine *engine, void *arg)
{
    struct ga_history_info *out = arg;

    if (ga_engine_ensure_run(engine) < 0)
        return ga_error_code();
    ga_history_describe(engine->at->history, out);
    out->bytes += ga_run_race_bytes(engine->at->run);
    out->changes_ahead = ga_history_interventions(engine->at->history) - engine->at->cursor;
    return GA_OK;
}

void ga_engine_history(struct ga_engine *engine, struct ga_history_info *out)
{
    memset(out, 0, sizeof *out);
    ga_engine_ask(engine, history_call, out);
}

const struct ga_view *ga_engine_view(struct ga_engine *engine)
{
    bool fresh = false;

    return &engine->views[ga_triple_front(&engine->triple, &fresh)];
}
