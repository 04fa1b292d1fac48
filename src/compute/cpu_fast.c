/*
 * The fast CPU device: float32 sums. A work area for each context, the way of small nets or of
 * large ones (fast_kernel.h), and the kernels behind the table of compute.h.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "compute/cpu_room.h"
#include "compute/fast_blas.h"
#include "compute/fast_kernel.h"
#include "compute/fast_layers.h"

struct ga_context {
    struct ga_net net;
    struct ga_fast_work work;
    struct ga_cpu_room room; /* all rows of the work area */
    float *scratch;          /* work.own, work.chunk and work.products */
};

/* Floats of rows for one example; a quadratic needs none. */
static size_t floats_per_example(const struct ga_net *net)
{
    const size_t slopes = ga_cpu_has_slopes(net) ? 1 : 0;
    size_t count = net->width[0] + 2 * net->width[net->layers];
    if (net->kind != GA_NET_MLP)
        return 0;
    for (size_t k = 1; k < net->layers; k++)
        count += (2 + slopes) * net->width[k];
    return count;
}

/* Small nets go chunk by chunk whatever the batch; evaluation needs a chunk in any case. */
static size_t room_examples(const struct ga_net *net, size_t count)
{
    return ga_fast_goes_by_layers(net) && count > GA_FAST_CHUNK ? count : GA_FAST_CHUNK;
}

/* The micro-batch's own sums: all of a small net's. */
static size_t own_count(const struct ga_net *net)
{
    return ga_fast_goes_by_layers(net) ? ga_fast_layers_own(net) : net->parameters;
}

static size_t product_count(const struct ga_net *net)
{
    return ga_fast_goes_by_layers(net) ? ga_fast_layers_scratch(net) : 0;
}

/* A cache line more than needed lies between the two. */
static size_t padded(size_t count)
{
    return (count + 15) / 16 * 16;
}

static size_t chunk_count(const struct ga_net *net)
{
    return ga_fast_goes_by_layers(net) ? 2 * net->width[net->layers] * GA_FAST_CHUNK : 0;
}

static size_t scratch_count(const struct ga_net *net)
{
    return padded(own_count(net)) + padded(chunk_count(net)) + product_count(net);
}

/* Cuts the room into the rows that floats_per_example() counted. */
static void lay_out(struct ga_context *context)
{
    const struct ga_net *net = &context->net;
    struct ga_fast_work *work = &context->work;
    const size_t n = context->room.examples;
    work->room = n;
    float *next = context->room.floats;
    work->rows[0] = ga_cpu_room_cut(&next, net->width[0], n);
    for (size_t k = 1; k <= net->layers; k++) {
        work->rows[k] = ga_cpu_room_cut(&next, net->width[k], n);
        work->deltas[k] = ga_cpu_room_cut(&next, net->width[k], n);
        if (ga_cpu_has_slopes(net) && k < net->layers)
            work->slopes[k] = ga_cpu_room_cut(&next, net->width[k], n);
    }
}

static int make_room(struct ga_context *context, size_t count)
{
    const int code = ga_cpu_room_grow(&context->room, room_examples(&context->net, count),
                                      floats_per_example(&context->net), count);
    if (code > 0)
        lay_out(context);
    return code < 0 ? code : GA_OK;
}

static void fast_close(struct ga_context *context)
{
    if (context) {
        free(context->room.floats);
        free(context->scratch);
    }
    free(context);
}

static int fast_open(struct ga_context **out, const struct ga_net *net, size_t max_batch)
{
    struct ga_context *context = NULL;
    *out = NULL;
    const struct ga_fast_kernel *kernel = ga_fast_kernel();
    if (!kernel)
        return ga_error_code();
    context = ga_alloc(1, sizeof *context);
    if (!context)
        return GA_ENOMEM;
    context->net = *net;
    context->work.kernel = kernel;
    context->work.net = &context->net;
    context->work.layered = ga_fast_goes_by_layers(net);
    context->work.own_count = own_count(net);
    context->scratch = ga_alloc_aligned(scratch_count(net), sizeof(float));
    if (!context->scratch || make_room(context, max_batch) < 0) {
        fast_close(context);
        return GA_ENOMEM;
    }
    context->work.own = context->scratch;
    context->work.chunk = context->scratch + padded(context->work.own_count);
    context->work.products = context->work.chunk + padded(chunk_count(net));
    *out = context;
    return GA_OK;
}

static size_t fast_context_bytes(const struct ga_net *net, size_t max_batch)
{
    const size_t fixed = sizeof(struct ga_context) + scratch_count(net) * sizeof(float);
    return ga_cpu_room_bytes(fixed, room_examples(net, max_batch), floats_per_example(net));
}

static size_t fast_sum_count(const struct ga_net *net)
{
    return net->parameters;
}

static void empty_gradient(struct ga_context *context, const struct ga_batch *batch,
                           const float *onto, float *sums, struct ga_tally *tally, double *square)
{
    const size_t bytes = context->net.parameters * sizeof(float);
    context->work.kernel->count(batch, tally);
    *square = 0;
    if (!onto)
        memset(sums, 0, bytes);
    else if (onto != sums)
        memcpy(sums, onto, bytes);
}

static int fast_accumulate(struct ga_context *context, const float *weights,
                           const struct ga_batch *batch, const void *onto, void *sums,
                           struct ga_tally *tally, double *square)
{
    int code = ga_cpu_check_batch(&context->net, batch, true);
    if (code == GA_OK && batch->count > context->room.examples)
        code = make_room(context, batch->count);
    if (code < 0)
        return code;
    if (batch->count == 0)
        empty_gradient(context, batch, onto, sums, tally, square);
    else if (context->work.layered)
        ga_fast_layers_gradient(&context->work, weights, batch, onto, sums, tally, square);
    else
        context->work.kernel->gradient(&context->work, weights, batch, onto, sums, tally, square);
    return GA_OK;
}

static int fast_gradient(struct ga_context *context, const float *weights,
                         const struct ga_batch *batch, enum ga_into into, void *sums,
                         struct ga_tally *tally)
{
    double square = 0;
    return fast_accumulate(context, weights, batch, into == GA_ADD ? sums : NULL, sums, tally,
                           &square);
}

static int fast_evaluate(struct ga_context *context, const float *weights,
                         const struct ga_batch *batch, struct ga_tally *tally)
{
    const int code = ga_cpu_check_batch(&context->net, batch, true);
    if (code < 0)
        return code;
    if (context->work.layered)
        ga_fast_layers_evaluate(&context->work, weights, batch, tally);
    else
        context->work.kernel->evaluate(&context->work, weights, batch, tally);
    return GA_OK;
}

static int fast_predict(struct ga_context *context, const float *weights,
                        const struct ga_batch *batch, float *outputs)
{
    if (context->net.kind != GA_NET_MLP)
        return ga_fail(GA_EUNSUPPORTED, "a quadratic has no outputs to predict: expected a net");
    const int code = ga_cpu_check_batch(&context->net, batch, false);
    if (code < 0)
        return code;
    if (context->work.layered)
        ga_fast_layers_predict(&context->work, weights, batch, outputs);
    else
        context->work.kernel->predict(&context->work, weights, batch, outputs);
    return GA_OK;
}

static void fast_add(const struct ga_net *net, void *to, const void *from)
{
    ga_fast_any_kernel()->join(to, from, to, net->parameters);
}

static void fast_clear(const struct ga_net *net, void *sums)
{
    memset(sums, 0, net->parameters * sizeof(float));
}

static void fast_mean_part(const void *const *sums, size_t ranks, double divisor,
                           const struct ga_part *part, float *gradient, double *squares,
                           double *dots)
{
    ga_fast_any_kernel()->mean(part, (const float *const *)sums, ranks, divisor, gradient, squares,
                               dots);
}

static void fast_step_part(const struct ga_net *net, const struct ga_step *step,
                           const struct ga_step_blocks *blocks, const struct ga_part *part,
                           double *squares)
{
    ga_fast_any_kernel()->step(part, net->parameters, step, blocks, squares);
}

static struct ga_part part_at(const struct ga_net *net, size_t first)
{
    const size_t left = net->parameters - first;
    return (struct ga_part){first, left < GA_PART ? left : GA_PART};
}

static double fast_mean(const struct ga_net *net, const void *sums, double divisor, float *gradient)
{
    const struct ga_fast_kernel *kernel = ga_fast_any_kernel();
    const float *const one = sums;
    double total = 0;
    for (size_t at = 0; at < net->parameters; at += GA_PART) {
        const struct ga_part part = part_at(net, at);
        double square = 0;
        kernel->mean(&part, &one, 1, divisor, gradient, &square, NULL);
        total += square;
    }
    return sqrt(total);
}

static void fast_read_sums(const struct ga_net *net, const void *sums, size_t first, size_t count,
                           double *out)
{
    const float *from = sums;
    (void)net;
    for (size_t i = 0; i < count; i++)
        out[i] = (double)from[first + i];
}

static void fast_step(const struct ga_net *net, const struct ga_step *step, const float *gradient,
                      const float *weights, const float *state, float *new_weights,
                      float *new_state)
{
    const struct ga_step_blocks blocks = {gradient, weights, state, new_weights, new_state};
    for (size_t at = 0; at < net->parameters; at += GA_PART) {
        const struct ga_part part = part_at(net, at);
        double squares[2];
        fast_step_part(net, step, &blocks, &part, squares);
    }
}

static size_t fast_burst(struct ga_context *context, const struct ga_burst *burst)
{
    if (context->work.layered || context->net.parameters > GA_PART || burst->batch.count == 0 ||
        ga_cpu_check_batch(&context->net, &burst->batch, true) < 0)
        return 0;
    return context->work.kernel->burst(&context->work, burst);
}

void ga_compute_fast_library(char *out, size_t size)
{
    const struct ga_fast_kernel *kernel = ga_fast_any_kernel();
    char library[64];
    ga_fast_blas_name(library, sizeof library);
    snprintf(out, size,
             kernel->before_blas ? "%s kernels; %s from a million weights a layer"
                                 : "%s kernels, %s",
             kernel->name, library);
}

const struct ga_compute ga_compute_cpu_fast = {
    .name = "cpu",
    .numerics = "fast",
    .sum_type = GA_FLOAT32,
    .sum_count = fast_sum_count,
    .open = fast_open,
    .close = fast_close,
    .context_bytes = fast_context_bytes,
    .alloc = ga_cpu_alloc,
    .free = free,
    .gradient = fast_gradient,
    .evaluate = fast_evaluate,
    .predict = fast_predict,
    .add = fast_add,
    .clear = fast_clear,
    .mean = fast_mean,
    .read_sums = fast_read_sums,
    .step = fast_step,
    .accumulate = fast_accumulate,
    .mean_part = fast_mean_part,
    .step_part = fast_step_part,
    .burst = fast_burst,
};
