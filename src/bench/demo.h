/* The demo benchmark from the inside: its contenders, and the report on them. */
#ifndef GA_BENCH_DEMO_H
#define GA_BENCH_DEMO_H

#include <stdint.h>

#include "bench/benchmark.h"
#include "bench/naive.h"
#include "dataset/dataset.h"
#include "train/engine.h"

enum ga_demo_contender {
    GA_DEMO_NAIVE,
    GA_DEMO_SERIAL,
    GA_DEMO_SPLIT,
    GA_DEMO_FAST,
    GA_DEMO_STOPS,
    GA_DEMO_LONG,
    GA_DEMO_BARE,
    GA_DEMO_CONTENDERS
};

/* How a contender is named and set up. */
struct ga_demo_form {
    const char *key;
    const char *text;
    int32_t replicas, accum, batch; /* 0: not the engine */
    enum ga_numerics numerics;
    enum ga_device device;
    const char *breakpoints[3]; /* conditions that never hold; NULL: no more */
    int64_t times;              /* its updates, in those asked for; 0: once */
};

static inline int64_t ga_demo_times(const struct ga_demo_form *form)
{
    return form->times > 0 ? form->times : 1;
}

struct ga_demo_contest {
    const struct ga_demo_form *form;
    struct ga_engine *engine;  /* NULL: the naive and the bare one */
    struct ga_samples samples; /* ns of the updates asked for */
    struct ga_samples ratios;  /* of each round: the naive one's time to this one's */
    double loss;               /* over all examples, after the last round */
    uint64_t hash;             /* of the engine's weights */
    uint64_t events;           /* that its history holds */
};

struct ga_demo_bare;

struct ga_demo {
    struct ga_bench_options options;
    struct ga_dataset *data;
    struct ga_naive naive;
    struct ga_demo_bare *bare;
    float *start, *memory; /* initial weights; what `naive` points to */
    double *room;          /* for all samples */
    struct ga_demo_contest contest[GA_DEMO_CONTENDERS];
};

/* demo_engine.c: an engine as a batch run has it, back at update 0, and a timed run. */
int ga_demo_open(struct ga_demo *demo, struct ga_demo_contest *contest);
int ga_demo_rewind(struct ga_demo_contest *contest);
int ga_demo_train(struct ga_demo_contest *contest, int64_t updates);
int ga_demo_outcome(struct ga_demo_contest *contest);
/* The net, a copy of the present weights, to be freed, and the learning rate in force. */
int ga_demo_weights(struct ga_demo_contest *contest, struct ga_net *net, float **weights,
                    float *lr);

/* demo_bare.c: the fast device by itself, what it does recorded nowhere. */
int ga_demo_bare_open(struct ga_demo_bare **out, const struct ga_net *net,
                      const struct ga_table *table, float lr);
void ga_demo_bare_close(struct ga_demo_bare *bare); /* NULL: nothing */
void ga_demo_bare_rewind(struct ga_demo_bare *bare, const float *weights);
int ga_demo_bare_train(struct ga_demo_bare *bare, int64_t updates);
double ga_demo_bare_loss(const struct ga_demo_bare *bare); /* before the last update */

/* demo_report.c */
void ga_demo_report_text(const struct ga_demo *demo, struct ga_text *out);
void ga_demo_report_json(const struct ga_demo *demo, struct ga_text *out);

#endif
