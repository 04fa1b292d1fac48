/*
 * From settings and the shape of the data to a net: parameter layout, initial weights, optimizer
 * scalars, learning-rate schedule, memory accounting. Pure functions on plain values.
 */
#ifndef GA_MODEL_MODEL_H
#define GA_MODEL_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "compute/compute.h"
#include "compute/net.h"

/* What model/ needs to know of the settings; train/ fills it (model does not include settings). */
struct ga_model_spec {
    enum ga_net_kind kind;
    size_t layers;
    const int32_t *widths; /* layers + 1; for quadratic: widths[0] = number of coordinates */
    enum ga_net_activation activation;
    enum ga_net_loss loss;
    bool bias;
};

/* GA_ERANGE when sizes overflow or a width is 0. */
int ga_net_build(struct ga_net *out, const struct ga_model_spec *spec);

enum ga_model_init {
    GA_MODEL_NORMAL,
    GA_MODEL_UNIFORM,
    GA_MODEL_XAVIER,
    GA_MODEL_HE,
    GA_MODEL_ZEROS
};

/*
 * Initial weights (host, net->parameters floats). Draw i of parameter i, purpose GA_DRAW_INIT;
 * normals by Box-Muller with exact log, sin, cos. A quadratic net starts at 1 whatever `init`.
 */
void ga_model_initialise(const struct ga_net *net, enum ga_model_init init, uint64_t seed,
                         float *weights);

/* Optimizer hyper-parameters as doubles, in the words of PyTorch. */
struct ga_optimizer_spec {
    enum ga_step_kind kind;
    double momentum, beta1, beta2, epsilon, weight_decay;
    bool nesterov;
};

/* Running scalars of an optimizer; part of every checkpoint. Start: {0, 1, 1}. */
struct ga_optimizer_scalars {
    uint64_t t;         /* updates applied */
    double beta1_power; /* beta1^t as a running product; 1 under sgd, which has no betas */
    double beta2_power;
};

void ga_optimizer_scalars_init(struct ga_optimizer_scalars *scalars);

/* Advances the scalars by one update and fills `*step`: lr and clip scale in double, rounded once.
 */
void ga_optimizer_advance(const struct ga_optimizer_spec *spec,
                          struct ga_optimizer_scalars *scalars, double lr, double clip_scale,
                          struct ga_step *step);

/* max_norm / (norm + 1e-6), or 1 when that is >= 1 or max_norm is 0 (off). */
double ga_clip_scale(double max_norm, double norm);

enum ga_schedule_kind { GA_LR_CONSTANT, GA_LR_STEP, GA_LR_COSINE };
struct ga_schedule_spec {
    enum ga_schedule_kind kind;
    int64_t every;
    double value;
    int64_t warmup;
};

/*
 * The rate of update `update` (0-based). Warm-up: lr*(update+1)/warmup while update < warmup; then
 * the schedule counts from 0 at update = warmup. step: lr * value^(floor(u/every)); cosine: value +
 * (lr-value)*(1+cos(pi*min(u,every)/every))/2 with the exact cosine.
 */
double ga_schedule_rate(const struct ga_schedule_spec *spec, double lr, uint64_t update);

/* Bytes of one replica, to the byte: what the engine allocates for it. */
struct ga_memory {
    uint64_t weights;
    uint64_t accumulators; /* the item's and the micro-batch's gradient sums */
    uint64_t optimizer;
    uint64_t activations; /* activations and scratch of a context for this batch */
    uint64_t total;
};
void ga_model_memory(const struct ga_net *net, const struct ga_compute *compute,
                     size_t optimizer_blocks, size_t batch, struct ga_memory *out);

#endif
