/*
 * Bursts change nothing that can be seen: a run that makes them beside its twin that somebody
 * watches update by update. Weights, counters, records, events, jumps into the middle of one, and
 * where conditions stop.
 */
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "train/support/engine_rig.h"

#define FAST "numerics fast replicas 1 accum 1 batch 50 "

struct twins {
    struct ga_engine_rig quick, slow;
};

static void see(void *self, struct ga_run *run, const struct ga_update_record *record)
{
    (void)self;
    (void)run;
    (void)record;
}

static void open_twins(struct twins *twins, const struct ga_test_start *start)
{
    static int nobody;
    struct ga_observer observer = {.update = see, .self = &nobody};

    ga_engine_rig_open(&twins->quick, start);
    ga_engine_rig_open(&twins->slow, start);
    ga_test_ok(ga_engine_observe(twins->slow.engine, &observer));
}

static void close_twins(struct twins *twins)
{
    ga_engine_rig_close(&twins->quick);
    ga_engine_rig_close(&twins->slow);
}

static void set_both(struct twins *twins, const char *words)
{
    ga_engine_rig_set(&twins->quick, words);
    ga_engine_rig_set(&twins->slow, words);
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void check_record(const struct ga_update_record *a, const struct ga_update_record *b)
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

struct list {
    char *item; /* (count) of `bytes` */
    size_t bytes, count, capacity;
};

static int add(struct list *list, const void *item)
{
    if (ga_grow((void **)&list->item, &list->capacity, (list->count + 1), list->bytes) < 0)
        return ga_error_code();
    memcpy(list->item + list->count++ * list->bytes, item, list->bytes);
    return GA_OK;
}

static int add_record(const struct ga_update_record *record, void *arg)
{
    return add(arg, record);
}

static int add_event(const struct ga_event *event, void *arg)
{
    return add(arg, event);
}

static void check_records(struct twins *twins)
{
    struct list quick = {.bytes = sizeof(struct ga_update_record)}, slow = quick;

    ga_test_ok(ga_engine_records(twins->quick.engine, add_record, &quick));
    ga_test_ok(ga_engine_records(twins->slow.engine, add_record, &slow));
    assert_int_equal(quick.count, slow.count);
    for (size_t k = 0; k < slow.count; k++)
        check_record((struct ga_update_record *)(void *)quick.item + k,
                     (struct ga_update_record *)(void *)slow.item + k);
    free(quick.item);
    free(slow.item);
}

static void check_events(struct twins *twins, size_t most)
{
    struct list quick = {.bytes = sizeof(struct ga_event)}, slow = quick;

    ga_test_ok(ga_engine_events(twins->quick.engine, most, add_event, &quick));
    ga_test_ok(ga_engine_events(twins->slow.engine, most, add_event, &slow));
    assert_int_equal(quick.count, slow.count);
    for (size_t k = 0; k < slow.count; k++)
        check_event((struct ga_event *)(void *)quick.item + k,
                    (struct ga_event *)(void *)slow.item + k);
    free(quick.item);
    free(slow.item);
}

static void check_counters(struct twins *twins)
{
    const struct ga_counters quick = ga_engine_rig_counters(&twins->quick);
    const struct ga_counters slow = ga_engine_rig_counters(&twins->slow);

    assert_memory_equal(&quick, &slow, sizeof quick);
}

/* Every metric, of the run and of the replica; but for the rate by the wall clock. */
static void check_metrics(struct twins *twins)
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

static void check_alike(struct twins *twins)
{
    static const size_t mosts[] = {1, 3, 7, 8, 40, 3000, 100000};

    assert_int_equal(ga_engine_rig_hash(&twins->quick), ga_engine_rig_hash(&twins->slow));
    check_counters(twins);
    check_metrics(twins);
    check_records(twins);
    for (size_t k = 0; k < sizeof mosts / sizeof mosts[0]; k++)
        check_events(twins, mosts[k]);
}

static void go_both(struct twins *twins, enum ga_move_kind kind, uint64_t count)
{
    ga_engine_rig_go(&twins->quick, kind, count);
    ga_engine_rig_go(&twins->slow, kind, count);
    check_alike(twins);
}

/* Far fewer states than updates: there were bursts at all. */
static void check_bursts(struct twins *twins, bool expected)
{
    const struct ga_history_info quick = ga_engine_rig_history(&twins->quick);
    const struct ga_history_info slow = ga_engine_rig_history(&twins->slow);

    assert_int_equal(quick.states < slow.states, expected);
    assert_int_equal(quick.records, slow.records);
    assert_int_equal(quick.events, slow.events);
}

static void test_same_run(void **state)
{
    static const char *const settings[] = {
        FAST,
        FAST "optimizer adam lr 0.01",
        FAST "momentum 0.9 nesterov on lr 0.01",
        FAST "model 1-3-1 lr 0.01",
        FAST "model 1-9-1 order file",
        FAST "base 3ms per-example 10us",
    };

    (void)state;
    for (size_t k = 0; k < sizeof settings / sizeof settings[0]; k++) {
        struct twins twins;

        open_twins(&twins, &(struct ga_test_start){.threads = 1, .settings = settings[k]});
        go_both(&twins, GA_MOVE_UPDATES, 1300);
        check_bursts(&twins, true);
        go_both(&twins, GA_MOVE_EVENTS, 3);
        go_both(&twins, GA_MOVE_EPOCHS, 700);
        close_twins(&twins);
    }
}

/* What does not repeat is made update by update: it is the same in any case. */
static void test_what_does_not_repeat(void **state)
{
    static const char *const settings[] = {
        FAST "jitter exponential",
        FAST "schedule cosine(500)",
        FAST "clip 0.5",
        FAST "tail wrap",
        FAST "reduce sum lr 0.0001",
        FAST "warmup 100",
        "numerics fast accum 1 batch 25",
        "numerics fast replicas 1 accum 1 batch 20",
        FAST "accum 2",
        FAST "mode async",
    };

    (void)state;
    for (size_t k = 0; k < sizeof settings / sizeof settings[0]; k++) {
        struct twins twins;

        open_twins(&twins, &(struct ga_test_start){.threads = 1, .settings = settings[k]});
        go_both(&twins, GA_MOVE_UPDATES, 400);
        check_bursts(&twins, false);
        close_twins(&twins);
    }
}

/* No burst is so long that a pause would wait for it: with much data there is none. */
static void test_much_data(void **state)
{
    struct twins twins;

    (void)state;
    open_twins(&twins, &(struct ga_test_start){
                           .threads = 1,
                           .data = "parabola n=100000",
                           .settings = "numerics fast replicas 1 accum 1 batch 100000 lr 0.01"});
    go_both(&twins, GA_MOVE_UPDATES, 30);
    check_bursts(&twins, false);
    close_twins(&twins);
}

/* Back into the middle of a burst, forward over it again, and another way from there. */
static void test_jumps_into_a_burst(void **state)
{
    struct twins twins;
    struct ga_change change;

    (void)state;
    open_twins(&twins, &(struct ga_test_start){.threads = 1, .settings = FAST});
    go_both(&twins, GA_MOVE_UPDATES, 2000);
    go_both(&twins, GA_MOVE_BACK_UPDATES, 333);
    go_both(&twins, GA_MOVE_BACK_EVENTS, 4);
    go_both(&twins, GA_MOVE_GOTO, 1234);
    go_both(&twins, GA_MOVE_UPDATES, 100);
    set_both(&twins, "lr 0.02");
    go_both(&twins, GA_MOVE_UPDATES, 1100);
    go_both(&twins, GA_MOVE_GOTO, 700);
    go_both(&twins, GA_MOVE_UPDATES, 2500);
    ga_test_ok(ga_engine_slow(twins.quick.engine, 0, 3, &change));
    ga_test_ok(ga_engine_slow(twins.slow.engine, 0, 3, &change));
    go_both(&twins, GA_MOVE_UPDATES, 900);
    ga_test_ok(ga_engine_fork(twins.quick.engine, "b"));
    ga_test_ok(ga_engine_fork(twins.slow.engine, "b"));
    ga_test_ok(ga_engine_use(twins.quick.engine, "b"));
    ga_test_ok(ga_engine_use(twins.slow.engine, "b"));
    go_both(&twins, GA_MOVE_GOTO, 3500);
    close_twins(&twins);
}

static int capture(struct ga_run *run, void *arg)
{
    return ga_run_capture(run, arg);
}

/* A state that was loaded has no update before it in the history. */
static void test_after_a_load(void **state)
{
    struct twins twins;
    struct ga_state kept;

    (void)state;
    open_twins(&twins, &(struct ga_test_start){.threads = 1, .settings = FAST});
    go_both(&twins, GA_MOVE_UPDATES, 1500);
    ga_test_ok(ga_engine_call(twins.quick.engine, capture, &kept));
    go_both(&twins, GA_MOVE_UPDATES, 700);
    ga_test_ok(ga_engine_load(twins.quick.engine, &kept));
    ga_test_ok(ga_engine_load(twins.slow.engine, &kept));
    go_both(&twins, GA_MOVE_UPDATES, 800);
    check_bursts(&twins, true);
    ga_state_fini(&kept);
    close_twins(&twins);
}

static uint64_t ignores(void *self, const struct ga_run *run)
{
    (void)self;
    return 99 - ga_run_counters(run)->updates % 100;
}

static void see_hundreds(void *self, struct ga_run *run, const struct ga_update_record *record)
{
    (void)run;
    *(uint64_t *)self += record->update % 100 == 0;
}

/* Somebody who looks at every hundredth update sees them all, in the midst of bursts. */
static void test_observers_that_ignore_some(void **state)
{
    uint64_t hundreds = 0;
    struct ga_observer observer = {.update = see_hundreds, .ignores = ignores, .self = &hundreds};
    struct twins twins;

    (void)state;
    open_twins(&twins, &(struct ga_test_start){.threads = 1, .settings = FAST});
    ga_test_ok(ga_engine_observe(twins.quick.engine, &observer));
    go_both(&twins, GA_MOVE_UPDATES, 2050);
    assert_int_equal(hundreds, 20);
    check_bursts(&twins, true);
    close_twins(&twins);
}

static void check_no_holes(const struct list *list)
{
    const struct ga_update_record *record = (const void *)list->item;

    for (size_t k = 1; k < list->count; k++)
        assert_int_equal(record[k].update, record[k - 1].update + 1);
}

/* With little room the oldest records and events go, and the newest stay right. */
static void test_little_room(void **state)
{
    struct twins twins;
    struct list quick = {.bytes = sizeof(struct ga_update_record)}, slow = quick;

    (void)state;
    open_twins(&twins,
               &(struct ga_test_start){.threads = 1, .settings = FAST "history-budget 1MiB"});
    ga_engine_rig_go(&twins.quick, GA_MOVE_UPDATES, 20000);
    ga_engine_rig_go(&twins.slow, GA_MOVE_UPDATES, 20000);
    ga_test_ok(ga_engine_records(twins.quick.engine, add_record, &quick));
    ga_test_ok(ga_engine_records(twins.slow.engine, add_record, &slow));
    assert_true(quick.count > 256 && slow.count > 256 && quick.count < 20000);
    check_no_holes(&quick);
    check_no_holes(&slow);
    assert_int_equal(quick.count, ga_engine_rig_history(&twins.quick).records);
    for (size_t k = 1; k <= (quick.count < slow.count ? quick.count : slow.count); k++)
        check_record((struct ga_update_record *)(void *)quick.item + quick.count - k,
                     (struct ga_update_record *)(void *)slow.item + slow.count - k);
    check_events(&twins, 500);
    free(quick.item);
    free(slow.item);
    close_twins(&twins);
}

/* Holds while the loss is below a limit, as rows tell it. */
struct below {
    double limit;
    bool blind; /* does not say what rows tell */
};

static bool below_holds(const void *self, struct ga_run *run)
{
    const struct ga_update_record *record = ga_run_last_record(run);

    return record && record->loss < ((const struct below *)self)->limit;
}

static size_t below_scan(const void *self, const struct ga_burst_rows *rows, bool held)
{
    size_t k = 0;

    while (k < rows->count && (rows->row[k].loss < ((const struct below *)self)->limit) == held)
        k++;
    return k;
}

static struct ga_condition condition(struct below *below)
{
    return (struct ga_condition){.holds = below_holds,
                                 .scan = below->blind ? NULL : below_scan,
                                 .self = below,
                                 .text = "below"};
}

static void check_stop(struct twins *twins, const struct ga_move *move, enum ga_stop_reason reason)
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
    check_alike(twins);
}

static void test_conditions_stop_where_they_would(void **state)
{
    struct below seen = {0.5, false}, later = {0.05, false}, blind = {0.03, true};
    const struct ga_condition conditions[] = {condition(&seen), condition(&later),
                                              condition(&blind)};
    const struct ga_move until = {.kind = GA_MOVE_UNTIL, .until = condition(&seen)};
    const struct ga_move on = {.kind = GA_MOVE_UPDATES, .count = 100000};
    struct twins twins;

    (void)state;
    open_twins(&twins, &(struct ga_test_start){.threads = 1, .settings = FAST});
    check_stop(&twins, &until, GA_STOP_DONE);
    check_bursts(&twins, ga_engine_rig_counters(&twins.slow).updates > 20);
    for (size_t k = 1; k < 3; k++) {
        ga_test_ok(ga_engine_break_add(twins.quick.engine, &conditions[k]));
        ga_test_ok(ga_engine_break_add(twins.slow.engine, &conditions[k]));
        check_stop(&twins, &on, GA_STOP_BREAK);
    }
    close_twins(&twins);
}

/* A rate that blows up: stopped at the same window, named alike, and weights as before it. */
static void test_what_is_not_finite_stops(void **state)
{
    const struct ga_move on = {.kind = GA_MOVE_FOREVER};
    struct twins twins;

    (void)state;
    open_twins(&twins, &(struct ga_test_start){
                           .threads = 1, .settings = FAST "activation relu lr 1000000 init he"});
    check_stop(&twins, &on, GA_STOP_NONFINITE);
    set_both(&twins, "lr 0.01");
    close_twins(&twins);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_run),
        cmocka_unit_test(test_what_does_not_repeat),
        cmocka_unit_test(test_much_data),
        cmocka_unit_test(test_jumps_into_a_burst),
        cmocka_unit_test(test_after_a_load),
        cmocka_unit_test(test_observers_that_ignore_some),
        cmocka_unit_test(test_little_room),
        cmocka_unit_test(test_conditions_stop_where_they_would),
        cmocka_unit_test(test_what_is_not_finite_stops),
    };

    return ga_test_main(tests);
}
