/* Copies what a screen needs out of the run. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "train/engine_internal.h"

/* Wall time over which the examples-per-second figure is taken. */
#define RATE_NS INT64_C(250000000)

static void measure_rate(struct ga_engine *engine, int64_t now)
{
    uint64_t examples = ga_run_counters(engine->at->run)->examples;

    if (!engine->at->moving || now - engine->at->rate_ns < RATE_NS)
        return;
    if (examples >= engine->at->rate_examples)
        ga_run_tell_rate(engine->at->run, (double)(examples - engine->at->rate_examples) * 1e9 /
                                              (double)(now - engine->at->rate_ns));
    engine->at->rate_ns = now;
    engine->at->rate_examples = examples;
}

static void fill_replica(struct ga_run *run, size_t r, struct ga_view_replica *out)
{
    const struct ga_replica_value *v = ga_run_replica(run, r);

    *out = (struct ga_view_replica){
        .state = v->state,
        .micro = v->micro,
        .micros = v->micros,
        .examples = v->examples,
        .loss = v->loss,
        .norm = v->norm,
        .cosine = v->cosine,
        .staleness = v->staleness,
        .weight = ga_tally_weight_sum(&v->tally),
        .idle = ga_run_metric(run, GA_METRIC_IDLE, (int32_t)r),
    };
}

static uint64_t target_updates(const struct ga_engine *engine)
{
    enum ga_move_kind kind = engine->at->move.move.kind;

    return kind == GA_MOVE_UPDATES || kind == GA_MOVE_GOTO || kind == GA_MOVE_BACK_UPDATES
               ? engine->at->move.target
               : 0;
}

/* Of a large model while it moves, only as often as takes a hundredth of the time: 5 ns a
 * parameter. */
#define HASH_REST_NS 2000

static uint64_t hash_of(struct ga_engine *engine, int64_t now)
{
    struct engine_slot *slot = engine->at;
    int64_t rest_ns = (int64_t)ga_run_net_of(slot->run)->parameters * HASH_REST_NS;

    if (!slot->moving || now - slot->hash_ns >= rest_ns) {
        const uint64_t hash = ga_run_hash(slot->run);

        if (ga_buffer_poll(ga_run_compute_of(slot->run)) == GA_OK) /* else of what was lost */
            slot->hash = hash;
        slot->hash_ns = now;
    }
    return slot->hash;
}

static void set_numerics(struct ga_view *view, const char *word)
{
    snprintf(view->numerics, sizeof view->numerics, "%s", word);
}

static void fill_run(struct ga_engine *engine, struct ga_view *view, int64_t now)
{
    struct ga_run *run = engine->at->run;
    const struct ga_window_state *window = ga_run_window(run);
    const struct ga_update_record *record = ga_run_last_record(run);

    view->settings = *ga_run_settings(run);
    set_numerics(view, ga_run_compute_of(run)->numerics);
    view->pending = *ga_run_pending(run);
    view->counters = *ga_run_counters(run);
    view->phase = ga_run_phase(run);
    view->now_ns = ga_run_now(run);
    view->hash = hash_of(engine, now);
    view->window_examples = window->examples;
    if (record)
        view->record = *record;
    view->event = *ga_run_last_event(run);
    view->examples_per_second = ga_run_metric(run, GA_METRIC_EXAMPLE_RATE, -1);
    view->target_updates = view->running ? target_updates(engine) : 0;
    view->replicas = ga_run_replicas(run);
    view->window_left = window->examples;
    for (size_t r = 0; r < view->replicas; r++) {
        const struct ga_replica_value *v = ga_run_replica(run, r);

        if (r < GA_VIEW_REPLICAS)
            fill_replica(run, r, &view->replica[r]);
        if (v->state == GA_REPLICA_BUSY || v->state == GA_REPLICA_DONE)
            view->window_left -= v->done_examples;
    }
}

/* The error is the view's, not that of whoever publishes it. */
static void fill_misfit(const struct engine_slot *slot, struct ga_view *view)
{
    struct ga_error before;
    struct ga_net net;

    if (!slot->data)
        return;
    ga_error_take(&before);
    if (ga_run_net(&slot->draft, slot->data, &net) == GA_EINPUT)
        snprintf(view->misfit, sizeof view->misfit, "%s", ga_error_text());
    ga_error_put(&before);
}

/* Always of the current run, whichever is in hand. */
void ga_engine_publish(struct ga_engine *engine)
{
    struct ga_view *view = &engine->views[ga_triple_back(&engine->triple)];
    struct engine_slot *in_hand = engine->at;
    int64_t now = ga_now_ns();

    engine->at = engine->current;
    memset(view, 0, sizeof *view);
    view->open = engine->at->run != NULL;
    view->running = engine->at->moving;
    view->jumping = view->running && engine->at->jump.on;
    memcpy(view->name, engine->at->name, sizeof view->name);
    view->runs = engine->slots;
    view->settings = view->pending = engine->at->draft;
    set_numerics(view, ga_choice_word("numerics", (int)view->settings.numerics));
    if (engine->at->run) {
        measure_rate(engine, now);
        fill_run(engine, view, now);
    } else {
        fill_misfit(engine->at, view);
    }
    engine->at = in_hand;
    engine->published_ns = now;
    ga_triple_publish(&engine->triple);
    if (engine->bell)
        ga_bell_ring(engine->bell);
}
