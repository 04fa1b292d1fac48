/*
 * Law 1 beyond sync: modes that must be one another in special cases. Bit for bit where nothing but
 * names differs, to rounding where sums are formed in another order.
 */
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/run_internal.h"
#include "train/support/random_start.h"
#include "train/support/reference.h"
#include "train/support/run_rig.h"
#include "train/support/serial.h"

/* The settings of a random start with more behind them. */
static void open_with(struct ga_run_rig *rig, const struct ga_test_random_start *random,
                      const char *more)
{
    struct ga_test_start start = random->start;
    char words[1024];

    snprintf(words, sizeof words, "%s%s", random->settings, more);
    start.settings = words;
    ga_run_rig_open(rig, &start);
    for (size_t r = 0; r < ga_run_replicas(rig->run); r++)
        ga_test_ok(ga_run_slow(rig->run, r, random->slow[r]));
}

/* Both runs have the same bits after each of `updates` windows, and closed each for the same loss.
 */
static void check_same(const struct ga_test_random_start *random, const char *mode,
                       const char *other, int updates)
{
    struct ga_run_rig a, b;

    open_with(&a, random, mode);
    open_with(&b, random, other);
    for (int k = 0; k < updates; k++) {
        ga_run_rig_updates(&a, 1);
        ga_run_rig_updates(&b, 1);
        if (ga_run_hash(a.run) != ga_run_hash(b.run))
            fail_msg("window %d of %s %s: %s is not %s", k, random->data, random->settings, mode,
                     other);
        assert_true(ga_run_last_record(a.run)->loss == ga_run_last_record(b.run)->loss);
        assert_true(ga_run_last_record(a.run)->grad_norm == ga_run_last_record(b.run)->grad_norm);
        assert_int_equal(ga_run_last_record(a.run)->examples, ga_run_last_record(b.run)->examples);
    }
    ga_run_rig_close(&a);
    ga_run_rig_close(&b);
}

static void test_delay_0_is_sync(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < ga_test_count(150); seed++) {
        struct ga_test_random_start random;

        ga_test_random_start(&random, seed, GA_TEST_NO_BACKUP);
        check_same(&random, "mode delay lag 0", "mode sync", 15);
    }
}

/* With `tail short` a window of fewer examples than replicas has no piece for some of them, who
 * then take one of the next window: only windows with a piece for everyone are the same. */
static void test_buffered_p_with_bound_0_is_sync(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < ga_test_count(300); seed++) {
        struct ga_test_random_start random;

        ga_test_random_start(&random, seed, GA_TEST_NO_BACKUP);
        check_same(&random, "tail wrap mode buffered bound 0", "tail wrap mode sync", 15);
    }
}

/* Also with replicas that have no rows at all. */
static void test_buffered_with_empty_shards_is_sync(void **state)
{
    const char *const sharding[] = {"strided", "contiguous"};

    (void)state;
    for (int k = 0; k < 2; k++) {
        struct ga_test_random_start random = {
            .settings = "replicas 5 accum 2 batch 1 tail wrap jitter exponential lr 0.003 ",
            .slow = {1, 2, 3, 4, 5},
            .start = {.data = "parabola n=3"},
        };
        char buffered[64], sync[64];

        snprintf(buffered, sizeof buffered, "sharding %s mode buffered bound 0", sharding[k]);
        snprintf(sync, sizeof sync, "sharding %s mode sync", sharding[k]);
        check_same(&random, buffered, sync, 30);
    }
}

/* One replica is never stale and its item is the whole window, so every scale is 1. */
static void test_one_replica_is_serial(void **state)
{
    const char *const modes[] = {"mode async", "mode ssp bound 0", "mode ssp bound 3", "mode ssp",
                                 "mode buffered"};
    const char *const scales[] = {"full", "share", "staleness", "sqrt", "rescaled"};

    (void)state;
    for (uint64_t seed = 0; seed < ga_test_count(150); seed++) {
        struct ga_test_random_start random;
        char push[96];

        ga_test_random_start(&random, seed, GA_TEST_NO_BACKUP);
        snprintf(push, sizeof push, "replicas 1 %s scale %s", modes[seed % 5],
                 scales[seed / 5 % 5]);
        check_same(&random, push, "replicas 1 mode sync", 15);
    }
}

static void test_one_hogwild_replica_is_serial_sgd(void **state)
{
    const char *const writes[] = {"atomic", "lossy"};
    const char *const decay[] = {"0", "0.1"};

    (void)state;
    for (uint64_t seed = 0; seed < ga_test_count(150); seed++) {
        struct ga_test_random_start random;
        char hogwild[192], sync[128];

        ga_test_random_start(&random, seed, GA_TEST_NO_BACKUP);
        snprintf(sync, sizeof sync,
                 "replicas 1 optimizer sgd nesterov off momentum 0 weight-decay %s",
                 decay[seed / 2 % 2]);
        snprintf(hogwild, sizeof hogwild, "%s mode hogwild writes %s", sync, writes[seed % 2]);
        check_same(&random, hogwild, sync, 15);
    }
}

/* Two samples of the parabola in file order, one behind the other, `copies` times. */
static char *repeat_rows(int copies, int rows)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    assert_non_null(out);
    fputs("x,y\n", out);
    for (int k = 0; k < copies; k++)
        for (int i = 0; i < rows; i++) {
            double x = -2 + 4.0 * i / (rows - 1);

            fprintf(out, "%.9g,%.9g\n", x, x * x);
        }
    fclose(out);
    return text;
}

static void check_async_is_delay(int replicas, const char *more)
{
    struct ga_run_rig async, delay;
    char *many = repeat_rows(replicas, 13), *once = repeat_rows(1, 13);
    char words[2][256];

    snprintf(words[0], sizeof words[0],
             "replicas %d mode async sharding contiguous accum 2 global %d lr 0.01 %s", replicas,
             13 * replicas, more);
    snprintf(words[1], sizeof words[1], "replicas 1 mode delay lag %d global 13 lr 0.01 %s",
             replicas - 1, more);
    ga_run_rig_open(&async, &(struct ga_test_start){.csv = many, .settings = words[0]});
    ga_run_rig_open(&delay, &(struct ga_test_start){.csv = once, .settings = words[1]});
    for (int k = 0; k < 60; k++) {
        ga_run_rig_updates(&async, 1);
        ga_run_rig_updates(&delay, 1);
        assert_int_equal(ga_run_hash(async.run), ga_run_hash(delay.run));
    }
    ga_run_rig_close(&async);
    ga_run_rig_close(&delay);
    free(many);
    free(once);
}

static void test_async_in_step_is_delay(void **state)
{
    (void)state;
    for (int replicas = 1; replicas <= 7; replicas++) {
        check_async_is_delay(replicas, "");
        check_async_is_delay(replicas, "momentum 0.5 clip 3");
        check_async_is_delay(replicas, "optimizer adam");
    }
}

static const float *weights_of(const struct ga_run_rig *rig)
{
    return ga_run_version(rig->run)->weights;
}

struct closeness {
    const char *sync, *mode;
    uint64_t per_update; /* updates of the mode that make one of sync */
    size_t updates;
};

/* Plain SGD without clip: weights 1e-6 after 50 updates, losses 2e-5 all the way. */
static void check_close(const struct closeness *c, const struct ga_test_start *from)
{
    struct ga_test_start start = *from;
    struct ga_run_rig sync, mode;
    size_t updates = ga_test_count(c->updates);

    start.settings = c->sync;
    ga_run_rig_open(&sync, &start);
    start.settings = c->mode;
    ga_run_rig_open(&mode, &start);
    for (size_t k = 1; k <= updates; k++) {
        ga_run_rig_updates(&sync, 1);
        ga_run_rig_updates(&mode, c->per_update);
        if (k <= 50)
            assert_true(ga_test_distance(weights_of(&sync), weights_of(&mode),
                                         ga_run_version(sync.run)->parameters) < 1e-6);
        assert_close(ga_run_rig_dataset_loss(&mode), ga_run_rig_dataset_loss(&sync), 2e-5);
    }
    assert_int_equal(ga_run_counters(sync.run)->examples, ga_run_counters(mode.run)->examples);
    ga_run_rig_close(&sync);
    ga_run_rig_close(&mode);
}

/* From the weights of the reference runs, which are not near instability. */
static void check_all_close(const struct closeness *cases, size_t count)
{
    struct ga_net net;
    float *weights = NULL;

    ga_test_parabola_net(&net);
    weights = ga_test_reference_weights("parabola/init.safetensors", &net);
    for (size_t k = 0; k < count; k++)
        check_close(&cases[k],
                    &(struct ga_test_start){.weights = weights, .weights_count = net.parameters});
    free(weights);
}

static void test_local_1_is_sync_to_rounding(void **state)
{
    static const struct closeness cases[] = {
        {"replicas 4 accum 3 global 50", "replicas 4 accum 3 global 50 mode local", 1, 2000},
        {"replicas 7 global 50 sharding strided",
         "replicas 7 global 50 sharding strided mode local period 1", 1, 2000},
        {"replicas 3 global 20 order shuffle",
         "replicas 3 global 20 order shuffle mode local jitter exponential", 1, 2000},
    };

    (void)state;
    check_all_close(cases, 3);
}

/* P steps a round are rounded P times: with 5 replicas the loss, by then 0.017, leaves 2e-5 near
 * update 2,000. */
static void test_ssp_0_with_share_is_sync_at_round_ends(void **state)
{
    static const struct closeness cases[] = {
        {"replicas 4 global 50",
         "replicas 4 global 50 mode ssp bound 0 scale share jitter lognormal(1)", 4, 2000},
        {"replicas 3 global 20 order shuffle",
         "replicas 3 global 20 order shuffle mode ssp bound 0 scale share jitter straggler(0.2,9)",
         3, 2000},
        {"replicas 5 global 50 sharding contiguous",
         "replicas 5 global 50 sharding contiguous mode ssp bound 0 scale share jitter exponential",
         5, 1000},
    };

    (void)state;
    check_all_close(cases, 3);
}

/* Worker threads, with items that are worth a hand-over, and changes while they work. */
static uint64_t hash_with_threads(const char *mode, int threads)
{
    struct ga_run_rig rig;
    char words[256];
    uint64_t hash = 0;

    snprintf(words, sizeof words,
             "replicas 5 model 1-96-96-1 init xavier accum 2 batch 20 lr 0.003 jitter exponential "
             "late finish %s",
             mode);
    ga_run_rig_open(&rig, &(struct ga_test_start){
                              .data = "parabola n=300", .settings = words, .threads = threads});
    if (threads > 0)
        assert_true(rig.run->parallel);
    ga_run_rig_updates(&rig, 4);
    ga_test_ok(ga_run_rig_set(&rig, "lr 0.001 accum 3 batch 16"));
    ga_run_rig_updates(&rig, 3);
    ga_test_ok(ga_run_kill(rig.run, 1));
    ga_test_ok(ga_run_revive(rig.run, 1));
    ga_test_ok(ga_run_rig_set(&rig, "replicas 4"));
    ga_run_rig_updates(&rig, 4);
    hash = ga_run_hash(rig.run);
    ga_run_rig_close(&rig);
    return hash;
}

static void test_threads_are_irrelevant(void **state)
{
    const char *const modes[] = {"mode async",
                                 "mode ssp bound 1 sharding strided",
                                 "mode buffered buffer 2",
                                 "mode local period 2",
                                 "mode delay lag 2",
                                 "mode hogwild",
                                 "backup 1"};

    (void)state;
    for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) {
        uint64_t alone = hash_with_threads(modes[k], 0);

        assert_int_equal(hash_with_threads(modes[k], 1), alone);
        assert_int_equal(hash_with_threads(modes[k], 3), alone);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_delay_0_is_sync),
        cmocka_unit_test(test_buffered_p_with_bound_0_is_sync),
        cmocka_unit_test(test_buffered_with_empty_shards_is_sync),
        cmocka_unit_test(test_one_replica_is_serial),
        cmocka_unit_test(test_one_hogwild_replica_is_serial_sgd),
        cmocka_unit_test(test_async_in_step_is_delay),
        cmocka_unit_test(test_local_1_is_sync_to_rounding),
        cmocka_unit_test(test_ssp_0_with_share_is_sync_at_round_ends),
        cmocka_unit_test(test_threads_are_irrelevant),
    };

    return ga_test_main(tests);
}
