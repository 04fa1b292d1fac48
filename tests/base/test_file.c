#include "base/error.h"
#include "base/file.h"
#include "support/support.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct scene {
    char *folder;
    char *path;
};

static int set_up(void **state)
{
    struct scene *scene = malloc(sizeof *scene);
    scene->folder = ga_test_folder();
    scene->path = ga_test_path(scene->folder, "data.csv");
    *state = scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;
    ga_test_folder_remove(scene->folder);
    free(scene->path);
    free(scene);
    return 0;
}

static void test_read(void **state)
{
    const struct scene *scene = *state;
    char *bytes = NULL;
    size_t length = 0;
    ga_test_write_file(scene->path, "a\0b\n", 4);
    assert_int_equal(ga_file_read(scene->path, 4, &bytes, &length), GA_OK);
    assert_int_equal(length, 4);
    assert_memory_equal(bytes, "a\0b\n", 5);
    free(bytes);
}

static void test_read_empty(void **state)
{
    const struct scene *scene = *state;
    char *bytes = NULL;
    size_t length = 1;
    ga_test_write_file(scene->path, "", 0);
    assert_int_equal(ga_file_read(scene->path, 0, &bytes, &length), GA_OK);
    assert_int_equal(length, 0);
    assert_string_equal(bytes, "");
    free(bytes);
}

static void test_read_refuses_by_name(void **state)
{
    const struct scene *scene = *state;
    char *bytes = NULL;
    size_t length = 0;
    char want[4200];
    assert_int_equal(ga_file_read(scene->path, 10, &bytes, &length), GA_EIO);
    snprintf(want, sizeof want, "cannot open %s: No such file or directory", scene->path);
    assert_string_equal(ga_error_text(), want);
    assert_int_equal(ga_file_read(scene->folder, 10, &bytes, &length), GA_EINPUT);
    snprintf(want, sizeof want, "%s is a directory, expected a file", scene->folder);
    assert_string_equal(ga_error_text(), want);
    ga_test_write_file(scene->path, "12345678901", 11);
    assert_int_equal(ga_file_read(scene->path, 10, &bytes, &length), GA_ERANGE);
    snprintf(want, sizeof want, "%s is too long, expected at most 10 B", scene->path);
    assert_string_equal(ga_error_text(), want);
    assert_null(bytes);
}

/* Neither states its size: /proc says 0, and a device has no end. */
static void test_read_without_a_size(void **state)
{
    (void)state;
    char *bytes = NULL;
    size_t length = 0;
    assert_int_equal(ga_file_read("/proc/self/status", 1 << 20, &bytes, &length), GA_OK);
    assert_true(length > 100);
    assert_memory_equal(bytes, "Name:", 5);
    free(bytes);
    assert_int_equal(ga_file_read("/dev/zero", 300000, &bytes, &length), GA_ERANGE);
    assert_null(bytes);
}

/* A file of any length may be asked for, but a device that never ends takes no more than that. */
static void test_read_without_an_end(void **state)
{
    char *bytes = NULL;
    size_t length = 0;
    (void)state;
    assert_int_equal(ga_file_read("/dev/zero", UINT64_C(5) << 30, &bytes, &length), GA_ERANGE);
    assert_non_null(strstr(ga_error_text(), "expected at most 1 GiB"));
    assert_null(bytes);
}

static void *feed(void *argument)
{
    FILE *pipe = fopen(argument, "wb");
    for (int i = 0; pipe && i < 30000; i++)
        fprintf(pipe, "%05d\n", i);
    if (pipe)
        fclose(pipe);
    return NULL;
}

static void test_read_a_pipe(void **state)
{
    const struct scene *scene = *state;
    pthread_t thread;
    char *bytes = NULL;
    size_t length = 0;
    assert_int_equal(mkfifo(scene->path, 0600), 0);
    assert_int_equal(pthread_create(&thread, NULL, feed, scene->path), 0);
    const int answer = ga_file_read(scene->path, 180000, &bytes, &length);
    pthread_join(thread, NULL);
    assert_int_equal(answer, GA_OK);
    assert_int_equal(length, 180000);
    assert_memory_equal(bytes + length - 6, "29999\n", 7);
    free(bytes);
}

/* Nobody opens the other end: the alarm ends a wait that cannot be ended. */
static void test_a_silent_pipe_can_be_left(void **state)
{
    const struct scene *scene = *state;
    const struct timespec none = {0};
    sigset_t term, before;
    char *bytes = NULL;
    size_t length = 0;
    assert_int_equal(mkfifo(scene->path, 0600), 0);
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &term, &before), 0);
    assert_int_equal(raise(SIGTERM), 0);
    alarm(60);
    const int answer = ga_file_read(scene->path, 10, &bytes, &length);
    alarm(0);
    assert_int_equal(sigtimedwait(&term, NULL, &none), SIGTERM);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    assert_int_equal(answer, GA_EIO);
    assert_non_null(strstr(ga_error_text(), "interrupted"));
    assert_null(bytes);
}

static void test_read_without_memory(void **state)
{
    const struct scene *scene = *state;
    char *bytes = NULL;
    size_t length = 0;
    ga_test_write_file(scene->path, "x", 1);
    ga_test_allocation_limit(0);
    const int answer = ga_file_read(scene->path, 10, &bytes, &length);
    ga_test_allocation_free();
    assert_int_equal(answer, GA_ENOMEM);
    assert_null(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_read_empty, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_read_refuses_by_name, set_up, tear_down),
        cmocka_unit_test(test_read_without_a_size),
        cmocka_unit_test(test_read_without_an_end),
        cmocka_unit_test_setup_teardown(test_read_a_pipe, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_silent_pipe_can_be_left, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_read_without_memory, set_up, tear_down),
    };
    return ga_test_main(tests);
}
