/*
 * Checkpoints on the real clock: where threads race, a loaded run goes on as recorded, then to a
 * race of its own; where they cannot change a bit, to the same bits as ever.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/thread.h"
#include "run_support.h"
#include "storage/checkpoint.h"
#include "support/support.h"
#include "train/workers.h"

#define PATIENT INT64_C(60000000000) /* ns: a test that waits so long has failed */
#define DATA    "parabola n=60"
#define REAL    "clock=real per_example=0 "

struct racer {
    struct ga_run *run;
    struct ga_workers *workers;
    struct ga_bell bell;
};

static void require(int code)
{
    if (code < 0)
        fail_msg("%s", ga_error_text());
}

static void ring(void *self)
{
    ga_bell_ring(&((struct racer *)self)->bell);
}

static void watch(struct racer *racer)
{
    require(ga_bell_open(&racer->bell));
    ga_run_on_wake(racer->run, ring, racer);
}

static void open_racer(struct racer *racer, struct ga_dataset *data, const char *settings)
{
    struct ga_run_start start = {.data = data};
    require(ga_workers_open(&racer->workers, 2));
    start.workers = racer->workers;
    ga_settings_default(&start.settings);
    require(run_set_words(&start.settings, settings));
    require(ga_run_open(&racer->run, &start));
    watch(racer);
}

static void close_racer(struct racer *racer)
{
    ga_run_close(racer->run);
    ga_workers_close(racer->workers);
    ga_bell_close(&racer->bell);
}

/* Waits until an event may happen. */
static void await(struct racer *racer)
{
    const int64_t deadline = ga_now_ns() + PATIENT;
    int64_t due = 0;
    while (!ga_run_ready(racer->run, &due)) {
        const int64_t now = ga_now_ns();
        struct pollfd bell = {.fd = racer->bell.fd, .events = POLLIN};
        assert_true(now < deadline);
        if (due > now)
            poll(&bell, 1, due == INT64_MAX ? 1000 : 1);
        ga_bell_clear(&racer->bell);
    }
}

static void race(struct racer *racer, size_t events)
{
    for (size_t i = 0; i < events; i++) {
        await(racer);
        require(ga_run_event(racer->run));
    }
}

static void race_to_update(struct racer *racer, uint64_t updates)
{
    while (ga_run_counters(racer->run)->updates < updates)
        race(racer, 1);
}

/* Events that need no waiting, because their order is on record. */
static void replay(struct racer *racer, uint64_t events)
{
    int64_t due = 0;
    while (ga_run_counters(racer->run)->events < events) {
        assert_true(ga_run_ready(racer->run, &due));
        require(ga_run_event(racer->run));
    }
}

struct fixture {
    char *folder, *first, *second;
    struct ga_dataset *data;
};

static struct fixture make_fixture(void)
{
    struct fixture fixture = {.folder = ga_test_folder(), .data = run_open_data(DATA)};
    fixture.first = ga_test_path(fixture.folder, "first.safetensors");
    fixture.second = ga_test_path(fixture.folder, "second.safetensors");
    return fixture;
}

static void drop_fixture(struct fixture *fixture)
{
    free(fixture->first);
    free(fixture->second);
    ga_dataset_close(fixture->data);
    ga_test_folder_remove(fixture->folder);
}

static void save(const struct ga_run *run, const char *path)
{
    struct ga_state state;
    require(ga_run_capture(run, &state));
    require(ga_run_capture_race(run, &state));
    require(ga_checkpoint_save(path, &state, ""));
    ga_state_fini(&state);
}

static void load_state(const char *path, struct ga_dataset *data, struct ga_state *state)
{
    struct ga_checkpoint *checkpoint = NULL;
    require(ga_checkpoint_open(&checkpoint, path));
    require(ga_checkpoint_state(checkpoint, data, state));
    ga_checkpoint_close(checkpoint);
}

/* Loads what was saved; saved again at once, it is the same file. */
static void load_racer(struct racer *racer, const struct fixture *files)
{
    struct ga_state state;
    size_t length = 0, other = 0;
    load_state(files->first, files->data, &state);
    memset(racer, 0, sizeof *racer);
    racer->run = run_restored(&state);
    if (!racer->run)
        fail_msg("%s", ga_error_text());
    watch(racer);
    ga_state_fini(&state);
    save(racer->run, files->second);
    char *bytes = ga_test_read_file(files->first, &length);
    char *others = ga_test_read_file(files->second, &other);
    assert_int_equal(length, other);
    assert_memory_equal(bytes, others, length);
    free(bytes);
    free(others);
}

static const char *const races[] = {
    REAL "mode=async replicas=4 accum=2 batch=2 momentum=0.9",
    REAL "mode=async replicas=3 accum=1 batch=2 sharding=strided scale=rescaled latency=100us",
    REAL "mode=ssp bound=1 replicas=4 accum=1 batch=3 scale=staleness",
    REAL "mode=buffered buffer=3 replicas=4 accum=2 batch=1 optimizer=adam server_time=10us",
    REAL "mode=buffered bound=0 replicas=3 accum=1 batch=2",
};
#define RACES (sizeof races / sizeof races[0])

#define KEPT 6

/* A race of which states were kept on the way. */
struct recording {
    struct ga_state kept[KEPT];
    struct ga_counters end;
    uint64_t hash;
};

static void record(struct racer *racer, struct recording *recording)
{
    for (size_t k = 0; k < KEPT; k++) {
        require(ga_run_capture(racer->run, &recording->kept[k]));
        race(racer, 37);
    }
    recording->end = *ga_run_counters(racer->run);
    recording->hash = ga_run_hash(racer->run);
    ga_run_pause(racer->run);
}

/* Gone back, saved, loaded elsewhere: what was recorded beyond happens again, to the same bits. */
static void a_race_goes_on_as_recorded(void **unused)
{
    (void)unused;
    struct fixture files = make_fixture();
    for (size_t i = 0; i < RACES; i++) {
        struct racer racer = {0};
        struct recording recording;
        open_racer(&racer, files.data, races[i]);
        record(&racer, &recording);
        for (size_t k = 0; k < KEPT; k++) {
            struct racer loaded;
            require(ga_run_restore(racer.run, &recording.kept[k]));
            save(racer.run, files.first);
            load_racer(&loaded, &files);
            replay(&loaded, recording.end.events);
            assert_int_equal(ga_run_hash(loaded.run), recording.hash);
            assert_memory_equal(ga_run_counters(loaded.run), &recording.end, sizeof recording.end);
            race(&loaded, 30);
            close_racer(&loaded);
            ga_state_fini(&recording.kept[k]);
        }
        close_racer(&racer);
    }
    drop_fixture(&files);
}

/* Behind what is recorded a loaded run records its own turns, which can be gone through again. */
static void a_loaded_race_can_be_gone_through_again(void **unused)
{
    (void)unused;
    struct fixture files = make_fixture();
    for (size_t i = 0; i < RACES; i++) {
        struct racer racer = {0}, loaded;
        struct ga_state begin;
        open_racer(&racer, files.data, races[i]);
        race(&racer, 50);
        save(racer.run, files.first);
        close_racer(&racer);
        load_racer(&loaded, &files);
        require(ga_run_capture(loaded.run, &begin));
        race(&loaded, 90);
        ga_run_pause(loaded.run);
        const struct ga_counters end = *ga_run_counters(loaded.run);
        const uint64_t hash = ga_run_hash(loaded.run);
        require(ga_run_restore(loaded.run, &begin));
        replay(&loaded, end.events);
        assert_int_equal(ga_run_hash(loaded.run), hash);
        assert_memory_equal(ga_run_counters(loaded.run), &end, sizeof end);
        ga_state_fini(&begin);
        close_racer(&loaded);
    }
    drop_fixture(&files);
}

static const struct {
    const char *real, *settings;
} decided[] = {
    {REAL, "mode=sync replicas=3 accum=2 batch=2 momentum=0.9 nesterov=on"},
    {REAL, "mode=delay lag=2 replicas=4 accum=1 batch=2 sharding=contiguous"},
    {REAL, "mode=local period=2 replicas=3 accum=2 batch=1 optimizer=adam outer=sgd(0.7,0.9)"},
};

static uint64_t virtual_hash(struct ga_dataset *data, const char *settings, uint64_t updates)
{
    struct ga_run_start start = {.data = data};
    struct ga_run *run = NULL;
    ga_settings_default(&start.settings);
    require(run_set_words(&start.settings, settings));
    require(ga_run_open(&run, &start));
    while (ga_run_counters(run)->updates < updates)
        require(ga_run_event(run));
    const uint64_t hash = ga_run_hash(run);
    ga_run_close(run);
    return hash;
}

static void sync_delay_and_local_end_in_the_same_bits(void **unused)
{
    (void)unused;
    struct fixture files = make_fixture();
    for (size_t i = 0; i < sizeof decided / sizeof decided[0]; i++) {
        const uint64_t hash = virtual_hash(files.data, decided[i].settings, 12);
        struct racer racer = {0};
        char words[256];
        assert_true(strlen(decided[i].real) + strlen(decided[i].settings) < sizeof words);
        strcat(strcpy(words, decided[i].real), decided[i].settings);
        open_racer(&racer, files.data, words);
        while (ga_run_counters(racer.run)->updates < 9) {
            struct racer loaded;
            race(&racer, 7);
            save(racer.run, files.first);
            load_racer(&loaded, &files);
            race_to_update(&loaded, 12);
            assert_int_equal(ga_run_hash(loaded.run), hash);
            close_racer(&loaded);
        }
        close_racer(&racer);
    }
    drop_fixture(&files);
}

/* Saved while workers read and write; what goes on is another race, and counts on. */
static void hogwild_goes_on(void **unused)
{
    (void)unused;
    struct fixture files = make_fixture();
    struct racer racer = {0};
    open_racer(&racer, files.data,
               REAL "mode=hogwild replicas=4 accum=2 batch=3 lr=0.001 model=1-64-1");
    for (size_t i = 0; i < 40; i++) {
        struct racer loaded;
        race(&racer, 3);
        const struct ga_counters begin = *ga_run_counters(racer.run);
        save(racer.run, files.first);
        load_racer(&loaded, &files);
        race_to_update(&loaded, begin.updates + 8);
        assert_true(ga_run_counters(loaded.run)->pushes >= begin.pushes + 8);
        assert_true(ga_run_counters(loaded.run)->lost >= begin.lost);
        close_racer(&loaded);
    }
    close_racer(&racer);
    drop_fixture(&files);
}

/* Turns that this run cannot have had end the record; the run goes on by the clock. */
static void a_foreign_record_leads_nowhere(void **unused)
{
    (void)unused;
    struct fixture files = make_fixture();
    static const int32_t foreign[] = {0, 3, 4, 4095};
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        struct racer racer = {0}, loaded;
        struct ga_state begin;
        open_racer(&racer, files.data, races[2]);
        race(&racer, 20);
        require(ga_run_capture(racer.run, &begin));
        race(&racer, 40);
        require(ga_run_capture_race(racer.run, &begin));
        for (uint64_t k = begin.counters.turns - begin.race_base; k < begin.races; k++)
            begin.race[k].replica = foreign[i];
        require(ga_checkpoint_save(files.first, &begin, ""));
        ga_state_fini(&begin);
        load_racer(&loaded, &files);
        race_to_update(&loaded, ga_run_counters(racer.run)->updates + 10);
        close_racer(&loaded);
        close_racer(&racer);
    }
    drop_fixture(&files);
}

/* Saves the state with another record: the words of the refusal, or NULL when it is fine. */
static void try_record(const struct fixture *files, struct ga_state *state, const char *words)
{
    struct ga_checkpoint *checkpoint = NULL;
    struct ga_state loaded;
    require(ga_checkpoint_save(files->first, state, ""));
    require(ga_checkpoint_open(&checkpoint, files->first));
    const int code = ga_checkpoint_state(checkpoint, files->data, &loaded);
    ga_checkpoint_close(checkpoint);
    ga_state_fini(&loaded);
    assert_int_equal(code, words ? GA_EINPUT : GA_OK);
    if (words && !strstr(ga_error_text(), words))
        fail_msg("\"%s\", expected \"%s\"", ga_error_text(), words);
}

static void records_that_cannot_be_are_refused(void **unused)
{
    (void)unused;
    struct fixture files = make_fixture();
    struct racer racer = {0};
    struct ga_state state;
    open_racer(&racer, files.data, races[0]);
    race(&racer, 60);
    require(ga_run_capture(racer.run, &state));
    try_record(&files, &state, NULL);
    require(ga_run_capture_race(racer.run, &state));
    assert_int_equal(state.races, state.counters.turns);
    try_record(&files, &state, NULL);
    state.race_base = 1;
    try_record(&files, &state, NULL);
    state.race_base = state.counters.turns + 1;
    try_record(&files, &state, "expected none or that turn among them");
    state.race_base = 0;
    state.races -= 1;
    try_record(&files, &state, "expected none or that turn among them");
    state.races += 1;
    state.race[5].time_ns = -1;
    try_record(&files, &state, "\"gaconsole.race_times\": element 5 is -1");
    state.race[5].time_ns = INT64_MAX;
    try_record(&files, &state, "up to 2^62");
    state.race[5].time_ns = state.race[4].time_ns;
    state.race[5].replica = GA_MAX_REPLICAS;
    try_record(&files, &state, "\"gaconsole.race_replicas\": element 5 is 4096");
    state.race[5].replica = -1;
    try_record(&files, &state, "element 5 is -1, expected 0 to 4095");
    ga_state_fini(&state);
    close_racer(&racer);
    drop_fixture(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_race_goes_on_as_recorded),
        cmocka_unit_test(a_loaded_race_can_be_gone_through_again),
        cmocka_unit_test(sync_delay_and_local_end_in_the_same_bits),
        cmocka_unit_test(hogwild_goes_on),
        cmocka_unit_test(a_foreign_record_leads_nowhere),
        cmocka_unit_test(records_that_cannot_be_are_refused),
    };
    run_prefer_memory_files();
    return ga_test_main(tests);
}
