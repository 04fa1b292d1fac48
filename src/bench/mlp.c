#include "bench/mlp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "bench/scratch.h"

#define PIXELS 784
/* Far more than a cache holds, so that an update's new weights come from memory as in long runs. */
#define HISTORY_BYTES (UINT64_C(64) << 20)
#define WEIGHT_BYTES  (4 * (512 * 785 + 512 * 513 + 10 * 513))
/* A run that has not ended by then hangs. */
#define PATIENCE_NS (INT64_C(3600) * 1000000000)

static uint8_t draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint8_t)(*state >> 56);
}

static int write_bytes(const char *path, const uint8_t *head, size_t head_bytes, size_t count,
                       unsigned most)
{
    FILE *file = fopen(path, "wb");
    uint64_t state = count;
    bool fine = file && fwrite(head, 1, head_bytes, file) == head_bytes;

    for (size_t i = 0; fine && i < count; i++)
        fine = putc((int)(draw(&state) % most), file) != EOF;
    if (file && fclose(file) != 0)
        fine = false;
    return fine ? GA_OK : ga_fail(GA_EIO, "cannot write %s", path);
}

/* The layout of MNIST: big-endian, type 8 (bytes), dimensions. */
static int write_files(const char *images, const char *labels)
{
    const uint8_t high = GA_MLP_IMAGES >> 8, low = GA_MLP_IMAGES & 255;
    const uint8_t of_images[] = {0, 0, 8, 3, 0, 0, high, low, 0, 0, 0, 28, 0, 0, 0, 28};
    const uint8_t of_labels[] = {0, 0, 8, 1, 0, 0, high, low};

    if (write_bytes(images, of_images, sizeof of_images, (size_t)GA_MLP_IMAGES * PIXELS, 256) < 0)
        return ga_error_code();
    return write_bytes(labels, of_labels, sizeof of_labels, GA_MLP_IMAGES, 10);
}

int ga_mlp_data(struct ga_dataset **out)
{
    static const char *const names[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", NULL};
    char folder[GA_SCRATCH_FOLDER], images[GA_SCRATCH_PATH], labels[GA_SCRATCH_PATH];
    const char *words[] = {images, "scale=0.00390625"};
    int code = GA_OK;

    *out = NULL;
    if (ga_scratch_open(folder) < 0)
        return ga_error_code();
    ga_scratch_path(folder, names[0], images);
    ga_scratch_path(folder, names[1], labels);
    code = write_files(images, labels);
    if (code == GA_OK)
        code = ga_dataset_open(out, 2, words, "");
    ga_scratch_close(folder, names);
    return code;
}

static void fill_settings(struct ga_settings *settings, const struct ga_mlp_form *form)
{
    static const int32_t widths[] = {PIXELS, 512, 512, 10}, few[] = {PIXELS, 32, 10};

    ga_settings_default(settings);
    settings->model.layers = form->small ? 2 : 3;
    memcpy(settings->model.widths, form->small ? few : widths,
           form->small ? sizeof few : sizeof widths);
    settings->activation = GA_RELU;
    settings->loss = GA_XENT;
    settings->init = GA_INIT_HE;
    settings->order = GA_ORDER_SHUFFLE;
    settings->tail = GA_TAIL_WRAP;
    settings->numerics = form->numerics;
    settings->device = form->device;
    settings->replicas = form->replicas;
    settings->accum = form->accum;
    settings->batch = form->small ? 16 : GA_MLP_BATCH;
    settings->history_budget = HISTORY_BYTES;
}

int ga_mlp_open_as(struct ga_mlp *mlp, struct ga_dataset *data, const struct ga_mlp_form *form)
{
    const struct ga_engine_options options = {.threads = form->replicas > 1 ? 0 : 1};
    struct ga_settings settings;
    struct ga_change change;

    *mlp = (struct ga_mlp){.updates = form->updates};
    fill_settings(&settings, form);
    for (int i = 0; i < form->engines; i++)
        if (ga_engine_open(&mlp->engine[i], &options) < 0 ||
            ga_engine_data(mlp->engine[i], ga_dataset_share(data)) < 0 ||
            ga_engine_change(mlp->engine[i], &settings, &change) < 0)
            return ga_error_code();
    return GA_OK;
}

int ga_mlp_open(struct ga_mlp *mlp, struct ga_dataset *data, int engines, int32_t replicas,
                int32_t accum, int64_t updates)
{
    const struct ga_mlp_form form = {.engines = engines,
                                     .replicas = replicas,
                                     .accum = accum,
                                     .updates = updates,
                                     .device = GA_DEVICE_CPU,
                                     .numerics = GA_NUMERICS_FAST};

    return ga_mlp_open_as(mlp, data, &form);
}

void ga_mlp_close(struct ga_mlp *mlp)
{
    ga_engine_close(mlp->engine[0]);
    ga_engine_close(mlp->engine[1]);
}

static int wait_for(struct ga_engine *engine, uint64_t ticket)
{
    struct ga_stop stop;

    if (!ga_engine_wait(engine, ticket, ga_now_ns() + PATIENCE_NS, &stop))
        return ga_fail(GA_EINTERNAL, "bench: no end of the run within an hour");
    if (stop.reason == GA_STOP_DONE)
        return GA_OK;
    return stop.error.code < 0 ? ga_error_put(&stop.error)
                               : ga_fail(GA_EINTERNAL, "bench: the run was stopped");
}

int ga_mlp_settle(struct ga_mlp *mlp)
{
    const int64_t updates = mlp->updates;
    int code = GA_OK;

    mlp->updates = HISTORY_BYTES / WEIGHT_BYTES + 1;
    code = ga_mlp_train(mlp);
    mlp->updates = updates;
    return code;
}

int ga_mlp_train(void *self)
{
    struct ga_mlp *mlp = self;
    const struct ga_move move = {.kind = GA_MOVE_UPDATES, .count = (uint64_t)mlp->updates};
    uint64_t ticket[2] = {0, 0};

    for (int i = 0; i < 2 && mlp->engine[i]; i++)
        if (ga_engine_move(mlp->engine[i], &move, &ticket[i]) < 0)
            return ga_error_code();
    for (int i = 0; i < 2 && mlp->engine[i]; i++)
        if (wait_for(mlp->engine[i], ticket[i]) < 0)
            return ga_error_code();
    return GA_OK;
}

/* Runs on the engine thread. */
static int read_loss(struct ga_run *run, void *arg)
{
    double accuracy = 0;
    uint64_t examples = 0;

    return ga_run_evaluate(run, false, arg, &accuracy, &examples);
}

int ga_mlp_loss(struct ga_mlp *mlp, double *loss)
{
    return ga_engine_call(mlp->engine[0], read_loss, loss);
}
