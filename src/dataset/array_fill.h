/*
 * Arrays of a data set from arrays of files: inputs, targets or labels, and perhaps weights, row by
 * row; the rows to train first, held-out rows from files of their own behind them.
 */
#ifndef GA_DATASET_ARRAY_FILL_H
#define GA_DATASET_ARRAY_FILL_H

#include "dataset/array.h"
#include "dataset/kind.h"

struct ga_array_part {
    struct ga_array inputs, targets, weights; /* not opened: bytes is NULL */
};

void ga_array_part_fini(struct ga_array_part *part);

/*
 * `held_out` may be NULL: then the options train=, test= and shuffle= say what is held out. The
 * arrays are read to their ends. Options: kind=value|class (default: class for one whole number a
 * row), classes=, scale= (default 1/255 for inputs of unsigned bytes, else 1).
 */
int ga_array_fill(struct ga_dataset *dataset, const struct ga_options *options,
                  struct ga_array_part *train, struct ga_array_part *held_out);

#endif
