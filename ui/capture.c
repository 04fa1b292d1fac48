#include "ui/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"

#define PIPE_BYTES (1 << 20)
#define READS      16 /* blocks at a time: a library that never stops must not hold the screen */

static int redirect(struct ga_capture *capture, int writer)
{
    capture->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    capture->err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (capture->out < 0 || capture->err < 0 || dup2(writer, STDOUT_FILENO) < 0 ||
        dup2(writer, STDERR_FILENO) < 0)
        return ga_fail_errno(GA_EIO, errno, "cannot catch what libraries write");
    return 0;
}

int ga_capture_open(struct ga_capture *capture)
{
    int end[2];
    *capture = (struct ga_capture){.fd = -1, .out = -1, .err = -1};
    if (pipe2(end, O_CLOEXEC | O_NONBLOCK) < 0)
        return ga_fail_errno(GA_EIO, errno, "cannot catch what libraries write");
    fcntl(end[1], F_SETPIPE_SZ, PIPE_BYTES); /* as much as the system allows */
    fflush(NULL);
    capture->fd = end[0];
    const int code = redirect(capture, end[1]);
    close(end[1]);
    if (code < 0)
        ga_capture_close(capture);
    return code;
}

static void restore(int *saved, int descriptor)
{
    if (*saved < 0)
        return;
    dup2(*saved, descriptor);
    close(*saved);
    *saved = -1;
}

static void write_error(void *self, const char *bytes, size_t length)
{
    (void)self;
    fprintf(stderr, "%.*s\n", (int)length, bytes);
}

void ga_capture_close(struct ga_capture *capture)
{
    if (capture->fd < 0)
        return;
    fflush(NULL);
    restore(&capture->out, STDOUT_FILENO);
    restore(&capture->err, STDERR_FILENO);
    ga_capture_read(capture, write_error, NULL);
    if (capture->length > 0)
        write_error(NULL, capture->line, capture->length);
    close(capture->fd);
    capture->fd = -1;
}

static void take_bytes(struct ga_capture *capture, const char *bytes, size_t count,
                       void (*line)(void *self, const char *bytes, size_t length), void *self)
{
    for (size_t i = 0; i < count; i++) {
        const bool full = capture->length == GA_CAPTURE_LINE;
        if (bytes[i] == '\n' || full) {
            line(self, capture->line, capture->length);
            capture->length = 0;
        }
        if (bytes[i] != '\n')
            capture->line[capture->length++] = bytes[i];
    }
}

void ga_capture_read(struct ga_capture *capture,
                     void (*line)(void *self, const char *bytes, size_t length), void *self)
{
    char bytes[4096];
    for (int i = 0; i < READS; i++) {
        const ssize_t count = read(capture->fd, bytes, sizeof(bytes));
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return;
        take_bytes(capture, bytes, (size_t)count, line, self);
    }
}
