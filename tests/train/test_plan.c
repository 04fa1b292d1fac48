/* The window plan and the policy of sync as plain functions; names of modes, phases, events,
 * metrics.
 */
#include "support/support.h"

#include <string.h>

#include "train/event.h"
#include "train/metrics.h"
#include "train/plan.h"
#include "train/policies.h"
#include "train/support/start.h"

static struct ga_settings with(const char *words)
{
    struct ga_settings set;

    ga_settings_default(&set);
    ga_test_ok(ga_test_read_settings(&set, words));
    return set;
}

static void test_sizes(void **state)
{
    struct ga_settings set = with("replicas 3 accum 4 batch 5");

    (void)state;
    assert_int_equal(ga_plan_window(&set), 60);
    assert_int_equal(ga_plan_share(&set), 20);
    assert_int_equal(ga_plan_micro(&set), 5);
    set = with("replicas 3 accum 4 global 50"); /* 17, 17, 16 in 5, 4, 4, 4 */
    assert_int_equal(ga_plan_window(&set), 50);
    assert_int_equal(ga_plan_share(&set), 17);
    assert_int_equal(ga_plan_micro(&set), 5);
    set = with("replicas 7 accum 262144 global 3");
    assert_int_equal(ga_plan_share(&set), 1);
    assert_int_equal(ga_plan_micro(&set), 1);
    assert_int_equal(ga_plan_micros(&set, 0), 0);
    assert_int_equal(ga_plan_micros(&set, 9), 9);
    set = with("accum 4");
    assert_int_equal(ga_plan_micros(&set, 3), 3);
    assert_int_equal(ga_plan_micros(&set, 17), 4);
}

/* Parts cover the share in order, none is empty, the first ones are one longer. */
static void test_parts(void **state)
{
    struct ga_settings set = with("accum 1");

    (void)state;
    for (size_t examples = 1; examples <= 40; examples++)
        for (set.accum = 1; set.accum <= 45; set.accum++) {
            uint32_t micros = ga_plan_micros(&set, examples);
            size_t next = 0, last = SIZE_MAX;

            for (uint32_t m = 0; m < micros; m++) {
                size_t first = 0, count = 0;

                ga_plan_part(examples, micros, m, &first, &count);
                assert_int_equal(first, next);
                assert_true(count > 0 && count <= last);
                assert_true(count == examples / micros || count == examples / micros + 1);
                next = first + count;
                last = count;
            }
            assert_int_equal(next, examples);
        }
}

static void test_the_largest_window(void **state)
{
    struct ga_settings set = with("replicas 4096 accum 64 batch 1");

    (void)state;
    ga_test_ok(ga_settings_check(&set));
    set.batch = 2;
    ga_test_refused(ga_settings_check(&set), GA_ERANGE,
                    "replicas 4096 x accum 64 x batch 2 = 524288");
    set.batch = set.accum = 262144; /* the product does not fit into 32 bits */
    ga_test_refused(ga_settings_check(&set), GA_ERANGE, "281474976710656");
}

static struct ga_window_state window_with(uint32_t arrived, uint32_t expected)
{
    struct ga_window_state window;

    memset(&window, 0, sizeof window);
    window.number = 5;
    window.arrived = arrived;
    window.expected = expected;
    return window;
}

static void test_sync_expects_all_but_the_backup(void **state)
{
    struct ga_settings set = with("replicas 5 backup 2");

    (void)state;
    assert_int_equal(ga_policy_sync.expected(&set, 5), 3);
    assert_int_equal(ga_policy_sync.expected(&set, 3), 3);
    assert_int_equal(ga_policy_sync.expected(&set, 2), 2);
    set.backup = 0;
    assert_int_equal(ga_policy_sync.expected(&set, 5), 5);
}

static void test_sync_starts_each_replica_once_per_window(void **state)
{
    struct ga_settings set = with("replicas 3");
    struct ga_window_state window = window_with(0, 3);
    struct ga_replica_value replica;
    struct ga_turn turn = {.settings = &set, .window = &window, .replica = &replica};

    (void)state;
    memset(&replica, 0, sizeof replica);
    replica.window = 4;
    assert_true(ga_policy_sync.may_start(&turn));
    replica.window = 5;
    assert_false(ga_policy_sync.may_start(&turn));
}

static void test_sync_closes_at_the_last_expected_push(void **state)
{
    struct ga_settings set = with("replicas 3 backup 1 late cancel");
    struct ga_window_state window = window_with(0, 2);
    struct ga_push push = {.window = 5};

    (void)state;
    assert_int_equal(ga_policy_sync.on_push(&set, &window, &push), GA_PUSH_ADD);
    window.arrived = 1;
    assert_int_equal(ga_policy_sync.on_push(&set, &window, &push),
                     GA_PUSH_ADD | GA_PUSH_CLOSE | GA_PUSH_CANCEL);
    set.late = GA_LATE_FINISH;
    assert_int_equal(ga_policy_sync.on_push(&set, &window, &push), GA_PUSH_ADD | GA_PUSH_CLOSE);
    push.window = 4;
    assert_int_equal(ga_policy_sync.on_push(&set, &window, &push), GA_PUSH_DROP);
    assert_true(ga_policy_sync.scale(&set, &push) == 1);
}

/* Every mode of the settings has its policy, in that order, with a law for help. */
static void test_every_mode_has_a_policy(void **state)
{
    int count = 0;

    (void)state;
    for (; ga_policy_at(count); count++) {
        const struct ga_policy *policy = ga_policy_at(count);

        assert_string_equal(policy->name, ga_choice_word("mode", count));
        assert_ptr_equal(ga_policy_find(policy->name), policy);
        assert_true(strlen(policy->law) > 10);
        assert_true(policy->expected && policy->may_start && policy->on_push && policy->scale);
    }
    assert_int_equal(count, ga_choice_count("mode"));
    assert_null(ga_policy_at(-1));
    assert_null(ga_policy_find("nonesuch"));
    ga_test_refused(GA_EUNSUPPORTED, GA_EUNSUPPORTED, "nonesuch");
}

static void test_names(void **state)
{
    (void)state;
    for (int k = 0; k < GA_EVENT_KINDS; k++) {
        assert_string_not_equal(ga_event_name((enum ga_event_kind)k), "?");
        for (int i = 0; i < k; i++)
            assert_string_not_equal(ga_event_name((enum ga_event_kind)k),
                                    ga_event_name((enum ga_event_kind)i));
    }
    for (int k = 0; k < GA_PHASES; k++)
        assert_string_not_equal(ga_phase_name((enum ga_phase)k), "?");
    assert_string_equal(ga_event_name((enum ga_event_kind)99), "?");
    assert_string_equal(ga_phase_name((enum ga_phase)99), "?");
}

static void test_metrics(void **state)
{
    (void)state;
    for (int k = 0; k < GA_METRIC_COUNT; k++) {
        const struct ga_metric_info *info = ga_metric_info((enum ga_metric)k);

        assert_non_null(info->name);
        assert_true(info->unit && strlen(info->help) > 3);
        assert_true(info->of_run || info->of_replica);
        if (info->of_run)
            assert_int_equal(ga_metric_find(info->name, false), k);
        if (info->of_replica)
            assert_int_equal(ga_metric_find(info->name, true), k);
    }
    assert_int_equal(ga_metric_find("LOSS", false), GA_METRIC_LOSS);
    assert_int_equal(ga_metric_find("loss", true), GA_METRIC_REPLICA_LOSS);
    assert_int_equal(ga_metric_find("grad-norm", false), GA_METRIC_GRAD_NORM);
    ga_test_refused(ga_metric_find("grad", false), GA_EINPUT, "unknown metric \"grad\"");
    ga_test_refused(ga_metric_find("", false), GA_EINPUT, "unknown metric");
    ga_test_refused(ga_metric_find("lr", true), GA_EINPUT, "of a replica");
    assert_null(ga_metric_info(GA_METRIC_COUNT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_the_largest_window),
        cmocka_unit_test(test_sync_expects_all_but_the_backup),
        cmocka_unit_test(test_sync_starts_each_replica_once_per_window),
        cmocka_unit_test(test_sync_closes_at_the_last_expected_push),
        cmocka_unit_test(test_every_mode_has_a_policy),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_metrics),
    };

    return ga_test_main(tests);
}
