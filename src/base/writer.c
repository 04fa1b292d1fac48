#include "base/file.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "base/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES 65536

struct ga_writer {
    char *target;    /* symbolic links followed */
    char *temporary; /* in the target's folder; NULL when a device or pipe is written directly */
    int fd;
    bool failed; /* a write was refused; the error text was set then */
    size_t used_bytes;
    char buffer[BUFFER_BYTES];
};

/* The length of the folder part of `path` with its slash; 0 for the current folder. */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

/* A file that a link leads to is replaced, not the link; a link to nowhere is replaced itself. */
static char *resolve(const char *path)
{
    struct stat status;
    if (lstat(path, &status) != 0 || !S_ISLNK(status.st_mode))
        return ga_copy_string(path);
    char *real = realpath(path, NULL);
    return real ? real : ga_copy_string(path);
}

/* A name of its own length, so that the longest target name works too. */
static int open_temporary(struct ga_writer *writer)
{
    const int folder = folder_length(writer->target);
    const size_t size = (size_t)folder + 64;
    writer->temporary = ga_alloc(size, 1);
    if (!writer->temporary)
        return GA_ENOMEM;
    for (int attempt = 0; attempt < 100; attempt++) {
        snprintf(writer->temporary, size, "%.*s.ga-%lx-%llx.tmp", folder, writer->target,
                 (unsigned long)getpid(), (unsigned long long)ga_now_ns());
        writer->fd = open(writer->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (writer->fd >= 0 || errno != EEXIST)
            break;
    }
    if (writer->fd >= 0)
        return GA_OK;
    free(writer->temporary);
    writer->temporary = NULL;
    return ga_fail_errno(GA_EIO, errno, "cannot write %s", writer->target);
}

static int open_target(struct ga_writer *writer)
{
    struct stat status;
    if (stat(writer->target, &status) != 0)
        return open_temporary(writer);
    if (S_ISREG(status.st_mode)) {
        const int answer = open_temporary(writer);
        if (answer == GA_OK)
            (void)!fchmod(writer->fd, status.st_mode & 07777);
        return answer;
    }
    if (S_ISDIR(status.st_mode))
        return ga_fail(GA_EINPUT, "%s is a directory, expected a file", writer->target);
    if (S_ISBLK(status.st_mode))
        return ga_fail(GA_EINPUT, "%s is a block device, expected a file", writer->target);
    writer->fd = open(writer->target, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (writer->fd < 0 && errno == ENXIO && S_ISFIFO(status.st_mode))
        return ga_fail(GA_EIO, "cannot write %s: a pipe that no one reads, expected a file",
                       writer->target);
    if (writer->fd < 0)
        return ga_fail_errno(GA_EIO, errno, "cannot write %s", writer->target);
    return GA_OK;
}

static void writer_free(struct ga_writer *writer)
{
    free(writer->temporary);
    free(writer->target);
    free(writer);
}

int ga_writer_open(struct ga_writer **out, const char *path)
{
    *out = NULL;
    if (path[0] == '\0')
        return ga_fail(GA_EIO, "the name is empty, expected that of a file to write");
    struct ga_writer *writer = ga_alloc(1, sizeof *writer);
    if (!writer)
        return GA_ENOMEM;
    writer->fd = -1;
    writer->target = resolve(path);
    int answer = writer->target ? open_target(writer) : GA_ENOMEM;
    if (answer != GA_OK) {
        writer_free(writer);
        return answer;
    }
    *out = writer;
    return GA_OK;
}

static int write_all(struct ga_writer *writer, const char *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t wrote = write(writer->fd, bytes, count);
        if (wrote < 0 && errno == EAGAIN) {
            if (ga_wait_ready(writer->fd, POLLOUT) == GA_OK)
                continue;
            writer->failed = true;
            return ga_fail(GA_EIO, "cannot write %s: interrupted while no one read it",
                           writer->target);
        }
        if (wrote < 0 && errno != EINTR) {
            writer->failed = true;
            return ga_fail_errno(GA_EIO, errno, "cannot write %s", writer->target);
        }
        if (wrote > 0) {
            bytes += wrote;
            count -= (size_t)wrote;
        }
    }
    return GA_OK;
}

static int flush(struct ga_writer *writer)
{
    const size_t count = writer->used_bytes;
    writer->used_bytes = 0;
    return write_all(writer, writer->buffer, count);
}

int ga_writer_write(struct ga_writer *writer, const void *bytes, size_t count_bytes)
{
    if (writer->failed)
        return ga_fail(GA_EIO, "cannot write %s: an earlier write failed", writer->target);
    if (count_bytes > BUFFER_BYTES - writer->used_bytes) {
        if (flush(writer) != GA_OK)
            return GA_EIO;
        if (count_bytes >= BUFFER_BYTES)
            return write_all(writer, bytes, count_bytes);
    }
    if (count_bytes > 0)
        memcpy(writer->buffer + writer->used_bytes, bytes, count_bytes);
    writer->used_bytes += count_bytes;
    return GA_OK;
}

/* The rename itself reaches the disk with the folder. Some file systems cannot do this: EINVAL. */
static int sync_folder(const char *target)
{
    const int length = folder_length(target);
    char *folder = length > 0 ? strndup(target, (size_t)length) : strdup(".");
    if (!folder)
        return ga_fail(GA_ENOMEM, "out of memory after %s was written", target);
    int answer = GA_OK;
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && fsync(fd) != 0 && errno != EINVAL && errno != ENOSYS)
        answer =
            ga_fail_errno(GA_EIO, errno, "%s was written, but its folder not synchronised", target);
    if (fd >= 0)
        close(fd);
    free(folder);
    return answer;
}

/* Pipes and terminals have nothing to synchronise: EINVAL. */
static int finish(struct ga_writer *writer)
{
    const int fd = writer->fd;
    if (writer->failed)
        return ga_fail(GA_EIO, "cannot write %s: an earlier write failed", writer->target);
    if (flush(writer) != GA_OK)
        return GA_EIO;
    if (fsync(fd) != 0 && (writer->temporary || (errno != EINVAL && errno != EROFS)))
        return ga_fail_errno(GA_EIO, errno, "cannot write %s", writer->target);
    writer->fd = -1;
    if (close(fd) != 0)
        return ga_fail_errno(GA_EIO, errno, "cannot write %s", writer->target);
    if (writer->temporary && rename(writer->temporary, writer->target) != 0)
        return ga_fail_errno(GA_EIO, errno, "cannot replace %s", writer->target);
    return GA_OK;
}

int ga_writer_commit(struct ga_writer *writer)
{
    int answer = finish(writer);
    if (answer != GA_OK) {
        ga_writer_abandon(writer);
        return answer;
    }
    if (writer->temporary)
        answer = sync_folder(writer->target);
    writer_free(writer);
    return answer;
}

void ga_writer_abandon(struct ga_writer *writer)
{
    if (!writer)
        return;
    if (writer->fd >= 0)
        close(writer->fd);
    if (writer->temporary)
        unlink(writer->temporary);
    writer_free(writer);
}
