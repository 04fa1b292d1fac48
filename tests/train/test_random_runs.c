/*
 * Random runs over (P, A, b, global, rows, tail, sharding, order, seed, backup, late, jitter, slow,
 * communication): equal to the serial computation where law 1 promises it, reproducible always, and
 * every count and every nanosecond accounted for at every event.
 */
#include "support/support.h"

#include <stdio.h>

#include "train/support/random_start.h"
#include "train/support/run_rig.h"
#include "train/support/serial.h"

static void open_random(struct ga_run_rig *rig, const struct ga_test_random_start *random)
{
    ga_run_rig_open(rig, &random->start);
    for (int32_t r = 0; r < random->replicas; r++)
        ga_test_ok(ga_run_slow(rig->run, (size_t)r, random->slow[r]));
}

static void test_without_backup_it_is_the_serial_run(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < ga_test_count(400); seed++) {
        struct ga_test_random_start random;
        struct ga_run_rig rig;
        struct ga_test_serial serial;

        ga_test_random_start(&random, seed, GA_TEST_NO_BACKUP);
        open_random(&rig, &random);
        ga_test_serial_open(&serial, &random.start);
        for (int k = 0; k < 12; k++) {
            ga_run_rig_updates(&rig, 1);
            ga_test_serial_updates(&serial, 1);
            if (ga_run_hash(rig.run) != ga_test_serial_hash(&serial))
                fail_msg("seed %llu, window %d: %s %s", (unsigned long long)seed, k, random.data,
                         random.settings);
            assert_true(ga_run_last_record(rig.run)->loss == serial.loss);
            assert_true(ga_run_last_record(rig.run)->grad_norm == serial.norm);
            assert_int_equal(ga_run_last_record(rig.run)->window_examples, serial.examples);
        }
        ga_test_serial_close(&serial);
        ga_run_rig_close(&rig);
    }
}

/* What a window takes from the stream, as OPEN says. */
struct account {
    uint64_t taken;
    uint64_t micros, pushes, drops, applies, skips;
    uint64_t dropped_examples;
    int64_t last_ns;
    bool wrong;
};

static void add_event(void *self, const struct ga_event *event)
{
    struct account *account = self;
    uint64_t *const count[GA_EVENT_KINDS] = {
        [GA_EVENT_MICRO] = &account->micros, [GA_EVENT_PUSH] = &account->pushes,
        [GA_EVENT_DROP] = &account->drops,   [GA_EVENT_APPLY] = &account->applies,
        [GA_EVENT_SKIP] = &account->skips,
    };

    if (count[event->kind])
        ++*count[event->kind];
    if (event->kind == GA_EVENT_OPEN)
        account->taken += event->examples;
    if (event->kind == GA_EVENT_DROP)
        account->dropped_examples += event->examples;
    if (event->time_ns < account->last_ns || event->start_ns > event->time_ns)
        account->wrong = true;
    account->last_ns = event->time_ns;
}

static uint64_t examples_in_flight(const struct ga_run *run)
{
    uint64_t sum = 0;

    for (size_t r = 0; r < ga_run_replicas(run); r++) {
        const struct ga_replica_value *v = ga_run_replica(run, r);

        if (v->state != GA_REPLICA_READY)
            sum += v->examples;
        if (v->state == GA_REPLICA_READY || v->state == GA_REPLICA_LATE)
            sum += v->part;
    }
    return sum;
}

static void check_account(struct ga_run_rig *rig, const struct account *account)
{
    const struct ga_counters *counters = ga_run_counters(rig->run);
    uint64_t items = 0, flight = (uint64_t)ga_run_metric(rig->run, GA_METRIC_IN_FLIGHT, -1);
    bool closing = ga_run_phase(rig->run) == GA_PHASE_CLEAR && !ga_run_window(rig->run)->skipped;

    for (size_t r = 0; r < ga_run_replicas(rig->run); r++)
        items += ga_run_replica(rig->run, r)->items;
    assert_false(account->wrong);
    assert_int_equal(ga_run_rig_spent(rig),
                     (int64_t)ga_run_replicas(rig->run) * ga_run_now(rig->run));
    assert_int_equal(items, counters->items_applied + counters->items_dropped + flight);
    assert_int_equal(account->micros, counters->micros);
    assert_int_equal(account->applies, counters->updates);
    if (!ga_run_at_boundary(rig->run) || closing)
        return;
    assert_int_equal(account->taken, counters->examples + counters->examples_dropped +
                                         counters->examples_unused + examples_in_flight(rig->run));
}

static void check_window(struct ga_run_rig *rig)
{
    const struct ga_window_state *window = ga_run_window(rig->run);
    const struct ga_settings *set = ga_run_settings(rig->run);

    assert_true(window->arrived <= window->expected);
    assert_true(window->expected <= (uint32_t)(set->replicas - set->backup));
    for (size_t r = 0; r < ga_run_replicas(rig->run); r++) {
        const struct ga_replica_value *v = ga_run_replica(rig->run, r);

        assert_true(v->micro <= v->micros || v->state == GA_REPLICA_READY);
        assert_true(v->done_examples <= v->examples);
        if (v->state == GA_REPLICA_LATE)
            assert_int_equal(set->late, GA_LATE_FINISH);
    }
}

/* Flush and discard now and then; every event leaves the books balanced. */
static void test_counts_and_time_add_up(void **state)
{
    (void)state;
    for (uint64_t seed = 1000; seed < 1000 + ga_test_count(400); seed++) {
        struct ga_test_random_start random;
        struct ga_test_random draws = {.seed = seed + 77};
        struct account account = {.wrong = false};
        struct ga_run_rig rig;

        ga_test_random_start(&random, seed, GA_TEST_ANY_BACKUP);
        open_random(&rig, &random);
        ga_run_watch(rig.run, add_event, NULL, &account);
        for (int k = 0; k < 400; k++) {
            uint32_t choice = ga_test_draw(&draws, 60);

            if (choice == 0)
                ga_run_flush(rig.run);
            else if (choice == 1)
                ga_run_discard(rig.run);
            else
                ga_run_rig_events(&rig, 1);
            check_account(&rig, &account);
            check_window(&rig);
        }
        ga_run_rig_close(&rig);
    }
}

/* The same run twice, and with another accumulation of the same shares: the same drops and bits. */
static void test_backup_is_reproducible_and_blind_to_accumulation(void **state)
{
    (void)state;
    for (uint64_t seed = 3000; seed < 3000 + ga_test_count(300); seed++) {
        struct ga_test_random_start random;
        struct ga_run_rig rig[3];

        ga_test_random_start(&random, seed, GA_TEST_ANY_BACKUP);
        for (int k = 0; k < 3; k++) {
            char words[64];
            const struct ga_settings *set = NULL;

            open_random(&rig[k], &random);
            set = ga_run_settings(rig[k].run);
            snprintf(words, sizeof words, "global %d accum %d",
                     set->global > 0 ? set->global : set->replicas * set->accum * set->batch,
                     set->accum + 3);
            if (k == 2)
                ga_test_ok(ga_run_rig_set(&rig[k], words));
            ga_run_rig_updates(&rig[k], 25);
        }
        assert_int_equal(ga_run_hash(rig[0].run), ga_run_hash(rig[1].run));
        assert_int_equal(ga_run_counters(rig[0].run)->events, ga_run_counters(rig[1].run)->events);
        assert_int_equal(ga_run_hash(rig[0].run), ga_run_hash(rig[2].run));
        assert_int_equal(ga_run_now(rig[0].run), ga_run_now(rig[2].run));
        assert_int_equal(ga_run_counters(rig[0].run)->items_dropped,
                         ga_run_counters(rig[2].run)->items_dropped);
        for (int k = 0; k < 3; k++)
            ga_run_rig_close(&rig[k]);
    }
}

/* Worker threads, with items that are worth a hand-over. */
static void test_threads_are_irrelevant(void **state)
{
    (void)state;
    for (uint64_t seed = 5000; seed < 5000 + ga_test_count(20); seed++) {
        struct ga_test_random_start random;
        char words[600];
        uint64_t hash[3];

        ga_test_random_start(&random, seed, GA_TEST_ANY_BACKUP);
        snprintf(words, sizeof words,
                 "%s model 1-24-24-1 accum 2 global %d tail short sharding stream", random.settings,
                 random.replicas * 70);
        for (int k = 0; k < 3; k++) {
            struct ga_run_rig rig;

            random.start = (struct ga_test_start){
                .data = "parabola n=1000", .settings = words, .threads = k * 2};
            open_random(&rig, &random);
            ga_run_rig_updates(&rig, 6);
            hash[k] = ga_run_hash(rig.run);
            assert_int_equal(hash[k], hash[0]);
            ga_run_rig_close(&rig);
        }
    }
}

/* The longest times that can be asked for do not overflow. */
static void test_extreme_times(void **state)
{
    const char *const extremes[] = {
        "replicas 3 base 1000s per-example 1000s jitter straggler(0.5,1000000)",
        "replicas 3 base 1000s latency 1000s bandwidth 1B/s jitter lognormal(5)",
        "replicas 3 base 0 per-example 0 backup 1 late finish",
        "replicas 3 base 1ns per-example 0 jitter lognormal(5) backup 2 late finish",
    };

    (void)state;
    for (size_t k = 0; k < sizeof extremes / sizeof *extremes; k++) {
        struct account account = {.wrong = false};
        struct ga_run_rig rig;

        ga_run_rig_open(&rig, &(struct ga_test_start){.settings = extremes[k]});
        ga_run_watch(rig.run, add_event, NULL, &account);
        for (size_t r = 0; r < 3; r++)
            ga_test_ok(ga_run_slow(rig.run, r, r == 0 ? 1e6 : r == 1 ? 1e-6 : 1));
        ga_run_rig_updates(&rig, 200);
        assert_false(account.wrong);
        assert_int_equal(ga_run_counters(rig.run)->updates, 200);
        ga_run_rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_backup_it_is_the_serial_run),
        cmocka_unit_test(test_counts_and_time_add_up),
        cmocka_unit_test(test_backup_is_reproducible_and_blind_to_accumulation),
        cmocka_unit_test(test_threads_are_irrelevant),
        cmocka_unit_test(test_extreme_times),
    };

    return ga_test_main(tests);
}
