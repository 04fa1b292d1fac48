/*
 * Jumps: a state of the history is restored, and what lies between it and the place is executed
 * again, a slice at a time between two letters. Nothing is recorded on the way, so that a jump that
 * is broken off leaves the run at a place of the history like any other.
 */
#include <string.h>

#include "train/engine_internal.h"

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

/* What lies behind the run; an update whose window is still to be cleared does not yet. */
static uint64_t behind(const struct ga_engine *engine)
{
    const struct ga_counters *counters = ga_run_counters(engine->at->run);
    enum ga_history_key key = engine->at->jump.key;
    bool to_clear = counters->updates + counters->skipped > ga_run_windows_closed(engine->at->run);

    return ga_history_key(counters, key) - (by_windows(key) && to_clear);
}

static bool arrived(const struct ga_engine *engine)
{
    const struct engine_jump *jump = &engine->at->jump;

    return ga_history_key(ga_run_counters(engine->at->run), jump->key) >= jump->target &&
           (!by_windows(jump->key) || ga_run_at_boundary(engine->at->run));
}

int ga_engine_restore(struct ga_engine *engine, const struct ga_state *state)
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

/* Remembers where a way begins that may turn out to lead through what cannot be replayed. */
static int keep_origin(struct ga_engine *engine)
{
    struct engine_jump *jump = &engine->at->jump;

    if (ga_run_capture(engine->at->run, &jump->origin) < 0)
        return ga_error_code();
    jump->has_origin = true;
    jump->cursor = engine->at->cursor;
    return GA_OK;
}

void ga_engine_forget_jump(struct engine_slot *slot)
{
    if (slot->jump.has_origin)
        ga_state_fini(&slot->jump.origin);
    memset(&slot->jump, 0, sizeof slot->jump);
}

/* Where the way leads through what cannot be replayed, the run stays where it was. */
static int give_up(struct ga_engine *engine)
{
    const struct engine_jump *jump = &engine->at->jump;
    struct ga_error error;
    int code = GA_OK;

    if (!jump->has_origin || ga_run_reproducible(engine->at->run))
        return ga_error_code();
    ga_error_take(&error);
    code = ga_engine_restore(engine, &jump->origin) < 0 ? ga_error_code() : ga_error_put(&error);
    engine->at->cursor = jump->cursor;
    return code;
}

/* One event, and a burst before it where there can be one. */
static int step_or_refuse(struct ga_engine *engine)
{
    if (!ga_run_reproducible(engine->at->run))
        return cannot_replay();
    if (ga_run_at_boundary(engine->at->run) && ga_engine_burst(engine) < 0)
        return ga_error_code();
    return ga_engine_step(engine);
}

/* At least one event, then as many as a frame has time for, or as there are before a letter. */
static int walk(struct ga_engine *engine)
{
    int64_t until_ns = ga_now_ns() + ENGINE_FRAME_NS;
    int code = GA_OK;

    while (code == GA_OK && !arrived(engine)) {
        code = step_or_refuse(engine);
        if (ga_mailbox_waiting(engine->mail) || ga_now_ns() >= until_ns)
            break;
    }
    return code;
}

int ga_engine_jump_on(struct ga_engine *engine)
{
    int code = GA_OK;

    engine->seeking = true;
    code = walk(engine);
    if (code == GA_OK && arrived(engine))
        code = ga_engine_do_due(engine, true) < 0 ? ga_error_code() : GA_JUMP_ARRIVED;
    engine->seeking = false;
    return code < 0 ? give_up(engine) : code;
}

/* Whether the run stands between that state and the target already. Work that a real clock has
 * under way is not on record. */
static bool leads_here(const struct ga_engine *engine, const struct ga_state *from)
{
    const struct engine_jump *jump = &engine->at->jump;
    const struct ga_counters *counters = ga_run_counters(engine->at->run);

    return ga_run_settings(engine->at->run)->clock == GA_CLOCK_VIRTUAL &&
           counters->events > from->counters.events && behind(engine) < jump->target;
}

/* Restores a state and sets out from there: at the target everything is as it was then. */
static int set_out(struct ga_engine *engine, const struct ga_state *from, enum ga_history_key key,
                   uint64_t target)
{
    struct engine_jump *jump = &engine->at->jump;

    *jump = (struct engine_jump){
        .on = true,
        .key = key,
        .from = ga_history_key(ga_run_counters(engine->at->run), key),
        .target = target,
        .skips = ga_run_counters(engine->at->run)->skipped > 0,
    };
    if (ga_run_settings(engine->at->run)->clock == GA_CLOCK_REAL &&
        (check_race(engine, from) < 0 || keep_origin(engine) < 0))
        return ga_error_code();
    if (!leads_here(engine, from) && ga_engine_restore(engine, from) < 0)
        return give_up(engine);
    return ga_engine_jump_on(engine);
}

static int seek(struct ga_engine *engine, enum ga_history_key key, uint64_t target)
{
    if (begins_behind(engine, key, target))
        return ga_fail(GA_ESTATE, "the history begins behind update %llu, expected a later one",
                       (unsigned long long)ga_history_first(engine->at->history)->counters.updates);
    return set_out(engine, ga_history_before(engine->at->history, key, target), key, target);
}

static int replay(struct ga_engine *engine)
{
    struct ga_replay *replay = &engine->at->replay;

    replay->events = ga_run_counters(engine->at->run)->events;
    replay->pushes = ga_run_counters(engine->at->run)->pushes;
    replay->recorded = ga_run_hash(engine->at->run);
    return set_out(engine, ga_history_first(engine->at->history), GA_KEY_EVENTS, replay->events);
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
        return set_out(engine, first, GA_KEY_EVENTS, first->counters.events);
    return seek(engine, key, target);
}

static int reset(struct ga_engine *engine)
{
    ga_engine_drop_run(engine);
    return ga_engine_ensure_run(engine) < 0 ? ga_error_code() : GA_JUMP_ARRIVED;
}

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
    case GA_MOVE_REPLAY:
        return replay(engine);
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

/* "update" only where windows and updates are the same up to here. */
static const char *unit_of(const struct ga_engine *engine)
{
    static const char *const units[] = {
        [GA_KEY_CLOSED] = "window",
        [GA_KEY_UPDATES] = "update",
        [GA_KEY_MICROS] = "micro-batch",
        [GA_KEY_EVENTS] = "event",
    };
    const struct engine_jump *jump = &engine->at->jump;

    return units[jump->key == GA_KEY_CLOSED && !jump->skips ? GA_KEY_UPDATES : jump->key];
}

void ga_engine_describe_way(const struct ga_engine *engine, struct ga_way *out)
{
    const struct engine_jump *jump = &engine->at->jump;

    if (!jump->on)
        return;
    *out = (struct ga_way){
        .unit = unit_of(engine),
        .from = jump->from,
        .at = behind(engine),
        .to = jump->target,
    };
}

int ga_engine_check_settled(const struct ga_engine *engine)
{
    const struct engine_jump *jump = &engine->at->jump;

    if (!jump->on)
        return GA_OK;
    return ga_fail(GA_ESTATE,
                   "the run is on its way to %s %llu: expected `pause` first, or a wait until it "
                   "is there",
                   unit_of(engine), (unsigned long long)jump->target);
}
