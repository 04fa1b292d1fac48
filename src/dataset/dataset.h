/*
 * Data sets: tables of examples in memory, immutable once open and shared by reference count
 * between runs, histories and threads. Training rows come first, held-out rows behind them.
 *
 * A data set knows the text that made it ("parabola n=50 range=-2,2"), so that a checkpoint can
 * name it and a script can be handed out, and a fingerprint of its content.
 */
#ifndef GA_DATASET_DATASET_H
#define GA_DATASET_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct ga_dataset;

enum ga_target_kind { GA_TARGET_VALUE, GA_TARGET_CLASS, GA_TARGET_QUADRATIC };

/* All pointers are borrowed from the data set. N = train + test rows. */
struct ga_table {
    enum ga_target_kind kind;
    const float *inputs;   /* (N, input_width); quadratic: lambda (N, n) */
    const float *targets;  /* (N, target_width); quadratic: c (N, n); NULL for classes */
    const int32_t *labels; /* (N), 0 .. classes-1, for classes; else NULL */
    const float *weights;  /* (N) or NULL: all 1 */
    size_t train;          /* rows 0 .. train-1 */
    size_t test;           /* rows train .. train+test-1 */
    size_t input_width;    /* quadratic: n */
    size_t target_width;   /* values: columns; classes: number of classes; quadratic: n */
    bool has_start;        /* quadratic: the task itself starts at w = 1 */
};

/*
 * Opens from the words of a `data` command, without "data": "parabola", "quadratic", or a file
 * name, then key=value words. `folder` is what a relative file name is looked up against first (""
 * = the working directory only). Refusals name file, line and column or key, and what was expected.
 * - parabola [n=50] [range=-2,2] [noise=0] [seed=1]
 * - quadratic lambda=1,4 [c=0,0] [n=1]
 * - FILE, and its options. What kind of file it is is told by its first bytes; CSV, IDX and NPY may
 *   be packed with gzip or zlib:
 *   CSV [kind=value|class|quadratic] [target=COL[,COL...]] [weight=COL] [classes=C] [scale=X]
 *       [train=ROWS] [test=ROWS|FRACTION] [shuffle=SEED] [header=auto|yes|no] [limit=SIZE]
 *   IDX [labels=FILE] [heldout=FILE] [heldout-labels=FILE] [kind=class|value], and classes to
 *       shuffle, and limit, as above. A FOLDER with MNIST's train and t10k files stands for all
 * four. A name's "images" and "idx3" become "labels" and "idx1" for the labels. NPY one table of
 * columns with CSV's options, or with labels= as IDX. Versions 1 to 3, C order, little-endian. NPZ
 * [inputs=NAME] [labels=NAME] [weight=NAME] [heldout=NAME] [heldout-labels=NAME] and the rest as
 * IDX; without names, those that packages use (x_train y_train x_test y_test, x y, ...).
 *
 * CSV columns are given by name or number (from 1; negative from the end); a name in the header
 * wins over a number. Default target: the last column (that is not the weight); all other columns
 * are inputs, multiplied by `scale`. A first line with anything but numbers is a header unless
 * told. Classes are whole numbers 0..C-1, C the largest + 1 unless told. kind=quadratic takes
 * columns lambda_1.. and c_1.., or without such names the first half and the second half of the
 * columns.
 *
 * Arrays are (rows, ...), all behind the rows being inputs of one row. With separate labels kind is
 * class where there is one whole number a row, else value, and scale is 1/255 for unsigned bytes,
 * else 1.
 *
 * Held-out rows: train=R takes the first R rows, test=T the T behind them (without `train` the last
 * T); without `test` all behind the first R are held out. `shuffle` draws which rows are taken;
 * both parts stay in file order. With held-out rows from a file of their own, train=R and test=T
 * take the first rows of each part.
 *
 * A table of more than `limit` bytes is refused; without it, one of more than three quarters of the
 * free memory. So a small file that unpacks to a huge table does no harm.
 */
int ga_dataset_open(struct ga_dataset **out, size_t words, const char *const *word,
                    const char *folder);
void ga_dataset_close(struct ga_dataset *dataset); /* drops one reference; NULL is fine */
struct ga_dataset *ga_dataset_share(struct ga_dataset *dataset); /* takes one more; atomic */

const struct ga_table *ga_dataset_table(const struct ga_dataset *dataset);
const char *ga_dataset_spec(
    const struct ga_dataset *dataset); /* words for `data`, quoted; the file as opened */
const char *ga_dataset_name(const struct ga_dataset *dataset); /* "parabola", "digits.csv" */
const char *ga_dataset_format(
    const struct ga_dataset *dataset); /* "parabola", "quadratic", "csv", "idx", "npy", "npz" */
uint64_t ga_dataset_fingerprint(const struct ga_dataset *dataset);
uint64_t ga_dataset_bytes(const struct ga_dataset *dataset);

/* How each kind is opened, for help; NULL behind the last. */
const char *ga_dataset_usage(size_t index);

/* One line for an answer: "50 examples, 1 input, 1 output". */
void ga_dataset_describe(const struct ga_dataset *dataset, struct ga_text *out);

#endif
