/*
 * A monitor on a thread of its own, which samples twice a second and keeps the latest picture.
 *
 * A call of a driver may stall for seconds, so nobody ever waits for one: reading copies the latest
 * picture under a lock that the thread holds only while it copies. The thread samples only while
 * somebody reads: without a reader it sleeps, and no one is woken. The first picture with shares
 * of time comes soon after the first reading, later ones every period.
 *
 * Ownership: closing tells the thread to end and waits at most half a second. A thread that is
 * still inside a driver then keeps what it needs, and ends by itself once the driver lets go of it.
 *
 * Threads: ga_sampler_read() and ga_sampler_wait() belong to any thread, open and close to the
 * owner.
 */
#ifndef GA_MONITOR_SAMPLER_H
#define GA_MONITOR_SAMPLER_H

#include "base/error.h"
#include "base/thread.h"
#include "monitor/monitor.h"

#define GA_PICTURE_DEVICES 64
#define GA_PICTURE_THREADS 512

enum ga_picture_state {
    GA_PICTURE_OPENING, /* the monitor has not answered yet */
    GA_PICTURE_FAILED,  /* it does not exist here: `error` */
    GA_PICTURE_OPEN
};

/* A device of a picture. `trouble` is what its last sample failed with, "" while all is well. */
struct ga_picture_device {
    struct ga_device_info info;
    struct ga_device_sample sample;
    char trouble[160];
};

/* A plain value. */
struct ga_picture {
    enum ga_picture_state state;
    struct ga_error error; /* FAILED: in the library's own words */
    char driver[64];
    uint64_t rounds; /* complete samples of all devices so far */
    size_t devices;
    struct ga_picture_device device[GA_PICTURE_DEVICES];
    size_t threads;
    struct ga_thread_load thread[GA_PICTURE_THREADS];
};

/* The device at a place on the PCI bus, whatever order the monitor lists its devices in; NULL when
 * there is none. */
const struct ga_picture_device *ga_picture_at_pci(const struct ga_picture *picture,
                                                  const struct ga_pci *pci);
/* The same from text, as cudaDeviceGetPCIBusId() writes it. */
const struct ga_picture_device *ga_picture_at_pci_text(const struct ga_picture *picture,
                                                       const char *pci);
/* Share of a core of a thread of this process; NaN when it is not known. */
double ga_picture_thread(const struct ga_picture *picture, int32_t thread);

struct ga_sampler;

struct ga_sampler_options {
    const struct ga_monitor *monitor;
    int64_t period_ns;   /* 0: half a second */
    int64_t patience_ns; /* at close; 0: half a second */
};

/* Returns at once: the monitor is opened by the thread. */
int ga_sampler_open(struct ga_sampler **out, const struct ga_sampler_options *options);
void ga_sampler_close(struct ga_sampler *sampler); /* NULL is fine */
/* Tells the thread to end, without waiting: for closing several. NULL is fine. */
void ga_sampler_stop(struct ga_sampler *sampler);

/* Copies the latest picture; asks for the next one. */
void ga_sampler_read(struct ga_sampler *sampler, struct ga_picture *out);

/*
 * Waits until the monitor failed or made `rounds` complete samples, or until `deadline_ns`
 * (ga_now_ns() time): false then.
 */
bool ga_sampler_wait(struct ga_sampler *sampler, uint64_t rounds, int64_t deadline_ns);

/* From now on the bell rings for each new picture, until the bell is NULL. */
void ga_sampler_ring(struct ga_sampler *sampler, const struct ga_bell *bell);

#endif
