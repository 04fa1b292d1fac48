/* loss_i = 1/2 sum_j lambda_j (w_j - c_j)^2, the same for every one of the n examples. */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "dataset/kind.h"
#include "dataset/room.h"

#define MAX_ROWS  10000000
#define MAX_VALUE 1e18

struct quadratic {
    double *lambda, *center;
    size_t width, rows;
};

static int read_options(const struct ga_options *options, struct quadratic *quadratic)
{
    size_t centers = 0;
    int code = ga_options_count(options, "n", 1, MAX_ROWS, &quadratic->rows);
    if (code == 0) {
        code = ga_options_list(options, "lambda", -MAX_VALUE, MAX_VALUE, &quadratic->lambda,
                               &quadratic->width);
    }
    if (code == 0) {
        code = ga_options_list(options, "c", -MAX_VALUE, MAX_VALUE, &quadratic->center, &centers);
    }
    if (code != 0) {
        return code;
    }
    if (!quadratic->lambda) {
        return ga_fail(GA_EINPUT, "data quadratic without lambda, expected %s",
                       ga_dataset_quadratic.usage);
    }
    if (quadratic->center && centers != quadratic->width) {
        return ga_fail(GA_EINPUT,
                       "data quadratic: c has %zu numbers, expected %zu, as many as lambda has",
                       centers, quadratic->width);
    }
    return 0;
}

static void repeat(const double *row, size_t width, size_t rows, float *out)
{
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < width; j++) {
            out[i * width + j] = row ? (float)row[j] : 0.0f;
        }
    }
}

static int fill(struct ga_dataset *dataset, const struct ga_options *options,
                const struct quadratic *quadratic)
{
    const size_t row_bytes = quadratic->width * sizeof(float);
    struct ga_room room;
    int code = ga_room_read(options, &room);
    if (code == 0) {
        code = ga_room_check(&room, "data quadratic", quadratic->rows, 2 * quadratic->width);
    }
    if (code != 0) {
        return code;
    }
    dataset->inputs = ga_alloc(quadratic->rows, row_bytes);
    dataset->targets = ga_alloc(quadratic->rows, row_bytes);
    if (!dataset->inputs || !dataset->targets) {
        return GA_ENOMEM;
    }
    repeat(quadratic->lambda, quadratic->width, quadratic->rows, dataset->inputs);
    repeat(quadratic->center, quadratic->width, quadratic->rows, dataset->targets);
    dataset->table.kind = GA_TARGET_QUADRATIC;
    dataset->table.train = quadratic->rows;
    dataset->table.input_width = quadratic->width;
    dataset->table.target_width = quadratic->width;
    return 0;
}

static int open_quadratic(struct ga_dataset *dataset, const struct ga_options *options,
                          const char *path)
{
    struct quadratic quadratic = {.rows = 1};
    (void)path;
    int code = read_options(options, &quadratic);
    if (code == 0) {
        code = fill(dataset, options, &quadratic);
    }
    free(quadratic.lambda);
    free(quadratic.center);
    return code;
}

static const char *const keys[] = {"lambda", "c", "n", NULL};

const struct ga_dataset_kind ga_dataset_quadratic = {
    .name = "quadratic",
    .format = "quadratic",
    .usage = "quadratic lambda=1,4 [c=0,0] [n=1]",
    .keys = keys,
    .open = open_quadratic,
};
