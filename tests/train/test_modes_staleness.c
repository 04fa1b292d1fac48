/*
 * Law 3 with equal times, and law 5: the bounds of ssp at any time of random runs.
 */
#include "support/support.h"

#include <stdio.h>

#include "train/run_internal.h"
#include "train/support/modes.h"

#define QUADRATIC "quadratic lambda=1 n=64"

static void open_mode(struct ga_run_rig *rig, int replicas, const char *more)
{
    char words[256];

    snprintf(words, sizeof words,
             "replicas %d accum 1 global 64 base 1ms per-example 0 lr 0.001 %s", replicas, more);
    ga_run_rig_open(rig, &(struct ga_test_start){.data = QUADRATIC, .settings = words});
}

struct pushes {
    uint64_t count, first, last; /* staleness of the first P, and of those behind */
    uint64_t replicas, sum, most;
    bool uneven;
};

static void take_push(void *self, const struct ga_event *event)
{
    struct pushes *pushes = self;
    uint64_t tau = (uint64_t)event->value;

    if (event->kind != GA_EVENT_PUSH)
        return;
    pushes->count++;
    pushes->sum += tau;
    pushes->most = tau > pushes->most ? tau : pushes->most;
    if (pushes->count <= pushes->replicas ? tau != pushes->count - 1 : tau != pushes->replicas - 1)
        pushes->uneven = true;
}

static void test_equal_times_are_p_minus_1_stale(void **state)
{
    (void)state;
    for (int replicas = 1; replicas <= 33; replicas += 4) {
        struct pushes pushes = {.replicas = (uint64_t)replicas};
        struct ga_run_rig rig;

        open_mode(&rig, replicas, "mode async");
        ga_run_watch(rig.run, take_push, NULL, &pushes);
        ga_run_rig_updates(&rig, 40 * (uint64_t)replicas);
        assert_false(pushes.uneven);
        assert_int_equal(pushes.most, replicas - 1);
        ga_run_rig_close(&rig);
    }
}

/* The mean of async is P-1, of buffered (P-1)/k, with any times, but for the items under way. */
static void test_the_mean_tends_to_its_limit(void **state)
{
    const char *const jitter[] = {"constant", "exponential", "lognormal(1)", "straggler(0.1,9)"};
    const uint64_t pushes = 20000;

    (void)state;
    for (int k = 1; k <= 6; k++)
        for (int j = 0; j < 4; j++) {
            char words[128];
            double mean = 0;
            struct ga_run_rig rig;

            snprintf(words, sizeof words, "mode buffered buffer %d jitter %s", k, jitter[j]);
            open_mode(&rig, 6, words);
            while (ga_run_counters(rig.run)->pushes < pushes)
                ga_run_rig_events(&rig, 1);
            mean = (double)ga_run_counters(rig.run)->staleness / (double)pushes;
            assert_close(mean, 5.0 / k, 0.01);
            ga_run_rig_close(&rig);
        }
}

/* Each round all start at one version: 0, 1, ..., P-1 updates late. */
static void test_ssp_0_is_half_as_stale(void **state)
{
    const char *const jitter[] = {"constant", "exponential", "lognormal(1)", "straggler(0.1,9)"};

    (void)state;
    for (int replicas = 1; replicas <= 9; replicas++)
        for (int j = 0; j < 4; j++) {
            char words[128];
            struct ga_run_rig rig;

            snprintf(words, sizeof words, "mode ssp bound 0 jitter %s", jitter[j]);
            open_mode(&rig, replicas, words);
            for (uint64_t round = 1; round <= 100; round++) {
                ga_run_rig_updates(&rig, (uint64_t)replicas);
                assert_int_equal(2 * ga_run_counters(rig.run)->staleness,
                                 round * (uint64_t)(replicas * (replicas - 1)));
            }
            ga_run_rig_close(&rig);
        }
}

/* Nobody has finished more than the slowest's count + s + 1, and nobody runs who is s ahead. */
static void check_counts(const struct ga_run_rig *rig, uint64_t bound)
{
    uint64_t least = UINT64_MAX;

    for (size_t r = 0; r < ga_run_replicas(rig->run); r++)
        if (ga_run_replica(rig->run, r)->finished < least)
            least = ga_run_replica(rig->run, r)->finished;
    for (size_t r = 0; r < ga_run_replicas(rig->run); r++) {
        const struct ga_replica_value *v = ga_run_replica(rig->run, r);

        assert_true(v->finished <= least + bound + 1);
        if (v->finished > least + bound)
            assert_int_equal(v->state, GA_REPLICA_READY);
        else
            assert_int_not_equal(v->state, GA_REPLICA_READY); /* no one waits for nothing */
    }
}

static void test_the_bounds_of_ssp(void **state)
{
    const char *const jitter[] = {"exponential", "lognormal(2)", "straggler(0.05,20)"};

    (void)state;
    for (uint64_t seed = 0; seed < ga_test_count(120); seed++) {
        struct ga_test_random draws = {.seed = seed};
        int replicas = 1 + (int)ga_test_draw(&draws, 9);
        uint64_t bound = ga_test_draw(&draws, 5);
        struct pushes pushes = {.replicas = 1};
        struct ga_run_rig rig;
        char words[128];

        snprintf(words, sizeof words, "mode ssp bound %d seed %d jitter %s latency %dus",
                 (int)bound, (int)seed, jitter[seed % 3], (int)ga_test_draw(&draws, 2) * 300);
        open_mode(&rig, replicas, words);
        ga_test_ok(ga_run_slow(rig.run, (size_t)replicas - 1, 1 + ga_test_draw(&draws, 6)));
        ga_run_watch(rig.run, take_push, NULL, &pushes);
        while (pushes.count < 400) {
            ga_run_rig_events(&rig, 1);
            check_counts(&rig, bound);
        }
        assert_true(pushes.most <= (uint64_t)(replicas - 1) * (2 * bound + 1));
        ga_run_rig_close(&rig);
    }
}

static void set_slow(struct ga_run_rig *rig, double first, double others)
{
    for (size_t r = 0; r < ga_run_replicas(rig->run); r++)
        ga_test_ok(ga_run_slow(rig->run, r, r == 0 ? first : others));
}

/* Replica 0 gets s items ahead and then takes long, while each of the others pushes 2s+1 times. */
static void test_the_bound_on_staleness_is_reached(void **state)
{
    (void)state;
    for (uint64_t bound = 0; bound <= 4; bound++) {
        struct ga_run_rig rig;
        char words[64];

        snprintf(words, sizeof words, "mode ssp bound %d", (int)bound);
        open_mode(&rig, 5, words);
        set_slow(&rig, bound > 0 ? 1 : 1e4, 100);
        while (ga_run_replica(rig.run, 0)->items < (bound > 0 ? bound : 1))
            ga_run_rig_events(&rig, 1);
        set_slow(&rig, 1e4, 1);
        while (ga_run_replica(rig.run, 0)->finished < bound + 1)
            ga_run_rig_events(&rig, 1);
        assert_close(ga_run_replica(rig.run, 0)->staleness, 4.0 * (2 * (double)bound + 1), 0);
        ga_run_rig_close(&rig);
    }
}

/* A replica that is for ever slow sets the pace, however large the bound. */
static void test_a_slow_replica_sets_the_pace(void **state)
{
    (void)state;
    for (int bound = 0; bound <= 8; bound += 4) {
        struct ga_run_rig rig;
        char words[64];

        snprintf(words, sizeof words, "mode ssp bound %d", bound);
        open_mode(&rig, 4, words);
        ga_test_ok(ga_run_slow(rig.run, 2, 10));
        while (ga_run_now(rig.run) < INT64_C(2000000000)) /* 200 slow items */
            ga_run_rig_events(&rig, 1);
        for (size_t r = 0; r < 4; r++) {
            uint64_t finished = ga_run_replica(rig.run, r)->finished;

            assert_true(finished >= 199 && finished <= 200 + (uint64_t)bound + 1);
        }
        ga_run_rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_times_are_p_minus_1_stale),
        cmocka_unit_test(test_the_mean_tends_to_its_limit),
        cmocka_unit_test(test_ssp_0_is_half_as_stale),
        cmocka_unit_test(test_the_bounds_of_ssp),
        cmocka_unit_test(test_the_bound_on_staleness_is_reached),
        cmocka_unit_test(test_a_slow_replica_sets_the_pace),
    };

    return ga_test_main(tests);
}
