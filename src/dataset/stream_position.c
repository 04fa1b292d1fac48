#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "dataset/stream_state.h"

uint64_t ga_stream_untouched(const struct ga_stream *stream)
{
    uint64_t epoch = 0;
    if (!ga_stream_fixed(stream)) {
        return stream->epoch + (stream->offset > 0 ? 1 : 0);
    }
    for (size_t r = 0; r < stream->spec.replicas; r++) {
        uint64_t next = stream->lane_epoch[r] + (stream->lane_offset[r] > 0 ? 1 : 0);
        epoch = next > epoch ? next : epoch;
    }
    return epoch;
}

void ga_stream_begin(struct ga_stream *stream, uint64_t epoch)
{
    stream->epoch = epoch;
    stream->offset = 0;
    for (size_t r = 0; ga_stream_fixed(stream) && r < stream->spec.replicas; r++) {
        stream->lane_epoch[r] = epoch;
        stream->lane_offset[r] = 0;
    }
}

void ga_stream_skip(struct ga_stream *stream, uint64_t epochs)
{
    stream->epoch += epochs;
    for (size_t r = 0; ga_stream_fixed(stream) && r < stream->spec.replicas; r++) {
        stream->lane_epoch[r] += epochs;
    }
}

/* The smallest epoch among the shards that have rows, and how many rows of it are taken. */
static void sum_lanes(const struct ga_stream *stream, const uint64_t *lane_epoch,
                      const uint64_t *lane_offset, uint64_t *epoch, uint64_t *offset)
{
    *epoch = UINT64_MAX;
    *offset = 0;
    for (size_t r = 0; r < stream->spec.replicas; r++) {
        if (stream->lane[r].size > 0 && lane_epoch[r] < *epoch) {
            *epoch = lane_epoch[r];
        }
    }
    for (size_t r = 0; r < stream->spec.replicas; r++) {
        *offset += lane_epoch[r] > *epoch ? stream->lane[r].size : lane_offset[r];
    }
}

static void stand(const struct ga_stream *stream, uint64_t *epoch, uint64_t *offset)
{
    *epoch = stream->epoch;
    *offset = stream->offset;
    if (ga_stream_fixed(stream)) {
        sum_lanes(stream, stream->lane_epoch, stream->lane_offset, epoch, offset);
    }
}

size_t ga_stream_left(const struct ga_stream *stream)
{
    uint64_t epoch, offset;
    stand(stream, &epoch, &offset);
    return stream->spec.rows - (size_t)offset;
}

uint64_t ga_stream_epoch(const struct ga_stream *stream)
{
    uint64_t epoch, offset;
    stand(stream, &epoch, &offset);
    return epoch;
}

/* Under sharding stream no replica has a place of its own: all get the epoch and 0. */
void ga_stream_get(const struct ga_stream *stream, struct ga_stream_position *out)
{
    bool own = ga_stream_fixed(stream);
    stand(stream, &out->epoch, &out->offset);
    for (size_t r = 0; out->replica_epoch && r < stream->spec.replicas; r++) {
        out->replica_epoch[r] = own ? stream->lane_epoch[r] : stream->epoch;
    }
    for (size_t r = 0; out->replica_offset && r < stream->spec.replicas; r++) {
        out->replica_offset[r] = own ? stream->lane_offset[r] : 0;
    }
}

/* Epochs stay below 2^63, so that counting on never meets the "no epoch" mark. */
static int check_place(uint64_t epoch, uint64_t offset, size_t rows)
{
    if (epoch > INT64_MAX) {
        return ga_fail(GA_EINPUT, "stream position: epoch %llu, expected below 2^63",
                       (unsigned long long)epoch);
    }
    if (offset > rows) {
        return ga_fail(GA_EINPUT, "stream position: %llu rows taken, expected at most %zu",
                       (unsigned long long)offset, rows);
    }
    return 0;
}

static int check_lanes(const struct ga_stream *stream, const struct ga_stream_position *position)
{
    if (!position->replica_epoch || !position->replica_offset) {
        return ga_fail(GA_EINPUT,
                       "stream position without the replicas' places, expected %zu of them for "
                       "fixed shards",
                       stream->spec.replicas);
    }
    for (size_t r = 0; r < stream->spec.replicas; r++) {
        if (check_place(position->replica_epoch[r], position->replica_offset[r],
                        stream->lane[r].size) != 0) {
            return ga_fail_within("replica %zu", r);
        }
    }
    return 0;
}

/* The place of the whole must be what the places of the replicas add up to. */
static int check_sum(const struct ga_stream *stream, const struct ga_stream_position *position)
{
    uint64_t epoch, offset;
    sum_lanes(stream, position->replica_epoch, position->replica_offset, &epoch, &offset);
    if (epoch != position->epoch || offset != position->offset) {
        return ga_fail(GA_EINPUT,
                       "stream position: epoch %llu with %llu rows taken, expected %llu and %llu "
                       "as the replicas' places say",
                       (unsigned long long)position->epoch, (unsigned long long)position->offset,
                       (unsigned long long)epoch, (unsigned long long)offset);
    }
    return 0;
}

int ga_stream_set(struct ga_stream *stream, const struct ga_stream_position *position)
{
    int code = check_place(position->epoch, position->offset, stream->spec.rows);
    if (code == 0 && ga_stream_fixed(stream)) {
        code = check_lanes(stream, position);
    }
    if (code == 0 && ga_stream_fixed(stream)) {
        code = check_sum(stream, position);
    }
    if (code != 0) {
        return code;
    }
    stream->epoch = position->epoch;
    stream->offset = (size_t)position->offset;
    if (ga_stream_fixed(stream)) {
        size_t bytes = stream->spec.replicas * sizeof *stream->lane_epoch;
        memcpy(stream->lane_epoch, position->replica_epoch, bytes);
        memcpy(stream->lane_offset, position->replica_offset, bytes);
    }
    return 0;
}

/* Does the new spec lay out the rows differently, so that the present place means nothing? */
static bool recut(const struct ga_stream_spec *old, const struct ga_stream_spec *new)
{
    bool shuffled = new->order == GA_STREAM_SHUFFLE;
    return old->rows != new->rows || old->order != new->order || old->sharding != new->sharding ||
           (shuffled && old->seed != new->seed) ||
           (new->sharding != GA_STREAM_SHARED && old->replicas != new->replicas);
}

int ga_stream_change(struct ga_stream *stream, const struct ga_stream_spec *spec)
{
    struct ga_stream *fresh = NULL;
    if (!recut(&stream->spec, spec)) {
        if (spec->replicas == 0) {
            return ga_fail(GA_ERANGE, "0 replicas share the data, expected at least 1");
        }
        stream->spec = *spec;
        return 0;
    }
    int code = ga_stream_open(&fresh, spec);
    if (code != 0) {
        return code;
    }
    ga_stream_begin(fresh, ga_stream_untouched(stream));
    struct ga_stream old = *stream;
    *stream = *fresh;
    *fresh = old;
    ga_stream_close(fresh);
    return 0;
}
