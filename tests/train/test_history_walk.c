/*
 * Random walks through time: moves forward and back, changes, slow replicas, flushes and discards,
 * against a model that keeps the surviving timeline as a list of what was done at which event and
 * runs it from the start. Every place must have the bits that the model had there.
 */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "train/history.h"
#include "train/support/engine_rig.h"
#include "train/support/run_rig.h"

struct place {
    struct ga_counters counters;
    uint64_t hash;
    int64_t now_ns;
    bool boundary;
    double figures[4]; /* of the last record */
    uint64_t emitted;  /* event records up to here; an event may have several, or none */
};

struct model {
    struct ga_test_start start;
    struct ga_run_rig rig; /* always at the end of the timeline */
    struct place *place;   /* by events: 0 .. end */
    size_t capacity;
    uint64_t end, now, emitted;
    struct ga_intervention did[128];
    struct ga_settings settings[128]; /* of did[i] */
    size_t count;
};

static int look_at_run(struct ga_run *run, void *arg)
{
    const struct ga_update_record *record = ga_run_last_record(run);
    struct place *place = arg;

    *place = (struct place){
        .counters = *ga_run_counters(run),
        .hash = ga_run_hash(run),
        .now_ns = ga_run_now(run),
        .boundary = ga_run_at_boundary(run),
    };
    if (record) {
        place->figures[0] = record->loss;
        place->figures[1] = record->update_norm;
        place->figures[2] = record->noise_trace;
        place->figures[3] = record->noise_signal;
    }
    return GA_OK;
}

static void note_place(struct model *model)
{
    model->end = ga_run_counters(model->rig.run)->events;
    ga_test_ok(
        ga_grow((void **)&model->place, &model->capacity, model->end + 1, sizeof *model->place));
    look_at_run(model->rig.run, &model->place[model->end]);
    model->place[model->end].emitted = model->emitted;
}

static int act(struct ga_run *run, const struct ga_intervention *what)
{
    switch (what->kind) {
    case GA_DID_CHANGE:
        return ga_run_change(run, what->settings);
    case GA_DID_SLOW:
        return ga_run_slow(run, what->replica, what->factor);
    case GA_DID_FLUSH:
        return ga_run_flush(run);
    default:
        return ga_run_discard(run);
    }
}

static void count_event(void *self, const struct ga_event *event)
{
    (void)event;
    ((struct model *)self)->emitted++;
}

static void open_run(struct model *model)
{
    ga_run_rig_open(&model->rig, &model->start);
    model->emitted = 0;
    ga_run_watch(model->rig.run, count_event, NULL, model);
}

static void open_model(struct model *model, const struct ga_test_start *start)
{
    memset(model, 0, sizeof *model);
    model->start = *start;
    open_run(model);
    note_place(model);
}

static void close_model(struct model *model)
{
    ga_run_rig_close(&model->rig);
    free(model->place);
}

/* What leads on from where it is done is still to come when the run stands there. */
static bool stays(const struct model *model, size_t k)
{
    const struct ga_intervention *what = &model->did[k];
    bool closes = what->kind == GA_DID_FLUSH || what->kind == GA_DID_DISCARD;

    return what->events < model->now || (what->events == model->now && !closes);
}

/* The timeline up to the present place, from the start, with what was done here. */
static void cut_future(struct model *model)
{
    struct ga_run *run = NULL;
    size_t kept = 0, done = 0;

    if (model->now == model->end)
        return;
    while (kept < model->count && stays(model, kept))
        kept++;
    ga_run_rig_close(&model->rig);
    open_run(model);
    run = model->rig.run;
    while (ga_run_counters(run)->events < model->now) {
        if (done < kept && model->did[done].events == ga_run_counters(run)->events)
            ga_test_ok(act(run, &model->did[done++]));
        else
            ga_test_ok(ga_run_event(run));
    }
    while (done < kept)
        ga_test_ok(act(run, &model->did[done++]));
    model->count = kept;
    note_place(model);
    assert_int_equal(model->end, model->now);
}

static void extend(struct model *model)
{
    ga_test_ok(ga_run_event(model->rig.run));
    note_place(model);
}

/* An update is counted by APPLY, its window closes with CLEAR. */
static uint64_t closed_at(const struct model *model, uint64_t at)
{
    while (!model->place[at].boundary)
        at--;
    return ga_history_key(&model->place[at].counters, GA_KEY_CLOSED);
}

static uint64_t key_at(const struct model *model, uint64_t at, enum ga_history_key key)
{
    if (key == GA_KEY_CLOSED)
        return closed_at(model, at);
    return ga_history_key(&model->place[at].counters, key);
}

/* The first place from `at` on with key >= target, at a boundary where windows are counted. */
static uint64_t find(struct model *model, uint64_t at, enum ga_history_key key, uint64_t target)
{
    bool boundary = key == GA_KEY_CLOSED || key == GA_KEY_UPDATES;

    for (;; at++) {
        if (at > model->end)
            extend(model);
        assert_true(model->end < 10000); /* else it goes on without an end */
        if ((!boundary || model->place[at].boundary) && key_at(model, at, key) >= target)
            return at;
    }
}

static uint64_t find_back(struct model *model, enum ga_history_key key, uint64_t count)
{
    uint64_t value = key_at(model, model->now, key);

    if (key == GA_KEY_CLOSED && !model->place[model->now].boundary)
        value++;
    return find(model, 0, key, value > count ? value - count : 0);
}

struct step {
    enum ga_move_kind kind;
    enum ga_history_key key;
    bool back;
    uint32_t most;
};

static const struct step steps[] = {
    {GA_MOVE_UPDATES, GA_KEY_CLOSED, false, 4},     {GA_MOVE_MICROS, GA_KEY_MICROS, false, 9},
    {GA_MOVE_EVENTS, GA_KEY_EVENTS, false, 40},     {GA_MOVE_BACK_UPDATES, GA_KEY_CLOSED, true, 5},
    {GA_MOVE_BACK_MICROS, GA_KEY_MICROS, true, 12}, {GA_MOVE_BACK_EVENTS, GA_KEY_EVENTS, true, 30},
    {GA_MOVE_GOTO, GA_KEY_UPDATES, false, 0},
};

static void walk_step(struct ga_engine_rig *rig, struct model *model, struct ga_test_random *random)
{
    const struct step *step = &steps[ga_test_draw(random, sizeof steps / sizeof *steps)];
    uint64_t count = step->most ? ga_test_draw(random, step->most) + 1 : 0;

    if (step->kind == GA_MOVE_GOTO) {
        count = ga_test_draw(random, (uint32_t)model->place[model->end].counters.updates + 3);
        model->now = find(model, 0, step->key, count);
    } else if (step->back) {
        model->now = find_back(model, step->key, count);
    } else {
        model->now =
            find(model, model->now, step->key, key_at(model, model->now, step->key) + count);
    }
    ga_engine_rig_go(rig, step->kind, count);
}

static const char *const changes[] = {
    "accum 1",
    "accum 3",
    "batch 1",
    "batch 4",
    "global 7",
    "replicas 1",
    "replicas 2",
    "replicas 4",
    "lr 0.001",
    "lr 0.02",
    "optimizer adam",
    "optimizer sgd momentum 0.5",
    "sharding strided",
    "sharding stream",
    "sharding contiguous",
    "backup 1",
    "backup 0",
    "late finish",
    "late cancel",
    "tail wrap",
    "tail short",
    "jitter exponential",
    "jitter constant",
    "per-example 3ms",
    "latency 2ms",
    "clip 0.25",
    "log-every 3",
    "mode sync",
    "mode async",
    "mode ssp bound 1",
    "mode buffered buffer 2",
    "mode local period 2",
    "mode delay lag 2",
    "mode hogwild",
    "scale share",
    "scale full",
};

static void keep_intervention(struct model *model, const struct ga_intervention *what)
{
    assert_true(model->count < 128);
    model->did[model->count] = *what;
    if (what->settings) {
        model->settings[model->count] = *what->settings;
        model->did[model->count].settings = &model->settings[model->count];
    }
    model->count++;
}

static bool same_window_settings(const struct ga_settings *a, const struct ga_settings *b)
{
    for (size_t i = 0; i < ga_setting_count(); i++)
        if (ga_setting_at(i)->when == GA_WHEN_WINDOW && !ga_setting_same(ga_setting_at(i), a, b))
            return false;
    return true;
}

/* The draft is what the timeline has at this place; a change that changes nothing leaves no trace.
 */
static void walk_change(struct ga_engine_rig *rig, struct model *model,
                        struct ga_test_random *random)
{
    const char *words = changes[ga_test_draw(random, sizeof changes / sizeof *changes)];
    struct ga_settings before, draft;
    struct ga_change change;
    struct ga_intervention what = {.kind = GA_DID_CHANGE, .settings = &draft, .events = model->now};
    uint64_t end = model->place[model->end].counters.updates;
    bool forgets = model->now < model->end;
    int code = 0;

    ga_engine_settings(rig->engine, NULL, &before);
    draft = before;
    ga_test_ok(ga_test_read_settings(&draft, words));
    code = ga_engine_change(rig->engine, &draft, &change);
    if (code < 0)
        assert_true(ga_run_check_settings(&draft, ga_run_data(model->rig.run)) < 0);
    if (code < 0 || same_window_settings(&before, &draft))
        return;
    assert_int_equal(change.forgotten, forgets ? end : 0);
    cut_future(model);
    assert_true(same_window_settings(&before, ga_run_pending(model->rig.run)));
    ga_test_ok(act(model->rig.run, &what));
    assert_int_equal(change.from_update, ga_run_next_window_update(model->rig.run));
    keep_intervention(model, &what);
}

static int would_refuse(const struct ga_run *run, const struct ga_intervention *what)
{
    if (what->kind == GA_DID_SLOW)
        return ga_run_check_slow(run, what->replica, what->factor);
    return what->kind == GA_DID_FLUSH ? ga_run_check_flush(run) : ga_run_check_discard(run);
}

/* What the engine refuses leaves the future where it is. */
static void walk_intervene(struct ga_engine_rig *rig, struct model *model,
                           struct ga_test_random *random, enum ga_intervention_kind kind)
{
    struct ga_intervention what = {
        .kind = kind,
        .events = model->now,
        .replica = ga_test_draw(random, 4),
        .factor = 0.5 + ga_test_draw(random, 4),
    };
    struct ga_change change;
    int code = kind == GA_DID_SLOW ? ga_engine_slow(rig->engine, what.replica, what.factor, &change)
               : kind == GA_DID_FLUSH ? ga_engine_flush(rig->engine, &change)
                                      : ga_engine_discard(rig->engine, &change);

    if (model->now == model->end)
        assert_int_equal(code, would_refuse(model->rig.run, &what));
    if (code < 0)
        return;
    cut_future(model);
    ga_test_ok(act(model->rig.run, &what));
    keep_intervention(model, &what);
    if (kind == GA_DID_SLOW)
        return;
    note_place(model);
    model->now = find(model, model->end, GA_KEY_CLOSED, 0);
}

struct look {
    struct place place;
    struct ga_history_info info;
    uint64_t first_sequence, last_sequence, events;
    uint64_t last_closed, records;
    bool disorder;
};

static int look_at_event(const struct ga_event *event, void *arg)
{
    struct look *look = arg;

    if (look->events == 0)
        look->first_sequence = event->sequence;
    else if (event->sequence < look->last_sequence)
        look->disorder = true;
    look->last_sequence = event->sequence;
    look->events++;
    return GA_OK;
}

static int look_at_record(const struct ga_update_record *record, void *arg)
{
    struct look *look = arg;
    uint64_t closed = record->update + record->skipped;

    if (look->records > 0 && closed != look->last_closed + 1)
        look->disorder = true;
    look->last_closed = closed;
    look->records++;
    return GA_OK;
}

/* Each event record since the oldest one kept is there once. The oldest may lack its companions. */
static void check_tape(const struct model *model, const struct look *look)
{
    uint64_t whole = 0;

    if (look->events == 0)
        return;
    whole = model->place[model->now].emitted - model->place[look->first_sequence].emitted;
    assert_true(look->last_sequence <= model->now);
    assert_in_range(look->events, whole + 1,
                    model->place[model->now].emitted -
                        model->place[look->first_sequence - 1].emitted);
}

/* Engine and model stand at the same place; records and events lead up to it without a gap. */
static void compare(struct ga_engine_rig *rig, const struct model *model)
{
    const struct place *want = &model->place[model->now];
    struct look look = {.disorder = false};

    ga_test_ok(ga_engine_call(rig->engine, look_at_run, &look.place));
    assert_memory_equal(&look.place.counters, &want->counters, sizeof want->counters);
    assert_memory_equal(look.place.figures, want->figures, sizeof want->figures);
    assert_int_equal(look.place.hash, want->hash);
    assert_int_equal(look.place.now_ns, want->now_ns);
    assert_int_equal(look.place.boundary, want->boundary);
    look.info = ga_engine_rig_history(rig);
    assert_int_equal(look.info.last_update, model->place[model->end].counters.updates);
    ga_test_ok(ga_engine_events(rig->engine, SIZE_MAX, look_at_event, &look));
    ga_test_ok(ga_engine_records(rig->engine, look_at_record, &look));
    assert_false(look.disorder);
    check_tape(model, &look);
    if (look.records > 0)
        assert_int_equal(look.last_closed, closed_at(model, model->now));
}

static void walk(uint64_t seed, const char *settings)
{
    const struct ga_test_start start = {.data = "parabola n=23", .settings = settings};
    struct ga_test_random random = {.seed = seed};
    struct ga_engine_rig rig;
    struct model model;

    ga_engine_rig_open(&rig, &start);
    open_model(&model, &start);
    for (int k = 0; k < 60; k++) {
        uint32_t choice = ga_test_draw(&random, 20);

        if (choice < 12)
            walk_step(&rig, &model, &random);
        else if (choice < 16 && model.end > 0)
            walk_change(&rig, &model, &random);
        else if (choice < 18)
            walk_intervene(&rig, &model, &random, GA_DID_FLUSH);
        else if (choice < 19)
            walk_intervene(&rig, &model, &random, GA_DID_DISCARD);
        else if (model.end > 0)
            walk_intervene(&rig, &model, &random, GA_DID_SLOW);
        compare(&rig, &model);
    }
    close_model(&model);
    ga_engine_rig_close(&rig);
}

static void test_walks_with_room(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < ga_test_count(60); seed++)
        walk(seed, "replicas 3 accum 2 batch 2 lr 0.01");
}

/* Hardly any state fits: nearly all of going back is re-executed. */
static void test_walks_with_thin_history(void **state)
{
    (void)state;
    for (uint64_t seed = 100; seed < 100 + ga_test_count(60); seed++)
        walk(seed, "replicas 2 accum 3 batch 1 lr 0.01 history-budget 20000");
}

static void test_walks_without_any_budget(void **state)
{
    (void)state;
    for (uint64_t seed = 200; seed < 200 + ga_test_count(20); seed++)
        walk(seed, "replicas 2 accum 2 batch 2 lr 0.01 history-budget 0 jitter exponential");
}

/* Every update mode, and from each to another. */
static void test_walks_through_the_modes(void **state)
{
    const char *const modes[] = {
        "replicas 3 batch 3 accum 2 mode async jitter exponential",
        "replicas 4 batch 2 accum 1 mode async scale staleness late finish latency 1ms",
        "replicas 3 batch 2 accum 2 mode ssp bound 1 jitter lognormal(0.7) scale share",
        "replicas 4 batch 2 accum 1 mode ssp bound 0 sharding strided",
        "replicas 4 batch 2 accum 2 mode buffered buffer 2 jitter exponential momentum 0.5",
        "replicas 3 batch 2 accum 2 mode buffered buffer 3 bound 0 optimizer adam",
        "replicas 3 batch 2 accum 2 mode local period 3 outer nesterov(0.7,0.5)",
        "replicas 2 batch 3 accum 1 mode local period 2 jitter exponential momentum 0.9",
        "replicas 2 batch 3 accum 2 mode delay lag 3",
        "replicas 3 batch 2 accum 1 mode hogwild jitter uniform(0.5,1.5)",
    };

    (void)state;
    for (uint64_t seed = 300; seed < 300 + ga_test_count(100); seed++) {
        char settings[256];

        snprintf(settings, sizeof settings, "%s lr 0.001 history-budget %s", modes[seed % 10],
                 seed % 3 ? "1MiB" : "9000");
        walk(seed, settings);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walks_with_room),
        cmocka_unit_test(test_walks_with_thin_history),
        cmocka_unit_test(test_walks_without_any_budget),
        cmocka_unit_test(test_walks_through_the_modes),
    };

    return ga_test_main(tests);
}
