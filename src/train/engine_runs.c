/* Several runs in one engine: forking, choosing, dropping, listing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "train/engine_internal.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

int ga_engine_check_run_name(const char *name)
{
    static const char others[] = "0123456789-_.";
    size_t length = strlen(name);
    bool fits = length < GA_RUN_NAME && is_letter(*name);

    for (size_t i = 0; i < length && fits; i++)
        fits = is_letter(name[i]) || strchr(others, name[i]);
    if (fits)
        return GA_OK;
    return ga_fail(GA_EINPUT,
                   "a run cannot be called '%.40s': expected 1..%d letters, digits, '-', '_' or "
                   "'.', a letter first",
                   name, GA_RUN_NAME - 1);
}

static size_t find(const struct ga_engine *engine, const char *name)
{
    size_t k = 0;

    while (k < engine->slots && strcmp(engine->slot[k]->name, name) != 0)
        k++;
    return k;
}

/* The run's position, or a negative code. */
static int find_or_fail(const struct ga_engine *engine, const char *name)
{
    struct ga_text names = GA_TEXT_INIT;
    size_t k = find(engine, name);

    if (k < engine->slots)
        return (int)k;
    for (size_t i = 0; i < engine->slots; i++)
        ga_text_printf(&names, "%s%s", i > 0 ? ", " : "", engine->slot[i]->name);
    ga_fail(GA_EINPUT, "no run is called '%.40s': expected %s%s", name,
            engine->slots > 1 ? "one of " : "", ga_text_get(&names));
    ga_text_free(&names);
    return ga_error_code();
}

/* What a run starts from, for `reset`. */
static int copy_start(struct engine_slot *to, const struct engine_slot *from)
{
    to->data = ga_dataset_share(from->data);
    to->draft = from->draft;
    memcpy(to->init_path, from->init_path, sizeof to->init_path);
    if (from->init_count > 0) {
        to->init_weights = ga_alloc(from->init_count, sizeof *to->init_weights);
        if (!to->init_weights)
            return ga_error_code();
        memcpy(to->init_weights, from->init_weights, from->init_count * sizeof *to->init_weights);
        to->init_count = from->init_count;
    }
    for (size_t r = 0; r < from->slow_count; r++)
        if (ga_slot_remember_slow(to, r, from->slow[r]) < 0)
            return ga_error_code();
    return GA_OK;
}

static int copy_run(struct ga_engine *engine, struct engine_slot *to, const struct ga_state *state)
{
    const struct engine_slot *from = engine->at;

    if (ga_engine_run_at_state(engine, state, &to->run) < 0 ||
        ga_history_copy(&to->history, from->history, to->run) < 0 ||
        ga_run_restore(to->run, state) < 0 || ga_run_settle_draft(to->run, &to->draft) < 0)
        return ga_error_code();
    to->cursor = from->cursor;
    to->held = from->held;
    ga_engine_start_mirror(to);
    ga_engine_attend(engine, to->run);
    return GA_OK;
}

static int copy_slot(struct ga_engine *engine, const char *name, struct engine_slot **out)
{
    struct engine_slot *slot = NULL;
    struct ga_state state;
    int code = GA_OK;

    if (ga_run_capture(engine->at->run, &state) < 0)
        return ga_error_code();
    code = ga_run_capture_race(engine->at->run, &state);
    if (code == GA_OK)
        code = ga_slot_open(&slot, name);
    if (code == GA_OK)
        code = copy_start(slot, engine->at);
    if (code == GA_OK)
        code = copy_run(engine, slot, &state);
    ga_state_fini(&state);
    if (code < 0) {
        ga_slot_close(slot);
        return code;
    }
    *out = slot;
    return GA_OK;
}

static int fork_call(struct ga_engine *engine, void *arg)
{
    const char *name = arg;

    if (ga_engine_check_run_name(name) < 0)
        return ga_error_code();
    if (find(engine, name) < engine->slots)
        return ga_fail(GA_ESTATE, "there is a run %s already: expected another name, or `drop %s`",
                       name, name);
    if (engine->slots == GA_ENGINE_RUNS)
        return ga_fail(GA_ERANGE, "there are %d runs already: `drop NAME` one first",
                       GA_ENGINE_RUNS);
    if (ga_engine_ensure_run(engine) < 0 ||
        copy_slot(engine, name, &engine->slot[engine->slots]) < 0)
        return ga_error_code();
    engine->slots++;
    ga_engine_publish(engine);
    return GA_OK;
}

int ga_engine_fork(struct ga_engine *engine, const char *name)
{
    return ga_engine_ask(engine, fork_call, (void *)name);
}

static int use_call(struct ga_engine *engine, void *arg)
{
    int k = find_or_fail(engine, arg);

    if (k < 0)
        return k;
    if (engine->slot[k] == engine->current)
        return GA_OK;
    if (!engine->moves_all)
        ga_engine_end_all_moves(engine, GA_STOP_PAUSED);
    engine->at = engine->current = engine->slot[k];
    ga_engine_publish(engine);
    return GA_OK;
}

int ga_engine_use(struct ga_engine *engine, const char *name)
{
    return ga_engine_ask(engine, use_call, (void *)name);
}

static void end_move_of(struct ga_engine *engine, struct engine_slot *slot)
{
    if (!slot->moving)
        return;
    engine->at = slot;
    ga_engine_end_move(engine, GA_STOP_PAUSED);
    engine->at = engine->current;
}

static int drop_call(struct ga_engine *engine, void *arg)
{
    int k = find_or_fail(engine, arg);
    struct engine_slot *slot = NULL;

    if (k < 0)
        return k;
    slot = engine->slot[k];
    if (slot == engine->current)
        return ga_fail(GA_ESTATE, "%s is the current run: `use` another one first", slot->name);
    end_move_of(engine, slot);
    for (size_t i = 0; i < ENGINE_OBSERVERS; i++)
        if (engine->observers[i].slot == slot)
            engine->observers[i].slot = NULL;
    engine->slots--;
    memmove(&engine->slot[k], &engine->slot[k + 1],
            (engine->slots - (size_t)k) * sizeof *engine->slot);
    ga_slot_close(slot);
    ga_engine_publish(engine);
    return GA_OK;
}

int ga_engine_drop(struct ga_engine *engine, const char *name)
{
    return ga_engine_ask(engine, drop_call, (void *)name);
}

static void describe(const struct ga_engine *engine, const struct engine_slot *slot,
                     struct ga_run_info *out)
{
    const struct ga_update_record *record = slot->run ? ga_run_last_record(slot->run) : NULL;

    memset(out, 0, sizeof *out);
    memcpy(out->name, slot->name, sizeof out->name);
    out->current = slot == engine->current;
    out->open = slot->run != NULL;
    out->settings = slot->run ? *ga_run_settings(slot->run) : slot->draft;
    out->loss = record ? record->loss : (double)NAN;
    out->moving = slot->moving;
    out->moved = slot->moving || slot->has_stop;
    out->stop = slot->stop;
    if (!slot->run)
        return;
    out->counters = *ga_run_counters(slot->run);
    out->now_ns = ga_run_now(slot->run);
    out->hash = ga_run_hash(slot->run);
}

struct info_request {
    size_t k;
    const char *name;
    struct ga_run_info *out;
    bool there;
};

static int info_call(struct ga_engine *engine, void *arg)
{
    struct info_request *request = arg;

    request->there = request->k < engine->slots;
    if (request->there)
        describe(engine, engine->slot[request->k], request->out);
    return GA_OK;
}

bool ga_engine_run_info(struct ga_engine *engine, size_t k, struct ga_run_info *out)
{
    struct info_request request = {.k = k, .out = out};

    ga_engine_ask(engine, info_call, &request);
    return request.there;
}

static int named_call(struct ga_engine *engine, void *arg)
{
    struct info_request *request = arg;
    int k = find_or_fail(engine, request->name);

    if (k < 0)
        return k;
    describe(engine, engine->slot[k], request->out);
    return GA_OK;
}

int ga_engine_run_named(struct ga_engine *engine, const char *name, struct ga_run_info *out)
{
    struct info_request request = {.name = name, .out = out};

    return ga_engine_ask(engine, named_call, &request);
}

static int slot_records(const struct engine_slot *slot,
                        int (*each)(const struct ga_update_record *record, void *arg), void *arg)
{
    if (!slot->run)
        return GA_OK;
    return ga_history_each_record(slot->history, ga_run_windows_closed(slot->run), each, arg);
}

struct records_request {
    const char *name; /* NULL: the current run */
    int (*each)(const struct ga_update_record *record, void *arg);
    void *arg;
};

static int records_call(struct ga_engine *engine, void *arg)
{
    const struct records_request *request = arg;
    int k = request->name ? find_or_fail(engine, request->name) : 0;

    if (k < 0)
        return k;
    return slot_records(request->name ? engine->slot[k] : engine->at, request->each, request->arg);
}

int ga_engine_records(struct ga_engine *engine,
                      int (*each)(const struct ga_update_record *record, void *arg), void *arg)
{
    struct records_request request = {NULL, each, arg};

    return ga_engine_ask(engine, records_call, &request);
}

int ga_engine_records_of(struct ga_engine *engine, const char *name,
                         int (*each)(const struct ga_update_record *record, void *arg), void *arg)
{
    struct records_request request = {name, each, arg};

    return ga_engine_ask(engine, records_call, &request);
}

static int dataset_call(struct ga_engine *engine, void *arg)
{
    *(struct ga_dataset **)arg = engine->at->data ? ga_dataset_share(engine->at->data) : NULL;
    return GA_OK;
}

struct ga_dataset *ga_engine_dataset(struct ga_engine *engine)
{
    struct ga_dataset *data = NULL;

    ga_engine_ask(engine, dataset_call, &data);
    return data;
}
