/*
 * Trains a few nets for a few hundred updates through the device table alone and prints the hash of
 * each one's parameters. The lines are the same for every compiler, optimization level and kernel:
 * exact_hash.golden holds them. With a number as argument that many examples go into a micro-batch;
 * a second one names the device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/random.h"
#include "compute/compute.h"
#include "model/model.h"

#define EXAMPLES 150
#define UPDATES  300
#define WINDOW   37 /* examples of an update; the last window of a pass is short */

struct recipe {
    const char *name;
    size_t layers;
    int32_t widths[5];
    enum ga_net_activation activation;
    enum ga_net_loss loss;
    enum ga_model_init init;
    struct ga_optimizer_spec optimizer;
    double lr;
};

static const struct recipe recipes[] = {
    {"1-5-1 tanh mse sgd",
     2,
     {1, 5, 1},
     GA_ACT_TANH,
     GA_LOSS_MSE,
     GA_MODEL_NORMAL,
     {.kind = GA_STEP_SGD},
     0.01},
    {"2-6-5-3 gelu xent adam",
     3,
     {2, 6, 5, 3},
     GA_ACT_GELU,
     GA_LOSS_XENT,
     GA_MODEL_XAVIER,
     {.kind = GA_STEP_ADAM, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8},
     0.01},
    {"20-17-4 relu xent nesterov",
     2,
     {20, 17, 4},
     GA_ACT_RELU,
     GA_LOSS_XENT,
     GA_MODEL_HE,
     {.kind = GA_STEP_SGD, .momentum = 0.9, .nesterov = true, .weight_decay = 0.001},
     0.02},
    {"3-40-2 sigmoid mse adamw",
     2,
     {3, 40, 2},
     GA_ACT_SIGMOID,
     GA_LOSS_MSE,
     GA_MODEL_UNIFORM,
     {.kind = GA_STEP_ADAMW, .beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-8, .weight_decay = 0.1},
     0.005},
};

/* All but the sums is memory of the host, whatever the device. */
struct training {
    const struct ga_compute *device;
    struct ga_context *context;
    struct ga_net net;
    float *inputs, *targets;
    int32_t labels[EXAMPLES];
    float *weights, *next, *state, *next_state, *gradient;
    double *sums;
};

static void *must(void *block)
{
    if (!block) {
        fprintf(stderr, "%s\n", ga_error_text());
        exit(1);
    }
    return block;
}

static float *floats(size_t count)
{
    return must(ga_compute_cpu_exact.alloc(count * sizeof(float)));
}

static void training_open(struct training *t, const struct recipe *r, const char *device)
{
    const struct ga_model_spec spec = {GA_NET_MLP,    r->layers, r->widths,
                                       r->activation, r->loss,   true};
    t->device = ga_compute_find(device, "exact");
    if (!t->device || ga_net_build(&t->net, &spec) < 0 ||
        t->device->open(&t->context, &t->net, EXAMPLES) < 0)
        must(NULL);
    const size_t n = t->net.parameters;
    const size_t outputs = t->net.width[t->net.layers];
    t->inputs = floats(EXAMPLES * t->net.width[0]);
    t->targets = floats(EXAMPLES * outputs);
    t->weights = floats(n);
    t->next = floats(n);
    t->state = floats(2 * n);
    t->next_state = floats(2 * n);
    t->gradient = floats(n);
    t->sums = must(t->device->alloc(2 * n * sizeof(double)));
    for (size_t i = 0; i < EXAMPLES * t->net.width[0]; i++)
        t->inputs[i] = (float)ga_normal(7, i, 0, GA_DRAW_NOISE);
    for (size_t i = 0; i < EXAMPLES * outputs; i++)
        t->targets[i] = (float)ga_normal(7, i, 1, GA_DRAW_NOISE);
    for (size_t i = 0; i < EXAMPLES; i++)
        t->labels[i] = t->inputs[i * t->net.width[0]] > 0.0f ? 1 : (int32_t)(i % outputs);
    ga_model_initialise(&t->net, r->init, 1, t->weights);
}

static void training_close(struct training *t)
{
    float *const blocks[] = {t->inputs, t->targets,    t->weights, t->next,
                             t->state,  t->next_state, t->gradient};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        ga_compute_cpu_exact.free(blocks[i]);
    t->device->free(t->sums);
    t->device->close(t->context);
}

/* The gradient of the window, in micro-batches. */
static void window(struct training *t, size_t first, size_t count, size_t micro)
{
    const bool classes = t->net.loss == GA_LOSS_XENT;
    struct ga_tally total;
    struct ga_tally tally;
    ga_tally_clear(&total);
    t->device->clear(&t->net, t->sums);
    for (size_t at = 0; at < count; at += micro) {
        const struct ga_batch batch = {.inputs = t->inputs,
                                       .targets = classes ? NULL : t->targets,
                                       .labels = classes ? t->labels : NULL,
                                       .first = first + at,
                                       .count = count - at < micro ? count - at : micro};
        if (t->device->gradient(t->context, t->weights, &batch, GA_ADD, t->sums, &tally) < 0)
            must(NULL);
        ga_tally_add(&total, &tally);
    }
    t->device->mean(&t->net, t->sums, ga_tally_weight_sum(&total), t->gradient);
}

static void exchange(float **a, float **b)
{
    float *kept = *a;
    *a = *b;
    *b = kept;
}

static void train(const struct recipe *r, size_t micro, const char *device)
{
    struct training t = {0};
    struct ga_optimizer_scalars scalars;
    char text[GA_HASH_TEXT];
    training_open(&t, r, device);
    ga_optimizer_scalars_init(&scalars);
    for (size_t update = 0, at = 0; update < UPDATES; update++) {
        struct ga_step step;
        const size_t count = EXAMPLES - at < WINDOW ? EXAMPLES - at : WINDOW;
        window(&t, at, count, micro);
        ga_optimizer_advance(&r->optimizer, &scalars, r->lr, 1.0, &step);
        t.device->step(&t.net, &step, t.gradient, t.weights, t.state, t.next, t.next_state);
        exchange(&t.weights, &t.next);
        exchange(&t.state, &t.next_state);
        at = at + count == EXAMPLES ? 0 : at + count;
    }
    ga_hash_format(text, ga_hash_parameters(t.weights, t.net.parameters));
    if (ga_buffer_poll(t.device) < 0)
        must(NULL);
    printf("%s %s\n", r->name, text);
    training_close(&t);
}

int main(int argc, char **argv)
{
    const size_t micro = argc > 1 ? strtoul(argv[1], NULL, 10) : WINDOW;
    for (size_t i = 0; i < sizeof recipes / sizeof recipes[0]; i++)
        train(&recipes[i], micro > 0 ? micro : WINDOW, argc > 2 ? argv[2] : "cpu");
    return 0;
}
