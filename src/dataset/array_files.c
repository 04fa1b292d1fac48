/* Data from IDX and NPY files: inputs in one file and targets in another, or one table of columns
 * in an NPY file. */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "dataset/array_fill.h"
#include "dataset/array_names.h"
#include "dataset/csv_table.h"
#include "dataset/kind.h"
#include "dataset/split.h"

/* The files of a data set; all to be freed. */
struct files {
    char *images, *labels;
    char *held_out, *held_out_labels;
};

static void free_files(struct files *files)
{
    free(files->images);
    free(files->labels);
    free(files->held_out);
    free(files->held_out_labels);
}

/* The labels of `images`: what the option says, else by their name. */
static int find_labels(const struct ga_options *options, const char *key, const char *images,
                       char **out)
{
    const char *name = ga_options_get(options, key);
    int code = name ? ga_beside(images, name, out) : ga_mnist_labels(images, out);
    if (code == 0 && !*out) {
        return ga_fail(GA_EINPUT, "data %s: no labels, expected %s=FILE", options->subject, key);
    }
    return code;
}

static int find_images(const struct ga_options *options, const char *path, struct files *files)
{
    const char *held_out = ga_options_get(options, "heldout");
    int code = 0;
    if (!ga_is_folder(path)) {
        files->images = ga_copy_string(path);
        code = files->images ? 0 : GA_ENOMEM;
    } else {
        code = ga_mnist_images(path, "train", &files->images);
        if (code == 0 && !held_out) {
            code = ga_mnist_images(path, "t10k", &files->held_out);
        }
    }
    if (code == 0 && !files->images) {
        return ga_fail(GA_EINPUT,
                       "%s is a directory, expected a file with data, or MNIST's files in it: "
                       "train-images-idx3-ubyte",
                       path);
    }
    return code == 0 && held_out ? ga_beside(files->images, held_out, &files->held_out) : code;
}

static int find_files(const struct ga_options *options, const char *path, struct files *files)
{
    int code = find_images(options, path, files);
    if (code == 0) {
        code = find_labels(options, "labels", files->images, &files->labels);
    }
    if (code == 0 && files->held_out) {
        code = find_labels(options, "heldout-labels", files->held_out, &files->held_out_labels);
    } else if (code == 0 && ga_options_get(options, "heldout-labels")) {
        code = ga_fail(GA_EINPUT, "data %s: heldout-labels= without images, expected heldout=FILE",
                       options->subject);
    }
    return code;
}

static int open_part(struct ga_array_part *part, const char *images, const char *labels)
{
    int code = ga_array_open(&part->inputs, images);
    return code == 0 ? ga_array_open(&part->targets, labels) : code;
}

static int open_pair(struct ga_dataset *dataset, const struct ga_options *options, const char *path)
{
    struct files files = {NULL, NULL, NULL, NULL};
    struct ga_array_part train = {0};
    struct ga_array_part held_out = {0};
    int code = find_files(options, path, &files);
    if (code == 0) {
        code = open_part(&train, files.images, files.labels);
    }
    if (code == 0 && files.held_out) {
        code = open_part(&held_out, files.held_out, files.held_out_labels);
    }
    if (code == 0) {
        code = ga_array_fill(dataset, options, &train, files.held_out ? &held_out : NULL);
    }
    ga_array_part_fini(&train);
    ga_array_part_fini(&held_out);
    free_files(&files);
    return code;
}

static int refuse_beside(const struct ga_options *options, const char *const *list, const char *why)
{
    for (size_t i = 0; list[i]; i++) {
        if (ga_options_get(options, list[i])) {
            return ga_fail(GA_EINPUT, "data %s: %s= %s, expected it left out", options->subject,
                           list[i], why);
        }
    }
    return 0;
}

/* Row after row into the table of columns that CSV files use. */
static int fill_table(struct ga_csv_table *table, struct ga_array *array)
{
    double *row = ga_alloc(array->width, sizeof *row);
    const struct ga_csv_row shape = {.line = 1, .count = array->width};
    int code = row ? ga_csv_table_begin(table, &shape, false) : (int)GA_ENOMEM;
    for (size_t i = 0; code == 0 && i < array->rows; i++) {
        code = ga_array_read(array, row, array->width);
        if (code == 0) {
            code = ga_csv_table_values(table, i + 1, row, array->width);
        }
    }
    free(row);
    return code == 0 ? ga_array_end(array) : code;
}

static int open_columns(struct ga_dataset *dataset, const struct ga_options *options,
                        const char *path)
{
    struct ga_array array;
    struct ga_csv_table table = {.dataset = dataset, .path = path, .options = options};
    int code = ga_array_open(&array, path);
    if (code == 0 && (array.dimensions > 2 || array.width > GA_CSV_MAX_COLUMNS)) {
        code = ga_fail(GA_EINPUT,
                       "%s: %zu dimensions and %zu numbers a row, expected labels=FILE with it, or "
                       "a table of at most %d columns",
                       path, array.dimensions, array.width, GA_CSV_MAX_COLUMNS);
    }
    if (code == 0) {
        code = ga_csv_table_options(&table);
    }
    if (code == 0) {
        code = fill_table(&table, &array);
    }
    if (code == 0) {
        ga_csv_table_shape(&table, &dataset->table);
        code = ga_dataset_split(dataset, table.rows, options);
    }
    ga_csv_table_fini(&table);
    ga_array_fini(&array);
    return code;
}

static int open_npy(struct ga_dataset *dataset, const struct ga_options *options, const char *path)
{
    static const char *const of_columns[] = {"target", "weight", NULL};
    static const char *const of_pairs[] = {"heldout", "heldout-labels", NULL};
    const bool pair = ga_options_get(options, "labels") != NULL;
    int code = refuse_beside(options, pair ? of_columns : of_pairs,
                             pair ? "does not go with labels=" : "goes with labels=");
    if (code != 0) {
        return code;
    }
    return pair ? open_pair(dataset, options, path) : open_columns(dataset, options, path);
}

static const char *const idx_keys[] = {"kind",           "labels", "classes", "scale",
                                       "train",          "test",   "shuffle", "heldout",
                                       "heldout-labels", "limit",  NULL};
static const char *const npy_keys[] = {"kind",           "labels", "target", "weight",  "classes",
                                       "scale",          "train",  "test",   "shuffle", "heldout",
                                       "heldout-labels", "limit",  NULL};

const struct ga_dataset_kind ga_dataset_idx = {
    .format = "idx",
    .usage = "FILE|FOLDER [labels=FILE] [heldout=FILE] [heldout-labels=FILE] [kind=class|value] "
             "[classes=C] [scale=X] [train=ROWS] [test=ROWS|FRACTION] [shuffle=SEED] "
             "[limit=SIZE]",
    .keys = idx_keys,
    .open = open_pair,
    .is = ga_idx_is,
};

const struct ga_dataset_kind ga_dataset_npy = {
    .format = "npy",
    .usage = "FILE [labels=FILE [heldout=FILE heldout-labels=FILE]] [target=COL[,COL...]] "
             "[weight=COL] [kind=value|class|quadratic] [classes=C] [scale=X] [train=ROWS] "
             "[test=ROWS|FRACTION] [shuffle=SEED] [limit=SIZE]",
    .keys = npy_keys,
    .open = open_npy,
    .is = ga_npy_is,
};
