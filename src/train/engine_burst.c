/*
 * Bursts of updates within a move: as many as fit before its end, before a breakpoint or the
 * condition that it waits for changes, and as nobody asked to see one by one; and where they are on
 * record, as have been made without a change between them. The update after them is made event by
 * event, so that whoever looks finds the run as it always is.
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

/* Of `events`; the last update that they make is not for a burst. */
static uint64_t updates_in(uint64_t events)
{
    return events < GA_BURST_EVENTS ? 0 : events / GA_BURST_EVENTS - 1;
}

static uint64_t left_of_jump(const struct ga_engine *engine)
{
    const struct engine_jump *jump = &engine->at->jump;
    uint64_t now = ga_history_key(ga_run_counters(engine->at->run), jump->key);
    uint64_t left = jump->target > now ? jump->target - now : 0;

    if (jump->key == GA_KEY_EVENTS)
        return updates_in(left);
    return left > 0 ? left - 1 : 0;
}

/* Before the record ends, or something is to be done again. */
static uint64_t left_of_record(const struct ga_engine *engine)
{
    const struct engine_slot *at = engine->at;
    uint64_t now = ga_run_counters(at->run)->events;
    uint64_t end = ga_history_end(at->history)->events;

    if (at->cursor < ga_history_interventions(at->history)) {
        uint64_t next = ga_history_intervention(at->history, at->cursor)->events;

        end = next < end ? next : end;
    }
    return end > now ? updates_in(end - now) : 0;
}

static uint64_t left_of_ground(const struct ga_engine *engine)
{
    if (!ga_engine_breaks_new_ground(engine))
        return left_of_record(engine);
    return ga_history_takes_burst(engine->at->history, ga_run_counters(engine->at->run)->events)
               ? UINT64_MAX
               : 0;
}

static uint64_t left_by(const struct ga_observer *observer, const struct ga_run *run)
{
    if (observer->leaves)
        return observer->leaves(observer->self, run);
    return observer->burst ? UINT64_MAX : 0;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The next updates that nobody asks to see one by one. */
static uint64_t unseen(const struct ga_engine *engine)
{
    uint64_t least = UINT64_MAX;

    for (size_t i = 0; i < ENGINE_OBSERVERS; i++)
        if (ga_engine_observes(engine, &engine->observers[i]))
            least = smaller(least, left_by(&engine->observers[i].observer, engine->at->run));
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
static size_t undisturbed(const struct ga_engine *engine, const struct ga_burst_row *row,
                          size_t count)
{
    const struct engine_slot *at = engine->at;
    const struct ga_condition *until = &at->move.move.until;
    struct ga_burst_rows rows = {*ga_run_last_record(at->run), row, count, 0};

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

/* How many updates a burst may have; 0: there is none. Nobody looks at a jump. */
static size_t room(const struct ga_engine *engine)
{
    const struct ga_run *run = engine->at->run;
    uint64_t most = engine->seeking ? left_of_jump(engine) : left_of_move(engine);

    if (most < LEAST || !ga_run_repeats(run) || (!engine->seeking && !stops_take_rows(engine)))
        return 0;
    most = smaller(most, left_of_ground(engine));
    most = smaller(most, affordable(run));
    if (!engine->seeking)
        most = smaller(most, unseen(engine));
    return most < LEAST ? 0 : (size_t)most;
}

/* Where rows go: new ones to where they are kept, as many as there is room for side by side. */
static struct ga_burst_row *place(struct ga_engine *engine, size_t *most)
{
    struct ga_burst_row *row = NULL;
    size_t side_by_side = 0;

    if (!ga_engine_breaks_new_ground(engine))
        return engine->burst;
    row = ga_history_rows(engine->at->history, &side_by_side);
    *most = *most < side_by_side ? *most : side_by_side;
    return row;
}

/* Updates found that nothing keeps from being made at once, or a negative code. */
static int find(struct ga_engine *engine, struct ga_burst_row **row)
{
    struct ga_run *run = engine->at->run;
    size_t most = room(engine), count = 0;
    int done = 0;

    if (most == 0)
        return 0;
    *row = place(engine, &most);
    done = *row ? ga_run_burst(run, most, *row) : ga_error_code();
    if (done <= 0 || engine->seeking)
        return done;
    count = undisturbed(engine, *row, (size_t)done);
    return count < (size_t)done ? ga_run_burst(run, count, *row) : done;
}

static void tell(struct ga_engine *engine, const struct ga_burst_rows *rows)
{
    for (size_t i = 0; i < ENGINE_OBSERVERS; i++) {
        const struct ga_observer *observer = &engine->observers[i].observer;

        if (ga_engine_observes(engine, &engine->observers[i]) && observer->burst)
            observer->burst(observer->self, engine->at->run, rows);
    }
}

static int keep(struct engine_slot *at, const struct ga_burst_rows *rows)
{
    if (ga_history_keep_burst(at->history, rows) < 0)
        return ga_error_code();
    ga_history_reached(at->history, ga_run_counters(at->run));
    return GA_OK;
}

int ga_engine_burst(struct ga_engine *engine)
{
    const bool on_new_ground = ga_engine_breaks_new_ground(engine);
    struct ga_burst_row *row = NULL;
    struct ga_burst_rows rows;
    int done = find(engine, &row);

    if (done <= 0)
        return done;
    ga_run_take_burst(engine->at->run, row, &rows);
    if (on_new_ground && keep(engine->at, &rows) < 0)
        return ga_error_code();
    if (!engine->seeking)
        tell(engine, &rows);
    return GA_OK;
}
