/* The clock's heap against a sorted list: (time, replica) order under rescheduling and cancelling.
 */
#include "support/support.h"

#include <stdlib.h>

#include "base/error.h"
#include "settings/settings.h"
#include "train/clock.h"
#include "train/support/start.h"

#define ABSENT INT64_MIN

/* The slow, obvious clock. */
struct model {
    size_t replicas;
    int64_t time[512]; /* ABSENT: no event */
};

static bool model_first(const struct model *model, size_t *replica, int64_t *time_ns)
{
    bool found = false;

    for (size_t r = 0; r < model->replicas; r++) {
        if (model->time[r] == ABSENT || (found && model->time[r] >= *time_ns))
            continue;
        *replica = r;
        *time_ns = model->time[r];
        found = true;
    }
    return found;
}

static void check_first(const struct ga_clock_kind *kind, const struct ga_clock_state *clock,
                        const struct model *model)
{
    size_t replica = 0, want_replica = 0;
    int64_t time_ns = 0, want_ns = 0;
    bool want = model_first(model, &want_replica, &want_ns);

    assert_int_equal(kind->first(clock, &replica, &time_ns), want);
    if (!want)
        return;
    assert_int_equal(replica, want_replica);
    assert_int_equal(time_ns, want_ns);
}

static void churn(size_t replicas, uint64_t seed)
{
    const struct ga_clock_kind *kind = ga_clock_find("virtual");
    struct ga_test_random random = {.seed = seed};
    struct ga_clock_state *clock = NULL;
    struct model model = {.replicas = replicas};

    assert_non_null(kind);
    ga_test_ok(kind->open(&clock, replicas));
    for (size_t r = 0; r < replicas; r++)
        model.time[r] = ABSENT;
    for (int k = 0; k < 600; k++) {
        uint32_t r = ga_test_draw(&random, (uint32_t)replicas);

        if (ga_test_draw(&random, 3) > 0) {
            model.time[r] = (int64_t)ga_test_draw(&random, 40) - 5; /* many ties */
            kind->schedule(clock, r, model.time[r]);
        } else {
            model.time[r] = ABSENT;
            kind->cancel(clock, r);
        }
        check_first(kind, clock, &model);
    }
    /* Emptied in order. */
    for (size_t r = 0; r < replicas; r++) {
        size_t first = 0;
        int64_t time_ns = 0;

        check_first(kind, clock, &model);
        if (!kind->first(clock, &first, &time_ns))
            break;
        kind->cancel(clock, first);
        model.time[first] = ABSENT;
    }
    check_first(kind, clock, &model);
    kind->close(clock);
}

static void test_against_a_sorted_list(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < ga_test_count(40); seed++) {
        churn(1, seed);
        churn(2, seed);
        churn(7, seed);
        churn(64, seed);
        churn(509, seed);
    }
}

static void test_extreme_times(void **state)
{
    struct ga_clock_state *clock = NULL;
    size_t replica = 9;
    int64_t time_ns = 0;

    (void)state;
    ga_test_ok(ga_clock_virtual.open(&clock, 3));
    assert_false(ga_clock_virtual.first(clock, &replica, &time_ns));
    ga_clock_virtual.cancel(clock, 2);
    ga_clock_virtual.schedule(clock, 2, INT64_MAX);
    ga_clock_virtual.schedule(clock, 1, INT64_MAX);
    assert_true(ga_clock_virtual.first(clock, &replica, &time_ns));
    assert_int_equal(replica, 1);
    assert_int_equal(time_ns, INT64_MAX);
    ga_clock_virtual.schedule(clock, 2, 0);
    assert_true(ga_clock_virtual.first(clock, &replica, &time_ns));
    assert_int_equal(replica, 2);
    ga_clock_virtual.close(clock);
    ga_clock_virtual.close(NULL);
}

/* Every word of the settings has its clock, and there is no other. */
static void test_registry(void **state)
{
    (void)state;
    for (int k = 0; k < ga_choice_count("clock"); k++)
        assert_string_equal(ga_clock_find(ga_choice_word("clock", k))->name,
                            ga_choice_word("clock", k));
    assert_null(ga_clock_find("sundial"));
    ga_test_refused(GA_EUNSUPPORTED, GA_EUNSUPPORTED, "expected virtual");
}

static void test_no_memory(void **state)
{
    struct ga_clock_state *clock = NULL;
    int code = GA_ENOMEM;

    (void)state;
    for (int64_t limit = 0; code < 0; limit++) {
        ga_test_allocation_limit(limit);
        code = ga_clock_virtual.open(&clock, 5);
        ga_test_allocation_free();
        assert_true(code == GA_OK || !clock);
    }
    ga_clock_virtual.close(clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_a_sorted_list),
        cmocka_unit_test(test_extreme_times),
        cmocka_unit_test(test_registry),
        cmocka_unit_test(test_no_memory),
    };

    return ga_test_main(tests);
}
