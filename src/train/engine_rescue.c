/*
 * When a card fails: weights that only it had are gone with it, so the run goes back to the newest
 * state of which the host has everything, and says so. Such states are the ones of the history
 * whose blocks came back from the cards, and a mirror that is brought to the host from time to
 * time, for about a hundredth of the time: no failure costs much more than a second of training.
 * What lies between is made again when the run goes on, on the same cards or on others.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/engine_internal.h"

#define MIRROR_SECONDS 1.0
#define MIRROR_SHARE   100 /* of the time, at the most */

static bool uses_cards(const struct engine_slot *at)
{
    return at->run && ga_run_compute_of(at->run)->memory;
}

static void look(void *self, const struct ga_version *version)
{
    bool *intact = self;

    *intact = *intact && ga_version_intact(version);
}

static bool is_intact(const struct ga_state *state)
{
    bool intact = true;

    ga_state_versions(state, look, &intact);
    return intact;
}

/* ---- the mirror ---- */

static int64_t least_gap_ns(void)
{
    const char *text = getenv("GA_CUDA_MIRROR");
    const double seconds = text ? strtod(text, NULL) : MIRROR_SECONDS;

    return seconds >= 0 && seconds < 1e9 ? (int64_t)(seconds * 1e9) : INT64_MAX / 2;
}

void ga_engine_start_mirror(struct engine_slot *at)
{
    at->mirror_due_ns = ga_now_ns() + least_gap_ns();
}

void ga_engine_forget_mirror(struct engine_slot *at)
{
    if (at->has_mirror)
        ga_state_fini(&at->mirror);
    at->has_mirror = false;
}

/* The state, brought to the host. Where a card fails the last one stays; it shows when the run is
 * next asked. */
static int take_mirror(struct engine_slot *at)
{
    const int64_t begin_ns = ga_now_ns();
    int64_t end_ns = 0, gap_ns = least_gap_ns();
    struct ga_state fresh;

    if (ga_run_capture(at->run, &fresh) < 0)
        return ga_error_code();
    if (!is_intact(&fresh)) {
        ga_state_fini(&fresh);
        return GA_OK;
    }
    ga_engine_forget_mirror(at);
    at->mirror = fresh;
    at->has_mirror = true;
    end_ns = ga_now_ns();
    if (gap_ns < (end_ns - begin_ns) * (MIRROR_SHARE - 1))
        gap_ns = (end_ns - begin_ns) * (MIRROR_SHARE - 1);
    at->mirror_due_ns = end_ns + gap_ns;
    return GA_OK;
}

int ga_engine_mirror(struct ga_engine *engine)
{
    struct engine_slot *at = engine->at;

    if (!uses_cards(at) || ga_now_ns() < at->mirror_due_ns)
        return GA_OK;
    return take_mirror(at);
}

/* ---- going back ---- */

/* Whether the host can have all of the run; what failed calls have left behind it cannot. */
static bool has_all(const struct ga_run *run)
{
    struct ga_state state;
    bool intact = false;

    if (ga_buffer_poll(ga_run_compute_of(run)) < 0 || ga_run_capture(run, &state) < 0)
        return false;
    intact = is_intact(&state);
    ga_state_fini(&state);
    return intact;
}

static bool take(struct ga_engine *engine, const struct ga_state *state)
{
    return is_intact(state) && ga_engine_restore(engine, state) == GA_OK;
}

/* The newest state that the host has; the first one of a history always is. */
static bool go_back(struct ga_engine *engine)
{
    const struct engine_slot *at = engine->at;
    const uint64_t mirrored = at->has_mirror ? at->mirror.counters.events : 0;
    bool tried = !at->has_mirror || mirrored > ga_run_counters(at->run)->events;

    for (size_t k = ga_history_states(at->history); k-- > 0;) {
        const struct ga_state *state = ga_history_state(at->history, k);

        if (state->counters.events > ga_run_counters(at->run)->events)
            continue;
        if (!tried && mirrored >= state->counters.events && take(engine, &at->mirror))
            return true;
        tried = tried || mirrored >= state->counters.events;
        if (take(engine, state))
            return true;
    }
    return false;
}

static void append(struct ga_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void append(struct ga_error *error, const char *format, ...)
{
    size_t length = strlen(error->text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(error->text + length, sizeof error->text - length, format, arguments);
    va_end(arguments);
}

/* What became of the run, and what can be done. */
static void tell(const struct ga_engine *engine, unsigned long long before, struct ga_error *error)
{
    const unsigned long long now = ga_run_counters(engine->at->run)->updates;

    if (now < before)
        append(error,
               "; what followed update %llu was on the cards alone, so the run stands there "
               "again; `goto %llu` makes the rest anew",
               now, before);
    else
        append(error, "; the run stands at update %llu, and begins its window again", now);
    append(error, ", here or after `set device cpu` or other `set devices`");
}

void ga_engine_rescue(struct ga_engine *engine, struct ga_error *error)
{
    struct engine_slot *at = engine->at;
    const unsigned long long before = at->run ? ga_run_counters(at->run)->updates : 0;
    bool intact = false;

    if (!uses_cards(at) || error->code == GA_ESTATE || error->code == GA_ERANGE)
        return; /* no card says that */
    at->stranded = true;
    intact = has_all(at->run);
    ga_buffer_revive(ga_run_compute_of(at->run));
    if (intact)
        return;
    if (go_back(engine)) {
        ga_engine_break_hit(engine); /* breakpoints count from there */
        tell(engine, before, error);
    } else {
        append(error, "; the weights of update %llu are lost: `reset` starts over", before);
    }
    ga_buffer_revive(ga_run_compute_of(at->run));
}

int ga_engine_reads(const struct ga_engine *engine)
{
    const struct engine_slot *at = engine->at;
    struct ga_version *server = NULL;

    if (!uses_cards(at))
        return GA_OK;
    server = ga_run_share_version(at->run);
    (void)ga_version_weights(server);
    ga_version_close(server);
    return ga_buffer_poll(ga_run_compute_of(at->run));
}

int ga_engine_check_cards(struct ga_engine *engine)
{
    struct ga_error error;

    if (!uses_cards(engine->at) || ga_buffer_poll(ga_run_compute_of(engine->at->run)) == GA_OK)
        return GA_OK;
    ga_error_take(&error);
    if (engine->at->moving) {
        ga_engine_end_with_error(engine, error.code);
        error = engine->at->stop.error;
    } else {
        ga_engine_rescue(engine, &error);
        ga_engine_publish(engine);
    }
    return ga_error_put(&error);
}

/* ---- going on elsewhere ---- */

static bool same_place(const struct ga_settings *a, const struct ga_settings *b)
{
    return ga_setting_same(ga_setting_find("device"), a, b) &&
           ga_setting_same(ga_setting_find("devices"), a, b);
}

bool ga_engine_moves_away(const struct ga_engine *engine, const struct ga_settings *draft)
{
    const struct engine_slot *at = engine->at;

    return at->run && at->stranded && !same_place(draft, ga_run_settings(at->run));
}

/* The share with another place in it. */
static int replace(struct ga_settings_share **share, const struct ga_settings *draft)
{
    struct ga_settings_share *fresh = NULL;
    struct ga_settings value;

    if (!*share)
        return GA_OK;
    value = (*share)->value;
    value.device = draft->device;
    value.devices = draft->devices;
    if (ga_settings_share_open(&fresh, &value, (*share)->epoch) < 0)
        return ga_error_code();
    ga_settings_share_close(*share);
    *share = fresh;
    return GA_OK;
}

int ga_engine_move_away(struct ga_engine *engine, const struct ga_settings *draft)
{
    struct ga_state state;
    struct ga_run *run = NULL;
    int code = ga_run_capture(engine->at->run, &state);

    if (code < 0)
        return code;
    code = replace(&state.settings, draft);
    if (code == GA_OK)
        code = replace(&state.pending, draft);
    if (code == GA_OK)
        code = ga_engine_run_at_state(engine, &state, &run);
    if (code == GA_OK)
        code = ga_engine_take_run(engine, run);
    ga_state_fini(&state);
    return code;
}
