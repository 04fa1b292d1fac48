/* log: files that grow with every closed window. */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "console/command.h"
#include "console/session.h"
#include "settings/words.h"

/*
 * Where the replicas of a log's run compute: the engine's thread writes it with each window, the
 * log's thread reads it when it wants to know how busy the seats are. Neither holds the lock for
 * more than a copy.
 */
struct ga_log_watch {
    struct ga_log *log;
    struct ga_devices *devices;
    size_t count; /* seats that the log has columns for */
    pthread_mutex_t lock;
    size_t present; /* under the lock, like the seats: replicas there are, `count` at the most */
    struct ga_seat seat[GA_VIEW_REPLICAS];
};

static void record(void *self, struct ga_run *run, const struct ga_update_record *record_made)
{
    ga_log_record_run(self, run, record_made);
}

static void record_burst(void *self, struct ga_run *run, const struct ga_burst_rows *rows)
{
    (void)run;
    ga_log_record_burst(self, rows);
}

static uint64_t room(void *self, const struct ga_run *run)
{
    (void)run;
    return ga_log_room(self);
}

static uint64_t skips(void *self, const struct ga_run *run)
{
    return ga_log_skips(self, ga_run_counters(run)->updates);
}

static void note_seats(struct ga_log_watch *watch, struct ga_run *run)
{
    const size_t replicas = ga_run_replicas(run);
    pthread_mutex_lock(&watch->lock);
    watch->present = replicas < watch->count ? replicas : watch->count;
    ga_run_time_work(run, 1);
    for (size_t r = 0; r < watch->present; r++)
        ga_run_seat(run, r, &watch->seat[r]);
    pthread_mutex_unlock(&watch->lock);
}

static void record_with_seats(void *self, struct ga_run *run,
                              const struct ga_update_record *record_made)
{
    struct ga_log_watch *watch = self;
    note_seats(watch, run);
    ga_log_record_run(watch->log, run, record_made);
}

static void record_burst_with_seats(void *self, struct ga_run *run,
                                    const struct ga_burst_rows *rows)
{
    struct ga_log_watch *watch = self;
    note_seats(watch, run);
    ga_log_record_burst(watch->log, rows);
}

static uint64_t room_with_seats(void *self, const struct ga_run *run)
{
    (void)run;
    return ga_log_room(((struct ga_log_watch *)self)->log);
}

/* Seats that are gone read as not known. */
static void read_seats(void *self, struct ga_readings *out)
{
    struct ga_log_watch *watch = self;
    struct ga_seat seat[GA_VIEW_REPLICAS];
    pthread_mutex_lock(&watch->lock);
    const size_t present = watch->present;
    memcpy(seat, watch->seat, present * sizeof(seat[0]));
    pthread_mutex_unlock(&watch->lock);
    ga_devices_read_seats(watch->devices, seat, present, out);
    for (size_t r = present; r < watch->count; r++)
        out[r] = ga_readings_unknown();
}

static int count_replicas(struct ga_run *run, void *arg)
{
    const size_t replicas = ga_run_replicas(run);
    *(size_t *)arg = replicas < GA_VIEW_REPLICAS ? replicas : GA_VIEW_REPLICAS;
    ga_run_time_work(run, 1);
    return 0;
}

static int open_watch(struct ga_console *console, struct ga_log_watch **out)
{
    struct ga_log_watch *watch = ga_alloc(1, sizeof(*watch));
    if (!watch)
        return GA_ENOMEM;
    watch->devices = ga_engine_devices(console->engine);
    pthread_mutex_init(&watch->lock, NULL);
    *out = watch;
    return ga_engine_call(console->engine, count_replicas, &watch->count);
}

static void close_watch(struct ga_log_watch *watch)
{
    if (watch)
        pthread_mutex_destroy(&watch->lock);
    free(watch);
}

/* The log takes no more records; its file gets what is left. */
static int close_log(struct ga_console *console, size_t k)
{
    struct ga_log *log = console->log[k];
    struct ga_log_watch *watch = console->log_watch[k];
    int code = 0;
    console->log[k] = NULL;
    console->log_watch[k] = NULL;
    if (log) {
        ga_engine_unobserve(console->engine, watch ? (void *)watch : (void *)log);
        code = ga_log_close(log);
    }
    close_watch(watch);
    return code;
}

void ga_logs_close(struct ga_console *console)
{
    for (size_t k = 0; k < GA_LOGS; k++)
        if (close_log(console, k) < 0)
            ga_complain(console);
}

int ga_logs_check(struct ga_console *console)
{
    for (size_t k = 0; k < GA_LOGS; k++) {
        struct ga_log_status status;
        if (!console->log[k])
            continue;
        ga_log_status(console->log[k], &status);
        if (status.error.code != GA_OK)
            return close_log(console, k);
    }
    return 0;
}

/* The recording of the screen under way; NULL: there is none. */
static const char *cast_path(const struct ga_console *console)
{
    const struct ga_front *front = &console->options.front;
    return front->cast_path ? front->cast_path(front->self) : NULL;
}

static int start_cast(struct ga_console *console, size_t count, const char *const *word)
{
    const struct ga_front *front = &console->options.front;
    if (count != 2)
        return ga_fail(GA_EINPUT, "log cast: expected `log cast PATH`");
    if (!front->cast)
        return ga_fail(GA_EUNSUPPORTED, "log cast: there is no screen here to record: expected the "
                                        "full-screen console");
    if (cast_path(console))
        return ga_fail(GA_ESTATE,
                       "the screen is being recorded to %s already: expected `log off` "
                       "first",
                       cast_path(console));
    const int code = front->cast(front->self, word[1]);
    if (code == 0)
        ga_say(console, "the screen is recorded to %s until `log off`", word[1]);
    return code;
}

/* Ends the recording if it is to `path`, or to any file for NULL. 1: it was; 0: it was not. */
static int end_cast(struct ga_console *console, const char *path)
{
    const struct ga_front *front = &console->options.front;
    const char *cast = cast_path(console);
    if (!cast || (path && strcmp(cast, path) != 0))
        return 0;
    ga_say(console, "log %s is closed", cast);
    const int code = front->cast(front->self, NULL);
    return code < 0 ? code : 1;
}

static int list_logs(struct ga_console *console)
{
    size_t found = 0;
    if (cast_path(console)) {
        ga_say(console, "log cast %s", cast_path(console));
        found++;
    }
    for (size_t k = 0; k < GA_LOGS; k++) {
        struct ga_log_status status;
        if (!console->log[k])
            continue;
        ga_log_status(console->log[k], &status);
        ga_say(console, "log %s %s every %" PRIu64 ": %" PRIu64 " records",
               ga_log_format_name(console->log[k]), ga_log_path(console->log[k]),
               ga_log_every(console->log[k]), status.records);
        found++;
    }
    if (found == 0)
        ga_say(console, "no logs");
    return 0;
}

static int end_logs(struct ga_console *console, const char *path)
{
    const int ended = end_cast(console, path);
    if (ended < 0)
        return ended;
    size_t found = (size_t)ended;
    for (size_t k = 0; k < GA_LOGS; k++) {
        if (!console->log[k] || (path && strcmp(ga_log_path(console->log[k]), path) != 0))
            continue;
        ga_say(console, "log %s is closed", ga_log_path(console->log[k]));
        found++;
        const int code = close_log(console, k);
        if (code < 0)
            return code;
    }
    if (path && found == 0)
        return ga_fail(GA_EINPUT, "log off %s: there is no such log: expected one that `log` lists",
                       path);
    if (found == 0)
        ga_say(console, "no log is open");
    return 0;
}

/* What stands behind the path. */
static int read_wishes(size_t count, const char *const *word, uint64_t *every, bool *devices)
{
    int64_t number = 1;
    size_t i = 2;
    *every = 1;
    *devices = false;
    if (i + 1 < count && ga_word_same(word[i], "every")) {
        if (ga_read_int(word[i + 1], 1, 1000000000000000, &number) < 0)
            return ga_fail_within("log: every");
        *every = (uint64_t)number;
        i += 2;
    }
    if (i < count && ga_word_same(word[i], "devices")) {
        *devices = true;
        i++;
    }
    if (i == count)
        return 0;
    return ga_fail(GA_EINPUT, "log %s: expected `log %s PATH [every N] [devices]`", word[0],
                   word[0]);
}

/* A place for one more log. */
static int find_place(const struct ga_console *console, const char *path, size_t *out)
{
    for (size_t i = 0; i < GA_LOGS; i++)
        if (console->log[i] && strcmp(ga_log_path(console->log[i]), path) == 0)
            return ga_fail(GA_ESTATE, "%s is being logged to already: expected another file", path);
    for (*out = 0; *out < GA_LOGS && console->log[*out];)
        ++*out;
    if (*out == GA_LOGS)
        return ga_fail(GA_ERANGE, "there are %d logs already: `log off PATH` closes one", GA_LOGS);
    return 0;
}

/* What a format has of single replicas is not told by rows. */
static int observe(struct ga_console *console, size_t k, const struct ga_log_format *format)
{
    struct ga_log_watch *watch = console->log_watch[k];
    struct ga_observer observer = {
        .update = record, .burst = record_burst, .leaves = room, .self = console->log[k]};
    if (watch) {
        watch->log = console->log[k];
        observer = (struct ga_observer){.update = record_with_seats,
                                        .burst = record_burst_with_seats,
                                        .leaves = room_with_seats,
                                        .self = watch};
    }
    if (format->replica) {
        observer.burst = NULL;
        observer.leaves = watch ? NULL : skips;
    }
    return ga_engine_observe_runs(console->engine, GA_OBSERVE_RUN, &observer);
}

static int start_log(struct ga_console *console, size_t count, const char *const *word)
{
    size_t k = 0;
    bool devices = false;
    struct ga_log_options options = {.format = ga_log_format_find(word[0])};
    if (!options.format)
        return ga_fail_within("log");
    int code = read_wishes(count, word, &options.every, &devices);
    if (code == 0)
        code = find_place(console, word[1], &k);
    if (code < 0)
        return code;
    if (devices)
        code = open_watch(console, &console->log_watch[k]);
    if (code == 0 && devices)
        options.seats =
            (struct ga_log_seats){console->log_watch[k]->count, read_seats, console->log_watch[k]};
    if (code == 0)
        code = ga_log_open(&console->log[k], word[1], &options);
    if (code == 0)
        code = observe(console, k, options.format);
    if (code < 0) {
        close_log(console, k);
        return code;
    }
    ga_say(console, "log %s every %" PRIu64 "%s to %s", word[0], options.every,
           devices ? " with devices" : "", word[1]);
    return 0;
}

int ga_exec_log(struct ga_console *console, size_t count, const char *const *word)
{
    if (count == 0)
        return list_logs(console);
    if (ga_word_same(word[0], "cast"))
        return start_cast(console, count, word);
    if (!ga_word_same(word[0], "off"))
        return start_log(console, count, word);
    if (count > 2)
        return ga_fail(GA_EINPUT, "log off: expected a path behind it, or nothing");
    return end_logs(console, count == 2 ? word[1] : NULL);
}
