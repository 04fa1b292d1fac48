/*
 * Inside of the example stream, for the files that implement it.
 *
 * Cached: the permutation of one epoch (`order`), under fixed shards regrouped by shard
 * (`grouped`), and what each replica walks now (its part of `own`). A cache is valid for its epoch
 * while rows, order, seed, sharding and shards stay; ga_stream_change() puts a new stream in place
 * for those.
 *
 * Fixed shards keep one lane per replica. Under tail short and drop all lanes enter an epoch
 * together; under wrap each goes on by itself, so lanes may be in different epochs. Where that
 * matters, the stream's epoch is the smallest that is not finished, and a common new one is larger
 * than all.
 */
#ifndef GA_DATASET_STREAM_STATE_H
#define GA_DATASET_STREAM_STATE_H

#include <stdbool.h>

#include "dataset/stream.h"

#define GA_STREAM_NO_EPOCH UINT64_MAX

struct ga_stream_lane {
    size_t first; /* the shard's place in `grouped` and `own` */
    size_t size;
    uint64_t own_epoch; /* of the rows at own[first], or GA_STREAM_NO_EPOCH */
};

struct ga_stream {
    struct ga_stream_spec spec;
    uint32_t *order; /* (rows) */
    uint64_t order_epoch;
    uint64_t epoch; /* sharding stream only, with offset */
    size_t offset;
    uint32_t *grouped; /* (rows) fixed shards only, with own and lane */
    uint64_t grouped_epoch;
    uint32_t *own;
    struct ga_stream_lane *lane; /* (replicas) */
    uint64_t *lane_epoch;        /* (replicas) */
    uint64_t *lane_offset;       /* (replicas) rows of that epoch taken from the shard */
};

static inline bool ga_stream_fixed(const struct ga_stream *stream)
{
    return stream->spec.sharding != GA_STREAM_SHARED;
}

/* The first epoch of which nothing has been taken, by anyone. */
uint64_t ga_stream_untouched(const struct ga_stream *stream);

/* Puts everyone at the start of `epoch`. */
void ga_stream_begin(struct ga_stream *stream, uint64_t epoch);

#endif
