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
        *request->in_force =
            engine->at->run ? *ga_run_settings(engine->at->run) : engine->at->draft;
    if (request->draft)
        *request->draft = engine->at->draft;
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
    if (engine->at->moving)
        ga_engine_end_move(engine, GA_STOP_REPLACED);
}

static int data_call(struct ga_engine *engine, void *arg)
{
    stop_moving(engine);
    ga_engine_drop_run(engine);
    ga_dataset_close(engine->at->data);
    engine->at->data = arg;
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
    free(engine->at->init_weights);
    engine->at->init_weights = request->weights;
    engine->at->init_count = request->count;
    snprintf(engine->at->init_path, sizeof engine->at->init_path, "%s", request->path);
    engine->at->draft.init = GA_INIT_FILE;
    ga_engine_publish(engine);
    return GA_OK;
}

int ga_engine_init_from(struct ga_engine *engine, const char *path, const float *weights,
                        size_t count)
{
    struct init_request request = {.path = path, .count = count};

    if (strlen(path) >= GA_INIT_PATH)
        return ga_fail(GA_EINPUT, "the path of the initial weights is longer than %d bytes",
                       GA_INIT_PATH - 1);
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

    snprintf(request->out, request->size, "%s", engine->at->init_path);
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
    return request->call(engine->at->run, request->arg);
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
    ga_engine_end_all_moves(engine, GA_STOP_PAUSED);
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

bool ga_engine_jumping(struct ga_engine *engine)
{
    return atomic_load(&engine->jumping);
}

int ga_engine_replay(struct ga_engine *engine, struct ga_replay *out)
{
    const struct ga_move move = {.kind = GA_MOVE_REPLAY};
    struct ga_stop stop;
    uint64_t ticket = 0;

    if (ga_engine_move(engine, &move, &ticket) < 0)
        return ga_error_code();
    while (!ga_engine_wait(engine, ticket, INT64_MAX, &stop))
        ;
    *out = stop.replay;
    if (stop.reason == GA_STOP_DONE)
        return GA_OK;
    if (stop.error.code < 0)
        return ga_error_put(&stop.error);
    return ga_fail(GA_ESTATE, "the replay was broken off at event %llu",
                   (unsigned long long)stop.events);
}

static int load_call(struct ga_engine *engine, void *arg)
{
    const struct ga_state *state = arg;
    struct ga_run *run = NULL;

    if (ga_engine_run_at_state(engine, state, &run) < 0)
        return ga_error_code();
    for (size_t r = 0; r < state->replicas; r++)
        if (ga_slot_remember_slow(engine->at, r, state->replica[r].slow) < 0) {
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
