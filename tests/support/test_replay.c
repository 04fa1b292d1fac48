#include "support/support.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The wait status of the replay program over `path`. */
static int replay(char *path)
{
    char *arguments[] = {REPLAY, path, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child = 0;
    int status = -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    const int error = posix_spawn(&child, REPLAY, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    assert_int_equal(error, 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void add(const char *folder, const char *name, const char *bytes, size_t length)
{
    char *path = ga_test_path(folder, name);
    ga_test_write_file(path, bytes, length);
    free(path);
}

static void test_replay(void **state)
{
    (void)state;
    const struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    char *folder = ga_test_folder();
    char *inner = ga_test_path(folder, "inner");
    char *missing = ga_test_path(folder, "missing");
    assert_int_equal(replay(folder), EXIT_FAILURE << 8);
    add(folder, "empty", "", 0);
    assert_int_equal(replay(folder), 0);
    assert_int_equal(mkdir(inner, 0777), 0);
    add(inner, "good", "good", 4);
    assert_int_equal(replay(folder), 0);
    add(inner, "bad", "!", 1);
    assert_true(WIFSIGNALED(replay(folder)));
    assert_int_equal(replay(missing), EXIT_FAILURE << 8);
    free(missing);
    free(inner);
    ga_test_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_replay)};
    return ga_test_main(tests);
}
