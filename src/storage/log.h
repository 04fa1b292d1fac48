/*
 * Logs: each closed window as a record in a file that grows while training goes on.
 *
 * The seam is struct ga_log_format: open, record, close over a file of its own kind; the registry
 * below lists what there is. A struct ga_log puts a format on a thread of its own, which owns the
 * file and is fed by a ring of fixed-size records.
 *
 * Lossless: a full ring holds whoever records until the thread has made room. A log that fails
 * (disk full, reader gone, no room within the patience) keeps its first error, drops what comes
 * later and holds no one. After `back` update numbers fall and lines repeat, as the training did.
 *
 * Threads: ga_log_record...() and ga_log_room() belong to one thread (the engine); ga_log_status()
 * to any; open and close to the owner, with no ga_log_record...() under way or to come at close.
 */
#ifndef GA_STORAGE_LOG_H
#define GA_STORAGE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "train/burst.h"
#include "train/devices.h"
#include "train/run.h"

/* One replica's last item, beside the record of a closed window. NaN where there is none yet. */
struct ga_replica_record {
    uint64_t update; /* of the window */
    uint32_t replica;
    double loss, norm, cosine, staleness;
    double idle; /* fraction of its time so far */
};

struct ga_log_options;
struct ga_log_sink; /* opaque, of one format; one thread at a time */

struct ga_log_format {
    const char *name; /* "jsonl" */
    const char *help;
    /* Opens `path` afresh: an existing file is emptied. Errors name it. No later call may wait
     * longer than the patience for a pipe that no one reads. The options are complete. */
    int (*open)(struct ga_log_sink **out, const char *path, const struct ga_log_options *options);
    int (*record)(struct ga_log_sink *sink, const struct ga_update_record *record);
    /* NULL: this format has nothing of single replicas */
    int (*replica)(struct ga_log_sink *sink, const struct ga_replica_record *record);
    int (*flush)(struct ga_log_sink *sink); /* what was recorded reaches the system */
    int (*close)(struct ga_log_sink *sink); /* frees it, whatever the answer */
};

size_t ga_log_format_count(void);
const struct ga_log_format *ga_log_format_at(size_t position); /* NULL beyond the last */
const struct ga_log_format *
ga_log_format_find(const char *name); /* NULL and an error with all names */

/*
 * How busy the seats of the first `count` replicas are, as more columns of each line; count 0:
 * none. `read` fills in what is known now, on the log's thread, and never waits for a device.
 */
struct ga_log_seats {
    size_t count;
    void (*read)(void *self, struct ga_readings *out);
    void *self; /* borrowed until the log is closed */
};

struct ga_log_options {
    const struct ga_log_format *format;
    uint64_t every;      /* 1: each window; N: those after which the update is a multiple of N */
    size_t ring_records; /* 0: 4096 */
    int64_t patience_ns; /* how long a full ring or pipe may hold anyone; 0: 30 s */
    struct ga_log_seats seats;
};

struct ga_log;

/* The file is opened before this returns, so that a wrong name is refused at once. */
int ga_log_open(struct ga_log **out, const char *path, const struct ga_log_options *options);

/* Skipped windows are recorded whatever `every`. */
void ga_log_record(struct ga_log *log, const struct ga_update_record *record);

/* The same, and what each of the first GA_LOG_REPLICAS replicas did, where the format takes it. */
#define GA_LOG_REPLICAS 64
void ga_log_record_run(struct ga_log *log, struct ga_run *run,
                       const struct ga_update_record *record);

/* Of a burst, where the format has nothing of single replicas; the records are those of its
 * updates. ga_log_room(): of so many next updates at once it holds no one. */
void ga_log_record_burst(struct ga_log *log, const struct ga_burst_rows *rows);
uint64_t ga_log_room(const struct ga_log *log);

/* Updates until the next one that it records, that one not counted. */
uint64_t ga_log_skips(const struct ga_log *log, uint64_t updates_made);

struct ga_log_status {
    uint64_t records;      /* taken */
    uint64_t held;         /* times that a full ring held the recording thread */
    bool holding;          /* it does so now */
    struct ga_error error; /* code GA_OK while all is well */
};
void ga_log_status(struct ga_log *log, struct ga_log_status *out);

const char *ga_log_path(const struct ga_log *log);
const char *ga_log_format_name(const struct ga_log *log);
uint64_t ga_log_every(const struct ga_log *log);

/* Writes what is left, ends the thread and frees the log; gives its first error. NULL is fine. */
int ga_log_close(struct ga_log *log);

#endif
