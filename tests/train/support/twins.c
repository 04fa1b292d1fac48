#include "train/support/twins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "support/support.h"

static void see(void *self, struct ga_run *run, const struct ga_update_record *record)
{
    (void)self;
    (void)run;
    (void)record;
}

void ga_twins_open(struct ga_twins *twins, const struct ga_test_start *start)
{
    static int nobody;
    struct ga_observer observer = {.update = see, .self = &nobody};

    ga_engine_rig_open(&twins->quick, start);
    ga_engine_rig_open(&twins->slow, start);
    ga_test_ok(ga_engine_observe(twins->slow.engine, &observer));
}

void ga_twins_close(struct ga_twins *twins)
{
    ga_engine_rig_close(&twins->quick);
    ga_engine_rig_close(&twins->slow);
}

void ga_twins_set(struct ga_twins *twins, const char *words)
{
    ga_engine_rig_set(&twins->quick, words);
    ga_engine_rig_set(&twins->slow, words);
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

void ga_check_record(const struct ga_update_record *a, const struct ga_update_record *b)
{
    assert_int_equal(a->update, b->update);
    assert_int_equal(a->epoch, b->epoch);
    assert_int_equal(a->examples, b->examples);
    assert_int_equal(a->micros, b->micros);
    assert_int_equal(a->skipped, b->skipped);
    assert_int_equal(a->dropped, b->dropped);
    assert_int_equal(a->bytes, b->bytes);
    assert_int_equal(a->time_ns, b->time_ns);
    assert_int_equal(a->window_examples, b->window_examples);
    assert_int_equal(a->window_micros, b->window_micros);
    assert_int_equal(a->pushes, b->pushes);
    assert_int_equal(a->stale, b->stale);
    assert_int_equal(a->lost, b->lost);
    assert_int_equal(a->staleness, b->staleness);
    assert_int_equal(a->replica, b->replica);
    assert_int_equal(a->applied, b->applied);
    assert_int_equal(a->mode, b->mode);
    assert_true(same(a->window_weight, b->window_weight) && same(a->loss, b->loss));
    assert_true(same(a->grad_norm, b->grad_norm) && same(a->clip_scale, b->clip_scale));
    assert_true(same(a->lr, b->lr) && same(a->scale, b->scale));
    assert_true(same(a->update_norm, b->update_norm) && same(a->param_norm, b->param_norm));
    assert_true(same(a->noise_trace, b->noise_trace) && same(a->noise_signal, b->noise_signal));
}

static void check_event(const struct ga_event *a, const struct ga_event *b)
{
    assert_int_equal(a->sequence, b->sequence);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->time_ns, b->time_ns);
    assert_int_equal(a->start_ns, b->start_ns);
    assert_int_equal(a->update, b->update);
    assert_int_equal(a->version, b->version);
    assert_int_equal(a->examples, b->examples);
    assert_int_equal(a->replica, b->replica);
    assert_int_equal(a->micro, b->micro);
    assert_int_equal(a->micros, b->micros);
    assert_true(same(a->loss, b->loss) && same(a->norm, b->norm));
    assert_true(same(a->weight, b->weight) && same(a->value, b->value));
}

static int add(struct ga_list *list, const void *item)
{
    if (ga_grow((void **)&list->item, &list->capacity, (list->count + 1), list->bytes) < 0)
        return ga_error_code();
    memcpy(list->item + list->count++ * list->bytes, item, list->bytes);
    return GA_OK;
}

int ga_list_record(const struct ga_update_record *record, void *list)
{
    return add(list, record);
}

static int add_event(const struct ga_event *event, void *arg)
{
    return add(arg, event);
}

static void check_records(struct ga_twins *twins)
{
    struct ga_list quick = {.bytes = sizeof(struct ga_update_record)}, slow = quick;

    ga_test_ok(ga_engine_records(twins->quick.engine, ga_list_record, &quick));
    ga_test_ok(ga_engine_records(twins->slow.engine, ga_list_record, &slow));
    assert_int_equal(quick.count, slow.count);
    for (size_t k = 0; k < slow.count; k++)
        ga_check_record((struct ga_update_record *)(void *)quick.item + k,
                        (struct ga_update_record *)(void *)slow.item + k);
    free(quick.item);
    free(slow.item);
}

void ga_twins_check_events(struct ga_twins *twins, size_t most)
{
    struct ga_list quick = {.bytes = sizeof(struct ga_event)}, slow = quick;

    ga_test_ok(ga_engine_events(twins->quick.engine, most, add_event, &quick));
    ga_test_ok(ga_engine_events(twins->slow.engine, most, add_event, &slow));
    assert_int_equal(quick.count, slow.count);
    for (size_t k = 0; k < slow.count; k++)
        check_event((struct ga_event *)(void *)quick.item + k,
                    (struct ga_event *)(void *)slow.item + k);
    free(quick.item);
    free(slow.item);
}

void ga_twins_check_counters(struct ga_twins *twins)
{
    const struct ga_counters quick = ga_engine_rig_counters(&twins->quick);
    const struct ga_counters slow = ga_engine_rig_counters(&twins->slow);

    assert_memory_equal(&quick, &slow, sizeof quick);
}

void ga_twins_check_metrics(struct ga_twins *twins)
{
    for (int m = 0; m < GA_METRIC_COUNT; m++) {
        const struct ga_metric_info *info = ga_metric_info((enum ga_metric)m);

        if (m == GA_METRIC_EXAMPLE_RATE)
            continue;
        for (int32_t r = info->of_run ? -1 : 0; r < (info->of_replica ? 1 : 0); r++)
            if (!same(ga_engine_rig_metric(&twins->quick, (enum ga_metric)m, r),
                      ga_engine_rig_metric(&twins->slow, (enum ga_metric)m, r)))
                fail_msg("%s of %d differs", info->name, (int)r);
    }
}

static void ga_twins_check(struct ga_twins *twins)
{
    static const size_t mosts[] = {1, 3, 7, 8, 40, 3000, 100000};

    assert_int_equal(ga_engine_rig_hash(&twins->quick), ga_engine_rig_hash(&twins->slow));
    ga_twins_check_counters(twins);
    ga_twins_check_metrics(twins);
    check_records(twins);
    for (size_t k = 0; k < sizeof mosts / sizeof mosts[0]; k++)
        ga_twins_check_events(twins, mosts[k]);
}

void ga_twins_go(struct ga_twins *twins, enum ga_move_kind kind, uint64_t count)
{
    ga_engine_rig_go(&twins->quick, kind, count);
    ga_engine_rig_go(&twins->slow, kind, count);
    ga_twins_check(twins);
}

void ga_twins_stop(struct ga_twins *twins, const struct ga_move *move, enum ga_stop_reason reason)
{
    struct ga_engine_rig *rigs[] = {&twins->quick, &twins->slow};
    struct ga_stop stop[2];

    for (size_t k = 0; k < 2; k++) {
        uint64_t ticket = 0;

        ga_test_ok(ga_engine_move(rigs[k]->engine, move, &ticket));
        stop[k] = ga_engine_rig_wait(rigs[k], ticket);
        assert_int_equal(stop[k].reason, reason);
    }
    assert_int_equal(stop[0].updates, stop[1].updates);
    ga_twins_check(twins);
}

void ga_twins_check_bursts(struct ga_twins *twins, bool expected)
{
    const struct ga_history_info quick = ga_engine_rig_history(&twins->quick);
    const struct ga_history_info slow = ga_engine_rig_history(&twins->slow);

    assert_int_equal(quick.states < slow.states, expected);
    assert_int_equal(quick.records, slow.records);
    assert_int_equal(quick.events, slow.events);
}
