/*
 * The traces of the update modes: every push of an independent event simulation in float64, in the
 * same order, at the same time, with the same version read and staleness; losses and norms 2e-5.
 */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>

#include "train/support/reference.h"
#include "train/support/run_rig.h"

#define COMMON "accum 1 global 50 order file base 10ms per-example 0 lr 0.02 "
#define CLOSE  2e-5

struct trace {
    const char *file, *settings;
    double times_ms[4]; /* of an item of each replica */
    size_t rows;
};

static const struct trace pushes[] = {
    {"async_p4_equal_full", "replicas 4 mode async sharding strided", {10, 10, 10, 10}, 400},
    {"async_p4_equal_share",
     "replicas 4 mode async sharding strided scale share",
     {10, 10, 10, 10},
     400},
    {"async_p4_slow_staleness",
     "replicas 4 mode async sharding strided scale staleness lr 0.05",
     {10, 10, 10, 40},
     400},
    {"async_p3_contiguous_slow_share",
     "replicas 3 mode async sharding contiguous scale share",
     {10, 15, 35},
     300},
    {"ssp_p4_s1_slow", "replicas 4 mode ssp bound 1 sharding strided", {10, 11, 12, 40}, 200},
    {"ssp_p3_s0_share",
     "replicas 3 mode ssp bound 0 sharding strided scale share",
     {10, 11, 13},
     150},
    {"buffered_p4_k2", "replicas 4 mode buffered buffer 2 sharding strided", {10, 12, 15, 19}, 200},
};

static const struct trace updates[] = {
    {"delay3", "replicas 1 mode delay lag 3", {10}, 300},
    {"local_p4_h5_strided",
     "replicas 4 mode local period 5 sharding strided",
     {10, 10, 10, 10},
     100},
    {"local_p3_h5_contiguous",
     "replicas 3 mode local period 5 sharding contiguous",
     {10, 10, 10},
     100},
};

static void open_trace(struct ga_run_rig *rig, const struct trace *trace,
                       struct ga_test_numbers *want, const char *more)
{
    struct ga_net net;
    char words[256], file[64];
    float *weights = NULL;

    ga_test_parabola_net(&net);
    weights = ga_test_reference_weights("parabola/init.safetensors", &net);
    snprintf(words, sizeof words, COMMON "%s %s", trace->settings, more);
    snprintf(file, sizeof file, "modes/%s.csv", trace->file);
    ga_test_numbers_read(want, file);
    ga_run_rig_open(rig, &(struct ga_test_start){.settings = words,
                                                 .weights = weights,
                                                 .weights_count = net.parameters});
    for (size_t r = 0; r < ga_run_replicas(rig->run); r++)
        ga_test_ok(ga_run_slow(rig->run, r, trace->times_ms[r] / 10));
    free(weights);
}

static void keep_push(void *self, const struct ga_event *event)
{
    if (event->kind == GA_EVENT_PUSH)
        *(struct ga_event *)self = *event;
}

enum column { PUSH, TIME_MS, REPLICA, READ, AFTER, STALENESS, EXAMPLES, LOSS, NORM, DATASET_LOSS };

static void check_push(struct ga_run_rig *rig, const struct ga_event *push,
                       const struct ga_test_numbers *want, size_t row)
{
    const double *value = want->value + row * want->columns;

    assert_int_equal(value[PUSH], row + 1);
    assert_int_equal(push->time_ns, (int64_t)(value[TIME_MS] * 1e6));
    assert_int_equal(push->replica, (int32_t)value[REPLICA]);
    assert_int_equal(push->version, (uint64_t)value[READ]);
    assert_int_equal(ga_run_counters(rig->run)->updates, (uint64_t)value[AFTER]);
    assert_int_equal(push->value, value[STALENESS]);
    assert_int_equal(push->examples, (uint32_t)value[EXAMPLES]);
    assert_close(push->loss, value[LOSS], CLOSE);
    assert_close(push->norm, value[NORM], CLOSE);
    assert_close(ga_run_rig_dataset_loss(rig), value[DATASET_LOSS], CLOSE);
}

static void check_pushes(const struct trace *trace)
{
    struct ga_test_numbers want;
    struct ga_event push = {.replica = -1};
    struct ga_run_rig rig;

    open_trace(&rig, trace, &want, "");
    assert_int_equal(want.rows, trace->rows);
    ga_run_watch(rig.run, keep_push, NULL, &push);
    for (size_t row = 0; row < want.rows; row++) {
        while (ga_run_counters(rig.run)->pushes == row)
            ga_run_rig_events(&rig, 1);
        check_push(&rig, &push, &want, row);
    }
    assert_int_equal(ga_run_counters(rig.run)->pushes, want.rows);
    ga_run_rig_close(&rig);
    ga_test_numbers_free(&want);
}

static void test_every_push(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pushes / sizeof *pushes; i++)
        check_pushes(&pushes[i]);
}

static void test_every_update(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof updates / sizeof *updates; i++) {
        struct ga_test_numbers want;
        struct ga_run_rig rig;

        open_trace(&rig, &updates[i], &want, "");
        assert_int_equal(want.rows, updates[i].rows);
        for (size_t row = 0; row < want.rows; row++) {
            ga_run_rig_updates(&rig, 1);
            assert_int_equal(ga_run_counters(rig.run)->updates, ga_test_number(&want, row, 0));
            assert_close(ga_run_rig_dataset_loss(&rig), ga_test_number(&want, row, 1), CLOSE);
        }
        ga_run_rig_close(&rig);
        ga_test_numbers_free(&want);
    }
}

/* An item is A micro-batches on one snapshot: where they are cut changes no bit of a trace. */
static void check_accumulation(const struct trace *trace)
{
    struct ga_test_numbers want;
    struct ga_run_rig whole, parts;

    open_trace(&whole, trace, &want, "");
    ga_test_numbers_free(&want);
    open_trace(&parts, trace, &want, "accum 4");
    ga_run_rig_updates(&whole, 60);
    ga_run_rig_updates(&parts, 60);
    assert_int_equal(ga_run_hash(whole.run), ga_run_hash(parts.run));
    assert_int_equal(ga_run_now(whole.run), ga_run_now(parts.run));
    assert_int_equal(ga_run_counters(whole.run)->staleness, ga_run_counters(parts.run)->staleness);
    assert_true(ga_run_counters(whole.run)->micros < ga_run_counters(parts.run)->micros);
    ga_run_rig_close(&whole);
    ga_run_rig_close(&parts);
    ga_test_numbers_free(&want);
}

static void test_accumulating_changes_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pushes / sizeof *pushes; i++)
        check_accumulation(&pushes[i]);
    for (size_t i = 0; i < sizeof updates / sizeof *updates; i++)
        check_accumulation(&updates[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_push),
        cmocka_unit_test(test_every_update),
        cmocka_unit_test(test_accumulating_changes_nothing),
    };

    return ga_test_main(tests);
}
