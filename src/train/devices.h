/*
 * How busy the devices are that replicas compute on, as the monitors of src/monitor see them.
 *
 * Nothing is opened, loaded or started before somebody asks: each source has a sampler of its own
 * (monitor/sampler.h) from the first question about it. The engine's thread is never involved; it
 * only says which thread or GPU a replica has its seat on. All functions but open and close belong
 * to any thread.
 */
#ifndef GA_TRAIN_DEVICES_H
#define GA_TRAIN_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/thread.h"
#include "monitor/sampler.h"

/* Where a replica computes. A plain value. */
struct ga_seat {
    bool gpu;
    struct ga_pci pci; /* of the GPU */
    int32_t thread;    /* CPU: that worked for it last; 0: the engine's own */
    double work;       /* s: as in ga_readings */
};

/* What a replica's seat says of itself. A plain value; NaN: not known. */
struct ga_readings {
    double utilisation;               /* 0 .. 1: of the GPU, or the thread's share of a core */
    double memory_used, memory_total; /* bytes: of the GPU, or of this process and the machine */
    double temperature;               /* Celsius */
    double power;                     /* W */
    /* s: of the GPU by its own clock, or of the thread, for the gradients of the replica's last
     * item; ga_run_time_work() */
    double work;
};

/* All fields NaN. */
struct ga_readings ga_readings_unknown(void);
/* A device's sample; fields without their bit, and all of a sample that is out of date, are NaN. */
struct ga_readings ga_readings_of(const struct ga_device_sample *sample);

enum ga_device_source { GA_WATCH_PROC, GA_WATCH_NVML, GA_WATCHED };

struct ga_devices;

int ga_devices_open(struct ga_devices **out);
void ga_devices_close(struct ga_devices *devices); /* NULL is fine */
void ga_devices_set_engine(struct ga_devices *devices, int32_t thread);

/* The latest picture. A source that cannot be watched is a picture that FAILED, with its reason. */
void ga_devices_picture(struct ga_devices *devices, enum ga_device_source source,
                        struct ga_picture *out);

/* Waits until the source failed or made `rounds` samples; false at `deadline_ns`. */
bool ga_devices_wait(struct ga_devices *devices, enum ga_device_source source, uint64_t rounds,
                     int64_t deadline_ns);

/* The bell rings for each new picture of this process until it is set to NULL. */
void ga_devices_ring(struct ga_devices *devices, const struct ga_bell *bell);

void ga_devices_read_seats(struct ga_devices *devices, const struct ga_seat *seat, size_t count,
                           struct ga_readings *out);

#endif
