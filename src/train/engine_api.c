/* What other threads may ask of the engine: each request is a letter, answered between two events.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "train/engine_internal.h"

int ga_engine_ask(struct ga_engine *engine, int (*call)(struct ga_engine *, void *), void *arg)
{
    struct engine_call letter = {.call = call, .arg = arg};

    sem_init(&letter.done, 0, 0);
    ga_mailbox_post(engine->mail, &letter.letter);
    while (sem_wait(&letter.done) < 0 && errno == EINTR)
        ;
    sem_destroy(&letter.done);
    return letter.code < 0 ? ga_error_put(&letter.error) : letter.code;
}

struct settings_request {
    struct ga_settings *in_force, *draft;
};

static int settings_call(struct ga_engine *engine, void *arg)
{
    struct settings_request *request = arg;

    if (request->in_force)
        *request->in_force = engine->run ? *ga_run_settings(engine->run) : engine->draft;
    if (request->draft)
        *request->draft = engine->draft;
    return GA_OK;
}

void ga_engine_settings(struct ga_engine *engine, struct ga_settings *in_force,
                        struct ga_settings *draft)
{
    struct settings_request request = {in_force, draft};

    ga_engine_ask(engine, settings_call, &request);
}

static void stop_moving(struct ga_engine *engine)
{
    if (atomic_load(&engine->moving))
        ga_engine_end_move(engine, GA_STOP_REPLACED);
}

static int data_call(struct ga_engine *engine, void *arg)
{
    stop_moving(engine);
    ga_engine_drop_run(engine);
    ga_dataset_close(engine->data);
    engine->data = arg;
    ga_engine_publish(engine);
    return GA_OK;
}

int ga_engine_data(struct ga_engine *engine, struct ga_dataset *data)
{
    return ga_engine_ask(engine, data_call, data);
}

struct init_request {
    const char *path;
    float *weights; /* becomes the engine's */
    size_t count;
};

static int init_call(struct ga_engine *engine, void *arg)
{
    struct init_request *request = arg;

    stop_moving(engine);
    ga_engine_drop_run(engine);
    free(engine->init_weights);
    engine->init_weights = request->weights;
    engine->init_count = request->count;
    snprintf(engine->init_path, sizeof engine->init_path, "%s", request->path);
    engine->draft.init = GA_INIT_FILE;
    ga_engine_publish(engine);
    return GA_OK;
}

int ga_engine_init_from(struct ga_engine *engine, const char *path, const float *weights,
                        size_t count)
{
    struct init_request request = {.path = path, .count = count};

    if (strlen(path) >= sizeof engine->init_path)
        return ga_fail(GA_EINPUT, "the path of the initial weights is longer than %zu bytes",
                       sizeof engine->init_path - 1);
    request.weights = ga_alloc(count, sizeof *weights);
    if (!request.weights)
        return ga_error_code();
    memcpy(request.weights, weights, count * sizeof *weights);
    return ga_engine_ask(engine, init_call, &request);
}

struct path_request {
    char *out;
    size_t size;
};

static int path_call(struct ga_engine *engine, void *arg)
{
    struct path_request *request = arg;

    snprintf(request->out, request->size, "%s", engine->init_path);
    return GA_OK;
}

void ga_engine_init_path(struct ga_engine *engine, char *out, size_t size)
{
    struct path_request request = {out, size};

    ga_engine_ask(engine, path_call, &request);
}

struct run_request {
    int (*call)(struct ga_run *run, void *arg);
    void *arg;
};

static int run_call(struct ga_engine *engine, void *arg)
{
    struct run_request *request = arg;

    if (ga_engine_ensure_run(engine) < 0)
        return ga_error_code();
    return request->call(engine->run, request->arg);
}

int ga_engine_call(struct ga_engine *engine, int (*call)(struct ga_run *run, void *arg), void *arg)
{
    struct run_request request = {call, arg};

    return ga_engine_ask(engine, run_call, &request);
}

struct move_request {
    const struct ga_move *move;
    uint64_t ticket;
};

static int move_call(struct ga_engine *engine, void *arg)
{
    const struct move_request *request = arg;

    return ga_engine_begin_move(engine, request->move, request->ticket);
}

int ga_engine_move(struct ga_engine *engine, const struct ga_move *move, uint64_t *ticket)
{
    struct move_request request = {.move = move};

    pthread_mutex_lock(&engine->lock);
    request.ticket = *ticket = ++engine->next_ticket;
    pthread_mutex_unlock(&engine->lock);
    return ga_engine_ask(engine, move_call, &request);
}

bool ga_engine_wait(struct ga_engine *engine, uint64_t ticket, int64_t deadline_ns,
                    struct ga_stop *out)
{
    struct timespec deadline = {.tv_sec = deadline_ns / 1000000000,
                                .tv_nsec = deadline_ns % 1000000000};
    int failed = 0;
    bool ended = false;

    pthread_mutex_lock(&engine->lock);
    while (engine->stopped < ticket && failed != ETIMEDOUT)
        failed = pthread_cond_timedwait(&engine->stopped_changed, &engine->lock, &deadline);
    ended = engine->stopped >= ticket;
    if (ended)
        *out = engine->stop;
    pthread_mutex_unlock(&engine->lock);
    return ended;
}

static int pause_call(struct ga_engine *engine, void *arg)
{
    (void)arg;
    if (atomic_load(&engine->moving))
        ga_engine_end_move(engine, GA_STOP_PAUSED);
    return GA_OK;
}

void ga_engine_pause(struct ga_engine *engine)
{
    ga_engine_ask(engine, pause_call, NULL);
}

bool ga_engine_moving(struct ga_engine *engine)
{
    return atomic_load(&engine->moving);
}

static int break_add_call(struct ga_engine *engine, void *arg)
{
    for (size_t i = 0; i < ENGINE_BREAKS; i++) {
        struct engine_break *b = &engine->breaks[i];

        if (b->number)
            continue;
        b->condition = *(const struct ga_condition *)arg;
        b->number = engine->next_break++;
        if (i >= engine->break_slots)
            engine->break_slots = i + 1;
        b->held = engine->run && b->condition.holds(b->condition.self, engine->run);
        return b->number;
    }
    return ga_fail(GA_ERANGE, "there are %d breakpoints already: delete one first", ENGINE_BREAKS);
}

int ga_engine_break_add(struct ga_engine *engine, const struct ga_condition *condition)
{
    struct ga_condition copy = *condition;

    return ga_engine_ask(engine, break_add_call, &copy);
}

static int break_delete_call(struct ga_engine *engine, void *arg)
{
    int number = *(const int *)arg;

    for (size_t i = 0; number > 0 && i < ENGINE_BREAKS; i++) {
        struct engine_break *b = &engine->breaks[i];

        if (b->number != number)
            continue;
        if (b->condition.close)
            b->condition.close(b->condition.self);
        memset(b, 0, sizeof *b);
        return GA_OK;
    }
    return ga_fail(GA_EINPUT, "there is no breakpoint %d: `breaks` lists them", number);
}

int ga_engine_break_delete(struct ga_engine *engine, int number)
{
    return ga_engine_ask(engine, break_delete_call, &number);
}

struct break_request {
    size_t k;
    int number;
    char *text;
};

static int break_at_call(struct ga_engine *engine, void *arg)
{
    struct break_request *request = arg;
    size_t k = 0;

    for (size_t i = 0; i < ENGINE_BREAKS; i++) {
        const struct engine_break *b = &engine->breaks[i];

        if (!b->number || k++ != request->k)
            continue;
        request->number = b->number;
        memcpy(request->text, b->condition.text, sizeof b->condition.text);
    }
    return GA_OK;
}

bool ga_engine_break_at(struct ga_engine *engine, size_t k, int *number, char text[128])
{
    struct break_request request = {.k = k, .text = text};

    ga_engine_ask(engine, break_at_call, &request);
    *number = request.number;
    return request.number > 0;
}

static int observe_call(struct ga_engine *engine, void *arg)
{
    for (size_t i = 0; i < ENGINE_OBSERVERS; i++) {
        if (engine->observers[i].update)
            continue;
        engine->observers[i] = *(const struct ga_observer *)arg;
        return GA_OK;
    }
    return ga_fail(GA_ERANGE, "there are %d logs already", ENGINE_OBSERVERS);
}

int ga_engine_observe(struct ga_engine *engine, const struct ga_observer *observer)
{
    struct ga_observer copy = *observer;

    return ga_engine_ask(engine, observe_call, &copy);
}

static int unobserve_call(struct ga_engine *engine, void *arg)
{
    for (size_t i = 0; i < ENGINE_OBSERVERS; i++)
        if (engine->observers[i].update && engine->observers[i].self == arg)
            memset(&engine->observers[i], 0, sizeof engine->observers[i]);
    return GA_OK;
}

void ga_engine_unobserve(struct ga_engine *engine, void *self)
{
    ga_engine_ask(engine, unobserve_call, self);
}

/* A run for the state's data and settings, at that state. */
static int load_call(struct ga_engine *engine, void *arg)
{
    const struct ga_state *state = arg;
    struct ga_run *run = NULL;
    struct ga_run_start start = {
        .data = state->data,
        .settings = state->settings->value,
        .weights = state->server->weights,
        .weights_count = state->server->parameters,
        .workers = engine->workers,
    };

    if (ga_run_open(&run, &start) < 0)
        return ga_error_code();
    if (ga_run_restore(run, state) < 0) {
        ga_run_close(run);
        return ga_error_code();
    }
    for (size_t r = 0; r < state->replicas; r++)
        if (ga_engine_remember_slow(engine, r, state->replica[r].slow) < 0) {
            ga_run_close(run);
            return ga_error_code();
        }
    stop_moving(engine);
    return ga_engine_take_run(engine, run);
}

int ga_engine_load(struct ga_engine *engine, const struct ga_state *state)
{
    struct ga_state copy = *state;

    return ga_engine_ask(engine, load_call, &copy);
}

struct records_request {
    int (*each)(const struct ga_update_record *record, void *arg);
    void *arg;
};

static int records_call(struct ga_engine *engine, void *arg)
{
    const struct records_request *request = arg;
    uint64_t windows = 0;
    int code = GA_OK;

    if (!engine->run)
        return GA_OK;
    windows = ga_run_windows_closed(engine->run);
    for (size_t k = 0; code == GA_OK && k < ga_history_records(engine->history); k++) {
        const struct ga_update_record *record = ga_history_record(engine->history, k);

        if (record->update + record->skipped > windows)
            break;
        code = request->each(record, request->arg);
    }
    return code;
}

int ga_engine_records(struct ga_engine *engine,
                      int (*each)(const struct ga_update_record *record, void *arg), void *arg)
{
    struct records_request request = {each, arg};

    return ga_engine_ask(engine, records_call, &request);
}

struct events_request {
    size_t most;
    int (*each)(const struct ga_event *event, void *arg);
    void *arg;
};

static int events_call(struct ga_engine *engine, void *arg)
{
    const struct events_request *request = arg;
    size_t count = 0, first = 0;
    int code = GA_OK;

    if (!engine->run)
        return GA_OK;
    count = ga_history_events(engine->history);
    while (count > 0 && ga_history_event(engine->history, count - 1)->sequence >
                            ga_run_counters(engine->run)->events)
        count--;
    first = count > request->most ? count - request->most : 0;
    for (size_t k = first; code == GA_OK && k < count; k++)
        code = request->each(ga_history_event(engine->history, k), request->arg);
    return code;
}

int ga_engine_events(struct ga_engine *engine, size_t most,
                     int (*each)(const struct ga_event *event, void *arg), void *arg)
{
    struct events_request request = {most, each, arg};

    return ga_engine_ask(engine, events_call, &request);
}

static int history_call(struct ga_engine *engine, void *arg)
{
    if (ga_engine_ensure_run(engine) < 0)
        return ga_error_code();
    ga_history_describe(engine->history, arg);
    return GA_OK;
}

void ga_engine_history(struct ga_engine *engine, struct ga_history_info *out)
{
    memset(out, 0, sizeof *out);
    ga_engine_ask(engine, history_call, out);
}

const struct ga_view *ga_engine_view(struct ga_engine *engine)
{
    bool fresh = false;

    return &engine->views[ga_triple_front(&engine->triple, &fresh)];
}
