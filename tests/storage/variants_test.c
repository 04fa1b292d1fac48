/* Which corners of a run's state the variants reach: tests that go through them show no more. */
#include "base/error.h"
#include "run_support.h"
#include "support/support.h"

static bool any_replica(const struct ga_state *state,
                        bool (*is)(const struct ga_state *, const struct ga_replica_value *))
{
    for (size_t r = 0; r < state->replicas; r++)
        if (is(state, &state->replica[r]))
            return true;
    return false;
}

static bool is_late(const struct ga_state *state, const struct ga_replica_value *v)
{
    (void)state;
    return v->state == GA_REPLICA_LATE;
}

static bool is_sending(const struct ga_state *state, const struct ga_replica_value *v)
{
    (void)state;
    return v->state == GA_REPLICA_SENDING;
}

static bool reads_older(const struct ga_state *state, const struct ga_replica_value *v)
{
    return v->state == GA_REPLICA_BUSY && v->read != state->server;
}

static bool is_pulling(const struct ga_state *state, const struct ga_replica_value *v)
{
    return v->state == GA_REPLICA_BUSY && v->start_ns > state->now_ns;
}

static bool is_missed(const struct ga_state *state, const struct ga_replica_value *v)
{
    (void)state;
    return v->dead && v->part > 0;
}

static bool is_dead_with_push(const struct ga_state *state, const struct ga_replica_value *v)
{
    return v->dead && state->modes && state->window.arrived > 0 &&
           v->pushed_at == state->counters.updates + state->counters.skipped + 1;
}

static bool is_in_later_step(const struct ga_state *state, const struct ga_replica_value *v)
{
    (void)state;
    return v->state == GA_REPLICA_BUSY && v->step > 0;
}

static bool has_own_adam(const struct ga_state *state, const struct ga_replica_value *v)
{
    (void)state;
    return v->own && v->own->state_blocks == 2;
}

static bool late(const struct ga_state *state)
{
    return any_replica(state, is_late);
}

static bool sending(const struct ga_state *state)
{
    return any_replica(state, is_sending);
}

static bool older(const struct ga_state *state)
{
    return any_replica(state, reads_older);
}

static bool pulling(const struct ga_state *state)
{
    return any_replica(state, is_pulling);
}

static bool missed(const struct ga_state *state)
{
    return any_replica(state, is_missed);
}

static bool dead_with_push(const struct ga_state *state)
{
    return any_replica(state, is_dead_with_push);
}

static bool later_step(const struct ga_state *state)
{
    return any_replica(state, is_in_later_step);
}

static bool own_adam(const struct ga_state *state)
{
    return any_replica(state, has_own_adam);
}

static bool pending(const struct ga_state *state)
{
    return state->pending;
}

static bool gradient(const struct ga_state *state)
{
    return state->gradient;
}

static bool buffer(const struct ga_state *state)
{
    return state->modes && state->window.arrived > 1 && state->reduced;
}

static bool pieces(const struct ga_state *state)
{
    return state->modes && state->modes->pieces > 1;
}

static bool recent(const struct ga_state *state)
{
    return state->modes && state->modes->versions == 3;
}

static bool average(const struct ga_state *state)
{
    return state->modes && state->modes->average;
}

static bool outer(const struct ga_state *state)
{
    return state->settings->value.mode == GA_MODE_LOCAL && state->server->state_blocks == 1;
}

static bool reading(const struct ga_state *state)
{
    return state->modes && state->modes->items > 0 && state->modes->item[0].at > 0 &&
           state->modes->item[0].at < state->server->parameters;
}

static bool writing(const struct ga_state *state)
{
    return state->modes && state->modes->items > 0 &&
           state->modes->item[0].at > state->server->parameters &&
           state->modes->item[0].at < 2 * state->server->parameters;
}

static bool lost(const struct ga_state *state)
{
    return state->counters.lost > 0;
}

static bool draining(const struct ga_state *state)
{
    return state->modes && state->modes->draining && state->pending;
}

static const struct {
    const char *name;
    bool (*holds)(const struct ga_state *state);
} corners[] = {
    {"late item", late},
    {"pending change", pending},
    {"older weights", older},
    {"gradient", gradient},
    {"push on its way", sending},
    {"pull on its way", pulling},
    {"missed part", missed},
    {"push of a killed replica", dead_with_push},
    {"later step", later_step},
    {"adam of its own", own_adam},
    {"buffer", buffer},
    {"pieces", pieces},
    {"versions of delay", recent},
    {"average", average},
    {"outer momentum", outer},
    {"half-read weights", reading},
    {"half-written", writing},
    {"lost writes", lost},
    {"draining", draining},
};
#define CORNERS (sizeof corners / sizeof corners[0])

static void look_into_corners(const struct run_variant *variant, bool reached[CORNERS])
{
    struct ga_dataset *data = run_open_data(variant->data);
    struct ga_run *run = run_open_variant(variant, data);
    assert_non_null(run);
    for (int event = 0; event < 150; event++) {
        struct ga_state state;
        assert_int_equal(run_go(run, variant, 1), GA_OK);
        assert_int_equal(ga_run_capture(run, &state), GA_OK);
        for (size_t k = 0; k < CORNERS; k++)
            reached[k] = reached[k] || corners[k].holds(&state);
        ga_state_fini(&state);
    }
    ga_run_close(run);
    ga_dataset_close(data);
}

static void variants_reach_every_corner(void **unused)
{
    (void)unused;
    bool reached[CORNERS] = {false};
    for (size_t i = 0; i < run_variant_count; i++)
        look_into_corners(&run_variants[i], reached);
    for (size_t k = 0; k < CORNERS; k++)
        if (!reached[k])
            fail_msg("no variant reaches a state with: %s", corners[k].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(variants_reach_every_corner)};
    return ga_test_main(tests);
}
