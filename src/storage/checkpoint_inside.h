/* A checkpoint object from the inside, shared by the files that read one. */
#ifndef GA_STORAGE_CHECKPOINT_INSIDE_H
#define GA_STORAGE_CHECKPOINT_INSIDE_H

#include "storage/checkpoint_format.h"

struct ga_checkpoint_settings {
    bool given;
    uint64_t epoch;
    struct ga_settings value;
};

/* Texts are borrowed from `root`. */
struct ga_checkpoint {
    char *path;
    struct ga_safetensors *file;
    struct json_t *root;
    const char *data, *init_from;
    uint64_t fingerprint;
    struct ga_checkpoint_settings settings, pending;
};

#endif
