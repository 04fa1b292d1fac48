#include "storage/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

#define PIECE_BYTES 65536

/* A pipe is full: waits until its reader took something. */
static int await_reader(const struct ga_log_file *file)
{
    const int64_t milliseconds = (file->patience_ns + 999999) / 1000000;
    struct pollfd wanted = {.fd = file->fd, .events = POLLOUT};
    const int ready = poll(&wanted, 1, milliseconds < INT_MAX ? (int)milliseconds : INT_MAX);
    if (ready == 0)
        return ga_fail(GA_EIO, "log %s: no one has read from it for %.3g s, given up", file->path,
                       (double)file->patience_ns / 1e9);
    return ready > 0 || errno == EINTR
               ? GA_OK
               : ga_fail_errno(GA_EIO, errno, "log %s: cannot write", file->path);
}

static int write_some(const struct ga_log_file *file, const char *bytes, size_t count,
                      size_t *wrote)
{
    const ssize_t answer = write(file->fd, bytes, count);
    *wrote = answer > 0 ? (size_t)answer : 0;
    if (answer >= 0 || errno == EINTR)
        return GA_OK;
    if (errno == EAGAIN)
        return await_reader(file);
    return ga_fail_errno(GA_EIO, errno, "log %s: cannot write", file->path);
}

int ga_log_file_flush(struct ga_log_file *file)
{
    int code = GA_OK;
    if (ga_text_failed(&file->text))
        code = ga_fail(GA_ENOMEM, "log %s: no memory for a line", file->path);
    for (size_t done = 0, wrote = 0; !code && done < file->text.length; done += wrote)
        code = write_some(file, file->text.data + done, file->text.length - done, &wrote);
    ga_text_clear(&file->text);
    return code;
}

int ga_log_file_write(struct ga_log_file *file)
{
    return file->text.length >= PIECE_BYTES || ga_text_failed(&file->text) ? ga_log_file_flush(file)
                                                                           : GA_OK;
}

static int refuse(const char *path, int number)
{
    if (path[0] == '\0')
        return ga_fail(GA_EIO, "the log's name is empty, expected that of a file");
    if (number == EISDIR)
        return ga_fail(GA_EIO, "cannot write log %s: a directory, expected a file", path);
    if (number == ENXIO)
        return ga_fail(GA_EIO,
                       "cannot write log %s: a pipe that no one reads, expected a reader first, or "
                       "a file",
                       path);
    return ga_fail_errno(GA_EIO, number, "cannot write log %s", path);
}

int ga_log_file_open(struct ga_log_file *file, const char *path, int64_t patience_ns)
{
    *file = (struct ga_log_file){.text = GA_TEXT_INIT, .patience_ns = patience_ns};
    file->path = ga_copy_string(path);
    if (!file->path)
        return ga_error_code();
    file->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    if (file->fd >= 0)
        return GA_OK;
    const int number = errno;
    free(file->path);
    return refuse(path, number);
}

int ga_log_file_close(struct ga_log_file *file)
{
    int code = ga_log_file_flush(file);
    if (close(file->fd) != 0 && !code)
        code = ga_fail_errno(GA_EIO, errno, "log %s: cannot write", file->path);
    ga_text_free(&file->text);
    free(file->path);
    return code;
}
