#include "dataset/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/error.h"
#include "base/memory.h"

#define BLOCK_BYTES  65536
#define MOST_AT_ONCE (1u << 30)

struct file_bytes {
    struct ga_bytes bytes;
    z_stream stream; /* next_in, avail_in: of `block`, for plain files too */
    int fd;
    bool file_ended;
    bool in_member; /* of packed data, which has begun and not ended */
    unsigned char block[BLOCK_BYTES];
};

static int fill(struct file_bytes *file)
{
    while (file->stream.avail_in == 0 && !file->file_ended) {
        const ssize_t got = read(file->fd, file->block, BLOCK_BYTES);
        if (got < 0 && errno != EINTR) {
            return ga_fail_errno(GA_EIO, errno, "cannot read %s", file->bytes.name);
        }
        file->file_ended = got == 0;
        file->stream.next_in = file->block;
        file->stream.avail_in = got > 0 ? (uInt)got : 0;
    }
    return 0;
}

static int read_plain(struct ga_bytes *bytes, void *out, size_t most, size_t *got)
{
    struct file_bytes *file = (struct file_bytes *)bytes;
    *got = 0;
    while (*got < most) {
        int code = fill(file);
        if (code != 0) {
            return code;
        }
        const size_t left = most - *got;
        const size_t part = file->stream.avail_in < left ? file->stream.avail_in : left;
        if (part == 0) {
            return 0;
        }
        memcpy((char *)out + *got, file->stream.next_in, part);
        file->stream.next_in += part;
        file->stream.avail_in -= (uInt)part;
        *got += part;
    }
    return 0;
}

static int refuse_packed(const struct file_bytes *file, const char *what)
{
    return ga_fail(GA_EINPUT, "%s: truncated or damaged gzip data (%s), expected a whole file",
                   file->bytes.name, what);
}

/* What stands behind a member: another one, zeros up to the end of the file, or nothing. */
static int next_member(struct file_bytes *file)
{
    while (file->stream.avail_in > 0 && *file->stream.next_in == 0) {
        file->stream.next_in++;
        file->stream.avail_in--;
        int code = file->stream.avail_in == 0 ? fill(file) : 0;
        if (code != 0) {
            return code;
        }
    }
    if (file->stream.avail_in == 0) {
        return 0;
    }
    if (*file->stream.next_in != 0x1f) {
        return refuse_packed(file, "other bytes behind it");
    }
    file->in_member = true;
    return inflateReset(&file->stream) == Z_OK ? 0 : refuse_packed(file, "no member");
}

static int unpack(struct file_bytes *file)
{
    const int answer = inflate(&file->stream, Z_NO_FLUSH);
    if (answer == Z_STREAM_END) {
        file->in_member = false;
        return 0;
    }
    if (answer == Z_MEM_ERROR) {
        return ga_fail(GA_ENOMEM, "%s: out of memory while unpacking", file->bytes.name);
    }
    if (answer == Z_NEED_DICT || (answer != Z_OK && answer != Z_BUF_ERROR)) {
        return refuse_packed(file, file->stream.msg ? file->stream.msg : "a preset dictionary");
    }
    return 0;
}

/* Some bytes; none only at the end, where every member is whole. */
static int unpack_some(struct file_bytes *file, unsigned char *out, size_t room, size_t *got)
{
    int code = fill(file);
    *got = 0;
    if (code == 0 && !file->in_member) {
        code = next_member(file);
    }
    while (code == 0 && file->in_member && *got == 0) {
        code = fill(file);
        if (code == 0 && file->stream.avail_in == 0) {
            return refuse_packed(file, "unexpected end of file");
        }
        file->stream.next_out = out;
        file->stream.avail_out = room < MOST_AT_ONCE ? (uInt)room : MOST_AT_ONCE;
        if (code == 0) {
            code = unpack(file);
        }
        *got = (size_t)(file->stream.next_out - out);
        if (code == 0 && *got == 0 && !file->in_member) {
            code = next_member(file);
        }
    }
    return code;
}

static int read_packed(struct ga_bytes *bytes, void *out, size_t most, size_t *got)
{
    struct file_bytes *file = (struct file_bytes *)bytes;
    size_t part = 1;
    int code = 0;
    *got = 0;
    while (code == 0 && part > 0 && *got < most) {
        code = unpack_some(file, (unsigned char *)out + *got, most - *got, &part);
        *got += part;
    }
    return code;
}

static void close_file(struct ga_bytes *bytes)
{
    struct file_bytes *file = (struct file_bytes *)bytes;
    if (bytes->packed) {
        inflateEnd(&file->stream);
    }
    close(file->fd);
    free((char *)bytes->name);
    free(file);
}

/* gzip, or one of the three zlib headers that no text begins with. */
static bool is_packed(const unsigned char *head, size_t count)
{
    if (count < 2) {
        return false;
    }
    return (head[0] == 0x1f && head[1] == 0x8b) ||
           (head[0] == 0x78 && (head[1] == 0x01 || head[1] == 0x9c || head[1] == 0xda));
}

static int look(struct file_bytes *file, uint64_t size_bytes)
{
    struct ga_bytes *bytes = &file->bytes;
    int code = fill(file);
    if (code != 0) {
        return code;
    }
    bytes->read = read_plain;
    bytes->most = size_bytes;
    if (!is_packed(file->block, file->stream.avail_in)) {
        return 0;
    }
    if (inflateInit2(&file->stream, 15 + 32) != Z_OK) {
        return ga_fail(GA_ENOMEM, "%s: out of memory while unpacking", bytes->name);
    }
    bytes->packed = true;
    bytes->read = read_packed;
    file->in_member = true;
    if (__builtin_mul_overflow(size_bytes, (uint64_t)GA_BYTES_PACKED_MOST, &bytes->most)) {
        bytes->most = UINT64_MAX;
    }
    return 0;
}

int ga_bytes_regular(const char *path, int *fd, uint64_t *size_bytes)
{
    struct stat status;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*fd < 0) {
        return ga_fail_errno(GA_EIO, errno, "cannot open %s, expected a file with data", path);
    }
    int code = 0;
    if (fstat(*fd, &status) != 0) {
        code = ga_fail_errno(GA_EIO, errno, "cannot open %s", path);
    } else if (!S_ISREG(status.st_mode)) {
        code = ga_fail(GA_EINPUT, "%s is %s, expected a file with data", path,
                       S_ISDIR(status.st_mode) ? "a directory" : "not a regular file");
    }
    if (code != 0) {
        close(*fd);
        return code;
    }
    *size_bytes = (uint64_t)status.st_size;
    return 0;
}

int ga_bytes_open(struct ga_bytes **out, const char *path)
{
    uint64_t size_bytes = 0;
    int fd = -1;
    *out = NULL;
    int code = ga_bytes_regular(path, &fd, &size_bytes);
    if (code != 0) {
        return code;
    }
    struct file_bytes *file = ga_alloc(1, sizeof *file);
    if (!file) {
        close(fd);
        return GA_ENOMEM;
    }
    file->fd = fd;
    file->bytes.close = close_file;
    file->bytes.name = ga_copy_string(path);
    code = file->bytes.name ? look(file, size_bytes) : GA_ENOMEM;
    if (code != 0) {
        close_file(&file->bytes);
        return code;
    }
    *out = &file->bytes;
    return 0;
}

int ga_bytes_peek(const char *path, unsigned char head[GA_BYTES_HEAD], size_t *count)
{
    struct ga_bytes *bytes = NULL;
    int code = ga_bytes_open(&bytes, path);
    if (code == 0) {
        code = ga_bytes_read(bytes, head, GA_BYTES_HEAD, count);
    }
    ga_bytes_close(bytes);
    return code;
}

int ga_bytes_read(struct ga_bytes *bytes, void *out, size_t most, size_t *got)
{
    return bytes->read(bytes, out, most, got);
}

void ga_bytes_close(struct ga_bytes *bytes)
{
    if (bytes) {
        bytes->close(bytes);
    }
}

int ga_bytes_read_all(struct ga_bytes *bytes, void *out, size_t wanted, const char *what)
{
    size_t got = 0;
    int code = bytes->read(bytes, out, wanted, &got);
    if (code == 0 && got < wanted) {
        return ga_fail(GA_EINPUT, "%s: the file ends within %s, expected %zu more bytes",
                       bytes->name, what, wanted - got);
    }
    return code;
}

int ga_bytes_end(struct ga_bytes *bytes, const char *what)
{
    char left[4096];
    size_t got = 0;
    int code = bytes->read(bytes, left, sizeof left, &got);
    if (code == 0 && got > 0) {
        return ga_fail(GA_EINPUT, "%s: %s%zu bytes behind %s, expected the end of the file",
                       bytes->name, got == sizeof left ? "more than " : "",
                       got == sizeof left ? got - 1 : got, what);
    }
    return code;
}
