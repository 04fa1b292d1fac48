/*
 * The books of random runs in every mode balance at every event: examples, items, time, and law 3,
 * the staleness of pushes plus that of running items, exactly. Users interfere now and then: they
 * flush, discard, slow, kill and restore.
 */
#include "support/support.h"

#include <stdio.h>
#include <string.h>

#include "train/run_internal.h"
#include "train/support/modes.h"

/* A run that waits for the killed says so, and goes on when they are restored. */
static void event_or_restore(struct ga_run_rig *rig)
{
    int code = ga_run_event(rig->run);

    if (code == GA_OK)
        return;
    assert_int_equal(code, GA_ESTATE);
    assert_non_null(strstr(ga_error_text(), "killed"));
    for (size_t r = 0; r < ga_run_replicas(rig->run); r++)
        if (ga_run_replica(rig->run, r)->dead)
            ga_test_ok(ga_run_revive(rig->run, r));
    ga_run_rig_events(rig, 1);
}

static void interfere(struct ga_run_rig *rig, struct ga_test_random *draws)
{
    size_t r = ga_test_draw(draws, (uint32_t)ga_run_replicas(rig->run));

    switch (ga_test_draw(draws, 60)) {
    case 0:
        ga_run_flush(rig->run);
        break;
    case 1:
        ga_run_discard(rig->run);
        break;
    case 2:
        ga_run_kill(rig->run, r);
        break;
    case 3:
        ga_run_revive(rig->run, r);
        break;
    case 4:
        ga_test_ok(ga_run_slow(rig->run, r, 0.5 + ga_test_draw(draws, 4)));
        break;
    default:
        event_or_restore(rig);
    }
}

static void check_run(uint64_t seed, int mode)
{
    struct ga_test_random_start random;
    struct ga_test_random draws = {.seed = seed + 77};
    struct ga_test_books books;
    struct ga_run_rig rig;

    ga_test_random_mode(&random, seed, mode);
    ga_test_open_random(&rig, &random);
    ga_test_books_open(&books, rig.run);
    for (int k = 0; k < 400; k++) {
        interfere(&rig, &draws);
        ga_test_books_check(&books);
    }
    assert_true(books.micros > 0);
    ga_run_rig_close(&rig);
}

static void test_the_books_balance(void **state)
{
    (void)state;
    for (int mode = 0; mode < GA_TEST_MODES; mode++)
        for (uint64_t seed = 0; seed < ga_test_count(150); seed++)
            check_run(seed, mode);
}

/* Nobody interferes and nobody waits: then it is (P-1) an update, whatever the times. */
static void check_staleness(uint64_t seed, int mode)
{
    struct ga_test_random_start random;
    struct ga_run_rig rig;
    uint64_t pushes = 0;

    ga_test_random_mode(&random, seed, mode);
    strcat(random.settings, "sharding stream bound none ");
    ga_test_open_random(&rig, &random);
    while (pushes < 300) {
        const struct ga_counters *counters = ga_run_counters(rig.run);
        uint64_t sum = 0;

        ga_run_rig_events(&rig, 1);
        pushes = counters->pushes;
        for (size_t r = 0; r < ga_run_replicas(rig.run); r++)
            sum += counters->updates - ga_run_replica(rig.run, r)->read->number;
        assert_int_equal(counters->staleness + sum,
                         (uint64_t)(random.replicas - 1) * counters->updates);
    }
    ga_run_rig_close(&rig);
}

static void test_the_sum_of_staleness(void **state)
{
    const int modes[] = {GA_MODE_ASYNC, GA_MODE_SSP, GA_MODE_BUFFERED, GA_MODE_HOGWILD};

    (void)state;
    for (size_t k = 0; k < 4; k++)
        for (uint64_t seed = 500; seed < 500 + ga_test_count(100); seed++)
            check_staleness(seed, modes[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_books_balance),
        cmocka_unit_test(test_the_sum_of_staleness),
    };

    return ga_test_main(tests);
}
