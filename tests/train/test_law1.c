/* Law 1: sync with any split of a window is the serial computation, bit for bit. */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/run_internal.h"
#include "train/support/engine_rig.h"
#include "train/support/reference.h"
#include "train/support/run_rig.h"
#include "train/support/serial.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t hash_after(const struct ga_test_start *start, uint64_t updates)
{
    struct ga_run_rig rig;
    uint64_t hash = 0;

    ga_run_rig_open(&rig, start);
    ga_run_rig_updates(&rig, updates);
    hash = ga_run_hash(rig.run);
    ga_run_rig_close(&rig);
    return hash;
}

static const char *const parabola_splits[] = {
    "replicas 1 accum 1 batch 50",
    "replicas 2 accum 5 batch 5",
    "replicas 5 accum 1 batch 10",
    "replicas 5 accum 2 batch 5",
    "replicas 50 accum 1 batch 1",
    "replicas 1 accum 50 batch 1",
    "replicas 1 accum 3 global 50",
    "replicas 2 accum 7 global 50",
    "replicas 3 accum 5 global 50",
    "replicas 4 accum 1 global 50",
    "replicas 5 accum 8 global 50",
    "replicas 7 accum 2 global 50",
    "replicas 8 accum 3 global 50",
    "replicas 16 accum 5 global 50",
    "replicas 50 accum 7 global 50",
    "replicas 64 accum 2 global 50",
    "replicas 3 accum 5 global 50 sharding strided",
    "replicas 7 accum 2 global 50 sharding contiguous",
    "replicas 16 accum 3 global 50 sharding strided",
    "replicas 50 accum 1 global 50 sharding contiguous",
    "replicas 2 accum 5 batch 5 order shuffle",
    "replicas 8 accum 2 global 50 sharding strided order shuffle",
    "replicas 5 accum 2 batch 5 jitter exponential base 1ms late finish",
    "replicas 3 accum 5 global 50 tail drop",
    "replicas 4 accum 5 global 50 tail wrap",
    "replicas 2 accum 5 batch 5 latency 3ms bandwidth 1KB/s history-budget 0 log-every 9",
};

static void test_2000_updates_of_the_parabola(void **state)
{
    uint64_t updates = ga_test_count(2000);
    uint64_t serial =
        ga_test_serial_run(&(struct ga_test_start){.settings = parabola_splits[0]}, updates);

    (void)state;
    for (size_t k = 0; k < COUNT(parabola_splits); k++)
        assert_int_equal(
            hash_after(&(struct ga_test_start){.settings = parabola_splits[k]}, updates), serial);
}

/* The hash of the program's first demo; it must be the same on every machine and compiler. */
static void test_the_golden_hash(void **state)
{
    struct ga_net net;
    float *weights = NULL;

    (void)state;
    ga_test_parabola_net(&net);
    weights = ga_test_reference_weights("parabola/init.safetensors", &net);
    assert_int_equal(
        hash_after(&(struct ga_test_start){.weights = weights, .weights_count = net.parameters},
                   200),
        UINT64_C(0xa6a53cc96898a092));
    free(weights);
}

#define DIGITS "model 64-32-10 activation relu loss xent optimizer adam lr 0.002 "

static const char *const digits_splits[] = {
    DIGITS "replicas 1 accum 1 batch 120",
    DIGITS "replicas 2 accum 4 batch 15",
    DIGITS "replicas 3 accum 8 batch 5",
    DIGITS "replicas 8 accum 3 batch 5",
    DIGITS "replicas 5 accum 4 batch 6",
    DIGITS "replicas 7 accum 2 global 120",
    DIGITS "replicas 4 accum 3 global 120 sharding strided",
    DIGITS "replicas 120 accum 1 batch 1",
};

static struct ga_test_start digits(const char *settings, int threads)
{
    return (struct ga_test_start){
        .file = GA_TOP_DIR "/data/digits.csv",
        .data = "kind=class scale=0.0625 train=1500",
        .settings = settings,
        .threads = threads,
    };
}

/* 14 windows: the 13th is the short one at the end of the first pass. */
static void test_digits_with_adam(void **state)
{
    struct ga_test_start start = digits(digits_splits[0], 0);
    uint64_t serial = ga_test_serial_run(&start, 14);

    (void)state;
    for (size_t k = 0; k < COUNT(digits_splits); k++) {
        start = digits(digits_splits[k], 0);
        assert_int_equal(hash_after(&start, 14), serial);
    }
}

/* Whoever computes a micro-batch, the caller or one of many workers. */
static void test_threads_change_nothing(void **state)
{
    const char *settings = DIGITS "replicas 4 accum 2 batch 40 backup 1 late finish "
                                  "jitter exponential";
    const int threads[] = {1, 3, 7};
    struct ga_test_start start = digits(settings, 0);
    uint64_t alone = hash_after(&start, 12);

    (void)state;
    for (size_t k = 0; k < COUNT(threads); k++) {
        struct ga_run_rig rig;

        start = digits(settings, threads[k]);
        ga_run_rig_open(&rig, &start);
        assert_true(rig.run->parallel);
        ga_run_rig_updates(&rig, 12);
        assert_int_equal(ga_run_hash(rig.run), alone);
        ga_run_rig_close(&rig);
    }
}

static void test_engines_with_any_number_of_threads(void **state)
{
    const int threads[] = {1, 2, 4};
    uint64_t hash[COUNT(threads)];

    (void)state;
    for (size_t k = 0; k < COUNT(threads); k++) {
        struct ga_test_start start = digits(DIGITS "replicas 3 accum 2 batch 50", threads[k]);
        struct ga_engine_rig rig;

        ga_engine_rig_open(&rig, &start);
        ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 8);
        hash[k] = ga_engine_rig_hash(&rig);
        assert_int_equal(hash[k], hash[0]);
        ga_engine_rig_close(&rig);
    }
}

/* Windows are as long as their slowest item; what is late does not matter without backup. */
static void test_backup_0_is_sync(void **state)
{
    const char *plain = "replicas 5 accum 2 batch 3 jitter exponential";
    uint64_t hash = hash_after(&(struct ga_test_start){.settings = plain}, 100);
    const char *const forms[] = {
        "replicas 5 accum 2 batch 3 jitter exponential backup 0 late cancel",
        "replicas 5 accum 2 batch 3 jitter lognormal(2) backup 0 late finish",
        "replicas 5 accum 2 batch 3 base 5ms per-example 0",
        "replicas 5 accum 2 batch 3 base 0 per-example 0",
    };

    (void)state;
    for (size_t k = 0; k < COUNT(forms); k++)
        assert_int_equal(hash_after(&(struct ga_test_start){.settings = forms[k]}, 100), hash);
}

/* g of `sum` is W times that of `mean`; with powers of two lr / W undoes it without rounding. */
static void test_reduce_sum_is_mean_times_weight(void **state)
{
    const struct ga_test_start mean = {.data = "parabola n=64",
                                       .settings = "replicas 4 accum 2 batch 4 lr 0.0078125"};
    const struct ga_test_start sum = {
        .data = "parabola n=64",
        .settings = "replicas 4 accum 2 batch 4 lr 0.000244140625 reduce sum"};
    struct ga_run_rig rig;

    (void)state;
    assert_int_equal(hash_after(&mean, 200), hash_after(&sum, 200));
    ga_run_rig_open(&rig, &sum);
    ga_run_rig_updates(&rig, 1);
    assert_true(ga_run_last_record(rig.run)->loss > 0);
    ga_run_rig_close(&rig);
}

/* A column of equal weights is no weight at all, whatever the weight. */
static void test_equal_weights_are_no_weights(void **state)
{
    char csv[2048] = "x,y,w\n", *end = csv + strlen(csv);
    const char *settings = "replicas 3 accum 2 global 9";
    uint64_t with = 0, without = 0;

    (void)state;
    for (int i = 0; i < 20; i++)
        end += sprintf(end, "%g,%g,4\n", i / 8.0 - 1, i * 0.25);
    with = hash_after(
        &(struct ga_test_start){.csv = csv, .data = "weight=w target=y", .settings = settings}, 50);
    for (char *p = csv; *p; p++)
        if (strncmp(p, ",4\n", 3) == 0)
            p[1] = '1';
    without = hash_after(
        &(struct ga_test_start){.csv = csv, .data = "weight=w target=y", .settings = settings}, 50);
    assert_int_equal(with, without);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_2000_updates_of_the_parabola),
        cmocka_unit_test(test_the_golden_hash),
        cmocka_unit_test(test_digits_with_adam),
        cmocka_unit_test(test_threads_change_nothing),
        cmocka_unit_test(test_engines_with_any_number_of_threads),
        cmocka_unit_test(test_backup_0_is_sync),
        cmocka_unit_test(test_reduce_sum_is_mean_times_weight),
        cmocka_unit_test(test_equal_weights_are_no_weights),
    };

    return ga_test_main(tests);
}
