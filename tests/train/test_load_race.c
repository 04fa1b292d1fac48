/*
 * A race of the real clock taken up by another engine: what was recorded ahead happens again, then
 * the clock decides, and the history that begins with the load can be walked and replayed.
 */
#include "support/support.h"

#include "train/support/engine_rig.h"

#define REAL "clock real per-example 0 accum 2 batch 2 "

static const char *const races[] = {
    REAL "replicas 4 mode async momentum 0.9",
    REAL "replicas 3 mode ssp bound 1 sharding strided",
    REAL "replicas 4 mode buffered buffer 2 optimizer adam",
    REAL "replicas 3 mode local period 2",
};
#define RACES (sizeof races / sizeof *races)

static void open_race(struct ga_engine_rig *rig, const char *words)
{
    ga_engine_rig_open(
        rig, &(struct ga_test_start){.data = "parabola n=40", .settings = words, .threads = 3});
}

static int capture(struct ga_run *run, void *arg)
{
    int code = ga_run_capture(run, arg);

    return code < 0 ? code : ga_run_capture_race(run, arg);
}

/* The state of a race that has gone back from update 40 to 25, and the hash of update 40. */
static uint64_t make_race(const char *words, struct ga_state *kept)
{
    struct ga_engine_rig rig;
    uint64_t hash = 0;

    open_race(&rig, words);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 40);
    hash = ga_engine_rig_hash(&rig);
    ga_engine_rig_go(&rig, GA_MOVE_GOTO, 25);
    ga_test_ok(ga_engine_call(rig.engine, capture, kept));
    assert_true(kept->races > kept->counters.turns - kept->race_base);
    ga_engine_rig_close(&rig);
    return hash;
}

static void assert_replays(struct ga_engine_rig *rig)
{
    struct ga_replay replay;

    ga_test_ok(ga_engine_replay(rig->engine, &replay));
    assert_int_equal(replay.replayed, replay.recorded);
    assert_int_equal(replay.events, ga_engine_rig_counters(rig).events);
}

static void test_a_loaded_race_goes_on_and_replays(void **state)
{
    (void)state;
    for (size_t k = 0; k < RACES; k++) {
        struct ga_engine_rig rig;
        struct ga_state kept;
        uint64_t recorded = make_race(races[k], &kept), hash[51];

        open_race(&rig, "replicas 1");
        ga_test_ok(ga_engine_load(rig.engine, &kept));
        ga_state_fini(&kept);
        assert_replays(&rig);
        for (uint64_t update = 25; update <= 50; update++) {
            hash[update] = ga_engine_rig_hash(&rig);
            ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 1);
        }
        assert_int_equal(hash[40], recorded);
        for (uint64_t update = 50; update >= 25; update -= 5) {
            ga_engine_rig_go(&rig, GA_MOVE_GOTO, update);
            assert_int_equal(ga_engine_rig_hash(&rig), hash[update]);
        }
        ga_engine_rig_go(&rig, GA_MOVE_GOTO, 50);
        assert_replays(&rig);
        ga_engine_rig_close(&rig);
    }
}

/* Changed where the record goes on, it is forgotten from there, as anywhere in a race. */
static void test_a_change_ends_a_loaded_record(void **state)
{
    struct ga_engine_rig rig;
    struct ga_state kept, later;

    (void)state;
    make_race(races[0], &kept);
    open_race(&rig, "replicas 1");
    ga_test_ok(ga_engine_load(rig.engine, &kept));
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 3);
    ga_engine_rig_set(&rig, "mode ssp bound 0");
    ga_test_ok(ga_engine_call(rig.engine, capture, &later));
    assert_int_equal(later.races, later.counters.turns - later.race_base);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 20);
    assert_replays(&rig);
    ga_state_fini(&kept);
    ga_state_fini(&later);
    ga_engine_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_loaded_race_goes_on_and_replays),
        cmocka_unit_test(test_a_change_ends_a_loaded_record),
    };

    return ga_test_main(tests);
}
