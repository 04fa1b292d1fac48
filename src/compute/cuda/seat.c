#include "compute/cuda/seat.h"

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <string.h>

/* So few weights go up with the batch in one copy sooner than between places of a card. */
#define FEW 4096

/* `rows` times `columns` values of 4 bytes from *next on; SIZE_MAX stays. */
static size_t carve(size_t *next, size_t rows, size_t columns)
{
    const size_t start = *next;
    size_t bytes = 0;
    if (__builtin_mul_overflow(rows, columns, &bytes) ||
        __builtin_mul_overflow(bytes, sizeof(float), &bytes) ||
        __builtin_add_overflow(bytes, (size_t)255, &bytes) ||
        __builtin_add_overflow(start, bytes / 256 * 256, next))
        *next = SIZE_MAX;
    return start;
}

static void lay_out_masks(struct ga_cuda_layout *l, const struct ga_net *net, size_t *next)
{
    size_t widest = 0;
    for (size_t k = 1; k < net->layers; k++) {
        l->masks[k] = carve(next, ga_cuda_mask_bits(net->width[k]) / 32, l->count);
        widest = widest > net->width[k] ? widest : net->width[k];
    }
    l->row_sums = carve(next, widest, 1);
}

static void lay_out_layers(struct ga_cuda_layout *l, const struct ga_net *net, size_t *next)
{
    const bool mlp = net->kind == GA_NET_MLP;
    l->rows[0] = l->inputs;
    for (size_t k = 1; k <= net->layers; k++) {
        const bool slopes = net->activation == GA_ACT_GELU && k < net->layers;
        if (mlp && k < net->layers)
            l->rows[k] = carve(next, net->width[k], l->count);
        l->slopes[k] = slopes ? carve(next, net->width[k], l->count) : 0;
        l->deltas[k] = carve(next, net->width[k], l->count);
    }
    if (l->fast && mlp && net->activation == GA_ACT_RELU)
        lay_out_masks(l, net, next);
}

/* The net's own block, or one tensor after another, each where a card's widest loads may start. */
static void lay_out_weights(struct ga_cuda_layout *l, const struct ga_net *net, size_t *next)
{
    const bool bowl = net->kind == GA_NET_QUADRATIC;
    const size_t block = l->fast ? 0 : carve(next, net->parameters, 1);
    for (size_t k = 0; k < net->layers; k++) {
        l->weight[k] = block + net->weight_at[k] * sizeof(float);
        l->bias[k] = block + net->bias_at[k] * sizeof(float);
        if (l->fast) {
            l->weight[k] = carve(next, net->width[k + 1], bowl ? 1 : net->width[k]);
            l->bias[k] = net->bias ? carve(next, net->width[k + 1], 1) : 0;
        }
    }
}

void ga_cuda_lay_out(struct ga_cuda_layout *out, const struct ga_net *net, bool fast, size_t count)
{
    const size_t outputs = net->width[net->layers];
    size_t next = 0;
    *out = (struct ga_cuda_layout){.count = count, .fast = fast};
    lay_out_weights(out, net, &next);
    out->inputs = carve(&next, net->width[0], count);
    out->targets = carve(&next, outputs, count);
    out->example = carve(&next, 1, count);
    out->up = next;
    lay_out_layers(out, net, &next);
    out->losses = carve(&next, 1, count);
    out->correct = carve(&next, 1, count);
    out->flags = carve(&next, 1, 1);
    if (net->kind == GA_NET_MLP)
        out->rows[net->layers] = carve(&next, outputs, count);
    out->down = next == SIZE_MAX ? 0 : next - out->losses;
    out->total = next;
}

/* How many examples a card's free memory takes, so that the refusal can say it. */
static size_t most_examples(const struct ga_net *net, bool fast, size_t bytes)
{
    struct ga_cuda_layout layout;
    size_t low = 0;
    size_t high = (size_t)1 << 32;
    while (low + 1 < high) {
        const size_t middle = low + (high - low) / 2;
        ga_cuda_lay_out(&layout, net, fast, middle);
        if (layout.total <= bytes)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int check_room(const struct ga_cuda_seat *seat, const struct ga_net *net, size_t place,
                      const struct ga_cuda_layout *layout)
{
    size_t available = 0;
    size_t total = 0;
    if (layout->total <= seat->room.device_bytes)
        return GA_OK;
    if (ga_cuda_check((int)cudaMemGetInfo(&available, &total), place, "asking for its memory") < 0)
        return ga_cuda_host()->error_code();
    if (layout->total > available) {
        ga_cuda_give_way(layout->total, place);
        (void)cudaMemGetInfo(&available, &total);
    }
    if (layout->total <= available)
        return GA_OK;
    return ga_cuda_host()->fail(GA_ENOMEM,
                                "cuda:%zu: a micro-batch of %zu examples needs %zu bytes and %zu "
                                "of %zu are free: expected at most %zu examples",
                                place, layout->count, layout->total, available, total,
                                most_examples(net, layout->fast, available));
}

/* Weights are checked with the gaps between them, so those are 0. */
static int make_room(struct ga_cuda_seat *seat, const struct ga_cuda_layout *layout)
{
    const struct ga_cuda_room *room = &seat->room;
    const size_t up = layout->up + layout->down;
    const bool grows = layout->total > room->device_bytes || up > room->host_bytes;
    if (grows)
        seat->serial = 0;
    if (ga_cuda_room_grow(&seat->room, layout->total, up) < 0)
        return ga_cuda_host()->error_code();
    if (!grows)
        return GA_OK;
    memset(room->host, 0, layout->inputs);
    return ga_cuda_check((int)cudaMemsetAsync(room->device, 0, layout->inputs, seat->stream),
                         room->place, "clearing room for weights");
}

int ga_cuda_seat_take(struct ga_cuda_seat *seat, const struct ga_net *net, bool fast, size_t place,
                      size_t count)
{
    struct ga_cuda_layout layout;
    ga_cuda_lay_out(&layout, net, fast, count);
    seat->room.place = place;
    seat->room.use = seat->burst.use = GA_USE_BATCHES;
    if (ga_cuda_use(place) < 0 || check_room(seat, net, place, &layout) < 0)
        return ga_cuda_host()->error_code();
    if (!seat->stream &&
        ga_cuda_check((int)cudaStreamCreateWithFlags(&seat->stream, cudaStreamNonBlocking), place,
                      "opening a stream") < 0)
        return ga_cuda_host()->error_code();
    if (make_room(seat, &layout) < 0)
        return ga_cuda_host()->fail_within("room for a micro-batch of %zu examples", count);
    seat->at = layout;
    if (fast && net->kind == GA_NET_MLP && !seat->gemm)
        return ga_cuda_gemm_open(&seat->gemm, place);
    return GA_OK;
}

void ga_cuda_seat_fini(struct ga_cuda_seat *seat)
{
    if (!seat->stream)
        return;
    ga_cuda_graphs_close(seat->graphs, seat->room.place);
    seat->graphs = NULL;
    ga_cuda_marks_fini(&seat->marks, seat->room.place);
    ga_cuda_stopwatch_fini(&seat->stopwatch, seat->room.place);
    ga_cuda_stream_close(seat->stream, seat->room.place);
    seat->stream = NULL;
    seat->serial = 0;
    ga_cuda_gemm_close(seat->gemm);
    seat->gemm = NULL;
    ga_cuda_room_fini(&seat->room);
    ga_cuda_room_fini(&seat->burst);
}

static size_t row_of(const struct ga_batch *batch, size_t e)
{
    return batch->index ? batch->index[e] : batch->first + e;
}

static void gather(float *to, const struct ga_batch *batch, const float *table, size_t width,
                   bool columns)
{
    const size_t count = batch->count;
    for (size_t e = 0; e < count; e++) {
        const float *row = table + row_of(batch, e) * width;
        for (size_t i = 0; i < width; i++)
            to[columns ? i * count + e : e * width + i] = row[i];
    }
}

static void gather_labels(int32_t *to, const struct ga_batch *batch)
{
    for (size_t e = 0; e < batch->count; e++)
        to[e] = batch->labels[row_of(batch, e)];
}

/* One tensor of the net after another, to where the layout has it. */
static int
for_each_tensor(struct ga_cuda_seat *seat, const struct ga_net *net, const float *weights,
                int (*move)(struct ga_cuda_seat *seat, size_t to, const float *from, size_t count))
{
    int code = GA_OK;
    for (size_t k = 0; code == GA_OK && k < net->layers; k++) {
        const size_t units = net->width[k + 1];
        const size_t values = net->kind == GA_NET_QUADRATIC ? units : units * net->width[k];
        code = move(seat, seat->at.weight[k], weights + net->weight_at[k], values);
        if (code == GA_OK && net->bias)
            code = move(seat, seat->at.bias[k], weights + net->bias_at[k], units);
    }
    return code;
}

static int stage(struct ga_cuda_seat *seat, size_t to, const float *from, size_t count)
{
    memcpy((char *)seat->room.host + to, from, count * sizeof *from);
    return GA_OK;
}

static int copy_over(struct ga_cuda_seat *seat, size_t to, const float *from, size_t count)
{
    return ga_cuda_check((int)cudaMemcpyAsync(ga_cuda_at(seat, to), from, count * sizeof *from,
                                              cudaMemcpyDefault, seat->stream),
                         seat->room.place, "copying weights");
}

/* Weights that a card has come from there, others from the host. */
static int send_weights(struct ga_cuda_seat *seat, const struct ga_net *net, const float *weights)
{
    const uint64_t up = seat->serial;
    ga_cuda_lease_end(&seat->weights);
    seat->weights = ga_cuda_lease_read(weights);
    seat->serial = seat->weights.serial;
    if (up != 0 && up == seat->serial)
        return GA_OK;
    if (seat->weights.ahead || (seat->weights.on_card && net->parameters > FEW))
        return seat->at.fast
                   ? for_each_tensor(seat, net, seat->weights.from, copy_over)
                   : copy_over(seat, seat->at.weight[0], seat->weights.from, net->parameters);
    (void)for_each_tensor(seat, net, weights, stage);
    return ga_cuda_check((int)cudaMemcpyAsync(seat->room.device, seat->room.host, seat->at.inputs,
                                              cudaMemcpyHostToDevice, seat->stream),
                         seat->room.place, "sending weights");
}

static void stage_batch(const struct ga_cuda_seat *seat, const struct ga_net *net,
                        const struct ga_batch *batch)
{
    char *host = seat->room.host;
    const struct ga_cuda_layout *at = &seat->at;
    const size_t outputs = net->width[net->layers];
    gather((float *)(void *)(host + at->inputs), batch, batch->inputs, net->width[0], !at->fast);
    if (batch->targets)
        gather((float *)(void *)(host + at->targets), batch, batch->targets, outputs, false);
    else if (batch->labels)
        gather_labels((int32_t *)(void *)(host + at->targets), batch);
    if (batch->weights)
        gather((float *)(void *)(host + at->example), batch, batch->weights, 1, false);
}

int ga_cuda_seat_fill(struct ga_cuda_seat *seat, const struct ga_net *net, const float *weights,
                      const struct ga_batch *batch)
{
    const int code = send_weights(seat, net, weights);
    if (code < 0)
        seat->serial = 0;
    stage_batch(seat, net, batch);
    return code;
}

int ga_cuda_seat_send(const struct ga_cuda_seat *seat)
{
    const size_t from = seat->at.inputs;
    return ga_cuda_check((int)cudaMemcpyAsync(ga_cuda_at(seat, from),
                                              (char *)seat->room.host + from, seat->at.up - from,
                                              cudaMemcpyHostToDevice, seat->stream),
                         seat->room.place, "sending a micro-batch");
}

void ga_cuda_seat_done(struct ga_cuda_seat *seat)
{
    ga_cuda_lease_end(&seat->weights);
}
