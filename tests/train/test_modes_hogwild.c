/*
 * hogwild: in virtual time against a simulation of its definition, coordinate by coordinate; on the
 * real clock what can be said of a run without locks.
 */
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/thread.h"
#include "train/run_internal.h"
#include "train/support/engine_rig.h"
#include "train/support/run_rig.h"

/* ---- the definition ---- */

#define COORDINATES 3
#define RACERS      4

static const double lambda[COORDINATES] = {1, 0.5, 0.25};

struct racer {
    int64_t start_ns, span_ns;
    int step; /* reads 0..n-1, then writes n..2n-1, then the push */
    float read[COORDINATES], change[COORDINATES];
    unsigned seen[COORDINATES];
};

struct simulation {
    int racers;
    bool lossy;
    float lr, w[COORDINATES];
    unsigned writes[COORDINATES];
    uint64_t pushes, lost;
    struct racer racer[RACERS];
};

static int64_t time_of(const struct racer *racer)
{
    return racer->start_ns + racer->span_ns * racer->step / (2 * COORDINATES);
}

static struct racer *next_racer(struct simulation *sim)
{
    struct racer *first = &sim->racer[0];

    for (int r = 1; r < sim->racers; r++)
        if (time_of(&sim->racer[r]) < time_of(first))
            first = &sim->racer[r];
    return first;
}

static void read_one(struct simulation *sim, struct racer *racer, int j)
{
    racer->read[j] = sim->w[j];
    racer->seen[j] = sim->writes[j];
    racer->change[j] = -(sim->lr * (float)(lambda[j] * (double)sim->w[j]));
}

static void write_one(struct simulation *sim, struct racer *racer, int j)
{
    if (sim->lossy)
        sim->lost += sim->writes[j] - racer->seen[j];
    sim->w[j] = (sim->lossy ? racer->read[j] : sim->w[j]) + racer->change[j];
    sim->writes[j]++;
}

static void simulate_push(struct simulation *sim)
{
    for (uint64_t before = sim->pushes; sim->pushes == before;) {
        struct racer *racer = next_racer(sim);

        if (racer->step < COORDINATES) {
            read_one(sim, racer, racer->step++);
        } else if (racer->step < 2 * COORDINATES) {
            write_one(sim, racer, racer->step - COORDINATES);
            racer->step++;
        } else {
            racer->start_ns += racer->span_ns;
            racer->step = 0;
            sim->pushes++;
        }
    }
}

static const double speeds[][RACERS] = {
    {1, 1, 1, 1}, {1, 1.5, 2.25, 0.7}, {1, 0.1, 0.1, 0.1}, {1, 1.001, 1.002, 1.003}, {3, 2, 1, 7}};

static void check_definition(const double *speed, bool lossy)
{
    struct simulation sim = {.racers = RACERS, .lossy = lossy, .lr = 0.02f, .w = {1, 1, 1}};
    struct ga_run_rig rig;
    char words[160];

    snprintf(words, sizeof words,
             "replicas 4 accum 1 global 4 lr 0.02 base 1us per-example 0 mode hogwild writes %s",
             lossy ? "lossy" : "atomic");
    ga_run_rig_open(&rig, &(struct ga_test_start){.data = "quadratic lambda=1,0.5,0.25 n=4",
                                                  .settings = words});
    for (size_t r = 0; r < RACERS; r++) {
        ga_test_ok(ga_run_slow(rig.run, r, speed[r]));
        sim.racer[r].span_ns = (int64_t)llround(1000 * speed[r]);
    }
    for (int k = 0; k < 200; k++) {
        ga_run_rig_updates(&rig, 1);
        simulate_push(&sim);
        assert_int_equal(ga_run_counters(rig.run)->lost, sim.lost);
        for (size_t j = 0; j < COORDINATES; j++)
            assert_true(ga_run_rig_weight(&rig, j) == sim.w[j]);
    }
    assert_true(lossy ? sim.lost > 0 : sim.lost == 0);
    ga_run_rig_close(&rig);
}

static void test_virtual_time_is_the_definition(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof speeds / sizeof *speeds; k++) {
        check_definition(speeds[k], false);
        check_definition(speeds[k], true);
    }
}

/* ---- the real clock ---- */

static void open_real(struct ga_engine_rig *rig, const char *more, int threads)
{
    char words[256];

    snprintf(words, sizeof words, "clock real mode hogwild base 20us per-example 0 lr 0.002 %s",
             more);
    ga_engine_rig_open(rig, &(struct ga_test_start){.settings = words, .threads = threads});
}

static int check_books(struct ga_run *run, void *arg)
{
    const struct ga_counters *counters = ga_run_counters(run);
    uint64_t started = 0, held = 0;

    (void)arg;
    for (size_t r = 0; r < ga_run_replicas(run); r++) {
        started += ga_run_replica(run, r)->items;
        held += ga_run_replica(run, r)->state != GA_REPLICA_READY;
    }
    if (counters->pushes != counters->updates + counters->skipped ||
        counters->items_applied != counters->updates ||
        started != counters->items_applied + counters->items_dropped + held)
        return ga_fail(GA_EINTERNAL, "%llu started, %llu pushed, %llu applied, %llu dropped",
                       (unsigned long long)started, (unsigned long long)counters->pushes,
                       (unsigned long long)counters->items_applied,
                       (unsigned long long)counters->items_dropped);
    return GA_OK;
}

static void check_real(const char *more, bool lossy)
{
    for (int threads = 2; threads <= 4; threads += 2) {
        struct ga_engine_rig rig;
        double before = 0;

        open_real(&rig, more, threads);
        before = ga_engine_rig_metric(&rig, GA_METRIC_DATASET_LOSS, -1);
        for (int k = 0; k < 10; k++) {
            ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 40);
            ga_test_ok(ga_engine_call(rig.engine, check_books, NULL));
        }
        assert_true(ga_engine_rig_metric(&rig, GA_METRIC_DATASET_LOSS, -1) < before);
        if (!lossy)
            assert_int_equal(ga_engine_rig_counters(&rig).lost, 0);
        ga_engine_rig_close(&rig);
    }
}

static void test_real_runs(void **state)
{
    (void)state;
    check_real("replicas 4 writes atomic", false);
    check_real("replicas 4 writes lossy", true);
    check_real("replicas 5 accum 3 sharding strided writes atomic scale share", false);
    check_real("replicas 3 model 1-40-40-1 init xavier writes lossy", true);
}

/* Nothing that a worker is at may be touched: settings change, replicas come and go. */
static void test_real_runs_can_be_changed(void **state)
{
    const char *const changes[] = {"lr 0.001",          "writes atomic",       "clip 2",
                                   "accum 2",           "late finish",         "replicas 3",
                                   "scale share",       "mode async",          "mode hogwild",
                                   "weight-decay 0.01", "history-budget 1MiB", "late cancel",
                                   "mode sync",         "mode hogwild"};

    (void)state;
    for (int threads = 2; threads <= 4; threads += 2) {
        struct ga_engine_rig rig;
        struct ga_change change;
        uint64_t target = 0, ticket = 0;
        int64_t deadline = ga_now_ns() + INT64_C(100000000000);

        open_real(&rig, "replicas 4 global 40 failure continue", threads);
        ticket = ga_engine_rig_begin(&rig, GA_MOVE_FOREVER, 0);
        for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
            for (target += 15; ga_engine_rig_counters(&rig).updates < target;)
                assert_true(ga_now_ns() < deadline && ga_engine_moving(rig.engine));
            ga_engine_rig_set(&rig, changes[k]);
            ga_test_ok(ga_engine_kill(rig.engine, k % 3, &change));
            ga_test_ok(ga_engine_revive(rig.engine, k % 3, &change));
        }
        ga_engine_pause(rig.engine);
        assert_int_equal(ga_engine_rig_wait(&rig, ticket).reason, GA_STOP_PAUSED);
        ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 10);
        ga_engine_rig_close(&rig);
    }
}

static void test_real_runs_cannot_be_replayed(void **state)
{
    struct ga_engine_rig rig;
    struct ga_replay replay;
    struct ga_stop stop;
    const enum ga_move_kind back[] = {GA_MOVE_BACK_EVENTS, GA_MOVE_BACK_UPDATES,
                                      GA_MOVE_BACK_MICROS, GA_MOVE_GOTO};

    (void)state;
    open_real(&rig, "replicas 3", 2);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 20);
    ga_test_refused(ga_engine_replay(rig.engine, &replay), GA_ESTATE, "cannot be replayed");
    for (size_t k = 0; k < 4; k++) {
        stop = ga_engine_rig_move(&rig, back[k], 3);
        assert_int_equal(stop.reason, GA_STOP_ERROR);
        assert_non_null(strstr(stop.error.text, "cannot be replayed"));
        assert_int_equal(ga_engine_rig_counters(&rig).updates, 20);
    }
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 10);
    ga_engine_rig_close(&rig);
}

/* What lies before and what lies behind it: one can be walked through, the other not. */
static void test_what_lies_around_can_be_replayed(void **state)
{
    struct ga_engine_rig rig;
    struct ga_replay replay;
    struct ga_stop stop;
    uint64_t before = 0, behind = 0;

    (void)state;
    open_real(&rig, "replicas 3 mode async", 2);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 20);
    before = ga_engine_rig_hash(&rig);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 20);
    ga_test_ok(ga_engine_replay(rig.engine, &replay));
    ga_engine_rig_set(&rig, "mode hogwild");
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 20);
    ga_engine_rig_set(&rig, "mode async");
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 20);
    behind = ga_engine_rig_hash(&rig);
    ga_test_refused(ga_engine_replay(rig.engine, &replay), GA_ESTATE, "cannot be replayed");
    stop = ga_engine_rig_move(&rig, GA_MOVE_GOTO, 50);
    assert_int_equal(stop.reason, GA_STOP_ERROR);
    assert_int_equal(ga_engine_rig_hash(&rig), behind);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 5);
    ga_engine_rig_go(&rig, GA_MOVE_GOTO, 20);
    assert_int_equal(ga_engine_rig_hash(&rig), before);
    ga_engine_rig_go(&rig, GA_MOVE_GOTO, 40);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 60); /* into it: another way from there */
    assert_int_equal(ga_engine_rig_history(&rig).last_update, 100);
    stop = ga_engine_rig_move(&rig, GA_MOVE_GOTO, 70);
    assert_int_equal(stop.reason, GA_STOP_ERROR);
    assert_non_null(strstr(stop.error.text, "cannot be replayed"));
    ga_engine_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_virtual_time_is_the_definition),
        cmocka_unit_test(test_real_runs),
        cmocka_unit_test(test_real_runs_can_be_changed),
        cmocka_unit_test(test_real_runs_cannot_be_replayed),
        cmocka_unit_test(test_what_lies_around_can_be_replayed),
    };

    return ga_test_main(tests);
}
