#include "run_support.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

#define SHORT "parabola n=12"

#define PUSH  "jitter=exponential replicas=4 accum=2 batch=2 "
#define TRIES "replicas=4 accum=1 batch=2 jitter=exponential "

const struct run_variant run_variants[] = {
    {"plain", SHORT, "accum=2 batch=3", .deeds = RUN_ALONE},
    {"adam", SHORT, "optimizer=adam lr=0.02 clip=0.5 accum=3 batch=1 replicas=3",
     .deeds = RUN_ALONE},
    {"momentum", SHORT, "momentum=0.9 nesterov=on weight_decay=0.01 accum=1 batch=7",
     .deeds = RUN_CUTS},
    {"late", SHORT, "replicas=4 backup=1 late=finish global=10 jitter=exponential latency=1ms",
     .deeds = RUN_ALONE},
    {"late cut", SHORT, "replicas=4 backup=2 late=finish accum=1 jitter=exponential base=3ms",
     .deeds = RUN_CUTS},
    {"cancel", SHORT, "replicas=3 backup=1 accum=2 batch=1 jitter=straggler(0.3,5)",
     .deeds = RUN_ALONE},
    {"strided", SHORT, "replicas=3 sharding=strided order=shuffle tail=wrap accum=2 batch=2",
     .deeds = RUN_CUTS},
    {"changing", SHORT, "accum=2 batch=2", .pending = "replicas=3 optimizer=adamw accum=3"},
    {"lists", "quadratic lambda=1,4,0.5 n=6", "accum=2 global=6 reduce=sum lr=0.001",
     .deeds = RUN_ALONE},

    {"sync waits", SHORT, TRIES "backup=1 late=finish failure=wait", .deeds = RUN_KILLS},
    {"sync goes on", SHORT, TRIES "failure=continue sharding=strided", .deeds = RUN_KILLS},
    {"delay", SHORT, "mode=delay lag=3 momentum=0.9 " TRIES, .deeds = RUN_CUTS},
    {"delay changing", SHORT, "mode=delay lag=2 " TRIES, .pending = "lag=5 accum=2",
     .back = "lag=1"},
    {"async", SHORT, "mode=async optimizer=adam lr=0.01 latency=1ms server-time=2ms " PUSH,
     .deeds = RUN_ALONE},
    {"async killed", SHORT, "mode=async scale=share latency=2ms bandwidth=1MB/s " PUSH,
     .deeds = RUN_KILLS | RUN_CUTS},
    {"async shards", SHORT,
     "mode=async sharding=contiguous order=shuffle scale=rescaled momentum=0.9 " PUSH,
     .deeds = RUN_SLOWS},
    {"async few rows", "parabola n=3", "mode=async sharding=strided tail=wrap replicas=5 global=10",
     .deeds = RUN_KILLS},
    {"async diverges", SHORT, "mode=async lr=100000 nonfinite=skip " PUSH, .deeds = RUN_ALONE},
    {"ssp", SHORT, "mode=ssp bound=1 scale=staleness server-time=1ms " PUSH,
     .deeds = RUN_KILLS | RUN_SLOWS},
    {"buffered", SHORT, "mode=buffered buffer=3 scale=sqrt clip=0.5 " PUSH,
     .deeds = RUN_CUTS | RUN_KILLS},
    {"buffered waits", SHORT, "mode=buffered bound=0 momentum=0.9 nesterov=on latency=3ms " PUSH,
     .deeds = RUN_KILLS},
    {"buffered goes on", SHORT, "mode=buffered bound=0 failure=continue " PUSH,
     .pending = "buffer=2 bound=1", .back = "buffer=P bound=0", .deeds = RUN_KILLS},
    {"local", SHORT, "mode=local period=3 optimizer=adam outer=nesterov(0.7,0.9) " PUSH,
     .deeds = RUN_ALONE},
    {"local cut", SHORT, "mode=local period=2 global=10 momentum=0.5 failure=continue " TRIES,
     .deeds = RUN_CUTS | RUN_KILLS},
    {"local waits", SHORT, "mode=local period=2 latency=1ms sharding=strided tail=wrap " PUSH,
     .pending = "optimizer=adamw period=3", .back = "optimizer=sgd period=1", .deeds = RUN_KILLS},
    {"hogwild", SHORT, "mode=hogwild latency=1ms scale=staleness weight_decay=0.1 " PUSH,
     .deeds = RUN_ALONE},
    {"hogwild atomic", SHORT, "mode=hogwild writes=atomic sharding=strided clip=0.5 " TRIES,
     .deeds = RUN_KILLS},
    {"drained", SHORT, "mode=buffered buffer=3 late=finish latency=5ms server-time=3ms " PUSH,
     .pending = "mode=sync", .back = "mode=buffered replicas=3"},
    {"through modes", SHORT, "mode=async late=finish latency=2ms " PUSH,
     .pending = "mode=local period=2 replicas=3", .back = "mode=hogwild replicas=4"},
    {"between modes", SHORT, "mode=local period=2 " TRIES,
     .pending = "mode=ssp bound=0 sharding=strided", .back = "mode=delay lag=2 sharding=stream"},
    {"out of hogwild", SHORT, "mode=hogwild late=finish latency=1ms " PUSH,
     .pending = "mode=sync backup=1", .back = "mode=hogwild", .deeds = RUN_KILLS},
};
const size_t run_variant_count = sizeof run_variants / sizeof run_variants[0];

void run_prefer_memory_files(void)
{
    if (access("/dev/shm", W_OK | X_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 0);
}

/* Splits a copy of `text` at blanks. */
static size_t split(char *text, const char **word, size_t most)
{
    size_t count = 0;
    char *rest = NULL;
    for (char *at = strtok_r(text, " ", &rest); at && count < most; at = strtok_r(NULL, " ", &rest))
        word[count++] = at;
    return count;
}

struct ga_dataset *run_open_data(const char *words)
{
    char text[256];
    const char *word[16];
    struct ga_dataset *data = NULL;
    if (strlen(words) >= sizeof text)
        return NULL;
    strcpy(text, words);
    const size_t count = split(text, word, 16);
    return ga_dataset_open(&data, count, word, "") ? NULL : data;
}

int run_set_words(struct ga_settings *settings, const char *words)
{
    char text[256];
    const char *word[16];
    if (strlen(words) >= sizeof text)
        return ga_fail(GA_EINPUT, "too many words");
    strcpy(text, words);
    const size_t count = split(text, word, 16);
    for (size_t i = 0; i < count; i++) {
        char *value = strchr(text + (word[i] - text), '=');
        if (!value)
            return ga_fail(GA_EINPUT, "no value: %s", word[i]);
        *value = '\0';
        const struct ga_setting *row = ga_setting_find(word[i]);
        if (!row || ga_setting_read(row, settings, value + 1))
            return ga_error_code();
    }
    return GA_OK;
}

struct ga_run *run_open_variant(const struct run_variant *variant, struct ga_dataset *data)
{
    struct ga_run_start start = {.data = data};
    struct ga_run *run = NULL;
    ga_settings_default(&start.settings);
    if (!data || run_set_words(&start.settings, variant->settings) || ga_run_open(&run, &start))
        return NULL;
    return run;
}

static int change(struct ga_run *run, const char *words)
{
    struct ga_settings draft = *ga_run_settings(run);
    const int code = run_set_words(&draft, words);
    return code ? code : ga_run_change(run, &draft);
}

/* Where there is nothing to do, that is no failure. */
static int unless_idle(int code)
{
    return code == GA_ESTATE ? GA_OK : code;
}

static int cut(struct ga_run *run, uint64_t events)
{
    if (events % 11 == 0)
        return unless_idle(ga_run_flush(run));
    return events % 17 == 0 ? unless_idle(ga_run_discard(run)) : GA_OK;
}

static int revive_all(struct ga_run *run)
{
    int code = GA_OK;
    for (size_t r = 0; !code && r < ga_run_replicas(run); r++)
        code = unless_idle(ga_run_revive(run, r));
    return code;
}

static int kill(struct ga_run *run, uint64_t events)
{
    const size_t replica = events / 7 % ga_run_replicas(run);
    if (events % 7 == 0)
        return unless_idle(ga_run_kill(run, replica));
    return events % 23 == 0 ? revive_all(run) : GA_OK;
}

static int slow(struct ga_run *run, uint64_t events)
{
    const size_t replica = events / 5 % ga_run_replicas(run);
    return events % 5 == 0 ? ga_run_slow(run, replica, (double)(events % 4) + 0.5) : GA_OK;
}

static int change_settings(struct ga_run *run, const struct run_variant *variant, uint64_t events)
{
    if (!variant->pending || (!variant->back && events % 3 != 0))
        return GA_OK;
    if (!variant->back)
        return change(run, variant->pending);
    if (events % 13 != 0)
        return GA_OK;
    return change(run, events / 13 % 2 ? variant->pending : variant->back);
}

static int intervene(struct ga_run *run, const struct run_variant *variant)
{
    const uint64_t events = ga_run_counters(run)->events;
    int code = change_settings(run, variant, events);
    if (!code && (variant->deeds & RUN_SLOWS))
        code = slow(run, events);
    if (!code && (variant->deeds & RUN_KILLS))
        code = kill(run, events);
    if (!code && (variant->deeds & RUN_CUTS))
        code = cut(run, events);
    return code;
}

/* A window that waits for a killed replica goes on when that is restored. */
static int event(struct ga_run *run, const struct run_variant *variant)
{
    int code = ga_run_event(run);
    if (code == GA_ESTATE && (variant->deeds & RUN_KILLS)) {
        code = revive_all(run);
        code = code ? code : ga_run_event(run);
    }
    return code;
}

int run_go(struct ga_run *run, const struct run_variant *variant, size_t count)
{
    int code = GA_OK;
    for (size_t i = 0; !code && i < count; i++) {
        code = event(run, variant);
        if (!code)
            code = intervene(run, variant);
    }
    return code;
}

struct ga_run *run_restored(const struct ga_state *state)
{
    struct ga_run_start start = {.data = state->data, .settings = state->settings->value};
    struct ga_run *run = NULL;
    if (start.settings.init == GA_INIT_FILE)
        start.settings.init = GA_INIT_ZEROS;
    if (ga_run_open(&run, &start))
        return NULL;
    if (ga_run_restore(run, state) == GA_OK)
        return run;
    ga_run_close(run);
    return NULL;
}
