/*
 * Where a console writes: answers and failures, whole lines at a time. A front end supplies one
 * (the standard streams, a panel, a test's buffer). Called on the console's thread only.
 */
#ifndef GA_CONSOLE_SINK_H
#define GA_CONSOLE_SINK_H

#include <stdbool.h>
#include <stddef.h>

struct ga_sink {
    void *self;
    int (*out)(void *self, const char *bytes, size_t length); /* 0, or an error: nobody reads on */
    void (*fail)(void *self, const char *bytes, size_t length);
};

/*
 * The standard streams: answers are gathered and written to one descriptor when 64 KiB are full or
 * at ga_stream_flush(), failures go to another at once, behind what was gathered. A pipe that
 * nobody reads holds the caller until it is told to end by a signal that it has blocked.
 */
struct ga_stream {
    int out_fd;
    int fail_fd;
    int system_error;  /* errno of the first failed write of answers; EINTR: told to end; 0 */
    bool by_interrupt; /* SIGINT tells to end as well */
    size_t used;
    char bytes[65536];
};

/* SIGINT counts, as where nobody sits at a terminal. */
void ga_stream_init(struct ga_stream *stream, int out_fd, int fail_fd);
struct ga_sink ga_stream_sink(struct ga_stream *stream);
int ga_stream_flush(struct ga_stream *stream); /* 0, or GA_EIO with text */

#endif
