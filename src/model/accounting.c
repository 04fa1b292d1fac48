#include "model/model.h"

/* The sum, or the largest number where it does not fit. */
static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void ga_model_memory(const struct ga_net *net, const struct ga_compute *compute,
                     size_t optimizer_blocks, size_t batch, struct ga_memory *out)
{
    const uint64_t block = (uint64_t)net->parameters * sizeof(float);
    const uint64_t sums = (uint64_t)compute->sum_count(net) * ga_type_bytes(compute->sum_type);
    out->weights = block;
    out->accumulators = 2 * sums;
    out->optimizer = optimizer_blocks * block;
    out->activations = compute->context_bytes(net, batch);
    out->total = add(add(out->weights, out->accumulators), add(out->optimizer, out->activations));
}
