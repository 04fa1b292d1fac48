/*
 * The data and what the net makes of it. Only so many rows are looked at: evenly spaced ones in the
 * order of their input, chosen once for a data set.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "console/watch_inside.h"

#define CLASS_ROWS 1024               /* classes are read for */
#define CLASSES_NS INT64_C(400000000) /* between two tables while the weights keep changing */

struct place {
    float x;
    uint32_t row;
};

static int by_x(const void *a, const void *b)
{
    const struct place *p = a, *q = b;

    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return p->row < q->row ? -1 : p->row > q->row;
}

/* Rows to draw: all, or as many as there is room for, ascending in the only input. */
static int choose_rows(struct ga_watch *watch, const struct ga_table *table)
{
    size_t count = table->train + table->test;
    struct place *place = ga_alloc(count + 1, sizeof *place);

    if (!place)
        return GA_ENOMEM;
    for (size_t i = 0; i < count; i++)
        place[i] = (struct place){table->inputs[i], (uint32_t)i};
    qsort(place, count, sizeof *place, by_x);
    watch->rows = count < GA_FIT_POINTS ? count : GA_FIT_POINTS;
    for (size_t i = 0; i < watch->rows; i++)
        watch->row[i] = place[i * count / watch->rows].row;
    free(place);
    return GA_OK;
}

static int find_owners(struct ga_run *run, struct ga_watch *watch, size_t count)
{
    if (ga_grow((void **)&watch->owner, &watch->owner_capacity, count, sizeof *watch->owner) < 0)
        return GA_ENOMEM;
    memset(watch->owner, 0xff, count * sizeof *watch->owner);
    for (size_t r = 0; r < ga_run_replicas(run); r++) {
        size_t rows = 0;
        const uint32_t *row = ga_run_rows(run, r, &rows);

        for (size_t i = 0; i < rows; i++)
            if (row[i] < count)
                watch->owner[row[i]] = (int32_t)r;
    }
    return GA_OK;
}

/* The first output for each chosen row. */
static int predict(struct ga_run *run, struct ga_watch *watch, const struct ga_table *table,
                   struct ga_fit *out)
{
    const struct ga_net *net = ga_run_net_of(run);
    size_t count = table->train + table->test, width = net->width[net->layers];
    bool all = count <= GA_FIT_POINTS;

    if (ga_grow((void **)&watch->output, &watch->output_capacity, (all ? count : 1) * width,
                sizeof *watch->output) < 0)
        return GA_ENOMEM;
    if (all && ga_run_predict(run, 0, count, watch->output) < 0)
        return ga_error_code();
    for (size_t i = 0; i < watch->rows; i++) {
        uint32_t row = watch->row[i];

        if (!all && ga_run_predict(run, row, 1, watch->output) < 0)
            return ga_error_code();
        out->point[i].prediction = watch->output[all ? row * width : 0];
    }
    return GA_OK;
}

static int make_curve(struct ga_run *run, struct ga_watch *watch, const struct ga_table *table,
                      struct ga_fit *out)
{
    uint64_t fingerprint = ga_dataset_fingerprint(ga_run_data(run));

    if (watch->fingerprint != fingerprint || watch->rows == 0) {
        watch->fingerprint = 0;
        watch->rows = 0;
        if (choose_rows(watch, table) < 0)
            return GA_ENOMEM;
        watch->fingerprint = fingerprint;
    }
    if (find_owners(run, watch, table->train + table->test) < 0 ||
        predict(run, watch, table, out) < 0)
        return ga_error_code();
    out->points = watch->rows;
    for (size_t i = 0; i < watch->rows; i++) {
        uint32_t row = watch->row[i];

        out->point[i].x = table->inputs[row];
        out->point[i].y = table->targets[row * table->target_width];
        out->point[i].replica = watch->owner[row];
        out->point[i].held_out = row >= table->train;
    }
    return GA_OK;
}

/* The inputs as a square picture, if they are one. */
static void find_square(const struct ga_table *table, struct ga_fit *out)
{
    int side = (int)lround(sqrt((double)table->input_width));
    bool square = table->input_width >= 16 && table->input_width <= GA_FIT_PIXELS &&
                  (size_t)side * (size_t)side == table->input_width;

    out->pixel_rows = out->pixel_columns = square ? side : 0;
}

static void copy_picture(const struct ga_table *table, size_t row, uint8_t *pixel)
{
    const float *input = table->inputs + row * table->input_width;
    float low = INFINITY, high = -INFINITY;

    for (size_t i = 0; i < table->input_width; i++) {
        low = input[i] < low ? input[i] : low;
        high = input[i] > high ? input[i] : high;
    }
    for (size_t i = 0; i < table->input_width; i++) {
        float share = high > low ? (input[i] - low) / (high - low) : 0;

        pixel[i] = share > 0 && share <= 1 ? (uint8_t)(share * 255) : 0;
    }
}

static size_t largest(const float *output, size_t count)
{
    size_t at = 0;

    for (size_t i = 1; i < count; i++)
        if (output[i] > output[at])
            at = i;
    return at;
}

static void count_row(const struct ga_table *table, size_t row, const float *output, size_t classes,
                      struct ga_fit *out)
{
    size_t label = (size_t)table->labels[row], guess = largest(output, classes);

    if (label < GA_FIT_CLASSES_MOST && guess < GA_FIT_CLASSES_MOST)
        out->confusion[label][guess]++;
    out->right += label == guess;
    out->wrong += label != guess;
    if (label == guess || out->misread == GA_FIT_MISREAD)
        return;
    out->miss[out->misread].row = (uint32_t)row;
    out->miss[out->misread].label = (int32_t)label;
    out->miss[out->misread].predicted = (int32_t)guess;
    if (out->pixel_rows > 0)
        copy_picture(table, row, out->miss[out->misread].pixel);
    out->misread++;
}

/* The same weights as last time, or too soon after it. */
static bool still_good(const struct ga_watch *watch, struct ga_run *run, int64_t now)
{
    return watch->classes_run == (uintptr_t)run && watch->classes_ns != 0 &&
           (watch->classes_version == ga_run_version(run)->number ||
            (ga_engine_moving(watch->engine) && now - watch->classes_ns < CLASSES_NS));
}

static int make_classes(struct ga_run *run, struct ga_watch *watch, const struct ga_table *table,
                        struct ga_fit *out)
{
    const struct ga_net *net = ga_run_net_of(run);
    size_t rows = table->test > 0 ? table->test : table->train, width = net->width[net->layers];
    size_t first = table->test > 0 ? table->train : 0;
    int64_t now = ga_now_ns();

    if (still_good(watch, run, now))
        return GA_OK;
    rows = rows < CLASS_ROWS ? rows : CLASS_ROWS;
    if (ga_grow((void **)&watch->output, &watch->output_capacity, rows * width,
                sizeof *watch->output) < 0 ||
        ga_run_predict(run, first, rows, watch->output) < 0)
        return ga_error_code();
    out->classes = width;
    out->held_out = table->test > 0;
    out->right = out->wrong = out->misread = 0;
    memset(out->confusion, 0, sizeof out->confusion);
    find_square(table, out);
    for (size_t i = 0; i < rows; i++)
        count_row(table, first + i, watch->output + i * width, width, out);
    watch->classes_run = (uintptr_t)run;
    watch->classes_version = ga_run_version(run)->number;
    watch->classes_ns = now;
    return GA_OK;
}

/* The least of each coordinate's own parabola, over all training rows. */
static void make_quadratic(struct ga_run *run, struct ga_watch *watch, const struct ga_table *table,
                           struct ga_fit *out)
{
    uint64_t fingerprint = ga_dataset_fingerprint(ga_run_data(run));
    bool known = watch->fingerprint == fingerprint && watch->rows == 0;
    size_t n = table->input_width;

    watch->fingerprint = fingerprint;
    watch->rows = 0;
    out->coordinates = n < GA_FIT_CLASSES_MOST ? n : GA_FIT_CLASSES_MOST;
    for (size_t j = 0; j < out->coordinates; j++) {
        double top = 0, bottom = 0;

        out->weight[j] = ga_run_version(run)->weights[j];
        for (size_t i = 0; !known && i < table->train; i++) {
            double lambda = (double)table->inputs[i * n + j];

            top += lambda * (double)table->targets[i * n + j];
            bottom += lambda;
        }
        if (!known)
            out->optimum[j] = (float)(top / bottom);
    }
}

int ga_fit_make(struct ga_run *run, struct ga_watch *watch, struct ga_fit *out)
{
    const struct ga_table *table = ga_dataset_table(ga_run_data(run));

    snprintf(out->name, sizeof out->name, "%s", ga_dataset_name(ga_run_data(run)));
    out->rows = table->train + table->test;
    out->kind = GA_FIT_NONE;
    if (table->kind == GA_TARGET_QUADRATIC) {
        make_quadratic(run, watch, table, out);
        out->kind = GA_FIT_QUADRATIC;
    } else if (table->kind == GA_TARGET_CLASS) {
        if (make_classes(run, watch, table, out) < 0)
            return ga_error_code();
        out->kind = GA_FIT_CLASSES;
    } else if (table->kind == GA_TARGET_VALUE && table->input_width == 1) {
        if (make_curve(run, watch, table, out) < 0)
            return ga_error_code();
        out->kind = GA_FIT_CURVE;
    }
    return GA_OK;
}
