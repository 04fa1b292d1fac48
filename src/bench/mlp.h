/*
 * The net that benchmarks of real size train: 784-512-512-10, relu, cross-entropy, micro-batches of
 * 128 random images, plain SGD. One of these is an engine as a batch run has it, or two of them
 * side by side.
 */
#ifndef GA_BENCH_MLP_H
#define GA_BENCH_MLP_H

#include <stdbool.h>
#include <stdint.h>

#include "dataset/dataset.h"
#include "train/engine.h"

#define GA_MLP_BATCH  128
#define GA_MLP_IMAGES 2048
/* Floating-point operations of the matrix products of one example: forward, backward, sums. */
#define GA_MLP_OPERATIONS (2.0 * (3.0 * (512 * 784 + 512 * 512 + 512 * 10) - 512 * 784))

/* Random images in the layout of MNIST, written to a temporary folder and opened. */
int ga_mlp_data(struct ga_dataset **out);

struct ga_mlp {
    struct ga_engine *engine[2]; /* the second NULL: one */
    int64_t updates;             /* of a round */
};

struct ga_mlp_form {
    int engines;
    int32_t replicas, accum; /* of each */
    int64_t updates;         /* of each round */
    enum ga_device device;
    enum ga_numerics numerics;
    bool small; /* 784-32-10, micro-batches of 16: for tests */
};

int ga_mlp_open_as(struct ga_mlp *mlp, struct ga_dataset *data, const struct ga_mlp_form *form);
/* On the CPU, numerics fast. */
int ga_mlp_open(struct ga_mlp *mlp, struct ga_dataset *data, int engines, int32_t replicas,
                int32_t accum, int64_t updates);
void ga_mlp_close(struct ga_mlp *mlp);
int ga_mlp_train(void *self);                      /* a round of a struct ga_mlp */
int ga_mlp_loss(struct ga_mlp *mlp, double *loss); /* of its first run, over all images */

/* Trains until the history is full: before, every update asks the system for new pages. */
int ga_mlp_settle(struct ga_mlp *mlp);

#endif
