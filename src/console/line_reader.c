#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "console/lexer.h"
#include "console/plain.h"

/* Takes `length` bytes and the newline behind them, when there is one. */
static char *take(struct ga_line_reader *reader, size_t length)
{
    char *line = malloc(length + 1);
    if (!line)
        return NULL;
    memcpy(line, reader->bytes, length);
    line[length] = '\0';
    const size_t used = length < reader->length ? length + 1 : length;
    memmove(reader->bytes, reader->bytes + used, reader->length - used);
    reader->length -= used;
    return line;
}

/* Waits for input or a signal, and reads. */
static void fill(struct ga_line_reader *reader, int *signal_number)
{
    struct pollfd watched[2] = {{.fd = reader->fd, .events = POLLIN},
                                {.fd = reader->signals, .events = POLLIN}};
    poll(watched, 2, -1);
    *signal_number = ga_signals_take(reader->signals);
    if (*signal_number || !(watched[0].revents & (POLLIN | POLLHUP | POLLERR | POLLNVAL)))
        return;
    if (ga_grow((void **)&reader->bytes, &reader->capacity, reader->length + 4096, 1) < 0) {
        reader->ended = true;
        return;
    }
    const ssize_t count = read(reader->fd, reader->bytes + reader->length, 4096);
    if (count > 0)
        reader->length += (size_t)count;
    else if (count == 0 || (errno != EINTR && errno != EAGAIN))
        reader->ended = true;
}

static char *take_rest(struct ga_line_reader *reader, size_t *length)
{
    *length = reader->length;
    reader->ended = true;
    return *length > 0 ? take(reader, *length) : NULL;
}

char *ga_line_next(struct ga_line_reader *reader, size_t *length, int *signal_number)
{
    *signal_number = 0;
    *length = 0;
    for (;;) {
        const char *end = reader->length ? memchr(reader->bytes, '\n', reader->length) : NULL;
        if (end) {
            *length = (size_t)(end - reader->bytes);
            return take(reader, *length);
        }
        if (reader->ended || reader->length > GA_LINE_LIMIT)
            return take_rest(reader, length);
        fill(reader, signal_number);
        if (*signal_number)
            return NULL;
    }
}

void ga_line_reader_fini(struct ga_line_reader *reader)
{
    free(reader->bytes);
    reader->bytes = NULL;
    reader->length = reader->capacity = 0;
}
