/*
 * Steps. Going back keeps the recorded future, and moving forward replays that, the user's changes
 * included, until something is changed.
 */
#include <string.h>

#include "train/engine_internal.h"

static bool on_record(const struct ga_engine *engine)
{
    return ga_run_counters(engine->at->run)->events < ga_history_end(engine->at->history)->events;
}

static bool closes_a_window(const struct ga_intervention *what)
{
    return what->kind == GA_DID_FLUSH || what->kind == GA_DID_DISCARD;
}

/* What the user did next, if that was at this event count; NULL: nothing. */
static const struct ga_intervention *next_due(const struct engine_slot *at, uint64_t events)
{
    const struct ga_intervention *what = NULL;

    if (at->cursor >= ga_history_interventions(at->history))
        return NULL;
    what = ga_history_intervention(at->history, at->cursor);
    return what->events == events ? what : NULL;
}

/*
 * Does again what the user did at this event count: as soon as it is reached, so that going back
 * undoes what came after a change but not the change. With `stay` nothing that leads on from here.
 */
int ga_engine_do_due(struct ga_engine *engine, bool stay)
{
    uint64_t events = ga_run_counters(engine->at->run)->events;
    const struct ga_intervention *what = NULL;

    engine->replaying = on_record(engine);
    while ((what = next_due(engine->at, events)) && !(stay && closes_a_window(what))) {
        engine->replaying = true;
        if (ga_engine_intervene(engine, what) < 0)
            return ga_error_code();
        engine->at->cursor++;
        if (ga_run_settle_draft(engine->at->run, &engine->at->draft) < 0)
            return ga_error_code();
    }
    return GA_OK;
}

/* After an event that happened for the first time. */
static int keep(struct ga_engine *engine)
{
    ga_history_reached(engine->at->history, ga_run_counters(engine->at->run));
    if (engine->sink_code < 0) {
        engine->sink_code = GA_OK;
        return ga_fail(GA_ENOMEM, "no memory for the history");
    }
    if (ga_run_at_boundary(engine->at->run))
        return ga_history_offer_state(engine->at->history, engine->at->run) < 0
                   ? ga_error_code()
                   : ga_engine_mirror(engine);
    return GA_OK;
}

/* An event that is on record, or before which something has to be done again. */
static int step_again(struct ga_engine *engine)
{
    uint64_t events = ga_run_counters(engine->at->run)->events;

    if (ga_engine_do_due(engine, false) < 0)
        return ga_error_code();
    if (ga_run_counters(engine->at->run)->events > events) /* a flush or discard done again */
        return ga_engine_do_due(engine, true);
    engine->replaying = on_record(engine);
    if (ga_run_event(engine->at->run) < 0)
        return ga_error_code();
    return engine->replaying ? ga_engine_do_due(engine, true) : keep(engine);
}

/* Nothing is on record ahead, and nothing is to be done again. */
bool ga_engine_breaks_new_ground(const struct ga_engine *engine)
{
    return !on_record(engine) &&
           engine->at->cursor >= ga_history_interventions(engine->at->history);
}

/* What cannot be replayed is not on record either: from here it goes another way. */
int ga_engine_step(struct ga_engine *engine)
{
    if (!ga_engine_breaks_new_ground(engine) && !ga_run_reproducible(engine->at->run))
        ga_engine_diverge(engine, NULL);
    if (!ga_engine_breaks_new_ground(engine))
        return step_again(engine);
    engine->replaying = false;
    return ga_run_event(engine->at->run) < 0 ? ga_error_code() : keep(engine);
}

int ga_engine_step_quickly(struct ga_engine *engine, int *left)
{
    int code = GA_OK;

    engine->replaying = false;
    do {
        code = ga_run_event(engine->at->run);
    } while (code == GA_OK && --*left > 0 && !ga_run_at_boundary(engine->at->run) &&
             !ga_mailbox_waiting(engine->mail));
    if (code == GA_OK)
        return keep(engine);
    ga_history_reached(engine->at->history, ga_run_counters(engine->at->run));
    return code;
}

int ga_engine_to_boundary(struct ga_engine *engine)
{
    while (!ga_run_at_boundary(engine->at->run))
        if (ga_engine_step(engine) < 0)
            return ga_error_code();
    return GA_OK;
}

void ga_engine_diverge(struct ga_engine *engine, struct ga_change *out)
{
    uint64_t end = ga_history_end(engine->at->history)->updates;
    bool forgets = on_record(engine);

    if (out)
        out->forgotten = forgets ? end : 0;
    if (forgets || engine->at->cursor < ga_history_interventions(engine->at->history))
        ga_history_forget(engine->at->history, ga_run_counters(engine->at->run),
                          engine->at->cursor);
    if (engine->at->has_mirror &&
        engine->at->mirror.counters.events > ga_run_counters(engine->at->run)->events)
        ga_engine_forget_mirror(engine->at);
    ga_run_forget_race(engine->at->run);
}
