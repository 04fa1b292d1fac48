/* The engine thread: its mailbox, and a slice of training between two letters. */
#include "train/engine.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "train/engine_internal.h"

static void answer(struct ga_engine *engine, struct ga_letter *letter)
{
    struct engine_call *call = (struct engine_call *)(void *)letter;

    call->code = call->call(engine, call->arg);
    if (!engine->closing && ga_engine_check_cards(engine) < 0)
        call->code = ga_error_code();
    if (call->code < 0)
        ga_error_take(&call->error);
    sem_post(&call->done);
}

/* When the thread may sleep until: for ever while nothing moves, else until a run may go on. */
static struct ga_letter *next_letter(struct ga_engine *engine)
{
    int64_t due_ns = INT64_MAX;

    if (atomic_load(&engine->moving))
        due_ns = ga_engine_next_due(engine);
    if (due_ns > 0 && due_ns > ga_now_ns())
        return ga_mailbox_take(engine->mail, due_ns);
    return ga_mailbox_waiting(engine->mail) ? ga_mailbox_take(engine->mail, 0) : NULL;
}

static void *engine_main(void *arg)
{
    struct ga_engine *engine = arg;

    ga_float_environment_reset();
    ga_devices_set_engine(engine->devices, gettid());
    while (!engine->closing) {
        struct ga_letter *letter = next_letter(engine);

        if (letter)
            answer(engine, letter);
        else if (atomic_load(&engine->moving))
            ga_engine_advance(engine);
    }
    return NULL;
}

static int cores(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);

    return count < 1 ? 1 : count > 256 ? 256 : (int)count;
}

static int open_lock(struct ga_engine *engine)
{
    pthread_condattr_t attributes;

    pthread_mutex_init(&engine->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&engine->stopped_changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return GA_OK;
}

static void free_engine(struct ga_engine *engine)
{
    for (size_t k = 0; k < engine->slots; k++)
        ga_slot_close(engine->slot[k]);
    for (size_t i = 0; i < ENGINE_BREAKS; i++)
        if (engine->breaks[i].number && engine->breaks[i].condition.close)
            engine->breaks[i].condition.close(engine->breaks[i].condition.self);
    ga_workers_close(engine->workers);
    ga_devices_close(engine->devices);
    ga_mailbox_close(engine->mail);
    pthread_cond_destroy(&engine->stopped_changed);
    pthread_mutex_destroy(&engine->lock);
    free(engine->views);
    free(engine);
}

int ga_engine_open(struct ga_engine **out, const struct ga_engine_options *options)
{
    struct ga_engine *engine = ga_alloc(1, sizeof *engine);
    int threads = options->threads > 0 ? options->threads : cores();
    int failed = 0;

    *out = NULL;
    if (!engine)
        return ga_error_code();
    engine->bell = options->bell;
    engine->next_break = 1;
    ga_triple_init(&engine->triple);
    open_lock(engine);
    engine->views = ga_alloc(3, sizeof *engine->views);
    if (!engine->views || ga_slot_open(&engine->slot[0], GA_FIRST_RUN) < 0)
        goto fail;
    engine->slots = 1;
    engine->at = engine->current = engine->slot[0];
    if (ga_devices_open(&engine->devices) < 0 || ga_mailbox_open(&engine->mail) < 0 ||
        ga_workers_open(&engine->workers, threads - 1) < 0)
        goto fail;
    ga_engine_publish(engine);
    failed = pthread_create(&engine->thread, NULL, engine_main, engine);
    if (failed) {
        ga_fail_errno(GA_ENOMEM, failed, "cannot start the engine thread");
        goto fail;
    }
    *out = engine;
    return GA_OK;
fail:
    free_engine(engine);
    return ga_error_code();
}

static int close_call(struct ga_engine *engine, void *arg)
{
    (void)arg;
    ga_engine_end_all_moves(engine, GA_STOP_PAUSED);
    engine->closing = true;
    return GA_OK;
}

void ga_engine_close(struct ga_engine *engine)
{
    struct engine_call call = {.call = close_call};

    if (!engine)
        return;
    sem_init(&call.done, 0, 0);
    ga_mailbox_post(engine->mail, &call.letter);
    pthread_join(engine->thread, NULL);
    sem_destroy(&call.done);
    free_engine(engine);
}

struct ga_devices *ga_engine_devices(struct ga_engine *engine)
{
    return engine->devices;
}
