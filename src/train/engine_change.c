/* Changing the settings, the open window or a replica's speed: done, recorded, and where it leads.
 */
#include <string.h>

#include "train/engine_internal.h"

static bool untouched(const struct ga_engine *engine)
{
    return !engine->at->run || (ga_run_counters(engine->at->run)->events == 0 &&
                                ga_history_end(engine->at->history)->events == 0);
}

struct change_request {
    const struct ga_settings *draft;
    struct ga_change *out;
};

/* Where a change holds from, asked after it was made. */
static void describe_change(const struct ga_engine *engine, struct ga_change *out)
{
    out->from_update = engine->at->run ? ga_run_next_window_update(engine->at->run) : 1;
    out->start_waits = !untouched(engine);
}

static int note(struct ga_engine *engine, const struct ga_intervention *what)
{
    if (ga_history_did(engine->at->history, what) < 0)
        return ga_error_code();
    engine->at->cursor = ga_history_interventions(engine->at->history);
    return GA_OK;
}

/* Whether settings that reach the numbers of this run differ. */
static bool window_rows_differ(const struct ga_settings *a, const struct ga_settings *b)
{
    for (size_t i = 0; i < ga_setting_count(); i++) {
        const struct ga_setting *row = ga_setting_at(i);

        if (row->when == GA_WHEN_WINDOW && !ga_setting_same(row, a, b))
            return true;
    }
    return false;
}

/* Only what reaches the numbers starts a new future; the rest holds wherever the user goes. */
static int change_running(struct ga_engine *engine, const struct ga_settings *draft,
                          struct ga_change *out)
{
    struct ga_settings copy = *draft;
    struct ga_intervention what = {
        .kind = GA_DID_CHANGE,
        .settings = &copy,
        .events = ga_run_counters(engine->at->run)->events,
    };
    bool differs = window_rows_differ(draft, ga_run_pending(engine->at->run));

    if (differs && ga_run_change(engine->at->run, draft) < 0)
        return ga_error_code();
    if (differs)
        ga_engine_diverge(engine, out);
    ga_history_budget(engine->at->history, draft->history_budget);
    engine->at->draft = *draft;
    if (differs && note(engine, &what) < 0)
        return ga_error_code();
    return ga_run_settle_draft(engine->at->run, &engine->at->draft);
}

/* A run that has not begun is opened anew when it is next needed, at once under a move. */
static int change_untouched(struct ga_engine *engine, const struct ga_settings *draft)
{
    ga_engine_drop_run(engine);
    engine->at->draft = *draft;
    if (engine->at->moving && ga_engine_ensure_run(engine) < 0)
        ga_engine_end_with_error(engine, ga_error_code());
    return GA_OK;
}

static int change_call(struct ga_engine *engine, void *arg)
{
    struct change_request *request = arg;
    bool moves = false;
    int code = GA_OK;

    memset(request->out, 0, sizeof *request->out);
    if (ga_engine_check_settled(engine) < 0 ||
        ga_run_check_settings(request->draft, engine->at->data) < 0)
        return ga_error_code();
    moves = ga_engine_moves_away(engine, request->draft);
    if (moves && ga_engine_move_away(engine, request->draft) < 0)
        return ga_error_code();
    code = untouched(engine) && !moves ? change_untouched(engine, request->draft)
                                       : change_running(engine, request->draft, request->out);
    if (code < 0)
        return code;
    if (engine->at->moving)
        ga_engine_start_pace(engine);
    describe_change(engine, request->out);
    request->out->start_waits = request->out->start_waits && !moves;
    ga_engine_publish(engine);
    return GA_OK;
}

int ga_engine_change(struct ga_engine *engine, const struct ga_settings *draft,
                     struct ga_change *out)
{
    struct change_request request = {draft, out};

    return ga_engine_ask(engine, change_call, &request);
}

struct intervention_request {
    struct ga_intervention what;
    struct ga_change *out;
};

static int check_change(const struct ga_run *run, const struct ga_intervention *what)
{
    (void)run;
    (void)what;
    return GA_OK;
}

static int check_slow(const struct ga_run *run, const struct ga_intervention *what)
{
    return ga_run_check_slow(run, what->replica, what->factor);
}

static int check_kill(const struct ga_run *run, const struct ga_intervention *what)
{
    return ga_run_check_kill(run, what->replica);
}

static int check_revive(const struct ga_run *run, const struct ga_intervention *what)
{
    return ga_run_check_revive(run, what->replica);
}

static int check_flush(const struct ga_run *run, const struct ga_intervention *what)
{
    (void)what;
    return ga_run_check_flush(run);
}

static int check_discard(const struct ga_run *run, const struct ga_intervention *what)
{
    (void)what;
    return ga_run_check_discard(run);
}

static int do_change(struct ga_run *run, const struct ga_intervention *what)
{
    return ga_run_change(run, what->settings);
}

static int do_slow(struct ga_run *run, const struct ga_intervention *what)
{
    return ga_run_slow(run, what->replica, what->factor);
}

static int do_kill(struct ga_run *run, const struct ga_intervention *what)
{
    return ga_run_kill(run, what->replica);
}

static int do_revive(struct ga_run *run, const struct ga_intervention *what)
{
    return ga_run_revive(run, what->replica);
}

static int do_flush(struct ga_run *run, const struct ga_intervention *what)
{
    (void)what;
    return ga_run_flush(run);
}

static int do_discard(struct ga_run *run, const struct ga_intervention *what)
{
    (void)what;
    return ga_run_discard(run);
}

/* What can be done to a run, and whether it closes the open window, which is then seen through. */
static const struct {
    int (*check)(const struct ga_run *run, const struct ga_intervention *what);
    int (*act)(struct ga_run *run, const struct ga_intervention *what);
    bool closes;
} deed_of[GA_DID_KINDS] = {
    [GA_DID_CHANGE] = {check_change, do_change, false},
    [GA_DID_SLOW] = {check_slow, do_slow, false},
    [GA_DID_KILL] = {check_kill, do_kill, false},
    [GA_DID_REVIVE] = {check_revive, do_revive, false},
    [GA_DID_FLUSH] = {check_flush, do_flush, true},
    [GA_DID_DISCARD] = {check_discard, do_discard, true},
};

int ga_engine_intervene(struct ga_engine *engine, const struct ga_intervention *what)
{
    return deed_of[what->kind].act(engine->at->run, what);
}

static int intervention_call(struct ga_engine *engine, void *arg)
{
    struct intervention_request *request = arg;

    memset(request->out, 0, sizeof *request->out);
    if (ga_engine_check_settled(engine) < 0 || ga_engine_ensure_run(engine) < 0 ||
        deed_of[request->what.kind].check(engine->at->run, &request->what) < 0 ||
        (request->what.kind == GA_DID_SLOW &&
         ga_slot_remember_slow(engine->at, request->what.replica, request->what.factor) < 0))
        return ga_error_code();
    ga_engine_diverge(engine, request->out);
    request->what.events = ga_run_counters(engine->at->run)->events;
    engine->replaying = false;
    if (ga_engine_intervene(engine, &request->what) < 0 || note(engine, &request->what) < 0)
        return ga_error_code();
    ga_history_reached(engine->at->history, ga_run_counters(engine->at->run));
    if (deed_of[request->what.kind].closes && ga_engine_to_boundary(engine) < 0)
        return ga_error_code();
    describe_change(engine, request->out);
    ga_engine_publish(engine);
    return GA_OK;
}

static int ask_intervention(struct ga_engine *engine, const struct ga_intervention *what,
                            struct ga_change *out)
{
    struct intervention_request request = {.what = *what, .out = out};

    return ga_engine_ask(engine, intervention_call, &request);
}

int ga_engine_flush(struct ga_engine *engine, struct ga_change *out)
{
    return ask_intervention(engine, &(struct ga_intervention){.kind = GA_DID_FLUSH}, out);
}

int ga_engine_discard(struct ga_engine *engine, struct ga_change *out)
{
    return ask_intervention(engine, &(struct ga_intervention){.kind = GA_DID_DISCARD}, out);
}

int ga_engine_slow(struct ga_engine *engine, size_t replica, double factor, struct ga_change *out)
{
    return ask_intervention(
        engine,
        &(struct ga_intervention){.kind = GA_DID_SLOW, .replica = replica, .factor = factor}, out);
}

int ga_engine_kill(struct ga_engine *engine, size_t replica, struct ga_change *out)
{
    return ask_intervention(
        engine, &(struct ga_intervention){.kind = GA_DID_KILL, .replica = replica}, out);
}

int ga_engine_revive(struct ga_engine *engine, size_t replica, struct ga_change *out)
{
    return ask_intervention(
        engine, &(struct ga_intervention){.kind = GA_DID_REVIVE, .replica = replica}, out);
}
