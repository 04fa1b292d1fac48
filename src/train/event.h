/*
 * What happens in a run, one record an event. An event is the smallest thing a user can step.
 *
 * One update passes through MICRO (each micro-batch of each replica), PUSH (a replica has finished
 * its item), then REDUCE, CHECK, CLIP (only with clip on), APPLY, CLEAR. Records are plain values.
 */
#ifndef GA_TRAIN_EVENT_H
#define GA_TRAIN_EVENT_H

#include <stdint.h>

enum ga_event_kind {
    GA_EVENT_NONE,
    GA_EVENT_OPEN,    /* a window is taken from the stream; replicas pull and start */
    GA_EVENT_MICRO,   /* a micro-batch was added to a replica's accumulator */
    GA_EVENT_PUSH,    /* a replica finished its item and handed it over */
    GA_EVENT_SEND,    /* push modes: its sums are on their way to the server */
    GA_EVENT_DROP,    /* a replica's item was cancelled or came too late */
    GA_EVENT_FLUSH,   /* the window was closed early, with what it had */
    GA_EVENT_REDUCE,  /* accumulators summed over replicas; loss and g known */
    GA_EVENT_CHECK,   /* finite and inside the exact range */
    GA_EVENT_CLIP,    /* value = scale (1: below the limit) */
    GA_EVENT_APPLY,   /* the optimizer stepped: version = update */
    GA_EVENT_SKIP,    /* the window was dropped: weight 0, not finite, or discarded */
    GA_EVENT_CLEAR,   /* accumulators released; the window is closed */
    GA_EVENT_PRIVATE, /* local mode: a private step that is not the last of its round */
    GA_EVENT_KINDS
};

struct ga_event {
    uint64_t sequence; /* from 1; counts every event of the run */
    int64_t time_ns;   /* virtual time at which it holds */
    int64_t start_ns;  /* MICRO, PUSH, DROP: when its work began */
    uint64_t update;   /* the update being formed: applied so far + 1 */
    uint64_t version;  /* MICRO, PUSH, DROP: version of the weights it read */
    double loss;       /* MICRO: mean over the micro-batch; PUSH: the item; REDUCE: the window */
    double norm;       /* |g| of the same mean gradient */
    double weight;     /* weight sum of the same */
    double value;      /* CLIP: scale; APPLY: lr; PUSH: staleness; PRIVATE: steps done */
    uint32_t examples;
    int32_t replica; /* -1 where it does not apply */
    uint32_t micro;  /* 1-based, of `micros` */
    uint32_t micros;
    uint8_t kind; /* enum ga_event_kind */
};

const char *ga_event_name(enum ga_event_kind kind); /* "micro", "push", ... */

#endif
