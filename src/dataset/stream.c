#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "dataset/permutation.h"
#include "dataset/stream_state.h"

void ga_split(size_t n, size_t parts, size_t part, size_t *first, size_t *count)
{
    size_t whole = n / parts;
    size_t longer = n % parts;
    *count = whole + (part < longer ? 1 : 0);
    *first = whole * part + (part < longer ? part : longer);
}

void ga_window_init(struct ga_window *window)
{
    memset(window, 0, sizeof *window);
}

void ga_window_fini(struct ga_window *window)
{
    free(window->index);
    free(window->start);
    ga_window_init(window);
}

static int window_reserve(struct ga_window *window, size_t examples, size_t replicas)
{
    void *index = window->index;
    void *start = window->start;
    int code = 0;
    if (examples > window->index_capacity) {
        code = ga_grow(&index, &window->index_capacity, examples, sizeof *window->index);
        window->index = index;
    }
    if (code == 0 && replicas >= window->start_capacity) {
        code = ga_grow(&start, &window->start_capacity, replicas + 1, sizeof *window->start);
        window->start = start;
    }
    return code;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t share_of(size_t examples, size_t replicas, size_t replica)
{
    size_t first, count;
    ga_split(examples, replicas, replica, &first, &count);
    return count;
}

static int check_spec(const struct ga_stream_spec *spec)
{
    if (spec->rows == 0 || spec->rows > UINT32_MAX) {
        return ga_fail(GA_ERANGE, "the data has %zu training rows, expected 1..%lu", spec->rows,
                       (unsigned long)UINT32_MAX);
    }
    if (spec->replicas == 0) {
        return ga_fail(GA_ERANGE, "0 replicas share the data, expected at least 1");
    }
    return 0;
}

int ga_stream_check(const struct ga_stream_spec *spec, size_t examples)
{
    size_t shards = smaller(spec->replicas, spec->rows);
    int code = check_spec(spec);
    if (code != 0) {
        return code;
    }
    if (examples == 0) {
        return ga_fail(GA_ERANGE, "a window of 0 examples, expected at least 1");
    }
    if (spec->tail == GA_STREAM_DROP && examples > spec->rows) {
        return ga_fail(GA_ERANGE,
                       "tail drop with a window of %zu examples would never take one of the %zu "
                       "rows, expected a window of at most %zu or another tail",
                       examples, spec->rows, spec->rows);
    }
    if (spec->sharding != GA_STREAM_SHARED && examples < shards) {
        return ga_fail(
            GA_ERANGE,
            "a window of %zu examples gives nothing to some of %zu fixed shards, expected "
            "at least %zu examples or sharding stream",
            examples, shards, shards);
    }
    return 0;
}

static int open_lanes(struct ga_stream *stream)
{
    const struct ga_stream_spec *spec = &stream->spec;
    stream->grouped = ga_alloc(spec->rows, sizeof *stream->grouped);
    stream->own = ga_alloc(spec->rows, sizeof *stream->own);
    stream->lane = ga_alloc(spec->replicas, sizeof *stream->lane);
    stream->lane_epoch = ga_alloc(spec->replicas, sizeof *stream->lane_epoch);
    stream->lane_offset = ga_alloc(spec->replicas, sizeof *stream->lane_offset);
    if (!stream->grouped || !stream->own || !stream->lane || !stream->lane_epoch ||
        !stream->lane_offset) {
        return GA_ENOMEM;
    }
    for (size_t r = 0; r < spec->replicas; r++) {
        struct ga_stream_lane *lane = &stream->lane[r];
        ga_split(spec->rows, spec->replicas, r, &lane->first, &lane->size);
        lane->own_epoch = GA_STREAM_NO_EPOCH;
    }
    return 0;
}

int ga_stream_open(struct ga_stream **out, const struct ga_stream_spec *spec)
{
    struct ga_stream *stream = NULL;
    *out = NULL;
    int code = check_spec(spec);
    if (code != 0) {
        return code;
    }
    stream = ga_alloc(1, sizeof *stream);
    if (!stream) {
        return GA_ENOMEM;
    }
    stream->spec = *spec;
    stream->order_epoch = GA_STREAM_NO_EPOCH;
    stream->grouped_epoch = GA_STREAM_NO_EPOCH;
    stream->order = ga_alloc(spec->rows, sizeof *stream->order);
    if (!stream->order || (ga_stream_fixed(stream) && open_lanes(stream) != 0)) {
        ga_stream_close(stream);
        return GA_ENOMEM;
    }
    *out = stream;
    return 0;
}

void ga_stream_close(struct ga_stream *stream)
{
    if (stream) {
        free(stream->order);
        free(stream->grouped);
        free(stream->own);
        free(stream->lane);
        free(stream->lane_epoch);
        free(stream->lane_offset);
        free(stream);
    }
}

/* File order is the same in every epoch: one cache serves all. */
static uint64_t cache_epoch(const struct ga_stream *stream, uint64_t epoch)
{
    return stream->spec.order == GA_STREAM_FILE ? 0 : epoch;
}

static void load_order(struct ga_stream *stream, uint64_t epoch)
{
    const struct ga_stream_spec *spec = &stream->spec;
    if (stream->order_epoch == epoch) {
        return;
    }
    if (spec->order == GA_STREAM_FILE) {
        ga_permutation_identity(stream->order, spec->rows);
    } else {
        ga_permutation_shuffle(stream->order, spec->rows, spec->seed, epoch, GA_DRAW_SHUFFLE);
    }
    stream->order_epoch = epoch;
}

static size_t owner_of(const struct ga_stream_spec *spec, size_t row)
{
    size_t whole = spec->rows / spec->replicas;
    size_t longer = spec->rows % spec->replicas;
    if (spec->sharding == GA_STREAM_STRIDED) {
        return row % spec->replicas;
    }
    if (row < longer * (whole + 1)) {
        return row / (whole + 1);
    }
    return longer + (row - longer * (whole + 1)) / whole;
}

/* Sorts the permutation by shard, keeping its order within each. `first` serves as the fill mark.
 */
static void load_grouped(struct ga_stream *stream, uint64_t epoch)
{
    if (stream->grouped_epoch == epoch) {
        return;
    }
    load_order(stream, epoch);
    for (size_t i = 0; i < stream->spec.rows; i++) {
        struct ga_stream_lane *lane = &stream->lane[owner_of(&stream->spec, stream->order[i])];
        stream->grouped[lane->first++] = stream->order[i];
    }
    for (size_t r = 0; r < stream->spec.replicas; r++) {
        stream->lane[r].first -= stream->lane[r].size;
    }
    stream->grouped_epoch = epoch;
}

static void load_own(struct ga_stream *stream, size_t replica)
{
    struct ga_stream_lane *lane = &stream->lane[replica];
    uint64_t epoch = cache_epoch(stream, stream->lane_epoch[replica]);
    if (lane->own_epoch == epoch) {
        return;
    }
    load_grouped(stream, epoch);
    memcpy(stream->own + lane->first, stream->grouped + lane->first,
           lane->size * sizeof *stream->own);
    lane->own_epoch = epoch;
}

static size_t lane_left(const struct ga_stream *stream, size_t replica)
{
    return stream->lane[replica].size - (size_t)stream->lane_offset[replica];
}

static bool lanes_empty(const struct ga_stream *stream)
{
    for (size_t r = 0; r < stream->spec.replicas; r++) {
        if (lane_left(stream, r) > 0) {
            return false;
        }
    }
    return true;
}

static bool lanes_fill(const struct ga_stream *stream, size_t examples)
{
    for (size_t r = 0; r < stream->spec.replicas; r++) {
        if (lane_left(stream, r) < share_of(examples, stream->spec.replicas, r)) {
            return false;
        }
    }
    return true;
}

/* Would the next window of this size start a new epoch for everyone? */
static bool epoch_over(const struct ga_stream *stream, size_t examples)
{
    size_t left = stream->spec.rows - stream->offset;
    switch (stream->spec.tail) {
    case GA_STREAM_SHORT:
        return ga_stream_fixed(stream) ? lanes_empty(stream) : left == 0;
    case GA_STREAM_DROP:
        return ga_stream_fixed(stream) ? !lanes_fill(stream, examples) : left < examples;
    case GA_STREAM_WRAP:
        break;
    }
    return false;
}

/* What replica r adds to a window of `examples`; `fresh` = at the start of an epoch. */
static size_t lane_count(const struct ga_stream *stream, size_t r, size_t examples, bool fresh)
{
    size_t size = stream->lane[r].size;
    size_t share = share_of(examples, stream->spec.replicas, r);
    if (stream->spec.tail == GA_STREAM_WRAP) {
        return size > 0 ? share : 0;
    }
    return smaller(share, fresh ? size : lane_left(stream, r));
}

static size_t window_count(const struct ga_stream *stream, size_t examples)
{
    bool fresh = epoch_over(stream, examples);
    size_t count = 0;
    if (!ga_stream_fixed(stream)) {
        size_t left = fresh ? stream->spec.rows : stream->spec.rows - stream->offset;
        return stream->spec.tail == GA_STREAM_WRAP ? examples : smaller(examples, left);
    }
    for (size_t r = 0; r < stream->spec.replicas; r++) {
        count += lane_count(stream, r, examples, fresh);
    }
    return count;
}

/* Copies the next `count` rows of a shard; only under wrap is there more than the epoch has left.
 */
static void take_lane(struct ga_stream *stream, size_t replica, size_t count, uint32_t *out)
{
    const struct ga_stream_lane *lane = &stream->lane[replica];
    while (count > 0) {
        if (lane_left(stream, replica) == 0) {
            stream->lane_epoch[replica]++;
            stream->lane_offset[replica] = 0;
        }
        load_own(stream, replica);
        size_t chunk = smaller(count, lane_left(stream, replica));
        memcpy(out, stream->own + lane->first + stream->lane_offset[replica], chunk * sizeof *out);
        stream->lane_offset[replica] += chunk;
        out += chunk;
        count -= chunk;
    }
}

static void take_fixed(struct ga_stream *stream, size_t examples, struct ga_window *window)
{
    size_t place = 0;
    for (size_t r = 0; r < stream->spec.replicas; r++) {
        size_t count = lane_count(stream, r, examples, false);
        if (place == 0 && count > 0) {
            window->epoch = stream->lane_epoch[r] + (lane_left(stream, r) == 0 ? 1 : 0);
        }
        window->start[r] = place;
        take_lane(stream, r, count, window->index + place);
        place += count;
    }
    window->start[stream->spec.replicas] = place;
}

static void take_shared(struct ga_stream *stream, struct ga_window *window)
{
    const size_t rows = stream->spec.rows;
    const size_t replicas = stream->spec.replicas;
    size_t whole = window->examples / replicas;
    size_t longer = window->examples % replicas;
    size_t place = 0;
    window->epoch = stream->epoch + (stream->offset == rows ? 1 : 0);
    for (size_t taken = 0; taken < window->examples;) {
        if (stream->offset == rows) {
            stream->epoch++;
            stream->offset = 0;
        }
        load_order(stream, cache_epoch(stream, stream->epoch));
        size_t chunk = smaller(window->examples - taken, rows - stream->offset);
        memcpy(window->index + taken, stream->order + stream->offset,
               chunk * sizeof *window->index);
        stream->offset += chunk;
        taken += chunk;
    }
    for (size_t r = 0; r < replicas; r++) {
        window->start[r] = place;
        place += whole + (r < longer ? 1 : 0);
    }
    window->start[replicas] = place;
}

int ga_stream_next(struct ga_stream *stream, size_t examples, struct ga_window *window)
{
    int code = ga_stream_check(&stream->spec, examples);
    if (code != 0) {
        return code;
    }
    size_t count = window_count(stream, examples);
    code = window_reserve(window, count, stream->spec.replicas);
    if (code != 0) {
        return code;
    }
    if (epoch_over(stream, examples)) {
        ga_stream_begin(stream, ga_stream_untouched(stream));
    }
    window->examples = count;
    window->replicas = stream->spec.replicas;
    if (ga_stream_fixed(stream)) {
        take_fixed(stream, examples, window);
    } else {
        take_shared(stream, window);
    }
    return 0;
}

/* Examples of the window that holds the pieces number `piece` of all shards. */
static size_t piece_window(const struct ga_stream *stream, size_t examples, size_t piece)
{
    size_t sum = 0;
    if (stream->spec.tail == GA_STREAM_WRAP) {
        return examples;
    }
    for (size_t r = 0; r < stream->spec.replicas; r++) {
        size_t share = share_of(examples, stream->spec.replicas, r);
        size_t before = smaller(piece * share, stream->lane[r].size);
        sum += smaller(share, stream->lane[r].size - before);
    }
    return sum;
}

int ga_stream_take(struct ga_stream *stream, size_t replica, size_t examples, uint32_t *rows,
                   size_t *count, size_t *window)
{
    size_t share = share_of(examples, stream->spec.replicas, replica);
    size_t size = stream->lane[replica].size;
    bool drop = stream->spec.tail == GA_STREAM_DROP;
    *count = 0;
    *window = 0;
    if (share == 0 || size == 0) {
        return 0;
    }
    if (drop && share > size) {
        return ga_fail(
            GA_ERANGE,
            "tail drop with a share of %zu examples would never take one of the %zu rows "
            "of replica %zu, expected a share of at most %zu",
            share, size, replica, size);
    }
    if (lane_left(stream, replica) < (drop ? share : 1)) {
        stream->lane_epoch[replica]++;
        stream->lane_offset[replica] = 0;
    }
    *window = piece_window(stream, examples, (size_t)stream->lane_offset[replica] / share);
    *count =
        stream->spec.tail == GA_STREAM_WRAP ? share : smaller(share, lane_left(stream, replica));
    take_lane(stream, replica, *count, rows);
    return 0;
}

int ga_stream_peek(struct ga_stream *stream, size_t examples, size_t *window_examples)
{
    int code = ga_stream_check(&stream->spec, examples);
    if (code == 0) {
        *window_examples = window_count(stream, examples);
    }
    return code;
}
