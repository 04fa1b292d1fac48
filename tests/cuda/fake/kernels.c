/* The kernels by name: the C form of each one's lines, and which memory it reads and writes. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "compute/cuda/fast_body.h"
#include "compute/cuda/tiny_body.h"
#include "fake.h"

/* A pointer of a kernel's argument: where it stands, and how many bytes behind it are used. */
struct span {
    size_t at; /* in the argument */
    size_t bytes;
    bool write;
};

#define SPANS 12

struct kernel {
    const char *name;
    size_t size; /* of the argument */
    size_t (*spans)(const void *args, struct span out[SPANS]);
    void (*run)(const void *args);
    void (*block)(const void *args, const struct ga_tiny_crew *crew, float *shared); /* or NULL */
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

static size_t tiny_net_spans(const struct ga_tiny_net *net, size_t at, struct span out[SPANS])
{
    const size_t outputs = net->width[net->layers];
    out[0] = SPAN(struct ga_tiny_net, weights, net->floats * 4, false);
    out[1] = SPAN(struct ga_tiny_net, inputs, net->width[0] * net->count * 4, false);
    out[2] = SPAN(struct ga_tiny_net, targets, outputs * net->count * 4, false);
    out[3] = SPAN(struct ga_tiny_net, labels, net->count * 4, false);
    out[4] = SPAN(struct ga_tiny_net, example, net->count * 4, false);
    for (size_t i = 0; i < 5; i++)
        out[i].at += at;
    return 5;
}

static size_t tiny_spans(const void *args, struct span out[SPANS])
{
    const struct ga_k_tiny *k = args;
    size_t count = tiny_net_spans(&k->net, offsetof(struct ga_k_tiny, net), out);
    out[count++] = SPAN(struct ga_k_tiny, sums, k->net.parameters * 4, true);
    out[count++] = SPAN(struct ga_k_tiny, losses, k->net.count * 4, true);
    out[count++] = SPAN(struct ga_k_tiny, correct, k->net.count * 4, true);
    out[count++] = SPAN(struct ga_k_tiny, flags, 4, true);
    return count;
}

static size_t burst_spans(const void *args, struct span out[SPANS])
{
    const struct ga_k_burst *k = args;
    const size_t bytes = k->net.parameters * 4;
    size_t count = tiny_net_spans(&k->net, offsetof(struct ga_k_burst, net), out);
    out[count++] = SPAN(struct ga_k_burst, step, k->steps * sizeof(struct ga_step), false);
    out[count++] = SPAN(struct ga_k_burst, state, k->states * bytes, false);
    out[count++] = SPAN(struct ga_k_burst, new_weights, bytes, true);
    out[count++] = SPAN(struct ga_k_burst, new_state, k->states * bytes, true);
    out[count++] = SPAN(struct ga_k_burst, row, k->updates * GA_TINY_ROW * sizeof(double), true);
    out[count++] = SPAN(struct ga_k_burst, done, 4, true);
    return count;
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

/* ---- kernels of one block: as many helpers as the fake was told ---- */

struct block {
    void (*body)(const void *args, const struct ga_tiny_crew *crew, float *shared);
    const void *args;
    float *shared;
    pthread_barrier_t place;
};

struct helper {
    struct block *block;
    struct ga_tiny_crew crew;
    pthread_t thread;
};

static void meet(void *place)
{
    pthread_barrier_wait(place);
}

static void *help(void *self)
{
    const struct helper *helper = self;
    helper->block->body(helper->block->args, &helper->crew, helper->block->shared);
    return NULL;
}

static struct helper helper_of(struct block *block, uint32_t number, uint32_t count)
{
    return (struct helper){.block = block,
                           .crew = {.thread = number,
                                    .threads = count,
                                    .warp = number,
                                    .warps = count,
                                    .leads = true,
                                    .meet = count > 1 ? meet : NULL,
                                    .place = &block->place}};
}

static void crew_run(struct block *block, uint32_t count)
{
    struct helper helper[FAKE_CREW];
    pthread_barrier_init(&block->place, NULL, count);
    for (uint32_t i = 0; i < count; i++)
        helper[i] = helper_of(block, i, count);
    for (uint32_t i = 1; i < count; i++)
        if (pthread_create(&helper[i].thread, NULL, help, &helper[i]) != 0)
            abort(); /* those that came would wait for ever */
    (void)help(&helper[0]);
    for (uint32_t i = 1; i < count; i++)
        pthread_join(helper[i].thread, NULL);
    pthread_barrier_destroy(&block->place);
}

static void tiny_block(const void *args, const struct ga_tiny_crew *crew, float *shared)
{
    ga_body_tiny(args, crew, shared);
}

static void burst_block(const void *args, const struct ga_tiny_crew *crew, float *shared)
{
    ga_body_burst(args, crew, shared);
}

#define KERNEL(name, type, spans)                                                                  \
    {                                                                                              \
        "ga_kernel_" #name, sizeof(struct type), spans, name##_run, NULL                           \
    }
#define BLOCK(name, type, spans)                                                                   \
    {                                                                                              \
        "ga_kernel_" #name, sizeof(struct type), spans, NULL, name##_block                         \
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
    BLOCK(tiny, ga_k_tiny, tiny_spans),
    BLOCK(burst, ga_k_burst, burst_spans),
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

#define ARGS 1024 /* bytes of the largest argument */
_Static_assert(sizeof(struct ga_k_burst) <= ARGS && sizeof(struct ga_k_tiny) <= ARGS,
               "the largest argument");

struct launch {
    const struct kernel *kernel;
    size_t shared; /* bytes of a block's memory */
    _Alignas(16) char args[ARGS];
};

/* A block's memory is as large as it was asked for, and whatever is used unset shows. */
static cudaError_t run_block(struct fake *fake, const struct launch *launch, const char *args)
{
    struct block block = {.body = launch->kernel->block, .args = args};
    if (launch->shared > (size_t)48 << 10)
        return fake_fault(fake, "%s: %zu bytes for a block: expected at most 48 KiB",
                          launch->kernel->name, launch->shared);
    block.shared = malloc(launch->shared > 0 ? launch->shared : 1);
    if (!block.shared)
        return cudaErrorMemoryAllocation;
    memset(block.shared, 0xff, launch->shared);
    crew_run(&block, (uint32_t)(fake->crew < 1           ? 1
                                : fake->crew < FAKE_CREW ? fake->crew
                                                         : FAKE_CREW));
    free(block.shared);
    return cudaSuccess;
}

static cudaError_t run(struct fake *fake, const struct launch *launch, cudaStream_t stream)
{
    const struct kernel *kernel = launch->kernel;
    _Alignas(16) char copy[ARGS];
    struct span spans[SPANS];
    const size_t count = kernel->spans(launch->args, spans);
    cudaError_t code = fake_begin(fake, stream);
    memcpy(copy, launch->args, kernel->size);
    for (size_t i = 0; code == cudaSuccess && i < count; i++)
        code = open_span(fake, kernel, copy, &spans[i], stream);
    if (code == cudaSuccess && kernel->block)
        return run_block(fake, launch, copy);
    if (code == cudaSuccess)
        kernel->run(copy);
    return code;
}

static cudaError_t run_again(struct fake *fake, const void *data, cudaStream_t stream)
{
    return run(fake, data, stream);
}

cudaError_t fake_run(struct fake *fake, const char *name, const void *args, size_t shared,
                     cudaStream_t stream)
{
    struct launch launch = {.kernel = NULL, .shared = shared};
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
