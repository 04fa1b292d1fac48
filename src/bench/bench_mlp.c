/* mlp and accum: a net of real size on one replica, two, eight, and with accumulation. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "bench/contest.h"
#include "bench/mlp.h"
#include "bench/peak.h"
#include "compute/compute.h"
#include "model/model.h"

/* --updates counts those of the demo, which are that much smaller. */
#define DEMO_UPDATES 20

enum { PEAK, ONE, TWO, TAKEN, APART, EIGHT, CONTENDERS };

struct peak {
    double operations;
};

static int run_peak(void *self)
{
    const struct peak *peak = self;

    ga_peak_run(peak->operations);
    return GA_OK;
}

/* What takes a core from the replicas: as much of one as the system gives to one thread. */
static void *keep_busy(void *stop)
{
    while (!atomic_load_explicit((atomic_bool *)stop, memory_order_relaxed)) {
    }
    return NULL;
}

static int train_beside(void *self)
{
    atomic_bool stop = false;
    pthread_t other;
    int code = pthread_create(&other, NULL, keep_busy, &stop);

    if (code)
        return ga_fail_errno(GA_ENOMEM, code, "bench: cannot start a thread");
    code = ga_mlp_train(self);
    atomic_store(&stop, true);
    pthread_join(other, NULL);
    return code;
}

static int64_t updates_of(const struct ga_bench_options *options)
{
    const int64_t updates = options->updates / DEMO_UPDATES;

    return updates > 8 ? updates / 8 * 8 : 8;
}

/* The same number of samples for all; the peak in samples, as if there were nothing but products.
 */
static void line_up(struct ga_contest *contest, struct ga_mlp *mlp, struct peak *peak,
                    int64_t updates)
{
    const double samples = (double)updates * GA_MLP_BATCH;

    peak->operations = samples * GA_MLP_OPERATIONS;
    *contest = (struct ga_contest){
        .name = "mlp",
        .unit = "samples",
        .contenders = CONTENDERS,
        .contender =
            {
                [PEAK] =
                    {"peak", "the core's float32 FMA peak", run_peak, peak, samples, 0, {0}, {0}},
                [ONE] = {"one", "1 replica", ga_mlp_train, &mlp[ONE], samples, 0, {0}, {0}},
                [TWO] = {"two", "2 replicas, sync", ga_mlp_train, &mlp[TWO], samples, 0, {0}, {0}},
                [TAKEN] = {"taken",
                           "2 replicas, sync, beside a busy thread",
                           train_beside,
                           &mlp[TWO],
                           samples,
                           0,
                           {0},
                           {0}},
                [APART] = {"apart",
                           "2 runs of 1 replica, side by side",
                           ga_mlp_train,
                           &mlp[APART],
                           samples,
                           0,
                           {0},
                           {0}},
                [EIGHT] =
                    {"eight", "8 replicas, sync", ga_mlp_train, &mlp[EIGHT], samples, 0, {0}, {0}},
            },
        .ratios = 5,
        .ratio =
            {
                {"of_peak", "1 replica, of the peak", ONE, PEAK, true, ">= 0.72", 0, {0}},
                {"two_apart",
                 "2 replicas, of 2 runs side by side",
                 TWO,
                 APART,
                 false,
                 ">= 0.93",
                 0,
                 {0}},
                {"two_apart_cpu", "  the same", TWO, APART, true, ">= 0.93", 0, {0}},
                {"taken_two",
                 "2 replicas beside a busy thread, of 2",
                 TAKEN,
                 TWO,
                 false,
                 ">= 0.45",
                 0,
                 {0}},
                {"eight_two", "8 replicas, of 2", EIGHT, TWO, false, ">= 0.93", 0, {0}},
            },
    };
}

static int open_mlps(struct ga_mlp *mlp, struct ga_dataset *data, int64_t updates)
{
    if (ga_mlp_open(&mlp[ONE], data, 1, 1, 1, updates) < 0 ||
        ga_mlp_open(&mlp[TWO], data, 1, 2, 1, updates / 2) < 0 ||
        ga_mlp_open(&mlp[APART], data, 2, 1, 1, updates / 2) < 0)
        return ga_error_code();
    return ga_mlp_open(&mlp[EIGHT], data, 1, 8, 1, updates / 8);
}

/* Where so little is asked for that nothing is measured it is not worth the time. */
static int settle(struct ga_mlp *mlp, size_t count, const struct ga_bench_options *options)
{
    for (size_t i = 0; i < count; i++)
        if (options->updates >= DEMO_UPDATES && mlp[i].engine[0] && ga_mlp_settle(&mlp[i]) < 0)
            return ga_error_code();
    return GA_OK;
}

static int measure_mlp(const struct ga_bench_options *options, struct ga_text *out)
{
    const int64_t updates = updates_of(options);
    struct ga_mlp mlp[CONTENDERS] = {0};
    struct ga_dataset *data = NULL;
    struct ga_contest contest;
    struct peak peak;
    int code = ga_mlp_data(&data);

    line_up(&contest, mlp, &peak, updates);
    contest.rounds = options->rounds;
    if (code == GA_OK)
        code = open_mlps(mlp, data, updates);
    if (code == GA_OK)
        code = settle(mlp, CONTENDERS, options);
    ga_compute_fast_library(contest.library, sizeof contest.library);
    code = ga_contest_hold(&contest, code, options->json, out);
    for (size_t i = 0; i < CONTENDERS; i++)
        ga_mlp_close(&mlp[i]);
    ga_dataset_close(data);
    return code;
}

const struct ga_benchmark ga_benchmark_mlp = {
    .name = "mlp",
    .help = "784-512-512-10, batch 128: of the core's peak, 2 replicas of 2 runs, 8 of 2",
    .run = measure_mlp,
};

/* Micro-batches by themselves: each one's gradient, not added to anything. */
struct micros {
    struct ga_context *context;
    struct ga_net net;
    float *weights, *sums;
    const struct ga_table *table;
    int64_t count;
};

static int run_micros(void *self)
{
    struct micros *m = self;

    for (int64_t i = 0; i < m->count; i++) {
        const struct ga_batch batch = {
            .inputs = m->table->inputs,
            .labels = m->table->labels,
            .first = (size_t)(i % (GA_MLP_IMAGES / GA_MLP_BATCH)) * GA_MLP_BATCH,
            .count = GA_MLP_BATCH,
        };
        struct ga_tally tally;

        if (ga_compute_cpu_fast.gradient(m->context, m->weights, &batch, GA_ASSIGN, m->sums,
                                         &tally) < 0)
            return ga_error_code();
    }
    return GA_OK;
}

static int micros_open(struct micros *m, const struct ga_dataset *data)
{
    static const int32_t widths[] = {784, 512, 512, 10};
    const struct ga_model_spec spec = {.kind = GA_NET_MLP,
                                       .layers = 3,
                                       .widths = widths,
                                       .activation = GA_ACT_RELU,
                                       .loss = GA_LOSS_XENT,
                                       .bias = true};

    m->table = ga_dataset_table(data);
    if (ga_net_build(&m->net, &spec) < 0)
        return ga_error_code();
    m->weights = ga_alloc_aligned(m->net.parameters, sizeof *m->weights);
    m->sums = ga_alloc_aligned(m->net.parameters, sizeof *m->sums);
    if (!m->weights || !m->sums)
        return ga_error_code();
    ga_model_initialise(&m->net, GA_MODEL_HE, 1, m->weights);
    return ga_compute_cpu_fast.open(&m->context, &m->net, GA_MLP_BATCH);
}

static void micros_close(struct micros *m)
{
    ga_compute_cpu_fast.close(m->context);
    free(m->weights);
    free(m->sums);
}

static int measure_accum(const struct ga_bench_options *options, struct ga_text *out)
{
    const int64_t updates = updates_of(options);
    const double samples = (double)updates * GA_MLP_BATCH;
    struct ga_mlp mlp = {0};
    struct micros micros = {.count = updates};
    struct ga_dataset *data = NULL;
    struct ga_contest contest = {
        .name = "accum",
        .unit = "samples",
        .rounds = options->rounds,
        .contenders = 2,
        .contender =
            {{"accum", "accumulation 8, with its update", ga_mlp_train, &mlp, samples, 0, {0}, {0}},
             {"micros",
              "8 micro-batches, not added up",
              run_micros,
              &micros,
              samples,
              0,
              {0},
              {0}}},
        .ratios = 1,
        .ratio = {{"accum_micros",
                   "time of 8 micro-batches over accumulation 8",
                   0,
                   1,
                   true,
                   ">= 0.97",
                   0,
                   {0}}},
    };
    int code = ga_mlp_data(&data);

    if (code == GA_OK)
        code = micros_open(&micros, data);
    if (code == GA_OK)
        code = ga_mlp_open(&mlp, data, 1, 1, 8, updates / 8);
    if (code == GA_OK)
        code = settle(&mlp, 1, options);
    ga_compute_fast_library(contest.library, sizeof contest.library);
    code = ga_contest_hold(&contest, code, options->json, out);
    ga_mlp_close(&mlp);
    micros_close(&micros);
    ga_dataset_close(data);
    return code;
}

const struct ga_benchmark ga_benchmark_accum = {
    .name = "accum",
    .help = "784-512-512-10: accumulation 8 beside 8 micro-batches by themselves",
    .run = measure_accum,
};
