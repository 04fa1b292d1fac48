/*
 * The seam of the data sets: one const row per kind, listed in dataset.c. open() is given a zeroed
 * data set whose name is known and fills the arrays, kind, widths and counts; dataset.c does the
 * rest (spec, fingerprint, references) and frees what open() left behind when it fails.
 */
#ifndef GA_DATASET_KIND_H
#define GA_DATASET_KIND_H

#include <stdatomic.h>

#include "dataset/dataset.h"
#include "dataset/options.h"

struct ga_dataset {
    atomic_size_t references;
    struct ga_table table; /* its pointers are set by dataset.c from the owned ones */
    float *inputs;
    float *targets;
    float *weights;
    int32_t *labels;
    char *name;
    char *spec;
    const char *format; /* of the kind that opened it */
    uint64_t fingerprint;
    uint64_t bytes;
};

struct ga_dataset_kind {
    const char *name;   /* the first word of the command; NULL: this kind reads files */
    const char *format; /* in one word: "csv" */
    const char *usage;
    const char *const *keys; /* ends with NULL */
    /* `path` is the file, as it is to be opened; NULL for kinds without one */
    int (*open)(struct ga_dataset *dataset, const struct ga_options *options, const char *path);
    /* Whether a file that begins like this is of this kind; NULL: any other file is. */
    bool (*is)(const unsigned char *head, size_t count);
};

extern const struct ga_dataset_kind ga_dataset_parabola;
extern const struct ga_dataset_kind ga_dataset_quadratic;
extern const struct ga_dataset_kind ga_dataset_idx;
extern const struct ga_dataset_kind ga_dataset_npy;
extern const struct ga_dataset_kind ga_dataset_npz;
extern const struct ga_dataset_kind ga_dataset_csv;

#endif
