/* `bench gpu` runs and reports; how fast it is is nobody's business here. */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/error.h"
#include "bench/benchmark.h"
#include "cards.h"
#include "support/support.h"

static json_t *report(void)
{
    /* Sanitizers take smaller ones. */
    const bool small = ga_test_count(100) < 100;
    const struct ga_bench_options options = {
        .rounds = 1, .updates = 1, .json = true, .small = small};
    struct ga_text text = GA_TEXT_INIT;
    json_error_t error;
    json_t *all = NULL;

    if (ga_benchmark_gpu.run(&options, &text) < 0)
        fail_msg("%s", ga_error_text());
    assert_false(ga_text_failed(&text));
    all = json_loads(ga_text_get(&text), 0, &error);
    if (!all)
        fail_msg("%s in %s", error.text, ga_text_get(&text));
    ga_text_free(&text);
    return all;
}

static size_t figures(const json_t *part)
{
    const char *key = NULL;
    json_t *value = NULL;
    size_t count = 0;

    json_object_foreach((json_t *)part, key, value)
    {
        if (!json_is_object(value))
            continue;
        count++;
        assert_true(json_number_value(json_object_get(value, "median")) > 0);
        assert_true(json_number_value(json_object_get(value, "best")) > 0);
    }
    return count;
}

static void reports(void **state)
{
    const size_t cards = test_cards(test_cuda("exact"));
    json_t *all = NULL;
    json_t *parts = NULL;

    (void)state;
    if (test_on_the_fake())
        test_fake_set("memory=2000000000");
    all = report();
    parts = json_object_get(all, "parts");
    assert_true((size_t)json_integer_value(json_object_get(all, "cards")) == cards);
    assert_true(strlen(json_string_value(json_object_get(all, "card"))) > 0);
    assert_int_equal(json_array_size(parts), 3);
    assert_int_equal(figures(json_array_get(parts, 0)), 6);
    assert_int_equal(figures(json_array_get(parts, 1)), 6);
    assert_int_equal(figures(json_array_get(parts, 2)), cards > 1 ? 7 : 5);
    json_decref(all);
    test_no_faults();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reports)};

    return ga_test_main(tests);
}
