/* sync with one backup worker: 5 replicas of 10, 11, 12, 13 and 30 ms, windows of the first four.
 */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>

#include "train/support/reference.h"
#include "train/support/run_rig.h"

#define SETTINGS                                                                                   \
    "replicas 5 accum 1 global 50 sharding strided backup 1 lr 0.02 base 10ms per-example 0"

static void open_backup(struct ga_run_rig *rig, const char *more)
{
    const double slow[] = {1, 1.1, 1.2, 1.3, 3};
    struct ga_net net;
    char words[256];
    float *weights = NULL;

    ga_test_parabola_net(&net);
    weights = ga_test_reference_weights("parabola/init.safetensors", &net);
    snprintf(words, sizeof words, SETTINGS " %s", more);
    ga_run_rig_open(rig, &(struct ga_test_start){.settings = words,
                                                 .weights = weights,
                                                 .weights_count = net.parameters});
    for (size_t r = 0; r < 5; r++)
        ga_test_ok(ga_run_slow(rig->run, r, slow[r]));
    free(weights);
}

static void test_losses(void **state)
{
    struct ga_test_numbers want;
    struct ga_run_rig rig;

    (void)state;
    ga_test_numbers_read(&want, "modes/backup_p5_k1_slow4.csv");
    assert_int_equal(want.rows, 200);
    open_backup(&rig, "");
    for (size_t row = 0; row < want.rows; row++) {
        ga_run_rig_updates(&rig, 1);
        assert_int_equal(ga_run_counters(rig.run)->updates,
                         (uint64_t)ga_test_number(&want, row, 0));
        assert_close(ga_run_rig_dataset_loss(&rig), ga_test_number(&want, row, 1), 2e-5);
    }
    ga_run_rig_close(&rig);
    ga_test_numbers_free(&want);
}

static void test_accumulating_changes_nothing(void **state)
{
    struct ga_run_rig whole, parts;

    (void)state;
    open_backup(&whole, "");
    open_backup(&parts, "accum 3");
    ga_run_rig_updates(&whole, 200);
    ga_run_rig_updates(&parts, 200);
    assert_int_equal(ga_run_hash(whole.run), ga_run_hash(parts.run));
    ga_run_rig_close(&whole);
    ga_run_rig_close(&parts);
}

struct seen {
    uint64_t windows, drops;
    int64_t opened_ns;
    uint32_t pushed; /* bit r: replica r pushed into the open window */
    bool wrong;
};

static void look(void *self, const struct ga_event *event)
{
    struct seen *seen = self;

    if (event->kind == GA_EVENT_OPEN) {
        seen->opened_ns = event->time_ns;
        seen->pushed = 0;
    } else if (event->kind == GA_EVENT_PUSH) {
        seen->pushed |= 1u << event->replica;
    } else if (event->kind == GA_EVENT_DROP) {
        seen->drops++;
        if (event->replica != 4 || event->time_ns != seen->opened_ns + 13000000)
            seen->wrong = true;
    } else if (event->kind == GA_EVENT_REDUCE) {
        seen->windows++;
        if (seen->pushed != 0xf || event->examples != 40)
            seen->wrong = true;
    }
}

static void test_the_slow_replica_is_cancelled_each_time(void **state)
{
    struct ga_run_rig rig;
    struct seen seen = {0};
    const struct ga_counters *counters = NULL;

    (void)state;
    open_backup(&rig, "");
    ga_run_watch(rig.run, look, NULL, &seen);
    ga_run_rig_updates(&rig, 200);
    counters = ga_run_counters(rig.run);
    assert_false(seen.wrong);
    assert_int_equal(seen.windows, 200);
    assert_int_equal(seen.drops, 200);
    assert_int_equal(counters->items_dropped, 200);
    assert_int_equal(counters->examples_dropped, 2000);
    assert_int_equal(counters->items_applied, 800);
    assert_int_equal(counters->examples, 8000);
    assert_int_equal(ga_run_now(rig.run), 200 * INT64_C(13000000));
    assert_int_equal(ga_run_replica(rig.run, 4)->busy_ns, ga_run_now(rig.run));
    assert_int_equal(ga_run_rig_spent(&rig), 5 * ga_run_now(rig.run));
    ga_run_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_losses),
        cmocka_unit_test(test_accumulating_changes_nothing),
        cmocka_unit_test(test_the_slow_replica_is_cancelled_each_time),
    };

    return ga_test_main(tests);
}
