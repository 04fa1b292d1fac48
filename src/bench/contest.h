/*
 * Contenders that take turns: in each round every one runs once, and what is told of a pair are the
 * ratios within rounds, since a busy machine disturbs both. Times are wall time, and the CPU time
 * of all threads, which others on the machine do not enter.
 */
#ifndef GA_BENCH_CONTEST_H
#define GA_BENCH_CONTEST_H

#include <stdint.h>

#include "bench/benchmark.h"

#define GA_CONTENDERS 8

struct ga_contender {
    const char *key;
    const char *text;
    int (*run)(void *self); /* one round's work */
    void *self;
    double work;                 /* samples, elements or operations of one round */
    double *room;                /* the contest's */
    struct ga_samples wall, cpu; /* ns of each round */
};

/* One figure from two contenders: rate of `of` over rate of `to`, each by work over time. */
struct ga_ratio {
    const char *key;
    const char *text;
    size_t of, to;
    bool by_cpu;        /* by CPU time */
    const char *wanted; /* what it should be on a quiet machine, ">= 0.93" */
    double *room;
    struct ga_samples samples;
};

struct ga_contest {
    const char *name, *unit; /* "mlp", "samples" */
    char library[96];        /* what computes: "avx2 kernels, no CBLAS here"; "": not told */
    int64_t rounds;
    size_t contenders, ratios;
    struct ga_contender contender[GA_CONTENDERS];
    struct ga_ratio ratio[GA_CONTENDERS];
};

/* Runs the rounds, behind one that does not count: what only the first has to do is done then.
 * ga_contest_fini() in any case. */
int ga_contest_run(struct ga_contest *contest);
void ga_contest_fini(struct ga_contest *contest);
void ga_contest_report(const struct ga_contest *contest, bool json, struct ga_text *out);

/* All three, where getting ready came to `code`: an error is given back without a round. */
int ga_contest_hold(struct ga_contest *contest, int code, bool json, struct ga_text *out);

#endif
