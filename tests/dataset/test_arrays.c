/* IDX, NPY and NPZ files: every form that is read, and the values that come out. */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "dataset/made.h"
#include "dataset/opened.h"

static struct ga_dataset *must_open(const char *file, const char *options)
{
    struct ga_dataset *dataset = NULL;
    if (ga_test_data(&dataset, file, options, ga_test_here) != 0) {
        fail_msg("%s %s: %s", file, options, ga_error_text());
    }
    return dataset;
}

static void assert_shape(const struct ga_dataset *dataset, size_t train, size_t test, size_t inputs,
                         size_t targets)
{
    const struct ga_table *table = ga_dataset_table(dataset);
    assert_int_equal(table->train, train);
    assert_int_equal(table->test, test);
    assert_int_equal(table->input_width, inputs);
    assert_int_equal(table->target_width, targets);
}

static void assert_floats(const float *got, const double *want, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_true(got[i] == (float)want[i]);
    }
}

/* Pictures of 2 x 3: byte k of row r is 10 r + k (+ `add`); the label of row r is r mod 3. */
static void make_pictures(const char *images, const char *labels, uint32_t rows, int add)
{
    struct ga_text text = GA_TEXT_INIT;
    const uint32_t shape[3] = {rows, 2, 3};
    ga_made_idx(&text, 0x08, 3, shape);
    for (uint32_t i = 0; i < rows * 6; i++) {
        const char byte = (char)((int)(i / 6 * 10 + i % 6) + add);
        ga_text_append(&text, &byte, 1);
    }
    ga_made_file(images, &text);
    ga_made_idx(&text, 0x08, 1, shape);
    for (uint32_t i = 0; i < rows; i++) {
        const char byte = (char)(i % 3);
        ga_text_append(&text, &byte, 1);
    }
    ga_made_file(labels, &text);
}

static void test_idx_pictures(void **state)
{
    (void)state;
    make_pictures("a-images.idx3-ubyte", "a-labels.idx1-ubyte", 4, 0);
    struct ga_dataset *dataset = must_open("a-images.idx3-ubyte", "");
    const struct ga_table *table = ga_dataset_table(dataset);
    assert_shape(dataset, 4, 0, 6, 3);
    assert_int_equal(table->kind, GA_TARGET_CLASS);
    assert_null(table->targets);
    assert_null(table->weights);
    assert_string_equal(ga_dataset_format(dataset), "idx");
    for (size_t i = 0; i < 24; i++) {
        const size_t pixel = i / 6 * 10 + i % 6;
        assert_true(table->inputs[i] == (float)((double)pixel * (1.0 / 255.0)));
    }
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(table->labels[i], i % 3);
    }
    ga_dataset_close(dataset);
    dataset = must_open("a-images.idx3-ubyte",
                        "scale=2 classes=7 train=1 test=2 labels=a-labels.idx1-ubyte");
    table = ga_dataset_table(dataset);
    assert_shape(dataset, 1, 2, 6, 7);
    assert_true(table->inputs[5] == 10.0f && table->inputs[6] == 20.0f);
    ga_dataset_close(dataset);
    dataset = must_open("a-images.idx3-ubyte", "kind=value test=0.25 shuffle=3");
    assert_shape(dataset, 3, 1, 6, 1);
    assert_int_equal(ga_dataset_table(dataset)->kind, GA_TARGET_VALUE);
    ga_dataset_close(dataset);
}

/* Each type, big-endian, as values. */
static void test_idx_types(void **state)
{
    (void)state;
    static const struct {
        unsigned char type;
        size_t size_bytes;
        const char *bytes; /* of 2 rows */
        double want[2];
    } cases[] = {
        {0x08, 1, "\xff\x01", {255, 1}},
        {0x09, 1, "\xff\x01", {-1, 1}},
        {0x0b, 2, "\xff\xfe\x01\x02", {-2, 258}},
        {0x0c, 4, "\xff\xff\xff\xfd\x00\x01\x00\x00", {-3, 65536}},
        {0x0d, 4, "\x3f\xc0\x00\x00\xc0\x20\x00\x00", {1.5, -2.5}},
        {0x0e, 8, "\x3f\xf8\0\0\0\0\0\0\xc0\x04\0\0\0\0\0\0", {1.5, -2.5}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ga_text text = GA_TEXT_INIT;
        const uint32_t rows = 2;
        ga_made_idx(&text, cases[i].type, 1, &rows);
        ga_text_append(&text, cases[i].bytes, 2 * cases[i].size_bytes);
        ga_made_file("x", &text);
        struct ga_dataset *dataset = must_open("x", "labels=x kind=value scale=1");
        const struct ga_table *table = ga_dataset_table(dataset);
        assert_shape(dataset, 2, 0, 1, 1);
        assert_floats(table->inputs, cases[i].want, 2);
        assert_floats(table->targets, cases[i].want, 2);
        ga_dataset_close(dataset);
    }
}

static void pack_file(const char *name)
{
    char packed[64];
    size_t length = 0;
    char *path = ga_test_path(ga_test_here, name);
    char *bytes = ga_test_read_file(path, &length);
    snprintf(packed, sizeof packed, "%s.gz", name);
    char *to = ga_test_path(ga_test_here, packed);
    gzFile file = gzopen(to, "wb");
    assert_int_equal(gzwrite(file, bytes, (unsigned)length), (int)length);
    assert_int_equal(gzclose(file), Z_OK);
    assert_int_equal(remove(path), 0);
    free(to);
    free(bytes);
    free(path);
}

/* The four files of MNIST in a folder, some packed; names found by themselves. */
static void test_mnist_folder(void **state)
{
    (void)state;
    make_pictures("train-images-idx3-ubyte", "train-labels-idx1-ubyte", 5, 0);
    struct ga_dataset *dataset = must_open(ga_test_here, "");
    assert_shape(dataset, 5, 0, 6, 3);
    ga_dataset_close(dataset);
    make_pictures("t10k-images.idx3-ubyte", "t10k-labels.idx1-ubyte", 3, 100);
    pack_file("train-images-idx3-ubyte");
    pack_file("t10k-labels.idx1-ubyte");
    dataset = must_open(ga_test_here, "scale=1");
    const struct ga_table *table = ga_dataset_table(dataset);
    assert_shape(dataset, 5, 3, 6, 3);
    assert_true(table->inputs[5 * 6] == 100.0f && table->inputs[4 * 6] == 40.0f);
    assert_int_equal(table->labels[5], 0);
    ga_dataset_close(dataset);
    dataset = must_open(ga_test_here, "scale=1 train=2 test=1");
    table = ga_dataset_table(dataset);
    assert_shape(dataset, 2, 1, 6, 3);
    assert_true(table->inputs[2 * 6] == 100.0f);
    ga_dataset_close(dataset);
    dataset = must_open("train-images-idx3-ubyte.gz", "heldout=t10k-images.idx3-ubyte test=2");
    assert_shape(dataset, 5, 2, 6, 3);
    ga_dataset_close(dataset);
    char slashed[4096];
    snprintf(slashed, sizeof slashed, "%s//", ga_test_here);
    dataset = must_open(slashed, "");
    assert_string_equal(ga_dataset_name(dataset), strrchr(ga_test_here, '/') + 1);
    ga_dataset_close(dataset);
}

/* One table in every type that NumPy writes little-endian. */
static void test_npy_types(void **state)
{
    (void)state;
    static const struct {
        const char *descr;
        size_t size_bytes;
        const char *bytes; /* of a row of 2 */
        double want[2];
    } cases[] = {
        {"|b1", 1, "\x01\x00", {1, 0}},
        {"|u1", 1, "\xff\x01", {255, 1}},
        {"<u1", 1, "\xff\x01", {255, 1}},
        {"|i1", 1, "\xff\x01", {-1, 1}},
        {"<u2", 2, "\xfe\xff\x02\x01", {65534, 258}},
        {"<i2", 2, "\xfe\xff\x02\x01", {-2, 258}},
        {"<u4", 4, "\xfd\xff\xff\xff\0\0\x01\0", {4294967293.0, 65536}},
        {"<i4", 4, "\xfd\xff\xff\xff\0\0\x01\0", {-3, 65536}},
        {"<u8", 8, "\0\0\0\0\0\0\0\x80\x05\0\0\0\0\0\0\0", {0x1p63, 5}},
        {"<i8", 8, "\0\0\0\0\0\0\0\x80\x05\0\0\0\0\0\0\0", {-0x1p63, 5}},
        {"<f4", 4, "\0\0\xc0\x3f\0\0\x20\xc0", {1.5, -2.5}},
        {"<f8", 8, "\0\0\0\0\0\0\xf8\x3f\0\0\0\0\0\0\x04\xc0", {1.5, -2.5}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ga_text text = GA_TEXT_INIT;
        ga_made_array(&text, cases[i].descr, "(1, 2)", cases[i].bytes, 2 * cases[i].size_bytes);
        ga_made_file("t.npy", &text);
        struct ga_dataset *dataset = must_open("t.npy", "");
        const struct ga_table *table = ga_dataset_table(dataset);
        assert_shape(dataset, 1, 0, 1, 1);
        assert_floats(table->inputs, &cases[i].want[0], 1);
        assert_floats(table->targets, &cases[i].want[1], 1);
        assert_string_equal(ga_dataset_format(dataset), "npy");
        ga_dataset_close(dataset);
    }
}

static void test_npy_headers(void **state)
{
    (void)state;
    static const struct {
        int version;
        const char *header;
        size_t width;
    } cases[] = {
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 3},
        {2, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 3},
        {3, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 3},
        {1, "{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"<f4\"}", 3},
        {1, " { 'shape' : ( 3 , 2 , ) , 'descr' : '<f4' , 'fortran_order' : False } ", 2},
    };
    const float values[6] = {1, 2, 3, 4, 5, 6};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ga_text text = GA_TEXT_INIT;
        ga_made_npy(&text, cases[i].version, cases[i].header, values, sizeof values);
        ga_made_file("t.npy", &text);
        struct ga_dataset *dataset = must_open("t.npy", "target=1");
        assert_shape(dataset, 6 / cases[i].width, 0, cases[i].width - 1, 1);
        assert_true(ga_dataset_table(dataset)->targets[0] == 1.0f);
        assert_true(ga_dataset_table(dataset)->inputs[0] == 2.0f);
        ga_dataset_close(dataset);
    }
}

static void test_npy_columns(void **state)
{
    (void)state;
    const double rows[12] = {1, 2, 3, 1, 4, 5, 6, 0, 7, 8, 9, 2};
    struct ga_text text = GA_TEXT_INIT;
    ga_made_array(&text, "<f8", "(3, 4)", rows, sizeof rows);
    ga_made_file("t.npy", &text);
    struct ga_dataset *dataset = must_open("t.npy", "kind=class test=1");
    assert_shape(dataset, 2, 1, 3, 3);
    assert_int_equal(ga_dataset_table(dataset)->labels[2], 2);
    ga_dataset_close(dataset);
    dataset = must_open("t.npy", "target=2,1 weight=-1 scale=10");
    assert_shape(dataset, 3, 0, 1, 2);
    assert_floats(ga_dataset_table(dataset)->inputs, (const double[]){30, 60, 90}, 3);
    assert_floats(ga_dataset_table(dataset)->targets, (const double[]){2, 1, 5, 4, 8, 7}, 6);
    assert_floats(ga_dataset_table(dataset)->weights, (const double[]){1, 0, 2}, 3);
    ga_dataset_close(dataset);
    dataset = must_open("t.npy", "kind=quadratic");
    assert_shape(dataset, 3, 0, 2, 2);
    ga_dataset_close(dataset);
}

static void make_npz(const char *archive, int deflate)
{
    const float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const int64_t y[4] = {0, 1, 2, 1};
    const double w[4] = {1, 2, 0.5, 0};
    struct ga_text text = GA_TEXT_INIT;
    ga_made_array(&text, "<f4", "(4, 2)", x, sizeof x);
    ga_made_member(archive, "x_train", &text, deflate);
    ga_made_array(&text, "<i8", "(4,)", y, sizeof y);
    ga_made_member(archive, "y_train", &text, deflate);
    ga_made_array(&text, "<f4", "(2, 1, 2)", x, sizeof x / 2);
    ga_made_member(archive, "x_test", &text, !deflate);
    ga_made_array(&text, "<i8", "(2, 1)", y, sizeof y / 2);
    ga_made_member(archive, "y_test", &text, !deflate);
    ga_made_array(&text, "<f8", "(4,)", w, sizeof w);
    ga_made_member(archive, "w", &text, deflate);
}

static void test_npz(void **state)
{
    (void)state;
    for (int deflate = 0; deflate < 2; deflate++) {
        const char *archive = deflate ? "d.npz" : "s.npz";
        make_npz(archive, deflate);
        struct ga_dataset *dataset = must_open(archive, "");
        assert_shape(dataset, 4, 2, 2, 3);
        assert_string_equal(ga_dataset_format(dataset), "npz");
        assert_floats(ga_dataset_table(dataset)->inputs,
                      (const double[]){1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4}, 12);
        assert_int_equal(ga_dataset_table(dataset)->labels[5], 1);
        ga_dataset_close(dataset);
        dataset = must_open(archive, "weight=w train=3");
        assert_shape(dataset, 3, 2, 2, 3);
        assert_floats(ga_dataset_table(dataset)->weights, (const double[]){1, 2, 0.5, 1, 1}, 5);
        ga_dataset_close(dataset);
        dataset = must_open(archive, "inputs=x_test labels=x_test");
        assert_shape(dataset, 2, 0, 2, 2);
        ga_dataset_close(dataset);
        dataset = must_open(archive, "inputs=x_train labels=w kind=value heldout=x_train "
                                     "heldout-labels=w");
        assert_shape(dataset, 4, 4, 2, 1);
        ga_dataset_close(dataset);
    }
}

static void test_npy_pairs_and_mixed_files(void **state)
{
    (void)state;
    const float x[6] = {1, 2, 3, 4, 5, 6};
    struct ga_text text = GA_TEXT_INIT;
    const uint32_t rows = 3;
    ga_made_array(&text, "<f4", "(3, 2)", x, sizeof x);
    ga_made_file("x.npy", &text);
    ga_made_idx(&text, 0x08, 1, &rows);
    ga_text_append(&text, "\2\0\1", 3);
    ga_made_file("y.idx", &text);
    struct ga_dataset *dataset = must_open("x.npy", "labels=y.idx");
    assert_shape(dataset, 3, 0, 2, 3);
    assert_int_equal(ga_dataset_table(dataset)->labels[0], 2);
    ga_dataset_close(dataset);
    dataset = must_open("x.npy", "labels=x.npy heldout=x.npy heldout-labels=x.npy");
    assert_shape(dataset, 3, 3, 2, 2);
    assert_int_equal(ga_dataset_table(dataset)->kind, GA_TARGET_VALUE);
    ga_dataset_close(dataset);
}

/* What a data set says of itself opens it again. */
static void test_spec_opens_again(void **state)
{
    (void)state;
    make_pictures("i images", "i labels", 6, 0);
    struct ga_dataset *dataset = must_open("i images", "test=2 shuffle=5");
    char *path = ga_test_path(ga_test_here, "i images");
    assert_non_null(strstr(ga_dataset_spec(dataset), path));
    struct ga_dataset *again = NULL;
    assert_int_equal(ga_test_data(&again, path, "test=2 shuffle=5", ""), 0);
    assert_true(ga_dataset_fingerprint(again) == ga_dataset_fingerprint(dataset));
    assert_string_equal(ga_dataset_spec(again), ga_dataset_spec(dataset));
    ga_dataset_close(again);
    ga_dataset_close(dataset);
    free(path);
}

static void test_no_memory(void **state)
{
    (void)state;
    make_pictures("t-images", "t-labels", 4, 0);
    make_npz("d.npz", 1);
    pack_file("t-labels");
    static const char *const files[] = {"t-images", "d.npz"};
    for (size_t i = 0; i < 2; i++) {
        struct ga_dataset *dataset = NULL;
        int code = GA_ENOMEM;
        int64_t budget = 0;
        for (; code != 0; budget++) {
            ga_test_allocation_limit(budget);
            code = ga_test_data(&dataset, files[i], "", ga_test_here);
            ga_test_allocation_free();
            assert_true(code == 0 || (code == GA_ENOMEM && !dataset));
        }
        assert_true(budget > 8);
        ga_dataset_close(dataset);
    }
}

#define IN_FOLDER(test)                                                                            \
    cmocka_unit_test_setup_teardown(test, ga_test_make_folder, ga_test_remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_idx_pictures),
        IN_FOLDER(test_idx_types),
        IN_FOLDER(test_mnist_folder),
        IN_FOLDER(test_npy_types),
        IN_FOLDER(test_npy_headers),
        IN_FOLDER(test_npy_columns),
        IN_FOLDER(test_npz),
        IN_FOLDER(test_npy_pairs_and_mixed_files),
        IN_FOLDER(test_spec_opens_again),
        IN_FOLDER(test_no_memory),
    };
    return ga_test_main(tests);
}
