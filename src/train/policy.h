/*
 * The policy seam: an update mode as a thread-free state machine. It holds no locks, does no maths
 * on tensors and keeps no memory of its own: what it needs to remember is part of the run's state,
 * so a checkpoint has it. It is told (replica, version, time) and answers with actions; one engine
 * runs all.
 */
#ifndef GA_TRAIN_POLICY_H
#define GA_TRAIN_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "settings/settings.h"
#include "train/state.h"

/* How the engine drives a mode. */
enum ga_family {
    GA_FAMILY_WINDOW, /* replicas start a window together; it is reduced once */
    GA_FAMILY_PUSH,   /* each replica takes pieces of its own accord and pushes to a server */
    GA_FAMILY_ROUND,  /* as WINDOW, with private steps; weights are averaged, not gradients */
    GA_FAMILY_SHARED  /* as PUSH, with weights that are read and written coordinate by coordinate */
};

/* A replica hands over its item. */
struct ga_push {
    int32_t replica;
    uint64_t window;       /* number of the window the item belongs to */
    uint64_t version_read; /* weights it used */
    uint64_t version_now;  /* updates applied by now; the difference is the staleness */
    uint32_t examples;
    int64_t time_ns;
    double share;     /* weight of the item (or buffer) over the weight of its window */
    double time_mean; /* mean time of this replica's finished items, ns */
    double time_all;  /* mean of that over the replicas that have one */
};

/* What a policy may look at when a replica wants to start. */
struct ga_turn {
    const struct ga_settings *settings;
    const struct ga_window_state *window;
    const struct ga_replica_value *replica;
    uint64_t closed;      /* updates and skipped windows so far */
    uint64_t least_clock; /* smallest clock over live replicas */
};

/* Answers to a push; they may be combined. */
enum {
    GA_PUSH_ADD = 1,   /* its sums and weight join the open window, or the server's buffer */
    GA_PUSH_DROP = 2,  /* they are dropped and counted */
    GA_PUSH_CLOSE = 4, /* the window or buffer is complete: reduce, check, clip, apply, clear */
    GA_PUSH_CANCEL = 8 /* with CLOSE: items still running are aborted now; else they run on, late */
};

struct ga_policy {
    const char *name; /* a word of the `mode` choices */
    const char *law;  /* the law it follows, with its source, for help */
    enum ga_family family;

    /* Pushes that close a window or buffer; `active` replicas have, or may push, a part of it. */
    uint32_t (*expected)(const struct ga_settings *settings, uint32_t active);

    /*
     * May this live replica, which holds no item, start one? A no holds until the least clock
     * grows, or with `waits_for_update` until a window closes.
     */
    bool (*may_start)(const struct ga_turn *turn);
    bool waits_for_update;

    unsigned (*on_push)(const struct ga_settings *settings, const struct ga_window_state *window,
                        const struct ga_push *push);

    /* Factor on the learning rate for the update that this push leads to. */
    double (*scale)(const struct ga_settings *settings, const struct ga_push *push);

    /* Updates between the weights that a window reads and the ones it changes; NULL: 0. */
    uint32_t (*lag)(const struct ga_settings *settings);
};

/* The factor that the `scale` setting asks for; the one implementation, shared by push modes. */
double ga_policy_push_scale(const struct ga_settings *settings, const struct ga_push *push);

/* By word of the `mode` setting; NULL with an error. */
const struct ga_policy *ga_policy_find(const char *name);
const struct ga_policy *ga_policy_at(int position); /* NULL beyond the last */

#endif
