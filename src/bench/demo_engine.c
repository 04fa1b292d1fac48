/* The contenders that are the engine itself: driven by commands, as a batch run drives it. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "bench/demo.h"
#include "console/condition.h"

/* A run that has not ended by then hangs. */
#define PATIENCE_NS (INT64_C(3600) * 1000000000)

static int move(struct ga_demo_contest *contest, enum ga_move_kind kind, uint64_t count)
{
    const struct ga_move move = {.kind = kind, .count = count};
    struct ga_stop stop;
    uint64_t ticket = 0;

    if (ga_engine_move(contest->engine, &move, &ticket) < 0)
        return ga_error_code();
    if (!ga_engine_wait(contest->engine, ticket, ga_now_ns() + PATIENCE_NS, &stop))
        return ga_fail(GA_EINTERNAL, "bench demo: no end of the run within an hour");
    if (stop.reason == GA_STOP_DONE)
        return GA_OK;
    return stop.error.code < 0 ? ga_error_put(&stop.error)
                               : ga_fail(GA_EINTERNAL, "bench demo: the run was stopped");
}

static int add_breakpoints(struct ga_demo_contest *contest)
{
    for (size_t k = 0; k < 3 && contest->form->breakpoints[k]; k++) {
        struct ga_condition condition;

        if (ga_condition_read(&condition, contest->form->breakpoints[k]) < 0)
            return ga_error_code();
        if (ga_engine_break_add(contest->engine, &condition) < 0) {
            ga_condition_fini(&condition);
            return ga_error_code();
        }
    }
    return GA_OK;
}

int ga_demo_open(struct ga_demo *demo, struct ga_demo_contest *contest)
{
    const struct ga_engine_options options = {0};
    struct ga_settings settings;
    struct ga_change change;

    if (ga_engine_open(&contest->engine, &options) < 0 ||
        ga_engine_data(contest->engine, ga_dataset_share(demo->data)) < 0)
        return ga_error_code();
    ga_settings_default(&settings);
    settings.replicas = contest->form->replicas;
    settings.accum = contest->form->accum;
    settings.batch = contest->form->batch;
    settings.numerics = contest->form->numerics;
    settings.device = contest->form->device;
    if (ga_engine_change(contest->engine, &settings, &change) < 0)
        return ga_error_code();
    return add_breakpoints(contest);
}

int ga_demo_rewind(struct ga_demo_contest *contest)
{
    return move(contest, GA_MOVE_RESET, 0);
}

int ga_demo_train(struct ga_demo_contest *contest, int64_t updates)
{
    return move(contest, GA_MOVE_UPDATES, (uint64_t)updates);
}

/* Runs on the engine thread. */
static int read_outcome(struct ga_run *run, void *arg)
{
    struct ga_demo_contest *contest = arg;
    double accuracy = 0;
    uint64_t examples = 0;

    contest->hash = ga_run_hash(run);
    return ga_run_evaluate(run, false, &contest->loss, &accuracy, &examples);
}

int ga_demo_outcome(struct ga_demo_contest *contest)
{
    struct ga_history_info history;

    if (ga_engine_call(contest->engine, read_outcome, contest) < 0)
        return ga_error_code();
    ga_engine_history(contest->engine, &history);
    contest->events = history.events;
    return GA_OK;
}

struct weights_request {
    struct ga_net net;
    float *weights;
    float lr;
};

/* Runs on the engine thread. */
static int copy_weights(struct ga_run *run, void *arg)
{
    struct weights_request *request = arg;

    request->net = *ga_run_net_of(run);
    request->lr = (float)ga_run_settings(run)->lr;
    request->weights = ga_alloc(request->net.parameters, sizeof *request->weights);
    if (!request->weights)
        return ga_error_code();
    memcpy(request->weights, ga_run_version(run)->weights,
           request->net.parameters * sizeof *request->weights);
    return GA_OK;
}

int ga_demo_weights(struct ga_demo_contest *contest, struct ga_net *net, float **weights, float *lr)
{
    struct weights_request request = {0};

    if (ga_engine_call(contest->engine, copy_weights, &request) < 0)
        return ga_error_code();
    *weights = request.weights;
    *net = request.net;
    *lr = request.lr;
    return GA_OK;
}
