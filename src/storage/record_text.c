#include "storage/record_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/number.h"
#include "train/state.h"

struct column {
    const char *name;
    void (*write)(const void *field, struct ga_text *to, bool json);
    size_t offset;
};

static void write_u64(const void *field, struct ga_text *to, bool json)
{
    (void)json;
    ga_text_printf(to, "%" PRIu64, *(const uint64_t *)field);
}

static void write_u32(const void *field, struct ga_text *to, bool json)
{
    (void)json;
    ga_text_printf(to, "%" PRIu32, *(const uint32_t *)field);
}

static void write_i32(const void *field, struct ga_text *to, bool json)
{
    (void)json;
    ga_text_printf(to, "%" PRId32, *(const int32_t *)field);
}

/* Words of modes need no quoting in csv. */
static void write_mode(const void *field, struct ga_text *to, bool json)
{
    const char *word = ga_choice_word("mode", *(const uint8_t *)field);
    ga_text_printf(to, json ? "\"%s\"" : "%s", word ? word : "?");
}

static void write_bool(const void *field, struct ga_text *to, bool json)
{
    (void)json;
    ga_text_puts(to, *(const bool *)field ? "true" : "false");
}

static void write_double(double value, struct ga_text *to, bool json)
{
    if (json && !isfinite(value))
        ga_text_puts(to, "null");
    else
        ga_text_number(to, value);
}

static void write_real(const void *field, struct ga_text *to, bool json)
{
    write_double(*(const double *)field, to, json);
}

/* Seconds in decimal, all of the nanoseconds and no trailing zeros. */
static void write_time(const void *field, struct ga_text *to, bool json)
{
    (void)json;
    const int64_t time = *(const int64_t *)field;
    const uint64_t size_ns = time < 0 ? -(uint64_t)time : (uint64_t)time;
    uint64_t fraction = size_ns % 1000000000;
    int digits = 9;
    ga_text_printf(to, "%s%" PRIu64, time < 0 ? "-" : "", size_ns / 1000000000);
    for (; fraction > 0 && fraction % 10 == 0; fraction /= 10)
        digits--;
    if (fraction > 0)
        ga_text_printf(to, ".%0*" PRIu64, digits, fraction);
}

static void write_noise_scale(const void *field, struct ga_text *to, bool json)
{
    const struct ga_update_record *record = field;
    write_double(record->noise_trace / record->noise_signal, to, json);
}

static void write_staleness_mean(const void *field, struct ga_text *to, bool json)
{
    const struct ga_update_record *record = field;
    write_double((double)record->stale / (double)record->pushes, to, json);
}

#define COLUMN(name, kind, member)                                                                 \
    {                                                                                              \
        name, write_##kind, offsetof(struct ga_update_record, member)                              \
    }

static const struct column columns[] = {
    COLUMN("update", u64, update),
    COLUMN("applied", bool, applied),
    COLUMN("epoch", u64, epoch),
    COLUMN("micro_batches", u64, micros),
    COLUMN("examples", u64, examples),
    COLUMN("skipped", u64, skipped),
    COLUMN("examples_dropped", u64, dropped),
    COLUMN("bytes", u64, bytes),
    COLUMN("time", time, time_ns),
    COLUMN("window", u32, window_examples),
    COLUMN("window_micros", u32, window_micros),
    COLUMN("window_weight", real, window_weight),
    COLUMN("loss", real, loss),
    COLUMN("grad_norm", real, grad_norm),
    COLUMN("clip_scale", real, clip_scale),
    COLUMN("lr", real, lr),
    COLUMN("update_norm", real, update_norm),
    COLUMN("param_norm", real, param_norm),
    {"noise_scale", write_noise_scale, 0},
    COLUMN("noise_trace", real, noise_trace),
    COLUMN("noise_signal", real, noise_signal),
    COLUMN("mode", mode, mode),
    COLUMN("replica", i32, replica),
    COLUMN("scale", real, scale),
    COLUMN("pushes", u64, pushes),
    COLUMN("staleness", u32, staleness),
    {"staleness_mean", write_staleness_mean, 0},
    COLUMN("lost", u64, lost),
};
#define COLUMNS (sizeof columns / sizeof columns[0])

static void write_field(const struct column *column, const struct ga_update_record *record,
                        struct ga_text *to, bool json)
{
    column->write((const char *)record + column->offset, to, json);
}

const struct ga_record_seats ga_record_no_seats = {0, NULL};

static const struct {
    const char *name;
    size_t offset;
} sensors[] = {{"util", offsetof(struct ga_readings, utilisation)},
               {"memory", offsetof(struct ga_readings, memory_used)},
               {"temperature", offsetof(struct ga_readings, temperature)},
               {"power", offsetof(struct ga_readings, power)},
               {"device_time", offsetof(struct ga_readings, work)}};
#define SENSORS (sizeof sensors / sizeof sensors[0])

/* The k-th figure of all seats' ones, one seat after another. */
static double reading_at(const struct ga_record_seats *seats, size_t k)
{
    const char *readings = (const char *)&seats->readings[k / SENSORS];
    return *(const double *)(const void *)(readings + sensors[k % SENSORS].offset);
}

static void write_sensor_name(size_t k, struct ga_text *to)
{
    ga_text_printf(to, "replica_%zu_%s", k / SENSORS, sensors[k % SENSORS].name);
}

static void jsonl_head(size_t seats, struct ga_text *to)
{
    (void)seats;
    (void)to;
}

static void jsonl_line(const struct ga_update_record *record, const struct ga_record_seats *seats,
                       struct ga_text *to)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        ga_text_printf(to, "%s\"%s\":", i ? "," : "{", columns[i].name);
        write_field(&columns[i], record, to, true);
    }
    for (size_t k = 0; k < seats->count * SENSORS; k++) {
        ga_text_puts(to, ",\"");
        write_sensor_name(k, to);
        ga_text_puts(to, "\":");
        write_double(reading_at(seats, k), to, true);
    }
    ga_text_puts(to, "}\n");
}

static void csv_head(size_t seats, struct ga_text *to)
{
    for (size_t i = 0; i < COLUMNS; i++)
        ga_text_printf(to, "%s%s", i ? "," : "", columns[i].name);
    for (size_t k = 0; k < seats * SENSORS; k++) {
        ga_text_puts(to, ",");
        write_sensor_name(k, to);
    }
    ga_text_puts(to, "\n");
}

static void csv_line(const struct ga_update_record *record, const struct ga_record_seats *seats,
                     struct ga_text *to)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        if (i > 0)
            ga_text_puts(to, ",");
        write_field(&columns[i], record, to, false);
    }
    for (size_t k = 0; k < seats->count * SENSORS; k++) {
        ga_text_puts(to, ",");
        write_double(reading_at(seats, k), to, false);
    }
    ga_text_puts(to, "\n");
}

const struct ga_record_form ga_record_jsonl = {
    "jsonl", "one JSON object a line, null for what is not finite", jsonl_head, jsonl_line};
const struct ga_record_form ga_record_csv = {"csv", "comma-separated values under a line of names",
                                             csv_head, csv_line};
