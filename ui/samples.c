#include "ui/samples.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "ui/curve.h"
#include "ui/plot.h"

struct row {
    uint64_t windows, update, examples;
    int64_t time_ns, wall_ns;
};

struct push {
    uint64_t windows;
    uint32_t replicas;
    uint16_t tau;
    uint8_t mode;
};

struct ga_samples {
    size_t limit; /* rows; a multiple of 8 */
    uintptr_t run;
    size_t count; /* rows kept */
    size_t shown; /* rows in sight */
    uint64_t place;
    int64_t first_wall_ns;
    struct ga_store row;
    struct ga_curve curve[GA_SERIES_COUNT];
    struct ga_ema ema;
    size_t pushes, push_head; /* the ring's newest entries end at push_head */
    struct push push[GA_SAMPLES_PUSHES];
};

int ga_samples_open(struct ga_samples **out, size_t limit_rows)
{
    struct ga_samples *samples = ga_alloc(1, sizeof *samples);

    *out = NULL;
    if (!samples)
        return GA_ENOMEM;
    samples->limit = (limit_rows == 0   ? GA_SAMPLES_LIMIT
                      : limit_rows < 16 ? 16
                                        : limit_rows) /
                     8 * 8;
    ga_store_init(&samples->row, sizeof(struct row), 10);
    for (int s = 0; s < GA_SERIES_COUNT; s++)
        ga_curve_init(&samples->curve[s]);
    ga_ema_init(&samples->ema, 0);
    *out = samples;
    return GA_OK;
}

static void release(struct ga_samples *samples)
{
    ga_store_fini(&samples->row);
    for (int s = 0; s < GA_SERIES_COUNT; s++)
        ga_curve_fini(&samples->curve[s]);
}

void ga_samples_close(struct ga_samples *samples)
{
    if (!samples)
        return;
    release(samples);
    free(samples);
}

void ga_samples_clear(struct ga_samples *samples)
{
    release(samples);
    samples->count = samples->shown = 0;
    samples->pushes = 0;
    ga_ema_init(&samples->ema, samples->ema.weight);
}

static struct row *row_at(const struct ga_samples *samples, size_t row)
{
    return ga_store_at(&samples->row, row);
}

/* Rows with windows <= `windows`. */
static size_t rows_until(const struct ga_samples *samples, uint64_t windows)
{
    size_t low = 0, high = samples->count;

    if (high > 0 && row_at(samples, high - 1)->windows <= windows)
        return high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (row_at(samples, middle)->windows <= windows)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct push *push_back(const struct ga_samples *samples, size_t back)
{
    return &samples->push[(samples->push_head + GA_SAMPLES_PUSHES - 1 - back) % GA_SAMPLES_PUSHES];
}

static void drop_pushes(struct ga_samples *samples, uint64_t from_windows)
{
    while (samples->pushes > 0 && push_back(samples, 0)->windows >= from_windows) {
        samples->push_head = (samples->push_head + GA_SAMPLES_PUSHES - 1) % GA_SAMPLES_PUSHES;
        samples->pushes--;
    }
}

static void add_pushes(struct ga_samples *samples, const struct ga_sample *sample)
{
    drop_pushes(samples, sample->windows);
    for (uint32_t i = 0; i < sample->pushes && i < GA_WATCH_PUSHES; i++) {
        samples->push[samples->push_head] =
            (struct push){sample->windows, sample->replicas, sample->tau[i], sample->mode};
        samples->push_head = (samples->push_head + 1) % GA_SAMPLES_PUSHES;
        samples->pushes += samples->pushes < GA_SAMPLES_PUSHES;
    }
}

/* The smoothed loss of all rows once more. */
static int smooth_again(struct ga_samples *samples, double weight)
{
    struct ga_curve *curve = &samples->curve[GA_SERIES_SMOOTH];

    ga_curve_truncate(curve, 0);
    ga_ema_init(&samples->ema, weight);
    for (size_t row = 0; weight > 0 && row < samples->count; row++) {
        double loss = (double)ga_curve_get(&samples->curve[GA_SERIES_LOSS], row);

        if (ga_curve_append(curve, row, ga_curve_narrow(ga_ema_next(&samples->ema, loss))) < 0)
            return GA_ENOMEM;
    }
    return GA_OK;
}

static int truncate_rows(struct ga_samples *samples, size_t rows)
{
    if (rows >= samples->count)
        return GA_OK;
    samples->count = rows;
    samples->shown = samples->shown < rows ? samples->shown : rows;
    for (int s = 0; s < GA_SERIES_COUNT; s++)
        ga_curve_truncate(&samples->curve[s], rows);
    return smooth_again(samples, samples->ema.weight);
}

static int thin(struct ga_samples *samples)
{
    size_t rows = samples->count;

    for (size_t row = 0; row < rows / 2; row++)
        *row_at(samples, row) = *row_at(samples, 2 * row + 1);
    for (int s = 0; s < GA_SERIES_COUNT; s++)
        if (s != GA_SERIES_SMOOTH)
            ga_curve_thin(&samples->curve[s], rows);
    samples->count = samples->shown = rows / 2;
    /* The average would count each value that was left out as never seen: it is thinned too. */
    ga_curve_thin(&samples->curve[GA_SERIES_SMOOTH], rows);
    return GA_OK;
}

static float defined(double value)
{
    return isnan(value) ? ga_curve_missing() : ga_curve_narrow(value);
}

/* Figures in the order of enum ga_series. */
static void figures_of(struct ga_samples *samples, const struct ga_sample *sample,
                       float figure[GA_SERIES_COUNT])
{
    figure[GA_SERIES_LOSS] = ga_curve_narrow(sample->loss);
    figure[GA_SERIES_GRAD_NORM] = ga_curve_narrow(sample->grad_norm);
    figure[GA_SERIES_NOISE_SCALE] = defined(sample->noise_scale);
    figure[GA_SERIES_UPDATE_NORM] = defined(sample->update_norm);
    figure[GA_SERIES_STALENESS] = defined(sample->staleness);
    figure[GA_SERIES_SMOOTH] = ga_curve_missing();
    if (samples->ema.weight > 0)
        figure[GA_SERIES_SMOOTH] = defined(ga_ema_next(&samples->ema, sample->loss));
    for (int r = 0; r < GA_WATCH_REPLICAS; r++) {
        bool has = (uint32_t)r < sample->replicas && sample->replica[r].finished;

        figure[GA_SERIES_REPLICA_LOSS + r] = has ? sample->replica[r].loss : ga_curve_missing();
        figure[GA_SERIES_REPLICA_NORM + r] =
            has && sample->replica[r].has_norm ? sample->replica[r].norm : ga_curve_missing();
    }
}

static int add_row(struct ga_samples *samples, const struct ga_sample *sample)
{
    float figure[GA_SERIES_COUNT];
    struct ga_ema before = samples->ema;

    if (samples->count >= samples->limit && thin(samples) < 0)
        return GA_ENOMEM;
    figures_of(samples, sample, figure);
    int code = ga_store_reserve(&samples->row, samples->count);
    for (int s = 0; code == GA_OK && s < GA_SERIES_COUNT; s++)
        code = ga_curve_append(&samples->curve[s], samples->count, figure[s]);
    if (code < 0) {
        samples->ema = before;
        for (int s = 0; s < GA_SERIES_COUNT; s++)
            ga_curve_truncate(&samples->curve[s], samples->count);
        return code;
    }
    *row_at(samples, samples->count) = (struct row){
        sample->windows, sample->update, sample->examples, sample->time_ns, sample->wall_ns};
    if (samples->count == 0)
        samples->first_wall_ns = sample->wall_ns;
    samples->shown = ++samples->count;
    return GA_OK;
}

/* The row in sight next is this window already: the run replays what it did. */
static bool replayed(struct ga_samples *samples, const struct ga_sample *sample)
{
    size_t row = rows_until(samples, sample->windows);
    float loss = ga_curve_narrow(sample->loss), kept = 0;

    if (row == 0 || row == samples->count || row_at(samples, row - 1)->windows != sample->windows ||
        row_at(samples, row - 1)->update != sample->update)
        return false;
    kept = ga_curve_get(&samples->curve[GA_SERIES_LOSS], row - 1);
    if (kept != loss && !(isnan(kept) && isnan(loss)))
        return false;
    samples->shown = row;
    return true;
}

int ga_samples_append(struct ga_samples *samples, const struct ga_sample *sample)
{
    if (sample->run != samples->run)
        ga_samples_clear(samples);
    samples->run = sample->run;
    samples->place = sample->windows;
    if (sample->place) {
        samples->shown = rows_until(samples, sample->windows);
        return GA_OK;
    }
    if (sample->windows == 0)
        return ga_fail(GA_EINTERNAL,
                       "a sample without a window, expected one of window 1 or later");
    if (replayed(samples, sample))
        return GA_OK;
    if (truncate_rows(samples, rows_until(samples, sample->windows - 1)) < 0)
        return GA_ENOMEM;
    add_pushes(samples, sample);
    return add_row(samples, sample);
}

int ga_samples_smooth(struct ga_samples *samples, double weight)
{
    weight = weight > 0 && weight < 1 ? weight : 0;
    return weight == samples->ema.weight ? GA_OK : smooth_again(samples, weight);
}

void ga_samples_staleness(const struct ga_samples *samples, struct ga_staleness *out)
{
    const struct push *newest = NULL;
    double sum = 0;

    memset(out, 0, sizeof *out);
    for (size_t back = 0; back < samples->pushes; back++) {
        const struct push *push = push_back(samples, back);

        if (push->windows > samples->place)
            continue;
        newest = newest ? newest : push;
        if (push->mode != newest->mode || push->replicas != newest->replicas)
            break;
        out->count[push->tau < GA_TAU_BINS ? push->tau : GA_TAU_BINS - 1]++;
        out->pushes++;
        out->most = push->tau > out->most ? push->tau : out->most;
        sum += push->tau;
    }
    out->mean = out->pushes ? sum / (double)out->pushes : (double)NAN;
}

uintptr_t ga_samples_run(const struct ga_samples *samples)
{
    return samples->run;
}

uint64_t ga_samples_newest(const struct ga_samples *samples)
{
    return samples->count > 0 ? row_at(samples, samples->count - 1)->windows : 0;
}

size_t ga_samples_count(const struct ga_samples *samples)
{
    return samples->shown;
}

size_t ga_samples_bytes(const struct ga_samples *samples)
{
    size_t bytes = sizeof *samples + ga_store_bytes(&samples->row);

    for (int s = 0; s < GA_SERIES_COUNT; s++)
        bytes += ga_curve_bytes(&samples->curve[s]);
    return bytes;
}

uint64_t ga_samples_nonfinite(const struct ga_samples *samples, int series)
{
    return ga_samples_extent(samples, series, 0, samples->shown, false).nonfinite;
}

size_t ga_samples_replicas(const struct ga_samples *samples)
{
    size_t replicas = GA_WATCH_REPLICAS;

    while (replicas > 0 &&
           samples->curve[GA_SERIES_REPLICA_LOSS + replicas - 1].start >= samples->shown)
        replicas--;
    return replicas;
}

double ga_samples_value(const struct ga_samples *samples, int series, size_t row)
{
    if ((unsigned)series >= GA_SERIES_COUNT || row >= samples->shown)
        return (double)NAN;
    return (double)ga_curve_get(&samples->curve[series], row);
}

bool ga_samples_missing(const struct ga_samples *samples, int series, size_t row)
{
    return (unsigned)series >= GA_SERIES_COUNT || row >= samples->shown ||
           ga_curve_is_missing(ga_curve_get(&samples->curve[series], row));
}

double ga_samples_x(const struct ga_samples *samples, int x_axis, size_t row)
{
    const struct row *at = NULL;

    if (row >= samples->shown)
        return (double)NAN;
    at = row_at(samples, row);
    if (x_axis == GA_X_EXAMPLES)
        return (double)at->examples;
    if (x_axis == GA_X_TIME)
        return (double)at->time_ns * 1e-9;
    if (x_axis == GA_X_WALL)
        return (double)(at->wall_ns - samples->first_wall_ns) * 1e-9;
    return (double)at->update;
}

size_t ga_samples_find(const struct ga_samples *samples, int x_axis, double x)
{
    size_t low = 0, high = samples->shown;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (ga_samples_x(samples, x_axis, middle) < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct ga_extent ga_samples_extent(const struct ga_samples *samples, int series, size_t first,
                                   size_t end, bool positive)
{
    if ((unsigned)series >= GA_SERIES_COUNT)
        return GA_EXTENT_NONE;
    end = end < samples->shown ? end : samples->shown;
    return ga_curve_extent(&samples->curve[series], first, end, positive);
}
