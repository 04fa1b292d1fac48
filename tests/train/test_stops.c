/* How moves end: counts, conditions, breakpoints, pause, another move; and what they tell. */
#include "support/support.h"

#include <poll.h>
#include <pthread.h>
#include <string.h>

#include "base/thread.h"
#include "train/support/engine_rig.h"

/* Holds where update >= low and (updates - low) % every < width. */
struct wave {
    uint64_t low, every, width;
    int closed;
};

static bool wave_holds(const void *self, struct ga_run *run)
{
    const struct wave *wave = self;
    uint64_t updates = ga_run_counters(run)->updates;

    return updates >= wave->low && (updates - wave->low) % wave->every < wave->width;
}

static void wave_close(void *self)
{
    ((struct wave *)self)->closed++;
}

static struct ga_condition condition(struct wave *wave, const char *text)
{
    struct ga_condition out = {.holds = wave_holds, .close = wave_close, .self = wave};

    strcpy(out.text, text);
    return out;
}

static void open_plain(struct ga_engine_rig *rig)
{
    ga_engine_rig_open(rig, &(struct ga_test_start){.threads = 1});
}

static void check_break(const struct ga_stop *stop, int number, const char *text, uint64_t updates)
{
    assert_int_equal(stop->reason, GA_STOP_BREAK);
    assert_int_equal(stop->breakpoint, number);
    assert_string_equal(stop->text, text);
    assert_int_equal(stop->updates, updates);
    assert_true(stop->at_boundary);
}

/* A breakpoint stops when its condition becomes true, not while it stays true. */
static void test_breaks_stop_at_the_edge(void **state)
{
    struct wave wave = {10, 8, 3, 0};
    struct ga_condition on_wave = condition(&wave, "the wave");
    struct ga_engine_rig rig;
    struct ga_stop stop;

    (void)state;
    open_plain(&rig);
    assert_int_equal(ga_engine_break_add(rig.engine, &on_wave), 1);
    stop = ga_engine_rig_move(&rig, GA_MOVE_UPDATES, 100);
    check_break(&stop, 1, "the wave", 10);
    stop = ga_engine_rig_move(&rig, GA_MOVE_UPDATES, 100);
    check_break(&stop, 1, "the wave", 18);
    ga_engine_rig_go(&rig, GA_MOVE_GOTO, 11);
    stop = ga_engine_rig_move(&rig, GA_MOVE_GOTO, 30);
    check_break(&stop, 1, "the wave", 18);
    ga_engine_rig_go(&rig, GA_MOVE_GOTO, 9);
    stop = ga_engine_rig_move(&rig, GA_MOVE_FOREVER, 0);
    check_break(&stop, 1, "the wave", 10);
    ga_test_ok(ga_engine_break_delete(rig.engine, 1));
    assert_int_equal(wave.closed, 1);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 100);
    ga_engine_rig_close(&rig);
    assert_int_equal(wave.closed, 1);
}

static void test_a_break_that_holds_already_waits_for_its_edge(void **state)
{
    struct wave wave = {0, 10, 5, 0};
    struct ga_condition on_wave = condition(&wave, "w");
    struct ga_engine_rig rig;
    struct ga_stop stop;

    (void)state;
    open_plain(&rig);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 2);
    assert_int_equal(ga_engine_break_add(rig.engine, &on_wave), 1);
    stop = ga_engine_rig_move(&rig, GA_MOVE_UPDATES, 100);
    check_break(&stop, 1, "w", 10);
    ga_engine_rig_close(&rig);
    assert_int_equal(wave.closed, 1);
}

/* The number of a deleted breakpoint is not given again; of several the first is named. */
static void test_breakpoints_are_numbered(void **state)
{
    struct wave waves[4] = {{5, 100, 1, 0}, {5, 100, 1, 0}, {7, 100, 1, 0}, {8, 100, 1, 0}};
    struct ga_condition conditions[4];
    struct ga_engine_rig rig;
    struct ga_stop stop;
    char text[128];
    int number = 0;

    (void)state;
    open_plain(&rig);
    for (int k = 0; k < 3; k++) {
        conditions[k] = condition(&waves[k], k == 0 ? "a" : k == 1 ? "b" : "c");
        assert_int_equal(ga_engine_break_add(rig.engine, &conditions[k]), k + 1);
    }
    stop = ga_engine_rig_move(&rig, GA_MOVE_FOREVER, 0);
    check_break(&stop, 1, "a", 5);
    ga_test_ok(ga_engine_break_delete(rig.engine, 2));
    ga_test_refused(ga_engine_break_delete(rig.engine, 2), GA_EINPUT, "no breakpoint 2");
    ga_test_refused(ga_engine_break_delete(rig.engine, 0), GA_EINPUT, "no breakpoint 0");
    ga_test_refused(ga_engine_break_delete(rig.engine, -1), GA_EINPUT, "no breakpoint -1");
    conditions[3] = condition(&waves[3], "d");
    assert_int_equal(ga_engine_break_add(rig.engine, &conditions[3]), 4);
    stop = ga_engine_rig_move(&rig, GA_MOVE_FOREVER, 0);
    check_break(&stop, 3, "c", 7);
    stop = ga_engine_rig_move(&rig, GA_MOVE_FOREVER, 0);
    check_break(&stop, 4, "d", 8);
    for (size_t k = 0; ga_engine_break_at(rig.engine, k, &number, text); k++)
        assert_int_equal(text[0], "?a?cd"[number]);
    assert_false(ga_engine_break_at(rig.engine, 3, &number, text));
    ga_engine_rig_close(&rig);
    for (int k = 0; k < 4; k++)
        assert_int_equal(waves[k].closed, 1);
}

static void test_there_is_an_end_of_breakpoints(void **state)
{
    struct wave wave = {1000000, 1, 1, 0};
    struct ga_condition never = condition(&wave, "never");
    struct ga_engine_rig rig;
    int most = 0;

    (void)state;
    open_plain(&rig);
    while (ga_engine_break_add(rig.engine, &never) > 0)
        most++;
    assert_int_equal(most, 64);
    ga_test_refused(ga_engine_break_add(rig.engine, &never), GA_ERANGE, "delete one first");
    ga_test_ok(ga_engine_break_delete(rig.engine, 5));
    assert_int_equal(ga_engine_break_add(rig.engine, &never), 65);
    ga_engine_rig_close(&rig);
    assert_int_equal(wave.closed, 65);
}

static struct ga_stop run_until(struct ga_engine_rig *rig, struct wave *wave)
{
    struct ga_move move = {.kind = GA_MOVE_UNTIL, .until = condition(wave, "until")};
    uint64_t ticket = 0;

    ga_test_ok(ga_engine_move(rig->engine, &move, &ticket));
    return ga_engine_rig_wait(rig, ticket);
}

static void test_until(void **state)
{
    struct wave until = {13, 100, 10, 0}, first = {12, 100, 1, 0};
    struct ga_condition on_first = condition(&first, "first");
    struct ga_engine_rig rig;
    struct ga_stop stop;

    (void)state;
    open_plain(&rig);
    stop = run_until(&rig, &until);
    assert_int_equal(stop.reason, GA_STOP_DONE);
    assert_int_equal(stop.updates, 13);
    assert_int_equal(until.closed, 1);
    stop = run_until(&rig, &until); /* it holds already */
    assert_int_equal(stop.updates, 13);
    assert_int_equal(until.closed, 2);
    ga_engine_rig_go(&rig, GA_MOVE_RESET, 0);
    assert_int_equal(ga_engine_break_add(rig.engine, &on_first), 1);
    stop = run_until(&rig, &until); /* a breakpoint may come first */
    check_break(&stop, 1, "first", 12);
    assert_int_equal(until.closed, 3);
    ga_engine_rig_close(&rig);
    assert_int_equal(until.closed, 3);
}

static void test_counts_end_where_they_say(void **state)
{
    struct ga_engine_rig rig;
    struct ga_stop stop;

    (void)state;
    ga_engine_rig_open(
        &rig, &(struct ga_test_start){.settings = "replicas 2 accum 2 batch 5 per-example 1ms"});
    stop = ga_engine_rig_go(&rig, GA_MOVE_EVENTS, 17);
    assert_int_equal(stop.events, 17);
    assert_int_equal(ga_engine_rig_go(&rig, GA_MOVE_MICROS, 6).micros, stop.micros + 6);
    stop = ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 1);
    assert_true(stop.at_boundary);
    assert_int_equal(stop.updates, 4);
    stop = ga_engine_rig_go(&rig, GA_MOVE_EPOCHS, 2); /* windows of 20, 20, 10 */
    assert_int_equal(stop.updates, 9);
    assert_int_equal(ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 0).events, stop.events);
    stop = ga_engine_rig_go(&rig, GA_MOVE_TIME, 1);
    assert_false(stop.at_boundary);
    assert_true(ga_engine_rig_metric(&rig, GA_METRIC_TIME, -1) >= 0.075);
    ga_engine_rig_close(&rig);
}

struct pauser {
    struct ga_engine *engine;
    atomic_bool wanted;
};

static void *pause_it(void *arg)
{
    struct pauser *pauser = arg;

    while (!atomic_load(&pauser->wanted))
        ;
    ga_engine_pause(pauser->engine);
    return NULL;
}

/* A pause from another thread changes nothing but where the move ends. */
static void test_pause_from_another_thread(void **state)
{
    struct ga_engine_rig rig, other;
    struct ga_stop stop;

    (void)state;
    open_plain(&rig);
    open_plain(&other);
    for (uint64_t k = 1; k <= 5; k++) {
        struct pauser pauser = {.engine = rig.engine};
        uint64_t ticket = ga_engine_rig_begin(&rig, GA_MOVE_FOREVER, 0);
        pthread_t thread;

        assert_true(ga_engine_moving(rig.engine));
        assert_int_equal(pthread_create(&thread, NULL, pause_it, &pauser), 0);
        while (ga_engine_rig_counters(&rig).updates < 10 * k)
            ;
        atomic_store(&pauser.wanted, true);
        stop = ga_engine_rig_wait(&rig, ticket);
        assert_int_equal(stop.reason, GA_STOP_PAUSED);
        assert_false(ga_engine_moving(rig.engine));
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    ga_engine_pause(rig.engine); /* nothing moves: nothing happens */
    ga_engine_rig_go(&other, GA_MOVE_EVENTS, stop.events);
    assert_int_equal(ga_engine_rig_hash(&rig), ga_engine_rig_hash(&other));
    ga_engine_rig_close(&other);
    ga_engine_rig_close(&rig);
}

static void test_a_new_move_replaces_the_old_one(void **state)
{
    struct wave never = {UINT64_MAX, 1, 1, 0};
    struct ga_move until = {.kind = GA_MOVE_UNTIL, .until = condition(&never, "never")};
    struct ga_engine_rig rig;
    uint64_t first = 0, second = 0;

    (void)state;
    open_plain(&rig);
    ga_test_ok(ga_engine_move(rig.engine, &until, &first));
    second = ga_engine_rig_begin(&rig, GA_MOVE_EVENTS, 3);
    assert_true(second > first);
    ga_engine_rig_wait(&rig, first);
    assert_int_equal(never.closed, 1);
    assert_int_equal(ga_engine_rig_wait(&rig, second).reason, GA_STOP_DONE);
    ga_test_ok(ga_engine_move(rig.engine, &until, &first));
    ga_engine_rig_close(&rig); /* in mid-move */
    assert_int_equal(never.closed, 2);
}

static void test_a_wait_has_a_deadline(void **state)
{
    struct ga_engine_rig rig;
    struct ga_stop stop;
    uint64_t ticket = 0;

    (void)state;
    open_plain(&rig);
    ticket = ga_engine_rig_begin(&rig, GA_MOVE_FOREVER, 0);
    assert_false(ga_engine_wait(rig.engine, ticket, ga_now_ns() + 1000000, &stop));
    assert_false(ga_engine_wait(rig.engine, ticket, 0, &stop));
    ga_engine_pause(rig.engine);
    assert_true(ga_engine_wait(rig.engine, ticket, 0, &stop));
    ga_engine_rig_close(&rig);
}

/* Pace delays, and never changes a bit. */
static void test_pace_never_changes_a_bit(void **state)
{
    const char *const paces[] = {"pace max", "pace 20000", "pace x1000"};
    uint64_t hash[3], events[3];
    int64_t begin = 0;

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        struct ga_engine_rig rig;

        ga_engine_rig_open(&rig, &(struct ga_test_start){.settings = paces[k]});
        begin = ga_now_ns();
        ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 40);
        if (k == 1)
            assert_true(ga_now_ns() - begin >= 39 * INT64_C(50000));
        if (k == 2)
            assert_true(ga_now_ns() - begin >= 39 * INT64_C(25000));
        hash[k] = ga_engine_rig_hash(&rig);
        events[k] = ga_engine_rig_counters(&rig).events;
        assert_int_equal(hash[k], hash[0]);
        assert_int_equal(events[k], events[0]);
        ga_engine_rig_close(&rig);
    }
}

struct watch {
    uint64_t seen, last;
    bool disorder;
};

static void watch_update(void *self, struct ga_run *run, const struct ga_update_record *record)
{
    struct watch *watch = self;

    watch->disorder = watch->disorder || record->update != watch->last + 1 ||
                      ga_run_counters(run)->updates != record->update;
    watch->last = record->update;
    watch->seen++;
}

/* Observers see every closed window of a forward move once, and nothing of going back. */
static void test_observers(void **state)
{
    struct watch watch = {0, 0, false};
    struct ga_observer observer = {.update = watch_update, .self = &watch};
    struct ga_engine_rig rig;
    int most = 1;

    (void)state;
    open_plain(&rig);
    ga_test_ok(ga_engine_observe(rig.engine, &observer));
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 20);
    assert_int_equal(watch.seen, 20);
    ga_engine_rig_go(&rig, GA_MOVE_BACK_UPDATES, 7);
    assert_int_equal(watch.seen, 20);
    watch.last = 13;
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 10);
    assert_int_equal(watch.seen, 30);
    assert_false(watch.disorder);
    ga_engine_unobserve(rig.engine, &watch);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 10);
    assert_int_equal(watch.seen, 30);
    ga_test_ok(ga_engine_observe(rig.engine, &observer));
    while (ga_engine_observe(rig.engine, &observer) == GA_OK)
        most++;
    assert_int_equal(most, 8);
    ga_engine_rig_close(&rig);
}

/* The bell rings when a move ends, and the view shows where. */
static void test_bell_and_view(void **state)
{
    struct ga_bell bell;
    struct ga_engine_options options = {.bell = &bell, .threads = 1};
    struct ga_engine_rig rig;
    struct pollfd ready;
    const struct ga_view *view = NULL;

    (void)state;
    ga_test_ok(ga_bell_open(&bell));
    ga_test_ok(ga_engine_open(&rig.engine, &options));
    view = ga_engine_view(rig.engine);
    assert_false(view->open || view->running);
    assert_int_equal(view->settings.replicas, 2);
    ga_test_ok(ga_engine_data(rig.engine, ga_test_start_data(&(struct ga_test_start){0})));
    ga_bell_clear(&bell);
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 9);
    ga_engine_rig_go(&rig, GA_MOVE_MICROS, 3);
    ready = (struct pollfd){.fd = bell.fd, .events = POLLIN};
    assert_int_equal(poll(&ready, 1, 60000), 1);
    view = ga_engine_view(rig.engine);
    assert_true(view->open);
    assert_false(view->running);
    assert_int_equal(view->counters.updates, 9);
    assert_int_equal(view->record.update, 9);
    assert_int_equal(view->hash, ga_engine_rig_hash(&rig));
    assert_int_equal(view->window_examples, 50);
    assert_int_equal(view->window_left, 35);
    assert_int_equal(view->replicas, 2);
    assert_int_equal(view->replica[0].micro + view->replica[1].micro, 3);
    assert_int_equal(view->event.kind, GA_EVENT_MICRO);
    ga_engine_rig_close(&rig);
    ga_bell_close(&bell);
}

/* The screen's thread reads while the engine writes: every view is whole. */
static void test_views_while_it_runs(void **state)
{
    struct ga_engine_rig rig;
    uint64_t ticket = 0, last = 0;

    (void)state;
    open_plain(&rig);
    ticket = ga_engine_rig_begin(&rig, GA_MOVE_FOREVER, 0);
    while (last < 1000) {
        const struct ga_view *view = ga_engine_view(rig.engine);

        assert_true(view->counters.updates >= last);
        assert_true(view->record.update <= view->counters.updates);
        if (view->open) {
            assert_int_equal(view->replicas, 2);
            assert_true(view->counters.micros >= 10 * view->counters.updates);
        }
        last = view->counters.updates;
    }
    ga_engine_pause(rig.engine);
    assert_int_equal(ga_engine_rig_wait(&rig, ticket).reason, GA_STOP_PAUSED);
    ga_engine_rig_close(&rig);
}

/* Neither pause nor the end waits for the pace. */
static void test_a_paced_wait_can_be_ended(void **state)
{
    struct ga_engine_rig rig;
    uint64_t ticket = 0;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.settings = "pace 0.001"});
    ticket = ga_engine_rig_begin(&rig, GA_MOVE_FOREVER, 0);
    while (ga_engine_rig_counters(&rig).updates == 0)
        ;
    ga_engine_pause(rig.engine);
    assert_int_equal(ga_engine_rig_wait(&rig, ticket).reason, GA_STOP_PAUSED);
    ga_engine_rig_begin(&rig, GA_MOVE_FOREVER, 0);
    while (ga_engine_rig_counters(&rig).updates == 1)
        ;
    ga_engine_rig_close(&rig);
}

static int count_call(struct ga_run *run, void *arg)
{
    (void)run;
    (*(int *)arg)++;
    return GA_OK;
}

/* Without data everything that needs a run is refused, and says what to do. */
static void test_without_data(void **state)
{
    struct ga_engine_rig rig;
    struct ga_engine_options options = {.threads = 1};
    struct ga_history_info info;
    struct ga_change change;
    struct ga_stop stop;
    int calls = 0;

    (void)state;
    ga_test_ok(ga_engine_open(&rig.engine, &options));
    stop = ga_engine_rig_move(&rig, GA_MOVE_UPDATES, 1);
    assert_int_equal(stop.reason, GA_STOP_ERROR);
    assert_int_equal(stop.error.code, GA_ESTATE);
    assert_non_null(strstr(stop.error.text, "there is no data"));
    ga_test_refused(ga_engine_call(rig.engine, count_call, &calls), GA_ESTATE, "there is no data");
    ga_test_refused(ga_engine_flush(rig.engine, &change), GA_ESTATE, "there is no data");
    assert_int_equal(ga_engine_rig_move(&rig, GA_MOVE_RESET, 0).reason, GA_STOP_ERROR);
    ga_engine_history(rig.engine, &info);
    assert_int_equal(info.states, 0);
    assert_int_equal(calls, 0);
    ga_test_ok(ga_engine_rig_try_set(&rig, "accum 3", &change));
    ga_test_ok(ga_engine_data(rig.engine, ga_test_start_data(&(struct ga_test_start){0})));
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 1);
    assert_int_equal(ga_engine_rig_record(&rig).window_micros, 6);
    ga_engine_rig_close(&rig);
}

/* Data that the model does not fit: refused when a run is needed, and a change mends it. */
static void test_model_and_data_that_do_not_fit(void **state)
{
    struct ga_engine_rig rig;
    struct ga_stop stop;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.settings = "model 3-4-1"});
    stop = ga_engine_rig_move(&rig, GA_MOVE_FOREVER, 0);
    assert_int_equal(stop.reason, GA_STOP_ERROR);
    assert_non_null(strstr(stop.error.text, "set model 1-4-1"));
    ga_engine_rig_set(&rig, "model 1-4-1 loss xent");
    stop = ga_engine_rig_move(&rig, GA_MOVE_FOREVER, 0);
    assert_non_null(strstr(stop.error.text, "loss mse"));
    ga_engine_rig_set(&rig, "loss mse");
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 3);
    ga_engine_rig_close(&rig);
}

/* A model before its data is fine, but the view says why there is no run yet. */
static void test_the_view_tells_what_does_not_fit(void **state)
{
    struct ga_engine_rig rig;
    struct ga_stop stop;

    (void)state;
    ga_engine_rig_open(&rig, &(struct ga_test_start){.settings = "model 5-4-1"});
    assert_non_null(strstr(ga_engine_view(rig.engine)->misfit, "model 5-4-1 does not fit"));
    assert_non_null(strstr(ga_engine_view(rig.engine)->misfit, "set model 1-4-1"));
    stop = ga_engine_rig_move(&rig, GA_MOVE_UPDATES, 1);
    assert_int_equal(stop.reason, GA_STOP_ERROR);
    assert_non_null(strstr(stop.error.text, "model 5-4-1 does not fit"));
    ga_engine_rig_set(&rig, "model 1-4-1");
    assert_string_equal(ga_engine_view(rig.engine)->misfit, "");
    ga_engine_rig_go(&rig, GA_MOVE_UPDATES, 1);
    ga_engine_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_breaks_stop_at_the_edge),
        cmocka_unit_test(test_a_break_that_holds_already_waits_for_its_edge),
        cmocka_unit_test(test_breakpoints_are_numbered),
        cmocka_unit_test(test_there_is_an_end_of_breakpoints),
        cmocka_unit_test(test_until),
        cmocka_unit_test(test_counts_end_where_they_say),
        cmocka_unit_test(test_pause_from_another_thread),
        cmocka_unit_test(test_a_new_move_replaces_the_old_one),
        cmocka_unit_test(test_a_wait_has_a_deadline),
        cmocka_unit_test(test_pace_never_changes_a_bit),
        cmocka_unit_test(test_observers),
        cmocka_unit_test(test_bell_and_view),
        cmocka_unit_test(test_views_while_it_runs),
        cmocka_unit_test(test_a_paced_wait_can_be_ended),
        cmocka_unit_test(test_without_data),
        cmocka_unit_test(test_model_and_data_that_do_not_fit),
        cmocka_unit_test(test_the_view_tells_what_does_not_fit),
    };

    return ga_test_main(tests);
}
