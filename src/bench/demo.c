/*
 * The demo of y = x^2, from the same initial weights: plain C loops, the engine with one replica,
 * the engine with the window split over replicas and micro-batches, each of whose events is
 * recorded, and the fast numerics with breakpoints and without. What it costs to record shows
 * beside the fast device all by itself, over so many updates that it takes no time to ask for them.
 * A round runs each once.
 */
#include "bench/demo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"

#define LONG 50

/* Float32 sums in another order than the exact ones may differ by this much of the loss. */
#define LOSS_TOLERANCE 1e-4

static const struct ga_demo_form forms[GA_DEMO_CONTENDERS] = {
    [GA_DEMO_NAIVE] = {.key = "a", .text = "plain C loops, float32, tanhf"},
    [GA_DEMO_SERIAL] = {.key = "b",
                        .text = "exact, 1 replica, batch 50",
                        .replicas = 1,
                        .accum = 1,
                        .batch = 50,
                        .numerics = GA_NUMERICS_EXACT},
    [GA_DEMO_SPLIT] = {.key = "c",
                       .text = "exact, P 2, A 5, b 5, all events",
                       .replicas = 2,
                       .accum = 5,
                       .batch = 5,
                       .numerics = GA_NUMERICS_EXACT},
    [GA_DEMO_FAST] = {.key = "d",
                      .text = "fast, 1 replica, batch 50",
                      .replicas = 1,
                      .accum = 1,
                      .batch = 50,
                      .numerics = GA_NUMERICS_FAST},
    [GA_DEMO_STOPS] = {.key = "e",
                       .text = "d with three breakpoints",
                       .replicas = 1,
                       .accum = 1,
                       .batch = 50,
                       .numerics = GA_NUMERICS_FAST,
                       .breakpoints = {"loss < 0", "|g| > 1e30", "update > 1e15"}},
    [GA_DEMO_LONG] = {.key = "f",
                      .text = "e, 50 times as many updates",
                      .replicas = 1,
                      .accum = 1,
                      .batch = 50,
                      .numerics = GA_NUMERICS_FAST,
                      .breakpoints = {"loss < 0", "|g| > 1e30", "update > 1e15"},
                      .times = LONG},
    [GA_DEMO_BARE] = {.key = "g", .text = "f's device alone, not recorded", .times = LONG},
};

static int plain_open(struct ga_demo *demo)
{
    struct ga_naive *naive = &demo->naive;
    const struct ga_table *table = ga_dataset_table(demo->data);
    struct ga_net net;
    size_t parameters = 0;

    if (ga_demo_weights(&demo->contest[GA_DEMO_SERIAL], &net, &demo->start, &naive->lr) < 0 ||
        ga_demo_bare_open(&demo->bare, &net, table, naive->lr) < 0)
        return ga_error_code();
    parameters = net.parameters;
    naive->hidden = (parameters - 1) / 3;
    naive->examples = table->train;
    naive->x = table->inputs;
    naive->y = table->targets;
    demo->memory = ga_alloc(2 * parameters + naive->hidden, sizeof *demo->memory);
    if (!demo->memory)
        return ga_error_code();
    naive->weights = demo->memory;
    naive->gradient = naive->weights + parameters;
    naive->units = naive->gradient + parameters;
    return GA_OK;
}

static int demo_open(struct ga_demo *demo)
{
    static const char *const words[] = {"parabola"};
    const size_t rounds = (size_t)demo->options.rounds;

    demo->room = ga_alloc(2 * GA_DEMO_CONTENDERS * rounds, sizeof *demo->room);
    if (!demo->room || ga_dataset_open(&demo->data, 1, words, "") < 0)
        return ga_error_code();
    for (size_t i = 0; i < GA_DEMO_CONTENDERS; i++) {
        struct ga_demo_contest *contest = &demo->contest[i];

        contest->form = &forms[i];
        contest->samples.value = demo->room + 2 * i * rounds;
        contest->ratios.value = contest->samples.value + rounds;
        if (contest->form->replicas > 0 && ga_demo_open(demo, contest) < 0)
            return ga_error_code();
    }
    return plain_open(demo);
}

static void demo_close(struct ga_demo *demo)
{
    for (size_t i = 0; i < GA_DEMO_CONTENDERS; i++)
        ga_engine_close(demo->contest[i].engine);
    ga_demo_bare_close(demo->bare);
    ga_dataset_close(demo->data);
    free(demo->start);
    free(demo->memory);
    free(demo->room);
}

static int rewind_one(struct ga_demo *demo, struct ga_demo_contest *contest)
{
    if (contest->engine)
        return ga_demo_rewind(contest);
    if (contest == &demo->contest[GA_DEMO_BARE])
        ga_demo_bare_rewind(demo->bare, demo->start);
    else
        memcpy(demo->naive.weights, demo->start, (3 * demo->naive.hidden + 1) * sizeof(float));
    return GA_OK;
}

/* Through a volatile pointer, so that not even link-time optimisation can look inside. */
static int train_one(struct ga_demo *demo, struct ga_demo_contest *contest)
{
    static void (*const volatile train)(const struct ga_naive *, int64_t) = ga_naive_train;
    const int64_t updates = demo->options.updates * ga_demo_times(contest->form);

    if (contest->engine)
        return ga_demo_train(contest, updates);
    if (contest == &demo->contest[GA_DEMO_BARE])
        return ga_demo_bare_train(demo->bare, updates);
    train(&demo->naive, updates);
    return GA_OK;
}

/* Trains from the start; `*ns` is the wall time that the updates asked for took. */
static int time_one(struct ga_demo *demo, struct ga_demo_contest *contest, double *ns)
{
    int64_t began_ns = 0;

    if (rewind_one(demo, contest) < 0)
        return ga_error_code();
    began_ns = ga_now_ns();
    if (train_one(demo, contest) < 0)
        return ga_error_code();
    *ns = (double)(ga_now_ns() - began_ns) / (double)ga_demo_times(contest->form);
    return GA_OK;
}

static int run_round(struct ga_demo *demo)
{
    double ns[GA_DEMO_CONTENDERS];

    for (size_t i = 0; i < GA_DEMO_CONTENDERS; i++) {
        if (time_one(demo, &demo->contest[i], &ns[i]) < 0)
            return ga_error_code();
        ga_samples_add(&demo->contest[i].samples, ns[i]);
        ga_samples_add(&demo->contest[i].ratios, ns[GA_DEMO_NAIVE] / ns[i]);
    }
    return GA_OK;
}

static int find_outcomes(struct ga_demo *demo)
{
    for (size_t i = 0; i < GA_DEMO_CONTENDERS; i++)
        if (demo->contest[i].engine && ga_demo_outcome(&demo->contest[i]) < 0)
            return ga_error_code();
    demo->contest[GA_DEMO_NAIVE].loss = ga_naive_loss(&demo->naive);
    demo->contest[GA_DEMO_BARE].loss = ga_demo_bare_loss(demo->bare);
    return GA_OK;
}

static int check_loss(const struct ga_demo_contest *one, const struct ga_demo_contest *other)
{
    if (fabs(one->loss - other->loss) <= LOSS_TOLERANCE * other->loss)
        return GA_OK;
    return ga_fail(GA_EINTERNAL,
                   "bench demo: %s ends at loss %.9g and %s at %.9g: expected the same within %g",
                   one->form->key, one->loss, other->form->key, other->loss, LOSS_TOLERANCE);
}

/* A speed is worth nothing where the results differ. */
static int check_outcomes(const struct ga_demo *demo)
{
    const struct ga_demo_contest *serial = &demo->contest[GA_DEMO_SERIAL];
    const struct ga_demo_contest *split = &demo->contest[GA_DEMO_SPLIT];

    if (serial->hash != split->hash)
        return ga_fail(GA_EINTERNAL,
                       "bench demo: %s ends at hash %016llx and %s at %016llx: expected the same",
                       serial->form->key, (unsigned long long)serial->hash, split->form->key,
                       (unsigned long long)split->hash);
    if (check_loss(&demo->contest[GA_DEMO_NAIVE], serial) < 0)
        return ga_error_code();
    if (demo->contest[GA_DEMO_STOPS].hash != demo->contest[GA_DEMO_FAST].hash)
        return ga_fail(GA_EINTERNAL, "bench demo: breakpoints changed the weights");
    return check_loss(&demo->contest[GA_DEMO_FAST], serial);
}

static int measure(struct ga_demo *demo)
{
    if (demo_open(demo) < 0)
        return ga_error_code();
    for (int64_t round = 0; round < demo->options.rounds; round++)
        if (run_round(demo) < 0)
            return ga_error_code();
    if (find_outcomes(demo) < 0)
        return ga_error_code();
    return check_outcomes(demo);
}

static int demo_run(const struct ga_bench_options *options, struct ga_text *out)
{
    struct ga_demo demo = {.options = *options};
    int code = measure(&demo);

    if (code == GA_OK)
        (options->json ? ga_demo_report_json : ga_demo_report_text)(&demo, out);
    demo_close(&demo);
    return code;
}

const struct ga_benchmark ga_benchmark_demo = {
    .name = "demo",
    .help = "y = x^2 on 1-5-1: plain C loops, exact, exact split over replicas, fast",
    .run = demo_run,
};
