/* Pitfalls of changing, keeping and refusing while a window is open. */
#include "support/support.h"

#include <string.h>

#include "train/support/engine_rig.h"
#include "train/support/pitfall.h"
#include "train/support/run_rig.h"

/* Sum over a window's micro-batches of their part in its mean: weight / window weight. */
struct parts {
    double weight[64];
    size_t count;
    double sum[8]; /* of each closed window */
    uint32_t micros[8];
    size_t windows;
};

static void collect(void *self, const struct ga_event *event)
{
    struct parts *parts = self;

    if (event->kind == GA_EVENT_MICRO && parts->count < 64)
        parts->weight[parts->count++] = event->weight;
    if (event->kind != GA_EVENT_REDUCE || parts->windows == 8)
        return;
    for (size_t k = 0; k < parts->count; k++)
        parts->sum[parts->windows] += parts->weight[k] / event->weight;
    parts->micros[parts->windows++] = (uint32_t)parts->count;
    parts->count = 0;
}

/* `words` is set after 3 of 4 micro-batches; window 2 has `after` of them. */
static void check_accum_change(const char *words, uint32_t after)
{
    struct ga_run_rig rig;
    struct parts parts = {.count = 0};

    ga_run_rig_open(&rig, &(struct ga_test_start){.data = "parabola n=32",
                                                  .settings = "replicas 1 accum 4 batch 1"});
    ga_run_watch(rig.run, collect, NULL, &parts);
    ga_run_rig_micros(&rig, 3);
    ga_test_ok(ga_run_rig_set(&rig, words));
    assert_int_equal(ga_run_next_window_update(rig.run), 2);
    ga_run_rig_updates(&rig, 3);
    assert_int_equal(parts.windows, 3);
    assert_int_equal(parts.micros[0], 4);
    assert_int_equal(parts.micros[1], after);
    assert_int_equal(parts.micros[2], after);
    for (size_t k = 0; k < 3; k++)
        assert_close(parts.sum[k], 1.0, 1e-15);
    ga_run_rig_close(&rig);
}

/* Not 1.25. */
static void test_27_accum_4_to_2_waits_for_the_next_window(void **state)
{
    (void)state;
    check_accum_change("accum 2", 2);
}

/* Not 1.75. */
static void test_28_accum_4_to_3_waits_for_the_next_window(void **state)
{
    (void)state;
    check_accum_change("accum 3", 3);
}

static int capture(struct ga_run *run, void *arg)
{
    return ga_run_capture(run, arg);
}

/* Windows of 24, 24 and 2 examples have 8, 8 and 2 micro-batches. */
static void test_29_saved_after_micro_3_of_4_goes_on_bit_for_bit(void **state)
{
    const struct ga_test_start start = {.settings = "replicas 2 accum 4 batch 3 momentum 0.9"};
    struct ga_engine_rig whole, saved, loaded;
    struct ga_state kept;

    (void)state;
    ga_engine_rig_open(&whole, &start);
    ga_engine_rig_go(&whole, GA_MOVE_UPDATES, 20);
    ga_engine_rig_open(&saved, &start);
    ga_engine_rig_go(&saved, GA_MOVE_UPDATES, 9);
    ga_engine_rig_go(&saved, GA_MOVE_MICROS, 3);
    ga_test_ok(ga_engine_call(saved.engine, capture, &kept));
    ga_engine_rig_close(&saved);
    ga_engine_rig_open(&loaded, &(struct ga_test_start){.data = "parabola n=3"});
    ga_test_ok(ga_engine_load(loaded.engine, &kept));
    ga_state_fini(&kept);
    assert_int_equal(ga_engine_rig_counters(&loaded).micros, 3 * (8 + 8 + 2) + 3);
    ga_engine_rig_go(&loaded, GA_MOVE_GOTO, 20);
    assert_int_equal(ga_engine_rig_hash(&loaded), ga_engine_rig_hash(&whole));
    ga_engine_rig_close(&loaded);
    ga_engine_rig_close(&whole);
}

static struct ga_memory memory_with(const char *settings)
{
    struct ga_run_rig rig;
    struct ga_memory memory;
    uint64_t run_bytes = 0, history_bytes = 0;

    ga_run_rig_open(&rig, &(struct ga_test_start){.data = "parabola n=512", .settings = settings});
    ga_run_rig_updates(&rig, 3);
    ga_run_memory(rig.run, &memory, &run_bytes, &history_bytes);
    ga_run_rig_close(&rig);
    return memory;
}

static void test_30_memory_does_not_grow_with_accumulation(void **state)
{
    struct ga_memory few = memory_with("replicas 1 accum 2 batch 8");
    struct ga_memory many = memory_with("replicas 1 accum 64 batch 8");

    (void)state;
    assert_true(few.total > 0);
    assert_memory_equal(&few, &many, sizeof few);
    assert_true(memory_with("replicas 1 accum 2 batch 256").activations > few.activations);
}

static void test_31_impossible_accumulations_are_refused(void **state)
{
    const char *const bad[] = {"0", "-1", "1.5", "1000000000", "4x"};
    const struct ga_setting *accum = ga_setting_find("accum");
    struct ga_engine_rig rig;
    struct ga_settings before, draft;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.settings = "accum 4"});
    ga_engine_settings(rig.engine, NULL, &before);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        draft = before;
        assert_true(ga_setting_read(accum, &draft, bad[k]) < 0);
        assert_non_null(strstr(ga_error_text(), "1..262144"));
        assert_int_equal(draft.accum, 4);
        assert_true(ga_setting_same(accum, &draft, &before));
    }
    ga_engine_settings(rig.engine, NULL, &draft);
    assert_true(ga_setting_same(accum, &draft, &before));
    ga_engine_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_27_accum_4_to_2_waits_for_the_next_window),
        cmocka_unit_test(test_28_accum_4_to_3_waits_for_the_next_window),
        cmocka_unit_test(test_29_saved_after_micro_3_of_4_goes_on_bit_for_bit),
        cmocka_unit_test(test_30_memory_does_not_grow_with_accumulation),
        cmocka_unit_test(test_31_impossible_accumulations_are_refused),
    };

    return ga_test_main(tests);
}
