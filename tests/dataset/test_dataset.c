/* What all data sets promise, and the two built-in ones. */
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "dataset/opened.h"

static struct ga_dataset *must_open(const char *line)
{
    struct ga_dataset *dataset = NULL;
    if (ga_test_data(&dataset, NULL, line, "") != 0) {
        fail_msg("%s: %s", line, ga_error_text());
    }
    return dataset;
}

static void test_parabola_is_the_file_bit_for_bit(void **state)
{
    (void)state;
    struct ga_dataset *built_in = must_open("parabola");
    struct ga_dataset *file = NULL;
    assert_int_equal(ga_test_data(&file, GA_TOP_DIR "/data/parabola.csv", "", ""), 0);
    const struct ga_table *a = ga_dataset_table(built_in);
    const struct ga_table *b = ga_dataset_table(file);
    assert_int_equal(a->train, 50);
    assert_int_equal(b->train, 50);
    assert_int_equal(a->test + b->test, 0);
    assert_memory_equal(a->inputs, b->inputs, 50 * sizeof(float));
    assert_memory_equal(a->targets, b->targets, 50 * sizeof(float));
    assert_int_equal(ga_dataset_fingerprint(built_in), ga_dataset_fingerprint(file));
    ga_dataset_close(file);
    ga_dataset_close(built_in);
}

static void test_parabola_options(void **state)
{
    (void)state;
    struct ga_dataset *plain = must_open("parabola n=7 range=-1,5");
    struct ga_dataset *noisy = must_open("parabola seed=9 noise=0.25 n=7 range=-1,5");
    const struct ga_table *a = ga_dataset_table(plain);
    const struct ga_table *b = ga_dataset_table(noisy);
    assert_int_equal(a->kind, GA_TARGET_VALUE);
    assert_int_equal(a->input_width * a->target_width, 1);
    assert_null(a->labels);
    assert_null(a->weights);
    assert_false(a->has_start);
    for (size_t i = 0; i < 7; i++) {
        const double x = -1.0 + (double)i;
        const double noise = 0.25 * ga_normal(9, i, 0, GA_DRAW_NOISE);
        assert_true(a->inputs[i] == (float)x && b->inputs[i] == (float)x);
        assert_true(a->targets[i] == (float)(x * x));
        assert_true(b->targets[i] == (float)(x * x + noise));
    }
    ga_dataset_close(noisy);
    ga_dataset_close(plain);
    plain = must_open("parabola n=1");
    assert_true(ga_dataset_table(plain)->inputs[0] == -2.0f);
    ga_dataset_close(plain);
}

static void test_quadratic(void **state)
{
    (void)state;
    struct ga_dataset *dataset = must_open("quadratic n=3 lambda=1,4.5 c=-2,0.5");
    const struct ga_table *table = ga_dataset_table(dataset);
    const float lambda[] = {1, 4.5f, 1, 4.5f, 1, 4.5f};
    const float center[] = {-2, 0.5f, -2, 0.5f, -2, 0.5f};
    assert_int_equal(table->kind, GA_TARGET_QUADRATIC);
    assert_int_equal(table->train, 3);
    assert_int_equal(table->input_width, 2);
    assert_int_equal(table->target_width, 2);
    assert_true(table->has_start);
    assert_memory_equal(table->inputs, lambda, sizeof lambda);
    assert_memory_equal(table->targets, center, sizeof center);
    ga_dataset_close(dataset);
    dataset = must_open("quadratic lambda=1,2,3");
    table = ga_dataset_table(dataset);
    assert_int_equal(table->train, 1);
    for (size_t j = 0; j < 3; j++) {
        assert_true(table->inputs[j] == (float)(j + 1));
        assert_true(table->targets[j] == 0.0f);
    }
    ga_dataset_close(dataset);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        int code;
        const char *text;
    } cases[] = {
        {"", GA_EINPUT, "expected parabola, quadratic or a file"},
        {"parabola n=0", GA_ERANGE, "n=\"0\": \"0\" is out of range, expected 1 to 10000000"},
        {"parabola n=-1", GA_ERANGE, "expected 1 to 10000000"},
        {"parabola n=1.5", GA_EINPUT, "\"1.5\" is not a whole number"},
        {"parabola n=4x", GA_EINPUT, "\"4x\" is not a whole number"},
        {"parabola n=", GA_EINPUT, "is not a whole number"},
        {"parabola n=99999999999999999999", GA_ERANGE, "expected 1 to 10000000"},
        {"parabola n=5 n=5", GA_EINPUT, "n is given twice"},
        {"parabola n", GA_EINPUT, "\"n\" is not understood, expected parabola [n=50]"},
        {"parabola 50", GA_EINPUT, "\"50\" is not understood"},
        {"parabola points=5", GA_EINPUT, "\"points=5\" is not understood"},
        {"parabola =5", GA_EINPUT, "\"=5\" is not understood"},
        {"parabola range=1", GA_ERANGE, "expected LOW,HIGH with LOW < HIGH"},
        {"parabola range=2,-2", GA_ERANGE, "LOW < HIGH"},
        {"parabola range=1,1", GA_ERANGE, "LOW < HIGH"},
        {"parabola range=1,2,3", GA_ERANGE, "LOW,HIGH"},
        {"parabola range=1,", GA_EINPUT, "is not a number"},
        {"parabola range=-inf,inf", GA_EINPUT, "\"-inf\" is not a number"},
        {"parabola range=0,1e19", GA_ERANGE, "expected -1e+18 to 1e+18"},
        {"parabola noise=-1", GA_ERANGE, "expected 0 to 1e+18"},
        {"parabola noise=nan", GA_EINPUT, "\"nan\" is not a number"},
        {"parabola seed=-1", GA_EINPUT, "not a whole number of at least 0"},
        {"quadratic", GA_EINPUT, "without lambda, expected quadratic lambda="},
        {"quadratic lambda=", GA_EINPUT, "is not a number"},
        {"quadratic lambda=1,,2", GA_EINPUT, "is not a number"},
        {"quadratic lambda=1,2 c=0", GA_EINPUT, "c has 1 numbers, expected 2"},
        {"quadratic lambda=1e39", GA_ERANGE, "lambda=\"1e39\""},
        {"quadratic lambda=1 n=0", GA_ERANGE, "expected 1 to"},
        {"quadratic lambda=1 target=2", GA_EINPUT, "not understood"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ga_dataset *dataset = (struct ga_dataset *)&dataset;
        assert_int_equal(ga_test_data(&dataset, NULL, cases[i].line, ""), cases[i].code);
        assert_null(dataset);
        if (!strstr(ga_error_text(), cases[i].text)) {
            fail_msg("%s: %s, expected %s", cases[i].line, ga_error_text(), cases[i].text);
        }
    }
}

/* A list too long to mean anything. */
static void test_list_limit(void **state)
{
    (void)state;
    enum { ITEMS = 65537 };
    struct ga_dataset *dataset = NULL;
    char *word = malloc(2 * ITEMS + 16);
    assert_non_null(word);
    strcpy(word, "lambda=");
    for (size_t i = 0; i < ITEMS; i++) {
        memcpy(word + 7 + 2 * i, "1,", 3);
    }
    word[7 + 2 * ITEMS - 1] = '\0';
    const char *words[] = {"quadratic", word};
    assert_int_equal(ga_dataset_open(&dataset, 2, words, NULL), GA_ERANGE);
    assert_non_null(strstr(ga_error_text(), "65537 numbers, expected at most 65536"));
    word[7 + 2 * (ITEMS - 1) - 1] = '\0';
    assert_int_equal(ga_dataset_open(&dataset, 2, words, NULL), 0);
    assert_int_equal(ga_dataset_table(dataset)->input_width, 65536);
    ga_dataset_close(dataset);
    free(word);
}

static void assert_description(const char *line, const char *want)
{
    struct ga_text text = GA_TEXT_INIT;
    struct ga_dataset *dataset = must_open(line);
    ga_dataset_describe(dataset, &text);
    assert_string_equal(ga_text_get(&text), want);
    ga_text_free(&text);
    ga_dataset_close(dataset);
}

static void test_names_and_descriptions(void **state)
{
    (void)state;
    struct ga_dataset *dataset = must_open("parabola  n=20 noise=0");
    assert_string_equal(ga_dataset_name(dataset), "parabola");
    assert_string_equal(ga_dataset_spec(dataset), "parabola n=20 noise=0");
    assert_int_equal(ga_dataset_bytes(dataset), 160);
    ga_dataset_close(dataset);
    assert_description("parabola", "50 examples, 1 input, 1 output");
    assert_description("quadratic lambda=1,2", "1 example, 2 weights");
    assert_description("quadratic lambda=1 n=5", "5 examples, 1 weight");
    assert_description(GA_TOP_DIR "/data/digits.csv kind=class train=1500",
                       "1500 examples, 64 inputs, 10 classes, 297 held out");
    size_t kinds = 0;
    while (ga_dataset_usage(kinds)) {
        kinds++;
    }
    assert_int_equal(kinds, 6);
}

static void test_fingerprint_is_of_the_content(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "parabola",
        "parabola n=49",
        "parabola range=-2,2.0000001",
        "parabola noise=1e-3",
        "parabola noise=1e-3 seed=2",
        "quadratic lambda=1,0",
        "quadratic lambda=1 c=0 n=2",
        "quadratic lambda=0,1",
    };
    enum { LINES = sizeof lines / sizeof lines[0] };
    uint64_t seen[LINES];
    for (size_t i = 0; i < LINES; i++) {
        struct ga_dataset *dataset = must_open(lines[i]);
        seen[i] = ga_dataset_fingerprint(dataset);
        ga_dataset_close(dataset);
        for (size_t k = 0; k < i; k++) {
            assert_true(seen[i] != seen[k]);
        }
    }
    struct ga_dataset *again = must_open("parabola seed=4 n=50 range=-2,2");
    assert_int_equal(ga_dataset_fingerprint(again), seen[0]);
    ga_dataset_close(again);
}

static void test_shared_until_the_last_close(void **state)
{
    (void)state;
    struct ga_dataset *dataset = must_open("parabola");
    for (size_t i = 0; i < 5; i++) {
        assert_ptr_equal(ga_dataset_share(dataset), dataset);
    }
    for (size_t i = 0; i < 5; i++) {
        ga_dataset_close(dataset);
        assert_true(ga_dataset_table(dataset)->inputs[0] == -2.0f);
    }
    ga_dataset_close(dataset);
    ga_dataset_close(NULL);
}

/* Each allocation fails in turn. */
static void test_no_memory(void **state)
{
    (void)state;
    static const char *const lines[] = {"parabola n=9 range=0,1", "quadratic lambda=1,2 c=0,0",
                                        GA_TOP_DIR "/data/parabola.csv target=y test=10 shuffle=1"};
    for (size_t i = 0; i < 3; i++) {
        struct ga_dataset *dataset = NULL;
        int code = GA_ENOMEM;
        int64_t budget = 0;
        for (; code != 0; budget++) {
            ga_test_allocation_limit(budget);
            code = ga_test_data(&dataset, NULL, lines[i], "");
            ga_test_allocation_free();
            assert_true(code == 0 || (code == GA_ENOMEM && !dataset));
        }
        assert_true(budget > 4);
        ga_dataset_close(dataset);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parabola_is_the_file_bit_for_bit),
        cmocka_unit_test(test_parabola_options),
        cmocka_unit_test(test_quadratic),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_list_limit),
        cmocka_unit_test(test_names_and_descriptions),
        cmocka_unit_test(test_fingerprint_is_of_the_content),
        cmocka_unit_test(test_shared_until_the_last_close),
        cmocka_unit_test(test_no_memory),
    };
    return ga_test_main(tests);
}
