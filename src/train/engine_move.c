/*
 * Moving: forward by events until a target, back by restoring a state and re-executing. Going back
 * keeps the recorded future; moving forward replays it, the user's changes included, until
 * something is changed.
 */
#include <math.h>
#include <string.h>

#include "train/engine_internal.h"

/* Events between two looks at the mailbox's slower companions: the wall clock and the views. */
#define ADVANCE_EVENTS 64

static bool on_record(const struct ga_engine *engine)
{
    return ga_run_counters(engine->run)->events < ga_history_end(engine->history)->events;
}

/* Does what the user did at this event count, when it was recorded. */
static int interventions_due(struct ga_engine *engine)
{
    engine->replaying = on_record(engine);
    while (engine->cursor < ga_history_interventions(engine->history)) {
        const struct ga_intervention *what =
            ga_history_intervention(engine->history, engine->cursor);

        if (what->events != ga_run_counters(engine->run)->events)
            break;
        engine->cursor++;
        engine->replaying = true;
        if (ga_engine_intervene(engine, what) < 0 ||
            ga_run_settle_draft(engine->run, &engine->draft) < 0)
            return ga_error_code();
    }
    return GA_OK;
}

/* After an event that happened for the first time. */
static int keep(struct ga_engine *engine)
{
    ga_history_reached(engine->history, ga_run_counters(engine->run));
    if (engine->sink_code < 0) {
        engine->sink_code = GA_OK;
        return ga_fail(GA_ENOMEM, "no memory for the history");
    }
    if (ga_run_at_boundary(engine->run))
        return ga_history_keep_state(engine->history, engine->run);
    return GA_OK;
}

/* An event that is on record, or before which something has to be done again. */
static int step_again(struct ga_engine *engine)
{
    uint64_t events = ga_run_counters(engine->run)->events;

    if (interventions_due(engine) < 0)
        return ga_error_code();
    if (ga_run_counters(engine->run)->events > events) /* a flush or discard done again */
        return GA_OK;
    engine->replaying = on_record(engine);
    if (ga_run_event(engine->run) < 0)
        return ga_error_code();
    if (engine->replaying)
        return on_record(engine) ? GA_OK : interventions_due(engine);
    return keep(engine);
}

/* Nothing is on record ahead, and nothing is to be done again. */
static bool breaks_new_ground(const struct ga_engine *engine)
{
    return !on_record(engine) && engine->cursor >= ga_history_interventions(engine->history);
}

int ga_engine_step(struct ga_engine *engine)
{
    if (!breaks_new_ground(engine))
        return step_again(engine);
    engine->replaying = false;
    return ga_run_event(engine->run) < 0 ? ga_error_code() : keep(engine);
}

/* New events up to the window's end, a letter, or the end of `*left`, with one look behind them. */
static int step_quickly(struct ga_engine *engine, int *left)
{
    int code = GA_OK;

    engine->replaying = false;
    do {
        code = ga_run_event(engine->run);
    } while (code == GA_OK && --*left > 0 && !ga_run_at_boundary(engine->run) &&
             !ga_mailbox_waiting(engine->mail));
    if (code == GA_OK)
        return keep(engine);
    ga_history_reached(engine->history, ga_run_counters(engine->run));
    return code;
}

int ga_engine_to_boundary(struct ga_engine *engine)
{
    while (!ga_run_at_boundary(engine->run))
        if (ga_engine_step(engine) < 0)
            return ga_error_code();
    return GA_OK;
}

void ga_engine_diverge(struct ga_engine *engine, struct ga_change *out)
{
    uint64_t end = ga_history_end(engine->history)->updates;
    bool forgets = on_record(engine);

    if (out)
        out->forgotten = forgets ? end : 0;
    if (forgets || engine->cursor < ga_history_interventions(engine->history))
        ga_history_forget(engine->history, ga_run_counters(engine->run), engine->cursor);
    ga_run_forget_race(engine->run);
}

/* The change at the cursor is the first one not done in this position. */
static void place_cursor(struct ga_engine *engine)
{
    uint64_t events = ga_run_counters(engine->run)->events;

    engine->cursor = 0;
    while (engine->cursor < ga_history_interventions(engine->history) &&
           ga_history_intervention(engine->history, engine->cursor)->events < events)
        engine->cursor++;
}

static bool by_windows(enum ga_history_key key)
{
    return key == GA_KEY_CLOSED || key == GA_KEY_UPDATES;
}

static bool arrived(const struct ga_engine *engine, enum ga_history_key key, uint64_t target)
{
    return ga_history_key(ga_run_counters(engine->run), key) >= target &&
           (!by_windows(key) || ga_run_at_boundary(engine->run));
}

static int restore(struct ga_engine *engine, const struct ga_state *state)
{
    if (ga_run_restore(engine->run, state) < 0)
        return ga_error_code();
    place_cursor(engine);
    return ga_run_settle_draft(engine->run, &engine->draft);
}

/* A history that begins in mid-window, after a load, has no boundary at its first count. */
static bool begins_behind(const struct ga_engine *engine, enum ga_history_key key, uint64_t target)
{
    const struct ga_state *first = ga_history_first(engine->history);
    uint64_t begin = ga_history_key(&first->counters, key);

    return begin > target || (begin == target && by_windows(key) && first->phase != GA_PHASE_IDLE);
}

static int cannot_replay(void)
{
    return ga_fail(GA_ESTATE,
                   "hogwild on the real clock cannot be replayed: its reads and writes are not "
                   "recorded");
}

/* Restores a state and re-executes up to the target: everything is as it was then. */
static int seek_from(struct ga_engine *engine, const struct ga_state *from, enum ga_history_key key,
                     uint64_t target)
{
    int code = GA_OK;

    if (!ga_run_reproducible(engine->run) && ga_history_key(&from->counters, key) != target)
        return cannot_replay();
    engine->seeking = true;
    code = restore(engine, from);
    while (code == GA_OK && !arrived(engine, key, target))
        code = ga_engine_step(engine);
    if (code == GA_OK && !on_record(engine))
        code = interventions_due(engine);
    engine->seeking = false;
    return code;
}

static int seek(struct ga_engine *engine, enum ga_history_key key, uint64_t target)
{
    if (begins_behind(engine, key, target))
        return ga_fail(GA_ESTATE, "the history begins behind update %llu, expected a later one",
                       (unsigned long long)ga_history_first(engine->history)->counters.updates);
    return seek_from(engine, ga_history_before(engine->history, key, target), key, target);
}

static int replay(struct ga_engine *engine, void *arg)
{
    struct ga_replay *out = arg;
    int code = GA_OK;

    if (ga_engine_ensure_run(engine) < 0)
        return ga_error_code();
    if (!ga_run_reproducible(engine->run))
        return cannot_replay();
    if (atomic_load(&engine->moving))
        ga_engine_end_move(engine, GA_STOP_REPLACED);
    out->events = ga_run_counters(engine->run)->events;
    out->pushes = ga_run_counters(engine->run)->pushes;
    out->recorded = ga_run_hash(engine->run);
    code = seek_from(engine, ga_history_first(engine->history), GA_KEY_EVENTS, out->events);
    out->replayed = ga_run_hash(engine->run);
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
        return ga_history_key(ga_run_counters(engine->run), key);
    return ga_run_windows_closed(engine->run) + !ga_run_at_boundary(engine->run);
}

/* Beyond the beginning of the history it leads to the first state. */
static int back(struct ga_engine *engine, enum ga_history_key key, uint64_t count)
{
    const struct ga_state *first = ga_history_first(engine->history);
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
static int jump(struct ga_engine *engine, const struct ga_move *move)
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

static bool is_jump(const struct ga_engine *engine, const struct ga_move *move)
{
    if (move->kind == GA_MOVE_GOTO)
        return move->count <= ga_history_end(engine->history)->updates;
    return move->kind >= GA_MOVE_BACK_UPDATES;
}

static uint64_t plus(uint64_t value, uint64_t count)
{
    return value > UINT64_MAX - count ? UINT64_MAX : value + count;
}

static uint64_t epochs_done(const struct ga_engine *engine)
{
    return ga_run_epochs_done(engine->run);
}

static uint64_t closed(const struct ga_engine *engine)
{
    return ga_run_windows_closed(engine->run);
}

static uint64_t target_of(const struct ga_engine *engine, const struct ga_move *move)
{
    const struct ga_counters *counters = ga_run_counters(engine->run);

    switch (move->kind) {
    case GA_MOVE_UPDATES:
        return plus(closed(engine), move->count);
    case GA_MOVE_MICROS:
        return plus(counters->micros, move->count);
    case GA_MOVE_EVENTS:
        return plus(counters->events, move->count);
    case GA_MOVE_EPOCHS:
        return plus(epochs_done(engine), move->count);
    case GA_MOVE_TIME:
        return plus((uint64_t)ga_run_now(engine->run), move->count);
    case GA_MOVE_GOTO:
        return move->count;
    default:
        return UINT64_MAX;
    }
}

static bool reached(const struct ga_engine *engine)
{
    const struct ga_counters *counters = ga_run_counters(engine->run);
    uint64_t target = engine->move.target;

    switch (engine->move.move.kind) {
    case GA_MOVE_UPDATES:
        return closed(engine) >= target && ga_run_at_boundary(engine->run);
    case GA_MOVE_MICROS:
        return counters->micros >= target;
    case GA_MOVE_EVENTS:
        return counters->events >= target;
    case GA_MOVE_EPOCHS:
        return ga_run_at_boundary(engine->run) && epochs_done(engine) >= target;
    case GA_MOVE_TIME:
        return (uint64_t)ga_run_now(engine->run) >= target;
    case GA_MOVE_GOTO:
        return counters->updates >= target && ga_run_at_boundary(engine->run);
    default:
        return false;
    }
}

static bool until_holds(struct ga_engine *engine)
{
    const struct ga_condition *until = &engine->move.move.until;

    return engine->move.move.kind == GA_MOVE_UNTIL && until->holds(until->self, engine->run);
}

static void close_until(struct engine_move *move)
{
    if (move->move.kind == GA_MOVE_UNTIL && move->move.until.close)
        move->move.until.close(move->move.until.self);
    move->move.kind = GA_MOVE_FOREVER;
}

static void fill_error(const struct ga_engine *engine, struct ga_error *error)
{
    ga_error_take(error);
    if (engine->run)
        ga_run_fault(engine->run, error);
}

/* The outcome, for whoever waits for the ticket. */
static void tell_stop(struct ga_engine *engine, const struct ga_stop *stop, uint64_t ticket)
{
    pthread_mutex_lock(&engine->lock);
    engine->stop = *stop;
    if (ticket > engine->stopped)
        engine->stopped = ticket;
    pthread_cond_broadcast(&engine->stopped_changed);
    pthread_mutex_unlock(&engine->lock);
}

static void fill_position(const struct ga_engine *engine, struct ga_stop *stop)
{
    if (!engine->run)
        return;
    stop->updates = ga_run_counters(engine->run)->updates;
    stop->micros = ga_run_counters(engine->run)->micros;
    stop->events = ga_run_counters(engine->run)->events;
    stop->at_boundary = ga_run_at_boundary(engine->run);
}

static void finish(struct ga_engine *engine, struct ga_stop *stop)
{
    if (stop->reason == GA_STOP_NONFINITE || stop->reason == GA_STOP_ERROR)
        fill_error(engine, &stop->error);
    fill_position(engine, stop);
    close_until(&engine->move);
    atomic_store(&engine->moving, false);
    if (engine->run)
        ga_run_pause(engine->run);
    ga_engine_publish(engine);
    tell_stop(engine, stop, engine->move.ticket);
    if (engine->bell)
        ga_bell_ring(engine->bell);
}

void ga_engine_end_move(struct ga_engine *engine, enum ga_stop_reason reason)
{
    struct ga_stop stop = {.reason = reason};

    finish(engine, &stop);
}

void ga_engine_end_with_error(struct ga_engine *engine, int code)
{
    ga_engine_end_move(engine, code == GA_ENONFINITE ? GA_STOP_NONFINITE : GA_STOP_ERROR);
}

/* Looks at every breakpoint; returns the first that became true, or NULL. */
static struct engine_break *break_hit(struct ga_engine *engine)
{
    struct engine_break *hit = NULL;

    for (size_t i = 0; i < engine->break_slots; i++) {
        struct engine_break *b = &engine->breaks[i];
        bool holds = b->number && b->condition.holds(b->condition.self, engine->run);

        if (holds && !b->held && !hit)
            hit = b;
        b->held = holds;
    }
    return hit;
}

void ga_engine_look_at_breaks(struct ga_engine *engine)
{
    break_hit(engine);
}

static void stop_at_break(struct ga_engine *engine, const struct engine_break *hit)
{
    struct ga_stop stop = {.reason = GA_STOP_BREAK, .breakpoint = hit->number};

    memcpy(stop.text, hit->condition.text, sizeof stop.text);
    finish(engine, &stop);
}

void ga_engine_start_pace(struct ga_engine *engine)
{
    engine->move.pace_wall_ns = ga_now_ns();
    engine->move.pace_virtual_ns = ga_run_now(engine->run);
    engine->move.pace_updates = closed(engine);
    engine->resume_ns = 0;
}

/* Sets the wall time before which no further event is committed. It never changes a bit. */
static void pace(struct ga_engine *engine)
{
    const struct ga_settings *set = ga_run_settings(engine->run);
    double ahead_s = 0;

    engine->resume_ns = 0;
    if (set->pace.kind == GA_PACE_MAX || set->clock == GA_CLOCK_REAL)
        return;
    if (set->pace.kind == GA_PACE_UPDATES)
        ahead_s = (double)(closed(engine) - engine->move.pace_updates) / set->pace.value;
    else
        ahead_s = (double)(ga_run_now(engine->run) - engine->move.pace_virtual_ns) * 1e-9 /
                  set->pace.value;
    engine->resume_ns = engine->move.pace_wall_ns + (int64_t)(fmin(ahead_s, 1e9) * 1e9);
}

/* Whether the move ends with the event that just happened; it is then ended. */
static bool ended(struct ga_engine *engine)
{
    bool closed_one = ga_run_at_boundary(engine->run);
    struct engine_break *hit = closed_one ? break_hit(engine) : NULL;

    if (hit) {
        stop_at_break(engine, hit);
        return true;
    }
    if (!reached(engine) && !(closed_one && until_holds(engine)))
        return false;
    ga_engine_end_move(engine, GA_STOP_DONE);
    return true;
}

/* These may end at any event, all others only at a window's end. */
static bool ends_anywhere(enum ga_move_kind kind)
{
    return kind == GA_MOVE_MICROS || kind == GA_MOVE_EVENTS || kind == GA_MOVE_TIME;
}

static int step(struct ga_engine *engine, int *left)
{
    if (!ends_anywhere(engine->move.move.kind) && breaks_new_ground(engine) &&
        ga_run_settings(engine->run)->pace.kind == GA_PACE_MAX &&
        ga_run_settings(engine->run)->clock == GA_CLOCK_VIRTUAL)
        return step_quickly(engine, left);
    --*left;
    return ga_engine_step(engine);
}

/* At least one event and what follows from it: true while the move goes on. */
static bool advance_once(struct ga_engine *engine, int *left)
{
    int code = step(engine, left);

    if (code < 0) {
        ga_engine_end_with_error(engine, code);
        return false;
    }
    if ((ga_run_at_boundary(engine->run) || ends_anywhere(engine->move.move.kind)) && ended(engine))
        return false;
    pace(engine);
    return true;
}

void ga_engine_advance(struct ga_engine *engine)
{
    int left = ADVANCE_EVENTS;

    while (left > 0) {
        if (!ga_run_ready(engine->run, &engine->resume_ns))
            break;
        if (!advance_once(engine, &left))
            return;
        if (engine->resume_ns > 0 || ga_mailbox_waiting(engine->mail))
            break;
    }
    if (ga_now_ns() - engine->published_ns >= ENGINE_FRAME_NS)
        ga_engine_publish(engine);
}

static int begin_jump(struct ga_engine *engine, const struct ga_move *move)
{
    int code = jump(engine, move);

    if (code < 0 && engine->run)
        place_cursor(engine);
    ga_engine_look_at_breaks(engine);
    if (code < 0)
        ga_engine_end_with_error(engine, code);
    else
        ga_engine_end_move(engine, GA_STOP_DONE);
    return GA_OK;
}

int ga_engine_begin_move(struct ga_engine *engine, const struct ga_move *move, uint64_t ticket)
{
    if (atomic_load(&engine->moving))
        ga_engine_end_move(engine, GA_STOP_REPLACED);
    engine->move.move = *move;
    engine->move.ticket = ticket;
    engine->move.started_ns = ga_now_ns();
    if (move->kind == GA_MOVE_RESET)
        return begin_jump(engine, move);
    if (ga_engine_ensure_run(engine) < 0) {
        ga_engine_end_with_error(engine, ga_error_code());
        return GA_OK;
    }
    if (is_jump(engine, move))
        return begin_jump(engine, move);
    engine->move.target = target_of(engine, move);
    if (reached(engine) || until_holds(engine)) {
        ga_engine_end_move(engine, GA_STOP_DONE);
        return GA_OK;
    }
    ga_engine_start_pace(engine);
    engine->rate_ns = ga_now_ns();
    engine->rate_examples = ga_run_counters(engine->run)->examples;
    atomic_store(&engine->moving, true);
    return GA_OK;
}
