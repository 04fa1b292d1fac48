/*
 * The example stream: which training rows the next window takes, and which replica gets them.
 *
 * The stream of epoch e is a permutation that depends on (seed, e) alone, or file order; never on
 * P, A, b, mode or clock. Splitting n into k parts: the first n mod k parts get floor(n/k)+1, the
 * rest floor(n/k).
 *
 * Sharding:
 * - stream: a window is the next B rows; replica r gets part r.
 * - contiguous, strided: each replica walks the epoch's permutation restricted to its shard; a
 *   window takes min(share, what is left) from each; the epoch ends when all are empty.
 *
 * Tail, the rows that do not fill a window:
 * - short: a smaller window.
 * - drop: none. Fixed shards end the epoch when any shard cannot give its share.
 * - wrap: the window is filled up from the next epoch. Each fixed shard goes on into its own next
 *   epoch, so replicas may be in different ones; a shard without rows gives nothing.
 *
 * A stream is a cursor plus the cached permutation of one epoch; one thread at a time.
 */
#ifndef GA_DATASET_STREAM_H
#define GA_DATASET_STREAM_H

#include <stddef.h>
#include <stdint.h>

enum ga_stream_order { GA_STREAM_FILE, GA_STREAM_SHUFFLE };
enum ga_stream_sharding { GA_STREAM_SHARED, GA_STREAM_CONTIGUOUS, GA_STREAM_STRIDED };
enum ga_stream_tail { GA_STREAM_SHORT, GA_STREAM_DROP, GA_STREAM_WRAP };

struct ga_stream_spec {
    size_t rows; /* N training rows */
    enum ga_stream_order order;
    enum ga_stream_sharding sharding;
    enum ga_stream_tail tail;
    uint64_t seed;
    size_t replicas; /* P */
};

/* Where a stream stands; a plain value that a checkpoint keeps. */
struct ga_stream_position {
    uint64_t epoch;           /* from 0; fixed shards: the smallest of the replicas' epochs */
    uint64_t offset;          /* rows of this epoch taken by all together; all at its end */
    uint64_t *replica_epoch;  /* (P) fixed shards: each replica's own epoch, or NULL */
    uint64_t *replica_offset; /* (P) and rows taken of its shard */
};

/* Part `part` of `n` split into `parts`: its first position and its size. */
void ga_split(size_t n, size_t parts, size_t part, size_t *first, size_t *count);

/* Rows of one window, grouped by replica. Memory is the caller's, made and grown by the stream. */
struct ga_window {
    uint32_t *index; /* (examples) row numbers */
    size_t *start;   /* (replicas + 1): replica r has index[start[r]] .. index[start[r+1]-1] */
    size_t examples;
    size_t replicas;
    uint64_t epoch; /* epoch of its first row */
    size_t index_capacity, start_capacity;
};
void ga_window_init(struct ga_window *window);
void ga_window_fini(struct ga_window *window);

struct ga_stream;

/*
 * Can a stream of this spec give windows of `examples` rows? GA_ERANGE for what ga_stream_open() or
 * ga_stream_next() would refuse, so that a setting is refused when it is made.
 */
int ga_stream_check(const struct ga_stream_spec *spec, size_t examples);

/* GA_ERANGE when a spec cannot work (no rows; more rows than 2^32-1). */
int ga_stream_open(struct ga_stream **out, const struct ga_stream_spec *spec);
void ga_stream_close(struct ga_stream *stream);

/*
 * Takes the next window of at most `examples` rows (share of replica r = part r of `examples`) and
 * moves on. A window is never empty: at the end of an epoch the next one begins. GA_ERANGE for 0
 * examples, for tail drop with examples > rows, and for fixed shards with examples < min(P, rows),
 * where some shard would never get a turn (the texts say so). A failure moves nothing.
 */
int ga_stream_next(struct ga_stream *stream, size_t examples, struct ga_window *window);

/*
 * Fixed shards, push modes: the next piece of one replica, min(share, what its own epoch has left)
 * rows by the tail rule, where share is its part of `examples`. `rows` has room for the share.
 * `*window` becomes the number of examples in the window that would hold this piece if all replicas
 * went in step. A replica without rows gets 0 of them.
 */
int ga_stream_take(struct ga_stream *stream, size_t replica, size_t examples, uint32_t *rows,
                   size_t *count, size_t *window);

/* What ga_stream_next() would give, without moving: number of examples in it. */
int ga_stream_peek(struct ga_stream *stream, size_t examples, size_t *window_examples);

/* Rows left in the present epoch: 0 only right at its end. */
size_t ga_stream_left(const struct ga_stream *stream);

/* The epoch that ga_stream_left() speaks of; it counts as used up once nothing is left. */
uint64_t ga_stream_epoch(const struct ga_stream *stream);

/* That many epochs on, at the same place in them. */
void ga_stream_skip(struct ga_stream *stream, uint64_t epochs);

/*
 * Reads and restores the position. get() fills caller memory: the two arrays need P elements each
 * (they may be NULL for sharding stream). set() checks against the spec, all or nothing.
 */
void ga_stream_get(const struct ga_stream *stream, struct ga_stream_position *out);
int ga_stream_set(struct ga_stream *stream, const struct ga_stream_position *position);

/*
 * Changes the spec at a window boundary. New rows, order, sharding, seed of a shuffle, or P under
 * fixed shards start a fresh epoch (epoch + 1 unless nothing of the present one was taken); a new P
 * under sharding stream, a new tail, or a seed that file order does not use keep the position.
 */
int ga_stream_change(struct ga_stream *stream, const struct ga_stream_spec *spec);

#endif
