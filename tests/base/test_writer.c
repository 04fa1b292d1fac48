#include "base/error.h"
#include "base/file.h"
#include "support/support.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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
    scene->path = ga_test_path(scene->folder, "run.safetensors");
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

/* Files in the folder, to see that no temporary one is left. */
static size_t count_files(const char *folder)
{
    size_t count = 0;
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(entries);
    return count;
}

static void assert_content(const char *path, const char *want)
{
    char *bytes = ga_test_read_file(path, NULL);
    assert_string_equal(bytes, want);
    free(bytes);
}

/* Reads a pipe to its end on a thread of its own. */
struct taker {
    int fd;
    size_t got;
};

static void *take_all(void *argument)
{
    struct taker *taker = argument;
    struct pollfd wanted = {.fd = taker->fd, .events = POLLIN};
    char bytes[4096];
    ssize_t got = 1;
    while (got > 0 && poll(&wanted, 1, 60000) > 0) {
        got = read(taker->fd, bytes, sizeof bytes);
        taker->got += got > 0 ? (size_t)got : 0;
    }
    return NULL;
}

static int write_whole(const char *path, const char *text)
{
    struct ga_writer *writer = NULL;
    int answer = ga_writer_open(&writer, path);
    if (answer == GA_OK)
        answer = ga_writer_write(writer, text, strlen(text));
    if (answer != GA_OK) {
        ga_writer_abandon(writer);
        return answer;
    }
    return ga_writer_commit(writer);
}

static void test_new_file_has_the_usual_permissions(void **state)
{
    const struct scene *scene = *state;
    struct stat status;
    const mode_t mask = umask(027);
    const int answer = write_whole(scene->path, "one");
    umask(mask);
    assert_int_equal(answer, GA_OK);
    assert_content(scene->path, "one");
    assert_int_equal(stat(scene->path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
    assert_int_equal(count_files(scene->folder), 1);
}

static void test_replacing_keeps_permissions(void **state)
{
    const struct scene *scene = *state;
    struct stat status;
    ga_test_write_file(scene->path, "old", 3);
    assert_int_equal(chmod(scene->path, 0604), 0);
    assert_int_equal(write_whole(scene->path, "new"), GA_OK);
    assert_content(scene->path, "new");
    assert_int_equal(stat(scene->path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0604);
}

static void test_old_file_stays_until_commit(void **state)
{
    const struct scene *scene = *state;
    struct ga_writer *writer = NULL;
    ga_test_write_file(scene->path, "old", 3);
    assert_int_equal(ga_writer_open(&writer, scene->path), GA_OK);
    assert_int_equal(ga_writer_write(writer, "new", 3), GA_OK);
    assert_content(scene->path, "old");
    ga_writer_abandon(writer);
    ga_writer_abandon(NULL);
    assert_content(scene->path, "old");
    assert_int_equal(count_files(scene->folder), 1);
}

/* Pieces below, at and above the buffer's size. */
static void test_pieces_add_up(void **state)
{
    const struct scene *scene = *state;
    static const size_t sizes[] = {1, 65535, 65536, 10, 65537, 0, 40000, 40000, 200000};
    struct ga_writer *writer = NULL;
    char *piece = malloc(200000);
    size_t total = 0;
    assert_int_equal(ga_writer_open(&writer, scene->path), GA_OK);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        memset(piece, 'a' + (int)i, sizes[i]);
        assert_int_equal(ga_writer_write(writer, piece, sizes[i]), GA_OK);
        total += sizes[i];
    }
    assert_int_equal(ga_writer_commit(writer), GA_OK);
    size_t length = 0;
    char *bytes = ga_test_read_file(scene->path, &length);
    assert_int_equal(length, total);
    size_t at = 0;
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (size_t k = 0; k < sizes[i]; k++)
            wrong += bytes[at++] != 'a' + (int)i;
    }
    assert_int_equal(wrong, 0);
    free(bytes);
    free(piece);
}

/* What a full disk does, without one: beyond the limit write() fails with EFBIG. */
static int write_beyond_limit(const char *path, size_t count, int *write_answer)
{
    struct rlimit old;
    struct ga_writer *writer = NULL;
    char block[1000];
    memset(block, 'x', sizeof block);
    getrlimit(RLIMIT_FSIZE, &old);
    const struct rlimit small = {100000, old.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    *write_answer = ga_writer_open(&writer, path);
    for (size_t i = 0; i < count && *write_answer == GA_OK; i++)
        *write_answer = ga_writer_write(writer, block, sizeof block);
    const int answer = ga_writer_commit(writer);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, handler);
    return answer;
}

static void test_full_disk_leaves_the_old_file(void **state)
{
    const struct scene *scene = *state;
    int write_answer = GA_OK;
    ga_test_write_file(scene->path, "old", 3);
    assert_int_equal(write_beyond_limit(scene->path, 1000, &write_answer), GA_EIO);
    assert_int_equal(write_answer, GA_EIO);
    assert_content(scene->path, "old");
    assert_int_equal(write_beyond_limit(scene->path, 110, &write_answer), GA_EIO);
    assert_int_equal(write_answer, GA_OK);
    assert_non_null(strstr(ga_error_text(), "run.safetensors: File too large"));
    assert_content(scene->path, "old");
    assert_int_equal(count_files(scene->folder), 1);
}

static void test_links_are_followed(void **state)
{
    const struct scene *scene = *state;
    struct stat status;
    char *link = ga_test_path(scene->folder, "link");
    char *lost = ga_test_path(scene->folder, "lost");
    ga_test_write_file(scene->path, "old", 3);
    assert_int_equal(symlink("run.safetensors", link), 0);
    assert_int_equal(symlink("nowhere", lost), 0);
    assert_int_equal(write_whole(link, "new"), GA_OK);
    assert_content(scene->path, "new");
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(write_whole(lost, "found"), GA_OK);
    assert_content(lost, "found");
    free(lost);
    free(link);
}

static void test_what_cannot_be_written(void **state)
{
    const struct scene *scene = *state;
    char *deep = ga_test_path(scene->folder, "missing/file");
    char *below_file = ga_test_path(scene->path, "file");
    assert_int_equal(write_whole(scene->folder, "x"), GA_EINPUT);
    assert_non_null(strstr(ga_error_text(), "is a directory, expected a file"));
    assert_int_equal(write_whole(deep, "x"), GA_EIO);
    ga_test_write_file(scene->path, "old", 3);
    assert_int_equal(write_whole(below_file, "x"), GA_EIO);
    assert_int_equal(write_whole("", "x"), GA_EIO);
    assert_int_equal(write_whole("/dev/full", "x"), GA_EIO);
    assert_non_null(strstr(ga_error_text(), "No space left"));
    free(below_file);
    free(deep);
}

static void test_devices_are_written_directly(void **state)
{
    (void)state;
    struct stat status;
    assert_int_equal(write_whole("/dev/null", "x"), GA_OK);
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
}

/* Nobody reads: the alarm ends a wait that cannot be ended. */
static void test_a_pipe_without_a_reader_is_refused(void **state)
{
    const struct scene *scene = *state;
    assert_int_equal(mkfifo(scene->path, 0600), 0);
    alarm(60);
    assert_int_equal(write_whole(scene->path, "x"), GA_EIO);
    alarm(0);
    assert_non_null(strstr(ga_error_text(), "no one reads"));
}

/* More than a pipe holds, and a reader who takes it all at the end. */
static void test_a_slow_pipe_gets_everything(void **state)
{
    const struct scene *scene = *state;
    enum { MANY = 300000 };
    char *bytes = calloc(MANY, 1);
    struct taker taker = {.fd = -1};
    pthread_t thread;
    assert_int_equal(mkfifo(scene->path, 0600), 0);
    taker.fd = open(scene->path, O_RDONLY | O_NONBLOCK);
    assert_int_equal(pthread_create(&thread, NULL, take_all, &taker), 0);
    struct ga_writer *writer = NULL;
    int answer = ga_writer_open(&writer, scene->path);
    for (int i = 0; i < 3 && answer == GA_OK; i++)
        answer = ga_writer_write(writer, bytes, MANY / 3);
    if (answer == GA_OK)
        answer = ga_writer_commit(writer);
    pthread_join(thread, NULL);
    close(taker.fd);
    free(bytes);
    assert_int_equal(answer, GA_OK);
    assert_int_equal(taker.got, MANY);
}

static void test_names(void **state)
{
    const struct scene *scene = *state;
    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    char *path = ga_test_path(scene->folder, name);
    const int here = open(".", O_RDONLY | O_DIRECTORY);
    assert_int_equal(write_whole(path, "long"), GA_OK);
    assert_content(path, "long");
    assert_int_equal(chdir(scene->folder), 0);
    const int answer = write_whole("bare", "here");
    assert_int_equal(fchdir(here), 0);
    close(here);
    assert_int_equal(answer, GA_OK);
    assert_int_equal(count_files(scene->folder), 2);
    free(path);
}

static void test_no_memory(void **state)
{
    const struct scene *scene = *state;
    int answer = GA_ENOMEM;
    int64_t limit = 0;
    for (; answer != GA_OK && limit < 20; limit++) {
        ga_test_allocation_limit(limit);
        answer = write_whole(scene->path, "x");
        ga_test_allocation_free();
        assert_true(answer == GA_OK || answer == GA_ENOMEM);
        assert_int_equal(count_files(scene->folder), answer == GA_OK ? 1 : 0);
    }
    assert_int_equal(answer, GA_OK);
    assert_true(limit > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_new_file_has_the_usual_permissions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_replacing_keeps_permissions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_old_file_stays_until_commit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pieces_add_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_full_disk_leaves_the_old_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_links_are_followed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_cannot_be_written, set_up, tear_down),
        cmocka_unit_test(test_devices_are_written_directly),
        cmocka_unit_test_setup_teardown(test_a_pipe_without_a_reader_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_slow_pipe_gets_everything, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_memory, set_up, tear_down),
    };
    return ga_test_main(tests);
}
