/* A checkpoint being read, shared by the files that do so. Private to storage. */
#ifndef GA_STORAGE_CHECKPOINT_LOAD_H
#define GA_STORAGE_CHECKPOINT_LOAD_H

#include <stdbool.h>

#include "storage/checkpoint_inside.h"

struct json_t; /* of jansson */

struct ga_load {
    const struct ga_checkpoint *from;
    struct ga_net net;
    size_t sums_elements; /* of an accumulator, by the device */
    enum ga_type sums_type;
    struct ga_version **version;
    size_t versions;
    bool *used; /* of each tensor of the file: it belongs to the state */
    struct ga_state *state;
};

struct json_t *ga_load_entry(const struct ga_load *load, const char *key);
const struct ga_file_tensor *ga_load_find(const struct ga_load *load, const char *name);

/* Copies a tensor into `out`, which has room for it by the caller's reckoning. */
int ga_load_copy(struct ga_load *load, const char *name, enum ga_dtype dtype, int dimensions,
                 size_t rows, size_t columns, void *out);
/* The same into a new block, no larger than the tensor that is in the file. */
int ga_load_copy_new(struct ga_load *load, const char *name, enum ga_dtype dtype, int dimensions,
                     size_t rows, size_t columns, void **out);
/* A list, of which the file says how long it is; none: 0 and NULL. */
int ga_load_list(struct ga_load *load, const char *name, enum ga_dtype dtype, size_t *count,
                 void **out);
/* A list of rows of the data. */
int ga_load_rows(struct ga_load *load, const char *name, size_t *count, uint32_t **out);

/* Position of a version, least..versions-1, in `value`; a share of it (-1: none) becomes `*out`. */
int ga_load_version(const struct ga_load *load, struct json_t *value, int least,
                    struct ga_version **out);

/* What only modes other than sync have, and the race. */
int ga_load_modes(struct ga_load *load);
int ga_load_race(struct ga_load *load);

#endif
