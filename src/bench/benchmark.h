/* A benchmark from the inside: its row, what it is asked for, and the samples it takes. */
#ifndef GA_BENCH_BENCHMARK_H
#define GA_BENCH_BENCHMARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct ga_bench_options {
    int64_t rounds;
    int64_t updates; /* of each round */
    bool json;
    bool small; /* gpu: sizes for tests, whose figures say nothing */
};

struct ga_benchmark {
    const char *name;
    const char *help; /* one sentence */
    /* Measures and appends its report. A negative code when something failed or differed. */
    int (*run)(const struct ga_bench_options *options, struct ga_text *out);
};

extern const struct ga_benchmark ga_benchmark_demo;
extern const struct ga_benchmark ga_benchmark_modes;
extern const struct ga_benchmark ga_benchmark_mlp;
extern const struct ga_benchmark ga_benchmark_accum;
extern const struct ga_benchmark ga_benchmark_allreduce;
extern const struct ga_benchmark ga_benchmark_csv;
extern const struct ga_benchmark ga_benchmark_gpu;

/* One figure a round, in ascending order; room for them is the caller's. */
struct ga_samples {
    double *value;
    size_t count;
};

void ga_samples_add(struct ga_samples *samples, double value);
double ga_samples_median(const struct ga_samples *samples); /* the mean of the two middle ones */
double ga_samples_least(const struct ga_samples *samples);

#endif
