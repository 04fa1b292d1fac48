/* The benchmark of the update modes from the inside: what it measures, and the report on it. */
#ifndef GA_BENCH_MODES_H
#define GA_BENCH_MODES_H

#include <stdint.h>

#include "bench/benchmark.h"
#include "dataset/dataset.h"
#include "train/engine.h"
#include "train/state.h"

#define GA_MODES_SIZES 3 /* numbers of replicas */

/* A mode with its settings. */
struct ga_modes_form {
    const char *name;
    enum ga_mode mode;
    int32_t bound, period;
};

/* One mode at one number of replicas on a device that computes nothing: the cost of its events. */
struct ga_modes_events {
    struct ga_run *run;
    struct ga_state start; /* where each round begins; without data: not there yet */
    uint64_t updates;      /* by the end of a round: the same in each */
    struct ga_samples samples;
};

/* The parabola in one mode, driven by commands. */
struct ga_modes_training {
    struct ga_engine *engine;
    uint64_t hash; /* at the end of a round: the same in each */
    struct ga_samples samples;
};

struct ga_modes_contest {
    const struct ga_modes_form *form;
    struct ga_modes_events events[GA_MODES_SIZES];
    struct ga_modes_training training;
};

struct ga_modes {
    struct ga_bench_options options;
    uint64_t events; /* of a round */
    size_t count;
    struct ga_modes_contest *contest; /* (count) */
    double *room;                     /* for all samples */
    struct ga_dataset *items, *parabola;
};

extern const int32_t ga_modes_sizes[GA_MODES_SIZES];

/* modes_report.c */
void ga_modes_report_text(const struct ga_modes *modes, struct ga_text *out);
void ga_modes_report_json(const struct ga_modes *modes, struct ga_text *out);

#endif
