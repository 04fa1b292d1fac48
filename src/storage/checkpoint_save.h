/* A checkpoint being written, shared by the files that do so. Private to storage. */
#ifndef GA_STORAGE_CHECKPOINT_SAVE_H
#define GA_STORAGE_CHECKPOINT_SAVE_H

#include "storage/checkpoint_format.h"

struct json_t; /* of jansson */

struct ga_save {
    const struct ga_state *state;
    struct ga_net net;
    const struct ga_version **version; /* distinct ones; 0 is the server's */
    size_t versions;
    int64_t *row;       /* the state's rows, widened */
    int64_t *piece_row; /* likewise */
    int64_t *race_time; /* the state's race, taken apart */
    int32_t *race_replica;
    struct ga_file_tensor *tensor; /* data borrowed */
    char (*name)[GA_CHECKPOINT_NAME];
    size_t tensors;
};

/* The next tensor, its name still to be written; there is room for all. */
char *ga_save_add(struct ga_save *save, enum ga_dtype dtype, int dimensions, size_t rows,
                  size_t columns, const void *data);
/* A named one; none where count is 0. */
void ga_save_add_list(struct ga_save *save, const char *name, enum ga_dtype dtype, size_t count,
                      const void *data);

/* Position among the versions, which it joins if it is new; NULL: -1. */
int64_t ga_save_version(struct ga_save *save, const struct ga_version *version);

/* What only modes other than sync have, and the race. */
size_t ga_save_mode_versions(const struct ga_mode_state *modes); /* most, beside the replicas' */
size_t ga_save_mode_tensors(const struct ga_mode_state *modes);
int ga_save_mode_room(struct ga_save *save);
void ga_save_list_mode_versions(struct ga_save *save);
void ga_save_add_modes(struct ga_save *save);
struct json_t *ga_save_describe_modes(struct ga_save *save); /* NULL without memory, as is: */
struct json_t *ga_save_describe_race(const struct ga_state *state);

#endif
