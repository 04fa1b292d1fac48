/* CSV files: every form that is read, and the values that come out. */
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "dataset/opened.h"

static struct ga_dataset *must_open(const char *text, const char *options)
{
    struct ga_dataset *dataset = NULL;
    if (ga_test_open_bytes(&dataset, text, strlen(text), options) != 0) {
        fail_msg("%s | %s: %s", text, options, ga_error_text());
    }
    return dataset;
}

static void assert_floats(const float *got, const char *want)
{
    size_t i = 0;
    for (char *end; *want; want = *end ? end + 1 : end, i++) {
        const double value = strtod(want, &end);
        assert_true(end > want);
        if (!got || got[i] != (float)value) {
            fail_msg("element %zu is %.9g, expected %.9g", i, got ? (double)got[i] : 0.0, value);
        }
    }
}

/* Each reads as the same two rows: 1 2 -> 3, 4 5 -> 6. */
static void test_forms(void **state)
{
    (void)state;
    static const struct {
        const char *text, *options;
    } cases[] = {
        {"1,2,3\n4,5,6\n", ""},
        {"1,2,3\n4,5,6", ""},
        {"1,2,3\r\n4,5,6\r\n", ""},
        {"1,2,3\r\n4,5,6", ""},
        {"1,2,3\r4,5,6\r", ""},
        {"a,b,c\n1,2,3\n4,5,6\n", ""},
        {"a,b,c\n1,2,3\n4,5,6\n", "header=yes"},
        {"7,8,9\n1,2,3\n4,5,6\n", "header=yes"},
        {"1,2,3\n4,5,6\n", "header=no"},
        {"\xef\xbb\xbf"
         "1,2,3\n4,5,6\n",
         ""},
        {"\xef\xbb\xbf"
         "a,b,c\n1,2,3\n4,5,6\n",
         "target=c"},
        {"\"1\",\"2\",\"3\"\n\"4\",\"5\",\"6\"\n", ""},
        {"\"a,\n\"\"x\"\"\",b,\"\"\n1,2,3\n4,5,6", ""},
        {" 1 ,\t2, 3 \n 4,5 , 6\n", ""},
        {"\n\n1,2,3\n\n \n4,5,6\n\n\n", ""},
        {"1e0,+2,.3e1\n4.,0.5E1,600e-2\n", ""},
        {"3,1,2\n6,4,5\n", "target=1"},
        {"3,1,2\n6,4,5\n", "target=-3"},
        {"x,y,t\n1,2,3\n4,5,6\n", "target=t"},
        {"t,x,y\n3,1,2\n6,4,5\n", "target=t"},
        {"0.5,1,3\n2,2.5,6\n", "scale=2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ga_dataset *dataset = must_open(cases[i].text, cases[i].options);
        const struct ga_table *table = ga_dataset_table(dataset);
        assert_int_equal(table->kind, GA_TARGET_VALUE);
        assert_int_equal(table->train, 2);
        assert_int_equal(table->test, 0);
        assert_int_equal(table->input_width, 2);
        assert_int_equal(table->target_width, 1);
        assert_null(table->weights);
        assert_floats(table->inputs, "1 2 4 5");
        assert_floats(table->targets, "3 6");
        ga_dataset_close(dataset);
    }
}

/* What the columns become. */
static void test_columns(void **state)
{
    (void)state;
    static const struct {
        const char *text, *options, *inputs, *targets, *weights;
        size_t target_width;
    } cases[] = {
        {"1,2,3,4\n5,6,7,8\n", "target=4,1", "2 3 6 7", "4 1 8 5", NULL, 2},
        {"a,b,c,d\n1,2,3,4\n", "target=d,-3", "1 3", "4 2", NULL, 2},
        {"1,2,0.5\n3,4,0\n", "weight=3", "1 3", "2 4", "0.5 0", 1},
        {"1,2,0.5\n3,4,0\n", "weight=-1 target=1", "2 4", "1 3", "0.5 0", 1},
        {"w,x,y\n9.5367431640625e-07,2,3\n1048576,5,6\n", "weight=w", "2 5", "3 6",
         "9.5367431640625e-07 1048576", 1},
        {"w,x,y\n-0,2,3\n1,5,6\n", "weight=w", "2 5", "3 6", "0 1", 1},
        {"8,3\n16,4\n", "scale=0.0625", "0.5 1", "3 4", NULL, 1},
        {"8,3\n16,4\n", "scale=-1", "-8 -16", "3 4", NULL, 1},
        {"1e-60,1\n", "", "0", "1", NULL, 1},
        {"3.4028234e38,-3.4028234e38\n", "", "3.4028234e38", "-3.4028234e38", NULL, 1},
        {"2,1,0\n5,6,7\n", "header=yes target=1", "5 7", "6", NULL, 1}, /* the name wins */
        {"1,2,10,20\n", "kind=quadratic", "1 2", "10 20", NULL, 2},
        {"1,2,7,10,20\n", "kind=quadratic weight=3", "1 2", "10 20", "7", 2},
        {"c_2,lambda_1,c_1,lambda_2\n1,2,3,4\n", "kind=quadratic", "2 4", "3 1", NULL, 2},
        {"c_1,w,lambda_1\n1,2,3\n", "kind=quadratic weight=w", "3", "1", "2", 1},
        {"a,b\n1,2\n", "kind=quadratic", "1", "2", NULL, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ga_dataset *dataset = must_open(cases[i].text, cases[i].options);
        const struct ga_table *table = ga_dataset_table(dataset);
        assert_int_equal(table->target_width, cases[i].target_width);
        assert_int_equal(table->has_start, table->kind == GA_TARGET_QUADRATIC);
        assert_floats(table->inputs, cases[i].inputs);
        assert_floats(table->targets, cases[i].targets);
        assert_int_equal(table->weights != NULL, cases[i].weights != NULL);
        assert_floats(table->weights, cases[i].weights ? cases[i].weights : "");
        ga_dataset_close(dataset);
    }
}

static void test_classes(void **state)
{
    (void)state;
    const int32_t want[] = {0, 3, 1};
    static const struct {
        const char *text, *options;
        size_t classes;
    } cases[] = {
        {"9,0\n8,3\n7,1\n", "kind=class", 4},
        {"9,0\n8,3.0\n7,1e0\n", "kind=class classes=10", 10},
        {"k,x\n0,9\n3,8\n1,7\n", "kind=class target=k classes=4", 4},
        {"k,w,x\n0,1,9\n3,1,8\n1,1,7\n", "kind=class target=k weight=w", 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ga_dataset *dataset = must_open(cases[i].text, cases[i].options);
        const struct ga_table *table = ga_dataset_table(dataset);
        assert_int_equal(table->kind, GA_TARGET_CLASS);
        assert_int_equal(table->target_width, cases[i].classes);
        assert_null(table->targets);
        assert_memory_equal(table->labels, want, sizeof want);
        assert_floats(table->inputs, "9 8 7");
        ga_dataset_close(dataset);
    }
}

static void test_digits(void **state)
{
    (void)state;
    struct ga_dataset *dataset = NULL;
    assert_int_equal(ga_test_data(&dataset, "digits.csv", "kind=class scale=0.0625 train=1500",
                                  GA_TOP_DIR "/data"),
                     0);
    const struct ga_table *table = ga_dataset_table(dataset);
    size_t count[10] = {0};
    assert_int_equal(table->train, 1500);
    assert_int_equal(table->test, 297);
    assert_int_equal(table->input_width, 64);
    assert_int_equal(table->target_width, 10);
    for (size_t i = 0; i < 1797; i++) {
        count[table->labels[i]]++;
        for (size_t j = 0; j < 64; j++) {
            const float sixteenths = table->inputs[i * 64 + j] * 16;
            assert_true(sixteenths >= 0 && sixteenths <= 16 &&
                        sixteenths == (float)(int)sixteenths);
        }
    }
    for (size_t k = 0; k < 10; k++) {
        assert_in_range(count[k], 174, 183);
    }
    assert_floats(table->inputs, "0 0 0.3125 0.8125 0.5625 0.0625");
    assert_string_equal(ga_dataset_name(dataset), "digits.csv");
    ga_dataset_close(dataset);
}

/* 10 rows; input = row number. */
static const char ten[] = "0,0\n1,0\n2,0\n3,0\n4,0\n5,0\n6,0\n7,0\n8,0\n9,0\n";

static void test_held_out_rows(void **state)
{
    (void)state;
    static const struct {
        const char *options;
        size_t train, test;
        const char *inputs;
    } cases[] = {
        {"", 10, 0, "0 1 2 3 4 5 6 7 8 9"},
        {"train=7", 7, 3, "0 1 2 3 4 5 6 7 8 9"},
        {"train=10", 10, 0, "0 1 2 3 4 5 6 7 8 9"},
        {"test=4", 6, 4, "0 1 2 3 4 5 6 7 8 9"},
        {"test=0", 10, 0, "0 1 2 3 4 5 6 7 8 9"},
        {"test=0.25", 7, 3, "0 1 2 3 4 5 6 7 8 9"},
        {"train=3 test=2", 3, 2, "0 1 2 3 4"},
        {"train=3 test=0", 3, 0, "0 1 2"},
        {"train=9 test=.1", 9, 1, "0 1 2 3 4 5 6 7 8 9"},
        {"test=9", 1, 9, "0 1 2 3 4 5 6 7 8 9"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ga_dataset *dataset = must_open(ten, cases[i].options);
        const struct ga_table *table = ga_dataset_table(dataset);
        assert_int_equal(table->train, cases[i].train);
        assert_int_equal(table->test, cases[i].test);
        assert_floats(table->inputs, cases[i].inputs);
        assert_int_equal(ga_dataset_bytes(dataset), 8 * (table->train + table->test));
        ga_dataset_close(dataset);
    }
}

/* Rows are in one part only, both parts stay in file order, and the seed decides. */
static void test_shuffled_split(void **state)
{
    (void)state;
    size_t moved = 0;
    uint64_t fingerprint = 0;
    for (size_t seed = 0; seed < 40; seed++) {
        char options[64];
        unsigned seen[10] = {0};
        snprintf(options, sizeof options, "train=5 test=3 shuffle=%zu", seed);
        struct ga_dataset *dataset = must_open(ten, options);
        struct ga_dataset *again = must_open(ten, options);
        const struct ga_table *table = ga_dataset_table(dataset);
        assert_int_equal(ga_dataset_fingerprint(dataset), ga_dataset_fingerprint(again));
        for (size_t i = 0; i < 8; i++) {
            assert_int_equal(seen[(size_t)table->inputs[i]]++, 0);
            assert_true(i == 0 || i == 5 || table->inputs[i] > table->inputs[i - 1]);
        }
        moved += ga_dataset_fingerprint(dataset) != fingerprint ? 1 : 0;
        fingerprint = ga_dataset_fingerprint(dataset);
        ga_dataset_close(again);
        ga_dataset_close(dataset);
    }
    assert_true(moved > 30);
}

static void test_shuffle_keeps_rows_together(void **state)
{
    (void)state;
    const char *text = "w,x,k\n1,10,0\n2,20,1\n3,30,2\n4,40,3\n5,50,4\n";
    struct ga_dataset *dataset = must_open(text, "kind=class weight=w test=2 shuffle=5");
    const struct ga_table *table = ga_dataset_table(dataset);
    struct ga_text words = GA_TEXT_INIT;
    ga_dataset_describe(dataset, &words);
    assert_string_equal(ga_text_get(&words),
                        "3 examples, 1 input, 5 classes, weighted, 2 held out");
    ga_text_free(&words);
    for (size_t i = 0; i < 5; i++) {
        assert_true(table->inputs[i] == 10 * table->weights[i]);
        assert_true((float)table->labels[i] == table->weights[i] - 1);
    }
    ga_dataset_close(dataset);
}

/* The spec opens the same data again, from any folder, whatever is in the file's name. */
static void test_spec_opens_again(void **state)
{
    (void)state;
    static const char *const names[] = {"plain.csv", "a b.csv", "it's \"x\\y\" #1.csv"};
    for (size_t i = 0; i < 3; i++) {
        char want[512];
        struct ga_dataset *dataset = NULL;
        char *path = ga_test_path(ga_test_here, names[i]);
        ga_test_write_file(path, "1,2,3\n4,5,6\n", 12);
        assert_int_equal(ga_test_data(&dataset, names[i], "target=1 train=1", ga_test_here), 0);
        assert_string_equal(ga_dataset_name(dataset), names[i]);
        snprintf(want, sizeof want, i == 0 ? "%s target=1 train=1" : "\"%s\" target=1 train=1",
                 path);
        if (i < 2) {
            assert_string_equal(ga_dataset_spec(dataset), want);
        } else {
            assert_non_null(
                strstr(ga_dataset_spec(dataset), "/it's \\\"x\\\\y\\\" #1.csv\" target=1 train=1"));
        }
        ga_dataset_close(dataset);
        free(path);
    }
}

static void test_relative_names(void **state)
{
    (void)state;
    struct ga_dataset *dataset = NULL;
    char *with_slash = ga_test_path(ga_test_here, "");
    char *path = ga_test_path(ga_test_here, "here.csv");
    ga_test_write_file(path, "1,2\n", 4);
    assert_int_equal(ga_test_data(&dataset, "here.csv", "", with_slash), 0);
    assert_string_equal(ga_dataset_spec(dataset), path);
    ga_dataset_close(dataset);
    assert_int_equal(ga_test_data(&dataset, path, "", "/nowhere"), 0);
    ga_dataset_close(dataset);
    free(path);
    free(with_slash);
}

/* gzip by its first bytes, whatever the name; two members behind each other are one file. */
static void test_gzip(void **state)
{
    (void)state;
    char *path = ga_test_path(ga_test_here, "g.csv");
    for (int member = 0; member < 2; member++) {
        gzFile file = gzopen(path, member == 0 ? "wb" : "ab");
        assert_non_null(file);
        for (int i = 0; i < 3000; i++) {
            gzprintf(file, "%d,%d\n", i + 3000 * member, i * 7 % 13);
        }
        assert_int_equal(gzclose(file), Z_OK);
    }
    struct ga_dataset *dataset = NULL;
    assert_int_equal(ga_test_data(&dataset, path, "", ""), 0);
    const struct ga_table *table = ga_dataset_table(dataset);
    assert_int_equal(table->train, 6000);
    assert_true(table->inputs[5999] == 5999.0f);
    ga_dataset_close(dataset);

    size_t length;
    char *bytes = ga_test_read_file(path, &length);
    free(path);
    for (size_t cut = 2; cut < length; cut += cut < 40 || cut > length - 40 ? 1 : 97) {
        const int code = ga_test_open_bytes(&dataset, bytes, cut, "");
        if (code == 0) { /* the cut is between the members */
            assert_int_equal(ga_dataset_table(dataset)->train, 3000);
            ga_dataset_close(dataset);
        } else {
            assert_int_equal(code, GA_EINPUT);
            assert_non_null(strstr(ga_error_text(), "truncated or damaged gzip data"));
        }
    }
    bytes[length / 4] = (char)(bytes[length / 4] ^ 0x55);
    assert_int_equal(ga_test_open_bytes(&dataset, bytes, length, ""), GA_EINPUT);
    free(bytes);
}

/* Rows that straddle every block boundary, and a table in proportion to its rows. */
static void test_many_rows(void **state)
{
    (void)state;
    const size_t rows = ga_test_count(200000);
    char *path = ga_test_path(ga_test_here, "many.csv");
    FILE *file = fopen(path, "w");
    struct ga_dataset *dataset = NULL;
    assert_non_null(file);
    for (size_t i = 0; i < rows; i++) {
        fprintf(file, "%zu,\"%zu\"%s", i, i % 1000, i % 3 ? "\n" : "\r\n");
    }
    assert_int_equal(fclose(file), 0);
    assert_int_equal(ga_test_data(&dataset, path, "", ""), 0);
    const struct ga_table *table = ga_dataset_table(dataset);
    assert_int_equal(table->train, rows);
    for (size_t i = 0; i < rows; i++) {
        assert_true(table->inputs[i] == (float)i && table->targets[i] == (float)(i % 1000));
    }
    assert_int_equal(ga_dataset_bytes(dataset), 8 * rows);
    ga_dataset_close(dataset);
    free(path);
}

/* Lines with quotes go to libcsv, others do not: they mean the same, wherever blocks end. */
static void test_quoted_and_plain_lines_agree(void **state)
{
    (void)state;
    char *path[2] = {ga_test_path(ga_test_here, "a.csv"), ga_test_path(ga_test_here, "b.csv")};
    FILE *file[2] = {fopen(path[0], "wb"), fopen(path[1], "wb")};
    struct ga_dataset *dataset[2] = {NULL, NULL};
    assert_true(file[0] && file[1]);
    for (int i = 0; i < 40000; i++) {
        const char *end = i % 5 == 0 ? "\r\n" : i % 7 == 0 ? "\r" : "\n";
        const char *blank = i % 11 == 0 ? " \t" : "";
        fprintf(file[0], "%s%d%s,-0.%d,%se%d%s", blank, i, blank, i * 7919, "3.25", i % 30, end);
        fprintf(file[1], i % 3 ? "%d,\"-0.%d\",%se%d\n" : "%d,-0.%d,%se%d\n", i, i * 7919, "3.25",
                i % 30);
        if (i % 1000 == 0) {
            fputs(i % 2000 ? "\n \n" : "\r\n", file[0]);
        }
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(fclose(file[i]), 0);
        assert_int_equal(ga_test_data(&dataset[i], path[i], "", ""), 0);
        assert_int_equal(ga_dataset_table(dataset[i])->train, 40000);
    }
    assert_true(ga_dataset_fingerprint(dataset[0]) == ga_dataset_fingerprint(dataset[1]));
    for (int i = 0; i < 2; i++) {
        ga_dataset_close(dataset[i]);
        free(path[i]);
    }
}

/* Numbers of all lengths, as strtod() reads them. */
static void test_numbers(void **state)
{
    (void)state;
    enum { ROWS = 20000 };
    static const char *const forms[] = {"%.17g", "%.15g", "%.16g", "%.6g", "%.3f",
                                        "%.12f", "%.0f",  "%.9e",  "%.1f", "%.15f"};
    struct ga_text text = GA_TEXT_INIT;
    double *want = malloc(ROWS * sizeof *want);
    uint64_t bits = 1;
    assert_non_null(want);
    for (size_t i = 0; i < ROWS; i++) {
        char number[64];
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        const double size = ldexp(1.0, (int)(bits >> 33 & 63) - 32);
        snprintf(number, sizeof number, forms[i % 10],
                 ((double)(bits >> 11) * 0x1p-52 - 1.0) * size);
        want[i] = strtod(number, NULL);
        ga_text_printf(&text, "%s,1\n", number);
    }
    struct ga_dataset *dataset = must_open(ga_text_get(&text), "");
    for (size_t i = 0; i < ROWS; i++) {
        const float got = ga_dataset_table(dataset)->inputs[i];
        const float expected = (float)want[i];
        assert_memory_equal(&got, &expected, sizeof got);
    }
    ga_dataset_close(dataset);
    ga_text_free(&text);
    free(want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_forms, ga_test_make_folder, ga_test_remove_folder),
        cmocka_unit_test_setup_teardown(test_columns, ga_test_make_folder, ga_test_remove_folder),
        cmocka_unit_test_setup_teardown(test_classes, ga_test_make_folder, ga_test_remove_folder),
        cmocka_unit_test_setup_teardown(test_digits, ga_test_make_folder, ga_test_remove_folder),
        cmocka_unit_test_setup_teardown(test_held_out_rows, ga_test_make_folder,
                                        ga_test_remove_folder),
        cmocka_unit_test_setup_teardown(test_shuffled_split, ga_test_make_folder,
                                        ga_test_remove_folder),
        cmocka_unit_test_setup_teardown(test_shuffle_keeps_rows_together, ga_test_make_folder,
                                        ga_test_remove_folder),
        cmocka_unit_test_setup_teardown(test_spec_opens_again, ga_test_make_folder,
                                        ga_test_remove_folder),
        cmocka_unit_test_setup_teardown(test_relative_names, ga_test_make_folder,
                                        ga_test_remove_folder),
        cmocka_unit_test_setup_teardown(test_quoted_and_plain_lines_agree, ga_test_make_folder,
                                        ga_test_remove_folder),
        cmocka_unit_test_setup_teardown(test_numbers, ga_test_make_folder, ga_test_remove_folder),
        cmocka_unit_test_setup_teardown(test_gzip, ga_test_make_folder, ga_test_remove_folder),
        cmocka_unit_test_setup_teardown(test_many_rows, ga_test_make_folder, ga_test_remove_folder),
    };
    return ga_test_main(tests);
}
