#include "ui/bench.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/thread.h"
#include "ui/seat.h"

#define ROWS     40
#define COLUMNS  120
#define MS       INT64_C(1000000)
#define SECOND   INT64_C(1000000000)
#define QUIET_NS (5 * MS) /* between two frames nothing is written for as long */
#define WATCH_NS (5 * SECOND)
#define WARM     "500"      /* updates */
#define KEYS     30         /* keys typed for a latency */
#define LETTER   "\xd0\x96" /* one that stands nowhere else on the screen */
#define UPDATES  "300000"   /* of a run whose cost is compared */
#define RACES    5          /* of those at the most */

/* The figures, in the order printed. */
enum figure {
    START_MS,
    IDLE_BYTES,
    IDLE_WAKES,
    TRAIN_FRAMES,
    TRAIN_BYTES,
    TRAIN_FRAME_BYTES,
    TRAIN_CPU,
    FULL_FRAMES,
    FULL_BYTES,
    FULL_CPU,
    KEY_IDLE_MS,
    KEY_IDLE_WORST_MS,
    KEY_FULL_MS,
    KEY_FULL_WORST_MS,
    THROUGHPUT,
    MEMORY_MB,
    FIGURES
};

static const struct {
    const char *key, *text, *unit, *budget, *peers;
} figures[FIGURES] = {
    [START_MS] = {"start_ms", "start to first frame", "ms", "<= 100", ""},
    [IDLE_BYTES] = {"idle_bytes_per_s", "paused: written", "B/s", "0", ""},
    [IDLE_WAKES] = {"idle_wakes_per_s", "paused: wake-ups", "/s", "<= 1", ""},
    [TRAIN_FRAMES] = {"frames_per_s", "pace x1: frames", "/s", "<= 10", ""},
    [TRAIN_BYTES] = {"bytes_per_s", "pace x1: written", "KB/s", "<= 8",
                     "nvtop 6.5 at 10 frames/s, btop 7.3 at 1 frame/s"},
    [TRAIN_FRAME_BYTES] = {"frame_bytes", "pace x1: median frame", "B", "<= 800", ""},
    [TRAIN_CPU] = {"cpu_percent", "pace x1: of a core", "%", "<= 1.5", ""},
    [FULL_FRAMES] = {"full_frames_per_s", "pace max: frames", "/s", "<= 10", ""},
    [FULL_BYTES] = {"full_bytes_per_s", "pace max: written", "KB/s", "<= 8", ""},
    [FULL_CPU] = {"full_cpu_percent", "pace max: of a core", "%", "", ""},
    [KEY_IDLE_MS] = {"key_ms", "key to screen, paused: median", "ms", "<= 5", ""},
    [KEY_IDLE_WORST_MS] = {"key_worst_ms", "key to screen, paused: worst", "ms", "", ""},
    [KEY_FULL_MS] = {"full_key_ms", "key to screen, pace max: median", "ms", "<= 20", ""},
    [KEY_FULL_WORST_MS] = {"full_key_worst_ms", "key to screen, pace max: worst", "ms", "", ""},
    [THROUGHPUT] = {"throughput", "updates a CPU second, of plain", "", ">= 0.99", ""},
    [MEMORY_MB] = {"memory_mb", "memory beyond batch's", "MB", "<= 8 + 16 B a sample", ""},
};

struct bench {
    int64_t rounds;
    double figure[FIGURES];
};

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts; 0 of none. */
static double median(double *value, size_t count)
{
    if (count == 0)
        return 0;
    qsort(value, count, sizeof(*value), compare);
    return count % 2 ? value[count / 2] : (value[count / 2 - 1] + value[count / 2]) / 2;
}

/* Takes what comes until nothing does for a while; when the last of it came. */
static int64_t take_until_quiet(struct ga_seat *seat, int64_t quiet_ns)
{
    while (ga_seat_take(seat, ga_now_ns() + quiet_ns) > 0)
        continue;
    return seat->seen_ns;
}

/* A session with `argv`, once its first frame is there. */
static int open_screen(struct ga_seat *seat, const char *const *argv)
{
    int code = ga_seat_open(seat, argv, ROWS, COLUMNS);
    if (code == 0)
        code = ga_seat_expect(seat, 0, "PAUSED");
    if (code == 0)
        take_until_quiet(seat, 20 * MS);
    return code;
}

static int measure_start(struct bench *bench)
{
    static const char *const argv[] = {NULL};
    double *ms = ga_alloc((size_t)bench->rounds, sizeof(*ms));
    int code = ms ? 0 : GA_ENOMEM;
    for (int64_t i = 0; i < bench->rounds && code == 0; i++) {
        struct ga_seat seat;
        code = open_screen(&seat, argv);
        ms[i] = (double)(seat.seen_ns - seat.started_ns) / (double)MS;
        ga_seat_close(&seat);
    }
    if (code == 0)
        bench->figure[START_MS] = median(ms, (size_t)bench->rounds);
    free(ms);
    return code;
}

/* What was written in a while, cut into frames where nothing came. */
struct watched {
    double seconds, bytes, wakes, cpu, median_frame;
    size_t frames;
};

#define MOST_FRAMES 4096

static int watch(struct ga_seat *seat, int64_t span_ns, struct watched *out)
{
    double *frame = ga_alloc(MOST_FRAMES, sizeof(*frame));
    struct ga_seat_use before, after;
    const size_t from = seat->seen.length;
    const int64_t start_ns = ga_now_ns();
    *out = (struct watched){.frames = 0};
    if (!frame)
        return GA_ENOMEM;
    ga_seat_use(seat, &before);
    int came = 0;
    while (came >= 0 && ga_now_ns() < start_ns + span_ns) {
        const size_t length = seat->seen.length;
        const int64_t last_ns = seat->seen_ns;
        came = ga_seat_take(seat, start_ns + span_ns);
        if (came <= 0)
            continue;
        const bool fresh = out->frames == 0 || seat->seen_ns - last_ns > QUIET_NS;
        if (fresh && out->frames < MOST_FRAMES)
            frame[out->frames++] = 0;
        frame[out->frames - 1] += (double)(seat->seen.length - length);
    }
    ga_seat_use(seat, &after);
    out->seconds = (double)(ga_now_ns() - start_ns) / (double)SECOND;
    out->bytes = (double)(seat->seen.length - from);
    out->wakes = (double)(after.wakes - before.wakes);
    out->cpu = (double)(after.cpu_ns - before.cpu_ns) / (double)SECOND;
    out->median_frame = median(frame, out->frames);
    free(frame);
    return came < 0 ? came : 0;
}

static int measure_idle(struct bench *bench)
{
    static const char *const argv[] = {NULL};
    struct ga_seat seat;
    struct watched watched = {.seconds = 1};
    int code = open_screen(&seat, argv);
    if (code == 0) {
        take_until_quiet(&seat, 500 * MS);
        code = watch(&seat, 3 * SECOND, &watched);
    }
    bench->figure[IDLE_BYTES] = watched.bytes / watched.seconds;
    bench->figure[IDLE_WAKES] = watched.wakes / watched.seconds;
    ga_seat_close(&seat);
    return code;
}

/* Types letters into the command line, one when the one before is there. */
static int measure_keys(struct ga_seat *seat, double *median_ms, double *worst_ms)
{
    double ms[KEYS];
    int code = 0;
    ga_seat_type(seat, ":");
    code = ga_seat_expect(seat, 0, "(gaconsole)");
    for (size_t i = 0; i < KEYS && code == 0; i++) {
        take_until_quiet(seat, (int64_t)(1 + i % 7) * MS); /* at no fixed time of a frame */
        const size_t from = seat->seen.length;
        const int64_t start_ns = ga_now_ns();
        ga_seat_type(seat, LETTER);
        code = ga_seat_expect(seat, from, LETTER);
        ms[i] = (double)(seat->seen_ns - start_ns) / (double)MS;
    }
    if (code < 0)
        return code;
    ga_seat_type(seat, "\x03");
    *median_ms = median(ms, KEYS);
    *worst_ms = ms[KEYS - 1];
    return 0;
}

/* Four replicas that train, at a pace: when the first charts, which change fastest, are behind. */
static int open_training(struct ga_seat *seat, const char *pace)
{
    static const char warm[] = "run " WARM;
    const char *const argv[] = {"-e", "set replicas 4 pace max", "-e", warm, "-e", pace, NULL};
    int code = ga_seat_open(seat, argv, ROWS, COLUMNS);
    if (code == 0)
        code = ga_seat_expect(seat, 0, "at update " WARM);
    if (code < 0)
        return code;
    take_until_quiet(seat, 200 * MS);
    const size_t from = seat->seen.length;
    ga_seat_type(seat, " ");
    return ga_seat_expect(seat, from, "RUN");
}

static int measure_training(struct bench *bench)
{
    struct ga_seat seat;
    struct watched watched = {.seconds = 1};
    int code = open_training(&seat, "set pace x1");
    if (code == 0)
        code = watch(&seat, WATCH_NS, &watched);
    bench->figure[TRAIN_FRAMES] = (double)watched.frames / watched.seconds;
    bench->figure[TRAIN_BYTES] = watched.bytes / watched.seconds / 1000;
    bench->figure[TRAIN_FRAME_BYTES] = watched.median_frame;
    bench->figure[TRAIN_CPU] = 100 * watched.cpu / watched.seconds;
    ga_seat_close(&seat);
    return code;
}

static int measure_full(struct bench *bench)
{
    struct ga_seat seat;
    struct watched watched = {.seconds = 1};
    int code = open_training(&seat, "set pace max");
    if (code == 0)
        code = watch(&seat, WATCH_NS, &watched);
    if (code == 0)
        code = measure_keys(&seat, &bench->figure[KEY_FULL_MS], &bench->figure[KEY_FULL_WORST_MS]);
    bench->figure[FULL_FRAMES] = (double)watched.frames / watched.seconds;
    bench->figure[FULL_BYTES] = watched.bytes / watched.seconds / 1000;
    bench->figure[FULL_CPU] = 100 * watched.cpu / watched.seconds;
    ga_seat_close(&seat);
    return code;
}

static int measure_idle_keys(struct bench *bench)
{
    static const char *const argv[] = {NULL};
    struct ga_seat seat;
    int code = open_screen(&seat, argv);
    if (code == 0)
        code = measure_keys(&seat, &bench->figure[KEY_IDLE_MS], &bench->figure[KEY_IDLE_WORST_MS]);
    ga_seat_close(&seat);
    return code;
}

/*
 * CPU seconds of the threads that train, for as many updates. The screen's own thread has a core
 * of its own or not, and other programs as well: time by the clock would measure these.
 */
static int time_training(bool screen, double *out)
{
    const char *const argv[] = {"-e", "set log-every 100000000 pace max replicas 4",
                                screen ? "--color=auto" : "--plain", NULL};
    struct ga_seat seat;
    struct ga_seat_use before = {.others_ns = 0};
    struct ga_seat_use after = {.others_ns = 0};
    int code = ga_seat_open(&seat, argv, ROWS, COLUMNS);
    if (code == 0)
        code = ga_seat_expect(&seat, 0, "(gaconsole)");
    if (code == 0) {
        take_until_quiet(&seat, 100 * MS);
        ga_seat_use(&seat, &before);
        ga_seat_type(&seat, screen ? ":run " UPDATES "\r" : "run " UPDATES "\r");
        code = ga_seat_expect(&seat, seat.seen.length, "at update " UPDATES);
        ga_seat_use(&seat, &after);
    }
    *out = (double)(after.others_ns - before.others_ns) / (double)SECOND;
    ga_seat_close(&seat);
    return code;
}

static int measure_throughput(struct bench *bench)
{
    double ratio[RACES];
    const int64_t rounds = bench->rounds < RACES ? bench->rounds : RACES;
    int code = 0;
    for (int64_t i = 0; i < rounds && code == 0; i++) {
        double screen = 1;
        double batch = 1;
        code = time_training(false, &batch);
        if (code == 0)
            code = time_training(true, &screen);
        ratio[i] = batch / screen;
    }
    if (code == 0)
        bench->figure[THROUGHPUT] = median(ratio, (size_t)rounds);
    return code;
}

/* A session that has trained and waits: its memory. */
static int weigh(bool screen, double *out)
{
    const char *const argv[] = {"-e",        "set pace max history-budget 16MiB", "-e",
                                "run 20000", screen ? "--color=auto" : "--plain", NULL};
    struct ga_seat seat;
    struct ga_seat_use use = {.anonymous_bytes = -1};
    int code = ga_seat_open(&seat, argv, ROWS, COLUMNS);
    if (code == 0)
        code = ga_seat_expect(&seat, 0, "at update 20000");
    if (code == 0) {
        take_until_quiet(&seat, 300 * MS);
        ga_seat_use(&seat, &use);
    }
    *out = (double)use.anonymous_bytes / 1e6;
    ga_seat_close(&seat);
    return code;
}

static int measure_memory(struct bench *bench)
{
    double screen = 0;
    double plain = 0;
    int code = weigh(false, &plain);
    if (code == 0)
        code = weigh(true, &screen);
    bench->figure[MEMORY_MB] = screen - plain;
    return code;
}

static void report(const struct bench *bench, struct ga_text *out)
{
    ga_text_printf(out,
                   "screen: %d x %d, 4 replicas from update " WARM " on, %" PRId64
                   " rounds\n\n  %-36s %10s %-5s %-21s %s\n",
                   COLUMNS, ROWS, bench->rounds, "", "measured", "", "budget", "peers");
    for (int i = 0; i < FIGURES; i++) {
        char number[GA_NUMBER_TEXT];
        ga_format_digits(number, bench->figure[i], 3);
        ga_text_printf(out, "  %-36s %10s %-5s %-21s %s\n", figures[i].text, number,
                       figures[i].unit, figures[i].budget, figures[i].peers);
    }
}

static void report_json(const struct bench *bench, struct ga_text *out)
{
    ga_text_printf(out, "{\"benchmark\":\"screen\",\"rows\":%d,\"columns\":%d", ROWS, COLUMNS);
    for (int i = 0; i < FIGURES; i++) {
        ga_text_printf(out, ",\"%s\":", figures[i].key);
        ga_text_number(out, bench->figure[i]);
    }
    ga_text_puts(out, "}\n");
}

int ga_screen_bench(int64_t rounds, bool json, struct ga_text *out)
{
    static int (*const measure[])(struct bench * bench) = {
        measure_start,     measure_idle,       measure_training, measure_full,
        measure_idle_keys, measure_throughput, measure_memory};
    struct bench bench = {.rounds = rounds};
    for (size_t i = 0; i < sizeof(measure) / sizeof(measure[0]); i++)
        if (measure[i](&bench) < 0)
            return ga_fail_within("bench screen");
    if (json)
        report_json(&bench, out);
    else
        report(&bench, out);
    return 0;
}
