/*
 * Bursts of updates within a move: as many as fit before its end, before a breakpoint or the
 * condition that it waits for changes, and as nobody asked to see one by one. The update after them
 * is made event by event, so that whoever looks finds the run as it always is.
 */
#include "train/engine_internal.h"

/* Fewer are not worth it. */
#define LEAST ((size_t)8)

/* Of device work, roughly: nobody who asks for a pause waits longer. */
#define LONGEST_NS 4e6

/* Updates that the move has room for, but for its last one. */
static uint64_t left_of_move(const struct ga_engine *engine)
{
    const struct engine_move *move = &engine->at->move;
    const struct ga_run *run = engine->at->run;
    uint64_t now = 0;

    switch (move->move.kind) {
    case GA_MOVE_UPDATES:
        now = ga_run_windows_closed(run);
        break;
    case GA_MOVE_GOTO:
        now = ga_run_counters(run)->updates;
        break;
    case GA_MOVE_EPOCHS: /* each is one */
        now = ga_run_epochs_done(run);
        break;
    case GA_MOVE_UNTIL:
    case GA_MOVE_FOREVER:
        return UINT64_MAX;
    default:
        return 0;
    }
    return move->target > now ? move->target - now - 1 : 0;
}

static uint64_t ignored(const struct ga_observer *observer, const struct ga_run *run)
{
    if (observer->burst)
        return UINT64_MAX;
    return observer->ignores ? observer->ignores(observer->self, run) : 0;
}

/* The next updates that nobody asks to see one by one. */
static uint64_t unseen(const struct ga_engine *engine)
{
    uint64_t least = UINT64_MAX;

    for (size_t i = 0; i < ENGINE_OBSERVERS; i++) {
        uint64_t here = UINT64_MAX;

        if (ga_engine_observes(engine, &engine->observers[i]))
            here = ignored(&engine->observers[i].observer, engine->at->run);
        least = here < least ? here : least;
    }
    return least;
}

/* Whatever may stop the run can do with rows. */
static bool stops_take_rows(const struct ga_engine *engine)
{
    const struct engine_move *move = &engine->at->move;

    for (size_t i = 0; i < engine->break_slots; i++)
        if (engine->breaks[i].number && !engine->breaks[i].condition.scan)
            return false;
    return move->move.kind != GA_MOVE_UNTIL || move->move.until.scan;
}

/* Rows before the first after which some condition is not as it was. */
static size_t undisturbed(const struct ga_engine *engine, size_t count)
{
    const struct engine_slot *at = engine->at;
    const struct ga_condition *until = &at->move.move.until;
    struct ga_burst_rows rows = {*ga_run_last_record(at->run), engine->burst, count, 0};

    for (size_t i = 0; i < engine->break_slots; i++) {
        const struct ga_condition *stop = &engine->breaks[i].condition;

        if (engine->breaks[i].number)
            rows.count = stop->scan(stop->self, &rows, at->held >> i & UINT64_C(1));
    }
    if (at->move.move.kind == GA_MOVE_UNTIL)
        rows.count = until->scan(until->self, &rows, false);
    return rows.count;
}

/* Updates that take no longer than a burst may. */
static size_t affordable(const struct ga_run *run)
{
    double update_ns = (double)ga_run_last_record(run)->window_examples *
                       ga_compute_example_cost_ns(ga_run_net_of(run));
    double count = LONGEST_NS / update_ns;

    return count < (double)GA_BURST_MOST ? (size_t)count : GA_BURST_MOST;
}

/* How many updates a burst may have; 0: there is none. */
static size_t room(const struct ga_engine *engine)
{
    const struct ga_run *run = engine->at->run;
    uint64_t left = left_of_move(engine), most = 0;

    if (left < LEAST || !ga_run_repeats(run) || !stops_take_rows(engine) ||
        !ga_history_takes_burst(engine->at->history, ga_run_counters(run)->events))
        return 0;
    most = unseen(engine);
    most = left < most ? left : most;
    most = most < affordable(run) ? most : affordable(run);
    return most < LEAST ? 0 : (size_t)most;
}

/* Updates found that nothing keeps from being made at once, or a negative code. */
static int find(struct ga_engine *engine)
{
    struct ga_run *run = engine->at->run;
    size_t most = room(engine), count = 0;
    int done = most > 0 ? ga_run_burst(run, most, engine->burst) : 0;

    if (done <= 0)
        return done;
    count = undisturbed(engine, (size_t)done);
    return count < (size_t)done ? ga_run_burst(run, count, engine->burst) : done;
}

static void tell(struct ga_engine *engine, const struct ga_burst_rows *rows)
{
    for (size_t i = 0; i < ENGINE_OBSERVERS; i++) {
        const struct ga_observer *observer = &engine->observers[i].observer;

        if (ga_engine_observes(engine, &engine->observers[i]) && observer->burst)
            observer->burst(observer->self, engine->at->run, rows);
    }
}

int ga_engine_burst(struct ga_engine *engine)
{
    struct engine_slot *at = engine->at;
    struct ga_burst_rows rows;
    int done = find(engine);

    if (done <= 0)
        return done;
    ga_run_take_burst(at->run, engine->burst, &rows);
    if (ga_history_keep_burst(at->history, &rows) < 0)
        return ga_error_code();
    ga_history_reached(at->history, ga_run_counters(at->run));
    tell(engine, &rows);
    return GA_OK;
}
