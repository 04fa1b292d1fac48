/*
 * The whole state of a run as a plain value: what history keeps, what a fork copies, what a
 * checkpoint writes. Restoring it and going on is bit-identical to never having stopped, also in
 * mid-window.
 *
 * Weights and optimizer state live in versions: immutable blocks shared by reference count between
 * the server, replicas that pulled them and histories. Everything else is owned by the state.
 */
#ifndef GA_TRAIN_STATE_H
#define GA_TRAIN_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compute/compute.h"
#include "dataset/dataset.h"
#include "dataset/stream.h"
#include "model/model.h"
#include "settings/settings.h"
#include "train/event.h"
#include "train/metrics.h"

/*
 * Weights after `number` updates, and the optimizer's state with them. Immutable once published.
 * Where a device holds them, the host reads them by the functions below only: its own memory may be
 * behind.
 */
struct ga_version {
    atomic_uint references;
    _Atomic(const struct ga_device_memory *) memory; /* of the device that holds it; else NULL */
    uint64_t number;
    size_t parameters;   /* floats in weights */
    size_t state_blocks; /* blocks of `parameters` floats in state */
    float *weights;
    float *state; /* NULL when state_blocks is 0 */
    struct ga_optimizer_scalars scalars;
    double norm; /* |weights| where the step told it; else negative */
};

int ga_version_open(struct ga_version **out, size_t parameters, size_t state_blocks); /* zeros */
/* As that, for who writes all weights and all state: they are not initialised. */
int ga_version_room(struct ga_version **out, size_t parameters, size_t state_blocks);
struct ga_version *ga_version_share(struct ga_version *version);
void ga_version_close(struct ga_version *version); /* drops one reference */
/* From now on its weights and state are written by the device's step(), or not at all. */
int ga_version_hold(struct ga_version *version, const struct ga_compute *compute);
void ga_version_fetch(const struct ga_version *version); /* NULL is fine; see ga_buffer_fetch() */
/* Fetched, and whether the host has all of it now. */
bool ga_version_intact(const struct ga_version *version);
/* For the host to read. */
const float *ga_version_weights(const struct ga_version *version);
const float *ga_version_state(const struct ga_version *version); /* NULL: there is none */
size_t ga_version_bytes(const struct ga_version *version);       /* memory it holds; NULL: 0 */

/* Settings as an immutable snapshot with an epoch number. */
struct ga_settings_share {
    atomic_uint references;
    uint64_t epoch; /* grows by one at each change that took effect */
    struct ga_settings value;
};

int ga_settings_share_open(struct ga_settings_share **out, const struct ga_settings *value,
                           uint64_t epoch);
struct ga_settings_share *ga_settings_share_take(struct ga_settings_share *share);
void ga_settings_share_close(struct ga_settings_share *share);

/* Where in an update a run stands. */
enum ga_phase {
    GA_PHASE_IDLE,   /* no window is open: at an update boundary */
    GA_PHASE_MICRO,  /* replicas work on the window */
    GA_PHASE_REDUCE, /* the window is complete; REDUCE comes next, and so on */
    GA_PHASE_CHECK,
    GA_PHASE_CLIP,
    GA_PHASE_APPLY,
    GA_PHASE_CLEAR,
    GA_PHASES
};

const char *ga_phase_name(enum ga_phase phase);

struct ga_counters {
    uint64_t micros;   /* micro-batches committed */
    uint64_t updates;  /* applied */
    uint64_t examples; /* in applied updates */
    uint64_t skipped;  /* windows closed without an update */
    uint64_t events;
    uint64_t items_applied, items_dropped;
    uint64_t examples_dropped; /* of cancelled or late items */
    uint64_t examples_unused;  /* of flushed or discarded windows */
    uint64_t bytes;            /* communicated */
    uint64_t reductions;       /* all-reduces */
    uint64_t pushes;           /* gradients that reached the weights or the server's buffer */
    uint64_t staleness;        /* sum over them of updates applied since their pull */
    uint64_t private_steps;    /* local mode, all replicas */
    uint64_t turns;            /* real clock: events of replicas, entries of the race */
    uint64_t lost;             /* hogwild: writes of one coordinate undone by another replica */
};

/*
 * A replica. READY waits without an item, BUSY works on the open window, DONE has handed its item
 * over, LATE works on a window that has closed. Times are virtual ns; busy + idle + communication =
 * time of the run, per replica.
 */
enum ga_replica_state {
    GA_REPLICA_READY,
    GA_REPLICA_BUSY,
    GA_REPLICA_DONE,
    GA_REPLICA_LATE,
    GA_REPLICA_SENDING
};

struct ga_replica_value {
    enum ga_replica_state state;
    bool in_window;         /* DONE only: its sums are part of the open window */
    bool dead;              /* killed: it holds no item and starts none */
    uint64_t items;         /* started, dropped ones too: the index of the next time draw */
    uint64_t finished;      /* items handed over */
    uint64_t window;        /* number of the window its item belongs to */
    uint32_t micro;         /* committed micro-batches of the item */
    uint32_t micros;        /* of the item (empty parts are not counted) */
    uint32_t examples;      /* of the item */
    uint32_t part;          /* of the open window, not handed over: rows it holds in ga_state.row */
    uint32_t done_examples; /* committed */
    double window_weight;   /* weight of the whole window that its piece was cut from */
    uint64_t clock;         /* ssp: finished items as the bound counts them */
    uint64_t pushed_at;     /* windows closed when it last pushed, + 1; 0: never */
    int64_t finished_ns;    /* sum of the times of its finished items */
    uint32_t step, steps;   /* local: private step under way, of its round */
    uint32_t step_row;      /* first row of that step within its part */
    struct ga_version *own; /* local: private weights and optimizer state; NULL: none yet */
    struct ga_tally round;  /* local: over the steps of the round */
    int64_t start_ns, finish_ns; /* of the item */
    int64_t free_ns;             /* since when it waits, when it does not work */
    int64_t busy_ns, idle_ns, communication_ns;
    int64_t joined_ns;          /* when it came; until then it was idle */
    struct ga_version *read;    /* weights it works on; NULL when it has none */
    struct ga_tally tally;      /* of its accumulator; the sums are in ga_state.sum */
    double micro_norm_square;   /* sum over its micro-batches of |mean gradient|^2 */
    double micro_inverse_count; /* sum over them of 1/count, for the noise scale */
    uint32_t fault_micro;       /* first micro-batch with an unusable value, 1-based; 0: none */
    uint32_t fault_tensor;      /* its first such tensor; UINT32_MAX: the loss */
    uint32_t fault_flags;       /* GA_TALLY_... */
    double loss, norm, cosine, staleness; /* last finished item; NaN before the first */
    double slow;                          /* factor of its item times */
};

/* Smoothed noise-scale figures, debiased by `weight` (EMA m / (1 - 0.9^n)). */
struct ga_noise {
    double trace, signal, weight;
};

struct ga_window_state {
    uint64_t number; /* windows opened so far */
    size_t examples; /* it took from the stream */
    uint64_t epoch;
    int64_t open_ns;
    uint32_t expected; /* pushes that close it */
    uint32_t arrived;
    uint64_t staleness;         /* largest of the pushes in it */
    int32_t closer;             /* the replica whose push came last, -1: none */
    double window_weight;       /* push modes: of the window that its piece was cut from */
    double scale;               /* factor on lr of this update */
    uint32_t micros;            /* committed micro-batches of contributing items */
    double micro_norm_square;   /* sum over its micro-batches of |mean gradient|^2 */
    double micro_inverse_count; /* sum over them of 1/count */
    bool skipped;               /* closes without an update */
    struct ga_tally total;      /* after REDUCE */
    double loss, norm, clip_scale, lr;
    double update_norm; /* |w_new - w_old| after APPLY */
};

/* One event of a replica in a race on the real clock. */
struct ga_race_turn {
    int64_t time_ns;
    int32_t replica;
};

/* Staleness 0, 1, ... of pushes; the last bin holds all above. */
#define GA_STALENESS_BINS 64

/* What counters of pushes said when the mode or the replicas changed last. */
struct ga_stretch {
    uint64_t pushes, staleness;
    uint64_t most; /* largest staleness since then */
};

/*
 * Hogwild: one replica's item between its first read and its last write. What it read is in the
 * version that ga_replica_value.read points to; the arrays have one entry a parameter.
 */
struct ga_hogwild_item {
    uint32_t at;      /* next coordinate: reads 0..n-1, then writes n..2n-1 */
    float *change;    /* what it adds to each coordinate, known once all are read */
    uint32_t *writes; /* writes that each coordinate had seen when it was read */
};

/* What only modes other than sync have. */
struct ga_mode_state {
    size_t step_counts;   /* local: private steps of all rounds under way */
    uint32_t *step_count; /* examples of each, replica after replica */
    size_t pieces;        /* push modes, stream sharding: pieces of the window not handed out */
    uint32_t *piece;      /* (pieces) examples of each */
    size_t piece_rows;
    uint32_t *piece_row; /* (piece_rows) piece after piece */
    double piece_weight; /* weight of their window */
    size_t versions;     /* delay: older versions still needed, oldest first */
    struct ga_version **version;
    int64_t server_free_ns; /* when the server can take the next push */
    bool draining;          /* items under way end before the pending settings take effect */
    uint64_t stale[GA_STALENESS_BINS];
    struct ga_stretch stretch;
    float *average;          /* (parameters) local: after REDUCE until CLEAR, else NULL */
    float *shared;           /* hogwild: (parameters) the weights being written, else NULL */
    uint32_t *shared_writes; /* (parameters) */
    size_t items;            /* hogwild: replicas with an item, ascending in item_of */
    int32_t *item_of;
    struct ga_hogwild_item *item;
};

int ga_mode_state_open(struct ga_mode_state **out); /* all empty */
void ga_mode_state_close(struct ga_mode_state *modes);

struct ga_state {
    struct ga_dataset *data;            /* shared */
    struct ga_settings_share *settings; /* in force */
    struct ga_settings_share *pending;  /* takes effect at the next window; or NULL */
    struct ga_version *server;          /* the newest weights */
    struct ga_counters counters;
    struct ga_stream_position stream;
    enum ga_phase phase;
    int64_t now_ns;
    struct ga_window_state window;
    struct ga_noise noise;
    struct ga_event last_event; /* kind NONE before the first */
    struct ga_update_record last_record;
    bool has_record;
    size_t replicas;
    struct ga_replica_value *replica; /* (replicas) */
    size_t rows;                      /* row numbers of all items that are not handed over */
    uint32_t *row;
    struct ga_mode_state *modes; /* NULL: sync, and never was anything else */
    size_t sums;                 /* replicas whose accumulator holds something */
    int32_t *sums_of;            /* (sums) replica numbers, ascending */
    size_t sums_elements;        /* elements of one accumulator */
    enum ga_type sums_type;
    void *sum;       /* (sums, sums_elements) */
    void *reduced;   /* (sums_elements) sum of the open window or buffer, when there is one */
    float *gradient; /* (parameters) g after REDUCE until CLEAR, else NULL */
    size_t races;    /* real clock, after ga_run_capture_race() only: turns recorded */
    struct ga_race_turn *race; /* (races) the first is turn race_base; NULL: not captured */
    uint64_t race_base;
};

void ga_state_init(struct ga_state *state);
void ga_state_fini(struct ga_state *state);
size_t ga_state_bytes(const struct ga_state *state); /* memory it holds, without versions */
/* Every version that it leads to, as often as it does. */
void ga_state_versions(const struct ga_state *state,
                       void (*each)(void *self, const struct ga_version *version), void *self);

#endif
