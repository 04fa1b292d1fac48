/*
 * The engine from the inside, shared by the engine*.c and view.c files only.
 *
 * All fields belong to the engine thread, apart from those marked: `mail` and `views` synchronise
 * themselves, `lock` guards the outcome of moves, atomics may be read anywhere.
 */
#ifndef GA_TRAIN_ENGINE_INTERNAL_H
#define GA_TRAIN_ENGINE_INTERNAL_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "base/mailbox.h"
#include "train/engine.h"
#include "train/history.h"
#include "train/workers.h"

#define ENGINE_OBSERVERS 8
#define GA_INIT_PATH     4096
#define ENGINE_BREAKS    64 /* as many as a slot's `held` has bits */

/* A function to run on the engine thread; the poster waits for `done`. */
struct engine_call {
    struct ga_letter letter;
    int (*call)(struct ga_engine *engine, void *arg);
    void *arg;
    int code;
    struct ga_error error;
    sem_t done;
};

struct engine_break {
    int number; /* 0: free */
    struct ga_condition condition;
};

struct engine_move {
    struct ga_move move;
    uint64_t target;                       /* in the counter of its kind */
    int64_t pace_wall_ns, pace_virtual_ns; /* where pacing counts from */
    uint64_t pace_updates;
};

/* A jump under way. Nothing of it is kept once the move has ended. */
struct engine_jump {
    bool on;
    enum ga_history_key key;
    uint64_t from, target;  /* in that counter */
    bool skips;             /* windows were skipped up to `from` */
    struct ga_state origin; /* real clock: where it began, owned, when `has_origin` */
    bool has_origin;
    size_t cursor; /* there */
};

/* A run with all that belongs to it: what it starts from, its history, and its part of a move. */
struct engine_slot {
    char name[GA_RUN_NAME];
    struct ga_dataset *data;
    struct ga_settings draft; /* what the user asked for, START settings that wait included */
    float *init_weights;
    size_t init_count;
    char init_path[GA_INIT_PATH];
    double *slow; /* (slow_count) the factors last asked for, for runs to come */
    size_t slow_count, slow_capacity;

    struct ga_run *run; /* NULL until it is first needed */
    struct ga_history *history;
    struct ga_tape rows; /* memory of the history before, for the next one */
    size_t cursor;       /* first intervention that is not done in the present position */

    bool moving;
    struct engine_move move;
    struct engine_jump jump; /* that the move is */
    struct ga_replay replay; /* the last one, as far as it came */
    int64_t resume_ns;       /* pace: no event before this wall time */
    uint64_t held; /* breakpoints that held at the last look: they stop when they become true */
    struct ga_stop stop; /* how its last move ended, when `has_stop` */
    bool has_stop;
    int64_t rate_ns; /* wall time and examples at the last rate */
    uint64_t rate_examples;
    int64_t hash_ns; /* wall time of the last hash in a view */
    uint64_t hash;

    struct ga_state mirror; /* on cards: a state that the host has all of, when `has_mirror` */
    bool has_mirror;
    int64_t mirror_due_ns; /* when the next one is taken */
    bool stranded;         /* its last move failed, perhaps by its cards: it may go on elsewhere */
};

struct engine_observer {
    struct ga_observer observer; /* update NULL: free */
    enum ga_observed which;
    const struct engine_slot *slot; /* GA_OBSERVE_RUN: the run that it observes; NULL: dropped */
};

struct ga_engine {
    struct ga_mailbox *mail;
    const struct ga_bell *bell;
    pthread_t thread;
    bool closing;
    struct ga_workers *workers;
    struct ga_devices *devices; /* synchronises itself */

    struct engine_slot *slot[GA_ENGINE_RUNS]; /* (slots) in the order made */
    size_t slots;
    struct engine_slot *current; /* what commands and the view are about */
    struct engine_slot *at;      /* the one in hand: another only while a slice of it runs */
    size_t turn;                 /* slot whose slice comes next */

    bool seeking;   /* a slice of a jump runs: observers and pace are off */
    bool replaying; /* the event under way is on record */
    int sink_code;  /* first failure to keep history */

    atomic_bool moving;  /* any of them */
    atomic_bool jumping; /* the one that moves jumps */
    size_t movers;       /* slots that still move */
    bool moves_all;
    uint64_t ticket; /* of the move under way */
    struct engine_break breaks[ENGINE_BREAKS];
    size_t break_slots; /* none is in use from here on */
    int next_break;
    struct engine_observer observers[ENGINE_OBSERVERS];

    struct ga_burst_row burst[GA_BURST_MOST]; /* one on record that is made again */

    pthread_mutex_t lock; /* guards next_ticket, stopped and stop */
    pthread_cond_t stopped_changed;
    uint64_t next_ticket, stopped; /* the last ticket given out, and the last one that ended */
    struct ga_stop stop;

    struct ga_triple triple;
    struct ga_view *views; /* (3) */
    int64_t published_ns;
};

/* engine_slot.c */
bool ga_engine_observes(const struct ga_engine *engine, const struct engine_observer *observer);
int ga_slot_open(struct engine_slot **out, const char *name);
void ga_slot_close(struct engine_slot *slot);
int ga_engine_ensure_run(struct ga_engine *engine);
void ga_engine_drop_run(struct ga_engine *engine);
int ga_engine_take_run(struct ga_engine *engine, struct ga_run *run); /* replaces the present one */
/* A run for the state's data and settings, at that state. */
int ga_engine_run_at_state(struct ga_engine *engine, const struct ga_state *state,
                           struct ga_run **out);
void ga_engine_attend(struct ga_engine *engine, struct ga_run *run); /* hears its events */
/* A speed holds for every run that starts later, as settings do. */
int ga_slot_remember_slow(struct engine_slot *slot, size_t replica, double factor);

/* engine_api.c: runs `call` on the engine thread; any other thread. */
int ga_engine_ask(struct ga_engine *engine, int (*call)(struct ga_engine *, void *), void *arg);

/* engine_change.c: what a user did, on the run. */
int ga_engine_intervene(struct ga_engine *engine, const struct ga_intervention *what);

/* engine_rescue.c: cards that fail. */
void ga_engine_start_mirror(struct engine_slot *at);
void ga_engine_forget_mirror(struct engine_slot *at);
int ga_engine_mirror(struct ga_engine *engine); /* at a boundary: takes one when it is time */
/* After an error: leaves the run in hand at a state that the host has, which is added to the text.
 */
void ga_engine_rescue(struct ga_engine *engine, struct ga_error *error);
/* The weights of the run in hand can be read. */
int ga_engine_reads(const struct ga_engine *engine);
/* After a call that may have read from cards: an error, and the run rescued, where one failed. */
int ga_engine_check_cards(struct ga_engine *engine);
/* Whether the draft wants a stranded run elsewhere; and takes it there, with a history that begins
 * at its present state. */
bool ga_engine_moves_away(const struct ga_engine *engine, const struct ga_settings *draft);
int ga_engine_move_away(struct ga_engine *engine, const struct ga_settings *draft);

/* engine_break.c: the first breakpoint that became true since the last look, or NULL. */
struct engine_break *ga_engine_break_hit(struct ga_engine *engine);

/* engine_seek.c: steps on record or on new ground. */
int ga_engine_step(struct ga_engine *engine);
/* New events up to the window's end, a letter, or the end of `*left`, with one look behind them. */
int ga_engine_step_quickly(struct ga_engine *engine, int *left);

/* engine_burst.c: updates in a burst if there can be one, on record or beyond; none of them ends
 * the move or is one that someone has to see by itself. */
int ga_engine_burst(struct ga_engine *engine);
bool ga_engine_breaks_new_ground(const struct ga_engine *engine);
void ga_engine_diverge(struct ga_engine *engine, struct ga_change *out);
int ga_engine_to_boundary(struct ga_engine *engine);
/* What the user did at the present event count; `stay`: unless it closes a window. */
int ga_engine_do_due(struct ga_engine *engine, bool stay);

/* engine_jump.c: jumps within the history, in slices of a frame at the most. A slice answers with
 * GA_JUMP_ARRIVED, with 0 when there is more to do, or with a negative code. */
#define GA_JUMP_ARRIVED 1
bool ga_engine_is_jump(const struct ga_engine *engine, const struct ga_move *move);
int ga_engine_jump(struct ga_engine *engine, const struct ga_move *move); /* and a first slice */
int ga_engine_jump_on(struct ga_engine *engine);
void ga_engine_describe_way(const struct ga_engine *engine, struct ga_way *out);
void ga_engine_forget_jump(struct engine_slot *slot);
/* A state of the history of the run in hand, without recording anything. */
int ga_engine_restore(struct ga_engine *engine, const struct ga_state *state);
/* GA_ESTATE while the run in hand jumps: nothing may change it on the way. */
int ga_engine_check_settled(const struct ga_engine *engine);

/* engine_move.c: all on the engine thread. */
void ga_engine_advance(struct ga_engine *engine); /* a slice of each run that moves and may */
int64_t ga_engine_next_due(const struct ga_engine *engine); /* wall time; 0: now */
int ga_engine_begin_move(struct ga_engine *engine, const struct ga_move *move, uint64_t ticket);
void ga_engine_end_move(struct ga_engine *engine, enum ga_stop_reason reason); /* of the one in hand
                                                                                */
void ga_engine_end_all_moves(struct ga_engine *engine, enum ga_stop_reason reason);
void ga_engine_end_with_error(struct ga_engine *engine, int code); /* with this thread's text */
void ga_engine_start_pace(struct ga_engine *engine);               /* pace counts from now on */

/* view.c */
void ga_engine_publish(struct ga_engine *engine);
#define ENGINE_FRAME_NS INT64_C(16000000)

#endif
