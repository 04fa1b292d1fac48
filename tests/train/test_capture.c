/* A run stopped at any event and restored elsewhere goes on with the same events and the same bits.
 */
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "train/run_internal.h"
#include "train/support/run_rig.h"

struct track {
    struct ga_event *event;
    size_t count, capacity;
};

static void keep_event(void *self, const struct ga_event *event)
{
    struct track *track = self;

    ga_test_ok(
        ga_grow((void **)&track->event, &track->capacity, track->count + 1, sizeof *track->event));
    track->event[track->count++] = *event;
}

static bool same_double(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static bool same_event(const struct ga_event *a, const struct ga_event *b)
{
    return a->sequence == b->sequence && a->time_ns == b->time_ns && a->start_ns == b->start_ns &&
           a->update == b->update && a->version == b->version && same_double(a->loss, b->loss) &&
           same_double(a->norm, b->norm) && same_double(a->weight, b->weight) &&
           same_double(a->value, b->value) && a->examples == b->examples &&
           a->replica == b->replica && a->micro == b->micro && a->micros == b->micros &&
           a->kind == b->kind;
}

/* What a run is, apart from its events. */
struct figures {
    uint64_t hash;
    struct ga_counters counters;
    int64_t now_ns, spent_ns;
    double metric[GA_METRIC_COUNT];
};

static struct figures figures_of(struct ga_run_rig *rig)
{
    struct figures figures;

    memset(&figures, 0, sizeof figures);
    figures.hash = ga_run_hash(rig->run);
    figures.counters = *ga_run_counters(rig->run);
    figures.now_ns = ga_run_now(rig->run);
    figures.spent_ns = ga_run_rig_spent(rig);
    for (int k = 0; k < GA_METRIC_COUNT; k++)
        if (k != GA_METRIC_EXAMPLE_RATE)
            figures.metric[k] = ga_run_metric(rig->run, (enum ga_metric)k, -1);
    return figures;
}

struct scenario {
    struct ga_test_start start;
    const char *change; /* set at event `change_at`; NULL: nothing */
    uint64_t change_at, events;
};

static void advance(struct ga_run_rig *rig, const struct scenario *scenario)
{
    if (scenario->change && ga_run_counters(rig->run)->events == scenario->change_at)
        ga_test_ok(ga_run_rig_set(rig, scenario->change));
    ga_run_rig_events(rig, 1);
}

static void run_to_end(struct ga_run_rig *rig, const struct scenario *scenario)
{
    while (ga_run_counters(rig->run)->events < scenario->events)
        advance(rig, scenario);
}

/* Goes on from `state` in `rig`: from the event that follows all is as in the track. */
static void check_rest(struct ga_run_rig *rig, const struct scenario *scenario,
                       const struct ga_state *state, const struct track *whole,
                       const struct figures *end)
{
    struct track rest = {NULL, 0, 0};
    struct figures figures;
    size_t behind = 0;

    ga_test_ok(ga_run_restore(rig->run, state));
    ga_run_watch(rig->run, keep_event, NULL, &rest);
    while (behind < whole->count && whole->event[behind].sequence <= state->counters.events)
        behind++;
    run_to_end(rig, scenario);
    assert_int_equal(rest.count, whole->count - behind);
    for (size_t k = 0; k < rest.count; k++)
        assert_true(same_event(&rest.event[k], &whole->event[behind + k]));
    figures = figures_of(rig);
    assert_memory_equal(&figures, end, sizeof figures);
    ga_run_watch(rig->run, NULL, NULL, NULL);
    free(rest.event);
}

/* Captures before each event; each state goes on in a fresh run and in one that has run on. */
static void check_scenario(const struct scenario *scenario, uint64_t stride)
{
    struct ga_state *state = ga_alloc((size_t)scenario->events, sizeof *state);
    struct track whole = {NULL, 0, 0};
    struct ga_run_rig rig, fresh;
    struct figures end;

    assert_non_null(state);
    ga_run_rig_open(&rig, &scenario->start);
    ga_run_watch(rig.run, keep_event, NULL, &whole);
    for (uint64_t k = 0; k < scenario->events; k++) {
        if (scenario->change && scenario->change_at == ga_run_counters(rig.run)->events)
            ga_test_ok(ga_run_rig_set(&rig, scenario->change));
        ga_test_ok(ga_run_capture(rig.run, &state[k]));
        assert_true(ga_state_bytes(&state[k]) > 0);
        ga_run_rig_events(&rig, 1);
    }
    end = figures_of(&rig);
    for (uint64_t k = 0; k < scenario->events; k += stride) {
        ga_run_rig_open(&fresh, &scenario->start);
        check_rest(&fresh, scenario, &state[k], &whole, &end);
        ga_run_rig_close(&fresh);
        check_rest(&rig, scenario, &state[k], &whole, &end);
    }
    ga_run_rig_close(&rig);
    for (uint64_t k = 0; k < scenario->events; k++)
        ga_state_fini(&state[k]);
    free(state);
    free(whole.event);
}

static const struct scenario scenarios[] = {
    {.start = {.data = "parabola n=17", .settings = "replicas 3 accum 2 batch 2 lr 0.01"},
     .events = 120},
    {.start = {.data = "parabola n=17",
               .settings = "replicas 4 accum 2 batch 2 lr 0.01 backup 2 late finish jitter "
                           "exponential momentum 0.9"},
     .events = 160},
    {.start = {.data = "parabola n=17",
               .settings = "replicas 4 accum 3 batch 1 lr 0.01 backup 1 jitter lognormal(0.8) "
                           "sharding strided order shuffle"},
     .events = 160},
    {.start = {.data = "parabola n=17",
               .settings = "replicas 3 accum 2 global 5 lr 0.01 sharding contiguous tail wrap "
                           "optimizer adam clip 0.5 latency 1ms bandwidth 1MB/s"},
     .events = 120},
    {.start = {.data = "parabola n=17",
               .settings = "replicas 3 accum 2 batch 2 lr 0.01 backup 1 late finish base 2ms "
                           "jitter straggler(0.5,9)"},
     .change = "replicas 5 accum 1 backup 2 optimizer adamw sharding strided",
     .change_at = 33,
     .events = 140},
    {.start = {.data = "parabola n=17", .settings = "replicas 5 accum 1 batch 2 lr 0.01"},
     .change = "replicas 2 accum 3 momentum 0.9 tail drop",
     .change_at = 40,
     .events = 120},
    {.start = {.data = "parabola n=17",
               .settings = "replicas 3 accum 2 batch 2 lr 0.01 mode async scale rescaled jitter "
                           "exponential latency 1ms server-time 500us"},
     .events = 100},
    {.start = {.data = "parabola n=17",
               .settings = "replicas 4 accum 1 batch 2 lr 0.01 mode ssp bound 1 sharding strided "
                           "jitter lognormal(0.7) momentum 0.9"},
     .events = 100},
    {.start = {.data = "parabola n=17",
               .settings = "replicas 4 accum 2 batch 2 lr 0.01 mode buffered buffer 3 jitter "
                           "exponential optimizer adam"},
     .events = 100},
    {.start = {.data = "parabola n=17",
               .settings = "replicas 3 accum 2 batch 2 lr 0.01 mode local period 3 momentum 0.9 "
                           "outer nesterov(0.7,0.9) jitter exponential"},
     .events = 120},
    {.start = {.data = "parabola n=17",
               .settings = "replicas 2 accum 2 batch 2 lr 0.01 mode delay lag 3"},
     .events = 120},
    {.start = {.data = "parabola n=17",
               .settings = "replicas 3 accum 2 batch 2 lr 0.01 mode hogwild jitter exponential"},
     .events = 100},
    {.start = {.data = "parabola n=17",
               .settings = "replicas 3 accum 2 batch 2 lr 0.01 mode async late finish jitter "
                           "exponential"},
     .change = "mode hogwild replicas 4",
     .change_at = 30,
     .events = 120},
    {.start = {.data = "parabola n=17",
               .settings = "replicas 4 accum 1 batch 2 lr 0.001 mode hogwild late finish latency "
                           "1ms"},
     .change = "mode delay lag 2 accum 3",
     .change_at = 23,
     .events = 100},
    {.start = {.csv = "lambda_1,c_1,w\n1,0,1\n3e38,-1,1\n1,2,0\n1,2,0.5\n",
               .data = "kind=quadratic weight=w",
               .settings = "replicas 2 accum 1 batch 1 nonfinite skip lr 0.1 optimizer adam"},
     .events = 100},
};

static void test_restored_at_every_event(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof scenarios / sizeof *scenarios; k++)
        check_scenario(&scenarios[k], 1 + (100 - ga_test_count(100)) / 20);
}

/* The same with micro-batches under way on worker threads. */
static void test_restored_with_workers(void **state)
{
    const struct scenario scenario = {
        .start = {.data = "parabola n=1024",
                  .settings = "model 1-96-96-1 replicas 3 accum 2 batch 64 lr 0.001 backup 1 "
                              "late finish jitter exponential",
                  .threads = 3},
        .events = 60,
    };
    struct ga_run_rig rig;

    (void)state;
    ga_run_rig_open(&rig, &scenario.start);
    assert_true(rig.run->parallel);
    ga_run_rig_close(&rig);
    check_scenario(&scenario, 7);
}

/* A flushed and a discarded window are states like others. */
static void test_restored_after_flush_and_discard(void **state)
{
    const struct ga_test_start start = {.settings = "replicas 3 accum 3 batch 2 lr 0.01"};
    struct ga_run_rig rig, other;
    struct ga_state kept;

    (void)state;
    for (int discard = 0; discard < 2; discard++) {
        ga_run_rig_open(&rig, &start);
        ga_run_rig_updates(&rig, 2);
        ga_run_rig_micros(&rig, 4);
        ga_test_ok(discard ? ga_run_discard(rig.run) : ga_run_flush(rig.run));
        for (int events = 0; events < 8; events++) {
            ga_test_ok(ga_run_capture(rig.run, &kept));
            ga_run_rig_open(&other, &start);
            ga_test_ok(ga_run_restore(other.run, &kept));
            ga_state_fini(&kept);
            ga_run_rig_events(&rig, 1);
            ga_run_rig_events(&other, 1);
            assert_true(same_event(ga_run_last_event(rig.run), ga_run_last_event(other.run)));
            ga_run_rig_updates(&other, 3);
            ga_run_rig_close(&other);
        }
        ga_run_rig_updates(&rig, 3);
        ga_run_rig_close(&rig);
    }
}

/* Weights and settings of a captured state do not move with the run. */
static void test_a_state_is_a_value(void **state)
{
    struct ga_run_rig rig;
    struct ga_state kept;
    uint64_t hash = 0;

    (void)state;
    ga_run_rig_open(&rig, &(struct ga_test_start){.settings = "optimizer adam"});
    ga_run_rig_updates(&rig, 3);
    ga_run_rig_micros(&rig, 3);
    hash = ga_run_hash(rig.run);
    ga_test_ok(ga_run_capture(rig.run, &kept));
    ga_test_ok(ga_run_rig_set(&rig, "lr 0.5 log-every 4"));
    ga_run_rig_updates(&rig, 5);
    assert_true(kept.settings->value.lr == 0.01);
    assert_int_equal(kept.settings->value.log_every, 1);
    assert_int_not_equal(ga_run_hash(rig.run), hash);
    ga_test_ok(ga_run_restore(rig.run, &kept));
    assert_int_equal(ga_run_hash(rig.run), hash);
    ga_state_fini(&kept);
    ga_run_rig_close(&rig);
}

static void test_a_state_of_another_model_is_refused(void **state)
{
    struct ga_run_rig rig, other;
    struct ga_state kept;
    uint64_t hash = 0;

    (void)state;
    ga_run_rig_open(&rig, &(struct ga_test_start){.settings = "model 1-6-1"});
    ga_run_rig_micros(&rig, 3);
    ga_test_ok(ga_run_capture(rig.run, &kept));
    ga_run_rig_open(&other, &(struct ga_test_start){.settings = NULL});
    ga_run_rig_micros(&other, 3);
    hash = ga_run_hash(other.run);
    ga_test_refused(ga_run_restore(other.run, &kept), GA_EINPUT, "19 parameters");
    assert_int_equal(ga_run_hash(other.run), hash);
    assert_int_equal(ga_run_counters(other.run)->micros, 3);
    ga_run_rig_updates(&other, 2);
    ga_state_fini(&kept);
    ga_run_rig_close(&other);
    ga_run_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_restored_at_every_event),
        cmocka_unit_test(test_restored_with_workers),
        cmocka_unit_test(test_restored_after_flush_and_discard),
        cmocka_unit_test(test_a_state_is_a_value),
        cmocka_unit_test(test_a_state_of_another_model_is_refused),
    };

    return ga_test_main(tests);
}
