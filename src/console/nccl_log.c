#include "console/nccl_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LEVEL "NCCL_DEBUG"
#define FILE_ "NCCL_DEBUG_FILE"

void ga_nccl_log_init(struct ga_nccl_log *log)
{
    char path[64];

    *log = (struct ga_nccl_log){.fd = -1};
    if (getenv(FILE_))
        return;
    log->fd = memfd_create("nccl", MFD_CLOEXEC);
    if (log->fd < 0)
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", log->fd);
    log->level = !getenv(LEVEL);
    setenv(FILE_, path, 1);
    setenv(LEVEL, "WARN", 0);
}

void ga_nccl_log_fini(struct ga_nccl_log *log)
{
    if (log->fd < 0)
        return;
    unsetenv(FILE_);
    if (log->level)
        unsetenv(LEVEL);
    close(log->fd);
    log->fd = -1;
}

static void append_line(struct ga_text *out, const char *line, size_t length)
{
    size_t blank = 0;

    while (blank < length && (unsigned char)line[blank] <= ' ')
        blank++;
    if (blank == length)
        return;
    ga_text_puts(out, "NCCL: ");
    for (size_t i = blank; i < length; i++)
        ga_text_printf(out, "%c", (unsigned char)line[i] < ' ' ? ' ' : line[i]);
    ga_text_puts(out, "\n");
}

void ga_nccl_log_take(struct ga_nccl_log *log, struct ga_text *out)
{
    char part[4096];
    ssize_t got = 0;

    while (log->fd >= 0 && (got = pread(log->fd, part, sizeof part, log->at)) > 0) {
        size_t start = 0;
        const char *end = NULL;

        while ((end = memchr(part + start, '\n', (size_t)got - start))) {
            append_line(out, part + start, (size_t)(end - part) - start);
            start = (size_t)(end - part) + 1;
        }
        if (start == 0 && got < (ssize_t)sizeof part)
            return; /* the rest of the line is still to come */
        if (start == 0) {
            append_line(out, part, (size_t)got);
            start = (size_t)got;
        }
        log->at += (int64_t)start;
    }
}
