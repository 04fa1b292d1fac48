/* A run in the engine, with what it starts from and its history. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "train/engine_internal.h"

int ga_slot_open(struct engine_slot **out, const char *name)
{
    struct engine_slot *slot = ga_alloc(1, sizeof *slot);

    *out = slot;
    if (!slot)
        return ga_error_code();
    snprintf(slot->name, sizeof slot->name, "%s", name);
    ga_settings_default(&slot->draft);
    ga_tape_init(&slot->rows, sizeof(struct ga_burst_row), 0);
    return GA_OK;
}

static void drop_run(struct engine_slot *slot)
{
    ga_engine_forget_mirror(slot);
    slot->stranded = false;
    ga_run_close(slot->run);
    if (slot->history)
        ga_history_leave(slot->history, &slot->rows);
    ga_history_close(slot->history);
    slot->run = NULL;
    slot->history = NULL;
    slot->cursor = 0;
}

void ga_slot_close(struct engine_slot *slot)
{
    if (!slot)
        return;
    drop_run(slot);
    ga_tape_fini(&slot->rows);
    ga_dataset_close(slot->data);
    free(slot->init_weights);
    free(slot->slow);
    free(slot);
}

int ga_slot_remember_slow(struct engine_slot *slot, size_t replica, double factor)
{
    if (ga_grow((void **)&slot->slow, &slot->slow_capacity, replica + 1, sizeof *slot->slow) < 0)
        return ga_error_code();
    for (; slot->slow_count <= replica; slot->slow_count++)
        slot->slow[slot->slow_count] = 1;
    slot->slow[replica] = factor;
    return GA_OK;
}

static void on_event(void *self, const struct ga_event *event)
{
    struct ga_engine *engine = self;

    if (!engine->replaying && ga_history_keep_event(engine->at->history, event) < 0)
        engine->sink_code = ga_error_code();
}

bool ga_engine_observes(const struct ga_engine *engine, const struct engine_observer *observer)
{
    if (!observer->observer.update)
        return false;
    if (observer->which == GA_OBSERVE_RUN)
        return observer->slot == engine->at;
    return observer->which == GA_OBSERVE_ALL || engine->at == engine->current;
}

static void on_record(void *self, const struct ga_update_record *record)
{
    struct ga_engine *engine = self;
    struct engine_slot *at = engine->at;

    if (!engine->replaying &&
        ga_history_keep_record(at->history, record, ga_run_counters(at->run)->events) < 0)
        engine->sink_code = ga_error_code();
    if (engine->seeking)
        return;
    for (size_t i = 0; i < ENGINE_OBSERVERS; i++)
        if (ga_engine_observes(engine, &engine->observers[i]))
            engine->observers[i].observer.update(engine->observers[i].observer.self, at->run,
                                                 record);
}

/* A worker finished something that the real clock may wait for. */
static void wake(void *self)
{
    struct ga_engine *engine = self;

    ga_mailbox_wake(engine->mail);
}

void ga_engine_attend(struct ga_engine *engine, struct ga_run *run)
{
    ga_run_watch(run, on_event, on_record, engine);
    ga_run_on_wake(run, wake, engine);
}

void ga_engine_drop_run(struct ga_engine *engine)
{
    drop_run(engine->at);
}

int ga_engine_take_run(struct ga_engine *engine, struct ga_run *run)
{
    struct engine_slot *at = engine->at;
    struct ga_history *history = NULL;

    if (ga_history_open(&history, ga_run_settings(run)->history_budget) < 0 ||
        ga_history_begin(history, run) < 0) {
        ga_history_close(history);
        ga_run_close(run);
        return ga_error_code();
    }
    ga_engine_drop_run(engine);
    ga_history_inherit(history, &at->rows);
    at->run = run;
    at->history = history;
    ga_engine_start_mirror(at);
    at->draft = *ga_run_pending(run);
    if (at->data != ga_run_data(run)) {
        ga_dataset_close(at->data);
        at->data = ga_dataset_share(ga_run_data(run));
    }
    ga_engine_attend(engine, run);
    ga_engine_publish(engine);
    return GA_OK;
}

int ga_engine_ensure_run(struct ga_engine *engine)
{
    struct engine_slot *at = engine->at;
    struct ga_run_start start = {
        .data = at->data,
        .settings = at->draft,
        .weights = at->init_weights,
        .weights_count = at->init_count,
        .workers = engine->workers,
    };
    struct ga_run *run = NULL;

    if (at->run)
        return GA_OK;
    if (!at->data)
        return ga_fail(GA_ESTATE, "there is no data: expected `data parabola` or `data FILE`");
    if (ga_run_open(&run, &start) < 0)
        return ga_error_code();
    for (size_t r = 0; r < at->slow_count && r < ga_run_replicas(run); r++)
        ga_run_slow(run, r, at->slow[r]);
    return ga_engine_take_run(engine, run);
}

int ga_engine_run_at_state(struct ga_engine *engine, const struct ga_state *state,
                           struct ga_run **out)
{
    struct ga_run_start start = {
        .data = state->data,
        .settings = state->settings->value,
        .weights = ga_version_weights(state->server),
        .weights_count = state->server->parameters,
        .workers = engine->workers,
    };

    if (ga_run_open(out, &start) < 0)
        return ga_error_code();
    if (ga_run_restore(*out, state) == GA_OK)
        return GA_OK;
    ga_run_close(*out);
    *out = NULL;
    return ga_error_code();
}
