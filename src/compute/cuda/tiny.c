#include "compute/cuda/tiny.h"

#include <cuda_runtime_api.h>
#include <string.h>

#include "compute/cuda/tiny_launch.h"

/* Floats of a net and a batch that could be tiny; their products fit 64 bits. */
#define MOST (GA_TINY_BYTES / sizeof(float))

/* ---- what is tiny ---- */

/* Takes a place in shared memory; doubles start at even ones. */
static uint32_t carve(size_t *next, size_t floats)
{
    const size_t start = *next;
    *next = (start + floats + 1) / 2 * 2;
    return (uint32_t)start;
}

static void carve_layers(struct ga_tiny_room *at, const struct ga_net *net, size_t count,
                         size_t *next)
{
    const size_t layers = net->layers;
    for (size_t k = 0; k <= layers; k++) {
        const bool hidden = k > 0 && k < layers;
        at->rows[k] = carve(next, net->width[k] * count);
        at->deltas[k] = hidden ? carve(next, net->width[k] * count) : at->rows[k];
        if (hidden && net->activation == GA_ACT_GELU)
            at->slopes[k] = carve(next, net->width[k] * count);
    }
    at->targets = carve(next, net->width[layers] * count);
    at->example = carve(next, count);
    at->losses = carve(next, count);
    at->correct = carve(next, count);
}

static size_t blocks_of(const struct ga_net *net)
{
    return (net->parameters + GA_BODY_BLOCK - 1) / GA_BODY_BLOCK;
}

/* The shared memory of a net whose sizes were looked at, in floats. */
static size_t lay_out(struct ga_tiny_room *at, const struct ga_net *net, size_t count)
{
    size_t next = 0;
    *at = (struct ga_tiny_room){.norms = 0};
    at->norms = carve(&next, 2 * 3 * blocks_of(net));
    at->loss = carve(&next, 2);
    at->step = carve(&next, sizeof(struct ga_step) / sizeof(float));
    at->stop = carve(&next, 1);
    at->weights = carve(&next, net->parameters);
    at->before = carve(&next, net->parameters);
    at->gradient = carve(&next, net->parameters);
    at->first = carve(&next, net->parameters);
    at->second = carve(&next, net->parameters);
    carve_layers(at, net, count, &next);
    at->floats = (uint32_t)next;
    return next;
}

bool ga_cuda_tiny_fits(const struct ga_net *net, size_t count)
{
    struct ga_tiny_room at;
    if (net->kind != GA_NET_MLP || net->layers > GA_TINY_LAYERS || net->parameters > MOST ||
        count < 1 || count > MOST)
        return false;
    for (size_t k = 0; k <= net->layers; k++)
        if (net->width[k] > MOST)
            return false;
    return lay_out(&at, net, count) <= MOST;
}

/* ---- a micro-batch ---- */

static uint32_t floats_at(size_t offset)
{
    return (uint32_t)(offset / sizeof(float));
}

/* The net as the kernels know it, with the batch that the seat was sent. */
static struct ga_tiny_net tiny_of(const struct ga_cuda_seat *seat, const struct ga_net *net,
                                  const struct ga_batch *batch)
{
    const struct ga_cuda_layout *at = &seat->at;
    const bool xent = net->loss == GA_LOSS_XENT;
    struct ga_tiny_net tiny = {
        .layers = (uint32_t)net->layers,
        .count = (uint32_t)at->count,
        .parameters = (uint32_t)net->parameters,
        .blocks = (uint32_t)blocks_of(net),
        .activation = (int32_t)net->activation,
        .xent = xent,
        .bias = net->bias,
        .floats = floats_at(at->inputs),
        .weights = ga_cuda_at(seat, 0),
        .inputs = ga_cuda_at(seat, at->inputs),
        .targets = xent ? NULL : ga_cuda_at(seat, at->targets),
        .labels = xent ? ga_cuda_at(seat, at->targets) : NULL,
        .example = batch->weights ? ga_cuda_at(seat, at->example) : NULL,
    };
    (void)lay_out(&tiny.at, net, at->count);
    for (size_t k = 0; k <= net->layers; k++)
        tiny.width[k] = (uint32_t)net->width[k];
    for (size_t k = 0; k < net->layers; k++) {
        tiny.weight_at[k] = (uint32_t)net->weight_at[k];
        tiny.bias_at[k] = (uint32_t)net->bias_at[k];
        tiny.weight_from[k] = floats_at(at->weight[k]);
        tiny.bias_from[k] = floats_at(at->bias[k]);
    }
    return tiny;
}

int ga_cuda_tiny_gradient(const struct ga_cuda_seat *seat, const struct ga_net *net,
                          const struct ga_batch *batch, enum ga_into into, float *sums)
{
    const struct ga_k_tiny k = {
        .net = tiny_of(seat, net, batch),
        .sums = sums,
        .add = into == GA_ADD,
        .losses = ga_cuda_at(seat, seat->at.losses),
        .correct = ga_cuda_at(seat, seat->at.correct),
        .flags = ga_cuda_at(seat, seat->at.flags),
    };
    return ga_cuda_check(ga_launch_tiny(&k, seat->stream), seat->room.place, "a micro-batch");
}

/* ---- bursts ---- */

/* A burst under way. Its room, on the card as on the host: what goes up, then what comes down. */
struct bursting {
    struct ga_cuda_seat *seat;
    const struct ga_burst *burst;
    size_t n, states;        /* floats and blocks */
    size_t steps, old_state; /* bytes from the start of the room */
    size_t rows, done, new_weights, new_state, end;
    struct ga_cuda_lease state, to_weights, to_state;
    struct ga_k_burst k;
};

static void *on_card(const struct bursting *b, size_t at)
{
    return (char *)b->seat->burst.device + at;
}

static void *on_host(const struct bursting *b, size_t at)
{
    return (char *)b->seat->burst.host + at;
}

static size_t reserve(size_t *next, size_t bytes)
{
    const size_t start = *next;
    *next += (bytes + 255) / 256 * 256;
    return start;
}

static void lay_out_burst(struct bursting *b)
{
    const size_t bytes = b->n * sizeof(float);
    size_t next = 0;
    b->steps = reserve(&next, b->burst->steps * sizeof(struct ga_step));
    b->old_state = reserve(&next, b->states * bytes);
    b->rows = reserve(&next, b->burst->count * GA_TINY_ROW * sizeof(double));
    b->done = reserve(&next, sizeof(uint32_t));
    b->new_weights = reserve(&next, bytes);
    b->new_state = reserve(&next, b->states * bytes);
    b->end = next;
}

static int copy(const struct bursting *b, void *to, const void *from, size_t bytes)
{
    return ga_cuda_check((int)cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, b->seat->stream),
                         b->seat->room.place, "a burst");
}

static int burst_targets(struct bursting *b)
{
    const size_t bytes = b->n * sizeof(float);
    const size_t place = b->seat->room.place;
    int code = GA_OK;
    b->k.new_weights =
        ga_cuda_lease_write(&b->to_weights, b->burst->new_weights, bytes, place, &code);
    if (code == GA_OK && b->states > 0)
        b->k.new_state =
            ga_cuda_lease_write(&b->to_state, b->burst->new_state, b->states * bytes, place, &code);
    if (code == GA_OK)
        code = ga_cuda_room_grow(&b->seat->burst, b->end, b->end);
    if (code < 0)
        return code;
    if (!b->k.new_weights)
        b->k.new_weights = on_card(b, b->new_weights);
    if (!b->k.new_state && b->states > 0)
        b->k.new_state = on_card(b, b->new_state);
    return GA_OK;
}

static int burst_sources(struct bursting *b)
{
    const size_t bytes = b->burst->steps * sizeof(struct ga_step);
    int code = GA_OK;
    memcpy(on_host(b, b->steps), b->burst->step, bytes);
    code = copy(b, on_card(b, b->steps), on_host(b, b->steps), bytes);
    if (code == GA_OK && b->states > 0)
        code = ga_cuda_lease_bring(&b->state, b->seat->stream, b->seat->room.place,
                                   b->states * b->n * sizeof(float), on_card(b, b->old_state),
                                   on_host(b, b->old_state), &b->k.state);
    if (code == GA_OK)
        code = ga_cuda_seat_send(b->seat);
    return code;
}

static int run_burst(struct bursting *b)
{
    b->k.step = on_card(b, b->steps);
    b->k.row = on_card(b, b->rows);
    b->k.done = on_card(b, b->done);
    const int code =
        ga_cuda_check(ga_launch_burst(&b->k, b->seat->stream), b->seat->room.place, "a burst");
    return code == GA_OK ? copy(b, on_host(b, b->rows), on_card(b, b->rows),
                                b->done + sizeof(uint32_t) - b->rows)
                         : code;
}

/* How many updates the card says it has made. */
static uint32_t made(const struct bursting *b)
{
    return *(const uint32_t *)on_host(b, b->done);
}

/* What the host wants now; the rest stays where it is. */
static int burst_back(struct bursting *b, bool weights, bool state)
{
    const size_t bytes = b->n * sizeof(float);
    int code = weights ? copy(b, on_host(b, b->new_weights), b->k.new_weights, bytes) : GA_OK;
    if (code == GA_OK && state)
        code = copy(b, on_host(b, b->new_state), b->k.new_state, b->states * bytes);
    if (code == GA_OK)
        code = ga_cuda_wait(b->seat->stream, b->seat->room.place, "a burst");
    if (code == GA_OK && made(b) > b->burst->count)
        code = ga_cuda_host()->fail(GA_EIO, "cuda:%zu: %u updates came of a burst of %zu",
                                    b->seat->room.place, made(b), b->burst->count);
    if (code < 0 || made(b) == 0)
        return code;
    if (weights)
        memcpy(b->burst->new_weights, on_host(b, b->new_weights), bytes);
    if (state)
        memcpy(b->burst->new_state, on_host(b, b->new_state), b->states * bytes);
    ga_cuda_lease_written(&b->to_weights, weights);
    ga_cuda_lease_written(&b->to_state, state);
    return GA_OK;
}

static size_t tell_rows(const struct bursting *b, double weight)
{
    const double *row = on_host(b, b->rows);
    for (size_t u = 0; u < made(b); u++, row += GA_TINY_ROW)
        b->burst->row[u] = (struct ga_burst_row){
            .loss = row[0] / weight,
            .grad_norm = __builtin_sqrt(row[1]),
            .update_norm = __builtin_sqrt(row[2]),
            .param_norm = __builtin_sqrt(row[3]),
        };
    return made(b);
}

static int make(struct bursting *b, double weight, size_t *done)
{
    const bool few = ga_cuda_brings_back((1 + b->states) * b->n * sizeof(float));
    int code = burst_targets(b);
    if (code == GA_OK)
        code = burst_sources(b);
    if (code == GA_OK)
        code = run_burst(b);
    if (code == GA_OK)
        code =
            burst_back(b, few || !b->to_weights.held, b->states > 0 && (few || !b->to_state.held));
    if (code == GA_OK)
        *done = tell_rows(b, weight);
    return code;
}

int ga_cuda_tiny_burst(struct ga_cuda_seat *seat, const struct ga_net *net,
                       const struct ga_burst *burst, double weight, size_t *done)
{
    struct bursting b = {
        .seat = seat,
        .burst = burst,
        .n = net->parameters,
        .states = ga_cuda_host()->step_state_blocks(burst->step->kind, burst->step->momentum),
        .k = {.net = tiny_of(seat, net, &burst->batch),
              .steps = (uint32_t)burst->steps,
              .updates = (uint32_t)burst->count,
              .weight = weight},
    };
    b.k.states = (uint32_t)b.states;
    b.state = ga_cuda_lease_read(burst->state);
    seat->burst.place = seat->room.place;
    lay_out_burst(&b);
    *done = 0;
    const int code = make(&b, weight, done);
    ga_cuda_lease_end(&b.state);
    ga_cuda_lease_end(&b.to_weights);
    ga_cuda_lease_end(&b.to_state);
    return code;
}
