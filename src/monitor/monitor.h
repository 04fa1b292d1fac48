/*
 * What a monitor of devices must do. A monitor is a const table of functions over a session of its
 * own kind; the registry lists what there is: nvml (NVIDIA's management library, loaded when it is
 * opened and not before) and proc (this process: /proc).
 *
 * Each field of a sample has a valid bit: a device that does not know its temperature leaves that
 * bit clear, and nobody shows a number. A sample that fails fills in what it could.
 *
 * Any call may stall for as long as the driver likes, so the program calls it on a thread of its
 * own: sampler.h. A session belongs to one thread at a time.
 */
#ifndef GA_MONITOR_MONITOR_H
#define GA_MONITOR_MONITOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/pci.h"

struct ga_session; /* opaque, of one kind */

/* Set in the valid words below. */
enum {
    GA_SENSES_PCI = 1,
    GA_SENSES_UTILISATION = 2,
    GA_SENSES_MEMORY_USED = 4,
    GA_SENSES_MEMORY_TOTAL = 8,
    GA_SENSES_TEMPERATURE = 16,
    GA_SENSES_POWER = 32,
    GA_SENSES_CLOCK = 64,
    GA_SENSES_MEMORY_CLOCK = 128,
    GA_SENSES_THROTTLE = 256
};

/* Why a clock is held down. */
enum {
    GA_THROTTLE_POWER = 1, /* the power limit */
    GA_THROTTLE_HEAT = 2,
    GA_THROTTLE_BRAKE = 4, /* the board's own hardware: supply or heat */
    GA_THROTTLE_OTHER = 8  /* settings, synchronised boards, display clocks */
};

#define GA_DEVICE_NAME 64

/* What stays as it is while a session is open. A plain value. */
struct ga_device_info {
    unsigned valid; /* GA_SENSES_PCI or 0 */
    char name[GA_DEVICE_NAME];
    struct ga_pci pci;
};

/* What a device says now. A plain value; fields whose bit is not set are 0. */
struct ga_device_sample {
    unsigned valid;
    int64_t taken_ns;   /* ga_now_ns() */
    double utilisation; /* 0 .. 1, of the whole device, since the last sample or so */
    uint64_t memory_used, memory_total; /* bytes; proc: of this process, of the machine */
    double temperature;                 /* Celsius */
    double power;                       /* W */
    double clock, memory_clock;         /* Hz */
    unsigned throttle;                  /* GA_THROTTLE_ bits */
};

/* How busy a thread of this process is. */
struct ga_thread_load {
    int32_t thread; /* gettid() */
    float share;    /* 0 .. 1 of a core; NaN: not known yet */
};

struct ga_monitor_options {
    const atomic_bool *closing; /* once true a call gives up between two questions; may be NULL */
};

struct ga_monitor {
    const char *name; /* "nvml" */
    const char *help;
    /* Errors are in the library's own words, with its code. */
    int (*open)(struct ga_session **out, const struct ga_monitor_options *options);
    void (*close)(struct ga_session *session);               /* NULL is fine */
    const char *(*driver)(const struct ga_session *session); /* its version; "" when unknown */
    size_t (*count)(const struct ga_session *session);
    int (*info)(struct ga_session *session, size_t device, struct ga_device_info *out);
    /* A lost device, or a call that fails where the field exists: GA_EIO with the call and code. */
    int (*sample)(struct ga_session *session, size_t device, struct ga_device_sample *out);
    /* Threads of the devices, at most `most`; NULL where there are none. Returns how many. */
    size_t (*threads)(struct ga_session *session, struct ga_thread_load *out, size_t most);
};

size_t ga_monitor_count(void);
const struct ga_monitor *ga_monitor_at(size_t position);     /* NULL beyond the last */
const struct ga_monitor *ga_monitor_named(const char *name); /* NULL and an error with all names */

#endif
