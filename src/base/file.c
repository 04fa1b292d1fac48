#include "base/file.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A pipe or device states no size and may never end: a limit that memory can bear. */
#define UNSIZED_BYTES (UINT64_C(1) << 30)

static int too_long(const char *path, uint64_t limit_bytes)
{
    char limit[GA_NUMBER_TEXT];
    ga_format_bytes(limit, limit_bytes);
    return ga_fail(GA_ERANGE, "%s is too long, expected at most %s", path, limit);
}

/*
 * One read() that survives signals: `*got` is 0 at the end. A pipe is waited for first: without a
 * writer read() calls it ended, poll() not before there was one.
 */
static int read_some(int fd, const char *path, void *bytes, size_t count, size_t *got)
{
    for (;;) {
        if (ga_wait_ready(fd, POLLIN) != GA_OK)
            return ga_fail(GA_EIO, "cannot read %s: interrupted while nothing came", path);
        const ssize_t some = read(fd, bytes, count);
        *got = some > 0 ? (size_t)some : 0;
        if (some >= 0)
            return GA_OK;
        if (errno != EINTR && errno != EAGAIN)
            return ga_fail_errno(GA_EIO, errno, "cannot read %s", path);
    }
}

/* Reads to the end; `expected` bytes are a guess only, since a pipe or /proc states none. */
static int read_all(int fd, const char *path, uint64_t limit_bytes, size_t expected, char **out,
                    size_t *length_bytes)
{
    void *block = NULL;
    size_t capacity = 0;
    size_t length = 0;
    int answer = ga_grow(&block, &capacity, expected + 2, 1);
    while (answer == GA_OK) {
        size_t got = 0;
        answer = read_some(fd, path, (char *)block + length, capacity - length - 1, &got);
        if (got == 0)
            break;
        length += got;
        if (length > limit_bytes)
            answer = too_long(path, limit_bytes);
        else if (length + 1 == capacity)
            answer = ga_grow(&block, &capacity, capacity + 65536, 1);
    }
    if (answer != GA_OK) {
        free(block);
        return answer;
    }
    ((char *)block)[length] = '\0';
    *out = block;
    *length_bytes = length;
    return GA_OK;
}

int ga_file_read(const char *path, uint64_t limit_bytes, char **out, size_t *length_bytes)
{
    struct stat status;
    int answer = GA_OK;
    size_t expected = 0;
    *out = NULL;
    *length_bytes = 0;
    if (path[0] == '\0')
        return ga_fail(GA_EINPUT, "the name is empty, expected that of a file to read");
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return ga_fail_errno(GA_EIO, errno, "cannot open %s", path);
    if (fstat(fd, &status) != 0)
        answer = ga_fail_errno(GA_EIO, errno, "cannot open %s", path);
    else if (S_ISDIR(status.st_mode))
        answer = ga_fail(GA_EINPUT, "%s is a directory, expected a file", path);
    else if (S_ISREG(status.st_mode) && (uint64_t)status.st_size > limit_bytes)
        answer = too_long(path, limit_bytes);
    else if (S_ISREG(status.st_mode))
        expected = (size_t)status.st_size;
    else if (limit_bytes > UNSIZED_BYTES)
        limit_bytes = UNSIZED_BYTES;
    if (answer == GA_OK)
        answer = read_all(fd, path, limit_bytes, expected, out, length_bytes);
    close(fd);
    return answer;
}
