/*
 * Killed and restored replicas in each mode, in virtual time: nothing hangs, the culprit is named,
 * the rest goes on where it shall, and who comes back begins anew.
 */
#include "support/support.h"

#include <stdio.h>
#include <string.h>

#include "train/run_internal.h"
#include "train/support/modes.h"

static void open_words(struct ga_run_rig *rig, const char *words)
{
    ga_run_rig_open(rig, &(struct ga_test_start){.settings = words});
}

/* Events until one fails: its code. Ends the test when `most` go well. */
static int run_until_failure(struct ga_run_rig *rig, int most)
{
    int code = GA_OK;

    for (int k = 0; code == GA_OK && k < most; k++)
        code = ga_run_event(rig->run);
    assert_true(code < 0);
    return code;
}

static const char *const waiting[] = {
    "replicas 4 failure wait",
    "replicas 4 failure wait sharding strided",
    "replicas 4 failure wait mode delay lag 2",
    "replicas 4 failure wait mode local period 3",
    "replicas 4 failure wait mode buffered bound 0",
};

/* A window waits for the killed, says who it is, and closes with its part when it is back. */
static void test_wait_names_the_culprit(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof waiting / sizeof *waiting; k++)
        for (uint64_t events = 0; events < 60; events += 7) {
            struct ga_run_rig rig;
            uint64_t updates = 0;

            open_words(&rig, waiting[k]);
            ga_run_rig_events(&rig, events);
            ga_test_ok(ga_run_kill(rig.run, 2));
            ga_test_refused(run_until_failure(&rig, 1000), GA_ESTATE,
                            "waits for replica 2, which was killed");
            updates = ga_run_counters(rig.run)->updates;
            ga_test_refused(ga_run_event(rig.run), GA_ESTATE, "waits for replica 2");
            ga_test_ok(ga_run_revive(rig.run, 2));
            ga_run_rig_updates(&rig, 5);
            assert_int_equal(ga_run_counters(rig.run)->updates, updates + 5);
            ga_run_rig_close(&rig);
        }
}

/* A killed and restored replica does its part again from the beginning: no bit is lost. */
static void test_wait_loses_nothing(void **state)
{
    const char *const same[] = {"replicas 4 failure wait momentum 0.9",
                                "replicas 4 failure wait sharding contiguous optimizer adam",
                                "replicas 4 failure wait mode delay lag 2"};

    (void)state;
    for (size_t k = 0; k < 3; k++)
        for (uint64_t events = 1; events < 100; events += 3) {
            struct ga_run_rig whole, hurt;

            open_words(&whole, same[k]);
            open_words(&hurt, same[k]);
            ga_run_rig_updates(&whole, 8);
            ga_run_rig_events(&hurt, events);
            ga_test_ok(ga_run_kill(hurt.run, 1));
            ga_test_ok(ga_run_kill(hurt.run, 3));
            run_until_failure(&hurt, 1000);
            ga_test_ok(ga_run_revive(hurt.run, 3));
            ga_test_refused(run_until_failure(&hurt, 1000), GA_ESTATE, "replica 1");
            ga_test_ok(ga_run_revive(hurt.run, 1));
            while (ga_run_counters(hurt.run)->updates < 8)
                ga_run_rig_events(&hurt, 1);
            assert_int_equal(ga_run_hash(hurt.run), ga_run_hash(whole.run));
            assert_int_equal(ga_run_counters(hurt.run)->examples_dropped, 0);
            ga_run_rig_close(&whole);
            ga_run_rig_close(&hurt);
        }
}

/* With a common stream the living take over whole windows, so the bits are those of sync. */
static void test_continue_is_sync_with_a_common_stream(void **state)
{
    const char *const same[] = {"", "order shuffle global 33 momentum 0.9", "mode delay lag 3",
                                "mode buffered bound 0",
                                "mode buffered bound 0 jitter exponential"};

    (void)state;
    for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
        struct ga_run_rig whole, hurt;
        char words[160];

        snprintf(words, sizeof words, "replicas 4 failure continue %s", same[k]);
        open_words(&whole, words);
        open_words(&hurt, words);
        for (int u = 0; u < 60; u++) {
            if (u == 10 || u == 20)
                ga_test_ok(ga_run_kill(hurt.run, (size_t)u / 10));
            if (u == 30)
                ga_test_ok(ga_run_kill(hurt.run, 0));
            if (u == 40)
                ga_test_ok(ga_run_revive(hurt.run, 2));
            ga_run_rig_updates(&whole, 1);
            ga_run_rig_updates(&hurt, 1);
            if (k < 3 || u < 10)
                assert_int_equal(ga_run_hash(hurt.run), ga_run_hash(whole.run));
        }
        assert_int_equal(ga_run_counters(hurt.run)->updates, 60);
        ga_run_rig_close(&whole);
        ga_run_rig_close(&hurt);
    }
}

/* The ways out that the message names, one after the other. */
static void test_a_missing_replica_can_be_done_without(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof waiting / sizeof *waiting; k++)
        for (int flush = 0; flush < 2; flush++) {
            struct ga_run_rig rig;
            uint64_t closed = 0;

            open_words(&rig, waiting[k]);
            ga_run_rig_updates(&rig, 3);
            ga_test_ok(ga_run_kill(rig.run, 2));
            ga_test_refused(run_until_failure(&rig, 1000), GA_ESTATE,
                            "with failure continue the next one");
            ga_test_ok(ga_run_rig_set(&rig, "failure continue"));
            closed = ga_run_rig_closed(&rig);
            ga_test_ok(flush ? ga_run_flush(rig.run) : ga_run_discard(rig.run));
            ga_run_rig_updates(&rig, 10);
            assert_true(ga_run_rig_closed(&rig) >= closed + 10);
            ga_run_rig_close(&rig);
        }
}

static const char *const going_on[] = {
    "failure continue",
    "failure continue sharding strided",
    "failure continue backup 1 late finish jitter exponential",
    "failure continue mode delay",
    "failure continue mode local period 3",
    "failure continue mode local period 3 sharding strided outer sgd(0.7,0.5) momentum 0.5",
    "failure continue mode buffered bound 0 jitter exponential",
    "failure continue mode buffered bound 0 buffer 3",
    "mode buffered jitter exponential",
    "mode async jitter exponential",
    "mode ssp bound 0 jitter exponential",
    "mode ssp bound 2 sharding strided jitter exponential",
    "mode hogwild writes lossy jitter exponential",
    "mode hogwild writes atomic",
};

/* Killed one after the other at any event: the rest goes on until nobody is left. */
static void test_the_living_go_on(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof going_on / sizeof *going_on; k++)
        for (uint64_t events = 0; events < 150; events += 11) {
            struct ga_run_rig rig;
            struct ga_test_books books;
            char words[160];

            snprintf(words, sizeof words, "replicas 4 %s", going_on[k]);
            open_words(&rig, words);
            ga_test_books_open(&books, rig.run);
            ga_run_rig_events(&rig, events);
            for (size_t r = 0; r < 3; r++) {
                uint64_t closed = ga_run_rig_closed(&rig);

                ga_test_ok(ga_run_kill(rig.run, (r * 3 + events) % 4));
                ga_test_books_check(&books);
                ga_run_rig_updates(&rig, 6);
                assert_true(ga_run_rig_closed(&rig) >= closed + 6);
                ga_test_books_check(&books);
            }
            ga_test_ok(ga_run_kill(rig.run, (9 + events) % 4));
            ga_test_refused(run_until_failure(&rig, 30), GA_ESTATE, "all replicas are killed");
            ga_test_ok(ga_run_revive(rig.run, 1));
            ga_run_rig_updates(&rig, 6);
            ga_test_books_check(&books);
            ga_run_rig_close(&rig);
        }
}

/* A dead replica's count holds nobody back, and who comes back takes the smallest. */
static void test_ssp_forgets_the_dead(void **state)
{
    struct ga_run_rig rig;

    (void)state;
    open_words(&rig, "replicas 3 mode ssp bound 1 jitter exponential");
    ga_run_rig_updates(&rig, 50);
    ga_test_ok(ga_run_kill(rig.run, 0));
    ga_run_rig_updates(&rig, 200);
    assert_true(ga_run_replica(rig.run, 1)->finished > 90);
    ga_test_ok(ga_run_revive(rig.run, 0));
    assert_true(ga_run_replica(rig.run, 0)->clock + 2 >= ga_run_replica(rig.run, 1)->clock);
    ga_run_rig_updates(&rig, 30);
    assert_true(ga_run_replica(rig.run, 0)->finished > 20);
    assert_true(ga_run_replica(rig.run, 1)->finished > 95);
    ga_run_rig_close(&rig);
}

/* The killed one's item is dropped at once, and blocked replicas start at that very time. */
static void test_a_kill_frees_the_blocked_at_once(void **state)
{
    struct ga_run_rig rig;
    int64_t now = 0;

    (void)state;
    open_words(&rig, "replicas 3 mode ssp bound 0 base 10ms per-example 0");
    ga_test_ok(ga_run_slow(rig.run, 2, 3));
    ga_test_ok(ga_run_slow(rig.run, 1, 0.5));
    ga_run_rig_updates(&rig, 1); /* replica 1 waits */
    assert_int_equal(ga_run_replica(rig.run, 1)->state, GA_REPLICA_READY);
    ga_run_rig_updates(&rig, 1); /* so does 0: at 10 ms only 2 works */
    now = ga_run_now(rig.run);
    ga_test_ok(ga_run_kill(rig.run, 2));
    assert_int_equal(ga_run_counters(rig.run)->items_dropped, 1);
    ga_run_rig_updates(&rig, 1);
    assert_int_equal(ga_run_replica(rig.run, 0)->state == GA_REPLICA_BUSY ||
                         ga_run_replica(rig.run, 1)->finished == 2,
                     true);
    assert_int_equal(ga_run_now(rig.run), now + 5000000);
    ga_run_rig_close(&rig);
}

static bool all_zero(const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i] != 0)
            return false;
    return true;
}

/* Fresh weights, and in local mode no optimizer state of its own. */
static void test_the_restored_pull_fresh_weights(void **state)
{
    struct ga_run_rig rig;
    const struct ga_replica_value *v = NULL;

    (void)state;
    open_words(&rig, "replicas 3 mode async jitter exponential");
    ga_run_rig_updates(&rig, 20);
    ga_test_ok(ga_run_kill(rig.run, 1));
    ga_run_rig_updates(&rig, 20);
    ga_test_ok(ga_run_revive(rig.run, 1));
    v = ga_run_replica(rig.run, 1);
    assert_int_equal(v->state, GA_REPLICA_BUSY);
    assert_int_equal(v->read->number, 40);
    assert_int_equal(v->start_ns, ga_run_now(rig.run));
    ga_run_rig_close(&rig);
}

static void check_fresh_local(bool at_boundary)
{
    struct ga_run_rig rig;
    const struct ga_replica_value *v = NULL;
    const struct ga_version *own = NULL;

    open_words(&rig, "replicas 3 mode local period 2 optimizer adam");
    ga_run_rig_updates(&rig, 5);
    v = ga_run_replica(rig.run, 0);
    if (!at_boundary) /* replica 0 has pushed, the round is not over */
        while (v->state != GA_REPLICA_DONE)
            ga_run_rig_events(&rig, 1);
    ga_test_ok(ga_run_kill(rig.run, 0));
    ga_test_ok(ga_run_revive(rig.run, 0));
    ga_run_rig_updates(&rig, 1);
    while (v->state != GA_REPLICA_BUSY)
        ga_run_rig_events(&rig, 1);
    own = v->own;
    assert_non_null(own);
    if (at_boundary) { /* one round of two private steps since */
        assert_int_equal(own->scalars.t, 2);
    } else {
        assert_int_equal(own->scalars.t, 0);
        assert_true(all_zero(own->state, own->state_blocks * own->parameters));
    }
    assert_true(ga_run_replica(rig.run, 1)->own->scalars.t >= 12);
    ga_run_rig_close(&rig);
}

static void test_the_restored_have_no_state_of_their_own(void **state)
{
    (void)state;
    check_fresh_local(true);
    check_fresh_local(false);
}

/* Own functions lambda = 1, c = 0, 4, 8: the average after one round of one step says who took
 * part. */
static void test_local_averages_over_the_living(void **state)
{
    struct ga_run_rig rig;
    double w = 1;

    (void)state;
    ga_run_rig_open(&rig, &(struct ga_test_start){
                              .csv = "lambda_1,c_1\n1,0\n1,4\n1,8\n",
                              .data = "kind=quadratic",
                              .settings = "replicas 3 accum 1 global 3 sharding contiguous lr 0.5 "
                                          "mode local period 1 failure continue"});
    ga_run_rig_updates(&rig, 1);
    w = w / 2 + 2; /* of 0, 4 and 8 */
    assert_close((double)ga_run_rig_weight(&rig, 0), w, 1e-6);
    ga_test_ok(ga_run_kill(rig.run, 0));
    ga_run_rig_updates(&rig, 1);
    w = w / 2 + 3; /* of 4 and 8 */
    assert_close((double)ga_run_rig_weight(&rig, 0), w, 1e-6);
    ga_test_ok(ga_run_kill(rig.run, 1));
    ga_run_rig_updates(&rig, 1);
    w = w / 2 + 4;
    assert_close((double)ga_run_rig_weight(&rig, 0), w, 1e-6);
    assert_int_equal(ga_run_counters(rig.run)->examples_unused, 3);
    ga_run_rig_close(&rig);
}

/* Of two on time and one late, the one that is left and the late one make the window. */
static void test_a_late_replica_with_a_part_is_waited_for(void **state)
{
    struct ga_run_rig rig;

    (void)state;
    open_words(&rig, "replicas 3 accum 1 global 3 backup 1 late finish failure continue base 10ms "
                     "per-example 0");
    ga_test_ok(ga_run_slow(rig.run, 2, 1.5));
    ga_run_rig_updates(&rig, 1);
    ga_run_rig_until(&rig, GA_EVENT_OPEN);
    assert_int_equal(ga_run_replica(rig.run, 2)->state, GA_REPLICA_LATE);
    ga_test_ok(ga_run_kill(rig.run, 0));
    ga_run_rig_updates(&rig, 1);
    assert_int_equal(ga_run_last_record(rig.run)->window_examples, 2);
    assert_int_equal(ga_run_now(rig.run), 30000000); /* its next item, from 15 to 30 ms */
    ga_run_rig_close(&rig);
}

static void test_what_cannot_be_killed_or_restored(void **state)
{
    struct ga_run_rig rig;

    (void)state;
    open_words(&rig, "replicas 2");
    ga_test_refused(ga_run_kill(rig.run, 2), GA_ERANGE, "expected 0..1");
    ga_test_refused(ga_run_revive(rig.run, 1), GA_ESTATE, "alive");
    ga_test_ok(ga_run_kill(rig.run, 1));
    ga_test_refused(ga_run_kill(rig.run, 1), GA_ESTATE, "killed already");
    ga_test_ok(ga_run_revive(rig.run, 1));
    ga_run_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wait_names_the_culprit),
        cmocka_unit_test(test_wait_loses_nothing),
        cmocka_unit_test(test_continue_is_sync_with_a_common_stream),
        cmocka_unit_test(test_a_missing_replica_can_be_done_without),
        cmocka_unit_test(test_the_living_go_on),
        cmocka_unit_test(test_ssp_forgets_the_dead),
        cmocka_unit_test(test_a_kill_frees_the_blocked_at_once),
        cmocka_unit_test(test_the_restored_pull_fresh_weights),
        cmocka_unit_test(test_the_restored_have_no_state_of_their_own),
        cmocka_unit_test(test_local_averages_over_the_living),
        cmocka_unit_test(test_a_late_replica_with_a_part_is_waited_for),
        cmocka_unit_test(test_what_cannot_be_killed_or_restored),
    };

    return ga_test_main(tests);
}
