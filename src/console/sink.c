#include "console/sink.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/wait.h"

void ga_stream_init(struct ga_stream *stream, int out_fd, int fail_fd)
{
    stream->out_fd = out_fd;
    stream->fail_fd = fail_fd;
    stream->system_error = 0;
    stream->by_interrupt = true;
    stream->used = 0;
}

/* 0 when something can be written, or what went wrong will be told by a write. */
static int wait_for_room(const struct ga_stream *stream, int fd)
{
    struct pollfd wanted = {.fd = fd, .events = POLLOUT};
    while (poll(&wanted, 1, GA_WAIT_LOOK_MS) == 0)
        if (ga_wait_told_to_end(stream->by_interrupt))
            return EINTR;
    return 0;
}

static bool is_file(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

/* 0 or the errno of the failure. So much as a pipe with any room takes without waiting. */
static int write_all(const struct ga_stream *stream, int fd, const char *bytes, size_t length)
{
    const size_t most = is_file(fd) ? length : PIPE_BUF;
    while (length > 0) {
        if (most == PIPE_BUF && wait_for_room(stream, fd) != 0)
            return EINTR;
        const ssize_t count = write(fd, bytes, length < most ? length : most);
        if (count < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (count <= 0)
            return count < 0 ? errno : EIO;
        bytes += count;
        length -= (size_t)count;
    }
    return 0;
}

int ga_stream_flush(struct ga_stream *stream)
{
    if (stream->system_error == 0 && stream->used > 0)
        stream->system_error = write_all(stream, stream->out_fd, stream->bytes, stream->used);
    stream->used = 0;
    if (stream->system_error)
        return ga_fail_errno(GA_EIO, stream->system_error, "cannot write the output");
    return 0;
}

static int stream_out(void *self, const char *bytes, size_t length)
{
    struct ga_stream *stream = self;
    while (length > 0) {
        if (stream->used == sizeof(stream->bytes) && ga_stream_flush(stream) < 0)
            return GA_EIO;
        const size_t room = sizeof(stream->bytes) - stream->used;
        const size_t part = length < room ? length : room;
        memcpy(stream->bytes + stream->used, bytes, part);
        stream->used += part;
        bytes += part;
        length -= part;
    }
    return stream->system_error ? GA_EIO : 0;
}

static void stream_fail(void *self, const char *bytes, size_t length)
{
    struct ga_stream *stream = self;
    ga_stream_flush(stream);
    write_all(stream, stream->fail_fd, bytes, length);
}

struct ga_sink ga_stream_sink(struct ga_stream *stream)
{
    return (struct ga_sink){stream, stream_out, stream_fail};
}
