#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "storage/safetensors.h"
#include "support/support.h"

#define CORPUS    GA_TEST_DIR "/corpus/safetensors/"
#define REFERENCE GA_TOP_DIR "/tests/data/reference/"

static void assert_refused(int code, enum ga_code want, const char *text)
{
    assert_int_equal(code, want);
    if (!strstr(ga_error_text(), text))
        fail_msg("\"%s\" does not contain \"%s\"", ga_error_text(), text);
}

/* Each file of the corpus that must be refused, and words of the reason. */
static const struct {
    const char *name, *text;
} bad_files[] = {
    {"bad_empty_file", "0 bytes, expected a safetensors file of at least 8"},
    {"bad_short", "3 bytes"},
    {"bad_header_beyond", "its header would be 3 bytes long, and 2 bytes follow"},
    {"bad_header_2_63", "9223372036854775808 bytes long"},
    {"bad_header_max", "18446744073709551615 bytes long"},
    {"bad_header_empty", "not valid JSON"},
    {"bad_json", "not valid JSON"},
    {"bad_json_trailing", "not valid JSON"},
    {"bad_json_nul", "not valid JSON"},
    {"bad_json_blank_first", "expected a JSON object"},
    {"bad_json_array", "expected a JSON object"},
    {"bad_json_utf8", "not valid JSON"},
    {"bad_json_surrogate", "not valid JSON"},
    {"bad_json_deep", "maximum parsing depth"},
    {"bad_duplicate", "duplicate object key"},
    {"bad_duplicate_field", "duplicate object key"},
    {"bad_entry", "\"a\": its entry is not an object"},
    {"bad_dtype", "dtype \"BF16\", expected F32, F64, I32, I64 or U8"},
    {"bad_dtype_kind", "no \"dtype\""},
    {"bad_dtype_missing", "no \"dtype\""},
    {"bad_shape_missing", "no \"shape\""},
    {"bad_shape_negative", "not a whole number >= 0"},
    {"bad_shape_real", "not a whole number >= 0"},
    {"bad_shape_overflow", "product of its shape overflows"},
    {"bad_shape_2_63", "not valid JSON"},
    {"bad_shape_dimensions", "expected 0 to 4"},
    {"bad_size", "8 bytes of data, expected 12"},
    {"bad_offsets_missing", "no \"data_offsets\""},
    {"bad_offsets_three", "no \"data_offsets\""},
    {"bad_offsets_falling", "data offsets 8 to 0"},
    {"bad_offsets_negative", "no \"data_offsets\""},
    {"bad_offsets_beyond", "data offsets 8 to 16"},
    {"bad_offsets_huge", "within the 8 bytes"},
    {"bad_overlap", "overlapping another"},
    {"bad_same_place", "overlapping another"},
    {"bad_hole", "after a hole"},
    {"bad_hole_first", "after a hole"},
    {"bad_trailing", "9 bytes of data, expected the 8"},
    {"bad_truncated", "within the 7 bytes"},
    {"bad_field_unknown", "unknown fields"},
    {"bad_metadata", "not an object of strings"},
    {"bad_metadata_value", "metadata \"a\" is not a string"},
};

static void corpus_path(char out[4096], const char *name)
{
    snprintf(out, 4096, "%s%s.safetensors", CORPUS, name);
}

static void bad_files_are_refused_by_name(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof bad_files / sizeof bad_files[0]; i++) {
        struct ga_safetensors *file = NULL;
        char path[4096];
        corpus_path(path, bad_files[i].name);
        assert_refused(ga_safetensors_open(&file, path), GA_EINPUT, bad_files[i].text);
        assert_non_null(strstr(ga_error_text(), bad_files[i].name));
        assert_null(file);
    }
}

static void missing_files_and_folders_are_refused(void **unused)
{
    (void)unused;
    struct ga_safetensors *file = NULL;
    assert_true(ga_safetensors_open(&file, CORPUS "none.safetensors") < 0);
    assert_non_null(strstr(ga_error_text(), "none.safetensors"));
    assert_true(ga_safetensors_open(&file, GA_TEST_DIR) < 0);
    assert_null(file);
}

/* The header alone may be long: what counts is its limit, not only the file's length. */
static void a_header_beyond_the_limit_is_refused(void **unused)
{
    (void)unused;
    const size_t header = 16777217;
    char *bytes = malloc(header + 8);
    struct ga_safetensors *file = NULL;
    assert_non_null(bytes);
    memset(bytes, ' ', header + 8);
    memcpy(bytes, "\1\0\0\1\0\0\0\0{}", 10);
    assert_refused(ga_safetensors_parse(&file, "long", bytes, header + 8), GA_ERANGE,
                   "expected at most 16777216");
    memcpy(bytes, "\0\0\0\1\0\0\0\0{}", 10);
    assert_int_equal(ga_safetensors_parse(&file, "long", bytes, header + 7), GA_OK);
    ga_safetensors_close(file);
    free(bytes);
}

/* A name must not reach a terminal as it is. */
static void names_in_errors_are_printable(void **unused)
{
    (void)unused;
    static const char header[] = "{\"\\u001b[2J\\u009b\":3}";
    char bytes[8 + sizeof header] = {sizeof header - 1};
    struct ga_safetensors *file = NULL;
    memcpy(bytes + 8, header, sizeof header - 1);
    assert_refused(ga_safetensors_parse(&file, "x", bytes, 7 + sizeof header), GA_EINPUT,
                   "tensor \"?[2J??\"");
}

static void good_files_are_read(void **unused)
{
    (void)unused;
    static const struct {
        const char *name;
        size_t count;
    } files[] = {{"good_empty", 0},   {"good_padded", 0}, {"good_one", 1},   {"good_scalar", 1},
                 {"good_nothing", 3}, {"good_notes", 1},  {"good_types", 5}, {"good_order", 2}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct ga_safetensors *file = NULL;
        char path[4096];
        corpus_path(path, files[i].name);
        if (ga_safetensors_open(&file, path))
            fail_msg("%s", ga_error_text());
        assert_int_equal(ga_safetensors_count(file), files[i].count);
        assert_null(ga_safetensors_at(file, files[i].count));
        assert_null(ga_safetensors_find(file, "none"));
        ga_safetensors_close(file);
    }
    ga_safetensors_close(NULL);
}

static void tensors_come_in_order_of_their_data(void **unused)
{
    (void)unused;
    struct ga_safetensors *file = NULL;
    assert_int_equal(ga_safetensors_open(&file, CORPUS "good_order.safetensors"), GA_OK);
    assert_string_equal(ga_safetensors_at(file, 0)->name, "a");
    assert_string_equal(ga_safetensors_at(file, 1)->name, "b");
    assert_ptr_equal(ga_safetensors_find(file, "b"), ga_safetensors_at(file, 1));
    assert_memory_equal(ga_safetensors_at(file, 1)->data, "\10\11\12", 3);
    ga_safetensors_close(file);
}

static void notes_are_read(void **unused)
{
    (void)unused;
    struct ga_safetensors *file = NULL;
    assert_int_equal(ga_safetensors_open(&file, CORPUS "good_notes.safetensors"), GA_OK);
    assert_string_equal(ga_safetensors_note(file, "format"), "pt");
    assert_string_equal(ga_safetensors_note(file, "x"), "\xc3\xa9");
    assert_null(ga_safetensors_note(file, "y"));
    ga_safetensors_close(file);
    assert_int_equal(ga_safetensors_open(&file, CORPUS "good_one.safetensors"), GA_OK);
    assert_null(ga_safetensors_note(file, "format"));
    ga_safetensors_close(file);
}

static void reference_weights_are_read(void **unused)
{
    (void)unused;
    static const size_t first[] = {5, 1}, last[] = {1}, digits[] = {32, 64};
    struct ga_safetensors *file = NULL;
    float value[2048];
    assert_int_equal(ga_safetensors_open(&file, REFERENCE "parabola/init.safetensors"), GA_OK);
    assert_int_equal(ga_safetensors_count(file), 4);
    assert_int_equal(ga_safetensors_read_float(file, "layers.0.weight", 2, first, value), GA_OK);
    assert_close((double)value[0], 1.6243454217910767, 1e-15);
    assert_int_equal(ga_safetensors_read_float(file, "layers.1.bias", 1, last, value), GA_OK);
    ga_safetensors_close(file);
    assert_int_equal(ga_safetensors_open(&file, REFERENCE "digits/init.safetensors"), GA_OK);
    assert_int_equal(ga_safetensors_read_float(file, "layers.0.weight", 2, digits, value), GA_OK);
    ga_safetensors_close(file);
}

static void float64_is_rounded_once(void **unused)
{
    (void)unused;
    static const size_t shape[] = {5, 1};
    struct ga_safetensors *file = NULL;
    float value[5];
    double exact[5];
    assert_int_equal(ga_safetensors_open(&file, REFERENCE "parabola/adam.final.safetensors"),
                     GA_OK);
    assert_int_equal(ga_safetensors_read_float(file, "layers.0.weight", 2, shape, value), GA_OK);
    assert_int_equal(ga_safetensors_read(file, "layers.0.weight", GA_F64, 2, shape, exact), GA_OK);
    for (int i = 0; i < 5; i++) {
        assert_true(exact[i] != 0);
        assert_true(value[i] == (float)exact[i]);
    }
    assert_refused(ga_safetensors_read(file, "layers.0.weight", GA_F32, 2, shape, value), GA_EINPUT,
                   "\"layers.0.weight\" is F64 [5,1], expected F32 [5,1]");
    ga_safetensors_close(file);
}

static void mismatches_are_refused_and_nothing_is_copied(void **unused)
{
    (void)unused;
    static const size_t shape[] = {5, 1, 1}, wrong[] = {6, 1};
    struct ga_safetensors *file = NULL;
    float value[6] = {7, 7, 7, 7, 7, 7};
    assert_int_equal(ga_safetensors_open(&file, REFERENCE "parabola/init.safetensors"), GA_OK);
    assert_refused(ga_safetensors_read_float(file, "layers.0.weight", 2, wrong, value), GA_EINPUT,
                   "is F32 [5,1], expected F32 [6,1]");
    assert_refused(ga_safetensors_read_float(file, "layers.0.weight", 3, shape, value), GA_EINPUT,
                   "expected F32 [5,1,1]");
    assert_refused(ga_safetensors_read_float(file, "layers.2.weight", 2, shape, value), GA_EINPUT,
                   "no tensor \"layers.2.weight\" among its 4, expected one of F32 [5,1]");
    for (int i = 0; i < 6; i++)
        assert_true(value[i] == 7);
    ga_safetensors_close(file);
}

/* Names, types, shapes and values of one file with everything the format knows here. */
static const double doubles[] = {1.5, -0.0, 1e300};
static const float floats[] = {1, 2, 3, 4, 5, 6};
static const int32_t ints[] = {-1};
static const int64_t longs[] = {INT64_MIN, INT64_MAX};
static const uint8_t octets[] = {0, 255, 7};
static const struct ga_file_tensor sample[] = {
    {"octets", GA_U8, 1, {3}, octets, sizeof octets},
    {"floats", GA_F32, 2, {2, 3}, floats, sizeof floats},
    {"doubles", GA_F64, 1, {3}, doubles, sizeof doubles},
    {"one", GA_I32, 0, {0}, ints, sizeof ints},
    {"none \xc3\xa9 \"quoted\"", GA_F32, 2, {0, 4}, NULL, 0},
    {"longs", GA_I64, 4, {1, 2, 1, 1}, longs, sizeof longs},
};
#define SAMPLES (sizeof sample / sizeof sample[0])
static const struct ga_file_note sample_notes[] = {{"format", "pt"},
                                                   {"text", "a \"b\"\n\xe2\x82\xac"}};

static void assert_sample(const char *path)
{
    struct ga_safetensors *file = NULL;
    if (ga_safetensors_open(&file, path))
        fail_msg("%s", ga_error_text());
    assert_int_equal(ga_safetensors_count(file), SAMPLES);
    for (size_t i = 0; i < SAMPLES; i++) {
        char copy[64];
        const struct ga_file_tensor *want = &sample[i];
        assert_int_equal(
            ga_safetensors_read(file, want->name, want->dtype, want->dimensions, want->shape, copy),
            GA_OK);
        assert_int_equal(ga_safetensors_find(file, want->name)->bytes, want->bytes);
        if (want->bytes > 0)
            assert_memory_equal(copy, want->data, want->bytes);
    }
    assert_string_equal(ga_safetensors_note(file, "text"), sample_notes[1].value);
    ga_safetensors_close(file);
}

static void what_is_written_is_read_back(void **unused)
{
    (void)unused;
    char *folder = ga_test_folder();
    char *path = ga_test_path(folder, "sample.safetensors");
    assert_int_equal(ga_safetensors_write(path, sample, SAMPLES, sample_notes, 2), GA_OK);
    assert_sample(path);
    size_t length = 0;
    char *bytes = ga_test_read_file(path, &length);
    uint64_t header = 0;
    memcpy(&header, bytes, sizeof header);
    assert_int_equal(header % 8, 0);
    struct ga_safetensors *file = NULL;
    assert_int_equal(ga_safetensors_parse(&file, "x", bytes, length), GA_OK);
    for (size_t i = 0; i < SAMPLES; i++) {
        const struct ga_file_tensor *tensor = ga_safetensors_at(file, i);
        const size_t place =
            (size_t)((const char *)tensor->data - (const char *)ga_safetensors_at(file, 0)->data);
        assert_int_equal(place % ga_dtype_bytes(tensor->dtype), 0);
    }
    ga_safetensors_close(file);
    free(bytes);
    free(path);
    ga_test_folder_remove(folder);
}

static void a_range_error_copies_nothing(void **unused)
{
    (void)unused;
    char *folder = ga_test_folder();
    char *path = ga_test_path(folder, "sample.safetensors");
    static const size_t shape[] = {3};
    float value[3] = {7, 7, 7};
    struct ga_safetensors *file = NULL;
    assert_int_equal(ga_safetensors_write(path, sample, SAMPLES, NULL, 0), GA_OK);
    assert_int_equal(ga_safetensors_open(&file, path), GA_OK);
    assert_refused(ga_safetensors_read_float(file, "doubles", 1, shape, value), GA_ERANGE,
                   "element 2 is 1e+300, expected the range of float32");
    assert_true(value[0] == 7 && value[1] == 7 && value[2] == 7);
    ga_safetensors_close(file);
    free(path);
    ga_test_folder_remove(folder);
}

static void the_writer_refuses_what_contradicts_itself(void **unused)
{
    (void)unused;
    char *folder = ga_test_folder();
    char *path = ga_test_path(folder, "x.safetensors");
    const struct ga_file_tensor twice[] = {sample[1], sample[1]};
    const struct ga_file_note notes[] = {{"a", "1"}, {"a", "2"}}, latin[] = {{"a", "\xe9"}};
    struct ga_file_tensor wrong = sample[1];
    assert_refused(ga_safetensors_write(path, twice, 2, NULL, 0), GA_EINTERNAL, "used twice");
    assert_refused(ga_safetensors_write(path, NULL, 0, notes, 2), GA_EINTERNAL, "used twice");
    assert_refused(ga_safetensors_write(path, NULL, 0, latin, 1), GA_EINTERNAL, "not UTF-8");
    wrong.name = "__metadata__";
    assert_refused(ga_safetensors_write(path, &wrong, 1, NULL, 0), GA_EINTERNAL, "used twice");
    wrong.name = "\xff";
    assert_refused(ga_safetensors_write(path, &wrong, 1, NULL, 0), GA_EINTERNAL, "not UTF-8");
    wrong = sample[1];
    wrong.bytes--;
    assert_refused(ga_safetensors_write(path, &wrong, 1, NULL, 0), GA_EINTERNAL,
                   "23 bytes do not make F32 [2,3]");
    wrong.dimensions = 5;
    assert_refused(ga_safetensors_write(path, &wrong, 1, NULL, 0), GA_EINTERNAL, "5 dimensions");
    assert_int_equal(access(path, F_OK), -1);
    free(path);
    ga_test_folder_remove(folder);
}

/* What could not be read again is not written. */
static void a_header_that_is_too_long_is_not_written(void **unused)
{
    (void)unused;
    char *folder = ga_test_folder();
    char *path = ga_test_path(folder, "x.safetensors");
    char *text = malloc(16777217);
    const struct ga_file_note note = {"text", text};
    assert_non_null(text);
    memset(text, 'x', 16777216);
    text[16777216] = '\0';
    assert_refused(ga_safetensors_write(path, NULL, 0, &note, 1), GA_ERANGE,
                   "expected at most 16777216");
    assert_int_equal(access(path, F_OK), -1);
    free(text);
    free(path);
    ga_test_folder_remove(folder);
}

static void a_failed_write_keeps_the_old_file(void **unused)
{
    (void)unused;
    static float large[100000];
    const struct ga_file_tensor tensor = {"large", GA_F32, 1, {100000}, large, sizeof large};
    char *folder = ga_test_folder();
    char *path = ga_test_path(folder, "x.safetensors");
    struct rlimit old, small;
    assert_int_equal(ga_safetensors_write(path, sample, SAMPLES, sample_notes, 2), GA_OK);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 65536;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const int code = ga_safetensors_write(path, &tensor, 1, NULL, 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_refused(code, GA_EIO, "x.safetensors");
    assert_sample(path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0); /* and no temporary file was left */
    free(path);
    free(folder);
}

static void every_lack_of_memory_is_an_error(void **unused)
{
    (void)unused;
    char *folder = ga_test_folder();
    char *path = ga_test_path(folder, "x.safetensors");
    assert_int_equal(ga_safetensors_write(path, sample, SAMPLES, sample_notes, 2), GA_OK);
    int code = GA_ENOMEM;
    for (int64_t limit = 0; code; limit++) {
        struct ga_safetensors *file = NULL;
        ga_test_allocation_limit(limit);
        code = ga_safetensors_open(&file, path);
        ga_test_allocation_free();
        assert_true(code == GA_OK || code == GA_ENOMEM);
        assert_true((code == GA_OK) == (file != NULL));
        ga_safetensors_close(file);
    }
    code = GA_ENOMEM;
    for (int64_t limit = 0; code; limit++) {
        ga_test_allocation_limit(limit);
        code = ga_safetensors_write(path, sample, SAMPLES, sample_notes, 2);
        ga_test_allocation_free();
        assert_true(code == GA_OK || code == GA_ENOMEM);
        assert_sample(path);
    }
    free(path);
    ga_test_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_files_are_refused_by_name),
        cmocka_unit_test(missing_files_and_folders_are_refused),
        cmocka_unit_test(a_header_beyond_the_limit_is_refused),
        cmocka_unit_test(names_in_errors_are_printable),
        cmocka_unit_test(good_files_are_read),
        cmocka_unit_test(tensors_come_in_order_of_their_data),
        cmocka_unit_test(notes_are_read),
        cmocka_unit_test(reference_weights_are_read),
        cmocka_unit_test(float64_is_rounded_once),
        cmocka_unit_test(mismatches_are_refused_and_nothing_is_copied),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(a_range_error_copies_nothing),
        cmocka_unit_test(the_writer_refuses_what_contradicts_itself),
        cmocka_unit_test(a_header_that_is_too_long_is_not_written),
        cmocka_unit_test(a_failed_write_keeps_the_old_file),
        cmocka_unit_test(every_lack_of_memory_is_an_error),
    };
    return ga_test_main(tests);
}
