#include "train/support/run_rig.h"

#include "support/support.h"

void ga_run_rig_open(struct ga_run_rig *rig, const struct ga_test_start *start)
{
    struct ga_run_start open = {
        .data = ga_test_start_data(start),
        .weights = start->weights,
        .weights_count = start->weights_count,
    };

    *rig = (struct ga_run_rig){NULL, NULL};
    ga_test_start_settings(start, &open.settings);
    if (start->threads > 0)
        ga_test_ok(ga_workers_open(&rig->workers, start->threads));
    open.workers = rig->workers;
    ga_test_ok(ga_run_open(&rig->run, &open));
    ga_dataset_close(open.data);
}

void ga_run_rig_close(struct ga_run_rig *rig)
{
    ga_run_close(rig->run);
    ga_workers_close(rig->workers);
}

void ga_run_rig_events(struct ga_run_rig *rig, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        ga_test_ok(ga_run_event(rig->run));
}

uint64_t ga_run_rig_closed(const struct ga_run_rig *rig)
{
    const struct ga_counters *counters = ga_run_counters(rig->run);

    return counters->updates + counters->skipped;
}

void ga_run_rig_updates(struct ga_run_rig *rig, uint64_t count)
{
    uint64_t target = ga_run_rig_closed(rig) + count;

    while (ga_run_rig_closed(rig) < target || !ga_run_at_boundary(rig->run))
        ga_run_rig_events(rig, 1);
}

void ga_run_rig_micros(struct ga_run_rig *rig, uint64_t count)
{
    uint64_t target = ga_run_counters(rig->run)->micros + count;

    while (ga_run_counters(rig->run)->micros < target)
        ga_run_rig_events(rig, 1);
}

void ga_run_rig_until(struct ga_run_rig *rig, enum ga_event_kind kind)
{
    do
        ga_run_rig_events(rig, 1);
    while (ga_run_last_event(rig->run)->kind != kind);
}

int ga_run_rig_set(struct ga_run_rig *rig, const char *words)
{
    struct ga_settings draft = *ga_run_pending(rig->run);

    ga_test_ok(ga_test_read_settings(&draft, words));
    return ga_run_change(rig->run, &draft);
}

double ga_run_rig_dataset_loss(struct ga_run_rig *rig)
{
    return ga_run_metric(rig->run, GA_METRIC_DATASET_LOSS, -1);
}

float ga_run_rig_weight(const struct ga_run_rig *rig, size_t position)
{
    const struct ga_version *version = ga_run_version(rig->run);

    assert_true(position < version->parameters);
    return version->weights[position];
}

static int64_t spent_by(const struct ga_replica_value *v, int64_t now)
{
    bool works = v->state == GA_REPLICA_BUSY || v->state == GA_REPLICA_LATE;

    return v->busy_ns + v->idle_ns + v->communication_ns + now - (works ? v->start_ns : v->free_ns);
}

int64_t ga_run_rig_spent(const struct ga_run_rig *rig)
{
    int64_t sum = 0;

    for (size_t r = 0; r < ga_run_replicas(rig->run); r++)
        sum += spent_by(ga_run_replica(rig->run, r), ga_run_now(rig->run));
    return sum;
}
