/*
 * What the update modes cost: events of virtual time without any gradient work, at several numbers
 * of replicas, and updates of the parabola. A round runs each once.
 *
 * Items of the events take exponential times: nothing happens at once by chance, and every draw
 * takes a logarithm. Events are what `event` steps through; what hogwild reads and writes at times
 * of their own, two more turns of the clock for each parameter and item, is not counted.
 */
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "bench/idle_device.h"
#include "bench/modes.h"

/* A move that has not ended by then hangs. */
#define PATIENCE_NS (INT64_C(3600) * 1000000000)

/* Events for each update that is asked for: one takes so much less time. */
#define EVENTS_PER_UPDATE 100

#define PARABOLA_REPLICAS 8

const int32_t ga_modes_sizes[GA_MODES_SIZES] = {8, 64, 1024};

static const struct ga_modes_form forms[] = {
    {"sync", GA_MODE_SYNC, -1, 1},         {"delay", GA_MODE_DELAY, -1, 1},
    {"async", GA_MODE_ASYNC, -1, 1},       {"ssp 3", GA_MODE_SSP, 3, 1},
    {"buffered", GA_MODE_BUFFERED, -1, 1}, {"local 4", GA_MODE_LOCAL, -1, 4},
    {"hogwild", GA_MODE_HOGWILD, -1, 1},
};

#define FORMS (sizeof forms / sizeof *forms)

static void set_form(const struct ga_modes_form *form, int32_t replicas, struct ga_settings *out)
{
    ga_settings_default(out);
    out->mode = form->mode;
    out->bound = form->bound;
    out->period = form->period;
    out->replicas = replicas;
    out->accum = 1;
    out->base_ns = 1000000;
    out->per_example_ns = 0;
    out->jitter.kind = GA_JITTER_EXPONENTIAL;
}

/* ---- events ---- */

static int open_events(struct ga_modes *modes, const struct ga_modes_form *form, size_t size,
                       struct ga_modes_events *events)
{
    struct ga_run_start start = {.data = modes->items, .compute = &ga_idle_device};

    set_form(form, ga_modes_sizes[size], &start.settings);
    start.settings.batch = 1;
    if (ga_run_open(&events->run, &start) < 0)
        return ga_error_code();
    return ga_run_capture(events->run, &events->start);
}

/* Of this thread alone: what else the machine does hardly shows in it. */
static int64_t processor_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Runs the events of a round; `*ns` is the processor time that they took. */
static int time_events(const struct ga_modes *modes, struct ga_modes_events *events, double *ns)
{
    int64_t began_ns = 0;

    if (ga_run_restore(events->run, &events->start) < 0)
        return ga_error_code();
    began_ns = processor_ns();
    for (uint64_t k = 0; k < modes->events; k++)
        if (ga_run_event(events->run) < 0)
            return ga_error_code();
    *ns = (double)(processor_ns() - began_ns);
    return GA_OK;
}

static int round_of_events(const struct ga_modes *modes, struct ga_modes_events *events)
{
    double ns = 0;
    uint64_t updates = 0;

    if (time_events(modes, events, &ns) < 0)
        return ga_error_code();
    updates = ga_run_counters(events->run)->updates;
    if (events->samples.count > 0 && updates != events->updates)
        return ga_fail(GA_EINTERNAL,
                       "bench modes: a round made %llu updates and another %llu: expected the same",
                       (unsigned long long)events->updates, (unsigned long long)updates);
    events->updates = updates;
    ga_samples_add(&events->samples, ns);
    return GA_OK;
}

/* ---- the parabola ---- */

static int open_training(struct ga_modes *modes, const struct ga_modes_form *form,
                         struct ga_modes_training *training)
{
    const struct ga_engine_options options = {.threads = 1};
    struct ga_settings settings;
    struct ga_change change;

    if (ga_engine_open(&training->engine, &options) < 0 ||
        ga_engine_data(training->engine, ga_dataset_share(modes->parabola)) < 0)
        return ga_error_code();
    set_form(form, PARABOLA_REPLICAS, &settings);
    settings.global = (int32_t)ga_dataset_table(modes->parabola)->train;
    settings.lr = 0.001;
    return ga_engine_change(training->engine, &settings, &change);
}

static int move(struct ga_engine *engine, enum ga_move_kind kind, uint64_t count)
{
    const struct ga_move move = {.kind = kind, .count = count};
    struct ga_stop stop;
    uint64_t ticket = 0;

    if (ga_engine_move(engine, &move, &ticket) < 0)
        return ga_error_code();
    if (!ga_engine_wait(engine, ticket, ga_now_ns() + PATIENCE_NS, &stop))
        return ga_fail(GA_EINTERNAL, "bench modes: no end of the run within an hour");
    if (stop.reason == GA_STOP_DONE)
        return GA_OK;
    return stop.error.code < 0 ? ga_error_put(&stop.error)
                               : ga_fail(GA_EINTERNAL, "bench modes: the run was stopped");
}

/* Runs on the engine thread. */
static int read_hash(struct ga_run *run, void *arg)
{
    *(uint64_t *)arg = ga_run_hash(run);
    return GA_OK;
}

static int round_of_training(const struct ga_modes *modes, struct ga_modes_training *training)
{
    int64_t began_ns = 0;
    double ns = 0;
    uint64_t hash = 0;

    if (move(training->engine, GA_MOVE_RESET, 0) < 0)
        return ga_error_code();
    began_ns = ga_now_ns();
    if (move(training->engine, GA_MOVE_UPDATES, (uint64_t)modes->options.updates) < 0)
        return ga_error_code();
    ns = (double)(ga_now_ns() - began_ns);
    if (ga_engine_call(training->engine, read_hash, &hash) < 0)
        return ga_error_code();
    if (training->samples.count > 0 && hash != training->hash)
        return ga_fail(GA_EINTERNAL,
                       "bench modes: a round ends at hash %016llx and another at %016llx: expected "
                       "the same",
                       (unsigned long long)training->hash, (unsigned long long)hash);
    training->hash = hash;
    ga_samples_add(&training->samples, ns);
    return GA_OK;
}

/* ---- all of it ---- */

static int open_contest(struct ga_modes *modes, struct ga_modes_contest *contest, double *room)
{
    size_t rounds = (size_t)modes->options.rounds;

    for (size_t size = 0; size < GA_MODES_SIZES; size++) {
        contest->events[size].samples.value = room + size * rounds;
        if (open_events(modes, contest->form, size, &contest->events[size]) < 0)
            return ga_error_code();
    }
    contest->training.samples.value = room + GA_MODES_SIZES * rounds;
    return open_training(modes, contest->form, &contest->training);
}

static int open_all(struct ga_modes *modes)
{
    static const char *const items[] = {"quadratic", "lambda=1", "n=4096"};
    static const char *const parabola[] = {"parabola"};
    size_t room = (GA_MODES_SIZES + 1) * (size_t)modes->options.rounds;

    modes->contest = ga_alloc(FORMS, sizeof *modes->contest);
    modes->room = ga_alloc(FORMS * room, sizeof *modes->room);
    if (!modes->contest || !modes->room || ga_dataset_open(&modes->items, 3, items, "") < 0 ||
        ga_dataset_open(&modes->parabola, 1, parabola, "") < 0)
        return ga_error_code();
    modes->count = FORMS;
    for (size_t k = 0; k < FORMS; k++) {
        modes->contest[k].form = &forms[k];
        if (open_contest(modes, &modes->contest[k], modes->room + k * room) < 0)
            return ga_error_code();
    }
    return GA_OK;
}

static void close_all(struct ga_modes *modes)
{
    for (size_t k = 0; k < modes->count; k++) {
        struct ga_modes_contest *contest = &modes->contest[k];

        for (size_t size = 0; size < GA_MODES_SIZES; size++) {
            if (contest->events[size].start.data)
                ga_state_fini(&contest->events[size].start);
            ga_run_close(contest->events[size].run);
        }
        ga_engine_close(contest->training.engine);
    }
    ga_dataset_close(modes->items);
    ga_dataset_close(modes->parabola);
    free(modes->contest);
    free(modes->room);
}

static int run_round(struct ga_modes *modes)
{
    for (size_t k = 0; k < modes->count; k++) {
        for (size_t size = 0; size < GA_MODES_SIZES; size++)
            if (round_of_events(modes, &modes->contest[k].events[size]) < 0)
                return ga_error_code();
        if (round_of_training(modes, &modes->contest[k].training) < 0)
            return ga_error_code();
    }
    return GA_OK;
}

static int modes_run(const struct ga_bench_options *options, struct ga_text *out)
{
    struct ga_modes modes = {.options = *options,
                             .events = (uint64_t)options->updates * EVENTS_PER_UPDATE};
    int code = open_all(&modes);

    for (int64_t round = 0; code == GA_OK && round < options->rounds; round++)
        code = run_round(&modes);
    if (code == GA_OK)
        (options->json ? ga_modes_report_json : ga_modes_report_text)(&modes, out);
    close_all(&modes);
    return code;
}

const struct ga_benchmark ga_benchmark_modes = {
    .name = "modes",
    .help = "update modes: events of virtual time at 8, 64, 1024 replicas; updates of the parabola",
    .run = modes_run,
};
