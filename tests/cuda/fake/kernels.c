/* The kernels by name: the C form of each one's lines, and which memory it reads and writes. */
#include <string.h>

#include "compute/cuda/fast_body.h"
#include "fake.h"

/* A pointer of a kernel's argument: where it stands, and how many bytes behind it are used. */
struct span {
    size_t at; /* in the argument */
    size_t bytes;
    bool write;
};

#define SPANS 8

struct kernel {
    const char *name;
    size_t size; /* of the argument */
    size_t (*spans)(const void *args, struct span out[SPANS]);
    void (*run)(const void *args);
};

#define SPAN(type, member, bytes, write) ((struct span){offsetof(type, member), (bytes), (write)})

static size_t forward_spans(const void *args, struct span out[SPANS])
{
    const struct ga_k_forward *k = args;
    const size_t units = k->count ? k->threads / k->count : 0;
    out[0] = SPAN(struct ga_k_forward, weights, units * k->inputs * 4, false);
    out[1] = SPAN(struct ga_k_forward, bias, units * 4, false);
    out[2] = SPAN(struct ga_k_forward, in, k->inputs * k->count * 4, false);
    out[3] = SPAN(struct ga_k_forward, out, k->threads * 4, true);
    out[4] = SPAN(struct ga_k_forward, slopes, k->threads * 4, true);
    return 5;
}

static size_t backward_spans(const void *args, struct span out[SPANS])
{
    const struct ga_k_backward *k = args;
    out[0] = SPAN(struct ga_k_backward, weights, k->units * k->outputs * 4, false);
    out[1] = SPAN(struct ga_k_backward, in, k->outputs * k->count * 4, false);
    out[2] = SPAN(struct ga_k_backward, rows, k->threads * 4, false);
    out[3] = SPAN(struct ga_k_backward, slopes, k->threads * 4, false);
    out[4] = SPAN(struct ga_k_backward, out, k->threads * 4, true);
    return 5;
}

static size_t loss_spans(const void *args, struct span out[SPANS])
{
    const struct ga_k_loss *k = args;
    const size_t values = k->outputs * k->threads * 4;
    out[0] = SPAN(struct ga_k_loss, values, values, false);
    out[1] = SPAN(struct ga_k_loss, targets, values, false);
    out[2] = SPAN(struct ga_k_loss, labels, k->threads * 4, false);
    out[3] = SPAN(struct ga_k_loss, example, k->threads * 4, false);
    out[4] = SPAN(struct ga_k_loss, weights, 4, false);
    out[5] = SPAN(struct ga_k_loss, deltas, values, true);
    out[6] = SPAN(struct ga_k_loss, losses, k->threads * 4, true);
    out[7] = SPAN(struct ga_k_loss, correct, k->threads * 4, true);
    return 8;
}

static size_t sums_spans(const void *args, struct span out[SPANS])
{
    const struct ga_k_sums *k = args;
    const size_t outputs = k->pairs ? k->inputs : k->threads / k->inputs;
    out[0] = SPAN(struct ga_k_sums, rows, k->inputs * k->count * 4, false);
    out[1] = SPAN(struct ga_k_sums, deltas, outputs * k->count * 4, false);
    out[2] = SPAN(struct ga_k_sums, high, k->threads * 8, true);
    out[3] = SPAN(struct ga_k_sums, low, k->threads * 8, true);
    out[4] = SPAN(struct ga_k_sums, flags, 4, true);
    return 5;
}

static size_t add_spans(const void *args, struct span out[SPANS])
{
    const struct ga_k_add *k = args;
    out[0] = SPAN(struct ga_k_add, to, k->threads * 8, true);
    out[1] = SPAN(struct ga_k_add, from, k->threads * 8, false);
    return 2;
}

static size_t add_float_spans(const void *args, struct span out[SPANS])
{
    const struct ga_k_add_float *k = args;
    out[0] = SPAN(struct ga_k_add_float, to, k->threads * 4, true);
    out[1] = SPAN(struct ga_k_add_float, from, k->threads * 4, false);
    return 2;
}

static size_t mean_spans(const void *args, struct span out[SPANS])
{
    const struct ga_k_mean *k = args;
    out[0] = SPAN(struct ga_k_mean, high, k->parameters * 8, false);
    out[1] = SPAN(struct ga_k_mean, low, k->parameters * 8, false);
    out[2] = SPAN(struct ga_k_mean, gradient, k->parameters * 4, true);
    out[3] = SPAN(struct ga_k_mean, squares, k->threads * 8, true);
    return 4;
}

static size_t measure_spans(const void *args, struct span out[SPANS])
{
    const struct ga_k_measure *k = args;
    out[0] = SPAN(struct ga_k_measure, a, k->count * 4, false);
    out[1] = SPAN(struct ga_k_measure, b, k->count * 4, false);
    out[2] = SPAN(struct ga_k_measure, sums, k->threads * 8, true);
    return 3;
}

static size_t step_spans(const void *args, struct span out[SPANS])
{
    const struct ga_k_step *k = args;
    const size_t bytes = k->threads * 4;
    out[0] = SPAN(struct ga_k_step, gradient, bytes, false);
    out[1] = SPAN(struct ga_k_step, weights, bytes, false);
    out[2] = SPAN(struct ga_k_step, first, bytes, false);
    out[3] = SPAN(struct ga_k_step, second, bytes, false);
    out[4] = SPAN(struct ga_k_step, new_weights, bytes, true);
    out[5] = SPAN(struct ga_k_step, new_first, bytes, true);
    out[6] = SPAN(struct ga_k_step, new_second, bytes, true);
    return 7;
}

static size_t activate_spans(const void *args, struct span out[SPANS])
{
    const struct ga_k_activate *k = args;
    out[0] = SPAN(struct ga_k_activate, rows, k->threads * 4, true);
    out[1] = SPAN(struct ga_k_activate, slopes, k->threads * 4, true);
    return 2;
}

static size_t slope_spans(const void *args, struct span out[SPANS])
{
    const struct ga_k_slope *k = args;
    out[0] = SPAN(struct ga_k_slope, deltas, k->threads * 4, true);
    out[1] = SPAN(struct ga_k_slope, rows, k->threads * 4, false);
    out[2] = SPAN(struct ga_k_slope, slopes, k->threads * 4, false);
    return 3;
}

static size_t finite_spans(const void *args, struct span out[SPANS])
{
    const struct ga_k_finite *k = args;
    out[0] = SPAN(struct ga_k_finite, values, k->threads * 4, false);
    out[1] = SPAN(struct ga_k_finite, flags, 4, true);
    return 2;
}

static size_t put_spans(const void *args, struct span out[SPANS])
{
    const struct ga_k_put *k = args;
    out[0] = SPAN(struct ga_k_put, values, k->threads * 4, false);
    out[1] = SPAN(struct ga_k_put, sums, k->threads * 4, true);
    return 2;
}

static size_t columns_spans(const void *args, struct span out[SPANS])
{
    const struct ga_k_columns *k = args;
    out[0] = SPAN(struct ga_k_columns, rows, k->threads * k->count * 4, false);
    out[1] = SPAN(struct ga_k_columns, deltas, k->threads * k->count * 4, false);
    out[2] = SPAN(struct ga_k_columns, sums, k->threads * 4, true);
    return 3;
}

static size_t mean_float_spans(const void *args, struct span out[SPANS])
{
    const struct ga_k_mean_float *k = args;
    out[0] = SPAN(struct ga_k_mean_float, sums, k->parameters * 4, false);
    out[1] = SPAN(struct ga_k_mean_float, gradient, k->parameters * 4, true);
    out[2] = SPAN(struct ga_k_mean_float, squares, k->threads * 8, true);
    return 3;
}

#define RUN(name, type)                                                                            \
    static void name##_run(const void *args)                                                       \
    {                                                                                              \
        const struct type *k = args;                                                               \
        for (size_t thread = 0; thread < k->threads; thread++)                                     \
            ga_body_##name(k, thread);                                                             \
    }

RUN(forward, ga_k_forward)
RUN(backward, ga_k_backward)
RUN(mse, ga_k_loss)
RUN(xent, ga_k_loss)
RUN(quadratic, ga_k_loss)
RUN(add, ga_k_add)
RUN(add_float, ga_k_add_float)
RUN(mean, ga_k_mean)
RUN(measure, ga_k_measure)
RUN(step, ga_k_step)

RUN(slope, ga_k_slope)
RUN(columns, ga_k_columns)
RUN(put, ga_k_put)
RUN(mean_float, ga_k_mean_float)

static void activate_run(const void *args)
{
    const struct ga_k_activate *k = args;
    for (size_t thread = 0; thread < k->threads; thread++)
        ga_body_activate_row(k, thread);
}

static void finite_run(const void *args)
{
    const struct ga_k_finite *k = args;
    for (size_t thread = 0; thread < k->threads; thread++)
        *k->flags |= ga_body_finite(k, thread);
}

static void sums_run(const void *args)
{
    const struct ga_k_sums *k = args;
    for (size_t patch = 0; patch < ga_body_patches(k); patch++) {
        double high[GA_BODY_PATCH] = {0};
        double low[GA_BODY_PATCH] = {0};
        for (size_t lane = GA_BODY_LANES; lane-- > 0;) {
            double own_high[GA_BODY_PATCH];
            double own_low[GA_BODY_PATCH];
            *k->flags |= ga_body_sums(k, patch, lane, own_high, own_low);
            for (size_t s = 0; s < GA_BODY_PATCH; s++) {
                high[s] += own_high[s];
                low[s] += own_low[s];
            }
        }
        ga_body_put_sums(k, patch, high, low);
    }
}

#define KERNEL(name, type, spans)                                                                  \
    {                                                                                              \
        "ga_kernel_" #name, sizeof(struct type), spans, name##_run                                 \
    }

static const struct kernel kernels[] = {
    KERNEL(forward, ga_k_forward, forward_spans),
    KERNEL(backward, ga_k_backward, backward_spans),
    KERNEL(mse, ga_k_loss, loss_spans),
    KERNEL(xent, ga_k_loss, loss_spans),
    KERNEL(quadratic, ga_k_loss, loss_spans),
    KERNEL(sums, ga_k_sums, sums_spans),
    KERNEL(add, ga_k_add, add_spans),
    KERNEL(add_float, ga_k_add_float, add_float_spans),
    KERNEL(mean, ga_k_mean, mean_spans),
    KERNEL(measure, ga_k_measure, measure_spans),
    KERNEL(step, ga_k_step, step_spans),
    KERNEL(activate, ga_k_activate, activate_spans),
    KERNEL(slope, ga_k_slope, slope_spans),
    KERNEL(finite, ga_k_finite, finite_spans),
    KERNEL(put, ga_k_put, put_spans),
    KERNEL(columns, ga_k_columns, columns_spans),
    KERNEL(mean_float, ga_k_mean_float, mean_float_spans),
};

/* The pointer in the copied argument is checked, and replaced by where the memory really is. */
static cudaError_t open_span(struct fake *fake, const struct kernel *kernel, char *args,
                             const struct span *span, cudaStream_t stream)
{
    void *pointer = NULL;
    size_t offset = 0;
    struct fake_block *block = NULL;
    memcpy(&pointer, args + span->at, sizeof pointer);
    if (!pointer || span->bytes == 0)
        return cudaSuccess;
    block = fake_find(fake, pointer, span->bytes, &offset);
    if (!block)
        return fake_fault(fake,
                          "%s: %zu bytes at byte %zu of its argument are no memory of a device",
                          kernel->name, span->bytes, span->at);
    if (block->device != stream->device)
        return fake_fault(fake, "%s on device %d takes memory of device %d", kernel->name,
                          stream->device, block->device);
    pointer = block->real + offset;
    memcpy(args + span->at, &pointer, sizeof pointer);
    return fake_touch(fake, stream, block, offset, span->bytes, span->write, kernel->name);
}

static cudaError_t run(struct fake *fake, const struct kernel *kernel, const void *args,
                       cudaStream_t stream)
{
    _Alignas(16) char copy[512];
    struct span spans[SPANS];
    const size_t count = kernel->spans(args, spans);
    cudaError_t code = fake_begin(fake, stream);
    memcpy(copy, args, kernel->size);
    for (size_t i = 0; code == cudaSuccess && i < count; i++)
        code = open_span(fake, kernel, copy, &spans[i], stream);
    if (code == cudaSuccess)
        kernel->run(copy);
    return code;
}

struct launch {
    const struct kernel *kernel;
    _Alignas(16) char args[512];
};

static cudaError_t run_again(struct fake *fake, const void *data, cudaStream_t stream)
{
    const struct launch *launch = data;
    return run(fake, launch->kernel, launch->args, stream);
}

cudaError_t fake_run(struct fake *fake, const char *name, const void *args, cudaStream_t stream)
{
    struct launch launch = {.kernel = NULL};
    cudaError_t code = cudaSuccess;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (strcmp(kernels[i].name, name) == 0)
            launch.kernel = &kernels[i];
    if (!launch.kernel)
        return fake_fault(fake, "no kernel %s: expected one of the module's", name);
    memcpy(launch.args, args, launch.kernel->size);
    if (!fake_note(stream, run_again, &launch, sizeof launch, &code))
        code = run_again(fake, &launch, stream);
    return code;
}
