#include "compute/cuda/exact.h"

#include <cuda_runtime_api.h>

#include "compute/cuda/context.h"
#include "compute/cuda/elements.h"
#include "compute/cuda/exact_launch.h"

static size_t exact_sum_count(const struct ga_net *net)
{
    return 2 * net->parameters;
}

static struct ga_k_forward forward_of(const struct ga_cuda_seat *seat, const struct ga_net *net,
                                      size_t k)
{
    const bool last = k + 1 == net->layers;
    const struct ga_cuda_layout *at = &seat->at;
    return (struct ga_k_forward){
        .threads = net->width[k + 1] * at->count,
        .count = at->count,
        .inputs = net->width[k],
        .weights = ga_cuda_at(seat, at->weight[k]),
        .bias = net->bias ? ga_cuda_at(seat, at->bias[k]) : NULL,
        .in = ga_cuda_at(seat, at->rows[k]),
        .out = ga_cuda_at(seat, at->rows[k + 1]),
        .slopes = at->slopes[k + 1] && !last ? ga_cuda_at(seat, at->slopes[k + 1]) : NULL,
        .activation = last ? GA_ACT_IDENTITY : (int32_t)net->activation,
    };
}

static int run_forward(struct ga_cuda_seat *seat, const struct ga_net *net)
{
    int code = GA_OK;
    for (size_t k = 0; code == GA_OK && net->kind == GA_NET_MLP && k < net->layers; k++) {
        const struct ga_k_forward f = forward_of(seat, net, k);
        code = ga_cuda_check(ga_launch_forward(&f, seat->stream), seat->room.place, "forward");
    }
    return code;
}

static int run_deltas(struct ga_cuda_seat *seat, const struct ga_net *net)
{
    const struct ga_cuda_layout *at = &seat->at;
    int code = GA_OK;
    for (size_t k = net->layers - 1; code == GA_OK && net->kind == GA_NET_MLP && k > 0; k--) {
        const struct ga_k_backward b = {
            .threads = net->width[k] * at->count,
            .count = at->count,
            .units = net->width[k],
            .outputs = net->width[k + 1],
            .weights = ga_cuda_at(seat, at->weight[k]),
            .in = ga_cuda_at(seat, at->deltas[k + 1]),
            .rows = ga_cuda_at(seat, at->rows[k]),
            .slopes = at->slopes[k] ? ga_cuda_at(seat, at->slopes[k]) : NULL,
            .out = ga_cuda_at(seat, at->deltas[k]),
            .activation = (int32_t)net->activation,
        };
        code = ga_cuda_check(ga_launch_backward(&b, seat->stream), seat->room.place, "backward");
    }
    return code;
}

static struct ga_k_sums sums_of(const struct ga_cuda_seat *seat, const struct ga_net *net, size_t k,
                                enum ga_into into, double *sums)
{
    const bool pairs = net->kind == GA_NET_QUADRATIC;
    return (struct ga_k_sums){
        .threads = pairs ? net->width[k] : net->width[k] * net->width[k + 1],
        .count = seat->at.count,
        .inputs = net->width[k],
        .rows = ga_cuda_at(seat, seat->at.rows[k]),
        .deltas = ga_cuda_at(seat, seat->at.deltas[k + 1]),
        .pairs = pairs,
        .add = into == GA_ADD,
        .high = sums + net->weight_at[k],
        .low = sums + net->parameters + net->weight_at[k],
        .flags = ga_cuda_at(seat, seat->at.flags),
    };
}

static int run_sums(struct ga_cuda_seat *seat, const struct ga_net *net, enum ga_into into,
                    void *room)
{
    double *sums = room;
    int code = ga_cuda_check(
        (int)cudaMemsetAsync(ga_cuda_at(seat, seat->at.flags), 0, sizeof(uint32_t), seat->stream),
        seat->room.place, "clearing flags");
    for (size_t k = 0; code == GA_OK && k < net->layers; k++) {
        struct ga_k_sums s = sums_of(seat, net, k, into, sums);
        code = ga_cuda_check(ga_launch_sums(&s, seat->stream), seat->room.place, "gradient sums");
        if (code < 0 || !net->bias)
            continue;
        s.threads = net->width[k + 1];
        s.inputs = 1;
        s.rows = NULL;
        s.high = sums + net->bias_at[k];
        s.low = s.high + net->parameters;
        code = ga_cuda_check(ga_launch_sums(&s, seat->stream), seat->room.place, "bias sums");
    }
    return code;
}

static int run_backward(struct ga_cuda_seat *seat, const struct ga_net *net, enum ga_into into,
                        void *sums)
{
    const int code = run_deltas(seat, net);
    return code == GA_OK ? run_sums(seat, net, into, sums) : code;
}

static const struct ga_cuda_numerics exact = {
    .fast = false,
    .forward = run_forward,
    .backward = run_backward,
    .clear = ga_cuda_clear,
};

/* Room is made on the card where the first sums lie. */
static int exact_open(struct ga_context **out, const struct ga_net *net, size_t max_batch)
{
    (void)max_batch;
    return ga_cuda_context_open(out, net, &exact);
}

static size_t exact_context_bytes(const struct ga_net *net, size_t max_batch)
{
    struct ga_cuda_layout layout;
    ga_cuda_lay_out(&layout, net, false, max_batch);
    return layout.total;
}

const struct ga_compute ga_compute_cuda_exact = {
    .name = "cuda",
    .numerics = "exact",
    .sum_type = GA_FLOAT64,
    .memory = &ga_cuda_memory,
    .sum_count = exact_sum_count,
    .open = exact_open,
    .close = ga_cuda_context_close,
    .context_bytes = exact_context_bytes,
    .alloc = ga_cuda_alloc_first,
    .free = ga_cuda_free,
    .gradient = ga_cuda_context_gradient,
    .evaluate = ga_cuda_context_evaluate,
    .predict = ga_cuda_context_predict,
    .add = ga_cuda_add,
    .clear = ga_cuda_clear,
    .mean = ga_cuda_mean,
    .read_sums = ga_cuda_read_sums,
    .step = ga_cuda_step,
};
