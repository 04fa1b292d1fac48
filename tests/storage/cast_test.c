/* Recordings of a terminal, read back as JSON. */
#include "storage/cast.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "support/support.h"

#define SECOND INT64_C(1000000000)

static json_t *line_of(char **at)
{
    char *end = strchr(*at, '\n');
    assert_non_null(end);
    *end = '\0';
    json_t *value = json_loads(*at, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(value);
    *at = end + 1;
    return value;
}

static void expect_event(char **at, double seconds, const char *kind, const char *bytes)
{
    json_t *event = line_of(at);
    assert_int_equal(json_array_size(event), 3);
    assert_close(json_number_value(json_array_get(event, 0)), seconds, 1e-9);
    assert_string_equal(json_string_value(json_array_get(event, 1)), kind);
    assert_string_equal(json_string_value(json_array_get(event, 2)), bytes);
    json_decref(event);
}

static void test_header_and_events(void **state)
{
    (void)state;
    char *folder = ga_test_folder();
    char *path = ga_test_path(folder, "a.cast");
    struct ga_cast *cast = NULL;
    ga_test_write_file(path, "an older file that is longer than what is written now", 53);
    assert_int_equal(ga_cast_open(&cast, path, 80, 24, "xterm-256color", 5 * SECOND), 0);
    const char text[] = "\x1b[1mP 2 \xc3\x97 A 5\x1b[m \"quoted\" \\ \r\n";
    assert_int_equal(ga_cast_output(cast, text, sizeof(text) - 1, 5 * SECOND + SECOND / 4), 0);
    assert_int_equal(ga_cast_output(cast, "", 0, 6 * SECOND), 0); /* nothing is no event */
    assert_int_equal(ga_cast_resize(cast, 120, 36, 7 * SECOND), 0);
    assert_int_equal(ga_cast_output(cast, "z", 1, 4 * SECOND), 0); /* a clock that went back */
    assert_int_equal(ga_cast_events(cast), 3);
    assert_string_equal(ga_cast_path(cast), path);
    assert_int_equal(ga_cast_close(cast), 0);
    char *bytes = ga_test_read_file(path, NULL);
    char *at = bytes;
    json_t *header = line_of(&at);
    assert_int_equal(json_integer_value(json_object_get(header, "version")), 2);
    assert_int_equal(json_integer_value(json_object_get(header, "width")), 80);
    assert_int_equal(json_integer_value(json_object_get(header, "height")), 24);
    assert_true(json_integer_value(json_object_get(header, "timestamp")) > 1600000000);
    assert_string_equal(json_string_value(json_object_get(json_object_get(header, "env"), "TERM")),
                        "xterm-256color");
    json_decref(header);
    expect_event(&at, 0.25, "o", text);
    expect_event(&at, 2, "r", "120x36");
    expect_event(&at, 0, "o", "z");
    assert_int_equal(*at, '\0');
    free(bytes);
    free(path);
    ga_test_folder_remove(folder);
}

static void test_what_cannot_be_recorded_to(void **state)
{
    (void)state;
    char *folder = ga_test_folder();
    char *missing = ga_test_path(folder, "no/such/folder.cast");
    char *pipe = ga_test_path(folder, "pipe");
    struct ga_cast *cast = NULL;
    assert_int_equal(mkfifo(pipe, 0600), 0);
    const char *const paths[] = {folder, missing, pipe, "/dev/null", ""};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        assert_true(ga_cast_open(&cast, paths[i], 80, 24, "xterm", 0) < 0);
        assert_null(cast);
        assert_non_null(strstr(ga_error_text(), "cast"));
    }
    assert_int_equal(ga_cast_close(NULL), 0);
    free(missing);
    free(pipe);
    ga_test_folder_remove(folder);
}

/* Bytes that are no UTF-8 end it, and the error stays. */
static void test_an_error_stays(void **state)
{
    (void)state;
    char *folder = ga_test_folder();
    char *path = ga_test_path(folder, "a.cast");
    struct ga_cast *cast = NULL;
    assert_int_equal(ga_cast_open(&cast, path, 80, 24, "xterm", 0), 0);
    assert_true(ga_cast_output(cast, "\xff\xfe", 2, 1) < 0);
    assert_true(ga_cast_output(cast, "fine", 4, 2) < 0);
    assert_int_equal(ga_cast_events(cast), 0);
    assert_true(ga_cast_close(cast) < 0);
    free(path);
    ga_test_folder_remove(folder);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_header_and_events),
    cmocka_unit_test(test_what_cannot_be_recorded_to),
    cmocka_unit_test(test_an_error_stays),
};

int main(void)
{
    return ga_test_main(tests);
}
