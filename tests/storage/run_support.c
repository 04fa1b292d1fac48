#include "run_support.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

#define SHORT "parabola n=12"

const struct run_variant run_variants[] = {
    {"plain", SHORT, "accum=2 batch=3", "", false},
    {"adam", SHORT, "optimizer=adam lr=0.02 clip=0.5 accum=3 batch=1 replicas=3", "", false},
    {"momentum", SHORT, "momentum=0.9 nesterov=on weight_decay=0.01 accum=1 batch=7", "", true},
    {"late", SHORT, "replicas=4 backup=1 late=finish global=10 jitter=exponential latency=1ms", "",
     false},
    {"late cut", SHORT, "replicas=4 backup=2 late=finish accum=1 jitter=exponential base=3ms", "",
     true},
    {"cancel", SHORT, "replicas=3 backup=1 accum=2 batch=1 jitter=straggler(0.3,5)", "", false},
    {"strided", SHORT, "replicas=3 sharding=strided order=shuffle tail=wrap accum=2 batch=2", "",
     true},
    {"changing", SHORT, "accum=2 batch=2", "replicas=3 optimizer=adamw accum=3", false},
    {"lists", "quadratic lambda=1,4,0.5 n=6", "accum=2 global=6 reduce=sum lr=0.001", "", false},
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

/* Where there is nothing to flush or discard, that is no failure. */
static int cut(struct ga_run *run, uint64_t events)
{
    int code = GA_OK;
    if (events % 11 == 0)
        code = ga_run_flush(run);
    else if (events % 17 == 0)
        code = ga_run_discard(run);
    return code == GA_ESTATE ? GA_OK : code;
}

int run_go(struct ga_run *run, const struct run_variant *variant, size_t count)
{
    int code = GA_OK;
    for (size_t i = 0; !code && i < count; i++) {
        code = ga_run_event(run);
        const uint64_t events = ga_run_counters(run)->events;
        if (!code && *variant->pending && events % 3 == 0)
            code = change(run, variant->pending);
        if (!code && variant->cuts)
            code = cut(run, events);
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
