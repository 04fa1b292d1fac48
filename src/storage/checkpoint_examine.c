/*
 * What the fields of a state say about each other. The train room never makes a state that is
 * refused here, and relies on what is demanded: a busy replica has rows, weights and sums, an open
 * window can be closed, a gradient is there where the next event needs it.
 */
#include "storage/checkpoint_examine.h"

#include "base/error.h"
#include "train/run.h"

static int examine_server(const struct ga_examined *of)
{
    const struct ga_version *server = of->state->server;
    const size_t blocks = ga_run_state_blocks(of->settings);
    if (server->number != of->state->counters.updates)
        return ga_fail(GA_EINPUT, "\"versions\": 0: number %llu, expected %llu, the updates so far",
                       (unsigned long long)server->number,
                       (unsigned long long)of->state->counters.updates);
    if (server->state_blocks == blocks)
        return GA_OK;
    return ga_fail(GA_EINPUT,
                   "\"versions\": 0: %zu blocks of optimizer state, expected %zu by the settings",
                   server->state_blocks, blocks);
}

/* Of whom an event may tell: a replica may be gone by now. */
enum whose { NOBODY, ANYBODY, SOMEBODY };

static bool event_fits(const struct ga_event *event)
{
    static const enum whose whose[GA_EVENT_KINDS] = {
        [GA_EVENT_MICRO] = SOMEBODY,   [GA_EVENT_SEND] = SOMEBODY, [GA_EVENT_PUSH] = SOMEBODY,
        [GA_EVENT_DROP] = SOMEBODY,    [GA_EVENT_APPLY] = ANYBODY, [GA_EVENT_SKIP] = ANYBODY,
        [GA_EVENT_PRIVATE] = SOMEBODY,
    };
    const bool somebody = event->replica >= 0;
    return whose[event->kind] == ANYBODY || (whose[event->kind] == SOMEBODY) == somebody;
}

static int examine_event(const struct ga_examined *of)
{
    const struct ga_event *event = &of->state->last_event;
    const bool first = event->kind == GA_EVENT_NONE;
    if (first ? of->state->counters.events == 0 && event->replica <= 0 : event_fits(event))
        return GA_OK;
    return ga_fail(GA_EINPUT, "\"last_event\": %s of replica %d after %llu events",
                   ga_event_name((enum ga_event_kind)event->kind), (int)event->replica,
                   (unsigned long long)of->state->counters.events);
}

/* The turn it stands at is one of those recorded, or the next. */
static int examine_race(const struct ga_examined *of)
{
    const struct ga_state *state = of->state;
    const uint64_t turns = state->counters.turns;
    if (!state->race || (of->settings->clock == GA_CLOCK_REAL && state->race_base <= turns &&
                         turns - state->race_base <= state->races))
        return GA_OK;
    return ga_fail(
        GA_EINPUT,
        "\"race\": %zu turns from turn %llu with clock %s at turn %llu, expected none or "
        "that turn among them",
        state->races, (unsigned long long)state->race_base,
        ga_choice_word("clock", (int)of->settings->clock), (unsigned long long)turns);
}

int ga_checkpoint_examine(const struct ga_state *state)
{
    static int (*const steps[])(const struct ga_examined *) = {
        examine_server,   ga_examine_replicas, ga_examine_window, ga_examine_gradient,
        ga_examine_modes, examine_event,       examine_race};
    const struct ga_settings *settings = &state->settings->value;
    const struct ga_examined examined = {
        .state = state,
        .settings = settings,
        .policy = ga_policy_find(ga_choice_word("mode", (int)settings->mode)),
        .rows = ga_dataset_table(state->data)->train,
        .closed = state->counters.updates + state->counters.skipped,
        .parameters = state->server->parameters,
    };
    if (!examined.policy)
        return ga_error_code();
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        if (steps[i](&examined))
            return ga_error_code();
    return GA_OK;
}
