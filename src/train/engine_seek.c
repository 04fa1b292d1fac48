/*
 * Steps and jumps. Going back restores a state and re-executes; it keeps the recorded future, and
 * moving forward replays that, the user's changes included, until something is changed.
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
static int interventions_due(struct ga_engine *engine, bool stay)
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
        return ga_history_offer_state(engine->at->history, engine->at->run);
    return GA_OK;
}

/* An event that is on record, or before which something has to be done again. */
static int step_again(struct ga_engine *engine)
{
    uint64_t events = ga_run_counters(engine->at->run)->events;

    if (interventions_due(engine, false) < 0)
        return ga_error_code();
    if (ga_run_counters(engine->at->run)->events > events) /* a flush or discard done again */
        return interventions_due(engine, true);
    engine->replaying = on_record(engine);
    if (ga_run_event(engine->at->run) < 0)
        return ga_error_code();
    return engine->replaying ? interventions_due(engine, true) : keep(engine);
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
    ga_run_forget_race(engine->at->run);
}

/* The change at the cursor is the first one not done in this position. */
static void place_cursor(struct ga_engine *engine)
{
    uint64_t events = ga_run_counters(engine->at->run)->events;

    engine->at->cursor = 0;
    while (engine->at->cursor < ga_history_interventions(engine->at->history) &&
           ga_history_intervention(engine->at->history, engine->at->cursor)->events < events)
        engine->at->cursor++;
}

static bool by_windows(enum ga_history_key key)
{
    return key == GA_KEY_CLOSED || key == GA_KEY_UPDATES;
}

static bool arrived(const struct ga_engine *engine, enum ga_history_key key, uint64_t target)
{
    return ga_history_key(ga_run_counters(engine->at->run), key) >= target &&
           (!by_windows(key) || ga_run_at_boundary(engine->at->run));
}

static int restore(struct ga_engine *engine, const struct ga_state *state)
{
    if (ga_run_restore(engine->at->run, state) < 0)
        return ga_error_code();
    place_cursor(engine);
    return ga_run_settle_draft(engine->at->run, &engine->at->draft);
}

/* A history that begins in mid-window, after a load, has no boundary at its first count. */
static bool begins_behind(const struct ga_engine *engine, enum ga_history_key key, uint64_t target)
{
    const struct ga_state *first = ga_history_first(engine->at->history);
    uint64_t begin = ga_history_key(&first->counters, key);

    return begin > target || (begin == target && by_windows(key) && first->phase != GA_PHASE_IDLE);
}

static int cannot_replay(void)
{
    return ga_fail(GA_ESTATE,
                   "hogwild on the real clock cannot be replayed: its reads and writes are not "
                   "recorded");
}

static uint64_t first_update_on_record(const struct engine_slot *at)
{
    size_t k = 0, states = ga_history_states(at->history);

    while (k + 1 < states &&
           ga_history_state(at->history, k)->counters.turns < ga_run_race_begins(at->run))
        k++;
    return ga_history_state(at->history, k)->counters.updates;
}

/* The way from a state leads over turns that have been let go. */
static int check_race(const struct ga_engine *engine, const struct ga_state *from)
{
    const struct engine_slot *at = engine->at;

    if (from->counters.turns >= ga_run_race_begins(at->run))
        return GA_OK;
    return ga_fail(GA_ESTATE,
                   "the first %llu turns of the race have been let go, to keep its record within "
                   "history-budget: expected a place behind update %llu, or a larger budget "
                   "before the race begins",
                   (unsigned long long)ga_run_race_begins(at->run),
                   (unsigned long long)first_update_on_record(at));
}

static int step_or_refuse(struct ga_engine *engine)
{
    return ga_run_reproducible(engine->at->run) ? ga_engine_step(engine) : cannot_replay();
}

/* Restores a state and re-executes up to the target: everything is as it was then. */
static int replay_from(struct ga_engine *engine, const struct ga_state *from,
                       enum ga_history_key key, uint64_t target)
{
    int code = GA_OK;

    engine->seeking = true;
    code = restore(engine, from);
    while (code == GA_OK && !arrived(engine, key, target))
        code = step_or_refuse(engine);
    if (code == GA_OK)
        code = interventions_due(engine, true);
    engine->seeking = false;
    return code;
}

/* Where the way leads through what cannot be replayed, the run stays where it is. */
static int seek_from(struct ga_engine *engine, const struct ga_state *from, enum ga_history_key key,
                     uint64_t target)
{
    size_t cursor = engine->at->cursor;
    struct ga_state here;
    struct ga_error error;
    int code = GA_OK;

    if (ga_run_settings(engine->at->run)->clock != GA_CLOCK_REAL)
        return replay_from(engine, from, key, target);
    if (check_race(engine, from) < 0)
        return ga_error_code();
    if (ga_run_capture(engine->at->run, &here) < 0)
        return ga_error_code();
    code = replay_from(engine, from, key, target);
    if (code < 0 && !ga_run_reproducible(engine->at->run)) {
        ga_error_take(&error);
        code = restore(engine, &here) < 0 ? ga_error_code() : ga_error_put(&error);
        engine->at->cursor = cursor;
    }
    ga_state_fini(&here);
    return code;
}

static int seek(struct ga_engine *engine, enum ga_history_key key, uint64_t target)
{
    if (begins_behind(engine, key, target))
        return ga_fail(GA_ESTATE, "the history begins behind update %llu, expected a later one",
                       (unsigned long long)ga_history_first(engine->at->history)->counters.updates);
    return seek_from(engine, ga_history_before(engine->at->history, key, target), key, target);
}

static int replay(struct ga_engine *engine, void *arg)
{
    struct ga_replay *out = arg;
    int code = GA_OK;

    if (ga_engine_ensure_run(engine) < 0)
        return ga_error_code();
    if (engine->at->moving)
        ga_engine_end_move(engine, GA_STOP_REPLACED);
    out->events = ga_run_counters(engine->at->run)->events;
    out->pushes = ga_run_counters(engine->at->run)->pushes;
    out->recorded = ga_run_hash(engine->at->run);
    code = seek_from(engine, ga_history_first(engine->at->history), GA_KEY_EVENTS, out->events);
    out->replayed = ga_run_hash(engine->at->run);
    ga_engine_publish(engine);
    return code;
}

int ga_engine_replay(struct ga_engine *engine, struct ga_replay *out)
{
    return ga_engine_ask(engine, replay, out);
}

static uint64_t minus(uint64_t value, uint64_t count)
{
    return value < count ? 0 : value - count;
}

/* Where going back counts from; from mid-window the first one leads to its start. */
static uint64_t back_from(const struct ga_engine *engine, enum ga_history_key key)
{
    if (key != GA_KEY_CLOSED)
        return ga_history_key(ga_run_counters(engine->at->run), key);
    return ga_run_windows_closed(engine->at->run) + !ga_run_at_boundary(engine->at->run);
}

/* Beyond the beginning of the history it leads to the first state. */
static int back(struct ga_engine *engine, enum ga_history_key key, uint64_t count)
{
    const struct ga_state *first = ga_history_first(engine->at->history);
    uint64_t target = minus(back_from(engine, key), count);

    if (begins_behind(engine, key, target))
        return seek_from(engine, first, GA_KEY_EVENTS, first->counters.events);
    return seek(engine, key, target);
}

static int reset(struct ga_engine *engine)
{
    ga_engine_drop_run(engine);
    return ga_engine_ensure_run(engine);
}

/* Moves that end within the call. */
int ga_engine_jump(struct ga_engine *engine, const struct ga_move *move)
{
    switch (move->kind) {
    case GA_MOVE_BACK_UPDATES:
        return back(engine, GA_KEY_CLOSED, move->count);
    case GA_MOVE_BACK_MICROS:
        return back(engine, GA_KEY_MICROS, move->count);
    case GA_MOVE_BACK_EVENTS:
        return back(engine, GA_KEY_EVENTS, move->count);
    case GA_MOVE_GOTO:
        return seek(engine, GA_KEY_UPDATES, move->count);
    default:
        return reset(engine);
    }
}

bool ga_engine_is_jump(const struct ga_engine *engine, const struct ga_move *move)
{
    if (move->kind == GA_MOVE_GOTO)
        return move->count <= ga_history_end(engine->at->history)->updates;
    return move->kind >= GA_MOVE_BACK_UPDATES;
}
