/* The benchmarks of real size run and report; how fast they are is nobody's business here. */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/error.h"
#include "bench/benchmark.h"
#include "support/support.h"

static char *report(const struct ga_benchmark *benchmark, bool json)
{
    const struct ga_bench_options options = {.rounds = 2, .updates = 1, .json = json};
    struct ga_text text = GA_TEXT_INIT;
    char *out = NULL;

    if (benchmark->run(&options, &text) < 0)
        fail_msg("%s", ga_error_text());
    assert_false(ga_text_failed(&text));
    out = strdup(ga_text_get(&text));
    ga_text_free(&text);
    return out;
}

/* Each figure of the report has a best that is no worse than its median. */
static void check(const struct ga_benchmark *benchmark, size_t rates, size_t ratios)
{
    char *text = report(benchmark, true);
    json_t *all = json_loads(text, 0, NULL);
    const char *key = NULL;
    json_t *value = NULL;
    size_t of_rates = 0, figures = 0;

    assert_non_null(all);
    assert_string_equal(json_string_value(json_object_get(all, "benchmark")), benchmark->name);
    assert_non_null(json_string_value(json_object_get(all, "library")));
    json_object_foreach(all, key, value)
    {
        if (!json_is_object(value))
            continue;
        figures++;
        assert_true(json_number_value(json_object_get(value, "median")) > 0);
        if (!json_object_get(value, "best_cpu"))
            continue;
        of_rates++;
        assert_true(json_number_value(json_object_get(value, "best")) >=
                    json_number_value(json_object_get(value, "median")));
    }
    assert_int_equal(of_rates, rates);
    assert_int_equal(figures, rates + ratios);
    json_decref(all);
    free(text);
}

static void reports_json(void **state)
{
    (void)state;
    check(&ga_benchmark_mlp, 6, 5);
    check(&ga_benchmark_accum, 2, 1);
    check(&ga_benchmark_allreduce, 2, 2);
}

static void reports_text(void **state)
{
    char *text = report(&ga_benchmark_allreduce, false);

    (void)state;
    assert_non_null(strstr(text, "allreduce: 2 rounds; floats per second"));
    assert_non_null(strstr(text, "memcpy"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_json),
        cmocka_unit_test(reports_text),
    };

    return ga_test_main(tests);
}
