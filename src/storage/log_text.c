/* The text formats: lines are gathered in memory and written in pieces of about 64 KiB. */
#include "storage/log_formats.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/thread.h"
#include "storage/record_text.h"

#define PIECE_BYTES 65536
#define READING_NS  INT64_C(100000000)

struct ga_log_sink {
    const struct ga_record_form *form;
    struct ga_text text; /* not written yet */
    char *path;
    int64_t patience_ns;
    struct ga_log_seats seats;
    struct ga_readings *readings; /* (seats.count) */
    int64_t read_ns;              /* when they were read last */
    int fd;
};

/* A pipe is full: waits until its reader took something. */
static int await_reader(const struct ga_log_sink *sink)
{
    const int64_t milliseconds = (sink->patience_ns + 999999) / 1000000;
    struct pollfd wanted = {.fd = sink->fd, .events = POLLOUT};
    const int ready = poll(&wanted, 1, milliseconds < INT_MAX ? (int)milliseconds : INT_MAX);
    if (ready == 0)
        return ga_fail(GA_EIO, "log %s: no one has read from it for %.3g s, given up", sink->path,
                       (double)sink->patience_ns / 1e9);
    return ready > 0 || errno == EINTR
               ? GA_OK
               : ga_fail_errno(GA_EIO, errno, "log %s: cannot write", sink->path);
}

static int write_some(const struct ga_log_sink *sink, const char *bytes, size_t count,
                      size_t *wrote)
{
    const ssize_t answer = write(sink->fd, bytes, count);
    *wrote = answer > 0 ? (size_t)answer : 0;
    if (answer >= 0 || errno == EINTR)
        return GA_OK;
    if (errno == EAGAIN)
        return await_reader(sink);
    return ga_fail_errno(GA_EIO, errno, "log %s: cannot write", sink->path);
}

static int flush(struct ga_log_sink *sink)
{
    int code = GA_OK;
    if (ga_text_failed(&sink->text))
        code = ga_fail(GA_ENOMEM, "log %s: no memory for a line", sink->path);
    for (size_t done = 0, wrote = 0; !code && done < sink->text.length; done += wrote)
        code = write_some(sink, sink->text.data + done, sink->text.length - done, &wrote);
    ga_text_clear(&sink->text);
    return code;
}

/* Samples come twice a second: more often there is nothing new to read. */
static void read_seats(struct ga_log_sink *sink)
{
    const int64_t now_ns = sink->seats.count > 0 ? ga_now_ns() : 0;
    if (sink->seats.count == 0 || (sink->read_ns > 0 && now_ns - sink->read_ns < READING_NS))
        return;
    sink->seats.read(sink->seats.self, sink->readings);
    sink->read_ns = now_ns;
}

static int record_line(struct ga_log_sink *sink, const struct ga_update_record *record)
{
    read_seats(sink);
    const struct ga_record_seats seats = {sink->seats.count, sink->readings};
    sink->form->line(record, &seats, &sink->text);
    return sink->text.length >= PIECE_BYTES || ga_text_failed(&sink->text) ? flush(sink) : GA_OK;
}

static void release(struct ga_log_sink *sink)
{
    ga_text_free(&sink->text);
    free(sink->readings);
    free(sink->path);
    free(sink);
}

static int close_sink(struct ga_log_sink *sink)
{
    int code = flush(sink);
    if (close(sink->fd) != 0 && !code)
        code = ga_fail_errno(GA_EIO, errno, "log %s: cannot write", sink->path);
    release(sink);
    return code;
}

/* Never blocking: a pipe that no one reads is refused here, and later answers EAGAIN when it is
 * full. */
static int open_file(const char *path)
{
    const int fd =
        open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    return fd >= 0 ? fd : ga_fail_errno(GA_EIO, errno, "cannot write log %s", path);
}

static int open_form(struct ga_log_sink **out, const char *path,
                     const struct ga_log_options *options, const struct ga_record_form *form)
{
    struct ga_log_sink *sink = ga_alloc(1, sizeof *sink);
    if (!sink)
        return ga_error_code();
    sink->form = form;
    sink->patience_ns = options->patience_ns;
    sink->seats = options->seats;
    sink->path = ga_copy_string(path);
    if (sink->path && sink->seats.count > 0)
        sink->readings = ga_alloc(sink->seats.count, sizeof *sink->readings);
    if (!sink->path || (sink->seats.count > 0 && !sink->readings))
        sink->fd = ga_error_code();
    else
        sink->fd = open_file(path);
    if (sink->fd < 0) {
        const int code = sink->fd;
        release(sink);
        return code;
    }
    form->head(sink->seats.count, &sink->text);
    *out = sink;
    return GA_OK;
}

static int open_jsonl(struct ga_log_sink **out, const char *path,
                      const struct ga_log_options *options)
{
    return open_form(out, path, options, &ga_record_jsonl);
}

static int open_csv(struct ga_log_sink **out, const char *path,
                    const struct ga_log_options *options)
{
    return open_form(out, path, options, &ga_record_csv);
}

const struct ga_log_format ga_log_jsonl = {
    "jsonl", "one JSON object a line", open_jsonl, record_line, flush, close_sink};
const struct ga_log_format ga_log_csv = {
    "csv", "comma-separated values", open_csv, record_line, flush, close_sink};
