/*
 * Random command sequences at an engine: modes, replicas, windows, scales, failures, forks, and
 * walks through time. Every command comes back, in virtual time every sequence ends at one hash
 * however often it is run, and what was done is done again to the same bits.
 */
#include "support/support.h"

#include <stdio.h>
#include <string.h>

#include "train/support/engine_rig.h"

#define COMMANDS 25

static const char *const changes[] = {
    "mode sync backup 0",
    "mode sync late finish",
    "mode delay lag 2",
    "mode async",
    "mode ssp bound 1",
    "mode ssp bound 0",
    "mode buffered bound none buffer 2",
    "mode buffered bound 0 buffer P",
    "mode local period 3",
    "mode local period 2 outer nesterov(0.7,0.5)",
    "replicas 1 backup 0",
    "replicas 2 backup 0",
    "replicas 5",
    "replicas 8",
    "accum 1",
    "accum 4",
    "batch 1",
    "batch 3",
    "global 30",
    "scale full",
    "scale share",
    "scale staleness",
    "scale rescaled",
    "sharding strided",
    "sharding stream",
    "failure wait",
    "failure continue",
    "late cancel",
    "late finish",
    "backup 1",
    "latency 200us server-time 50us",
    "latency 0 server-time 0",
    "optimizer adam",
    "optimizer sgd nesterov off momentum 0.5",
    "optimizer sgd nesterov off momentum 0 mode hogwild",
    "history-budget 20000",
    "history-budget 1MiB",
};

struct sequence {
    struct ga_engine_rig rig;
    struct ga_test_random draws;
    uint64_t hash; /* of all that was seen */
    int forks;
};

static uint32_t draw(struct sequence *s, uint32_t bound)
{
    return ga_test_draw(&s->draws, bound);
}

static void add(struct sequence *s, uint64_t value)
{
    s->hash = (s->hash ^ value) * UINT64_C(0x100000001b3);
}

/* A move ends well, or says that the killed are missing. */
static void move(struct sequence *s, enum ga_move_kind kind, uint64_t count)
{
    struct ga_stop stop = ga_engine_rig_move(&s->rig, kind, count);

    if (stop.reason == GA_STOP_ERROR && !strstr(stop.error.text, "killed") &&
        !strstr(stop.error.text, "cannot be replayed") &&
        !strstr(stop.error.text, "within history-budget"))
        fail_msg("%s", stop.error.text);
    assert_true(stop.reason == GA_STOP_DONE || stop.reason == GA_STOP_ERROR);
    add(s, (uint64_t)stop.reason);
}

static void run_on(struct sequence *s)
{
    const enum ga_move_kind kinds[] = {GA_MOVE_UPDATES, GA_MOVE_UPDATES, GA_MOVE_MICROS,
                                       GA_MOVE_EVENTS};

    move(s, kinds[draw(s, 4)], 1 + draw(s, 30));
}

static void walk(struct sequence *s)
{
    const enum ga_move_kind kinds[] = {GA_MOVE_BACK_UPDATES, GA_MOVE_BACK_MICROS,
                                       GA_MOVE_BACK_EVENTS};

    move(s, kinds[draw(s, 3)], 1 + draw(s, 20));
}

static void go_to(struct sequence *s)
{
    struct ga_history_info info = ga_engine_rig_history(&s->rig);

    move(s, GA_MOVE_GOTO, draw(s, (uint32_t)info.last_update + 2));
}

/* Some combinations are refused; then nothing has changed. */
static void change(struct sequence *s)
{
    struct ga_change done;

    add(s, ga_engine_rig_try_set(&s->rig, changes[draw(s, sizeof changes / sizeof *changes)],
                                 &done) == GA_OK);
}

static void interfere(struct sequence *s)
{
    struct ga_engine *engine = s->rig.engine;
    struct ga_change done;
    size_t r = draw(s, 5);

    switch (draw(s, 6)) {
    case 0:
    case 1:
        add(s, ga_engine_kill(engine, r, &done) == GA_OK);
        break;
    case 2:
    case 3:
        add(s, ga_engine_revive(engine, r, &done) == GA_OK);
        break;
    case 4:
        add(s, ga_engine_slow(engine, r, 0.5 + draw(s, 4), &done) == GA_OK);
        break;
    default:
        add(s, (draw(s, 2) ? ga_engine_flush : ga_engine_discard)(engine, &done) == GA_OK);
    }
}

static void fork_or_use(struct sequence *s)
{
    char name[16];

    snprintf(name, sizeof name, "f%u", draw(s, 4));
    switch (draw(s, 4)) {
    case 0:
        add(s, ga_engine_fork(s->rig.engine, name) == GA_OK);
        break;
    case 1:
        add(s, ga_engine_drop(s->rig.engine, name) == GA_OK);
        break;
    case 2:
        add(s, ga_engine_use(s->rig.engine, "main") == GA_OK);
        break;
    default:
        add(s, ga_engine_use(s->rig.engine, name) == GA_OK);
    }
}

static void command(struct sequence *s)
{
    static void (*const command_of[])(struct sequence *) = {
        run_on, run_on, run_on, run_on, change, change, interfere, walk, go_to, fork_or_use};

    command_of[draw(s, sizeof command_of / sizeof *command_of)](s);
}

static int check_times(struct ga_run *run, void *arg)
{
    int64_t spent = 0;

    (void)arg;
    for (size_t r = 0; r < ga_run_replicas(run); r++) {
        const struct ga_replica_value *v = ga_run_replica(run, r);
        bool works = v->state == GA_REPLICA_BUSY || v->state == GA_REPLICA_LATE;

        spent += v->busy_ns + v->idle_ns + v->communication_ns + ga_run_now(run) -
                 (works ? v->start_ns : v->free_ns);
        if (v->busy_ns < 0 || v->idle_ns < 0 || v->communication_ns < 0)
            return ga_fail(GA_EINTERNAL, "replica %zu has a time below 0", r);
    }
    if (spent != (int64_t)ga_run_replicas(run) * ga_run_now(run))
        return ga_fail(GA_EINTERNAL, "times do not add up");
    return GA_OK;
}

static void open_sequence(struct sequence *s, uint64_t seed, const char *clock)
{
    char words[160];

    memset(s, 0, sizeof *s);
    s->draws.seed = seed;
    snprintf(words, sizeof words,
             "replicas 3 accum 2 batch 2 lr 0.003 nonfinite skip base 20us per-example 0 jitter "
             "exponential clock %s",
             clock);
    ga_engine_rig_open(
        &s->rig, &(struct ga_test_start){.data = "parabola n=40", .settings = words, .threads = 2});
}

static void run_sequence(struct sequence *s)
{
    for (int k = 0; k < COMMANDS; k++) {
        struct ga_counters counters;

        command(s);
        ga_test_ok(ga_engine_call(s->rig.engine, check_times, NULL));
        counters = ga_engine_rig_counters(&s->rig);
        add(s, ga_engine_rig_hash(&s->rig));
        add(s, counters.events);
        add(s, counters.pushes);
        add(s, counters.examples + counters.examples_dropped + counters.examples_unused);
    }
}

static void check_replay(struct sequence *s)
{
    struct ga_replay replay;
    int code = ga_engine_replay(s->rig.engine, &replay);

    if (code == GA_ESTATE && (strstr(ga_error_text(), "cannot be replayed") ||
                              strstr(ga_error_text(), "within history-budget")))
        return;
    ga_test_ok(code);
    assert_int_equal(replay.recorded, replay.replayed);
}

static void test_virtual_sequences(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < ga_test_count(1000); seed++) {
        uint64_t hash[2];

        for (int twice = 0; twice < 2; twice++) {
            struct sequence s;

            open_sequence(&s, seed, "virtual");
            run_sequence(&s);
            hash[twice] = s.hash;
            check_replay(&s);
            ga_engine_rig_close(&s.rig);
        }
        if (hash[0] != hash[1])
            fail_msg("sequence %d ended in two ways", (int)seed);
    }
}

static void test_real_sequences(void **state)
{
    (void)state;
    for (uint64_t seed = 5000; seed < 5000 + ga_test_count(200); seed++) {
        struct sequence s;

        open_sequence(&s, seed, "real");
        run_sequence(&s);
        check_replay(&s);
        ga_engine_rig_close(&s.rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_virtual_sequences),
        cmocka_unit_test(test_real_sequences),
    };

    return ga_test_main(tests);
}
