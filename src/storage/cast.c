#include "storage/cast.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

struct ga_cast {
    char *path;
    int fd;
    int64_t start_ns;
    uint64_t events;
    struct ga_error error; /* the first */
};

static int write_all(const struct ga_cast *cast, const char *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t wrote = write(cast->fd, bytes, count);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return ga_fail_errno(GA_EIO, errno, "cast %s: cannot write", cast->path);
        bytes += wrote;
        count -= (size_t)wrote;
    }
    return 0;
}

/* One value on one line; takes it. */
static int write_line(struct ga_cast *cast, json_t *value)
{
    char *text = value ? json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    const size_t length = text ? strlen(text) : 0;
    int code = 0;
    json_decref(value);
    if (!text)
        code = ga_fail(GA_ENOMEM, "cast %s: no memory for a line", cast->path);
    if (code == 0)
        text[length] = '\n'; /* in place of the NUL */
    if (code == 0)
        code = write_all(cast, text, length + 1);
    free(text);
    return code;
}

static json_t *header_of(int columns, int rows, const char *term)
{
    return json_pack("{s:i,s:i,s:i,s:I,s:{s:s}}", "version", 2, "width", columns, "height", rows,
                     "timestamp", (json_int_t)time(NULL), "env", "TERM", term);
}

static int open_file(struct ga_cast *cast)
{
    struct stat about;
    cast->fd = open(cast->path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    if (cast->fd < 0)
        return ga_fail_errno(GA_EIO, errno, "cannot write cast %s", cast->path);
    if (fstat(cast->fd, &about) < 0 || !S_ISREG(about.st_mode))
        return ga_fail(GA_EINPUT, "cast %s: expected a regular file", cast->path);
    if (ftruncate(cast->fd, 0) < 0)
        return ga_fail_errno(GA_EIO, errno, "cannot write cast %s", cast->path);
    return 0;
}

static void release(struct ga_cast *cast)
{
    if (cast->fd >= 0)
        close(cast->fd);
    free(cast->path);
    free(cast);
}

int ga_cast_open(struct ga_cast **out, const char *path, int columns, int rows, const char *term,
                 int64_t now_ns)
{
    *out = NULL;
    struct ga_cast *cast = ga_alloc(1, sizeof(*cast));
    if (!cast)
        return GA_ENOMEM;
    cast->fd = -1;
    cast->start_ns = now_ns;
    cast->path = ga_copy_string(path);
    int code = cast->path ? open_file(cast) : (int)GA_ENOMEM;
    if (code == 0)
        code = write_line(cast, header_of(columns, rows, term));
    if (code < 0) {
        release(cast);
        return code;
    }
    *out = cast;
    return 0;
}

static int write_event(struct ga_cast *cast, const char *kind, const char *bytes, size_t count,
                       int64_t now_ns)
{
    const int64_t since_us = now_ns > cast->start_ns ? (now_ns - cast->start_ns) / 1000 : 0;
    if (cast->error.code != GA_OK)
        return ga_error_put(&cast->error);
    const int code =
        write_line(cast, json_pack("[f,s,s%]", (double)since_us / 1e6, kind, bytes, count));
    cast->events += code == 0;
    if (code < 0) {
        ga_error_take(&cast->error);
        ga_error_put(&cast->error);
    }
    return code;
}

int ga_cast_output(struct ga_cast *cast, const char *bytes, size_t count, int64_t now_ns)
{
    return count > 0 ? write_event(cast, "o", bytes, count, now_ns) : 0;
}

int ga_cast_resize(struct ga_cast *cast, int columns, int rows, int64_t now_ns)
{
    char size[32];
    const int length = snprintf(size, sizeof(size), "%dx%d", columns, rows);
    return write_event(cast, "r", size, (size_t)length, now_ns);
}

const char *ga_cast_path(const struct ga_cast *cast)
{
    return cast->path;
}

uint64_t ga_cast_events(const struct ga_cast *cast)
{
    return cast->events;
}

int ga_cast_close(struct ga_cast *cast)
{
    if (!cast)
        return 0;
    const struct ga_error error = cast->error;
    release(cast);
    return error.code != GA_OK ? ga_error_put(&error) : 0;
}
