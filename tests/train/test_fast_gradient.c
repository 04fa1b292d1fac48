/*
 * numerics fast with one replica: g is divided in the same pass as the step is taken, and made only
 * where somebody looks. What is seen stays what it would be: g itself, its norm, the step from it,
 * in every phase, behind a state and behind what takes the sums away.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"
#include "train/support/run_rig.h"

static void open_rig(struct ga_run_rig *rig, const char *settings)
{
    char words[400];

    snprintf(words, sizeof words, "numerics fast replicas 1 batch 7 lr 0.01 %s", settings);
    ga_run_rig_open(rig, &(struct ga_test_start){.settings = words});
}

static float *gradient_of(const struct ga_run *run)
{
    size_t count = ga_run_version(run)->parameters;
    const float *gradient = ga_run_gradient(run);
    float *copy = malloc(count * sizeof *copy);

    assert_non_null(gradient);
    assert_non_null(copy);
    memcpy(copy, gradient, count * sizeof *copy);
    return copy;
}

static void check_same(const struct ga_run *run, const float *want)
{
    const float *gradient = ga_run_gradient(run);

    assert_non_null(gradient);
    assert_memory_equal(gradient, want, ga_run_version(run)->parameters * sizeof *want);
}

/* The gradient by the exact numerics at the same weights. */
static void check_against_exact(const struct ga_run *run, const char *settings, const float *g)
{
    struct ga_run_rig exact;
    char words[300];
    const float *want = NULL;
    double distance = 0, norm = 0;

    snprintf(words, sizeof words, "%s numerics exact", settings);
    open_rig(&exact, words);
    ga_run_rig_until(&exact, GA_EVENT_REDUCE);
    want = ga_run_gradient(exact.run);
    for (size_t i = 0; i < ga_run_version(run)->parameters; i++) {
        distance += ((double)g[i] - (double)want[i]) * ((double)g[i] - (double)want[i]);
        norm += (double)want[i] * (double)want[i];
    }
    assert_true(sqrt(distance) <= 4e-6 * sqrt(norm));
    assert_close(ga_run_last_event(run)->norm, sqrt(norm), 1e-5);
    ga_run_rig_close(&exact);
}

static const char *const kinds[] = {"accum 1", "accum 3", "accum 3 clip 0.5", "accum 2 reduce sum",
                                    "accum 1 momentum 0.9 weight-decay 0.1"};

static void test_phases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct ga_run_rig rig;
        float *gradient = NULL;

        open_rig(&rig, kinds[i]);
        ga_run_rig_until(&rig, GA_EVENT_REDUCE);
        gradient = gradient_of(rig.run);
        check_against_exact(rig.run, kinds[i], gradient);
        while (ga_run_last_event(rig.run)->kind != GA_EVENT_CLEAR) {
            check_same(rig.run, gradient);
            ga_run_rig_events(&rig, 1);
        }
        check_same(rig.run, gradient);
        free(gradient);
        ga_run_rig_close(&rig);
    }
}

/* w - lr g, whether anybody looked at g before the step or not. */
static void test_step(void **state)
{
    struct ga_run_rig seen, unseen;
    float *old = NULL, *gradient = NULL;
    size_t count = 0;

    (void)state;
    open_rig(&seen, "accum 3");
    open_rig(&unseen, "accum 3");
    count = ga_run_version(seen.run)->parameters;
    old = malloc(count * sizeof *old);
    assert_non_null(old);
    memcpy(old, ga_run_version(seen.run)->weights, count * sizeof *old);
    ga_run_rig_until(&seen, GA_EVENT_REDUCE);
    gradient = gradient_of(seen.run);
    ga_run_rig_until(&seen, GA_EVENT_CLEAR);
    ga_run_rig_until(&unseen, GA_EVENT_CLEAR);
    assert_int_equal(ga_run_hash(seen.run), ga_run_hash(unseen.run));
    for (size_t i = 0; i < count; i++)
        assert_close((double)ga_run_rig_weight(&seen, i),
                     (double)old[i] - 0.01 * (double)gradient[i], 1e-6);
    free(old);
    free(gradient);
    ga_run_rig_close(&seen);
    ga_run_rig_close(&unseen);
}

/* From every event of a window: the other run has the gradient, and takes the same step from it. */
static void check_state_at(const char *settings, uint64_t events)
{
    struct ga_run_rig rig, other;
    struct ga_state kept;
    const float *gradient = NULL;

    open_rig(&rig, settings);
    open_rig(&other, settings);
    ga_run_rig_events(&rig, events);
    ga_run_rig_updates(&other, 2);
    ga_test_ok(ga_run_capture(rig.run, &kept));
    ga_test_ok(ga_run_restore(other.run, &kept));
    gradient = ga_run_gradient(other.run);
    if (ga_run_phase(rig.run) > GA_PHASE_REDUCE)
        check_same(rig.run, gradient);
    ga_run_rig_updates(&rig, 3);
    ga_run_rig_updates(&other, 3);
    assert_int_equal(ga_run_hash(other.run), ga_run_hash(rig.run));
    assert_true(ga_run_last_record(other.run)->grad_norm == ga_run_last_record(rig.run)->grad_norm);
    ga_state_fini(&kept);
    ga_run_rig_close(&rig);
    ga_run_rig_close(&other);
}

static void test_states(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        for (uint64_t events = 1; events <= 16; events++)
            check_state_at(kinds[i], events);
    }
}

static void check_after(const char *change, uint64_t events, const float *gradient)
{
    struct ga_run_rig rig;

    open_rig(&rig, "accum 2");
    ga_run_rig_until(&rig, GA_EVENT_CLEAR);
    ga_test_ok(ga_run_rig_set(&rig, change));
    ga_run_rig_events(&rig, events);
    if (events == 0 || ga_run_gradient(rig.run))
        check_same(rig.run, gradient);
    ga_run_rig_close(&rig);
}

/* The last window's gradient stays while replicas come, and in other modes until one of theirs;
 * nobody has looked at it before. */
static void test_sums_taken_away(void **state)
{
    static const char *const changes[] = {"replicas 3", "mode async", "mode async replicas 2"};

    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct ga_run_rig looked;
        float *gradient = NULL;

        open_rig(&looked, "accum 2");
        ga_run_rig_until(&looked, GA_EVENT_CLEAR);
        gradient = gradient_of(looked.run);
        for (uint64_t events = 0; events < 3; events++)
            check_after(changes[i], events, gradient);
        free(gradient);
        ga_run_rig_close(&looked);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_phases),
        cmocka_unit_test(test_step),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_sums_taken_away),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
