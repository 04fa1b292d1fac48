/* Lock rule: `lock` guards `sampler`, whose entries stay as they are once they are set. */
#include "train/devices.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* A sample that is older says nothing about now: a driver hangs, or nobody looked for a while. */
#define STALE_NS INT64_C(10000000000)

struct ga_devices {
    atomic_int engine; /* its thread */
    pthread_mutex_t lock;
    struct ga_sampler *sampler[GA_WATCHED]; /* NULL: nobody asked yet, or no thread could be had */
};

static const char *const monitors[GA_WATCHED] = {
    [GA_WATCH_PROC] = "proc", [GA_WATCH_NVML] = "nvml"};

int ga_devices_open(struct ga_devices **out)
{
    struct ga_devices *devices = ga_alloc(1, sizeof *devices);

    *out = devices;
    if (!devices)
        return GA_ENOMEM;
    atomic_init(&devices->engine, 0);
    pthread_mutex_init(&devices->lock, NULL);
    return GA_OK;
}

void ga_devices_close(struct ga_devices *devices)
{
    if (!devices)
        return;
    for (int i = 0; i < GA_WATCHED; i++)
        ga_sampler_stop(devices->sampler[i]);
    for (int i = 0; i < GA_WATCHED; i++)
        ga_sampler_close(devices->sampler[i]);
    pthread_mutex_destroy(&devices->lock);
    free(devices);
}

void ga_devices_set_engine(struct ga_devices *devices, int32_t thread)
{
    atomic_store(&devices->engine, thread);
}

/* Starts it when it is the first time; NULL with an error. */
static struct ga_sampler *sampler_of(struct ga_devices *devices, enum ga_device_source source)
{
    struct ga_sampler_options options = {.monitor = NULL};
    struct ga_sampler *sampler = NULL;

    pthread_mutex_lock(&devices->lock);
    sampler = devices->sampler[source];
    if (!sampler) {
        options.monitor = ga_monitor_named(monitors[source]);
        if (options.monitor && ga_sampler_open(&sampler, &options) == GA_OK)
            devices->sampler[source] = sampler;
    }
    pthread_mutex_unlock(&devices->lock);
    return sampler;
}

void ga_devices_picture(struct ga_devices *devices, enum ga_device_source source,
                        struct ga_picture *out)
{
    struct ga_sampler *sampler = sampler_of(devices, source);

    if (sampler) {
        ga_sampler_read(sampler, out);
        return;
    }
    memset(out, 0, sizeof *out);
    out->state = GA_PICTURE_FAILED;
    ga_error_take(&out->error);
}

bool ga_devices_wait(struct ga_devices *devices, enum ga_device_source source, uint64_t rounds,
                     int64_t deadline_ns)
{
    struct ga_sampler *sampler = sampler_of(devices, source);

    return !sampler || ga_sampler_wait(sampler, rounds, deadline_ns);
}

void ga_devices_ring(struct ga_devices *devices, const struct ga_bell *bell)
{
    struct ga_sampler *sampler = NULL;

    pthread_mutex_lock(&devices->lock);
    sampler = devices->sampler[GA_WATCH_PROC];
    pthread_mutex_unlock(&devices->lock);
    if (sampler)
        ga_sampler_ring(sampler, bell);
}

struct ga_readings ga_readings_unknown(void)
{
    const double none = (double)NAN;

    return (struct ga_readings){none, none, none, none, none, none};
}

struct ga_readings ga_readings_of(const struct ga_device_sample *sample)
{
    const bool fresh = ga_now_ns() - sample->taken_ns <= STALE_NS;
    const unsigned valid = fresh ? sample->valid : 0;
    struct ga_readings readings = ga_readings_unknown();

    if (valid & GA_SENSES_UTILISATION)
        readings.utilisation = sample->utilisation;
    if (valid & GA_SENSES_MEMORY_USED)
        readings.memory_used = (double)sample->memory_used;
    if (valid & GA_SENSES_MEMORY_TOTAL)
        readings.memory_total = (double)sample->memory_total;
    if (valid & GA_SENSES_TEMPERATURE)
        readings.temperature = sample->temperature;
    if (valid & GA_SENSES_POWER)
        readings.power = sample->power;
    return readings;
}

/* The process's own figures, and the thread's share in place of the process's. */
static struct ga_readings readings_of_thread(const struct ga_picture *proc, int32_t thread)
{
    struct ga_readings readings = ga_readings_unknown();

    if (proc->devices == 0)
        return readings;
    readings = ga_readings_of(&proc->device[0].sample);
    if (!isnan(readings.utilisation))
        readings.utilisation = ga_picture_thread(proc, thread);
    return readings;
}

/* Of all seats that one source knows. */
static void fill_readings(struct ga_devices *devices, const struct ga_picture *picture, bool gpus,
                          const struct ga_seat *seat, size_t count, struct ga_readings *out)
{
    const int32_t engine = atomic_load(&devices->engine);

    for (size_t i = 0; i < count; i++) {
        const struct ga_picture_device *gpu = NULL;

        if (seat[i].gpu != gpus)
            continue;
        if (gpus)
            gpu = ga_picture_at_pci(picture, &seat[i].pci);
        if (gpu)
            out[i] = ga_readings_of(&gpu->sample);
        else if (!gpus)
            out[i] = readings_of_thread(picture, seat[i].thread ? seat[i].thread : engine);
    }
}

void ga_devices_read_seats(struct ga_devices *devices, const struct ga_seat *seat, size_t count,
                           struct ga_readings *out)
{
    struct ga_picture *picture = ga_alloc(1, sizeof *picture);
    bool wanted[GA_WATCHED] = {false};

    for (size_t i = 0; i < count; i++) {
        out[i] = ga_readings_unknown();
        wanted[seat[i].gpu ? GA_WATCH_NVML : GA_WATCH_PROC] = true;
    }
    for (int source = 0; picture && source < GA_WATCHED; source++) {
        if (!wanted[source])
            continue;
        ga_devices_picture(devices, (enum ga_device_source)source, picture);
        fill_readings(devices, picture, source == GA_WATCH_NVML, seat, count, out);
    }
    for (size_t i = 0; i < count; i++)
        out[i].work = seat[i].work;
    free(picture);
}
