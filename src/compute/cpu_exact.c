/*
 * The exact CPU device: a work area for each context, and the chosen kernel behind the table of
 * compute.h.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "compute/cpu_kernel.h"
#include "compute/cpu_room.h"

struct ga_context {
    struct ga_net net;
    const struct ga_cpu_kernel *kernel;
    struct ga_cpu_work work;
    struct ga_cpu_room room; /* all rows of the work area; whole vectors of examples */
    double *wide;
};

/* Whole vectors of the widest kind, at least one; SIZE_MAX where that overflows. */
static size_t room_examples(size_t count)
{
    if (count > SIZE_MAX - 8)
        return SIZE_MAX;
    return count < 8 ? 8 : (count + 7) / 8 * 8;
}

/* Floats of rows for one example. */
static size_t floats_per_example(const struct ga_net *net)
{
    const size_t slopes = ga_cpu_has_slopes(net) ? 1 : 0;
    size_t count = net->width[0] + net->width[net->layers];
    if (net->kind == GA_NET_MLP)
        count += net->width[net->layers];
    for (size_t k = 1; k < net->layers; k++)
        count += (2 + slopes) * net->width[k];
    return count;
}

/* Ones, and the inputs and deltas of one layer. */
static size_t wide_rows(const struct ga_net *net)
{
    size_t most = 0;
    for (size_t k = 0; k < net->layers; k++) {
        const size_t here = net->width[k] + net->width[k + 1];
        most = here > most ? here : most;
    }
    return most + 1;
}

static size_t wide_bytes(const struct ga_net *net)
{
    return wide_rows(net) * GA_CPU_CHUNK * sizeof(double);
}

/* Cuts the room into the rows that floats_per_example() counted. Where there are no slopes none is
 * read, but the kernels count places in their rows. */
static void lay_out(struct ga_context *context)
{
    const struct ga_net *net = &context->net;
    struct ga_cpu_work *work = &context->work;
    const size_t n = context->room.examples;
    const size_t last = net->layers;
    float *next = context->room.floats;
    work->rows[0] = ga_cpu_room_cut(&next, net->width[0], n);
    for (size_t k = 1; k < last; k++) {
        work->rows[k] = ga_cpu_room_cut(&next, net->width[k], n);
        work->deltas[k] = ga_cpu_room_cut(&next, net->width[k], n);
        work->slopes[k] =
            ga_cpu_has_slopes(net) ? ga_cpu_room_cut(&next, net->width[k], n) : work->rows[k];
    }
    if (net->kind == GA_NET_MLP)
        work->rows[last] = ga_cpu_room_cut(&next, net->width[last], n);
    work->deltas[last] = ga_cpu_room_cut(&next, net->width[last], n);
    work->slopes[last] = work->rows[last];
}

static int make_room(struct ga_context *context, size_t count)
{
    const int code = ga_cpu_room_grow(&context->room, room_examples(count),
                                      floats_per_example(&context->net), count);
    if (code > 0)
        lay_out(context);
    return code < 0 ? code : GA_OK;
}

static void exact_close(struct ga_context *context)
{
    if (context) {
        free(context->room.floats);
        free(context->wide);
    }
    free(context);
}

static int exact_open(struct ga_context **out, const struct ga_net *net, size_t max_batch)
{
    struct ga_context *context = NULL;
    *out = NULL;
    const struct ga_cpu_kernel *kernel = ga_cpu_kernel();
    if (!kernel)
        return ga_error_code();
    context = ga_alloc(1, sizeof *context);
    if (!context)
        return GA_ENOMEM;
    context->net = *net;
    context->kernel = kernel;
    context->wide = ga_alloc_aligned(1, wide_bytes(net));
    context->work.net = &context->net;
    context->work.wide = context->wide;
    context->work.small = net->parameters <= GA_CPU_SMALL;
    if (!context->wide || make_room(context, max_batch) < 0) {
        exact_close(context);
        return GA_ENOMEM;
    }
    for (size_t e = 0; e < GA_CPU_CHUNK; e++)
        context->wide[e] = 1.0;
    *out = context;
    return GA_OK;
}

static size_t exact_context_bytes(const struct ga_net *net, size_t max_batch)
{
    const size_t fixed = sizeof(struct ga_context) + wide_bytes(net);
    return ga_cpu_room_bytes(fixed, room_examples(max_batch), floats_per_example(net));
}

static size_t exact_sum_count(const struct ga_net *net)
{
    return 2 * net->parameters;
}

static int exact_gradient(struct ga_context *context, const float *weights,
                          const struct ga_batch *batch, enum ga_into into, void *sums,
                          struct ga_tally *tally)
{
    int code = ga_cpu_check_batch(&context->net, batch, true);
    if (code == GA_OK && batch->count > context->room.examples)
        code = make_room(context, batch->count);
    if (code == GA_OK)
        context->kernel->gradient(&context->work, weights, batch, into, sums, tally);
    return code;
}

/* Evaluation goes chunk by chunk through the same room. */
static size_t chunk_of(const struct ga_batch *batch)
{
    return batch->count < GA_CPU_CHUNK ? batch->count : GA_CPU_CHUNK;
}

static int exact_evaluate(struct ga_context *context, const float *weights,
                          const struct ga_batch *batch, struct ga_tally *tally)
{
    int code = ga_cpu_check_batch(&context->net, batch, true);
    if (code == GA_OK)
        code = make_room(context, chunk_of(batch));
    if (code == GA_OK)
        context->kernel->evaluate(&context->work, weights, batch, tally);
    return code;
}

static int exact_predict(struct ga_context *context, const float *weights,
                         const struct ga_batch *batch, float *outputs)
{
    if (context->net.kind != GA_NET_MLP)
        return ga_fail(GA_EUNSUPPORTED, "a quadratic has no outputs to predict: expected a net");
    int code = ga_cpu_check_batch(&context->net, batch, false);
    if (code == GA_OK)
        code = make_room(context, chunk_of(batch));
    if (code == GA_OK)
        context->kernel->predict(&context->work, weights, batch, outputs);
    return code;
}

/* For what works without a context; where the choice fails, which opening a context reports, any
 * kernel gives the same bits. */
static inline const struct ga_cpu_kernel *any_kernel(void)
{
    static const struct ga_cpu_kernel *_Atomic known;
    const struct ga_cpu_kernel *kernel = atomic_load_explicit(&known, memory_order_relaxed);
    if (kernel)
        return kernel;
    kernel = ga_cpu_kernel();
    if (kernel)
        atomic_store_explicit(&known, kernel, memory_order_relaxed);
    return kernel ? kernel : &ga_cpu_kernel_baseline;
}

static void exact_add(const struct ga_net *net, void *to, const void *from)
{
    any_kernel()->add(to, from, exact_sum_count(net));
}

static void exact_clear(const struct ga_net *net, void *sums)
{
    memset(sums, 0, exact_sum_count(net) * sizeof(double));
}

static double exact_mean(const struct ga_net *net, const void *sums, double divisor,
                         float *gradient)
{
    const double *high = sums;
    return any_kernel()->mean(high, high + net->parameters, divisor, net->parameters, gradient);
}

static void exact_read_sums(const struct ga_net *net, const void *sums, size_t first, size_t count,
                            double *out)
{
    const double *high = sums;
    const double *low = high + net->parameters;
    for (size_t i = 0; i < count; i++)
        out[i] = high[first + i] + low[first + i];
}

static void exact_step(const struct ga_net *net, const struct ga_step *step, const float *gradient,
                       const float *weights, const float *state, float *new_weights,
                       float *new_state)
{
    any_kernel()->step(step, net->parameters, gradient, weights, state, new_weights, new_state);
}

const struct ga_compute ga_compute_cpu_exact = {
    .name = "cpu",
    .numerics = "exact",
    .sum_type = GA_FLOAT64,
    .sum_count = exact_sum_count,
    .open = exact_open,
    .close = exact_close,
    .context_bytes = exact_context_bytes,
    .alloc = ga_cpu_alloc,
    .free = free,
    .gradient = exact_gradient,
    .evaluate = exact_evaluate,
    .predict = exact_predict,
    .add = exact_add,
    .clear = exact_clear,
    .mean = exact_mean,
    .read_sums = exact_read_sums,
    .step = exact_step,
};
