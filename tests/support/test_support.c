#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_close_accepts(void **state)
{
    (void)state;
    assert_true(ga_test_close(1.0, 1.0, 0.0));
    assert_true(ga_test_close(1.0 + 1e-6, 1.0, 1e-5));
    assert_true(ga_test_close(-2.0, -2.00001, 1e-5));
    assert_true(ga_test_close(0.0, -0.0, 0.0));
    assert_true(ga_test_close(INFINITY, INFINITY, 0.0));
}

static void test_close_refuses(void **state)
{
    (void)state;
    assert_false(ga_test_close(1.0 + 2e-5, 1.0, 1e-5));
    assert_false(ga_test_close(1e-300, 0.0, 1.0));
    assert_false(ga_test_close(2.0, -2.0, 1e-3));
    assert_false(ga_test_close(NAN, 1.0, 1e9));
    assert_false(ga_test_close(1.0, NAN, 1e9));
    assert_false(ga_test_close(NAN, NAN, 1e9));
    assert_false(ga_test_close(1.0, 2.0, NAN));
    assert_false(ga_test_close(INFINITY, 1.0, 1e9));
    assert_false(ga_test_close(1.0, INFINITY, 1e9));
    assert_false(ga_test_close(-INFINITY, INFINITY, INFINITY));
}

/* The exit status of a child that runs one test. */
static int run_in_child(CMUnitTestFunction function)
{
    const struct CMUnitTest tests[] = {{"inner", function, NULL, NULL, NULL}};
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
            _exit(99);
        _exit(ga_test_main(tests));
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void inner_close(void **state)
{
    (void)state;
    assert_close(1.0, 1.0, 0.0);
}

static void inner_nan(void **state)
{
    (void)state;
    assert_close(NAN, 1.0, 1.0);
}

static void inner_far(void **state)
{
    (void)state;
    assert_close(1.0, 1.1, 1e-3);
}

static void inner_skip(void **state)
{
    (void)state;
    ga_test_skip("no %s here", "luck");
}

static void test_exit_status(void **state)
{
    (void)state;
    assert_int_equal(run_in_child(inner_close), 0);
    assert_int_equal(run_in_child(inner_nan), 1);
    assert_int_equal(run_in_child(inner_far), 1);
    assert_int_equal(run_in_child(inner_skip), 77);
}

static void test_count_follows_the_scale(void **state)
{
    (void)state;
    const char *scale = getenv("GA_TEST_SCALE");
    char *saved = scale ? strdup(scale) : NULL;
    unsetenv("GA_TEST_SCALE");
    assert_int_equal(ga_test_count(1000), 1000);
    assert_int_equal(ga_test_stride(), 1);
    setenv("GA_TEST_SCALE", "0.125", 1);
    assert_int_equal(ga_test_count(1000), 125);
    assert_int_equal(ga_test_count(5), 1);
    assert_int_equal(ga_test_stride(), 8);
    setenv("GA_TEST_SCALE", "nonsense", 1);
    assert_int_equal(ga_test_count(1000), 1000);
    if (saved)
        setenv("GA_TEST_SCALE", saved, 1);
    else
        unsetenv("GA_TEST_SCALE");
    free(saved);
}

/* Volatile, so that no compiler leaves the call out. */
static void *volatile block;

static bool allocate_once(void)
{
    block = malloc(10);
    const bool got = block != NULL;
    free(block);
    return got;
}

static void test_allocation_limit(void **state)
{
    (void)state;
    const uint64_t before = ga_test_allocations();
    ga_test_allocation_limit(2);
    const bool first = allocate_once();
    const bool second = allocate_once();
    const bool third = allocate_once();
    block = calloc(1, 1);
    const bool fourth = block != NULL;
    ga_test_allocation_free();
    const bool fifth = allocate_once();
    assert_true(first && second && !third && !fourth && fifth);
    assert_int_equal(ga_test_allocations() - before, 5);
}

static void test_folders_and_files(void **state)
{
    (void)state;
    char *folder = ga_test_folder();
    char *path = ga_test_path(folder, "file");
    size_t length = 0;
    ga_test_write_file(path, "a\0b", 3);
    char *bytes = ga_test_read_file(path, &length);
    assert_int_equal(length, 3);
    assert_memory_equal(bytes, "a\0b", 4);
    char *copy = strdup(folder);
    ga_test_folder_remove(folder);
    assert_int_not_equal(access(copy, F_OK), 0);
    free(copy);
    free(bytes);
    free(path);
}

static void test_comma_locale(void **state)
{
    (void)state;
    char text[16];
    if (!ga_test_comma_locale())
        ga_test_skip("localedef cannot make a locale with a decimal comma");
    snprintf(text, sizeof text, "%.1f", 2.5);
    ga_test_comma_locale_end();
    assert_string_equal(text, "2,5");
    snprintf(text, sizeof text, "%.1f", 2.5);
    assert_string_equal(text, "2.5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_close_accepts),    cmocka_unit_test(test_close_refuses),
        cmocka_unit_test(test_exit_status),      cmocka_unit_test(test_count_follows_the_scale),
        cmocka_unit_test(test_allocation_limit), cmocka_unit_test(test_folders_and_files),
        cmocka_unit_test(test_comma_locale),
    };
    return ga_test_main(tests);
}
