/* The benchmarks run and report; how fast they are is nobody's business here. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/error.h"
#include "bench/bench.h"
#include "bench/benchmark.h"
#include "bench/naive.h"
#include "support/support.h"

#define WORDS(...) ((char *[]){__VA_ARGS__, NULL})

static int count(char *const words[])
{
    int n = 0;

    while (words[n])
        n++;
    return n;
}

/* What a command writes, to be freed. */
static char *output_of(char *const words[])
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    assert_non_null(out);
    if (ga_bench_main(count(words), words, NULL, 0, out) < 0)
        fail_msg("%s", ga_error_text());
    fclose(out);
    assert_int_equal(strlen(text), length);
    return text;
}

static void lists_without_a_name(void **state)
{
    char *none[] = {NULL};
    char *plain = output_of(none), *help = output_of(WORDS("demo", "--help"));

    (void)state;
    assert_non_null(strstr(plain, "\n  demo "));
    assert_non_null(strstr(plain, "--rounds"));
    assert_string_equal(plain, help);
    free(plain);
    free(help);
}

static double number(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);

    if (!json_is_number(value))
        fail_msg("%s is not a number", name);
    return json_number_value(value);
}

static void check_contender(const json_t *contender, const char *key)
{
    assert_string_equal(json_string_value(json_object_get(contender, "key")), key);
    assert_true(number(contender, "best_ns") > 0);
    assert_true(number(contender, "median_ns") >= number(contender, "best_ns"));
    assert_true(number(contender, "ratio") > 0);
    assert_true(number(contender, "best_ratio") > 0);
    assert_true(number(contender, "loss") > 0);
}

static void reports_json(void **state)
{
    static const char *const keys[] = {"a", "b", "c", "d", "e", "f", "g"};
    char *text = output_of(WORDS("demo", "--json", "--rounds", "2", "--updates", "3"));
    json_t *report = json_loads(text, 0, NULL), *each = json_object_get(report, "contenders");
    const json_t *b = json_array_get(each, 1), *c = json_array_get(each, 2);
    const char *hash = json_string_value(json_object_get(b, "hash"));

    (void)state;
    assert_string_equal(json_string_value(json_object_get(report, "benchmark")), "demo");
    assert_close(number(report, "updates"), 3, 0);
    assert_close(number(report, "rounds"), 2, 0);
    assert_int_equal(json_array_size(each), 7);
    for (size_t i = 0; i < 7; i++)
        check_contender(json_array_get(each, i), keys[i]);
    assert_close(number(json_array_get(each, 0), "ratio"), 1, 0);
    assert_non_null(hash);
    assert_int_equal(strlen(hash), 16);
    assert_string_equal(hash, json_string_value(json_object_get(c, "hash")));
    assert_close(number(b, "loss"), number(c, "loss"), 0);
    assert_close(number(json_array_get(each, 0), "loss"), number(b, "loss"), 1e-4);
    /* open, reduce, check, apply, clear; a micro-batch and a push, or ten and two */
    assert_close(number(b, "events"), 3 * 7, 0);
    assert_close(number(c, "events"), 3 * 17, 0);
    assert_close(number(json_array_get(each, 3), "events"), 3 * 7, 0);
    assert_close(number(json_array_get(each, 3), "loss"), number(b, "loss"), 1e-4);
    assert_true(number(report, "recording") > 0);
    assert_true(number(report, "breakpoints") > 0);
    json_decref(report);
    free(text);
}

static void reports_text(void **state)
{
    char *text = output_of(WORDS("demo", "--updates", "1", "--rounds", "1"));

    (void)state;
    assert_non_null(strstr(text, "demo: 1 updates of 50 examples, 1 rounds"));
    assert_non_null(strstr(text, "\n  a  plain C loops"));
    assert_non_null(strstr(text, "\n  c  exact, P 2, A 5, b 5"));
    assert_int_equal(text[strlen(text) - 1], '\n');
    free(text);
}

static void refuses_wrong_words(void **state)
{
    static const struct {
        char *words[4];
        int code;
        const char *said;
    } wrong[] = {
        {{"dema"}, GA_EINPUT, "\"dema\""},
        {{"demo", "demo"}, GA_EINPUT, "unexpected \"demo\""},
        {{"--json"}, GA_EINPUT, "no benchmark is named"},
        {{"demo", "--rounds"}, GA_EINPUT, "--rounds N"},
        {{"demo", "--rounds", "0"}, GA_ERANGE, "1 to 10000"},
        {{"demo", "--rounds", "9223372036854775808"}, GA_ERANGE, "1 to 10000"},
        {{"demo", "--updates", "2e3"}, GA_EINPUT, "\"2e3\""},
        {{"demo", "--updates", "-1"}, GA_ERANGE, "--updates"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(ga_bench_main(count(wrong[i].words), wrong[i].words, NULL, 0, stdout),
                         wrong[i].code);
        if (!strstr(ga_error_text(), wrong[i].said))
            fail_msg("\"%s\" does not say %s", ga_error_text(), wrong[i].said);
    }
}

static void tells_a_full_disk(void **state)
{
    FILE *full = fopen("/dev/full", "w");
    char *none[] = {NULL};

    (void)state;
    assert_non_null(full);
    assert_int_equal(ga_bench_main(0, none, NULL, 0, full), GA_EIO);
    fclose(full);
}

static void finds_median_and_best(void **state)
{
    double room[4];
    struct ga_samples samples = {.value = room};

    (void)state;
    assert_true(isnan(ga_samples_median(&samples)));
    ga_samples_add(&samples, 30);
    assert_close(ga_samples_median(&samples), 30, 0);
    ga_samples_add(&samples, 10);
    assert_close(ga_samples_median(&samples), 20, 0);
    ga_samples_add(&samples, 90);
    assert_close(ga_samples_median(&samples), 30, 0);
    ga_samples_add(&samples, 50);
    assert_close(ga_samples_median(&samples), 40, 0);
    assert_close(ga_samples_least(&samples), 10, 0);
}

/* One unit with weights 0, so that all sums can be done in one's head. */
static void naive_update_by_hand(void **state)
{
    const float x[] = {1, 2}, y[] = {3, 5};
    float weights[4] = {0}, gradient[4], unit[1];
    const struct ga_naive naive = {.hidden = 1,
                                   .examples = 2,
                                   .x = x,
                                   .y = y,
                                   .lr = 0.25f,
                                   .weights = weights,
                                   .gradient = gradient,
                                   .units = unit};

    (void)state;
    assert_close(ga_naive_loss(&naive), 17, 0);
    ga_naive_train(&naive, 1); /* d loss / d bias = 2 (-3 - 5) / 2 = -8 */
    assert_close((double)weights[0], 0, 0);
    assert_close((double)weights[2], 0, 0);
    assert_close((double)weights[3], 2, 0);
    assert_close(ga_naive_loss(&naive), 5, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_without_a_name), cmocka_unit_test(reports_json),
        cmocka_unit_test(reports_text),         cmocka_unit_test(refuses_wrong_words),
        cmocka_unit_test(tells_a_full_disk),    cmocka_unit_test(finds_median_and_best),
        cmocka_unit_test(naive_update_by_hand),
    };

    return ga_test_main(tests);
}
