#include "ui/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "console/console.h"
#include "ui/samples.h"

struct entry {
    char name[GA_RUN_NAME];
    struct ga_samples *samples;
    uint64_t windows; /* of the newest record that was copied */
    double loss;      /* its loss */
    uint64_t hash;    /* of the run when it was looked at last */
    bool seen;        /* in the round under way */
    bool current;
};

struct ga_runs {
    struct entry entry[GA_ENGINE_RUNS];
    struct ga_scene_run list[GA_ENGINE_RUNS];
    size_t count;
};

int ga_runs_open(struct ga_runs **out)
{
    *out = ga_alloc(1, sizeof **out);
    return *out ? GA_OK : GA_ENOMEM;
}

void ga_runs_close(struct ga_runs *runs)
{
    if (!runs)
        return;
    for (size_t i = 0; i < runs->count; i++)
        ga_samples_close(runs->entry[i].samples);
    free(runs);
}

static struct entry *find(struct ga_runs *runs, const char *name)
{
    for (size_t i = 0; i < runs->count; i++)
        if (strcmp(runs->entry[i].name, name) == 0)
            return &runs->entry[i];
    return NULL;
}

static struct entry *find_or_make(struct ga_runs *runs, const char *name)
{
    struct entry *entry = find(runs, name);

    if (entry || runs->count == GA_ENGINE_RUNS)
        return entry;
    entry = &runs->entry[runs->count];
    memset(entry, 0, sizeof *entry);
    if (ga_samples_open(&entry->samples, 0) < 0)
        return NULL;
    snprintf(entry->name, sizeof entry->name, "%s", name);
    runs->count++;
    return entry;
}

/* What one call of the engine fills: records behind `from` windows, up to `to`. */
struct copy {
    struct ga_samples *samples;
    uintptr_t run;
    uint64_t from, to;
    double loss; /* that the record at `from` should have, unless any will do */
    bool any, differs;
};

static int copy_record(const struct ga_update_record *record, void *arg)
{
    struct copy *copy = arg;
    struct ga_sample sample = {.run = copy->run,
                               .windows = record->update + record->skipped,
                               .update = record->update,
                               .examples = record->examples,
                               .time_ns = record->time_ns,
                               .applied = record->applied,
                               .loss = record->loss,
                               .grad_norm = record->grad_norm,
                               .update_norm = (double)NAN,
                               .noise_scale = record->noise_trace / record->noise_signal,
                               .staleness = (double)NAN};

    if (sample.windows == copy->from && !copy->any)
        copy->differs = copy->loss != record->loss && !(isnan(copy->loss) && isnan(record->loss));
    if (sample.windows <= copy->from || sample.windows > copy->to || copy->differs)
        return GA_OK;
    if (ga_samples_append(copy->samples, &sample) < 0)
        return ga_error_code();
    copy->from = sample.windows;
    copy->loss = record->loss;
    return GA_OK;
}

static int copy_records(struct entry *entry, struct ga_engine *engine, uint64_t place,
                        bool *differs)
{
    struct copy copy = {.samples = entry->samples,
                        .run = 1,
                        .from = entry->windows,
                        .to = place,
                        .loss = entry->loss};
    int code = ga_engine_records_of(engine, entry->name, copy_record, &copy);

    entry->windows = copy.from;
    entry->loss = copy.loss;
    *differs = copy.differs;
    return code;
}

/* A run that went back, or into another future from an earlier place, is read anew. */
static int follow(struct entry *entry, struct ga_engine *engine, const struct ga_run_info *info)
{
    uint64_t place = info->counters.updates + info->counters.skipped;
    bool anew = place < entry->windows;
    int code = GA_OK;

    if (info->hash == entry->hash && place == entry->windows)
        return GA_OK;
    entry->hash = info->hash;
    if (!anew)
        code = copy_records(entry, engine, place, &anew);
    if (code < 0 || !anew)
        return code;
    ga_samples_clear(entry->samples);
    entry->windows = 0;
    return copy_records(entry, engine, place, &anew);
}

/* The records behind those rows that are there, up to the sample. */
static int recall(struct ga_samples *samples, struct ga_engine *engine,
                  const struct ga_sample *sample)
{
    struct copy copy = {.samples = samples,
                        .run = sample->run,
                        .from = ga_samples_newest(samples),
                        .to = sample->place || sample->windows == 0 ? sample->windows
                                                                    : sample->windows - 1,
                        .any = true};

    return copy.from < copy.to ? ga_engine_records(engine, copy_record, &copy) : GA_OK;
}

int ga_runs_take(struct ga_samples *samples, struct ga_engine *engine,
                 const struct ga_sample *sample)
{
    bool other = ga_samples_run(samples) != sample->run;
    int code = GA_OK;

    if (other)
        ga_samples_clear(samples);
    if (other || (sample->place && ga_samples_newest(samples) < sample->windows))
        code = recall(samples, engine, sample);
    return code < 0 ? code : ga_samples_append(samples, sample);
}

static void forget(struct ga_runs *runs, size_t at)
{
    ga_samples_close(runs->entry[at].samples);
    memmove(&runs->entry[at], &runs->entry[at + 1], (runs->count - at - 1) * sizeof runs->entry[0]);
    runs->count--;
}

static void make_list(struct ga_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        runs->list[i].name = runs->entry[i].name;
        runs->list[i].samples = runs->entry[i].samples;
        runs->list[i].current = runs->entry[i].current;
    }
}

int ga_runs_update(struct ga_runs *runs, struct ga_engine *engine)
{
    struct ga_run_info info;
    int code = GA_OK;

    for (size_t i = 0; i < runs->count; i++)
        runs->entry[i].seen = false;
    for (size_t k = 0; code == GA_OK && ga_engine_run_info(engine, k, &info); k++) {
        struct entry *entry = find_or_make(runs, info.name);

        if (!entry)
            return ga_error_code();
        entry->seen = true;
        entry->current = info.current;
        code = follow(entry, engine, &info);
    }
    for (size_t i = runs->count; i-- > 0;)
        if (!runs->entry[i].seen)
            forget(runs, i);
    make_list(runs);
    return code;
}

size_t ga_runs_list(const struct ga_runs *runs, const struct ga_scene_run **out)
{
    *out = runs->list;
    return runs->count;
}
