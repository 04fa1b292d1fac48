#include "train/support/engine_rig.h"

#include <string.h>

#include "base/thread.h"
#include "support/support.h"

#define PATIENCE_NS INT64_C(300000000000)

void ga_engine_rig_open(struct ga_engine_rig *rig, const struct ga_test_start *start)
{
    struct ga_engine_options options = {.threads = start->threads};
    struct ga_settings settings;
    struct ga_change change;

    ga_test_ok(ga_engine_open(&rig->engine, &options));
    ga_test_ok(ga_engine_data(rig->engine, ga_test_start_data(start)));
    if (start->weights)
        ga_test_ok(
            ga_engine_init_from(rig->engine, "weights", start->weights, start->weights_count));
    ga_test_start_settings(start, &settings);
    ga_test_ok(ga_engine_change(rig->engine, &settings, &change));
}

void ga_engine_rig_close(struct ga_engine_rig *rig)
{
    ga_engine_close(rig->engine);
}

int ga_engine_rig_try_set(struct ga_engine_rig *rig, const char *words, struct ga_change *out)
{
    struct ga_settings draft;

    ga_engine_settings(rig->engine, NULL, &draft);
    ga_test_ok(ga_test_read_settings(&draft, words));
    return ga_engine_change(rig->engine, &draft, out);
}

struct ga_change ga_engine_rig_set(struct ga_engine_rig *rig, const char *words)
{
    struct ga_change change;

    ga_test_ok(ga_engine_rig_try_set(rig, words, &change));
    return change;
}

uint64_t ga_engine_rig_begin(struct ga_engine_rig *rig, enum ga_move_kind kind, uint64_t count)
{
    struct ga_move move = {.kind = kind, .count = count};
    uint64_t ticket = 0;

    ga_test_ok(ga_engine_move(rig->engine, &move, &ticket));
    return ticket;
}

struct ga_stop ga_engine_rig_wait(struct ga_engine_rig *rig, uint64_t ticket)
{
    struct ga_stop stop;

    memset(&stop, 0, sizeof stop);
    assert_true(ga_engine_wait(rig->engine, ticket, ga_now_ns() + PATIENCE_NS, &stop));
    return stop;
}

struct ga_stop ga_engine_rig_move(struct ga_engine_rig *rig, enum ga_move_kind kind, uint64_t count)
{
    return ga_engine_rig_wait(rig, ga_engine_rig_begin(rig, kind, count));
}

struct ga_stop ga_engine_rig_go(struct ga_engine_rig *rig, enum ga_move_kind kind, uint64_t count)
{
    struct ga_stop stop = ga_engine_rig_move(rig, kind, count);

    if (stop.reason != GA_STOP_DONE)
        fail_msg("the move ended with reason %d: %s", stop.reason, stop.error.text);
    return stop;
}

static int get_hash(struct ga_run *run, void *arg)
{
    *(uint64_t *)arg = ga_run_hash(run);
    return GA_OK;
}

uint64_t ga_engine_rig_hash(struct ga_engine_rig *rig)
{
    uint64_t hash = 0;

    ga_test_ok(ga_engine_call(rig->engine, get_hash, &hash));
    return hash;
}

static int get_counters(struct ga_run *run, void *arg)
{
    *(struct ga_counters *)arg = *ga_run_counters(run);
    return GA_OK;
}

struct ga_counters ga_engine_rig_counters(struct ga_engine_rig *rig)
{
    struct ga_counters counters;

    ga_test_ok(ga_engine_call(rig->engine, get_counters, &counters));
    return counters;
}

struct metric_request {
    enum ga_metric metric;
    int32_t replica;
    double value;
};

static int get_metric(struct ga_run *run, void *arg)
{
    struct metric_request *request = arg;

    request->value = ga_run_metric(run, request->metric, request->replica);
    return GA_OK;
}

double ga_engine_rig_metric(struct ga_engine_rig *rig, enum ga_metric metric, int32_t replica)
{
    struct metric_request request = {metric, replica, 0};

    ga_test_ok(ga_engine_call(rig->engine, get_metric, &request));
    return request.value;
}

static int get_record(struct ga_run *run, void *arg)
{
    const struct ga_update_record *record = ga_run_last_record(run);

    if (!record)
        return ga_fail(GA_ESTATE, "no window was closed yet");
    *(struct ga_update_record *)arg = *record;
    return GA_OK;
}

struct ga_update_record ga_engine_rig_record(struct ga_engine_rig *rig)
{
    struct ga_update_record record;

    ga_test_ok(ga_engine_call(rig->engine, get_record, &record));
    return record;
}

struct ga_history_info ga_engine_rig_history(struct ga_engine_rig *rig)
{
    struct ga_history_info info;

    ga_engine_history(rig->engine, &info);
    return info;
}

struct weight_request {
    size_t position;
    float value;
};

static int get_weight(struct ga_run *run, void *arg)
{
    struct weight_request *request = arg;

    request->value = ga_run_version(run)->weights[request->position];
    return GA_OK;
}

float ga_engine_rig_weight(struct ga_engine_rig *rig, size_t position)
{
    struct weight_request request = {position, 0};

    ga_test_ok(ga_engine_call(rig->engine, get_weight, &request));
    return request.value;
}
