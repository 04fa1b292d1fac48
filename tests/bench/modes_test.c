/* The benchmark of the update modes runs and reports; how fast it is is nobody's business here. */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/error.h"
#include "bench/benchmark.h"
#include "settings/settings.h"
#include "support/support.h"

static char *report(int64_t rounds, int64_t updates, bool json)
{
    const struct ga_bench_options options = {.rounds = rounds, .updates = updates, .json = json};
    struct ga_text text = GA_TEXT_INIT;
    char *out = NULL;

    if (ga_benchmark_modes.run(&options, &text) < 0)
        fail_msg("%s", ga_error_text());
    assert_false(ga_text_failed(&text));
    out = strdup(ga_text_get(&text));
    ga_text_free(&text);
    return out;
}

static double number(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);

    if (!json_is_number(value))
        fail_msg("%s is not a number", name);
    return json_number_value(value);
}

static void check_rates(const json_t *object)
{
    assert_true(number(object, "median_per_second") > 0);
    assert_true(number(object, "best_per_second") >= number(object, "median_per_second"));
}

/* One event begins; then an item is two, a micro-batch and a turn. */
static void check_async(const json_t *events)
{
    for (size_t size = 0; size < 3; size++)
        assert_true(number(json_array_get(events, size), "updates") == 149);
}

static void reports_json(void **state)
{
    static const double sizes[] = {8, 64, 1024};
    char *text = report(3, 3, true);
    json_t *all = json_loads(text, 0, NULL), *modes = json_object_get(all, "modes");

    (void)state;
    assert_non_null(all);
    assert_close(number(all, "events"), 300, 0);
    assert_int_equal(json_array_size(modes), ga_choice_count("mode"));
    for (size_t k = 0; k < json_array_size(modes); k++) {
        const json_t *mode = json_array_get(modes, k), *events = json_object_get(mode, "events");
        const char *name = json_string_value(json_object_get(mode, "mode"));
        const json_t *parabola = json_object_get(mode, "parabola");

        for (size_t size = 0; size < 3; size++) {
            assert_close(number(json_array_get(events, size), "replicas"), sizes[size], 0);
            check_rates(json_array_get(events, size));
        }
        if (strcmp(name, "async") == 0)
            check_async(events);
        check_rates(parabola);
        assert_int_equal(strlen(json_string_value(json_object_get(parabola, "hash"))), 16);
    }
    json_decref(all);
    free(text);
}

static void reports_text(void **state)
{
    char *text = report(1, 1, false);

    (void)state;
    assert_non_null(strstr(text, "modes: 100 events without gradients, 1 updates of the parabola"));
    assert_non_null(strstr(text, "\n  sync "));
    assert_non_null(strstr(text, "\n  hogwild "));
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
