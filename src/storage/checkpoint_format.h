/*
 * What saving, loading and testing a checkpoint share: the tables of its fields, names of its
 * parts, the checksum, and the examination of a loaded state. Private to storage and its tests.
 */
#ifndef GA_STORAGE_CHECKPOINT_FORMAT_H
#define GA_STORAGE_CHECKPOINT_FORMAT_H

#include "storage/checkpoint.h"
#include "storage/fields.h"
#include "storage/safetensors.h"

#define GA_CHECKPOINT_VERSION 1
#define GA_CHECKPOINT_ENTRIES 12 /* of the JSON object, as storage/checkpoint.h lists them */
#define GA_CHECKPOINT_NOTE    "gaconsole"
#define GA_CHECKPOINT_SUM     "checksum"

#define GA_CHECKPOINT_OPTIMIZER "optimizer."
#define GA_CHECKPOINT_OWN       "gaconsole."
#define GA_CHECKPOINT_ROWS      GA_CHECKPOINT_OWN "rows"
#define GA_CHECKPOINT_SUMS_OF   GA_CHECKPOINT_OWN "accumulator_replicas"
#define GA_CHECKPOINT_ACCUMS    GA_CHECKPOINT_OWN "accumulators"
#define GA_CHECKPOINT_REDUCED   GA_CHECKPOINT_OWN "reduced"
#define GA_CHECKPOINT_GRADIENT  GA_CHECKPOINT_OWN "gradient"

extern const struct ga_fields ga_fields_run;     /* struct ga_state */
extern const struct ga_fields ga_fields_replica; /* struct ga_replica_value */
extern const struct ga_fields ga_fields_version; /* struct ga_version */

/* Optimizer state block `block` under PyTorch's name ("exp_avg"); NULL beyond what the optimizer
 * has. */
const char *ga_checkpoint_block_name(enum ga_optimizer optimizer, size_t block);

/* "optimizer.exp_avg.layers.0.weight", "gaconsole.version.3.weights" */
#define GA_CHECKPOINT_NAME 96
void ga_checkpoint_name_block(char out[GA_CHECKPOINT_NAME], const char *block, const char *tensor);
void ga_checkpoint_name_version(char out[GA_CHECKPOINT_NAME], size_t version, const char *part);

enum ga_dtype ga_checkpoint_sums_dtype(enum ga_type type);

/* Of the note and the tensors, in any order. */
uint64_t ga_checkpoint_sum_note(const char *note);
uint64_t ga_checkpoint_sum_tensor(const struct ga_file_tensor *tensor);

/*
 * Takes an open file. `text` NULL: its own JSON entry, held against the checksum; else, for tests,
 * an entry to read in its place.
 */
int ga_checkpoint_take(struct ga_checkpoint **out, const char *name, struct ga_safetensors *file,
                       const char *text);

/*
 * Whether a loaded state, each field of which is in its range, is one that a run could have: then
 * restoring it and going on keeps every promise of the train room.
 */
int ga_checkpoint_examine(const struct ga_state *state);

#endif
