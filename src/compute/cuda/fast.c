/* The fast device: layers as products of matrices, rows example by example, float32 sums. */
#include <cuda_runtime_api.h>

#include "compute/cuda/context.h"
#include "compute/cuda/elements.h"
#include "compute/cuda/exact.h"
#include "compute/cuda/fast_launch.h"

static size_t fast_sum_count(const struct ga_net *net)
{
    return net->parameters;
}

static int activate(const struct ga_cuda_seat *seat, const struct ga_net *net, size_t k)
{
    const struct ga_k_activate a = {
        .threads = net->width[k] * seat->at.count,
        .rows = ga_cuda_at(seat, seat->at.rows[k]),
        .slopes = seat->at.slopes[k] ? ga_cuda_at(seat, seat->at.slopes[k]) : NULL,
        .activation = (int32_t)net->activation,
    };
    if (net->activation == GA_ACT_IDENTITY)
        return GA_OK;
    return ga_cuda_check(ga_launch_activate(&a, seat->stream), seat->room.place, "activation");
}

/* As columns: rows (units, examples) = weight' (units, inputs) times rows below (inputs, examples),
 * the bias to each. */
static struct ga_cuda_product rows_of(const struct ga_cuda_seat *seat, const struct ga_net *net,
                                      size_t k)
{
    const struct ga_cuda_layout *at = &seat->at;
    return (struct ga_cuda_product){
        .m = net->width[k + 1],
        .n = at->count,
        .k = net->width[k],
        .transpose_a = true,
        .a = ga_cuda_at(seat, at->weight[k]),
        .b = ga_cuda_at(seat, at->rows[k]),
        .epilogue = net->bias ? GA_CUDA_BIAS : GA_CUDA_PLAIN,
        .bias = net->bias ? ga_cuda_at(seat, at->bias[k]) : NULL,
        .out = ga_cuda_at(seat, at->rows[k + 1]),
    };
}

/* With relu as part of the product, if cuBLASLt knows how; a hidden layer's. */
static bool fuse_rows(struct ga_cuda_seat *seat, size_t k, struct ga_cuda_product *p)
{
    struct ga_cuda_product fused = *p;
    fused.epilogue = GA_CUDA_RELU;
    fused.mask = ga_cuda_at(seat, seat->at.masks[k + 1]);
    if (!ga_cuda_gemm_knows(seat->gemm, &fused))
        return false;
    *p = fused;
    return true;
}

/*
 * A fused relu may make 0 of a NaN. One from the inputs is still in the sums of the first layer, as
 * 0 times NaN; weights are looked at here. What is left is a sum that overflows both ways.
 */
static int check_weights(const struct ga_cuda_seat *seat)
{
    const struct ga_k_finite k = {
        .threads = seat->at.inputs / sizeof(float),
        .values = ga_cuda_at(seat, 0),
        .flags = ga_cuda_at(seat, seat->at.flags),
    };
    return ga_cuda_check(ga_launch_finite(&k, seat->stream), seat->room.place,
                         "looking at weights");
}

static int fast_forward(struct ga_cuda_seat *seat, const struct ga_net *net)
{
    const bool relu = seat->fuses && net->kind == GA_NET_MLP && net->activation == GA_ACT_RELU;
    int code = ga_cuda_check(
        (int)cudaMemsetAsync(ga_cuda_at(seat, seat->at.flags), 0, sizeof(uint32_t), seat->stream),
        seat->room.place, "clearing flags");
    if (code == GA_OK && relu)
        code = check_weights(seat);
    for (size_t k = 0; code == GA_OK && net->kind == GA_NET_MLP && k < net->layers; k++) {
        const bool hidden = k + 1 < net->layers;
        struct ga_cuda_product p = rows_of(seat, net, k);
        seat->fused[k + 1] = hidden && relu && fuse_rows(seat, k, &p);
        code = ga_cuda_gemm_run(seat->gemm, &p, seat->stream);
        if (code == GA_OK && hidden && !seat->fused[k + 1])
            code = activate(seat, net, k + 1);
    }
    return code;
}

static int times_slope(const struct ga_cuda_seat *seat, const struct ga_net *net, size_t k)
{
    const struct ga_k_slope s = {
        .threads = net->width[k] * seat->at.count,
        .deltas = ga_cuda_at(seat, seat->at.deltas[k]),
        .rows = ga_cuda_at(seat, seat->at.rows[k]),
        .slopes = seat->at.slopes[k] ? ga_cuda_at(seat, seat->at.slopes[k]) : NULL,
        .activation = (int32_t)net->activation,
    };
    if (net->activation == GA_ACT_IDENTITY)
        return GA_OK;
    return ga_cuda_check(ga_launch_slope(&s, seat->stream), seat->room.place, "slopes");
}

/* A bias's sums, or with rows those of a bowl's coordinates. */
static int columns(const struct ga_cuda_seat *seat, size_t units, const float *rows, size_t deltas,
                   enum ga_into into, float *sums)
{
    const struct ga_k_columns c = {
        .threads = units,
        .count = seat->at.count,
        .rows = rows,
        .deltas = ga_cuda_at(seat, deltas),
        .sums = sums,
        .add = into == GA_ADD,
    };
    return ga_cuda_check(ga_launch_columns(&c, seat->stream), seat->room.place, "sums of columns");
}

/* What a fused product left of a layer's bias gradient. */
static int put_bias(const struct ga_cuda_seat *seat, size_t units, enum ga_into into, float *sums)
{
    const struct ga_k_put p = {
        .threads = units,
        .values = ga_cuda_at(seat, seat->at.row_sums),
        .sums = sums,
        .add = into == GA_ADD,
    };
    return ga_cuda_check(ga_launch_put(&p, seat->stream), seat->room.place, "bias sums");
}

/* Sums (inputs, units) = or += rows (inputs, examples) times deltas' (examples, units). */
static int layer_sums(struct ga_cuda_seat *seat, const struct ga_net *net, size_t k,
                      enum ga_into into, float *sums)
{
    const struct ga_cuda_layout *at = &seat->at;
    const struct ga_cuda_product p = {
        .m = net->width[k],
        .n = net->width[k + 1],
        .k = at->count,
        .transpose_b = true,
        .a = ga_cuda_at(seat, at->rows[k]),
        .b = ga_cuda_at(seat, at->deltas[k + 1]),
        .add = into == GA_ADD,
        .out = sums + net->weight_at[k],
    };
    const int code = ga_cuda_gemm_run(seat->gemm, &p, seat->stream);
    if (code < 0 || !net->bias)
        return code;
    if (k + 1 < net->layers && seat->fused[k + 1])
        return put_bias(seat, net->width[k + 1], into, sums + net->bias_at[k]);
    return columns(seat, net->width[k + 1], NULL, at->deltas[k + 1], into, sums + net->bias_at[k]);
}

/*
 * Deltas (units, examples) = weight above (units, outputs) times deltas above (outputs, examples).
 * Where the layer's relu was fused, its mask and the sums for its bias are part of the product.
 */
static int layer_deltas(struct ga_cuda_seat *seat, const struct ga_net *net, size_t k)
{
    const struct ga_cuda_layout *at = &seat->at;
    struct ga_cuda_product p = {
        .m = net->width[k],
        .n = at->count,
        .k = net->width[k + 1],
        .a = ga_cuda_at(seat, at->weight[k]),
        .b = ga_cuda_at(seat, at->deltas[k + 1]),
        .out = ga_cuda_at(seat, at->deltas[k]),
    };
    struct ga_cuda_product fused = p;
    fused.epilogue = GA_CUDA_UNRELU;
    fused.mask = ga_cuda_at(seat, at->masks[k]);
    fused.row_sums = net->bias ? ga_cuda_at(seat, at->row_sums) : NULL;
    seat->fused[k] = seat->fused[k] && ga_cuda_gemm_knows(seat->gemm, &fused);
    if (seat->fused[k])
        return ga_cuda_gemm_run(seat->gemm, &fused, seat->stream);
    const int code = ga_cuda_gemm_run(seat->gemm, &p, seat->stream);
    return code == GA_OK ? times_slope(seat, net, k) : code;
}

/* From the last layer down: a layer's sums come before the next product overwrites its row sums. */
static int fast_backward(struct ga_cuda_seat *seat, const struct ga_net *net, enum ga_into into,
                         void *room)
{
    int code = GA_OK;
    if (net->kind == GA_NET_QUADRATIC)
        return columns(seat, net->width[1], ga_cuda_at(seat, seat->at.inputs), seat->at.deltas[1],
                       into, room);
    for (size_t k = net->layers; code == GA_OK && k-- > 0;) {
        code = layer_sums(seat, net, k, into, room);
        if (code == GA_OK)
            code = ga_cuda_marks_layer(&seat->marks, net, k, seat->stream, seat->room.place);
        if (code == GA_OK && k > 0)
            code = layer_deltas(seat, net, k);
    }
    return code;
}

static const struct ga_cuda_numerics fast = {
    .fast = true,
    .forward = fast_forward,
    .backward = fast_backward,
    .clear = ga_cuda_clear_float,
};

/* Room is made on the card where the first sums lie. */
static int fast_open(struct ga_context **out, const struct ga_net *net, size_t max_batch)
{
    (void)max_batch;
    return ga_cuda_context_open(out, net, &fast);
}

static size_t fast_context_bytes(const struct ga_net *net, size_t max_batch)
{
    struct ga_cuda_layout layout;
    size_t bytes = 0;
    ga_cuda_lay_out(&layout, net, true, max_batch);
    return __builtin_add_overflow(layout.total, GA_CUDA_GEMM_BYTES, &bytes) ? SIZE_MAX : bytes;
}

const struct ga_compute ga_compute_cuda_fast = {
    .name = "cuda",
    .numerics = "fast",
    .sum_type = GA_FLOAT32,
    .memory = &ga_cuda_memory,
    .sum_count = fast_sum_count,
    .open = fast_open,
    .close = ga_cuda_context_close,
    .context_bytes = fast_context_bytes,
    .alloc = ga_cuda_alloc_first,
    .free = ga_cuda_free,
    .gradient = ga_cuda_context_gradient,
    .gradient_in_parts = ga_cuda_context_gradient_in_parts,
    .evaluate = ga_cuda_context_evaluate,
    .predict = ga_cuda_context_predict,
    .add = ga_cuda_add_float,
    .clear = ga_cuda_clear_float,
    .mean = ga_cuda_mean_float,
    .read_sums = ga_cuda_read_sums_float,
    .step = ga_cuda_step,
    .burst = ga_cuda_context_burst,
};
