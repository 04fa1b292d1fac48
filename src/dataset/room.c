#include "dataset/room.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/number.h"

#define NUMBER_BYTES 4

/* The start of one of the system's short files; "" where it has none. */
static void read_start(const char *path, char *out, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd >= 0 ? read(fd, out, size - 1) : 0;
    out[got > 0 ? got : 0] = '\0';
    if (fd >= 0) {
        close(fd);
    }
}

/* The number at `text`; the largest where there is none ("max") or it does not fit. */
static uint64_t number_at(const char *text, uint64_t unit)
{
    uint64_t value = 0;
    bool over = *text < '0' || *text > '9';
    for (; *text >= '0' && *text <= '9'; text++) {
        over |= __builtin_mul_overflow(value, UINT64_C(10), &value);
        over |= __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value);
    }
    over |= __builtin_mul_overflow(value, unit, &value);
    return over ? UINT64_MAX : value;
}

static uint64_t available_bytes(void)
{
    static const char field[] = "MemAvailable:";
    char text[1024];
    read_start("/proc/meminfo", text, sizeof text);
    const char *at = strstr(text, field);
    if (!at) {
        return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    }
    at += strlen(field);
    return number_at(at + strspn(at, " "), 1024);
}

/* In a container its own limit stands at the top; version 2, then version 1. */
static uint64_t group_bytes(void)
{
    static const char *const paths[] = {"/sys/fs/cgroup/memory.max",
                                        "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        char text[64];
        read_start(paths[i], text, sizeof text);
        const uint64_t bytes = number_at(text, 1);
        least = bytes < least ? bytes : least;
    }
    return least;
}

int ga_room_read(const struct ga_options *options, struct ga_room *out)
{
    const char *limit = ga_options_get(options, "limit");
    const uint64_t available = available_bytes();
    const uint64_t group = group_bytes();
    out->told = limit != NULL;
    out->bytes = (available < group ? available : group) / 4 * 3;
    return ga_options_bytes(options, "limit", 1, UINT64_MAX, &out->bytes);
}

int ga_room_refuse(const struct ga_room *room, const char *name, uint64_t rows, uint64_t width)
{
    char limit[GA_NUMBER_TEXT];
    ga_format_bytes(limit, room->bytes);
    return ga_fail(GA_ERANGE,
                   "%s: more than %" PRIu64 " rows of %" PRIu64
                   " numbers, expected a table of at most %s (%s)",
                   name, rows, width, limit,
                   room->told ? "limit=" : "3/4 of the free memory; limit=SIZE says otherwise");
}

int ga_room_check(const struct ga_room *room, const char *name, uint64_t rows, uint64_t width)
{
    const uint64_t most = width > 0 ? room->bytes / NUMBER_BYTES / width : UINT64_MAX;
    return rows <= most ? 0 : ga_room_refuse(room, name, most, width);
}
