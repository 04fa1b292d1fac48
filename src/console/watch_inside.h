/* A watch from the inside, shared by watch.c and closeup.c. All but the ring is the engine's. */
#ifndef GA_CONSOLE_WATCH_INSIDE_H
#define GA_CONSOLE_WATCH_INSIDE_H

#include <stdatomic.h>

#include "base/ring.h"
#include "console/bundle.h"
#include "console/watch.h"

/* Spans from events, oldest first. */
struct ga_span_maker {
    struct ga_closeup *out;
    int64_t last_push_ns;                  /* INT64_MIN: none yet */
    int64_t micro_end_ns[GA_MAX_REPLICAS]; /* of the newest micro-batch of each replica */
    uint32_t micro[GA_MAX_REPLICAS];       /* its number; 0: none yet */
};

struct ga_watch {
    struct ga_engine *engine;
    const struct ga_bell *bell;
    struct ga_ring *ring;
    struct ga_span_maker maker;
    /* What found the ring full: windows, and a place behind them. */
    struct ga_backlog backlog;
    struct ga_sample held_place;
    bool holds_place;
    atomic_bool waits; /* something is held; also read by the screen's thread */
    struct ga_block block;
    uint64_t since;                     /* windows since the last look */
    uint64_t block_of;                  /* windows that a block takes at the least */
    int64_t wall_ns;                    /* read when a block was handed over last */
    uint64_t finished[GA_MAX_REPLICAS]; /* items that each replica had handed over last */

    /* What a close-up costs, kept: the rows drawn, in order, and room for outputs and sums. */
    uint64_t fingerprint; /* of the data that was looked at */
    size_t rows;          /* of `row`; 0 for data that are not a curve */
    uint32_t row[GA_FIT_POINTS];
    float *output;
    size_t output_capacity;
    double *sum;
    size_t sum_capacity;
    int32_t *owner; /* (N) replica of each row; -1: none */
    size_t owner_capacity;
    int64_t gauge_ns;   /* when the curvature was looked for last */
    int64_t classes_ns; /* when the table of classes was made, and of which weights */
    uint64_t classes_version;
    uintptr_t classes_run;

    struct ga_picture picture; /* the caller's, like what readings.c does */
    bool rings;                /* the bell is with the monitors */
};

/* closeup.c, on the engine thread: the parts asked for. */
struct ga_look {
    struct ga_watch *watch;
    unsigned parts;
    size_t position;
    struct ga_closeup *out;
};
int ga_closeup_make(struct ga_run *run, const struct ga_look *look);

/* One event of many, to a struct ga_span_maker. */
int ga_closeup_event(const struct ga_event *event, void *arg);

/* readings.c, on the caller's thread: how busy devices and seats are. */
void ga_readings_make(struct ga_watch *watch, unsigned parts, struct ga_closeup *out);
void ga_readings_end(struct ga_watch *watch); /* no bell is rung any more */

/* fit.c: the data and what the net makes of it. */
int ga_fit_make(struct ga_run *run, struct ga_watch *watch, struct ga_fit *out);

#endif
