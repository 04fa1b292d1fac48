/*
 * What saving, loading and testing a checkpoint share: the tables of its fields, names of its
 * parts, the checksum, and the examination of a loaded state. Private to storage and its tests.
 */
#ifndef GA_STORAGE_CHECKPOINT_FORMAT_H
#define GA_STORAGE_CHECKPOINT_FORMAT_H

#include "storage/checkpoint.h"
#include "storage/fields.h"
#include "storage/safetensors.h"

#define GA_CHECKPOINT_VERSION 3
#define GA_CHECKPOINT_ENTRIES 14 /* of the JSON object, as storage/checkpoint.h lists them */
#define GA_CHECKPOINT_MODES   4  /* of its entry "modes" */
#define GA_CHECKPOINT_NOTE    "gaconsole"
#define GA_CHECKPOINT_SUM     "checksum"

#define GA_CHECKPOINT_OPTIMIZER  "optimizer."
#define GA_CHECKPOINT_OWN        "gaconsole."
#define GA_CHECKPOINT_ROWS       GA_CHECKPOINT_OWN "rows"
#define GA_CHECKPOINT_SUMS_OF    GA_CHECKPOINT_OWN "accumulator_replicas"
#define GA_CHECKPOINT_ACCUMS     GA_CHECKPOINT_OWN "accumulators"
#define GA_CHECKPOINT_REDUCED    GA_CHECKPOINT_OWN "reduced"
#define GA_CHECKPOINT_GRADIENT   GA_CHECKPOINT_OWN "gradient"
#define GA_CHECKPOINT_STEPS      GA_CHECKPOINT_OWN "steps"
#define GA_CHECKPOINT_PIECES     GA_CHECKPOINT_OWN "pieces"
#define GA_CHECKPOINT_PIECE_ROWS GA_CHECKPOINT_OWN "piece_rows"
#define GA_CHECKPOINT_AVERAGE    GA_CHECKPOINT_OWN "average"
#define GA_CHECKPOINT_SHARED     GA_CHECKPOINT_OWN "shared"
#define GA_CHECKPOINT_WRITES     GA_CHECKPOINT_OWN "shared_writes"
#define GA_CHECKPOINT_TIMES      GA_CHECKPOINT_OWN "race_times"
#define GA_CHECKPOINT_TURNS      GA_CHECKPOINT_OWN "race_replicas"

extern const struct ga_fields ga_fields_run;     /* struct ga_state */
extern const struct ga_fields ga_fields_replica; /* struct ga_replica_value */
extern const struct ga_fields ga_fields_version; /* struct ga_version */
extern const struct ga_fields ga_fields_modes;   /* struct ga_mode_state */

/* A hogwild item in "modes"; its arrays are tensors. */
struct ga_checkpoint_item {
    int32_t replica;
    uint32_t at;
};
extern const struct ga_fields ga_fields_item;

/* Block `block` of the server's optimizer state, under PyTorch's name ("exp_avg") but for the outer
 * optimizer of mode local; NULL beyond what it has. */
const char *ga_checkpoint_block_name(const struct ga_settings *settings, size_t block);

/* "optimizer.exp_avg.layers.0.weight", "gaconsole.version.3.weights", "gaconsole.item.3.change" */
#define GA_CHECKPOINT_NAME 96
void ga_checkpoint_name_block(char out[GA_CHECKPOINT_NAME], const char *block, const char *tensor);
void ga_checkpoint_name_version(char out[GA_CHECKPOINT_NAME], size_t version, const char *part);
void ga_checkpoint_name_item(char out[GA_CHECKPOINT_NAME], size_t replica, const char *part);

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
