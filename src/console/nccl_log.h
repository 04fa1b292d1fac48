/*
 * The log of NCCL, which libraries write to the terminal unless told otherwise: into the console's
 * own log instead. NCCL is told by its environment (NCCL_DEBUG, NCCL_DEBUG_FILE) to write warnings
 * to a file that only this process has; the console prints what is new in it, line by line. Who
 * names a file in NCCL_DEBUG_FILE gets all of it there and none of it here; a level in NCCL_DEBUG
 * holds.
 *
 * Threads: opened before the console's threads start, for the environment is every thread's; the
 * rest is the console's own.
 */
#ifndef GA_CONSOLE_NCCL_LOG_H
#define GA_CONSOLE_NCCL_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct ga_nccl_log {
    int fd; /* -1: not ours to read */
    bool level;
    int64_t at; /* bytes that were taken */
};

/* Where no file can be had NCCL's log stays where it is: never an error. */
void ga_nccl_log_init(struct ga_nccl_log *log);
void ga_nccl_log_fini(struct ga_nccl_log *log);

/* Appends the whole lines that are new, each behind "NCCL: "; blank ones are left out. */
void ga_nccl_log_take(struct ga_nccl_log *log, struct ga_text *out);

#endif
