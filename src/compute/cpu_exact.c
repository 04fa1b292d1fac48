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

struct ga_context {
    struct ga_net net;
    const struct ga_cpu_kernel *kernel;
    struct ga_cpu_work work;
    float *room;     /* all rows of the work area */
    size_t examples; /* that it holds, whole vectors */
    double *wide;
};

/* Whole vectors of the widest kind, at least one; SIZE_MAX where that overflows. */
static size_t room_examples(size_t count)
{
    if (count > SIZE_MAX - 8)
        return SIZE_MAX;
    return count < 8 ? 8 : (count + 7) / 8 * 8;
}

/* Of the activations only gelu's slope does not follow from its output. */
static bool has_slopes(const struct ga_net *net)
{
    return net->activation == GA_ACT_GELU;
}

/* Floats of rows for one example. */
static size_t floats_per_example(const struct ga_net *net)
{
    const size_t slopes = has_slopes(net) ? 1 : 0;
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

static float *carve(float **next, size_t width, size_t examples)
{
    float *rows = *next;
    *next += width * examples;
    return rows;
}

/* Cuts the room into the rows that floats_per_example() counted. Where there are no slopes none is
 * read, but the kernels count places in their rows. */
static void lay_out(struct ga_context *context)
{
    const struct ga_net *net = &context->net;
    struct ga_cpu_work *work = &context->work;
    const size_t n = context->examples;
    const size_t last = net->layers;
    float *next = context->room;
    work->rows[0] = carve(&next, net->width[0], n);
    for (size_t k = 1; k < last; k++) {
        work->rows[k] = carve(&next, net->width[k], n);
        work->deltas[k] = carve(&next, net->width[k], n);
        work->slopes[k] = has_slopes(net) ? carve(&next, net->width[k], n) : work->rows[k];
    }
    if (net->kind == GA_NET_MLP)
        work->rows[last] = carve(&next, net->width[last], n);
    work->deltas[last] = carve(&next, net->width[last], n);
    work->slopes[last] = work->rows[last];
}

static int make_room(struct ga_context *context, size_t count)
{
    const size_t examples = room_examples(count);
    if (examples <= context->examples)
        return GA_OK;
    float *room = ga_alloc_aligned(examples, floats_per_example(&context->net) * sizeof(float));
    if (!room)
        return ga_fail_within("room for a micro-batch of %zu examples", count);
    free(context->room);
    context->room = room;
    context->examples = examples;
    lay_out(context);
    return GA_OK;
}

static void exact_close(struct ga_context *context)
{
    if (context) {
        free(context->room);
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
    const size_t each = floats_per_example(net) * sizeof(float);
    const size_t fixed = sizeof(struct ga_context) + wide_bytes(net);
    const size_t examples = room_examples(max_batch);
    if (examples > (SIZE_MAX - fixed) / each)
        return SIZE_MAX;
    return fixed + examples * each;
}

static size_t exact_sum_count(const struct ga_net *net)
{
    return 2 * net->parameters;
}

static void *exact_alloc(size_t bytes)
{
    return ga_alloc_aligned(bytes ? bytes : 1, 1);
}

static int check_batch(const struct ga_net *net, const struct ga_batch *batch, bool compared)
{
    const bool xent = net->kind == GA_NET_MLP && net->loss == GA_LOSS_XENT;
    if (!batch->inputs)
        return ga_fail(GA_EINTERNAL, "a batch without inputs: expected a table of them");
    if (!batch->index && (batch->first > UINT32_MAX || batch->count > UINT32_MAX - batch->first))
        return ga_fail(GA_EINTERNAL, "a batch beyond row %u of its table", UINT32_MAX);
    if (compared && xent && !batch->labels)
        return ga_fail(GA_EINTERNAL, "a batch without labels: xent expects class numbers");
    if (compared && !xent && !batch->targets)
        return ga_fail(GA_EINTERNAL, "a batch without targets: expected a table of them");
    return GA_OK;
}

static int exact_gradient(struct ga_context *context, const float *weights,
                          const struct ga_batch *batch, enum ga_into into, void *sums,
                          struct ga_tally *tally)
{
    int code = check_batch(&context->net, batch, true);
    if (code == GA_OK && batch->count > context->examples)
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
    int code = check_batch(&context->net, batch, true);
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
    int code = check_batch(&context->net, batch, false);
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
    .alloc = exact_alloc,
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
