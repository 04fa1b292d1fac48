#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/thread.h"
#include "storage/log.h"
#include "storage/record_text.h"
#include "support/support.h"

#define PATIENT INT64_C(60000000000) /* ns: a test that waits so long has failed */

static const struct ga_update_record sample = {
    .update = 12, .examples = 600, .window_examples = 50, .loss = 0.1, .applied = true};

static struct ga_log *open_log(const char *path, const char *format, struct ga_log_options options)
{
    struct ga_log *log = NULL;
    options.format = ga_log_format_find(format);
    assert_non_null(options.format);
    if (ga_log_open(&log, path, &options))
        fail_msg("%s", ga_error_text());
    return log;
}

static void record_updates(struct ga_log *log, uint64_t first, uint64_t last)
{
    struct ga_update_record record = sample;
    for (record.update = first; record.update <= last; record.update++)
        ga_log_record(log, &record);
}

/* Every line of a csv text is that update, `step` apart. */
static void assert_updates(const char *text, uint64_t first, uint64_t last, uint64_t step)
{
    const char *line = strchr(text, '\n');
    assert_non_null(line);
    for (uint64_t update = first; update <= last; update += step) {
        char want[32];
        snprintf(want, sizeof want, "\n%llu,", (unsigned long long)update);
        assert_memory_equal(line, want, strlen(want));
        line = strchr(line + 1, '\n');
        assert_non_null(line);
    }
    assert_string_equal(line, "\n");
}

static void assert_file_updates(const char *path, uint64_t first, uint64_t last, uint64_t step)
{
    size_t length = 0;
    char *text = ga_test_read_file(path, &length);
    assert_updates(text, first, last, step);
    free(text);
}

static void nothing_is_lost_in_a_small_ring(void **unused)
{
    (void)unused;
    char *folder = ga_test_folder(), *path = ga_test_path(folder, "log.csv");
    const uint64_t count = ga_test_count(20000);
    struct ga_log *log = open_log(path, "csv", (struct ga_log_options){.ring_records = 8});
    struct ga_log_status status;
    assert_string_equal(ga_log_path(log), path);
    assert_string_equal(ga_log_format_name(log), "csv");
    assert_int_equal(ga_log_every(log), 1);
    record_updates(log, 1, count);
    ga_log_status(log, &status);
    assert_int_equal(status.records, count);
    assert_int_equal(status.error.code, GA_OK);
    assert_false(status.holding);
    assert_int_equal(ga_log_close(log), GA_OK);
    assert_file_updates(path, 1, count, 1);
    free(path);
    ga_test_folder_remove(folder);
}

static void every_n_takes_multiples_and_all_skipped(void **unused)
{
    (void)unused;
    char *folder = ga_test_folder(), *path = ga_test_path(folder, "log.jsonl");
    struct ga_log *log = open_log(path, "csv", (struct ga_log_options){.every = 10});
    struct ga_update_record skipped = sample;
    record_updates(log, 1, 101);
    skipped.update = 101;
    skipped.applied = false;
    ga_log_record(log, &skipped);
    assert_int_equal(ga_log_close(log), GA_OK);
    size_t length = 0;
    char *text = ga_test_read_file(path, &length);
    char *last = strstr(text, "101,false,");
    assert_non_null(last);
    *last = '\0';
    assert_updates(text, 10, 100, 10);
    free(text);
    free(path);
    ga_test_folder_remove(folder);
}

/* A burst counts only for the updates that the log wants, and those find room. */
static void a_burst_is_recorded_as_its_updates(void **unused)
{
    (void)unused;
    char *folder = ga_test_folder(), *path = ga_test_path(folder, "log.csv");
    struct ga_burst_row row[25] = {{0}};
    const struct ga_burst_rows rows = {sample, row, 25, 1000};
    struct ga_log *log =
        open_log(path, "csv", (struct ga_log_options){.every = 5, .ring_records = 8});
    struct ga_log_status status;
    assert_int_equal(ga_log_room(log), 40);
    assert_int_equal(ga_log_skips(log, 12), 2);
    assert_int_equal(ga_log_skips(log, 14), 0);
    assert_int_equal(ga_log_skips(log, 15), 4);
    ga_log_record_burst(log, &rows);
    ga_log_status(log, &status);
    assert_int_equal(status.records, 5);
    assert_int_equal(status.held, 0);
    assert_int_equal(ga_log_close(log), GA_OK);
    assert_file_updates(path, 15, 35, 5);
    free(path);
    ga_test_folder_remove(folder);
}

static void an_existing_file_is_emptied(void **unused)
{
    (void)unused;
    char *folder = ga_test_folder(), *path = ga_test_path(folder, "log.jsonl");
    size_t length = 0;
    ga_test_write_file(path, "old content", 11);
    assert_int_equal(ga_log_close(open_log(path, "jsonl", (struct ga_log_options){0})), GA_OK);
    char *text = ga_test_read_file(path, &length);
    assert_int_equal(length, 0);
    free(text);
    free(path);
    ga_test_folder_remove(folder);
}

static off_t line_bytes(void)
{
    struct ga_text text = GA_TEXT_INIT;
    ga_record_jsonl.line(&sample, &ga_record_no_seats, &text);
    const off_t bytes = (off_t)text.length;
    ga_text_free(&text);
    assert_true(bytes > 100);
    return bytes;
}

/* The file is complete without closing: each record wakes a thread that had gone to sleep. */
static void records_reach_the_file_by_themselves(void **unused)
{
    (void)unused;
    char *folder = ga_test_folder(), *path = ga_test_path(folder, "log.jsonl");
    struct ga_log *log = open_log(path, "jsonl", (struct ga_log_options){0});
    for (off_t count = 1; count <= 3; count++) {
        const off_t want = count * line_bytes();
        const int64_t deadline = ga_now_ns() + PATIENT;
        struct stat file = {0};
        ga_log_record(log, &sample);
        while (file.st_size < want && ga_now_ns() < deadline) {
            poll(NULL, 0, 1);
            assert_int_equal(stat(path, &file), 0);
        }
        assert_int_equal(file.st_size, want);
    }
    assert_int_equal(ga_log_close(log), GA_OK);
    free(path);
    ga_test_folder_remove(folder);
}

static void read_three(void *self, struct ga_readings *out)
{
    for (int i = 0; i < 3; i++)
        out[i] = ga_readings_unknown();
    out[2].utilisation = *(const double *)self;
}

static void a_log_may_say_how_busy_seats_are(void **unused)
{
    (void)unused;
    char *folder = ga_test_folder(), *path = ga_test_path(folder, "log.csv");
    double busy = 0.25;
    size_t length = 0;
    struct ga_log *log =
        open_log(path, "csv", (struct ga_log_options){.seats = {3, read_three, &busy}});
    record_updates(log, 1, 2);
    assert_int_equal(ga_log_close(log), GA_OK);
    char *text = ga_test_read_file(path, &length);
    assert_non_null(strstr(text, ",replica_2_power,replica_2_device_time\n1,"));
    assert_non_null(strstr(text, ",nan,nan,nan,nan,nan,0.25,nan,nan,nan,nan\n2,"));
    free(text);
    free(path);
    ga_test_folder_remove(folder);
}

static void a_full_disk_is_reported_by_name_and_holds_no_one(void **unused)
{
    (void)unused;
    if (access("/dev/full", W_OK))
        ga_test_skip("/dev/full is not there");
    struct ga_log *log = open_log("/dev/full", "jsonl", (struct ga_log_options){.ring_records = 4});
    struct ga_log_status status = {0};
    const int64_t deadline = ga_now_ns() + PATIENT;
    while (!status.error.code && ga_now_ns() < deadline) {
        record_updates(log, 1, 10);
        ga_log_status(log, &status);
    }
    assert_int_equal(status.error.code, GA_EIO);
    record_updates(log, 1, 1000);
    assert_int_equal(ga_log_close(log), GA_EIO);
    assert_non_null(strstr(ga_error_text(), "log /dev/full: cannot write: "));
    assert_non_null(strstr(ga_error_text(), strerror(ENOSPC)));
    assert_string_equal(ga_error_text(), status.error.text);
}

static void a_full_disk_at_close_is_reported(void **unused)
{
    (void)unused;
    if (access("/dev/full", W_OK))
        ga_test_skip("/dev/full is not there");
    struct ga_log *log = open_log("/dev/full", "jsonl", (struct ga_log_options){0});
    ga_log_record(log, &sample);
    assert_int_equal(ga_log_close(log), GA_EIO);
    assert_non_null(strstr(ga_error_text(), "/dev/full"));
}

static char *make_pipe(const char *folder, int *reader)
{
    char *path = ga_test_path(folder, "pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    *reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(*reader >= 0);
    return path;
}

/* No one reads: the log gives up within its patience, and closing does not hang either. */
static void a_reader_that_stalls_ends_the_log_not_the_engine(void **unused)
{
    (void)unused;
    int reader = -1;
    char *folder = ga_test_folder(), *path = make_pipe(folder, &reader);
    struct ga_log_options options = {.ring_records = 4, .patience_ns = 20000000};
    struct ga_log *log = open_log(path, "jsonl", options);
    struct ga_log_status status = {0};
    const int64_t deadline = ga_now_ns() + PATIENT;
    while (!status.error.code && ga_now_ns() < deadline) {
        record_updates(log, 1, 100);
        ga_log_status(log, &status);
    }
    assert_int_equal(status.error.code, GA_EIO);
    assert_non_null(strstr(status.error.text, path));
    assert_non_null(strstr(status.error.text, "given up"));
    assert_int_equal(ga_log_close(log), GA_EIO);
    close(reader);
    free(path);
    ga_test_folder_remove(folder);
}

static void a_reader_that_leaves_is_an_error_not_a_signal(void **unused)
{
    (void)unused;
    int reader = -1;
    char *folder = ga_test_folder(), *path = make_pipe(folder, &reader);
    struct ga_log *log = open_log(path, "jsonl", (struct ga_log_options){0});
    close(reader);
    ga_log_record(log, &sample);
    assert_int_equal(ga_log_close(log), GA_EIO);
    assert_non_null(strstr(ga_error_text(), strerror(EPIPE)));
    free(path);
    ga_test_folder_remove(folder);
}

struct recorder {
    struct ga_log *log;
    uint64_t count;
};

static void *record_many(void *arg)
{
    const struct recorder *recorder = arg;
    record_updates(recorder->log, 1, recorder->count);
    return NULL;
}

/* Reads until `lines` line ends came or the deadline is over. */
static char *read_lines(int fd, size_t lines)
{
    const int64_t deadline = ga_now_ns() + PATIENT;
    size_t length = 0, seen = 0;
    const size_t capacity = 4 << 20;
    char *text = calloc(1, capacity);
    assert_non_null(text);
    while (seen < lines && ga_now_ns() < deadline) {
        struct pollfd wanted = {.fd = fd, .events = POLLIN};
        poll(&wanted, 1, 1000);
        const ssize_t got = read(fd, text + length, capacity - 1 - length);
        for (ssize_t i = 0; i < got; i++)
            seen += text[length + (size_t)i] == '\n';
        length += got > 0 ? (size_t)got : 0;
    }
    return text;
}

/* A full pipe fills the ring, which holds the recorder; when the reader goes on nothing is missing.
 */
static void a_full_ring_holds_the_recorder(void **unused)
{
    (void)unused;
    int reader = -1;
    char *folder = ga_test_folder(), *path = make_pipe(folder, &reader);
    struct recorder recorder = {.count = 5000};
    struct ga_log_status status = {0};
    const int64_t deadline = ga_now_ns() + PATIENT;
    pthread_t thread;
    recorder.log = open_log(path, "csv", (struct ga_log_options){.ring_records = 16});
    assert_int_equal(pthread_create(&thread, NULL, record_many, &recorder), 0);
    while (!(status.holding && status.records > 300) && ga_now_ns() < deadline) {
        poll(NULL, 0, 1);
        ga_log_status(recorder.log, &status);
    }
    assert_true(status.holding);
    assert_true(status.records < recorder.count);
    char *text = read_lines(reader, recorder.count + 1);
    pthread_join(thread, NULL);
    ga_log_status(recorder.log, &status);
    assert_true(status.held > 0);
    assert_int_equal(ga_log_close(recorder.log), GA_OK);
    assert_updates(text, 1, recorder.count, 1);
    free(text);
    close(reader);
    free(path);
    ga_test_folder_remove(folder);
}

static void assert_open_refused(const char *path, const char *text)
{
    struct ga_log *log = NULL;
    const struct ga_log_options options = {.format = ga_log_format_find("csv")};
    assert_int_equal(ga_log_open(&log, path, &options), GA_EIO);
    assert_null(log);
    assert_non_null(strstr(ga_error_text(), path));
    assert_non_null(strstr(ga_error_text(), text));
}

static void what_cannot_be_written_is_refused_at_once(void **unused)
{
    (void)unused;
    char *folder = ga_test_folder(), *missing = ga_test_path(folder, "none/log.csv");
    int reader = -1;
    char *pipe = make_pipe(folder, &reader);
    close(reader);
    assert_open_refused(folder, "a directory, expected a file");
    assert_open_refused(missing, strerror(ENOENT));
    assert_open_refused(pipe, "a pipe that no one reads");
    free(pipe);
    free(missing);
    ga_test_folder_remove(folder);
}

static void formats_are_listed_and_complete(void **unused)
{
    (void)unused;
    assert_true(ga_log_format_count() >= 2);
    for (size_t i = 0; i < ga_log_format_count(); i++) {
        const struct ga_log_format *format = ga_log_format_at(i);
        assert_true(format->name && format->help && format->open && format->record &&
                    format->flush && format->close);
        assert_ptr_equal(ga_log_format_find(format->name), format);
    }
    assert_null(ga_log_format_at(ga_log_format_count()));
    assert_null(ga_log_format_find("xml"));
    assert_string_equal(ga_error_text(),
                        "unknown log format \"xml\", expected one of: jsonl, csv, tensorboard");
    assert_int_equal(ga_log_close(NULL), GA_OK);
}

static void a_lack_of_memory_is_an_error(void **unused)
{
    (void)unused;
    char *folder = ga_test_folder(), *path = ga_test_path(folder, "log.csv");
    const struct ga_log_options options = {.format = ga_log_format_find("csv")};
    int code = GA_ENOMEM;
    for (int64_t limit = 0; code; limit++) {
        struct ga_log *log = NULL;
        ga_test_allocation_limit(limit);
        code = ga_log_open(&log, path, &options);
        const int closed = ga_log_close(log);
        ga_test_allocation_free();
        assert_true(code == GA_OK ? closed == GA_OK || closed == GA_ENOMEM : code == GA_ENOMEM);
        code = code ? code : closed;
    }
    free(path);
    ga_test_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_in_a_small_ring),
        cmocka_unit_test(every_n_takes_multiples_and_all_skipped),
        cmocka_unit_test(a_burst_is_recorded_as_its_updates),
        cmocka_unit_test(an_existing_file_is_emptied),
        cmocka_unit_test(records_reach_the_file_by_themselves),
        cmocka_unit_test(a_log_may_say_how_busy_seats_are),
        cmocka_unit_test(a_full_disk_is_reported_by_name_and_holds_no_one),
        cmocka_unit_test(a_full_disk_at_close_is_reported),
        cmocka_unit_test(a_reader_that_stalls_ends_the_log_not_the_engine),
        cmocka_unit_test(a_reader_that_leaves_is_an_error_not_a_signal),
        cmocka_unit_test(a_full_ring_holds_the_recorder),
        cmocka_unit_test(what_cannot_be_written_is_refused_at_once),
        cmocka_unit_test(formats_are_listed_and_complete),
        cmocka_unit_test(a_lack_of_memory_is_an_error),
    };
    return ga_test_main(tests);
}
