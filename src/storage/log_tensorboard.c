/*
 * `log tensorboard`: a folder with an event file of the windows, and in it a folder replica-R for
 * each replica, which TensorBoard draws into the same charts. A file is never overwritten: in a
 * folder that has some, a restart tells TensorBoard to forget what they say from the first step on.
 */
#include "storage/log_formats.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "storage/log_file.h"
#include "storage/log_seats.h"
#include "storage/tensorboard.h"

/* One event file. */
struct events {
    struct ga_log_file file;
    bool open;
    bool began;    /* a step was logged */
    uint64_t step; /* the last one */
};

struct ga_log_sink {
    char *folder;
    int64_t patience_ns;
    struct ga_log_readings readings;
    struct events windows;
    struct events replica[GA_LOG_REPLICAS];
};

static double loss(const struct ga_update_record *record)
{
    return record->loss;
}

static double grad_norm(const struct ga_update_record *record)
{
    return record->grad_norm;
}

static double clip_scale(const struct ga_update_record *record)
{
    return record->clip_scale;
}

static double lr(const struct ga_update_record *record)
{
    return record->lr;
}

static double scale(const struct ga_update_record *record)
{
    return record->scale;
}

static double update_norm(const struct ga_update_record *record)
{
    return record->update_norm;
}

static double param_norm(const struct ga_update_record *record)
{
    return record->param_norm;
}

static double noise_scale(const struct ga_update_record *record)
{
    return record->noise_trace / record->noise_signal;
}

static double window(const struct ga_update_record *record)
{
    return record->window_examples;
}

static double window_weight(const struct ga_update_record *record)
{
    return record->window_weight;
}

static double examples(const struct ga_update_record *record)
{
    return (double)record->examples;
}

static double epoch(const struct ga_update_record *record)
{
    return (double)record->epoch;
}

static double virtual_time(const struct ga_update_record *record)
{
    return (double)record->time_ns / 1e9;
}

static double bytes_sent(const struct ga_update_record *record)
{
    return (double)record->bytes;
}

static double skipped(const struct ga_update_record *record)
{
    return (double)record->skipped;
}

static double staleness(const struct ga_update_record *record)
{
    return record->staleness;
}

static double staleness_mean(const struct ga_update_record *record)
{
    return (double)record->stale / (double)record->pushes;
}

/* The names of the metrics, as in the other logs. */
static const struct {
    const char *tag;
    double (*value)(const struct ga_update_record *record);
    bool may_miss; /* not finite: not defined, and left out */
} scalars[] = {
    {"loss", loss, false},
    {"grad_norm", grad_norm, false},
    {"lr", lr, true},
    {"clip_scale", clip_scale, true},
    {"scale", scale, true},
    {"update_norm", update_norm, true},
    {"param_norm", param_norm, true},
    {"noise_scale", noise_scale, true},
    {"staleness", staleness, true},
    {"staleness_mean", staleness_mean, true},
    {"window", window, true},
    {"window_weight", window_weight, true},
    {"examples", examples, true},
    {"epoch", epoch, true},
    {"time", virtual_time, true},
    {"bytes", bytes_sent, true},
    {"skipped", skipped, true},
};
#define SCALARS (sizeof scalars / sizeof scalars[0])

static double wall_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The folder may be there; what it is in has to be. */
static int make_folder(const char *path)
{
    struct stat status;
    if (path[0] == '\0')
        return ga_fail(GA_EIO, "the log's name is empty, expected that of a folder");
    if (mkdir(path, 0777) == 0)
        return GA_OK;
    const int error = errno;
    if (error == EEXIST && stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return GA_OK;
    if (error == EEXIST)
        return ga_fail(GA_EIO, "cannot write log %s: not a directory, expected a folder", path);
    return ga_fail_errno(GA_EIO, error, "cannot make the folder of log %s", path);
}

/* FOLDER/events.out.tfevents.SECONDS.HOST.PID.N, the first N that is free: TensorBoard looks for
 * names that begin so. */
static void name_events(struct ga_text *path, const char *folder)
{
    char host[64] = "";
    const int64_t seconds = (int64_t)wall_time();
    if (gethostname(host, sizeof host - 1) != 0 || !*host || strchr(host, '/'))
        snprintf(host, sizeof host, "localhost");
    for (int n = 0; n == 0 || (n < 1000 && access(ga_text_get(path), F_OK) == 0); n++) {
        ga_text_clear(path);
        ga_text_printf(path, "%s/events.out.tfevents.%010" PRId64 ".%s.%ld.%d", folder, seconds,
                       host, (long)getpid(), n);
    }
}

static int open_events(struct events *events, const char *folder, int64_t patience_ns)
{
    struct ga_text path = GA_TEXT_INIT;
    int code = make_folder(folder);
    if (code)
        return code;
    name_events(&path, folder);
    code = ga_text_failed(&path) ? (int)GA_ENOMEM
                                 : ga_log_file_open(&events->file, path.data, patience_ns);
    ga_text_free(&path);
    if (code)
        return code;
    events->open = true;
    ga_event_version(&events->file.text, wall_time());
    return GA_OK;
}

/* A step that does not follow the last one replaces what was logged from there on. */
static int put(struct events *events, uint64_t step, const struct ga_scalar *scalar, size_t count)
{
    const double now = wall_time();
    if (!events->began || step < events->step)
        ga_event_restart(&events->file.text, now, step);
    events->began = true;
    events->step = step;
    ga_event_scalars(&events->file.text, now, step, scalar, count);
    return ga_log_file_write(&events->file);
}

static int record_window(struct ga_log_sink *sink, const struct ga_update_record *record)
{
    struct ga_scalar scalar[SCALARS];
    size_t count = 0;
    for (size_t i = 0; i < SCALARS; i++) {
        const double value = scalars[i].value(record);
        if (!scalars[i].may_miss || isfinite(value))
            scalar[count++] = (struct ga_scalar){scalars[i].tag, value};
    }
    return put(&sink->windows, record->update, scalar, count);
}

static int open_replica(struct ga_log_sink *sink, uint32_t replica)
{
    struct ga_text folder = GA_TEXT_INIT;
    ga_text_printf(&folder, "%s/replica-%" PRIu32, sink->folder, replica);
    const int code = ga_text_failed(&folder)
                         ? (int)GA_ENOMEM
                         : open_events(&sink->replica[replica], folder.data, sink->patience_ns);
    ga_text_free(&folder);
    return code;
}

/* What is known of one replica: its last item, and how busy its seat is when that was asked for. */
#define REPLICA_SCALARS 10
static size_t gather_replica(const struct ga_log_sink *sink, const struct ga_replica_record *record,
                             struct ga_scalar out[REPLICA_SCALARS])
{
    const bool seated = record->replica < sink->readings.seats.count;
    const struct ga_readings seat =
        seated ? sink->readings.readings[record->replica] : ga_readings_unknown();
    const struct ga_scalar all[REPLICA_SCALARS] = {
        {"loss", record->loss},       {"grad_norm", record->norm},
        {"cosine", record->cosine},   {"staleness", record->staleness},
        {"idle", record->idle},       {"util", seat.utilisation},
        {"memory", seat.memory_used}, {"temperature", seat.temperature},
        {"power", seat.power},        {"device_time", seat.work}};
    size_t count = 0;
    for (size_t i = 0; i < REPLICA_SCALARS; i++)
        if (isfinite(all[i].value))
            out[count++] = all[i];
    return count;
}

static int record_replica(struct ga_log_sink *sink, const struct ga_replica_record *record)
{
    struct ga_scalar scalar[REPLICA_SCALARS];
    if (record->replica >= GA_LOG_REPLICAS)
        return GA_OK;
    ga_log_readings_refresh(&sink->readings);
    const size_t count = gather_replica(sink, record, scalar);
    struct events *events = &sink->replica[record->replica];
    if (count == 0)
        return GA_OK;
    const int code = events->open ? GA_OK : open_replica(sink, record->replica);
    return code ? code : put(events, record->update, scalar, count);
}

static int flush(struct ga_log_sink *sink)
{
    int code = ga_log_file_flush(&sink->windows.file);
    for (size_t r = 0; r < GA_LOG_REPLICAS && !code; r++)
        if (sink->replica[r].open)
            code = ga_log_file_flush(&sink->replica[r].file);
    return code;
}

static int close_events(struct events *events, int code)
{
    struct ga_error first = {.code = GA_OK};
    if (!events->open)
        return code;
    if (code)
        ga_error_take(&first);
    const int answer = ga_log_file_close(&events->file);
    return code ? ga_error_put(&first) : answer;
}

static void release(struct ga_log_sink *sink)
{
    ga_log_readings_fini(&sink->readings);
    free(sink->folder);
    free(sink);
}

static int close_sink(struct ga_log_sink *sink)
{
    int code = close_events(&sink->windows, GA_OK);
    for (size_t r = 0; r < GA_LOG_REPLICAS; r++)
        code = close_events(&sink->replica[r], code);
    release(sink);
    return code;
}

static int open_sink(struct ga_log_sink **out, const char *path,
                     const struct ga_log_options *options)
{
    struct ga_log_sink *sink = ga_alloc(1, sizeof *sink);
    if (!sink)
        return ga_error_code();
    sink->patience_ns = options->patience_ns;
    sink->folder = ga_copy_string(path);
    int code = sink->folder ? ga_log_readings_init(&sink->readings, &options->seats)
                            : (int)ga_error_code();
    if (!code)
        code = open_events(&sink->windows, path, options->patience_ns);
    if (code) {
        release(sink);
        return code;
    }
    *out = sink;
    return GA_OK;
}

const struct ga_log_format ga_log_tensorboard = {
    .name = "tensorboard",
    .help = "a folder of event files that TensorBoard opens",
    .open = open_sink,
    .record = record_window,
    .replica = record_replica,
    .flush = flush,
    .close = close_sink,
};
