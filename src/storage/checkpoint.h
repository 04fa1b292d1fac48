/*
 * Checkpoints: the whole state of a run in one safetensors file, at any event of any mode. Loading
 * it in another process and going on is bit-identical to never having stopped. On the real clock
 * that holds for what is decided: sync, delay and local go on to the same bits; the others go on to
 * a race of their own, after the turns that are recorded ahead (a user had gone back). Hogwild on
 * the real clock is never the same twice: items that workers were at begin anew.
 *
 * Tensors (P replicas, n parameters, S elements of an accumulator):
 *   layers.K.weight, layers.K.bias       F32, the newest weights under PyTorch's names and shapes
 *   optimizer.momentum_buffer.TENSOR     F32, sgd with momentum, shaped as its tensor
 *   optimizer.exp_avg.TENSOR, optimizer.exp_avg_sq.TENSOR   F32, adam and adamw
 *   optimizer.outer_momentum_buffer.TENSOR   F32, in their place in mode local: of `outer`
 *   gaconsole.version.I.weights          F32 [n], other weights: that a replica still works on, has
 *                                        of its own in mode local, or will read by mode delay
 *   gaconsole.version.I.state            F32 [blocks, n], their optimizer state, when there is one
 *   gaconsole.rows                       I64 [rows], row numbers of parts not handed over
 *   gaconsole.accumulator_replicas       I32 [k], the replicas whose accumulator holds something
 *   gaconsole.accumulators               F64 [k, S], their gradient sums
 *   gaconsole.reduced                    F64 [S], from REDUCE until the window is cleared; in push
 *                                        modes the server's buffer while it holds a push
 *   gaconsole.gradient                   F32 [n], g of the window, from REDUCE likewise
 *   gaconsole.steps                      I32, mode local: examples of each private step of the
 *                                        round, replica after replica
 *   gaconsole.pieces, .piece_rows        I32, I64, push modes: examples of each piece of the stream
 *                                        that nobody has taken yet, and their rows
 *   gaconsole.average                    F32 [n], mode local: the averaged weights, as .gradient
 *   gaconsole.shared, .shared_writes     F32, I32 [n], hogwild: the weights being written, and how
 *                                        often each was (modulo 2^32)
 *   gaconsole.item.R.change, .writes     F32, I32 [n], hogwild: what replica R's item will add, and
 *                                        the writes that each coordinate had seen when it was read
 *   gaconsole.race_times, .race_replicas I64 (ns), I32: the recorded turns of a real clock
 * Metadata: "format" = "pt"; "checksum" = 16 hex digits over the entry below and all tensors
 * (names, types, shapes, bytes; whatever their order in the file); and "gaconsole", a JSON object:
 *   version   3 (of this layout)          program   version of the program that wrote it
 *   data      words for the `data` command          fingerprint   of the data, 16 hex digits
 *   init_from file of `init-from`, "" without
 *   settings  {"epoch": number of changes, "values": {name: text as `set` takes it, ...}}
 *   pending   the same, or null when no change waits for the next window
 *   run       phase, counters, clock, window, noise scale, last event and record (struct ga_state)
 *   versions  [{number, state_blocks, scalars}]: 0 is the newest, then gaconsole.version.I
 *   replicas  [{state, counts, times, tally, ...}] (struct ga_replica_value)
 *   reads     [for each replica the version it works on, -1: none]
 *   shards    {"epoch": [...], "offset": [...]} for each replica, or null under sharding stream
 *   modes     null where the run was always in mode sync, else {"values": struct ga_mode_state,
 *             "owns": [for each replica its own version, -1: none], "recent": [versions that mode
 *             delay still needs, oldest first], "items": [{replica, at}]}
 *   race      null, or the number of the first turn in the record of the race
 * storage/fields.h says how numbers are written. Every field is required and none may be added.
 *
 * Loading trusts nothing: checksum, every field's range, every tensor's type and shape against the
 * net that settings and data make, and what the fields say about each other. Errors name file and
 * field; nothing is changed by a failure. A checkpoint object is used by one thread at a time.
 */
#ifndef GA_STORAGE_CHECKPOINT_H
#define GA_STORAGE_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "train/state.h"

/*
 * Writes atomically: until it succeeds an existing file keeps its content. `init_from` may be "".
 * The record of a race is saved when the state has one: see ga_run_capture_race().
 */
int ga_checkpoint_save(const char *path, const struct ga_state *state, const char *init_from);

struct ga_checkpoint;

/* Reads the file and what says which data it needs; the tensors are looked at by ..._state(). */
int ga_checkpoint_open(struct ga_checkpoint **out, const char *path);
void ga_checkpoint_close(struct ga_checkpoint *checkpoint);

/* Words for the `data` command that bring the data back, and its fingerprint. */
const char *ga_checkpoint_data(const struct ga_checkpoint *checkpoint);
uint64_t ga_checkpoint_fingerprint(const struct ga_checkpoint *checkpoint);
const char *ga_checkpoint_init_from(const struct ga_checkpoint *checkpoint); /* "" without */
const struct ga_settings *ga_checkpoint_settings(const struct ga_checkpoint *checkpoint);

/*
 * The state, which shares `data` (refused when its fingerprint is another). On success `*out` is
 * the caller's (ga_state_fini()); on failure it is empty.
 */
int ga_checkpoint_state(const struct ga_checkpoint *checkpoint, struct ga_dataset *data,
                        struct ga_state *out);

#endif
