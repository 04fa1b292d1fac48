#include "console/sensors.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "console/describe_device.h"
#include "settings/words.h"

static void write_share(double value, struct ga_text *out)
{
    ga_text_printf(out, "%.0f %%", value * 100);
}

static void write_bytes(double value, struct ga_text *out)
{
    char text[GA_NUMBER_TEXT];
    ga_format_bytes(text, (uint64_t)value);
    ga_text_puts(out, text);
}

static void write_celsius(double value, struct ga_text *out)
{
    ga_text_printf(out, "%.0f C", value);
}

static void write_watts(double value, struct ga_text *out)
{
    ga_text_printf(out, "%.0f W", value);
}

static void write_seconds(double value, struct ga_text *out)
{
    ga_text_printf(out, "%.4g ms", value * 1000);
}

/* So many updates are timed after the question. */
#define TIMED 100

static const struct ga_sensor sensors[] = {
    {"util", "share of time at work: of its GPU, or of one core by its thread",
     offsetof(struct ga_readings, utilisation), write_share},
    {"device_memory", "memory in use: of its GPU, or of this process",
     offsetof(struct ga_readings, memory_used), write_bytes},
    {"device_total", "memory there is: of its GPU, or of this machine",
     offsetof(struct ga_readings, memory_total), write_bytes},
    {"temperature", "of its GPU", offsetof(struct ga_readings, temperature), write_celsius},
    {"power", "that its GPU takes", offsetof(struct ga_readings, power), write_watts},
    {"device_time",
     "for the gradients of its last item: of its GPU, or of the thread; timed for 100 updates from "
     "the question on",
     offsetof(struct ga_readings, work), write_seconds},
};

size_t ga_sensor_count(void)
{
    return sizeof(sensors) / sizeof(sensors[0]);
}

const struct ga_sensor *ga_sensor_at(size_t position)
{
    return position < ga_sensor_count() ? &sensors[position] : NULL;
}

const struct ga_sensor *ga_sensor_named(const char *word)
{
    for (size_t i = 0; i < ga_sensor_count(); i++)
        if (ga_word_same(sensors[i].name, word))
            return &sensors[i];
    return NULL;
}

struct seats {
    int64_t replica; /* -1: all */
    bool times;      /* the work is wanted */
    size_t first, count;
    struct ga_seat seat[GA_VIEW_REPLICAS];
};

static int find_seats(struct ga_run *run, void *arg)
{
    struct seats *seats = arg;
    const size_t replicas = ga_run_replicas(run);
    if (seats->replica >= (int64_t)replicas)
        return ga_fail(GA_ERANGE, "replica %" PRId64 ": expected 0..%zu", seats->replica,
                       replicas - 1);
    if (seats->times)
        ga_run_time_work(run, TIMED);
    seats->first = seats->replica < 0 ? 0 : (size_t)seats->replica;
    seats->count = seats->replica >= 0 ? 1 : replicas;
    seats->count = seats->count < GA_VIEW_REPLICAS ? seats->count : GA_VIEW_REPLICAS;
    for (size_t i = 0; i < seats->count; i++)
        ga_run_seat(run, seats->first + i, &seats->seat[i]);
    return 0;
}

static void write_readings(const struct ga_sensor *sensor, const struct seats *seats,
                           const struct ga_readings *readings, struct ga_text *out)
{
    for (size_t i = 0; i < seats->count; i++) {
        const double value =
            *(const double *)(const void *)((const char *)&readings[i] + sensor->offset);
        ga_text_printf(out, "replica %zu %s ", seats->first + i, sensor->name);
        if (isnan(value))
            ga_text_puts(out, "n/a");
        else
            sensor->write(value, out);
        ga_text_puts(out, "\n");
    }
}

int ga_sensor_print(struct ga_console *console, const struct ga_sensor *sensor, int64_t replica)
{
    struct seats *seats = ga_alloc(1, sizeof(*seats));
    struct ga_readings *readings = ga_alloc(GA_VIEW_REPLICAS, sizeof(*readings));
    struct ga_text text = GA_TEXT_INIT;
    int code = seats && readings ? 0 : (int)GA_ENOMEM;
    if (code == 0) {
        seats->replica = replica;
        seats->times = sensor->offset == offsetof(struct ga_readings, work);
        code = ga_engine_call(console->engine, find_seats, seats);
    }
    if (code == 0) {
        ga_devices_await_seats(console, seats->seat, seats->count);
        ga_devices_read_seats(ga_engine_devices(console->engine), seats->seat, seats->count,
                              readings);
        write_readings(sensor, seats, readings, &text);
        ga_say_text(console, &text);
    }
    ga_text_free(&text);
    free(readings);
    free(seats);
    return code;
}
