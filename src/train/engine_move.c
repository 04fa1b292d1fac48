/*
 * Moves: forward by events until a target, one run or all of them in turns; jumps by slices.
 */
#include <math.h>
#include <string.h>

#include "train/engine_internal.h"

/* Events between two looks at the mailbox's slower companions: the wall clock and the views. */
#define ADVANCE_EVENTS 64

static uint64_t plus(uint64_t value, uint64_t count)
{
    return value > UINT64_MAX - count ? UINT64_MAX : value + count;
}

static uint64_t epochs_done(const struct ga_engine *engine)
{
    return ga_run_epochs_done(engine->at->run);
}

static uint64_t closed(const struct ga_engine *engine)
{
    return ga_run_windows_closed(engine->at->run);
}

static uint64_t target_of(const struct ga_engine *engine, const struct ga_move *move)
{
    const struct ga_counters *counters = ga_run_counters(engine->at->run);

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
        return plus((uint64_t)ga_run_now(engine->at->run), move->count);
    case GA_MOVE_GOTO:
        return move->count;
    default:
        return UINT64_MAX;
    }
}

static bool reached(const struct ga_engine *engine)
{
    const struct ga_counters *counters = ga_run_counters(engine->at->run);
    uint64_t target = engine->at->move.target;

    switch (engine->at->move.move.kind) {
    case GA_MOVE_UPDATES:
        return closed(engine) >= target && ga_run_at_boundary(engine->at->run);
    case GA_MOVE_MICROS:
        return counters->micros >= target;
    case GA_MOVE_EVENTS:
        return counters->events >= target;
    case GA_MOVE_EPOCHS:
        return ga_run_at_boundary(engine->at->run) && epochs_done(engine) >= target;
    case GA_MOVE_TIME:
        return (uint64_t)ga_run_now(engine->at->run) >= target;
    case GA_MOVE_GOTO:
        return counters->updates >= target && ga_run_at_boundary(engine->at->run);
    default:
        return false;
    }
}

static bool until_holds(struct ga_engine *engine)
{
    const struct ga_condition *until = &engine->at->move.move.until;

    return engine->at->move.move.kind == GA_MOVE_UNTIL &&
           until->holds(until->self, engine->at->run);
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
    if (engine->at->run)
        ga_run_fault(engine->at->run, error);
}

static void fill_position(const struct ga_engine *engine, struct ga_stop *stop)
{
    if (!engine->at->run)
        return;
    stop->updates = ga_run_counters(engine->at->run)->updates;
    stop->micros = ga_run_counters(engine->at->run)->micros;
    stop->events = ga_run_counters(engine->at->run)->events;
    stop->at_boundary = ga_run_at_boundary(engine->at->run);
}

/* The outcome, for whoever waits for the ticket; of a move of all runs, the current one's. */
static void tell_stop(struct ga_engine *engine)
{
    const struct engine_slot *teller = engine->moves_all ? engine->current : engine->at;

    pthread_mutex_lock(&engine->lock);
    engine->stop = teller->stop;
    if (engine->ticket > engine->stopped)
        engine->stopped = engine->ticket;
    pthread_cond_broadcast(&engine->stopped_changed);
    pthread_mutex_unlock(&engine->lock);
}

/* Breakpoints count from wherever a jump leads. */
static void leave_jump(struct ga_engine *engine, struct ga_stop *stop)
{
    struct engine_slot *at = engine->at;

    if (stop->reason == GA_STOP_DONE && at->move.move.kind == GA_MOVE_REPLAY)
        stop->replay = at->replay;
    else
        ga_engine_break_hit(engine);
    if (stop->reason == GA_STOP_PAUSED || stop->reason == GA_STOP_REPLACED)
        ga_engine_describe_way(engine, &stop->way);
    ga_engine_forget_jump(at);
    atomic_store(&engine->jumping, false);
}

/* Where a move ends somebody looks: what a card had alone is lost at the latest now. */
static void look_at_end(struct ga_engine *engine, struct ga_stop *stop)
{
    if (stop->reason == GA_STOP_ERROR || ga_engine_reads(engine) == GA_OK)
        return;
    stop->reason = GA_STOP_ERROR;
    fill_error(engine, &stop->error);
    ga_engine_rescue(engine, &stop->error);
}

static void finish(struct ga_engine *engine, struct ga_stop *stop)
{
    struct engine_slot *at = engine->at;

    look_at_end(engine, stop);
    fill_position(engine, stop);
    if (at->jump.on)
        leave_jump(engine, stop);
    close_until(&at->move);
    at->moving = false;
    at->stranded = at->stranded && stop->reason == GA_STOP_ERROR;
    at->stop = *stop;
    at->has_stop = true;
    engine->movers--;
    atomic_store(&engine->moving, engine->movers > 0);
    if (at->run)
        ga_run_pause(at->run);
    ga_engine_publish(engine);
    if (engine->movers > 0)
        return;
    tell_stop(engine);
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
    struct ga_stop stop = {.reason = code == GA_ENONFINITE ? GA_STOP_NONFINITE : GA_STOP_ERROR};

    fill_error(engine, &stop.error);
    if (stop.reason == GA_STOP_ERROR)
        ga_engine_rescue(engine, &stop.error);
    finish(engine, &stop);
}

void ga_engine_end_all_moves(struct ga_engine *engine, enum ga_stop_reason reason)
{
    struct engine_slot *at = engine->at;

    for (size_t k = 0; k < engine->slots; k++) {
        engine->at = engine->slot[k];
        if (engine->at->moving)
            ga_engine_end_move(engine, reason);
    }
    engine->at = at;
}

static void stop_at_break(struct ga_engine *engine, const struct engine_break *hit)
{
    struct ga_stop stop = {.reason = GA_STOP_BREAK, .breakpoint = hit->number};

    memcpy(stop.text, hit->condition.text, sizeof stop.text);
    finish(engine, &stop);
}

void ga_engine_start_pace(struct ga_engine *engine)
{
    engine->at->move.pace_wall_ns = ga_now_ns();
    engine->at->move.pace_virtual_ns = ga_run_now(engine->at->run);
    engine->at->move.pace_updates = closed(engine);
    engine->at->resume_ns = 0;
}

/* Sets the wall time before which no further event is committed. It never changes a bit. */
static void pace(struct ga_engine *engine)
{
    const struct ga_settings *set = ga_run_settings(engine->at->run);
    double ahead_s = 0;

    engine->at->resume_ns = 0;
    if (set->pace.kind == GA_PACE_MAX || set->clock == GA_CLOCK_REAL)
        return;
    if (set->pace.kind == GA_PACE_UPDATES)
        ahead_s = (double)(closed(engine) - engine->at->move.pace_updates) / set->pace.value;
    else
        ahead_s = (double)(ga_run_now(engine->at->run) - engine->at->move.pace_virtual_ns) * 1e-9 /
                  set->pace.value;
    engine->at->resume_ns = engine->at->move.pace_wall_ns + (int64_t)(fmin(ahead_s, 1e9) * 1e9);
}

/* Whether the move ends with the event that just happened; it is then ended. */
static bool ended(struct ga_engine *engine)
{
    bool closed_one = ga_run_at_boundary(engine->at->run);
    struct engine_break *hit = closed_one ? ga_engine_break_hit(engine) : NULL;

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
    const struct ga_settings *set = ga_run_settings(engine->at->run);
    bool quick = !ends_anywhere(engine->at->move.move.kind) && set->pace.kind == GA_PACE_MAX &&
                 set->clock == GA_CLOCK_VIRTUAL;

    if (quick && ga_run_at_boundary(engine->at->run) && ga_engine_burst(engine) < 0)
        return ga_error_code();
    if (quick && ga_engine_breaks_new_ground(engine))
        return ga_engine_step_quickly(engine, left);
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
    if ((ga_run_at_boundary(engine->at->run) || ends_anywhere(engine->at->move.move.kind)) &&
        ended(engine))
        return false;
    pace(engine);
    return true;
}

/* Whether the run in hand may take a turn: pace holds it back, the real clock knows by itself. */
static bool is_due(const struct engine_slot *slot, int64_t now_ns)
{
    return slot->moving &&
           (slot->resume_ns <= now_ns || ga_run_settings(slot->run)->clock == GA_CLOCK_REAL);
}

/* What the slice of a jump came to. */
static void end_slice(struct ga_engine *engine, int code)
{
    if (code == GA_JUMP_ARRIVED && engine->at->move.move.kind == GA_MOVE_REPLAY)
        engine->at->replay.replayed = ga_run_hash(engine->at->run);
    if (code < 0)
        ga_engine_end_with_error(engine, code);
    else if (code == GA_JUMP_ARRIVED)
        ga_engine_end_move(engine, GA_STOP_DONE);
}

static void advance_run(struct ga_engine *engine)
{
    int left = ADVANCE_EVENTS;

    if (engine->at->jump.on) {
        end_slice(engine, ga_engine_jump_on(engine));
        left = 0;
    }
    while (left > 0) {
        if (!ga_run_ready(engine->at->run, &engine->at->resume_ns))
            break;
        if (!advance_once(engine, &left))
            return;
        if (engine->at->resume_ns > 0 || ga_mailbox_waiting(engine->mail))
            break;
    }
    if (ga_now_ns() - engine->published_ns >= ENGINE_FRAME_NS)
        ga_engine_publish(engine);
}

/* Letters that wait do not keep a run from its turn: what woke the engine may have been for it. */
void ga_engine_advance(struct ga_engine *engine)
{
    int64_t now_ns = engine->movers > 1 ? ga_now_ns() : INT64_MAX;

    for (size_t k = 0; k < engine->slots; k++) {
        engine->turn = (engine->turn + 1) % engine->slots;
        engine->at = engine->slot[engine->turn];
        if (is_due(engine->at, now_ns))
            advance_run(engine);
    }
    engine->at = engine->current;
}

int64_t ga_engine_next_due(const struct ga_engine *engine)
{
    int64_t due_ns = INT64_MAX;

    for (size_t k = 0; k < engine->slots; k++)
        if (engine->slot[k]->moving && engine->slot[k]->resume_ns < due_ns)
            due_ns = engine->slot[k]->resume_ns;
    return due_ns;
}

static void set_moving(struct ga_engine *engine)
{
    struct engine_slot *at = engine->at;

    at->rate_ns = ga_now_ns();
    at->rate_examples = ga_run_counters(at->run)->examples;
    at->moving = true;
    atomic_store(&engine->jumping, at->jump.on);
    atomic_store(&engine->moving, true);
}

/* A short one ends at once. */
static void begin_jump(struct ga_engine *engine, const struct ga_move *move)
{
    struct engine_slot *at = engine->at;
    int code = ga_engine_jump(engine, move);

    at->move.target = at->jump.target;
    at->resume_ns = 0;
    if (!at->jump.on)
        ga_engine_break_hit(engine);
    if (code == 0)
        set_moving(engine);
    else
        end_slice(engine, code);
}

/* The run in hand starts its part of a move, which may end at once. */
static void begin_one(struct ga_engine *engine, const struct ga_move *move)
{
    struct engine_slot *at = engine->at;

    at->move.move = *move;
    if (at->stranded)
        ga_buffer_revive(ga_run_compute_of(at->run));
    if (move->kind != GA_MOVE_RESET && ga_engine_ensure_run(engine) < 0) {
        ga_engine_end_with_error(engine, ga_error_code());
        return;
    }
    if (move->kind == GA_MOVE_RESET || ga_engine_is_jump(engine, move)) {
        begin_jump(engine, move);
        return;
    }
    at->move.target = target_of(engine, move);
    if (reached(engine) || until_holds(engine)) {
        ga_engine_end_move(engine, GA_STOP_DONE);
        return;
    }
    ga_engine_start_pace(engine);
    set_moving(engine);
}

static bool goes_forward(enum ga_move_kind kind)
{
    return kind <= GA_MOVE_TIME || kind == GA_MOVE_FOREVER;
}

int ga_engine_begin_move(struct ga_engine *engine, const struct ga_move *move, uint64_t ticket)
{
    if (move->all && !goes_forward(move->kind))
        return ga_fail(GA_EINPUT, "all runs at once only go forward: expected updates, "
                                  "micro-batches, events, epochs or a time");
    ga_engine_end_all_moves(engine, GA_STOP_REPLACED);
    engine->ticket = ticket;
    engine->moves_all = move->all;
    engine->movers = move->all ? engine->slots : 1;
    for (size_t k = 0; k < engine->slots; k++)
        engine->slot[k]->has_stop = false;
    if (!move->all) {
        begin_one(engine, move);
        return GA_OK;
    }
    for (size_t k = 0; k < engine->slots; k++) {
        engine->at = engine->slot[k];
        begin_one(engine, move);
    }
    engine->at = engine->current;
    return GA_OK;
}
