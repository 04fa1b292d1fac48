/*
 * Files made to do harm: small ones that unpack to huge tables, archives that no library writes,
 * names that are no files. Each is refused in words, and before memory is taken for its promises.
 */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/error.h"
#include "dataset/made.h"
#include "dataset/opened.h"
#include "dataset/zipped.h"

#define MIB ((size_t)1 << 20)

/* Refused with the code and the words, and with no more than `most` bytes asked for. */
static void assert_refused(const char *file, const char *options, int code, const char *words,
                           uint64_t most)
{
    struct ga_dataset *dataset = NULL;
    const uint64_t before = ga_test_allocated_bytes();
    const int got = ga_test_data(&dataset, file, options, ga_test_here);
    const uint64_t taken = ga_test_allocated_bytes() - before;
    assert_null(dataset);
    if (got != code || !strstr(ga_error_text(), words)) {
        fail_msg("%s %s: %d %s, expected %d %s", file, options, got, ga_error_text(), code, words);
    }
    if (taken > most) {
        fail_msg("%s: %llu bytes of memory, expected at most %llu", file, (unsigned long long)taken,
                 (unsigned long long)most);
    }
}

static void write_packed(const char *name, const char *first, const char *item, size_t count)
{
    enum { TIMES = 4096 };
    const size_t width = strlen(item);
    struct ga_text many = GA_TEXT_INIT;
    char *path = ga_test_path(ga_test_here, name);
    gzFile file = gzopen(path, "wb9");
    assert_non_null(file);
    for (size_t i = 0; i < TIMES; i++) {
        ga_text_puts(&many, item);
    }
    gzwrite(file, first, (unsigned)strlen(first));
    for (size_t i = 0; i < count / TIMES; i++) {
        assert_int_equal(gzwrite(file, many.data, (unsigned)(width * TIMES)), width * TIMES);
    }
    assert_int_equal(gzclose(file), Z_OK);
    ga_text_free(&many);
    free(path);
}

static void write_idx(const char *name, uint32_t rows, uint32_t width)
{
    const uint32_t shape[2] = {rows, width};
    struct ga_text text = GA_TEXT_INIT;
    ga_made_idx(&text, 0x08, width > 1 ? 2 : 1, shape);
    for (size_t i = 0; i < (size_t)rows * width; i++) {
        ga_text_append(&text, "", 1);
    }
    ga_made_file(name, &text);
}

/* 2,097,152 rows of 4 bytes in 8 KB: the table stops at its limit, whatever still lies packed. */
static void test_rows_without_end(void **state)
{
    (void)state;
    struct ga_dataset *dataset = NULL;
    write_packed("bomb.csv", "", "1,2\n", 2 * MIB);
    assert_refused("bomb.csv", "limit=1MiB", GA_ERANGE,
                   "/bomb.csv: more than 131072 rows of 2 numbers, expected a table of at most 1 "
                   "MiB (limit=)",
                   8 * MIB);
    assert_refused("bomb.csv", "limit=7B", GA_ERANGE, "more than 0 rows", 2 * MIB);
    assert_refused("bomb.csv", "limit=0", GA_ERANGE, "limit=\"0\"", MIB);
    assert_refused("bomb.csv", "limit=much", GA_EINPUT, "limit=\"much\"", MIB);
    assert_refused("bomb.csv", "limit=1MiB limit=2MiB", GA_EINPUT, "given twice", MIB);
    assert_int_equal(ga_test_data(&dataset, "bomb.csv", "limit=16MiB", ga_test_here), 0);
    assert_int_equal(ga_dataset_bytes(dataset), 16 * MIB); /* to the byte */
    ga_dataset_close(dataset);
    assert_refused("bomb.csv", "limit=16777215B", GA_ERANGE, "more than 2097151 rows", 64 * MIB);
}

/* A row is held as text until its end. */
static void test_a_row_without_end(void **state)
{
    (void)state;
    static char field[60001];
    memset(field, '1', sizeof field - 2);
    field[sizeof field - 2] = ',';
    char *path = ga_test_path(ga_test_here, "row.csv");
    gzFile file = gzopen(path, "wb9");
    assert_non_null(file);
    for (size_t i = 0; i < 1000; i++) {
        gzwrite(file, field, sizeof field - 1);
    }
    assert_int_equal(gzclose(file), Z_OK);
    free(path);
    assert_refused("row.csv", "", GA_ERANGE, "/row.csv:1: a row of more than 16777216 bytes",
                   100 * MIB);
    write_packed("wide.csv", "", ",", MIB);
    assert_refused("wide.csv", "", GA_ERANGE, "too many columns", 8 * MIB);
    write_packed("blank.csv", "", "\n", 8 * MIB);
    assert_refused("blank.csv", "", GA_EINPUT, "the file is empty", 2 * MIB);
    write_packed("zero.csv", "", "1", MIB);
    assert_refused("zero.csv", "", GA_EINPUT, "a field of more than 65536 bytes", 8 * MIB);
}

/* Bytes behind what the header promises are not unpacked to their end. */
static void test_arrays_behind_which_more_lies(void **state)
{
    (void)state;
    const char head[] = "\0\0\x08\x01\0\0\0\2ab";
    char *path = ga_test_path(ga_test_here, "more.gz");
    char *zeros = calloc(1, 64 * MIB);
    gzFile file = gzopen(path, "wb9");
    assert_non_null(file);
    assert_non_null(zeros);
    gzwrite(file, head, 10);
    gzwrite(file, zeros, (unsigned)(64 * MIB));
    assert_int_equal(gzclose(file), Z_OK);
    free(path);
    write_idx("y", 2, 1);
    assert_refused("more.gz", "labels=y", GA_EINPUT, "more than 4095 bytes behind the last row",
                   2 * MIB);

    struct ga_text array = GA_TEXT_INIT;
    struct ga_text archive = GA_TEXT_INIT;
    ga_made_array(&array, "|u1", "(2,)", zeros, 32 * MIB);
    const struct ga_zipped entries[] = {
        {.name = "x.npy", .bytes = array.data, .count = array.length, .deflated = true},
        {.name = "y.npy", .bytes = array.data, .count = 130},
    };
    ga_zipped_write(&archive, entries, 2);
    ga_made_file("more.npz", &archive);
    assert_refused("more.npz", "", GA_EINPUT, "more than 4095 bytes behind the last row", MIB);
    ga_text_free(&array);
    free(zeros);
}

/* What is promised truthfully is measured before it is asked for. */
static void test_arrays_beyond_the_limit(void **state)
{
    (void)state;
    struct ga_dataset *dataset = NULL;
    write_idx("x", 1000, 100);
    write_idx("y", 1000, 1);
    assert_refused("x", "labels=y limit=100KiB", GA_ERANGE,
                   "/x: more than 253 rows of 101 numbers, expected a table of at most 100 KiB",
                   MIB);
    assert_refused("x", "labels=y limit=403999B", GA_ERANGE, "more than 999 rows", MIB);
    assert_refused("x", "labels=y heldout=x heldout-labels=y limit=404000B", GA_ERANGE,
                   "more than 1000 rows", MIB);
    assert_int_equal(ga_test_data(&dataset, "x", "labels=y limit=404000B", ga_test_here), 0);
    assert_int_equal(ga_dataset_bytes(dataset), 404000);
    ga_dataset_close(dataset);

    /* a file of a terabyte, nearly all of it a hole: beyond the memory of most machines */
    struct ga_text text = GA_TEXT_INIT;
    char *path = ga_test_path(ga_test_here, "huge.npy");
    ga_made_array(&text, "|u1", "(1000000, 1000000)", "", 0);
    const off_t size = (off_t)text.length + (off_t)1000000000000;
    ga_made_file("huge.npy", &text);
    if (truncate(path, size) == 0) {
        assert_refused("huge.npy", "labels=y", GA_EINPUT, "/y: 1000 rows, expected 1000000", MIB);
        write_idx("z", 1000000, 1);
        assert_refused("huge.npy", "labels=z", GA_ERANGE, "3/4 of the free memory", MIB);
    }
    free(path);
}

static void test_quadratics_beyond_the_memory(void **state)
{
    (void)state;
    struct ga_text line = GA_TEXT_INIT;
    struct ga_dataset *dataset = NULL;
    ga_text_puts(&line, "quadratic n=10000000 lambda=1");
    for (size_t i = 1; i < 30000; i++) {
        ga_text_puts(&line, ",1");
    }
    assert_int_equal(ga_test_data(&dataset, NULL, ga_text_get(&line), ""), GA_ERANGE);
    assert_non_null(strstr(ga_error_text(), "rows of 60000 numbers"));
    ga_text_free(&line);
}

struct archive_attack {
    const char *what;
    struct ga_zipped entry; /* x; bytes and name are set by the test */
    int code;
    const char *words;
};

static const struct archive_attack attacks[] = {
    {"stored", {0}, 0, NULL},
    {"deflated", {.deflated = true}, 0, NULL},
    {"zip64", {.zip64 = true}, 0, NULL},
    {"zip64, deflated", {.zip64 = true, .deflated = true}, 0, NULL},
    {"encrypted", {.flags = 1}, GA_EUNSUPPORTED, "without a password"},
    {"method 99", {.method = 99}, GA_EINPUT, "truncated or damaged"},
    {"bzip2", {.method = 12}, GA_EUNSUPPORTED, "expected stored or deflated"},
    {"more than is stored", {.promised = 1000}, GA_EINPUT, "1000 bytes out of "},
    {"less than there is", {.promised = 80}, GA_EINPUT, ""},
    {"less, deflated", {.promised = 80, .deflated = true}, GA_EINPUT, ""},
    {"more than there is",
     {.promised = 160, .deflated = true},
     GA_EINPUT,
     "90 bytes, expected the 160 of its entry"},
    {"more than can be", {.promised = 4000000000, .deflated = true}, GA_EINPUT, "more than can be"},
};

static void test_archives(void **state)
{
    (void)state;
    const float values[4] = {1, 2, 3, 4};
    struct ga_text array = GA_TEXT_INIT;
    ga_made_array(&array, "<f4", "(2, 2)", values, sizeof values);
    for (size_t i = 0; i < sizeof attacks / sizeof attacks[0]; i++) {
        struct ga_text archive = GA_TEXT_INIT;
        struct ga_zipped entries[2] = {attacks[i].entry, {.name = "y.npy"}};
        entries[0].name = "x.npy";
        entries[0].bytes = entries[1].bytes = array.data;
        entries[0].count = entries[1].count = array.length;
        ga_zipped_write(&archive, entries, 2);
        ga_made_file("a.npz", &archive);
        if (attacks[i].code != 0) {
            assert_refused("a.npz", "", attacks[i].code, attacks[i].words, MIB);
            continue;
        }
        struct ga_dataset *dataset = NULL;
        if (ga_test_data(&dataset, "a.npz", "", ga_test_here) != 0) {
            fail_msg("%s: %s", attacks[i].what, ga_error_text());
        }
        ga_dataset_close(dataset);
    }
    ga_text_free(&array);
}

static void test_names_in_archives(void **state)
{
    (void)state;
    const float values[4] = {1, 2, 3, 4};
    struct ga_text array = GA_TEXT_INIT;
    struct ga_text archive = GA_TEXT_INIT;
    ga_made_array(&array, "<f4", "(2, 2)", values, sizeof values);
    struct ga_zipped entries[3];
    static const char *const names[] = {"x.npy", "y.npy", "x"};
    for (size_t i = 0; i < 3; i++) {
        entries[i] =
            (struct ga_zipped){.name = names[i], .bytes = array.data, .count = array.length};
    }
    ga_zipped_write(&archive, entries, 3);
    ga_made_file("twice.npz", &archive);
    assert_refused("twice.npz", "", GA_EINPUT, "\"x\" is there twice, expected one array", MIB);
    entries[2].name = "../../x.npy"; /* nothing is written by its name */
    ga_zipped_write(&archive, entries, 3);
    ga_made_file("up.npz", &archive);
    assert_refused("up.npz", "inputs=z", GA_EINPUT, "\"../../x\"", MIB);
    ga_zipped_write(&archive, entries, 0);
    ga_made_file("none.npz", &archive);
    assert_refused("none.npz", "", GA_EINPUT, "none.npz", MIB);
    ga_text_free(&array);
}

static const struct {
    const char *bytes;
    size_t count;
    const char *options;
    int code;
    const char *words;
} headers[] = {
    {"\x93NUMPY\1\0\xff\xff{'descr'", 17, "", GA_EINPUT, "ends within the NPY header"},
    {"\x93NUMPY\1\0\xff", 9, "", GA_EINPUT, "ends within the NPY header"},
    {"\x93NUMPY", 6, "", GA_EINPUT, "ends within the NPY header"},
    {"\x93NUMPY\0\0\4\0{  }", 14, "", GA_EUNSUPPORTED, "NPY version 0.0"},
    {"\x93NUMPY\xff\xff\4\0{  }", 14, "", GA_EUNSUPPORTED, "NPY version 255.255"},
    {"\x93NUMPX\1\0", 8, "", GA_EINPUT, ":1:"}, /* and so a CSV file that is none */
    {"\0\0\x08\xff\0\0\0\1", 8, "labels=y", GA_EINPUT, "IDX with 255 dimensions"},
    {"\0\0\0\0", 4, "labels=y", GA_EINPUT, "IDX type 0x00"},
    {"\0\1\x08\1\0\0\0\1a", 9, "", GA_EINPUT, ":1:"},
    {"PK\3\4", 4, "", GA_EINPUT, "truncated or damaged"},
    {"PK\5\6", 4, "", GA_EINPUT, "truncated or damaged"},
    {"\x1f\x8b", 2, "", GA_EINPUT, "unexpected end of file"},
    {"\x1f\x8b\x08\xff", 4, "", GA_EINPUT, "truncated or damaged gzip"},
    {"x\x9c", 2, "", GA_EINPUT, "unexpected end of file"},
    {"\x1f", 1, "", GA_EINPUT, ":1:"},
    {"", 0, "", GA_EINPUT, "the file is empty"},
    {"\0", 1, "", GA_EINPUT, ":1:"},
};

static void test_headers(void **state)
{
    (void)state;
    write_idx("y", 1, 1);
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        struct ga_text text = GA_TEXT_INIT;
        ga_text_append(&text, headers[i].bytes, headers[i].count);
        ga_made_file("h", &text);
        assert_refused("h", headers[i].options, headers[i].code, headers[i].words, MIB);
    }
}

/* Sizes as Python 2 wrote them, with an L behind. */
static void test_long_integers(void **state)
{
    (void)state;
    const float values[4] = {1, 2, 3, 4};
    struct ga_dataset *dataset = NULL;
    struct ga_text text = GA_TEXT_INIT;
    ga_made_array(&text, "<f4", "(2L, 2L)", values, sizeof values);
    ga_made_file("long.npy", &text);
    assert_int_equal(ga_test_data(&dataset, "long.npy", "", ga_test_here), 0);
    assert_int_equal(ga_dataset_table(dataset)->train, 2);
    ga_dataset_close(dataset);
    ga_made_array(&text, "<f4", "(2LL, 2)", values, sizeof values);
    ga_made_file("long.npy", &text);
    assert_refused("long.npy", "", GA_EINPUT, "a comma or ) in the shape", MIB);
}

static void test_what_is_no_file(void **state)
{
    (void)state;
    char *pipe = ga_test_path(ga_test_here, "pipe");
    char *loop = ga_test_path(ga_test_here, "loop");
    char *gone = ga_test_path(ga_test_here, "gone");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(symlink(loop, loop), 0);
    assert_int_equal(symlink("nowhere", gone), 0);
    write_idx("y", 1, 1);
    assert_refused("pipe", "", GA_EINPUT, "is not a regular file", MIB);
    assert_refused(loop, "", GA_EIO, "Too many levels of symbolic links", MIB);
    assert_refused(gone, "", GA_EIO, "No such file", MIB);
    assert_refused("y", "labels=loop", GA_EIO, "cannot open", MIB);
    assert_refused(ga_test_here, "", GA_EINPUT, "is a directory", MIB);
    assert_refused("/dev/zero", "", GA_EINPUT, "is not a regular file", MIB);
    assert_refused("/proc/self/mem", "", GA_EIO, "cannot read", MIB);
    free(gone);
    free(loop);
    free(pipe);
}

#define IN_FOLDER(test)                                                                            \
    cmocka_unit_test_setup_teardown(test, ga_test_make_folder, ga_test_remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_rows_without_end),
        IN_FOLDER(test_a_row_without_end),
        IN_FOLDER(test_arrays_behind_which_more_lies),
        IN_FOLDER(test_arrays_beyond_the_limit),
        IN_FOLDER(test_quadratics_beyond_the_memory),
        IN_FOLDER(test_archives),
        IN_FOLDER(test_names_in_archives),
        IN_FOLDER(test_headers),
        IN_FOLDER(test_long_integers),
        IN_FOLDER(test_what_is_no_file),
    };
    return ga_test_main(tests);
}
