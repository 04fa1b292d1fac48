/*
 * What a screen watches beyond the published view: the figures of every closed window, in order,
 * and a close-up of the run (fit, time line, staleness, weights, memory).
 *
 * A watch is an observer on the engine thread with a ring between it and the screen's thread. While
 * a run is fast its windows are handed over in blocks, each as three samples that hold the least,
 * the greatest and the last figures. The engine never waits: with the ring half full the bell
 * rings, and with a full ring blocks wait their turn and grow (console/bundle.h), so that extremes
 * and non-finite figures survive. A close-up is made between two events on the engine thread; the
 * caller asks at most ten times a second and after each stop. It also puts the place where the run
 * stands into the ring, so that what was drawn beyond it can be hidden at exactly the right point.
 *
 * How busy devices are comes from their monitors, on the caller's thread.
 *
 * ga_watch_open/close/take/look belong to the console's thread.
 */
#ifndef GA_CONSOLE_WATCH_H
#define GA_CONSOLE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "train/engine.h"
#include "train/run.h"

#define GA_WATCH_REPLICAS 8 /* the first ones have curves of their own */
#define GA_WATCH_PUSHES   8 /* staleness of the first pushes of a window */

/* A closed window, or a place, where only `run` and `windows` count. A plain value. */
struct ga_sample {
    uintptr_t run;    /* which run: another value, another history */
    uint64_t windows; /* closed so far, applied or skipped: what rows are ordered by */
    uint64_t update, examples;
    int64_t time_ns, wall_ns;
    bool place;   /* the run stands here; not a window */
    bool applied; /* false: skipped */
    uint8_t mode; /* enum ga_mode */
    uint32_t replicas;
    uint32_t pushes; /* entries of tau */
    double loss, grad_norm, update_norm;
    double noise_scale; /* NaN while undefined: counts as missing */
    double staleness;   /* largest of the window's items; NaN: none */
    struct {
        bool finished; /* has handed over an item, so there is a loss */
        bool has_norm;
        float loss, norm;
    } replica[GA_WATCH_REPLICAS];
    uint16_t tau[GA_WATCH_PUSHES];
};

/* The data and what the net makes of it. */
enum ga_fit_kind { GA_FIT_NONE, GA_FIT_CURVE, GA_FIT_CLASSES, GA_FIT_QUADRATIC };
#define GA_FIT_POINTS       512
#define GA_FIT_CLASSES_MOST 12
#define GA_FIT_MISREAD      6
#define GA_FIT_PIXELS       1024

struct ga_fit {
    enum ga_fit_kind kind;
    char name[64]; /* of the data set */
    size_t rows;   /* of the data set, training and held out */
    size_t points; /* CURVE: listed, ascending in x */
    struct {
        float x, y, prediction;
        int32_t replica; /* that has it in the open window, or had it in the last; -1: none */
        bool held_out;
    } point[GA_FIT_POINTS];
    size_t classes; /* CLASSES */
    bool held_out;  /* the table is over held-out rows */
    uint32_t confusion[GA_FIT_CLASSES_MOST][GA_FIT_CLASSES_MOST]; /* [label][predicted] */
    uint64_t right, wrong;
    size_t misread;
    int pixel_rows, pixel_columns; /* 0: the inputs are no square picture */
    struct {
        uint32_t row;
        int32_t label, predicted;
        uint8_t pixel[GA_FIT_PIXELS]; /* 0 .. 255 from the least to the greatest input */
    } miss[GA_FIT_MISREAD];
    size_t coordinates; /* QUADRATIC: of the first ones */
    float weight[GA_FIT_CLASSES_MOST], optimum[GA_FIT_CLASSES_MOST];
};

/* A stretch of a replica's time, oldest first. */
enum ga_span_kind { GA_SPAN_MICRO, GA_SPAN_WAIT, GA_SPAN_TALK, GA_SPAN_DROP };
#define GA_SPANS    1024
#define GA_SPAN_ALL (-2)
struct ga_span {
    int64_t start_ns, end_ns;
    uint64_t update; /* being formed */
    int32_t replica; /* -1: the run (an update applied at end_ns); GA_SPAN_ALL: every one */
    uint32_t micro;
    uint8_t kind;
};

/* Weights, and each replica's mean gradient so far, at the same positions. */
#define GA_HEAT_VALUES 512
struct ga_heat {
    size_t parameters, values; /* listed: all, or evenly spaced ones */
    size_t stride;             /* parameters from one value to the next */
    float weight[GA_HEAT_VALUES];
    size_t replicas;
    float gradient[GA_WATCH_REPLICAS][GA_HEAT_VALUES]; /* sum / weight; 0 while empty */
    size_t tensors;
    struct {
        char name[32];
        size_t first; /* position in `weight` */
    } tensor[GA_NET_TENSORS];
};

/* Staleness as theory has it for the mode in force, and how far the rate is from divergence. */
#define GA_TAU_BINS 64
struct ga_law {
    bool has_mean, has_shape;
    double mean;               /* staleness on average over many pushes */
    double shape[GA_TAU_BINS]; /* probability of each; the last bin holds the tail */
    double
        gauge; /* lr * curvature over its limit: above 1 it diverges; NaN: unknown, or too dear */
    double limit;  /* of lr * curvature; NaN: unknown */
    char text[96]; /* the law in words */
};

/* Figures that are NaN are not known. */
struct ga_device_row {
    char name[32], kind[48];
    double utilisation;               /* 0 .. 1 */
    double temperature;               /* Celsius */
    double memory_used, memory_total; /* bytes */
    double power;                     /* W */
    double clock;                     /* Hz */
    char note[96];                    /* what it fails with, or what holds its clock; "" */
    int32_t first_replica, replicas;  /* how many have their seat there, and the first of them */
    int32_t step;                     /* from one to the next, when there are several */
};
#define GA_DEVICE_ROWS 16

struct ga_closeup {
    uint64_t events, windows; /* where the run stood */
    struct ga_fit fit;
    size_t spans;
    struct ga_span span[GA_SPANS];
    int64_t now_ns;
    struct ga_heat heat;
    struct ga_law law;
    struct ga_memory memory; /* of one replica, bytes */
    uint64_t run_bytes, history_bytes;
    size_t replicas; /* of the run */
    size_t devices;
    struct ga_device_row device[GA_DEVICE_ROWS];
    char no_gpu[192]; /* why there are no GPUs among them, in NVML's own words; "" */
    size_t seats;     /* replicas whose seat was asked how busy it is */
    struct ga_readings readings[GA_VIEW_REPLICAS];
    struct ga_seat seat[GA_VIEW_REPLICAS];
    double busy[GA_VIEW_REPLICAS], talk[GA_VIEW_REPLICAS]; /* share of virtual time */
    char explain[4096]; /* the last event in numbers, for the parameter asked for */
    char parameter[96]; /* its name, "layers.0.weight[2]" */
    size_t parameters;
};

struct ga_watch;

/* Observes the engine; the bell is rung when the ring is half full. */
int ga_watch_open(struct ga_watch **out, struct ga_engine *engine, const struct ga_bell *bell);
void ga_watch_close(struct ga_watch *watch); /* before the engine closes; NULL is fine */

/* The next window or place in order; false when there is none. */
bool ga_watch_take(struct ga_watch *watch, struct ga_sample *out);

/* Parts that cost the engine time are made only when a panel shows them. */
enum {
    GA_LOOK_FIT = 1,
    GA_LOOK_SPANS = 2,
    GA_LOOK_HEAT = 4,
    GA_LOOK_LAW = 8,
    GA_LOOK_EXPLAIN = 16,
    GA_LOOK_SEATS = 32,  /* of the seats of replicas */
    GA_LOOK_DEVICES = 64 /* of all devices; the bell rings when there is news of them */
};

/*
 * Fills `out` (which keeps what is not asked for) for parameter `position`, and puts the place into
 * the ring. Waits for the engine's present event to end.
 */
int ga_watch_look(struct ga_watch *watch, unsigned parts, size_t position, struct ga_closeup *out);

#endif
