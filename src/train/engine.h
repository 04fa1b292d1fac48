/*
 * The engine: one thread that owns runs and their histories, and a mailbox for everyone else.
 *
 * There is one run, "main", until it is forked. One of them is current: all functions are about
 * that one unless they name another. Runs share nothing but the worker threads and breakpoints; a
 * move with `all` advances them together, in turns.
 *
 * All functions below may be called from any one commanding thread (the console's). Those that
 * answer wait for the engine to reach the end of its present event, never for training to end. A
 * moving command returns at once with a ticket; ga_engine_wait() waits for it.
 *
 * History: every update's state is kept while it fits the budget, then thinned; `back` and `goto`
 * land on identical bits. Going back keeps the recorded future, and moving forward replays it,
 * changes of settings included, until something is changed: then a new future starts there. What
 * was changed at a place is in force whenever the run comes to it: going back undoes what came
 * after a change, not the change.
 */
#ifndef GA_TRAIN_ENGINE_H
#define GA_TRAIN_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/thread.h"
#include "train/run.h"
#include "train/view.h"

struct ga_engine;

#define GA_ENGINE_RUNS 32
#define GA_FIRST_RUN   "main"

struct ga_engine_options {
    const struct ga_bell *bell; /* rung when a move ends or a view is published; NULL: none */
    int threads;                /* worker threads at the most; 0: as many as cores */
};

int ga_engine_open(struct ga_engine **out, const struct ga_engine_options *options);
void ga_engine_close(struct ga_engine *engine);

/* The draft to edit: settings in force plus what is pending. */
void ga_engine_settings(struct ga_engine *engine, struct ga_settings *in_force,
                        struct ga_settings *draft);

/* From when a change holds. Update numbers count from 1. */
struct ga_change {
    uint64_t from_update; /* WINDOW settings */
    bool start_waits;     /* START settings wait for `reset`: something was trained already, and the
                             run was not taken to other cards */
    uint64_t forgotten;   /* recorded updates beyond this point that were dropped; 0: none */
};

/* All or nothing. Model and data that do not fit each other are refused when a run is first needed.
 */
int ga_engine_change(struct ga_engine *engine, const struct ga_settings *draft,
                     struct ga_change *out);

/* A new data set: the engine takes the reference; the run starts over at update 0. */
int ga_engine_data(struct ga_engine *engine, struct ga_dataset *data);

/* Initial weights for init file, copied; `path` is kept for `show changed`. Starts over likewise.
 */
int ga_engine_init_from(struct ga_engine *engine, const char *path, const float *weights,
                        size_t count);
/* Copies the path given to ga_engine_init_from(), "" when there is none. */
void ga_engine_init_path(struct ga_engine *engine, char *out, size_t size);

/* Runs `call` on the engine thread between two events with the present run (opened if need be). */
int ga_engine_call(struct ga_engine *engine, int (*call)(struct ga_run *run, void *arg), void *arg);

/* A condition; evaluated on the engine thread after each closed window. */
struct ga_condition {
    bool (*holds)(const void *self, struct ga_run *run);
    /* The first row after whose update it holds no longer, or with `held` false it does: `count`
     * for none. NULL: it looks at more than rows tell, and updates are made one by one for it. */
    size_t (*scan)(const void *self, const struct ga_burst_rows *rows, bool held);
    void (*close)(void *self); /* may be NULL */
    void *self;
    char text[128];
};

enum ga_move_kind {
    GA_MOVE_UPDATES, /* count closed windows (applied or skipped) */
    GA_MOVE_MICROS,
    GA_MOVE_EVENTS,
    GA_MOVE_EPOCHS,
    GA_MOVE_TIME,  /* count virtual ns */
    GA_MOVE_UNTIL, /* until the condition holds; not at all when it holds already */
    GA_MOVE_FOREVER,
    GA_MOVE_BACK_UPDATES, /* from mid-window the first one leads to its start */
    GA_MOVE_BACK_MICROS,
    GA_MOVE_BACK_EVENTS,
    GA_MOVE_GOTO,  /* the boundary after update `count` */
    GA_MOVE_RESET, /* update 0; pending START settings take effect */
    GA_MOVE_REPLAY /* from the first state to the present place, as ga_engine_replay() does */
};

struct ga_move {
    enum ga_move_kind kind;
    uint64_t count;
    struct ga_condition until; /* UNTIL: taken by the engine */
    bool all;                  /* every run goes on, each to its own end; forward kinds only */
};

enum ga_stop_reason {
    GA_STOP_DONE,
    GA_STOP_PAUSED,    /* ga_engine_pause() */
    GA_STOP_BREAK,     /* a breakpoint: number and text */
    GA_STOP_NONFINITE, /* see error */
    GA_STOP_ERROR,
    GA_STOP_REPLACED /* another move was asked for */
};

/* What a replay of everything since the beginning of the history came to. */
struct ga_replay {
    uint64_t events, pushes;
    uint64_t recorded, replayed; /* run hashes */
};

/* The way of a jump that was broken off: `at` lies before `to`, in the history. */
struct ga_way {
    const char *unit; /* that it counts in, "update", "event"; static, NULL: there was no jump */
    uint64_t from, at, to;
};

struct ga_stop {
    enum ga_stop_reason reason;
    int breakpoint;
    char text[128];
    struct ga_error error;            /* NONFINITE, ERROR */
    uint64_t updates, micros, events; /* where it stands now */
    bool at_boundary;
    struct ga_way way;       /* PAUSED, REPLACED */
    struct ga_replay replay; /* DONE, of a REPLAY */
};

/*
 * Starts a move; a move under way is replaced. A jump (back, replay, and goto within the history)
 * executes again what lies between a state kept and its target; one that takes longer than a frame
 * goes on between letters as any move does, and may be paused or replaced. Until it has arrived,
 * GA_ESTATE is the answer to whatever would change the run on the way.
 */
int ga_engine_move(struct ga_engine *engine, const struct ga_move *move, uint64_t *ticket);

/* Waits until the move ended or `deadline_ns` (ga_now_ns() time): true when it ended. */
bool ga_engine_wait(struct ga_engine *engine, uint64_t ticket, int64_t deadline_ns,
                    struct ga_stop *out);
void ga_engine_pause(struct ga_engine *engine); /* from any thread or signal-driven loop */
bool ga_engine_moving(struct ga_engine *engine);
bool ga_engine_jumping(struct ga_engine *engine); /* it has not arrived yet */

/* Window commands and replica speed, recorded in the history like changes. */
int ga_engine_flush(struct ga_engine *engine, struct ga_change *out);
int ga_engine_discard(struct ga_engine *engine, struct ga_change *out);
int ga_engine_slow(struct ga_engine *engine, size_t replica, double factor, struct ga_change *out);

/* Failures: a killed replica's item is dropped; a restored one pulls fresh weights. */
int ga_engine_kill(struct ga_engine *engine, size_t replica, struct ga_change *out);
int ga_engine_revive(struct ga_engine *engine, size_t replica, struct ga_change *out);

/*
 * Runs the recorded history again, in virtual order, from its first state to the present place: a
 * race on the real clock gives its own bits again. GA_ESTATE for hogwild on the real clock, whose
 * reads and writes are not recorded. Waits until it is done; a move of kind REPLAY does not.
 */
int ga_engine_replay(struct ga_engine *engine, struct ga_replay *out);

/* Breakpoints: they stop a move when their condition becomes true. Numbers count from 1. */
int ga_engine_break_add(struct ga_engine *engine, const struct ga_condition *condition);
int ga_engine_break_delete(struct ga_engine *engine, int number);
/* The k-th in force: number and text; false beyond the last. */
bool ga_engine_break_at(struct ga_engine *engine, size_t k, int *number, char text[128]);

/* Which runs an observer hears of. */
enum ga_observed {
    GA_OBSERVE_CURRENT, /* whichever is current */
    GA_OBSERVE_RUN,     /* the one that was current when it began, while it lives */
    GA_OBSERVE_ALL
};

/* Called on the engine thread after each closed window; must be quick and must not call the engine.
 */
struct ga_observer {
    void (*update)(void *self, struct ga_run *run, const struct ga_update_record *record);
    /* Likewise of many at once, the run being behind the last; NULL: it cannot be told so. */
    void (*burst)(void *self, struct ga_run *run, const struct ga_burst_rows *rows);
    /* How many of the next updates need not be made one by one: with `burst`, what it takes at
     * once; without, what it is not told of. NULL: any number with `burst`, none without. */
    uint64_t (*leaves)(void *self, const struct ga_run *run);
    void *self;
};
int ga_engine_observe(struct ga_engine *engine, const struct ga_observer *observer); /* CURRENT */
int ga_engine_observe_runs(struct ga_engine *engine, enum ga_observed which,
                           const struct ga_observer *observer);
void ga_engine_unobserve(struct ga_engine *engine, void *self);

/* Replaces the run's state (load): the state is copied, history starts there. */
int ga_engine_load(struct ga_engine *engine, const struct ga_state *state);

/* Update records kept, oldest first; the callback runs on the engine thread. */
int ga_engine_records(struct ga_engine *engine,
                      int (*each)(const struct ga_update_record *record, void *arg), void *arg);
/* The newest `most` events, oldest first. */
int ga_engine_events(struct ga_engine *engine, size_t most,
                     int (*each)(const struct ga_event *event, void *arg), void *arg);

struct ga_law_report; /* law.h */

/*
 * The laws of the run, measured over its last `updates` closed windows, or as many as there were
 * since the settings changed or a user touched replicas or a window; thinned states of the history
 * make it a few more. Nothing is measured where there are none.
 */
int ga_engine_laws(struct ga_engine *engine, uint64_t updates, bool look_at_curvature,
                   struct ga_law_report *out);

struct ga_history_info {
    uint64_t first_update, last_update; /* that `goto` can reach */
    uint64_t first_event;               /* events before the history begins */
    uint64_t changes_ahead;             /* recorded beyond the present position */
    uint64_t states, records, events;   /* kept */
    uint64_t bytes, budget;
};
void ga_engine_history(struct ga_engine *engine, struct ga_history_info *out);

/* ---- several runs ---- */

/* A run as a table shows it. A plain value. */
struct ga_run_info {
    char name[GA_RUN_NAME];
    bool current;
    bool open;                   /* false: nothing was trained or asked yet; settings only */
    struct ga_settings settings; /* in force */
    struct ga_counters counters;
    int64_t now_ns;
    double loss;   /* of the last window; NaN: none yet */
    uint64_t hash; /* 0 when it is not open */
    bool moved;    /* it was part of the last move: */
    bool moving;   /* still, else: */
    struct ga_stop stop;
};

/* Names have 1..31 letters, digits, '-', '_' or '.', and begin with a letter. */
int ga_engine_check_run_name(const char *name);

/*
 * Copies the current run with all it has: data, settings and what is pending, initial weights,
 * history. The copy goes its own way; the current run stays current.
 */
int ga_engine_fork(struct ga_engine *engine, const char *name);
/* Makes a run current. A move of one run is ended (PAUSED) first, a move of all goes on. */
int ga_engine_use(struct ga_engine *engine, const char *name);
int ga_engine_drop(struct ga_engine *engine, const char *name); /* not the current one */
/* The k-th in the order made; false beyond the last. */
bool ga_engine_run_info(struct ga_engine *engine, size_t k, struct ga_run_info *out);
/* By name: GA_EINPUT with the names there are. */
int ga_engine_run_named(struct ga_engine *engine, const char *name, struct ga_run_info *out);
/* As ga_engine_records(), of any run. */
int ga_engine_records_of(struct ga_engine *engine, const char *name,
                         int (*each)(const struct ga_update_record *record, void *arg), void *arg);
/* The current run's data: one more reference, NULL when there are none. */
struct ga_dataset *ga_engine_dataset(struct ga_engine *engine);

/* The monitors of the devices: any thread, until the engine closes. */
struct ga_devices *ga_engine_devices(struct ga_engine *engine);

/* The newest published view (triple buffer): for the one reader thread that owns the screen. */
const struct ga_view *ga_engine_view(struct ga_engine *engine);

#endif
