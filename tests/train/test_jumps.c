/*
 * Long jumps: they go by slices, and can be looked at, paused, replaced and cut off. Wherever that
 * is, the record is whole and the bits are those of a jump that nobody disturbed.
 */
#include "support/support.h"

#include <sched.h>
#include <string.h>

#include "train/engine_internal.h"
#include "train/support/engine_rig.h"

/* States that are large for a history with room for two states: the first one, and the newest. */
#define SETTINGS "model 1-64-64-1 lr 0.001 history-budget 64KiB"
#define END      60
#define PLACE    40

struct walk {
    struct ga_engine_rig rig;
    uint64_t at_place, at_end;     /* hashes */
    struct ga_counters place, end; /* of a run that went there straight */
};

static void open_walk(struct walk *walk)
{
    ga_engine_rig_open(&walk->rig, &(struct ga_test_start){.settings = SETTINGS, .threads = 1});
    ga_engine_rig_go(&walk->rig, GA_MOVE_UPDATES, PLACE);
    walk->at_place = ga_engine_rig_hash(&walk->rig);
    walk->place = ga_engine_rig_counters(&walk->rig);
    ga_engine_rig_go(&walk->rig, GA_MOVE_UPDATES, END - PLACE);
    walk->at_end = ga_engine_rig_hash(&walk->rig);
    walk->end = ga_engine_rig_counters(&walk->rig);
    assert_in_range(ga_engine_rig_history(&walk->rig).states, 1, 3);
}

static void check_at_place(struct walk *walk)
{
    assert_int_equal(ga_engine_rig_counters(&walk->rig).events, walk->place.events);
    assert_int_equal(ga_engine_rig_hash(&walk->rig), walk->at_place);
    assert_int_equal(ga_engine_rig_history(&walk->rig).last_update, END);
}

static void go_to_end(struct walk *walk)
{
    ga_engine_rig_go(&walk->rig, GA_MOVE_GOTO, END);
    assert_int_equal(ga_engine_rig_hash(&walk->rig), walk->at_end);
}

/*
 * A jump that has made one event when the test asks for something: its letter lies between two
 * others, the first of which waits until the last is in the box, and the last until another is.
 */
struct held {
    struct engine_call before, jump, behind;
    sem_t posted;
    struct ga_move move;
    uint64_t ticket;
};

static int wait_until_posted(struct ga_engine *engine, void *arg)
{
    (void)engine;
    sem_wait(arg);
    return GA_OK;
}

static int begin_jump(struct ga_engine *engine, void *arg)
{
    const struct held *held = arg;

    return ga_engine_begin_move(engine, &held->move, held->ticket);
}

static int wait_for_a_letter(struct ga_engine *engine, void *arg)
{
    (void)arg;
    while (!ga_mailbox_waiting(engine->mail))
        sched_yield();
    return GA_OK;
}

static void post(struct ga_engine *engine, struct engine_call *letter,
                 int (*call)(struct ga_engine *engine, void *arg), void *arg)
{
    *letter = (struct engine_call){.call = call, .arg = arg};
    sem_init(&letter->done, 0, 0);
    ga_mailbox_post(engine->mail, &letter->letter);
}

static void hold(struct held *held, struct ga_engine_rig *rig, enum ga_move_kind kind,
                 uint64_t count)
{
    struct ga_engine *engine = rig->engine;

    held->move = (struct ga_move){.kind = kind, .count = count};
    pthread_mutex_lock(&engine->lock);
    held->ticket = ++engine->next_ticket;
    pthread_mutex_unlock(&engine->lock);
    sem_init(&held->posted, 0, 0);
    post(engine, &held->before, wait_until_posted, &held->posted);
    post(engine, &held->jump, begin_jump, held);
    post(engine, &held->behind, wait_for_a_letter, NULL);
    sem_post(&held->posted);
}

static void take_back(struct engine_call *letter)
{
    sem_wait(&letter->done);
    assert_int_equal(letter->code, GA_OK);
    sem_destroy(&letter->done);
}

/* Behind what the test asked for. */
static void let_go(struct held *held)
{
    take_back(&held->before);
    take_back(&held->jump);
    take_back(&held->behind);
    sem_destroy(&held->posted);
}

/* A pause waits for one event and no more. */
static struct ga_stop break_off(struct ga_engine_rig *rig, enum ga_move_kind kind, uint64_t count)
{
    struct held held;

    hold(&held, rig, kind, count);
    ga_engine_pause(rig->engine);
    let_go(&held);
    assert_false(ga_engine_jumping(rig->engine));
    assert_false(ga_engine_moving(rig->engine));
    return ga_engine_rig_wait(rig, held.ticket);
}

static void test_a_jump_is_broken_off_and_goes_on(void **state)
{
    struct walk walk;

    (void)state;
    open_walk(&walk);
    const struct {
        enum ga_move_kind kind;
        uint64_t count;
        const char *unit;
        uint64_t from, to;
        enum ga_move_kind on;
    } jumps[] = {
        {GA_MOVE_GOTO, PLACE, "update", END, PLACE, GA_MOVE_UPDATES},
        {GA_MOVE_BACK_UPDATES, END - PLACE, "update", END, PLACE, GA_MOVE_UPDATES},
        {GA_MOVE_BACK_MICROS, walk.end.micros - walk.place.micros, "micro-batch", walk.end.micros,
         walk.place.micros, GA_MOVE_MICROS},
        {GA_MOVE_BACK_EVENTS, walk.end.events - walk.place.events, "event", walk.end.events,
         walk.place.events, GA_MOVE_EVENTS},
    };
    for (size_t k = 0; k < sizeof jumps / sizeof *jumps; k++) {
        struct ga_stop stop = break_off(&walk.rig, jumps[k].kind, jumps[k].count);

        assert_string_equal(stop.way.unit, jumps[k].unit);
        assert_int_equal(stop.way.from, jumps[k].from);
        assert_int_equal(stop.way.to, jumps[k].to);
        assert_true(stop.way.at < stop.way.to);
        assert_int_equal(stop.reason, GA_STOP_PAUSED);
        assert_int_equal(stop.events, 1);
        assert_int_equal(ga_engine_rig_counters(&walk.rig).events, stop.events);
        ga_engine_rig_go(&walk.rig, jumps[k].on, stop.way.to - stop.way.at);
        if (jumps[k].kind != GA_MOVE_BACK_MICROS) /* they end before the window does */
            check_at_place(&walk);
        go_to_end(&walk);
    }
    ga_engine_rig_close(&walk.rig);
}

static void test_a_replay_is_broken_off(void **state)
{
    struct walk walk;
    struct ga_replay replay;
    struct ga_stop stop;

    (void)state;
    open_walk(&walk);
    stop = break_off(&walk.rig, GA_MOVE_REPLAY, 0);
    assert_string_equal(stop.way.unit, "event");
    assert_int_equal(stop.way.to, walk.end.events);
    ga_engine_rig_go(&walk.rig, GA_MOVE_EVENTS, stop.way.to - stop.way.at);
    assert_int_equal(ga_engine_rig_hash(&walk.rig), walk.at_end);
    ga_test_ok(ga_engine_replay(walk.rig.engine, &replay));
    assert_int_equal(replay.events, walk.end.events);
    assert_int_equal(replay.recorded, walk.at_end);
    assert_int_equal(replay.replayed, walk.at_end);
    ga_engine_rig_close(&walk.rig);
}

/* However often it is broken off, asking again gets there: it goes on from where it stands. */
static void test_a_jump_gets_there_in_pieces(void **state)
{
    struct ga_stop stop = {.reason = GA_STOP_PAUSED};
    struct walk walk;
    uint64_t events = 0;

    (void)state;
    open_walk(&walk);
    while (stop.reason == GA_STOP_PAUSED) {
        stop = break_off(&walk.rig, GA_MOVE_GOTO, PLACE);
        assert_int_equal(stop.events, events + 1);
        events = stop.events;
    }
    assert_int_equal(stop.reason, GA_STOP_DONE);
    assert_int_equal(stop.events, walk.place.events);
    check_at_place(&walk);
    go_to_end(&walk);
    ga_engine_rig_close(&walk.rig);
}

static int flush(struct ga_engine_rig *rig, struct ga_change *out)
{
    return ga_engine_flush(rig->engine, out);
}

static int discard(struct ga_engine_rig *rig, struct ga_change *out)
{
    return ga_engine_discard(rig->engine, out);
}

static int slow(struct ga_engine_rig *rig, struct ga_change *out)
{
    return ga_engine_slow(rig->engine, 0, 2, out);
}

static int kill_one(struct ga_engine_rig *rig, struct ga_change *out)
{
    return ga_engine_kill(rig->engine, 0, out);
}

/* Other settings than those in force, without asking the engine for them. */
static int change(struct ga_engine_rig *rig, struct ga_change *out)
{
    struct ga_settings draft;

    ga_test_start_settings(&(struct ga_test_start){.settings = SETTINGS " lr 0.5"}, &draft);
    return ga_engine_change(rig->engine, &draft, out);
}

/* Nothing changes a run that is on its way, and it arrives nevertheless. */
static void test_changes_are_refused_on_the_way(void **state)
{
    int (*const changes[])(struct ga_engine_rig * rig,
                           struct ga_change * out) = {change, flush, discard, slow, kill_one};
    struct walk walk;
    struct ga_change done;

    (void)state;
    open_walk(&walk);
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
        struct held held;

        hold(&held, &walk.rig, GA_MOVE_GOTO, PLACE);
        ga_test_refused(changes[k](&walk.rig, &done), GA_ESTATE,
                        "on its way to update 40: expected `pause`");
        let_go(&held);
        assert_int_equal(ga_engine_rig_wait(&walk.rig, held.ticket).reason, GA_STOP_DONE);
        check_at_place(&walk);
        go_to_end(&walk);
    }
    break_off(&walk.rig, GA_MOVE_GOTO, PLACE);
    ga_test_ok(change(&walk.rig, &done)); /* now it does, and another future begins */
    assert_int_equal(done.forgotten, END);
    ga_engine_rig_close(&walk.rig);
}

/* What the user did at a place is done again there, however the way to it is cut. */
static void test_changes_lie_on_the_way(void **state)
{
    struct ga_counters place = {0}, end;
    struct ga_engine_rig rig;
    struct ga_change change;
    struct ga_stop stop;
    uint64_t at_place = 0, at_end = 0;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.settings = SETTINGS, .threads = 1});
    for (int k = 0; k < 10; k++) {
        ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 3);
        ga_engine_rig_set(&rig, k % 2 ? "accum 4 batch 5" : "accum 5 batch 4");
        if (k == 6) {
            place = ga_engine_rig_counters(&rig);
            at_place = ga_engine_rig_hash(&rig);
        }
        ga_engine_rig_go(&rig, GA_MOVE_EVENTS, 4);
        if (k % 3 == 0)
            ga_test_ok(ga_engine_flush(rig.engine, &change));
    }
    end = ga_engine_rig_counters(&rig);
    at_end = ga_engine_rig_hash(&rig);
    do
        stop = break_off(&rig, GA_MOVE_GOTO, place.updates);
    while (stop.reason == GA_STOP_PAUSED);
    assert_int_equal(stop.reason, GA_STOP_DONE);
    assert_int_equal(stop.events, place.events);
    assert_int_equal(ga_engine_rig_hash(&rig), at_place);
    ga_engine_rig_go(&rig, GA_MOVE_EVENTS, end.events - place.events);
    assert_int_equal(ga_engine_rig_hash(&rig), at_end);
    ga_engine_rig_close(&rig);
}

static void test_another_move_replaces_a_jump(void **state)
{
    struct walk walk;
    struct held held;

    (void)state;
    open_walk(&walk);
    hold(&held, &walk.rig, GA_MOVE_GOTO, PLACE);
    go_to_end(&walk);
    let_go(&held);
    hold(&held, &walk.rig, GA_MOVE_GOTO, PLACE);
    assert_int_equal(ga_engine_rig_go(&walk.rig, GA_MOVE_RESET, 0).events, 0);
    let_go(&held);
    ga_engine_rig_go(&walk.rig, GA_MOVE_UPDATES, PLACE);
    assert_int_equal(ga_engine_rig_hash(&walk.rig), walk.at_place);
    ga_engine_rig_close(&walk.rig);
}

/* A copy made on the way stands there, with all of the record. */
static void test_forks_of_a_jump(void **state)
{
    struct ga_run_info info;
    struct walk walk;
    struct held held;

    (void)state;
    open_walk(&walk);
    hold(&held, &walk.rig, GA_MOVE_GOTO, PLACE);
    ga_test_ok(ga_engine_fork(walk.rig.engine, "copy"));
    let_go(&held);
    assert_int_equal(ga_engine_rig_wait(&walk.rig, held.ticket).reason, GA_STOP_DONE);
    check_at_place(&walk);
    ga_test_ok(ga_engine_run_named(walk.rig.engine, "copy", &info));
    assert_false(info.moving);
    assert_int_equal(info.counters.events, 1);
    hold(&held, &walk.rig, GA_MOVE_BACK_UPDATES, 2);
    ga_test_ok(ga_engine_use(walk.rig.engine, "copy"));
    let_go(&held);
    assert_int_equal(ga_engine_rig_wait(&walk.rig, held.ticket).reason, GA_STOP_PAUSED);
    ga_engine_rig_go(&walk.rig, GA_MOVE_GOTO, PLACE);
    check_at_place(&walk);
    go_to_end(&walk);
    ga_test_ok(ga_engine_use(walk.rig.engine, GA_FIRST_RUN));
    ga_test_ok(ga_engine_drop(walk.rig.engine, "copy"));
    go_to_end(&walk);
    ga_engine_rig_close(&walk.rig);
}

static void test_data_and_the_end_cut_it_off(void **state)
{
    struct ga_dataset *data = ga_test_start_data(&(struct ga_test_start){.data = "parabola n=9"});
    struct walk walk;
    struct held held;
    struct ga_stop stop;

    (void)state;
    open_walk(&walk);
    hold(&held, &walk.rig, GA_MOVE_GOTO, PLACE);
    ga_test_ok(ga_engine_data(walk.rig.engine, data));
    let_go(&held);
    stop = ga_engine_rig_wait(&walk.rig, held.ticket);
    assert_int_equal(stop.reason, GA_STOP_REPLACED);
    assert_int_equal(stop.way.to, PLACE);
    assert_int_equal(ga_engine_rig_counters(&walk.rig).events, 0);
    ga_engine_rig_go(&walk.rig, GA_MOVE_UPDATES, 9);
    hold(&held, &walk.rig, GA_MOVE_REPLAY, 0);
    ga_engine_rig_close(&walk.rig); /* in the middle of it */
    let_go(&held);
}

static int publish_and_wait(struct ga_engine *engine, void *arg)
{
    ga_engine_publish(engine);
    sem_post(arg);
    return wait_for_a_letter(engine, NULL);
}

/* A screen can tell a jump from training. */
static void test_the_view_says_so(void **state)
{
    struct walk walk;
    struct held held;
    struct engine_call look;
    const struct ga_view *view;
    sem_t published;

    (void)state;
    sem_init(&published, 0, 0);
    open_walk(&walk);
    assert_false(ga_engine_view(walk.rig.engine)->jumping);
    hold(&held, &walk.rig, GA_MOVE_GOTO, PLACE);
    post(walk.rig.engine, &look, publish_and_wait, &published);
    let_go(&held);
    sem_wait(&published);
    view = ga_engine_view(walk.rig.engine);
    assert_true(view->running && view->jumping);
    assert_int_equal(view->target_updates, PLACE);
    ga_engine_pause(walk.rig.engine);
    take_back(&look);
    sem_destroy(&published);
    ga_engine_rig_wait(&walk.rig, held.ticket);
    view = ga_engine_view(walk.rig.engine);
    assert_false(view->running || view->jumping);
    ga_engine_rig_close(&walk.rig);
}

static int capture(struct ga_run *run, void *arg)
{
    return ga_run_capture(run, arg);
}

/* The run goes on from the state that was loaded, not from where the jump had come to. */
static void test_a_load_cuts_it_off(void **state)
{
    struct walk walk;
    struct held held;
    struct ga_stop stop;
    struct ga_state kept;

    (void)state;
    open_walk(&walk);
    ga_engine_rig_go(&walk.rig, GA_MOVE_GOTO, PLACE);
    ga_test_ok(ga_engine_call(walk.rig.engine, capture, &kept));
    go_to_end(&walk);
    hold(&held, &walk.rig, GA_MOVE_GOTO, PLACE - 1);
    ga_test_ok(ga_engine_load(walk.rig.engine, &kept));
    let_go(&held);
    stop = ga_engine_rig_wait(&walk.rig, held.ticket);
    assert_int_equal(stop.reason, GA_STOP_REPLACED);
    assert_string_equal(stop.way.unit, "update");
    assert_int_equal(stop.way.to, PLACE - 1);
    assert_false(ga_engine_jumping(walk.rig.engine));
    assert_false(ga_engine_moving(walk.rig.engine));
    assert_int_equal(ga_engine_rig_hash(&walk.rig), walk.at_place);
    assert_int_equal(ga_engine_rig_history(&walk.rig).last_update, PLACE);
    ga_engine_rig_go(&walk.rig, GA_MOVE_UPDATES, END - PLACE);
    assert_int_equal(ga_engine_rig_hash(&walk.rig), walk.at_end);
    ga_state_fini(&kept);
    ga_engine_rig_close(&walk.rig);
}

/* A race happens again in its own order, in pieces too. */
static void test_a_race_is_walked_in_pieces(void **state)
{
    struct ga_engine_rig rig;
    struct ga_stop stop;
    uint64_t end = 0, place = 0;

    (void)state;
    ga_engine_rig_open(
        &rig, &(struct ga_test_start){.settings = "model 1-64-64-1 lr 0.0001 clock real mode async "
                                                  "replicas 3 accum 2 history-budget 1MiB",
                                      .threads = 2});
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, PLACE);
    place = ga_engine_rig_hash(&rig);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 3 * END);
    end = ga_engine_rig_hash(&rig);
    stop = break_off(&rig, GA_MOVE_REPLAY, 0);
    assert_int_equal(stop.reason, GA_STOP_PAUSED);
    ga_engine_rig_go(&rig, GA_MOVE_EVENTS, stop.way.to - stop.way.at);
    assert_int_equal(ga_engine_rig_hash(&rig), end);
    ga_engine_rig_go(&rig, GA_MOVE_GOTO, PLACE);
    assert_int_equal(ga_engine_rig_hash(&rig), place);
    ga_engine_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_jump_is_broken_off_and_goes_on),
        cmocka_unit_test(test_a_replay_is_broken_off),
        cmocka_unit_test(test_a_jump_gets_there_in_pieces),
        cmocka_unit_test(test_changes_are_refused_on_the_way),
        cmocka_unit_test(test_changes_lie_on_the_way),
        cmocka_unit_test(test_another_move_replaces_a_jump),
        cmocka_unit_test(test_forks_of_a_jump),
        cmocka_unit_test(test_data_and_the_end_cut_it_off),
        cmocka_unit_test(test_the_view_says_so),
        cmocka_unit_test(test_a_load_cuts_it_off),
        cmocka_unit_test(test_a_race_is_walked_in_pieces),
    };

    return ga_test_main(tests);
}
