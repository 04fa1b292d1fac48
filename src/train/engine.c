/* The engine thread: its mailbox, its run and what happens to it. */
#include "train/engine.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "train/engine_internal.h"

static void on_event(void *self, const struct ga_event *event)
{
    struct ga_engine *engine = self;

    if (!engine->replaying && ga_history_keep_event(engine->history, event) < 0)
        engine->sink_code = ga_error_code();
}

static void on_record(void *self, const struct ga_update_record *record)
{
    struct ga_engine *engine = self;

    if (!engine->replaying &&
        ga_history_keep_record(engine->history, record, ga_run_counters(engine->run)->events) < 0)
        engine->sink_code = ga_error_code();
    if (engine->seeking)
        return;
    for (size_t i = 0; i < ENGINE_OBSERVERS; i++)
        if (engine->observers[i].update)
            engine->observers[i].update(engine->observers[i].self, engine->run, record);
}

/* A worker finished something that the real clock may wait for. */
static void wake(void *self)
{
    struct ga_engine *engine = self;

    ga_mailbox_wake(engine->mail);
}

void ga_engine_drop_run(struct ga_engine *engine)
{
    ga_run_close(engine->run);
    ga_history_close(engine->history);
    engine->run = NULL;
    engine->history = NULL;
    engine->cursor = 0;
}

int ga_engine_take_run(struct ga_engine *engine, struct ga_run *run)
{
    struct ga_history *history = NULL;

    if (ga_history_open(&history, ga_run_settings(run)->history_budget) < 0 ||
        ga_history_begin(history, run) < 0) {
        ga_history_close(history);
        ga_run_close(run);
        return ga_error_code();
    }
    ga_engine_drop_run(engine);
    engine->run = run;
    engine->history = history;
    engine->draft = *ga_run_pending(run);
    if (engine->data != ga_run_data(run)) {
        ga_dataset_close(engine->data);
        engine->data = ga_dataset_share(ga_run_data(run));
    }
    ga_run_watch(run, on_event, on_record, engine);
    ga_run_on_wake(run, wake, engine);
    ga_engine_publish(engine);
    return GA_OK;
}

int ga_engine_ensure_run(struct ga_engine *engine)
{
    struct ga_run_start start = {
        .data = engine->data,
        .settings = engine->draft,
        .weights = engine->init_weights,
        .weights_count = engine->init_count,
        .workers = engine->workers,
    };
    struct ga_run *run = NULL;

    if (engine->run)
        return GA_OK;
    if (!engine->data)
        return ga_fail(GA_ESTATE, "there is no data: expected `data parabola` or `data FILE`");
    if (ga_run_open(&run, &start) < 0)
        return ga_error_code();
    for (size_t r = 0; r < engine->slow_count && r < ga_run_replicas(run); r++)
        ga_run_slow(run, r, engine->slow[r]);
    return ga_engine_take_run(engine, run);
}

static void answer(struct ga_engine *engine, struct ga_letter *letter)
{
    struct engine_call *call = (struct engine_call *)(void *)letter;

    call->code = call->call(engine, call->arg);
    if (call->code < 0)
        ga_error_take(&call->error);
    sem_post(&call->done);
}

/* When the thread may sleep until: for ever while nothing moves, else until pace allows an event.
 */
static struct ga_letter *next_letter(struct ga_engine *engine)
{
    if (!atomic_load(&engine->moving))
        return ga_mailbox_take(engine->mail, INT64_MAX);
    if (engine->resume_ns > ga_now_ns())
        return ga_mailbox_take(engine->mail, engine->resume_ns);
    return ga_mailbox_waiting(engine->mail) ? ga_mailbox_take(engine->mail, 0) : NULL;
}

static void *engine_main(void *arg)
{
    struct ga_engine *engine = arg;

    ga_float_environment_reset();
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
    ga_engine_drop_run(engine);
    for (size_t i = 0; i < ENGINE_BREAKS; i++)
        if (engine->breaks[i].number && engine->breaks[i].condition.close)
            engine->breaks[i].condition.close(engine->breaks[i].condition.self);
    ga_workers_close(engine->workers);
    ga_mailbox_close(engine->mail);
    ga_dataset_close(engine->data);
    pthread_cond_destroy(&engine->stopped_changed);
    pthread_mutex_destroy(&engine->lock);
    free(engine->init_weights);
    free(engine->slow);
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
    ga_settings_default(&engine->draft);
    ga_triple_init(&engine->triple);
    open_lock(engine);
    engine->views = ga_alloc(3, sizeof *engine->views);
    if (!engine->views || ga_mailbox_open(&engine->mail) < 0 ||
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
    if (atomic_load(&engine->moving))
        ga_engine_end_move(engine, GA_STOP_PAUSED);
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
