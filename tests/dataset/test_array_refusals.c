/* IDX, NPY and NPZ files that are refused: what was wrong, where, and what was expected. */
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/error.h"
#include "dataset/made.h"
#include "dataset/opened.h"

static void assert_refused(const char *file, const char *options, int code, const char *message)
{
    struct ga_dataset *dataset = (struct ga_dataset *)&dataset;
    const int got = ga_test_data(&dataset, file, options, ga_test_here);
    assert_null(dataset);
    if (got != code || !strstr(ga_error_text(), message)) {
        fail_msg("%s %s: %d %s, expected %d %s", file, options, got, ga_error_text(), code,
                 message);
    }
}

/* "y": 2 rows of labels 0 1; "z": 2 rows of 2 floats. */
static void make_labels(void)
{
    const uint32_t rows = 2;
    const float z[4] = {0.5f, 1, 2, 3};
    struct ga_text text = GA_TEXT_INIT;
    ga_made_idx(&text, 0x08, 1, &rows);
    ga_text_append(&text, "\0\1", 2);
    ga_made_file("y", &text);
    ga_made_array(&text, "<f4", "(2, 2)", z, sizeof z);
    ga_made_file("z", &text);
}

static const struct {
    const char *bytes;
    size_t count;
    const char *options;
    int code;
    const char *message;
} idx[] = {
    {"\0\0\x08\x01", 4, "labels=y", GA_EINPUT, "the file ends within the IDX header, expected 4"},
    {"\0\0\x08\x01\0\0\0\2ab", 10, "", GA_EINPUT, "data x: no labels, expected labels=FILE"},
    {"\0\0\x08\x01\0\0\0\2a", 9, "labels=y", GA_EINPUT,
     "/x: the file ends in row 2, expected 2 rows"},
    {"\0\0\x08\x01\0\0\0\2abc", 11, "labels=y", GA_EINPUT,
     "/x: 1 bytes behind the last row, expected the end of the file"},
    {"\0\0\x0a\x01\0\0\0\2ab", 10, "labels=y", GA_EINPUT, "IDX type 0x0a, expected 0x08"},
    {"\0\0\x08\0ab", 6, "labels=y", GA_EINPUT, "IDX with 0 dimensions, expected 1 to 8"},
    {"\0\0\x08\tab", 6, "labels=y", GA_EINPUT, "IDX with 9 dimensions"},
    {"\0\0\x08\x01\0\0\0\0", 8, "labels=y", GA_EINPUT, "0 elements, expected at least one row"},
    {"\0\0\x08\x02\0\0\0\2\0\0\0\0", 12, "labels=y", GA_EINPUT, "2 x 0 elements"},
    {"\0\0\x08\x01\xff\xff\xff\xff", 8, "labels=y", GA_EINPUT, "promises 4294967295 elements"},
    {"\0\0\x0e\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
     "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
     36, "labels=y", GA_EINPUT, "4294967295 x 4294967295 x 4294967295"},
    {"\0\0\x08\x01\0\0\0\3abc", 11, "labels=y", GA_EINPUT, "/y: 2 rows, expected 3 as in "},
    {"\0\0\x08\x01\0\0\0\2ab", 10, "labels=none", GA_EIO, "cannot open none"},
    {"\0\0\x08\x01\0\0\0\2ab", 10, "labels=.", GA_EINPUT, "is a directory"},
    {"\0\0\x08\x01\0\0\0\2ab", 10, "labels=/dev/zero", GA_EINPUT, "is not a regular file"},
    {"\0\0\x08\x01\0\0\0\2ab", 10, "labels=z kind=class", GA_EINPUT,
     "/z: 2 numbers a row, expected one for kind=class"},
    {"\0\0\x08\x01\0\0\0\2ab", 10, "labels=x classes=3", GA_ERANGE,
     "/x: row 1, number 1: 97, expected a class, a whole number 0..2"},
    {"\0\0\x08\x01\0\0\0\2ab", 10, "labels=z classes=3", GA_EINPUT, "classes= does not go with"},
    {"\0\0\x08\x01\0\0\0\2ab", 10, "labels=y kind=quadratic", GA_EINPUT, "value, class"},
    {"\0\0\x08\x01\0\0\0\2ab", 10, "labels=y target=1", GA_EINPUT, "\"target=1\" is not"},
    {"\0\0\x08\x01\0\0\0\2ab", 10, "labels=y scale=0", GA_ERANGE, "scale=0 makes all inputs 0"},
    {"\0\0\x08\x01\0\0\0\2ab", 10, "labels=y test=2", GA_ERANGE, "at least 1 row to train"},
    {"\0\0\x08\x01\0\0\0\2ab", 10, "labels=y heldout=x", GA_EINPUT, "expected heldout-labels=FILE"},
    {"\0\0\x08\x01\0\0\0\2ab", 10, "labels=y heldout-labels=x", GA_EINPUT, "expected heldout=FILE"},
    {"\0\0\x08\x01\0\0\0\2ab", 10, "labels=y heldout=z heldout-labels=y", GA_EINPUT,
     "/z: 2 numbers a row, expected 1 as in "},
    {"\0\0\x08\x01\0\0\0\2ab", 10, "labels=y heldout=x heldout-labels=y shuffle=1", GA_EINPUT,
     "shuffle= draws the held-out rows, and there are some already"},
    {"\0\0\x08\x01\0\0\0\2ab", 10, "labels=y heldout=x heldout-labels=y train=3", GA_ERANGE,
     "train=\"3\""},
    {"\0\0\x0d\x01\0\0\0\2\x7f\xc0\0\0\0\0\0\0", 16, "labels=y", GA_ERANGE,
     "/x: row 1, number 1: nan, expected a finite number"},
    {"\0\0\x0e\x01\0\0\0\2\0\0\0\0\0\0\0\0\x7f\xe0\0\0\0\0\0\0", 24, "labels=y", GA_ERANGE,
     "/x: row 2, number 1: 8.98846567431158e+307, expected at most 3.4028"},
};

static void test_idx(void **state)
{
    (void)state;
    make_labels();
    for (size_t i = 0; i < sizeof idx / sizeof idx[0]; i++) {
        struct ga_text text = GA_TEXT_INIT;
        ga_text_append(&text, idx[i].bytes, idx[i].count);
        ga_made_file("x", &text);
        assert_refused("x", idx[i].options, idx[i].code, idx[i].message);
    }
}

static const struct {
    const char *header;
    int code;
    const char *message;
} npy[] = {
    {"", GA_EINPUT, "the NPY header has \"\", expected a dictionary"},
    {"{", GA_EINPUT, "expected 'descr', 'fortran_order' and 'shape', each once"},
    {"{}", GA_EINPUT, "the NPY header is incomplete"},
    {"{'descr': '<f4', 'fortran_order': False}", GA_EINPUT, "header is incomplete"},
    {"{'descr': '<f4', 'shape': (2, 2)}", GA_EINPUT, "header is incomplete"},
    {"{'fortran_order': False, 'shape': (2, 2)}", GA_EINPUT, "header is incomplete"},
    {"{'descr': '<f4', 'descr': '<f4'}", GA_EINPUT, "each once"},
    {"{'descr': '<f4', 'more': 1}", GA_EINPUT, "has \"'more': 1}"},
    {"{'descr': '<f4' 'shape': (1, 2)}", GA_EINPUT, "a comma or } behind an entry"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)} x", GA_EINPUT, "but blanks"},
    {"{'descr': '>f4', 'fortran_order': False, 'shape': (2, 2)}", GA_EINPUT, "little-endian"},
    {"{'descr': '=f4', 'fortran_order': False, 'shape': (2, 2)}", GA_EINPUT, "little-endian"},
    {"{'descr': '<f2', 'fortran_order': False, 'shape': (2, 2)}", GA_EINPUT, "one little-endian"},
    {"{'descr': '<c8', 'fortran_order': False, 'shape': (2, 2)}", GA_EINPUT, "one little-endian"},
    {"{'descr': '|O', 'fortran_order': False, 'shape': (2, 2)}", GA_EINPUT, "one little-endian"},
    {"{'descr': '<U7', 'fortran_order': False, 'shape': (2, 2)}", GA_EINPUT, "one little-endian"},
    {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", GA_EINPUT,
     "has \"[('a', '<f4')], 'fortran_order': False, ...\", expected one little-endian"},
    {"{'descr': '<f4, 'fortran_order': False, 'shape': (2, 2)}", GA_EINPUT, "one little-endian"},
    {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 2)}", GA_EINPUT, "True or False"},
    {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2)}", GA_EUNSUPPORTED,
     "the array is in Fortran order, expected C order"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': ()}", GA_EINPUT, "a single number"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': 4}", GA_EINPUT, "such as (60000, 784)"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, -2)}", GA_EINPUT, "such as (60000"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2 2)}", GA_EINPUT, "comma or )"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,", GA_EINPUT, "such as (60000"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,4)}", GA_EINPUT,
     "at most 8 dimensions"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 2)}", GA_EINPUT, "0 x 2 elements"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 0)}", GA_EINPUT, "2 x 0 elements"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 18446744073709551616)}", GA_EINPUT,
     "a shape whose sizes fit 64 bits"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 9223372036854775808)}", GA_EINPUT,
     "promises 2 x 9223372036854775808 elements of 4 bytes"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", GA_EINPUT,
     "promises 4294967296 x 4294967296 elements"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2305843009213693953)}", GA_EINPUT,
     "promises 2 x 2305843009213693953"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3)}", GA_EINPUT,
     "4 bytes behind the last row"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (5, 1)}", GA_EINPUT,
     "1 column, expected at least one input"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (5, 2)}", GA_EINPUT, "ends in row 3"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 2)}", GA_EINPUT,
     "3 dimensions and 4 numbers a row, expected labels=FILE with it"},
};

static void test_npy(void **state)
{
    (void)state;
    const float values[4] = {1, 2, 3, 4};
    make_labels();
    for (size_t i = 0; i < sizeof npy / sizeof npy[0]; i++) {
        struct ga_text text = GA_TEXT_INIT;
        ga_made_npy(&text, 1 + (int)(i % 3), npy[i].header, values, sizeof values);
        ga_made_file("x", &text);
        assert_refused("x", "", npy[i].code, npy[i].message);
    }
    struct ga_text text = GA_TEXT_INIT;
    ga_made_array(&text, "<f4", "(2, 2)", values, sizeof values);
    text.data[6] = 4;
    ga_made_file("x", &text);
    assert_refused("x", "", GA_EUNSUPPORTED, "NPY version 4.0, expected 1, 2 or 3");
    ga_made_array(&text, "<f4", "(2, 2)", (const float[]){1, 2, 3, HUGE_VALF}, sizeof values);
    ga_made_file("x", &text);
    assert_refused("x", "", GA_ERANGE, "/x:2: column 2: inf, expected a finite number");
    assert_refused("x", "labels=y target=1", GA_EINPUT, "target= does not go with labels=");
    assert_refused("x", "heldout=y", GA_EINPUT, "heldout= goes with labels=");
    assert_refused("x", "target=3", GA_EINPUT, "target=\"3\" is no column, expected 1..2");
    ga_text_puts(&text, "\x93NUMPY\2");
    ga_text_append(&text, "\0\xff\xff\xff\xff", 5);
    ga_made_file("x", &text);
    assert_refused("x", "", GA_ERANGE, "an NPY header of 4294967295 bytes, expected at most 65536");
}

/* Every cut of a file is refused, and so is every cut of a packed one. */
static void test_cuts(void **state)
{
    (void)state;
    const float values[4] = {1, 2, 3, 4};
    struct ga_text text = GA_TEXT_INIT;
    make_labels();
    ga_made_array(&text, "<f4", "(2, 2)", values, sizeof values);
    struct ga_text whole = GA_TEXT_INIT;
    ga_text_append(&whole, text.data, text.length);
    ga_made_member("m.npz", "x", &text, 1);
    ga_text_append(&text, whole.data, whole.length);
    ga_made_member("m.npz", "y", &text, 0);
    char *path = ga_test_path(ga_test_here, "m.npz");
    size_t size = 0;
    char *archive = ga_test_read_file(path, &size);
    struct ga_dataset *dataset = NULL;
    for (size_t cut = 0; cut < whole.length; cut++) {
        assert_true(ga_test_open_bytes(&dataset, whole.data, cut, "") < 0);
    }
    for (size_t cut = 0; cut < size; cut++) {
        assert_true(ga_test_open_bytes(&dataset, archive, cut, "") < 0);
    }
    assert_int_equal(ga_test_open_bytes(&dataset, archive, size, ""), 0);
    ga_dataset_close(dataset);
    free(archive);
    free(path);
    ga_text_free(&whole);
}

static void test_npz(void **state)
{
    (void)state;
    const float values[4] = {1, 2, 3, 4};
    struct ga_text text = GA_TEXT_INIT;
    ga_made_array(&text, "<f4", "(2, 2)", values, sizeof values);
    ga_made_member("m.npz", "a", &text, 1);
    assert_refused("m.npz", "", GA_EINPUT, "expected inputs=NAME, one of: \"a\"");
    assert_refused("m.npz", "inputs=a", GA_EINPUT, "expected labels=NAME, one of: \"a\"");
    assert_refused("m.npz", "inputs=b labels=a", GA_EINPUT, "no array \"b\", expected inputs= one");
    assert_refused("m.npz", "inputs=a labels=a heldout=a", GA_EINPUT, "expected heldout-labels=");
    assert_refused("m.npz", "inputs=a labels=a heldout-labels=a", GA_EINPUT, "expected heldout=");
    assert_refused("m.npz", "inputs=a labels=a weight=a", GA_EINPUT,
                   "m.npz: \"a\": 2 numbers a row, expected one weight");
    assert_refused("m.npz", "inputs=a labels=a target=1", GA_EINPUT, "\"target=1\" is not");
    ga_made_array(&text, "<f4", "(4,)", values, sizeof values);
    ga_made_member("m.npz", "b", &text, 1);
    assert_refused("m.npz", "inputs=a labels=b", GA_EINPUT, "\"b\": 4 rows, expected 2 as in ");
    assert_refused("m.npz", "inputs=b labels=b weight=a", GA_EINPUT, "\"a\": 2 rows, expected 4");
    ga_made_array(&text, "<f4", "(4, 1000)", values, sizeof values);
    ga_made_member("m.npz", "c", &text, 0);
    assert_refused("m.npz", "inputs=c labels=b", GA_EINPUT, "promises 4 x 1000 elements");
    ga_text_puts(&text, "no array at all");
    ga_made_member("m.npz", "d", &text, 0);
    assert_refused("m.npz", "inputs=d labels=b", GA_EINPUT, "\"d\" is no array, expected an NPY");
    ga_text_puts(&text, "PK\3\4 and then nothing of the kind");
    ga_made_file("n.npz", &text);
    assert_refused("n.npz", "", GA_EINPUT, "n.npz: truncated or damaged (");
}

/* Packed data may promise no more than deflate can give: nothing is allocated for it. */
static void test_empty_promises(void **state)
{
    (void)state;
    const uint32_t shape[2] = {60000, 1000000};
    struct ga_text text = GA_TEXT_INIT;
    make_labels();
    ga_made_idx(&text, 0x08, 2, shape);
    char *path = ga_test_path(ga_test_here, "x.gz");
    gzFile file = gzopen(path, "wb");
    assert_int_equal(gzwrite(file, text.data, (unsigned)text.length), (int)text.length);
    assert_int_equal(gzclose(file), Z_OK);
    ga_text_free(&text);
    free(path);
    assert_refused("x.gz", "labels=y", GA_EINPUT, "promises 60000 x 1000000 elements of 1 bytes");
}

static void test_pipes(void **state)
{
    (void)state;
    make_labels();
    char *pipe = ga_test_path(ga_test_here, "pipe");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_refused("pipe", "", GA_EINPUT, "is not a regular file");
    assert_refused("y", "labels=pipe", GA_EINPUT, "is not a regular file");
    free(pipe);
}

#define IN_FOLDER(test)                                                                            \
    cmocka_unit_test_setup_teardown(test, ga_test_make_folder, ga_test_remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_idx),
        IN_FOLDER(test_npy),
        IN_FOLDER(test_cuts),
        IN_FOLDER(test_npz),
        IN_FOLDER(test_empty_promises),
        IN_FOLDER(test_pipes),
    };
    return ga_test_main(tests);
}
