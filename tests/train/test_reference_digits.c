/* The digits runs of tests/data/reference: every update, and the held-out rows at the end. */
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "train/support/reference.h"
#include "train/support/run_rig.h"

#define TOLERANCE 2e-5
#define DATA      "kind=class scale=0.0625 train=1500"

struct reference {
    const char *name;
    const char *settings;
};

struct split {
    const char *settings; /* `%d` is the window */
    int threads;
};

static const struct split splits[] = {
    {"replicas 1 accum 1", 0},
    {"replicas 4 accum 1", 3},
    {"replicas 3 accum 7", 0},
    {"replicas 2 accum 5", 1},
};

static float *initial_weights(size_t *count)
{
    struct ga_net net;

    ga_test_digits_net(&net);
    *count = net.parameters;
    return ga_test_reference_weights("digits/init.safetensors", &net);
}

static void open_digits(struct ga_run_rig *rig, const struct reference *reference,
                        const struct split *split)
{
    char words[512];
    size_t count = 0;
    float *weights = initial_weights(&count);

    snprintf(words, sizeof words, "model 64-32-10 activation relu loss xent %s %s",
             reference->settings, split->settings);
    ga_run_rig_open(rig, &(struct ga_test_start){.file = GA_TOP_DIR "/data/digits.csv",
                                                 .data = DATA,
                                                 .settings = words,
                                                 .weights = weights,
                                                 .weights_count = count,
                                                 .threads = split->threads});
    free(weights);
}

static void check_update(struct ga_run_rig *rig, const struct ga_test_numbers *want, size_t row)
{
    const struct ga_update_record *record = NULL;

    ga_run_rig_updates(rig, 1);
    record = ga_run_last_record(rig->run);
    assert_int_equal(record->update, (uint64_t)ga_test_number(want, row, 0));
    assert_int_equal(record->window_examples, (uint32_t)ga_test_number(want, row, 1));
    assert_close(record->loss, ga_test_number(want, row, 2), TOLERANCE);
    assert_close(record->grad_norm, ga_test_number(want, row, 3), TOLERANCE);
    assert_close(ga_run_rig_dataset_loss(rig), ga_test_number(want, row, 4), TOLERANCE);
}

static void check_held_out(struct ga_run_rig *rig, const char *name)
{
    struct ga_test_numbers want;
    char path[128];
    double loss = NAN, accuracy = NAN;
    uint64_t examples = 0;

    snprintf(path, sizeof path, "digits/%s.eval.csv", name);
    ga_test_numbers_read(&want, path);
    ga_test_ok(ga_run_evaluate(rig->run, true, &loss, &accuracy, &examples));
    assert_int_equal(examples, (uint64_t)ga_test_number(&want, 0, 0));
    assert_true(accuracy == ga_test_number(&want, 0, 1));
    assert_close(loss, ga_test_number(&want, 0, 2), TOLERANCE);
    assert_true(ga_run_metric(rig->run, GA_METRIC_ACCURACY, -1) == accuracy);
    assert_true(ga_run_metric(rig->run, GA_METRIC_TEST_LOSS, -1) == loss);
    ga_test_numbers_free(&want);
}

static uint64_t run_split(const struct reference *reference, const struct ga_test_numbers *want,
                          const struct split *split)
{
    struct ga_run_rig rig;
    uint64_t hash = 0;

    open_digits(&rig, reference, split);
    for (size_t row = 0; row < want->rows; row++)
        check_update(&rig, want, row);
    check_held_out(&rig, reference->name);
    hash = ga_run_hash(rig.run);
    ga_run_rig_close(&rig);
    return hash;
}

static void test_reference(void **state)
{
    const struct reference *reference = *state;
    struct ga_test_numbers want;
    char path[128];
    uint64_t hash = 0;

    snprintf(path, sizeof path, "digits/%s.csv", reference->name);
    ga_test_numbers_read(&want, path);
    hash = run_split(reference, &want, &splits[0]);
    for (size_t k = 1; k <= ga_test_count(sizeof splits / sizeof *splits - 1); k++)
        assert_int_equal(run_split(reference, &want, &splits[k]), hash);
    ga_test_numbers_free(&want);
}

#define REFERENCE(name, settings)                                                                  \
    {                                                                                              \
#name, test_reference, NULL, NULL, &(struct reference)                                     \
        {                                                                                          \
#name, settings                                                                        \
        }                                                                                          \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        REFERENCE(sgd_b100, "lr 0.1 global 100"),
        REFERENCE(adam_b128, "optimizer adam lr 0.002 global 128"),
    };

    return ga_test_main(tests);
}
