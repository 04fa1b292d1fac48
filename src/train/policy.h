/*
 * The policy seam: an update mode as a thread-free state machine. It holds no locks, does no maths
 * on tensors and keeps no memory of its own: what it needs to remember is part of the window's
 * state, so a checkpoint has it. It is told (replica, version, time) and answers with actions; one
 * engine runs all.
 */
#ifndef GA_TRAIN_POLICY_H
#define GA_TRAIN_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "settings/settings.h"
#include "train/state.h"

/* A replica hands over its item. */
struct ga_push {
    int32_t replica;
    uint64_t window;       /* number of the window the item belongs to */
    uint64_t version_read; /* weights it used */
    uint64_t version_now;  /* updates applied by now */
    uint32_t examples;
    int64_t time_ns;
};

/* Answers to a push; they may be combined. */
enum {
    GA_PUSH_ADD = 1,   /* its sums and weight join the open window */
    GA_PUSH_DROP = 2,  /* they are dropped and counted */
    GA_PUSH_CLOSE = 4, /* the window is complete: reduce, check, clip, apply, clear */
    GA_PUSH_CANCEL = 8 /* with CLOSE: items still running are aborted now; else they run on, late */
};

struct ga_policy {
    const char *name; /* a word of the `mode` choices */
    const char *law;  /* the law it follows, with its source, for help */

    /* Pushes that close a window in which `active` of P replicas have a part. */
    uint32_t (*expected)(const struct ga_settings *settings, uint32_t active);

    /* May this replica, which holds no item, start its part of the open window? */
    bool (*may_start)(const struct ga_settings *settings, const struct ga_window_state *window,
                      const struct ga_replica_value *replica);

    unsigned (*on_push)(const struct ga_settings *settings, const struct ga_window_state *window,
                        const struct ga_push *push);

    /* Factor on the learning rate for this update. */
    double (*scale)(const struct ga_settings *settings, const struct ga_push *push);
};

extern const struct ga_policy ga_policy_sync;

/* By word of the `mode` setting; NULL with an error. */
const struct ga_policy *ga_policy_find(const char *name);
const struct ga_policy *ga_policy_at(int position); /* NULL beyond the last */

#endif
