#include "bench/idle_device.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

struct ga_context {
    char nothing;
};

static size_t idle_sum_count(const struct ga_net *net)
{
    return net->parameters;
}

static int idle_open(struct ga_context **out, const struct ga_net *net, size_t max_batch)
{
    (void)net;
    (void)max_batch;
    *out = ga_alloc(1, sizeof **out);
    return *out ? GA_OK : GA_ENOMEM;
}

static void idle_close(struct ga_context *context)
{
    free(context);
}

static size_t idle_context_bytes(const struct ga_net *net, size_t max_batch)
{
    (void)net;
    (void)max_batch;
    return sizeof(struct ga_context);
}

static void *idle_alloc(size_t bytes)
{
    return ga_alloc_aligned(bytes, 1);
}

static int idle_gradient(struct ga_context *context, const float *weights,
                         const struct ga_batch *batch, enum ga_into into, void *sums,
                         struct ga_tally *tally)
{
    (void)context;
    (void)weights;
    (void)into;
    (void)sums;
    *tally = (struct ga_tally){.weight = {(double)batch->count},
                               .weight_square = (double)batch->count,
                               .examples = batch->count};
    return GA_OK;
}

static int idle_evaluate(struct ga_context *context, const float *weights,
                         const struct ga_batch *batch, struct ga_tally *tally)
{
    return idle_gradient(context, weights, batch, GA_ASSIGN, NULL, tally);
}

static int idle_predict(struct ga_context *context, const float *weights,
                        const struct ga_batch *batch, float *outputs)
{
    (void)context;
    (void)weights;
    (void)batch;
    (void)outputs;
    return ga_fail(GA_EUNSUPPORTED, "a device that computes nothing predicts nothing");
}

static void idle_add(const struct ga_net *net, void *to, const void *from)
{
    (void)net;
    (void)to;
    (void)from;
}

static void idle_clear(const struct ga_net *net, void *sums)
{
    memset(sums, 0, idle_sum_count(net) * sizeof(double));
}

static double idle_mean(const struct ga_net *net, const void *sums, double divisor, float *gradient)
{
    (void)sums;
    (void)divisor;
    if (gradient)
        memset(gradient, 0, net->parameters * sizeof *gradient);
    return 0;
}

static void idle_read_sums(const struct ga_net *net, const void *sums, size_t first, size_t count,
                           double *out)
{
    (void)net;
    (void)sums;
    (void)first;
    memset(out, 0, count * sizeof *out);
}

static void idle_step(const struct ga_net *net, const struct ga_step *step, const float *gradient,
                      const float *weights, const float *state, float *new_weights,
                      float *new_state)
{
    (void)step;
    (void)gradient;
    (void)state;
    (void)new_state;
    memcpy(new_weights, weights, net->parameters * sizeof *weights);
}

const struct ga_compute ga_idle_device = {
    .name = "idle",
    .numerics = "none",
    .sum_type = GA_FLOAT64,
    .sum_count = idle_sum_count,
    .open = idle_open,
    .close = idle_close,
    .context_bytes = idle_context_bytes,
    .alloc = idle_alloc,
    .free = free,
    .gradient = idle_gradient,
    .evaluate = idle_evaluate,
    .predict = idle_predict,
    .add = idle_add,
    .clear = idle_clear,
    .mean = idle_mean,
    .read_sums = idle_read_sums,
    .step = idle_step,
};
