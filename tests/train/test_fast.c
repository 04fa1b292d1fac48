/*
 * numerics fast in a run: beside the exact numerics on the reference runs and in every mode, the
 * same bits again from any state, whatever the lanes; and the memory of a run, told before it is
 * asked for and held afterwards.
 */
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"
#include "train/plan.h"
#include "train/support/engine_rig.h"
#include "train/support/run_rig.h"
#include "train/workers.h"

#define DIGITS GA_TOP_DIR "/data/digits.csv"

static const char *const digits_words = "model 64-32-10 activation relu loss xent init he ";

/* On a file of digits, or on the parabola: NULL. */
static struct ga_test_start start_of(const char *file, const char *settings)
{
    return (struct ga_test_start){
        .file = file, .data = file ? "kind=class scale=0.0625" : NULL, .settings = settings};
}

static struct ga_run *open_run(const char *file, const char *settings, struct ga_workers *workers)
{
    const struct ga_test_start words = start_of(file, settings);
    struct ga_run_start start = {.data = ga_test_start_data(&words), .workers = workers};
    struct ga_run *run = NULL;

    ga_test_start_settings(&words, &start.settings);
    ga_test_ok(ga_run_open(&run, &start));
    ga_dataset_close(start.data);
    return run;
}

static void go(struct ga_run *run, uint64_t updates)
{
    while (ga_run_windows_closed(run) < updates || !ga_run_at_boundary(run))
        ga_test_ok(ga_run_event(run));
}

/* A pair of runs that differ in their numerics only. */
struct pair {
    struct ga_run *exact, *fast;
};

static struct pair open_pair(const char *file, const char *settings, struct ga_workers *workers)
{
    char words[640];
    struct pair pair;

    snprintf(words, sizeof words, "%s numerics exact", settings);
    pair.exact = open_run(file, words, NULL);
    snprintf(words, sizeof words, "%s numerics fast", settings);
    pair.fast = open_run(file, words, workers);
    return pair;
}

static void close_pair(struct pair *pair)
{
    ga_run_close(pair->exact);
    ga_run_close(pair->fast);
}

static double distance(const struct pair *pair)
{
    const struct ga_version *a = ga_run_version(pair->exact), *b = ga_run_version(pair->fast);

    return ga_norm_of_difference(a->weights, b->weights, a->parameters) /
           ga_norm(a->weights, a->parameters);
}

/* What records say of a window agrees as well: sums of squares, cosines, the noise scale. */
static void check_records(const struct pair *pair)
{
    const struct ga_update_record *a = ga_run_last_record(pair->exact);
    const struct ga_update_record *b = ga_run_last_record(pair->fast);

    assert_true(a && b && a->update == b->update && a->examples == b->examples);
    assert_close(b->loss, a->loss, 2e-4);
    assert_close(b->grad_norm, a->grad_norm, 5e-3);
    assert_close(b->update_norm, a->update_norm, 5e-3);
    assert_close(b->param_norm, a->param_norm, 1e-5);
    assert_int_equal(a->time_ns, b->time_ns);
}

static const char *const modes[] = {
    "mode sync replicas 3 accum 3 batch 3",
    "mode sync replicas 2 accum 1 batch 7 momentum 0.9 nesterov on clip 1",
    "mode sync replicas 5 accum 2 batch 2 optimizer adam",
    "mode sync replicas 7 accum 1 batch 8 optimizer adamw weight-decay 0.1",
    "mode sync replicas 3 accum 5 batch 1 reduce sum lr 0.0005",
    "mode sync replicas 3 backup 1 jitter exponential",
    "mode sync replicas 3 backup 1 late finish jitter exponential",
    "mode delay lag 2",
    "mode async replicas 3 jitter exponential",
    "mode ssp bound 2 replicas 3 jitter exponential",
    "mode buffered buffer 2 replicas 3 jitter exponential",
    "mode local period 3 replicas 2 momentum 0.5",
    "mode local period 2 replicas 3 outer nesterov(0.7,0.9)",
    "mode hogwild replicas 3 jitter exponential",
    "sharding contiguous replicas 3 batch 4 order shuffle",
};

static void test_modes_beside_exact(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        struct pair pair = open_pair(NULL, modes[i], NULL);

        go(pair.exact, 60);
        go(pair.fast, 60);
        if (!(distance(&pair) <= 2e-5))
            fail_msg("%s: weights differ by %g", modes[i], distance(&pair));
        check_records(&pair);
        close_pair(&pair);
    }
}

/* From the middle of a window, in another run and again in the same one. */
static void check_bits_again(const char *file, const char *settings, struct ga_workers *workers)
{
    char words[512];
    struct ga_state kept;
    struct ga_run *run = NULL, *other = NULL;
    uint64_t hash = 0;

    snprintf(words, sizeof words, "%s numerics fast", settings);
    run = open_run(file, words, workers);
    other = open_run(file, words, NULL);
    for (int i = 0; i < 37; i++)
        ga_test_ok(ga_run_event(run));
    ga_test_ok(ga_run_capture(run, &kept));
    go(run, 20);
    hash = ga_run_hash(run);
    ga_test_ok(ga_run_restore(other, &kept));
    go(other, 20);
    assert_int_equal(ga_run_hash(other), hash);
    ga_test_ok(ga_run_restore(run, &kept));
    go(run, 20);
    assert_int_equal(ga_run_hash(run), hash);
    ga_state_fini(&kept);
    ga_run_close(run);
    ga_run_close(other);
}

static void test_states(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        check_bits_again(NULL, modes[i], NULL);
}

/* A net that is worth a hand-over: workers take micro-batches, and parts of an update. */
#define LARGE                                                                                      \
    "model 64-300-200-10 activation tanh loss xent init xavier replicas 4 accum 3 batch 16 lr "    \
    "0.05 "                                                                                        \
    "momentum 0.9 "

static void test_lanes(void **state)
{
    struct ga_workers *workers = NULL;
    struct ga_run *alone = NULL, *shared = NULL;

    (void)state;
    ga_test_ok(ga_workers_open(&workers, 2));
    alone = open_run(DIGITS, LARGE "numerics fast", NULL);
    shared = open_run(DIGITS, LARGE "numerics fast", workers);
    go(alone, 12);
    go(shared, 12);
    assert_int_equal(ga_run_hash(alone), ga_run_hash(shared));
    for (size_t r = 0; r < 4; r++) {
        assert_true(ga_run_replica(alone, r)->cosine == ga_run_replica(shared, r)->cosine);
        assert_in_range((int)(ga_run_replica(alone, r)->cosine * 1000), 1, 1000);
    }
    ga_run_close(alone);
    ga_run_close(shared);
    check_bits_again(DIGITS, LARGE, workers);
    ga_workers_close(workers);
}

static void test_digits_beside_exact(void **state)
{
    char words[512];
    struct pair pair;

    (void)state;
    snprintf(words, sizeof words, "%s replicas 3 accum 2 batch 17 lr 0.1 order shuffle",
             digits_words);
    pair = open_pair(DIGITS, words, NULL);
    go(pair.exact, 60);
    go(pair.fast, 60);
    assert_true(distance(&pair) <= 2e-5);
    check_records(&pair);
    close_pair(&pair);
}

/* Both devices at one place of a run: |g - g'| against the mean of |g_i| over its examples. */
struct both {
    struct ga_run *run;
    struct ga_context *exact, *fast;
    const struct ga_table *table;
    float *g[2];
    double *sums;
};

static double mean_size(struct both *b, size_t n)
{
    const struct ga_net *net = ga_run_net_of(b->run);
    const float *weights = ga_run_version(b->run)->weights;
    double total = 0;

    for (size_t i = 0; i < n; i++) {
        struct ga_tally tally;
        const struct ga_batch one = {.inputs = b->table->inputs,
                                     .targets = b->table->targets,
                                     .labels = b->table->labels,
                                     .first = i,
                                     .count = 1};

        ga_test_ok(
            ga_compute_cpu_exact.gradient(b->exact, weights, &one, GA_ASSIGN, b->sums, &tally));
        total += ga_compute_cpu_exact.mean(net, b->sums, 1, NULL);
    }
    return total / (double)n;
}

static void check_place(struct both *b, size_t n)
{
    const struct ga_net *net = ga_run_net_of(b->run);
    const float *weights = ga_run_version(b->run)->weights;
    struct ga_tally tally;
    const struct ga_batch all = {.inputs = b->table->inputs,
                                 .targets = b->table->targets,
                                 .labels = b->table->labels,
                                 .count = n};

    ga_test_ok(ga_compute_cpu_exact.gradient(b->exact, weights, &all, GA_ASSIGN, b->sums, &tally));
    ga_compute_cpu_exact.mean(net, b->sums, (double)n, b->g[0]);
    ga_test_ok(ga_compute_cpu_fast.gradient(b->fast, weights, &all, GA_ASSIGN, b->sums, &tally));
    ga_compute_cpu_fast.mean(net, b->sums, (double)n, b->g[1]);
    assert_true(ga_norm_of_difference(b->g[0], b->g[1], net->parameters) <= 1e-5 * mean_size(b, n));
}

/* The promise near a minimum too: the settings of the reference runs, all along the way. */
static void check_way(const char *file, const char *settings, uint64_t updates, uint64_t step)
{
    struct both b = {.run = open_run(file, settings, NULL)};
    const struct ga_net *net = ga_run_net_of(b.run);

    b.table = ga_dataset_table(ga_run_data(b.run));
    b.sums = calloc(2 * net->parameters, sizeof *b.sums);
    b.g[0] = calloc(net->parameters, sizeof(float));
    b.g[1] = calloc(net->parameters, sizeof(float));
    ga_test_ok(ga_compute_cpu_exact.open(&b.exact, net, 64));
    ga_test_ok(ga_compute_cpu_fast.open(&b.fast, net, 64));
    for (uint64_t done = 0; done <= updates; done += step) {
        go(b.run, done);
        check_place(&b, b.table->train < 200 ? b.table->train : 200);
    }
    ga_compute_cpu_exact.close(b.exact);
    ga_compute_cpu_fast.close(b.fast);
    ga_run_close(b.run);
    free(b.sums);
    free(b.g[0]);
    free(b.g[1]);
}

static void test_promise_all_along(void **state)
{
    (void)state;
    check_way(NULL, "replicas 1 accum 1 batch 50 lr 0.01", 2000, 100);
    check_way(NULL, "replicas 1 accum 1 batch 50 lr 0.01 momentum 0.9 nesterov on", 2000, 200);
    check_way(NULL, "replicas 2 accum 1 batch 5 lr 0.01 clip 1", 2000, 200);
    check_way(NULL, "replicas 1 accum 1 batch 50 lr 0.01 optimizer adam", 2000, 200);
    check_way(
        DIGITS,
        "model 64-32-10 activation relu loss xent init he replicas 1 accum 1 batch 100 lr 0.1 "
        "order shuffle",
        200, 50);
}

static void test_auto(void **state)
{
    struct ga_run *run = open_run(NULL, "numerics auto", NULL);

    (void)state;
    assert_string_equal(ga_run_compute_of(run)->numerics, "exact");
    ga_run_close(run);
    run = open_run(DIGITS, "model 64-1332-10 loss xent", NULL); /* 99,910 parameters */
    assert_string_equal(ga_run_compute_of(run)->numerics, "exact");
    ga_run_close(run);
    run = open_run(DIGITS, "model 64-1334-10 loss xent", NULL); /* 100,060 */
    assert_string_equal(ga_run_compute_of(run)->numerics, "fast");
    ga_run_close(run);
}

/* What is no number stops it; what is beyond the exact range is none of those. */
static void test_range(void **state)
{
    struct ga_run *run = NULL;
    int code = GA_OK;

    (void)state;
    run = open_run(NULL, "lr 1000000 activation identity numerics fast", NULL);
    for (int i = 0; i < 400 && code == GA_OK; i++)
        code = ga_run_event(run);
    assert_true(ga_run_last_record(run)->grad_norm > 134217728);
    assert_int_equal(code, GA_ENONFINITE);
    assert_non_null(strstr(ga_error_text(), "not finite"));
    ga_run_close(run);
}

static size_t bytes_in_use(void)
{
    const struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

/* What the run says it holds, and what the process grew by, data apart. */
static void check_growth(const char *settings, struct ga_workers *workers)
{
    struct ga_memory replica;
    uint64_t run_bytes = 0, history_bytes = 0;
    size_t before = 0, grown = 0;
    struct ga_run *run = NULL;

    const struct ga_test_start words = start_of(DIGITS, settings);
    struct ga_run_start start = {.data = ga_test_start_data(&words), .workers = workers};

    ga_test_start_settings(&words, &start.settings);
    run = open_run(DIGITS, settings, workers); /* what libraries take at the first use */
    go(run, 2);
    ga_run_close(run);
    run = NULL;
    before = bytes_in_use();
    if (before == 0) {
        ga_dataset_close(start.data);
        ga_test_skip("the allocator here does not count");
    }
    ga_test_ok(ga_run_open(&run, &start));
    go(run, 5);
    grown = bytes_in_use() - before;
    ga_run_memory(run, &replica, &run_bytes, &history_bytes);
    assert_close((double)(run_bytes - ga_dataset_bytes(start.data)), (double)grown, 0.01);
    ga_run_close(run);
    ga_dataset_close(start.data);
}

static void test_growth(void **state)
{
    struct ga_workers *workers = NULL;

    (void)state;
    check_growth(LARGE "numerics fast", NULL);
    check_growth(LARGE "numerics exact", NULL);
    ga_test_ok(ga_workers_open(&workers, 1));
    check_growth(LARGE "numerics fast", workers);
    check_growth(LARGE "numerics exact optimizer adam momentum 0", workers);
    ga_workers_close(workers);
}

static void memory_of(const char *settings, struct ga_memory *replica)
{
    uint64_t run_bytes = 0, history_bytes = 0;
    struct ga_run *run = NULL;

    run = open_run(DIGITS, settings, NULL);
    go(run, 2);
    ga_run_memory(run, replica, &run_bytes, &history_bytes);
    ga_run_close(run);
}

static void test_accumulation_is_free(void **state)
{
    struct ga_memory two, many;

    (void)state;
    memory_of(LARGE "numerics fast accum 2 batch 4", &two);
    memory_of(LARGE "numerics fast accum 64 batch 4", &many);
    assert_memory_equal(&two, &many, sizeof two);
    memory_of(LARGE "numerics exact accum 2 batch 4", &two);
    memory_of(LARGE "numerics exact accum 64 batch 4", &many);
    assert_memory_equal(&two, &many, sizeof two);
}

/* All that a run asks for until it has made three updates: no peak of it is higher. */
static uint64_t bytes_asked_for(const char *settings)
{
    const struct ga_test_start words = start_of(DIGITS, settings);
    struct ga_run_start start = {.data = ga_test_start_data(&words)};
    uint64_t before = 0, asked = 0;
    struct ga_run *run = NULL;

    ga_test_start_settings(&words, &start.settings);
    before = ga_test_allocated_bytes();
    ga_test_ok(ga_run_open(&run, &start));
    go(run, 3);
    asked = ga_test_allocated_bytes() - before;
    ga_run_close(run);
    ga_dataset_close(start.data);
    return asked;
}

/* Not only what the run says of itself: every byte that the program asked for, lists of rows
 * included. On one lane: with several it is a race which of them ever works. */
static void test_accumulation_asks_for_nothing(void **state)
{
    static const struct {
        const char *two, *many;
    } pairs[] = {
        {LARGE "numerics fast accum 2 batch 4", LARGE "numerics fast accum 64 batch 4"},
        {LARGE "numerics exact accum 2 batch 4", LARGE "numerics exact accum 64 batch 4"},
        {LARGE "numerics exact mode async momentum 0 accum 2 batch 4",
         LARGE "numerics exact mode async momentum 0 accum 64 batch 4"},
        {LARGE "sharding strided optimizer adam momentum 0 accum 2 batch 4",
         LARGE "sharding strided optimizer adam momentum 0 accum 64 batch 4"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        uint64_t two = bytes_asked_for(pairs[i].two);

        assert_true(two > 1000000);
        assert_int_equal(bytes_asked_for(pairs[i].many), two);
    }
}

static void check_refusal(struct ga_run *run, const char *words, const char *answer)
{
    struct ga_run_rig rig = {.run = run};

    assert_int_equal(ga_run_rig_set(&rig, words), GA_ERANGE);
    if (!strstr(ga_error_text(), answer))
        fail_msg("%s: \"%s\" does not say \"%s\"", words, ga_error_text(), answer);
}

/* The largest that fits does, one more does not; and what is advised is accepted. */
/* The least memory, in KiB, with which this batch fits: scratch depends on the kernels. */
static uint64_t kibibytes_for(const struct ga_run *run, size_t batch)
{
    struct ga_settings settings = *ga_run_settings(run);
    uint64_t kibibytes = 0;

    do
        settings.memory = 1024 * ++kibibytes;
    while (ga_run_largest_batch(&settings, ga_run_net_of(run), ga_run_compute_of(run)) < batch);
    return kibibytes;
}

static void test_budget(void **state)
{
    struct ga_run *run = NULL;
    struct ga_run_rig rig;
    struct ga_settings settings;
    char words[32];

    (void)state;
    run = open_run(DIGITS,
                   "model 64-256-10 activation relu loss xent replicas 1 accum 1 batch 64 "
                   "optimizer adam numerics fast",
                   NULL);
    rig = (struct ga_run_rig){.run = run};
    snprintf(words, sizeof words, "memory %lluKiB", (unsigned long long)kibibytes_for(run, 65));
    ga_test_ok(ga_run_rig_set(&rig, words));
    check_refusal(run, "batch 512", "65 fit; set batch 64 accum 8 keeps the window of 512");
    check_refusal(run, "batch 66", "set batch 33 accum 2 keeps the window of 66");
    check_refusal(run, "batch 67", "set accum 2 keeps the window of 67");
    ga_test_ok(ga_run_rig_set(&rig, "batch 65"));
    ga_test_ok(ga_run_rig_set(&rig, "batch 64 accum 8"));
    check_refusal(run, "memory 100KiB", "not even a micro-batch of one example fits");
    settings = *ga_run_settings(run);
    settings.memory = 0;
    assert_int_equal(ga_run_largest_batch(&settings, ga_run_net_of(run), ga_run_compute_of(run)),
                     GA_MAX_WINDOW);
    ga_run_close(run);
}

static void test_keeping_a_window(void **state)
{
    (void)state;
    for (size_t window = 3; window < 700; window += 13)
        for (size_t batch = 1; batch < 70; batch += 5) {
            struct ga_settings settings;

            ga_settings_default(&settings);
            settings.replicas = 3;
            ga_run_keep_window(&settings, window, batch);
            assert_int_equal(ga_plan_window(&settings), window);
            assert_in_range(ga_plan_micro(&settings), 1, batch);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modes_beside_exact),
        cmocka_unit_test(test_digits_beside_exact),
        cmocka_unit_test(test_promise_all_along),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_auto),
        cmocka_unit_test(test_range),
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_accumulation_is_free),
        cmocka_unit_test(test_accumulation_asks_for_nothing),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_keeping_a_window),
    };

    return ga_test_main(tests);
}
