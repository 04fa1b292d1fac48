/* y = x^2 on equally spaced x, ends included: computed in double, rounded to float once. */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "dataset/kind.h"

#define MAX_ROWS  10000000
#define MAX_RANGE 1e18 /* its square is well inside float */

struct parabola {
    size_t rows;
    double low, high, noise;
    uint64_t seed;
};

static int read_range(const struct ga_options *options, struct parabola *parabola)
{
    double *ends = NULL;
    size_t count = 0;
    int code = ga_options_list(options, "range", -MAX_RANGE, MAX_RANGE, &ends, &count);
    if (code != 0 || !ends) {
        return code;
    }
    if (count != 2 || !(ends[0] < ends[1])) {
        code = ga_fail(GA_ERANGE, "data parabola: range=%s, expected LOW,HIGH with LOW < HIGH",
                       ga_options_get(options, "range"));
    } else {
        parabola->low = ends[0];
        parabola->high = ends[1];
    }
    free(ends);
    return code;
}

static int read_options(const struct ga_options *options, struct parabola *parabola)
{
    int code = ga_options_count(options, "n", 1, MAX_ROWS, &parabola->rows);
    if (code == 0) {
        code = read_range(options, parabola);
    }
    if (code == 0) {
        code = ga_options_double(options, "noise", 0.0, MAX_RANGE, &parabola->noise);
    }
    if (code == 0) {
        code = ga_options_seed(options, "seed", &parabola->seed);
    }
    return code;
}

/* One row alone stands at the low end. */
static void fill(const struct parabola *parabola, float *inputs, float *targets)
{
    double steps = parabola->rows > 1 ? (double)(parabola->rows - 1) : 1.0;
    for (size_t i = 0; i < parabola->rows; i++) {
        double x = parabola->low + (parabola->high - parabola->low) * (double)i / steps;
        double y = x * x;
        if (parabola->noise > 0.0) {
            y += parabola->noise * ga_normal(parabola->seed, i, 0, GA_DRAW_NOISE);
        }
        inputs[i] = (float)x;
        targets[i] = (float)y;
    }
}

static int open_parabola(struct ga_dataset *dataset, const struct ga_options *options,
                         const char *path)
{
    struct parabola parabola = {.rows = 50, .low = -2.0, .high = 2.0, .noise = 0.0, .seed = 1};
    (void)path;
    int code = read_options(options, &parabola);
    if (code != 0) {
        return code;
    }
    dataset->inputs = ga_alloc(parabola.rows, sizeof *dataset->inputs);
    dataset->targets = ga_alloc(parabola.rows, sizeof *dataset->targets);
    if (!dataset->inputs || !dataset->targets) {
        return GA_ENOMEM;
    }
    fill(&parabola, dataset->inputs, dataset->targets);
    dataset->table.kind = GA_TARGET_VALUE;
    dataset->table.train = parabola.rows;
    dataset->table.input_width = 1;
    dataset->table.target_width = 1;
    return 0;
}

static const char *const keys[] = {"n", "range", "noise", "seed", NULL};

const struct ga_dataset_kind ga_dataset_parabola = {
    .name = "parabola",
    .format = "parabola",
    .usage = "parabola [n=50] [range=-2,2] [noise=0] [seed=1]",
    .keys = keys,
    .open = open_parabola,
};
