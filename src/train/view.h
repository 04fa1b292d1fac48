/*
 * What a screen needs, copied out by the engine at most 60 times a second while it runs and at each
 * stop. A plain value in a triple buffer: the reader never waits and never holds the engine.
 */
#ifndef GA_TRAIN_VIEW_H
#define GA_TRAIN_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "settings/settings.h"
#include "train/event.h"
#include "train/metrics.h"
#include "train/state.h"

#define GA_VIEW_REPLICAS 64
#define GA_RUN_NAME      32 /* bytes, the NUL included */

struct ga_view_replica {
    enum ga_replica_state state;
    uint32_t micro, micros, examples;
    double loss, norm, cosine, staleness, weight, idle;
};

struct ga_view {
    char name[GA_RUN_NAME]; /* of the current run */
    size_t runs;            /* there are */
    bool open;              /* a run exists; else only the settings count */
    char misfit[192];       /* why none can be opened: the model that the data cannot have; "" */
    bool running;           /* a move is under way */
    bool jumping;           /* it goes to a place of the history, and has not arrived yet */
    struct ga_settings settings;
    char numerics[8];           /* in force: exact or fast; before a run exists, as set */
    struct ga_settings pending; /* equal to settings when nothing is pending */
    struct ga_counters counters;
    enum ga_phase phase;
    int64_t now_ns;
    uint64_t hash;
    size_t window_examples, window_left;
    struct ga_update_record record; /* update 0 before the first */
    struct ga_event event;
    double examples_per_second; /* wall */
    uint64_t target_updates;    /* of the move under way; 0: open-ended */
    size_t replicas;            /* of the run; the first GA_VIEW_REPLICAS are listed */
    struct ga_view_replica replica[GA_VIEW_REPLICAS];
};

#endif
