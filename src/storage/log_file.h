/*
 * A file of a log: bytes are gathered in memory and written in pieces; no wait is longer than a
 * patience. One thread at a time.
 */
#ifndef GA_STORAGE_LOG_FILE_H
#define GA_STORAGE_LOG_FILE_H

#include <stdint.h>

#include "base/text.h"

struct ga_log_file {
    struct ga_text text; /* not written yet */
    char *path;
    int64_t patience_ns;
    int fd;
};

/*
 * Opens `path` afresh, without ever blocking: a pipe that no one reads is refused here, and one
 * that is full answers within the patience. Nothing is left to close after a failure.
 */
int ga_log_file_open(struct ga_log_file *file, const char *path, int64_t patience_ns);

/* What was appended to `text`, when it has grown to a piece; flush writes it whatever its size. */
int ga_log_file_write(struct ga_log_file *file);
int ga_log_file_flush(struct ga_log_file *file);

int ga_log_file_close(struct ga_log_file *file); /* writes what is left */

#endif
