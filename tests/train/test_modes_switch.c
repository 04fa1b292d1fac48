/*
 * Modes, replicas and everything else change under way, at update boundaries by the stated rule:
 * items under way are dropped and counted with `late cancel`, and with `late finish` end and are
 * applied as the old mode would; newcomers pull the server's weights and have no state of their
 * own.
 */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/run_internal.h"
#include "train/support/modes.h"

static void open_words(struct ga_run_rig *rig, const char *words)
{
    ga_run_rig_open(rig, &(struct ga_test_start){.settings = words});
}

static uint64_t in_flight(const struct ga_run_rig *rig)
{
    return (uint64_t)ga_run_metric(rig->run, GA_METRIC_IN_FLIGHT, -1);
}

/* ---- the rule ---- */

static const char *const pushing[] = {
    "mode async jitter exponential", "mode async accum 2 latency 3ms server-time 2ms",
    "mode ssp bound 1 jitter exponential", "mode hogwild jitter exponential"};

static void test_cancel_drops_what_is_under_way(void **state)
{
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        struct ga_run_rig rig;
        char words[128];
        struct ga_counters before;
        const struct ga_counters *now = NULL;
        uint64_t flying = 0;

        snprintf(words, sizeof words, "replicas 4 late cancel %s", pushing[k]);
        open_words(&rig, words);
        ga_run_rig_updates(&rig, 20);
        ga_test_ok(ga_run_rig_set(&rig, "mode sync"));
        before = *ga_run_counters(rig.run);
        flying = in_flight(&rig);
        assert_true(flying > 0);
        ga_run_rig_events(&rig, 1);
        now = ga_run_counters(rig.run);
        assert_int_equal(ga_run_settings(rig.run)->mode, GA_MODE_SYNC);
        assert_int_equal(now->items_dropped, before.items_dropped + flying);
        assert_int_equal(now->updates, before.updates);
        ga_run_rig_updates(&rig, 3);
        assert_int_equal(now->items_applied, before.items_applied + 3 * 4);
        ga_run_rig_close(&rig);
    }
}

static void test_finish_applies_what_is_under_way(void **state)
{
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        struct ga_run_rig rig;
        char words[128];
        struct ga_counters before;
        const struct ga_counters *now = NULL;
        uint64_t flying = 0;

        snprintf(words, sizeof words, "replicas 4 late finish %s", pushing[k]);
        open_words(&rig, words);
        ga_run_rig_updates(&rig, 20);
        ga_test_ok(ga_run_rig_set(&rig, "mode sync"));
        before = *ga_run_counters(rig.run);
        flying = in_flight(&rig);
        while (ga_run_settings(rig.run)->mode != GA_MODE_SYNC)
            ga_run_rig_events(&rig, 1);
        now = ga_run_counters(rig.run);
        assert_int_equal(now->items_dropped, before.items_dropped);
        assert_int_equal(now->updates, before.updates + flying);
        assert_int_equal(now->items_applied, before.items_applied + flying);
        ga_run_rig_close(&rig);
    }
}

/* What the server has in its buffer when nobody is left to fill it is one update. */
static void test_finish_applies_a_buffer_that_is_not_full(void **state)
{
    struct ga_run_rig rig;
    const struct ga_counters *now = NULL;

    (void)state;
    open_words(&rig, "replicas 4 accum 1 late finish mode buffered buffer 3 base 10ms "
                     "per-example 0");
    ga_run_rig_updates(&rig, 1); /* at 10 ms; replica 3 pushes at that time too */
    ga_test_ok(ga_run_rig_set(&rig, "mode delay"));
    now = ga_run_counters(rig.run);
    while (ga_run_settings(rig.run)->mode != GA_MODE_DELAY)
        ga_run_rig_events(&rig, 1);
    /* three restarted and one at its first item: four more pushes, three of them an update */
    assert_int_equal(now->pushes, 7);
    assert_int_equal(now->updates, 3);
    assert_int_equal(now->items_applied, 7);
    assert_int_equal(now->items_dropped, 0);
    ga_run_rig_close(&rig);
}

/* A change of mode that is taken back while items end: the run goes on as if nothing had been. */
static void test_a_change_can_be_taken_back_while_items_end(void **state)
{
    (void)state;
    for (size_t k = 0; k < 4; k++)
        for (uint64_t events = 1; events < 14; events++) {
            struct ga_run_rig rig;
            char words[128];
            uint64_t updates = 0;

            snprintf(words, sizeof words, "replicas 4 late finish %s", pushing[k]);
            open_words(&rig, words);
            ga_run_rig_updates(&rig, 5);
            ga_test_ok(ga_run_rig_set(&rig, "mode sync"));
            for (uint64_t e = 0; e < events && ga_run_settings(rig.run)->mode != GA_MODE_SYNC; e++)
                ga_run_rig_events(&rig, 1);
            if (ga_run_settings(rig.run)->mode == GA_MODE_SYNC) {
                ga_run_rig_close(&rig);
                continue;
            }
            ga_test_ok(ga_run_rig_set(&rig, strstr(pushing[k], "async") ? "mode async"
                                            : strstr(pushing[k], "ssp") ? "mode ssp"
                                                                        : "mode hogwild"));
            updates = ga_run_counters(rig.run)->updates;
            ga_run_rig_updates(&rig, 40);
            assert_true(ga_run_counters(rig.run)->updates >= updates + 40);
            for (size_t r = 0; r < 4; r++)
                assert_true(ga_run_replica(rig.run, r)->finished > 4);
            ga_run_rig_close(&rig);
        }
}

/* ---- newcomers ---- */

static void test_newcomers_pull_and_start_empty(void **state)
{
    const char *const modes[] = {"mode async", "mode ssp bound 0", "mode buffered bound 0",
                                 "mode local period 2"};

    (void)state;
    for (size_t k = 0; k < 4; k++) {
        struct ga_run_rig rig;
        const struct ga_replica_value *v = NULL;
        char words[128];

        snprintf(words, sizeof words, "replicas 2 momentum 0.9 jitter exponential %s", modes[k]);
        open_words(&rig, words);
        ga_run_rig_updates(&rig, 30);
        ga_test_ok(ga_run_rig_set(&rig, "replicas 4"));
        while (ga_run_replicas(rig.run) < 4)
            ga_run_rig_events(&rig, 1);
        while (ga_run_replica(rig.run, 3)->state != GA_REPLICA_BUSY)
            ga_run_rig_events(&rig, 1);
        v = ga_run_replica(rig.run, 3);
        assert_int_equal(v->items, 1);
        assert_int_equal(v->read->number, 30);
        if (v->own) {
            assert_int_equal(v->own->scalars.t, 0);
            assert_int_equal(ga_run_replica(rig.run, 0)->own->scalars.t, 60);
        }
        ga_run_rig_updates(&rig, 40);
        assert_true(ga_run_replica(rig.run, 3)->finished >= 9);
        ga_run_rig_close(&rig);
    }
}

/* Old replicas do not wait until a new one has done as many items as they. */
static void test_newcomers_of_ssp_are_not_behind(void **state)
{
    struct ga_run_rig rig;

    (void)state;
    open_words(&rig, "replicas 2 mode ssp bound 1");
    ga_run_rig_updates(&rig, 200);
    ga_test_ok(ga_run_rig_set(&rig, "replicas 3"));
    ga_run_rig_updates(&rig, 30);
    assert_true(ga_run_replica(rig.run, 0)->finished >= 108);
    assert_true(ga_run_replica(rig.run, 2)->finished >= 8);
    ga_run_rig_close(&rig);
}

/* Counts of another mode do not: ssp begins with all in step. */
static void test_ssp_begins_in_step(void **state)
{
    struct ga_run_rig rig;

    (void)state;
    open_words(&rig, "replicas 2 mode async base 10ms per-example 0");
    ga_test_ok(ga_run_slow(rig.run, 1, 20));
    ga_run_rig_updates(&rig, 200);
    ga_test_ok(ga_run_slow(rig.run, 1, 1));
    ga_test_ok(ga_run_rig_set(&rig, "mode ssp bound 0"));
    ga_run_rig_updates(&rig, 40);
    assert_true(ga_run_replica(rig.run, 0)->finished > 200);
    ga_run_rig_close(&rig);
}

/* Another optimizer starts with empty state, the replicas' own as well. */
static void test_a_new_optimizer_forgets_private_state(void **state)
{
    struct ga_run_rig rig;

    (void)state;
    open_words(&rig, "replicas 2 mode local period 3 optimizer adam");
    ga_run_rig_updates(&rig, 4);
    assert_int_equal(ga_run_replica(rig.run, 0)->own->scalars.t, 12);
    ga_test_ok(ga_run_rig_set(&rig, "optimizer adamw"));
    ga_run_rig_updates(&rig, 1);
    assert_int_equal(ga_run_replica(rig.run, 0)->own->scalars.t, 3);
    ga_run_rig_close(&rig);
}

/* ---- random scripts ---- */

static const char *const changes[] = {
    "mode sync backup 0",
    "mode delay lag 2",
    "mode async",
    "mode ssp bound 1",
    "mode buffered bound none",
    "mode buffered bound 0 buffer P",
    "mode local period 2",
    "optimizer sgd nesterov off momentum 0 mode hogwild",
    "replicas 1 backup 0",
    "replicas 2 backup 0",
    "replicas 4",
    "replicas 7",
    "accum 1",
    "accum 3",
    "batch 2",
    "batch 5",
    "global 40",
    "sharding stream",
    "sharding contiguous",
    "sharding strided",
    "scale full",
    "scale share",
    "scale rescaled",
    "scale sqrt",
    "late cancel",
    "late finish",
    "failure wait",
    "failure continue",
    "lr 0.002",
    "clip 2",
    "optimizer adam",
    "optimizer sgd momentum 0.5",
    "buffer 3",
    "buffer P",
    "bound none",
    "bound 2",
    "bound 0",
    "lag 4",
    "period 4",
    "writes atomic",
    "outer sgd(0.7,0.3)",
    "outer none",
    "backup 1",
    "backup 0",
    "latency 1ms server-time 300us",
    "latency 0 server-time 0",
    "jitter exponential",
    "jitter constant",
    "tail wrap",
    "tail short",
};

/* Some combinations are refused, and then nothing has changed. */
static void change(struct ga_run_rig *rig, struct ga_test_random *draws)
{
    const char *words = changes[ga_test_draw(draws, sizeof changes / sizeof *changes)];
    struct ga_settings draft = *ga_run_pending(rig->run);

    ga_test_ok(ga_test_read_settings(&draft, words));
    ga_run_change(rig->run, &draft);
}

static void restore_all(struct ga_run_rig *rig)
{
    for (size_t r = 0; r < ga_run_replicas(rig->run); r++)
        if (ga_run_replica(rig->run, r)->dead)
            ga_test_ok(ga_run_revive(rig->run, r));
}

/* One event; a run that waits for the killed says so and goes on when they are restored. */
static void event(struct ga_run_rig *rig)
{
    int code = ga_run_event(rig->run);

    if (code == GA_OK)
        return;
    if (code != GA_ESTATE || !strstr(ga_error_text(), "killed"))
        fail_msg("%s", ga_error_text());
    restore_all(rig);
    ga_run_rig_events(rig, 1);
}

/* Step `k` of script `seed`, whatever was before. */
static void step(struct ga_run_rig *rig, uint64_t seed, uint64_t k)
{
    struct ga_test_random draws = {.seed = seed, .next = k << 8};
    uint32_t choice = ga_test_draw(&draws, 100);
    size_t r = ga_test_draw(&draws, (uint32_t)ga_run_replicas(rig->run));

    if (choice < 6)
        change(rig, &draws);
    else if (choice == 6)
        ga_run_flush(rig->run);
    else if (choice == 7)
        ga_run_discard(rig->run);
    else if (choice == 8)
        ga_run_kill(rig->run, r);
    else if (choice == 9)
        ga_run_revive(rig->run, r);
    else if (choice == 10)
        ga_test_ok(ga_run_slow(rig->run, r, 0.5 + ga_test_draw(&draws, 5)));
    else
        event(rig);
}

static const struct ga_test_start script_start = {
    .data = "parabola n=45",
    .settings = "replicas 3 accum 2 batch 3 lr 0.003 nonfinite skip jitter lognormal(0.7)"};

#define SCRIPT 500

static void test_the_books_balance_through_all_changes(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < ga_test_count(400); seed++) {
        struct ga_test_books books;
        struct ga_run_rig rig;

        ga_run_rig_open(&rig, &script_start);
        ga_test_books_open(&books, rig.run);
        for (uint64_t k = 0; k < SCRIPT; k++) {
            step(&rig, seed, k);
            ga_test_books_turn(&books);
            ga_test_books_check(&books);
        }
        ga_run_rig_close(&rig);
    }
}

struct place {
    uint64_t step;
    struct ga_state state;
};

static void check_same_end(const struct ga_run_rig *rig, uint64_t hash,
                           const struct ga_counters *counters, int64_t now_ns, uint64_t seed,
                           uint64_t from)
{
    if (ga_run_hash(rig->run) != hash || ga_run_now(rig->run) != now_ns ||
        memcmp(ga_run_counters(rig->run), counters, sizeof *counters) != 0)
        fail_msg("script %d from step %d ends elsewhere", (int)seed, (int)from);
}

/* Captured at any step and restored elsewhere, a script goes on to the same end. */
static void test_scripts_go_on_from_any_state(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < ga_test_count(150); seed++) {
        struct place place[10];
        struct ga_test_random draws = {.seed = seed + 99};
        struct ga_run_rig rig, other;
        struct ga_counters counters;
        uint64_t hash = 0;
        int64_t now_ns = 0;
        size_t places = 0;

        ga_run_rig_open(&rig, &script_start);
        ga_run_rig_open(&other, &script_start);
        for (uint64_t k = 0; k < SCRIPT; k++) {
            if (places < 10 && ga_test_draw(&draws, SCRIPT / 10) == 0) {
                place[places].step = k;
                ga_test_ok(ga_run_capture(rig.run, &place[places++].state));
            }
            step(&rig, seed, k);
        }
        hash = ga_run_hash(rig.run);
        counters = *ga_run_counters(rig.run);
        now_ns = ga_run_now(rig.run);
        while (places-- > 0) {
            struct ga_run_rig *in = places % 2 ? &rig : &other;

            ga_test_ok(ga_run_restore(in->run, &place[places].state));
            ga_state_fini(&place[places].state);
            for (uint64_t k = place[places].step; k < SCRIPT; k++)
                step(in, seed, k);
            check_same_end(in, hash, &counters, now_ns, seed, place[places].step);
        }
        ga_run_rig_close(&rig);
        ga_run_rig_close(&other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cancel_drops_what_is_under_way),
        cmocka_unit_test(test_finish_applies_what_is_under_way),
        cmocka_unit_test(test_finish_applies_a_buffer_that_is_not_full),
        cmocka_unit_test(test_a_change_can_be_taken_back_while_items_end),
        cmocka_unit_test(test_newcomers_pull_and_start_empty),
        cmocka_unit_test(test_newcomers_of_ssp_are_not_behind),
        cmocka_unit_test(test_ssp_begins_in_step),
        cmocka_unit_test(test_a_new_optimizer_forgets_private_state),
        cmocka_unit_test(test_the_books_balance_through_all_changes),
        cmocka_unit_test(test_scripts_go_on_from_any_state),
    };

    return ga_test_main(tests);
}
