/* The parabola runs of tests/data/reference, each under several splits of its window. */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>

#include "train/support/engine_rig.h"
#include "train/support/reference.h"

#define LOSS_TOLERANCE     2e-5
#define GRADIENT_TOLERANCE 2e-6

struct reference {
    const char *name;
    const char *settings;
    int window;
};

/* `%d` is the window. Strided shards take the same rows where the replicas divide it. */
static const char *const splits[] = {
    "replicas 1 accum 1 global %d",
    "replicas 1 accum 7 global %d",
    "replicas 2 accum 5 global %d",
    "replicas 3 accum 2 global %d",
    "replicas 7 accum 3 global %d",
    "replicas 16 accum 1 global %d",
    "replicas 5 accum 1 global %d sharding strided",
    "replicas 2 accum 3 global %d sharding strided",
};

/* Only where the window holds all examples. */
static const char *const full_splits[] = {
    "replicas 2 accum 5 batch 5",
    "replicas 50 accum 1 batch 1",
    "replicas 1 accum 50 batch 1",
    "replicas 5 accum 2 batch 5",
    "replicas 3 accum 2 global 50 sharding contiguous",
    "replicas 8 accum 5 global 50 sharding strided",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void check(const char *where, const char *what, double got, double want, double tolerance)
{
    if (!ga_test_close(got, want, tolerance))
        fail_msg("%s: %s is %.9g, expected %.9g within %g", where, what, got, want, tolerance);
}

static void check_rows(struct ga_engine_rig *rig, const struct ga_test_numbers *want,
                       const char *where)
{
    uint64_t now = 0;

    for (size_t row = 0; row < want->rows; row++) {
        uint64_t update = (uint64_t)ga_test_number(want, row, 0);
        struct ga_update_record record;
        char text[700];

        ga_engine_rig_go(rig, GA_MOVE_UPDATES, update - now);
        now = update;
        record = ga_engine_rig_record(rig);
        snprintf(text, sizeof text, "%s, update %llu", where, (unsigned long long)update);
        assert_int_equal(record.update, update);
        assert_int_equal(record.window_examples, (uint32_t)ga_test_number(want, row, 1));
        check(text, "the window's loss", record.loss, ga_test_number(want, row, 2), LOSS_TOLERANCE);
        check(text, "the gradient's norm", record.grad_norm, ga_test_number(want, row, 3),
              LOSS_TOLERANCE);
        check(text, "the loss over all", ga_engine_rig_metric(rig, GA_METRIC_DATASET_LOSS, -1),
              ga_test_number(want, row, 4), LOSS_TOLERANCE);
    }
}

static int copy_weights(struct ga_run *run, void *arg)
{
    const struct ga_version *version = ga_run_version(run);

    for (size_t i = 0; i < version->parameters; i++)
        ((float *)arg)[i] = version->weights[i];
    return GA_OK;
}

static void check_final(struct ga_engine_rig *rig, const struct ga_net *net, const char *name,
                        const char *where)
{
    float got[16], *want = NULL;
    char path[128];

    assert_int_equal(net->parameters, 16);
    snprintf(path, sizeof path, "parabola/%s.final.safetensors", name);
    want = ga_test_reference_weights(path, net);
    ga_test_ok(ga_engine_call(rig->engine, copy_weights, got));
    if (!(ga_test_distance(got, want, 16) <= LOSS_TOLERANCE))
        fail_msg("%s: the final weights are %g from the reference, expected %g", where,
                 ga_test_distance(got, want, 16), LOSS_TOLERANCE);
    free(want);
}

/* Runs it under one split; returns the hash at the end. */
static uint64_t run_split(const struct reference *reference, const struct ga_test_numbers *want,
                          const char *split)
{
    char settings[256], words[512], where[600];
    struct ga_engine_rig rig;
    struct ga_net net;
    float *weights = NULL;
    uint64_t hash = 0;

    ga_test_parabola_net(&net);
    weights = ga_test_reference_weights("parabola/init.safetensors", &net);
    snprintf(settings, sizeof settings, split, reference->window);
    snprintf(words, sizeof words, "%s %s", reference->settings, settings);
    snprintf(where, sizeof where, "%s under %s", reference->name, settings);
    ga_engine_rig_open(&rig, &(struct ga_test_start){.settings = words,
                                                     .weights = weights,
                                                     .weights_count = net.parameters});
    check_rows(&rig, want, where);
    check_final(&rig, &net, reference->name, where);
    hash = ga_engine_rig_hash(&rig);
    ga_engine_rig_close(&rig);
    free(weights);
    return hash;
}

static void test_reference(void **state)
{
    const struct reference *reference = *state;
    size_t most = reference->window == 50 ? COUNT(full_splits) : 0;
    struct ga_test_numbers want;
    char name[128];
    uint64_t hash = 0;

    snprintf(name, sizeof name, "parabola/%s.csv", reference->name);
    ga_test_numbers_read(&want, name);
    hash = run_split(reference, &want, splits[0]);
    for (size_t k = 1; k < COUNT(splits); k++)
        assert_int_equal(run_split(reference, &want, splits[k]), hash);
    for (size_t k = 0; k < most; k++)
        assert_int_equal(run_split(reference, &want, full_splits[k]), hash);
    ga_test_numbers_free(&want);
}

static int copy_gradient(struct ga_run *run, void *arg)
{
    const float *gradient = ga_run_gradient(run);

    if (!gradient)
        return ga_fail(GA_ESTATE, "no gradient after the first window");
    for (size_t i = 0; i < ga_run_net_of(run)->parameters; i++)
        ((float *)arg)[i] = gradient[i];
    return GA_OK;
}

static void test_first_gradient(void **state)
{
    struct ga_test_numbers rows;
    struct ga_engine_rig rig;
    struct ga_net net;
    float *weights = NULL, got[16], want[16];

    (void)state;
    ga_test_parabola_net(&net);
    ga_test_numbers_read(&rows, "parabola/grad_step0.csv");
    assert_int_equal(rows.rows, 16);
    for (size_t i = 0; i < 16; i++)
        want[i] = (float)ga_test_number(&rows, i, 2);
    weights = ga_test_reference_weights("parabola/init.safetensors", &net);
    ga_engine_rig_open(&rig, &(struct ga_test_start){.settings = "replicas 3 accum 4 global 50",
                                                     .weights = weights,
                                                     .weights_count = net.parameters});
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 1);
    ga_test_ok(ga_engine_call(rig.engine, copy_gradient, got));
    assert_true(ga_test_distance(got, want, 16) <= GRADIENT_TOLERANCE);
    assert_true(ga_test_distance(want, got, 16) > 0);
    ga_engine_rig_close(&rig);
    ga_test_numbers_free(&rows);
    free(weights);
}

#define REFERENCE(name, settings, window)                                                          \
    {                                                                                              \
#name, test_reference, NULL, NULL, &(struct reference)                                     \
        {                                                                                          \
#name, settings, window                                                                \
        }                                                                                          \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_gradient),
        REFERENCE(sgd_full, "lr 0.01", 50),
        REFERENCE(sgd_window20, "lr 0.01", 20),
        REFERENCE(sgd_window10_clip1, "lr 0.05 clip 1", 10),
        REFERENCE(momentum09, "lr 0.01 momentum 0.9", 50),
        REFERENCE(nesterov09, "lr 0.01 momentum 0.9 nesterov on", 50),
        REFERENCE(adam, "optimizer adam lr 0.01", 50),
        REFERENCE(adamw, "optimizer adamw lr 0.01 weight-decay 0.1", 50),
        REFERENCE(sgd_wd, "lr 0.01 weight-decay 0.01", 50),
    };

    return ga_test_main(tests);
}
