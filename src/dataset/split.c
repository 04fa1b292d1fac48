#include "dataset/split.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "dataset/permutation.h"

enum part { UNUSED, TRAIN, TEST };

struct split {
    size_t rows, train, test;
};

static int refuse(const struct ga_options *options, const char *key, const struct split *split)
{
    return ga_fail(GA_ERANGE,
                   "data %s: %s=%s of %zu rows, expected at least 1 row to train, and no more rows "
                   "than there are",
                   options->subject, key, ga_options_get(options, key), split->rows);
}

/* test=N rows, or test=F with 0 < F < 1: the nearest number of rows. */
static int read_test(const struct ga_options *options, struct split *split)
{
    const char *value = ga_options_get(options, "test");
    double fraction = 0.0;
    if (!strpbrk(value, ".eE")) {
        return ga_options_count(options, "test", 0, UINT32_MAX, &split->test);
    }
    int code = ga_options_double(options, "test", 0.0, 1.0, &fraction);
    if (code != 0) {
        return code;
    }
    split->test = (size_t)((double)split->rows * fraction + 0.5);
    if (!(fraction > 0.0 && fraction < 1.0) || split->test == 0) {
        return ga_fail(GA_ERANGE,
                       "data %s: test=%s of %zu rows, expected a number of rows, or a fraction "
                       "between 0 and 1 that makes at least one row",
                       options->subject, value, split->rows);
    }
    return 0;
}

static int read_split(const struct ga_options *options, struct split *split)
{
    bool has_train = ga_options_get(options, "train") != NULL;
    bool has_test = ga_options_get(options, "test") != NULL;
    int code = ga_options_count(options, "train", 1, UINT32_MAX, &split->train);
    if (code == 0 && has_test) {
        code = read_test(options, split);
    }
    if (code != 0) {
        return code;
    }
    if (split->test > split->rows || split->train > split->rows - split->test ||
        (!has_train && split->test == split->rows)) {
        return refuse(options, has_test ? "test" : "train", split);
    }
    split->train = has_train ? split->train : split->rows - split->test;
    split->test = has_test ? split->test : split->rows - split->train;
    return 0;
}

/* Writes the kept rows, those to train first, each part in file order: the part of a row is the
 * place the shuffle gives it. `order` has room for all rows. */
static int draw_rows(const struct split *split, uint64_t seed, uint32_t *order)
{
    unsigned char *part = ga_alloc(split->rows, 1);
    size_t place = 0;
    if (!part) {
        return GA_ENOMEM;
    }
    ga_permutation_shuffle(order, split->rows, seed, 0, GA_DRAW_SPLIT);
    for (size_t i = 0; i < split->train + split->test; i++) {
        part[order[i]] = i < split->train ? TRAIN : TEST;
    }
    for (int wanted = TRAIN; wanted <= TEST; wanted++) {
        for (size_t row = 0; row < split->rows; row++) {
            if (part[row] == wanted) {
                order[place++] = (uint32_t)row;
            }
        }
    }
    free(part);
    return 0;
}

/* Makes `*array` hold the rows `order` names, or with NULL the first ones, in a block of their
 * size. */
static int gather(void **array, size_t width, const uint32_t *order, size_t count)
{
    size_t row_bytes = width * sizeof(float);
    if (!*array) {
        return 0;
    }
    if (!order) {
        void *smaller = realloc(*array, count * row_bytes);
        if (smaller) {
            *array = smaller;
        }
        return 0;
    }
    char *copy = ga_alloc(count, row_bytes);
    if (!copy) {
        return GA_ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        memcpy(copy + i * row_bytes, (const char *)*array + order[i] * row_bytes, row_bytes);
    }
    free(*array);
    *array = copy;
    return 0;
}

static int gather_all(struct ga_dataset *dataset, const uint32_t *order)
{
    const struct ga_table *table = &dataset->table;
    void *array[] = {dataset->inputs, dataset->targets, dataset->labels, dataset->weights};
    const size_t width[] = {table->input_width, table->target_width, 1, 1};
    int code = 0;
    for (size_t i = 0; code == 0 && i < sizeof width / sizeof width[0]; i++) {
        code = gather(&array[i], width[i], order, table->train + table->test);
    }
    dataset->inputs = array[0];
    dataset->targets = array[1];
    dataset->labels = array[2];
    dataset->weights = array[3];
    return code;
}

int ga_dataset_split(struct ga_dataset *dataset, size_t rows, const struct ga_options *options)
{
    struct split split = {.rows = rows};
    uint32_t *order = NULL;
    uint64_t seed = 0;
    int code = read_split(options, &split);
    if (code == 0) {
        code = ga_options_seed(options, "shuffle", &seed);
    }
    if (code != 0) {
        return code;
    }
    if (ga_options_get(options, "shuffle")) {
        order = ga_alloc(rows, sizeof *order);
        code = order ? draw_rows(&split, seed, order) : GA_ENOMEM;
    }
    dataset->table.train = split.train;
    dataset->table.test = split.test;
    if (code == 0) {
        code = gather_all(dataset, order);
    }
    free(order);
    return code;
}

/* Brings the held-out rows behind the `keep` rows that train. */
static void close_gap(void *array, size_t width, size_t train, size_t keep, size_t held_out)
{
    const size_t row_bytes = width * sizeof(float);
    char *rows = array;
    if (rows && keep < train) {
        memmove(rows + keep * row_bytes, rows + train * row_bytes, held_out * row_bytes);
    }
}

int ga_dataset_split_parts(struct ga_dataset *dataset, size_t train, size_t held_out,
                           const struct ga_options *options)
{
    struct ga_table *table = &dataset->table;
    table->train = train;
    table->test = held_out;
    int code = ga_options_count(options, "train", 1, train, &table->train);
    if (code == 0) {
        code = ga_options_count(options, "test", 0, held_out, &table->test);
    }
    if (code == 0 && ga_options_get(options, "shuffle")) {
        code = ga_fail(GA_EINPUT,
                       "data %s: shuffle= draws the held-out rows, and there are some already: "
                       "expected it left out",
                       options->subject);
    }
    if (code != 0) {
        return code;
    }
    close_gap(dataset->inputs, table->input_width, train, table->train, table->test);
    close_gap(dataset->targets, table->target_width, train, table->train, table->test);
    close_gap(dataset->labels, 1, train, table->train, table->test);
    close_gap(dataset->weights, 1, train, table->train, table->test);
    return gather_all(dataset, NULL);
}
