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

/* Weights after `number` updates, and the optimizer's state with them. Immutable once published. */
struct ga_version {
    atomic_uint references;
    uint64_t number;
    size_t parameters;   /* floats in weights */
    size_t state_blocks; /* blocks of `parameters` floats in state */
    float *weights;
    float *state; /* NULL when state_blocks is 0 */
    struct ga_optimizer_scalars scalars;
};

int ga_version_open(struct ga_version **out, size_t parameters, size_t state_blocks);
struct ga_version *ga_version_share(struct ga_version *version);
void ga_version_close(struct ga_version *version);         /* drops one reference */
size_t ga_version_bytes(const struct ga_version *version); /* memory it holds; NULL: 0 */

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
};

/*
 * A replica. READY waits without an item, BUSY works on the open window, DONE has handed its item
 * over, LATE works on a window that has closed. Times are virtual ns; busy + idle + communication =
 * time of the run, per replica.
 */
enum ga_replica_state { GA_REPLICA_READY, GA_REPLICA_BUSY, GA_REPLICA_DONE, GA_REPLICA_LATE };

struct ga_replica_value {
    enum ga_replica_state state;
    bool in_window;         /* DONE only: its sums are part of the open window */
    uint64_t items;         /* started, dropped ones too: the index of the next time draw */
    uint64_t finished;      /* items handed over */
    uint64_t window;        /* number of the window its item belongs to */
    uint32_t micro;         /* committed micro-batches of the item */
    uint32_t micros;        /* of the item (empty parts are not counted) */
    uint32_t examples;      /* of the item */
    uint32_t part;          /* of the open window, not handed over: rows it holds in ga_state.row */
    uint32_t done_examples; /* committed */
    int64_t start_ns, finish_ns; /* of the item */
    int64_t free_ns;             /* since when it waits, when it does not work */
    int64_t busy_ns, idle_ns, communication_ns;
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
    uint32_t micros;            /* committed micro-batches of contributing items */
    double micro_norm_square;   /* sum over its micro-batches of |mean gradient|^2 */
    double micro_inverse_count; /* sum over them of 1/count */
    bool skipped;               /* closes without an update */
    struct ga_tally total;      /* after REDUCE */
    double loss, norm, clip_scale, lr;
    double update_norm; /* |w_new - w_old| after APPLY */
};

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
    size_t sums;          /* replicas whose accumulator holds something */
    int32_t *sums_of;     /* (sums) replica numbers, ascending */
    size_t sums_elements; /* elements of one accumulator */
    enum ga_type sums_type;
    void *sum;       /* (sums, sums_elements) */
    void *reduced;   /* (sums_elements) after REDUCE, else NULL */
    float *gradient; /* (parameters) g after REDUCE until CLEAR, else NULL */
};

void ga_state_init(struct ga_state *state);
void ga_state_fini(struct ga_state *state);
size_t ga_state_bytes(const struct ga_state *state); /* memory it holds, shared versions included */

#endif
