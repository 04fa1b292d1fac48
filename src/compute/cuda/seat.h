/*
 * A context's place on one card: its stream, and how the card's memory for one micro-batch is cut.
 * The first part goes up to the card in one copy, the last comes back in one. Weights that are held
 * (held.h) go up once, or come from where they are on a card, and stay for the batches that follow.
 *
 *   up    weights | inputs | targets or labels | example weights
 *         rows, deltas and slopes of the layers; masks and a layer's bias gradient
 *   down  losses | correct | flags, or the outputs of a prediction
 *
 * Offsets are bytes, all multiples of 256.
 */
#ifndef GA_COMPUTE_CUDA_SEAT_H
#define GA_COMPUTE_CUDA_SEAT_H

#include <stdbool.h>

#include "compute/cuda/device.h"
#include "compute/cuda/gemm.h"
#include "compute/cuda/graph.h"
#include "compute/cuda/held.h"
#include "compute/cuda/marks.h"
#include "compute/cuda/stopwatch.h"

struct ga_cuda_layout {
    size_t count; /* examples */
    bool fast;    /* tensors start at multiples of 256 bytes; else they lie as in the net */
    size_t weight[GA_NET_LAYERS], bias[GA_NET_LAYERS]; /* or coordinates, in weight[0] */
    size_t inputs, targets, example;
    size_t up; /* bytes of the first part, from 0 */
    size_t rows[GA_NET_LAYERS + 1], deltas[GA_NET_LAYERS + 1], slopes[GA_NET_LAYERS + 1];
    size_t masks[GA_NET_LAYERS + 1]; /* fast relu: which rows are positive, a bit each */
    size_t row_sums;                 /* fast relu: room for a layer's bias gradient */
    size_t losses, correct, flags;
    size_t down; /* bytes of the last part, from `losses` */
    size_t total;
};

/* SIZE_MAX as total where that many bytes cannot be counted. */
void ga_cuda_lay_out(struct ga_cuda_layout *out, const struct ga_net *net, bool fast, size_t count);

struct ga_cuda_seat {
    struct CUstream_st *stream; /* NULL: nothing was done on this card yet */
    struct ga_cuda_room room;   /* host: the up part, and behind it the down part */
    struct ga_cuda_layout at;
    struct ga_cuda_gemm *gemm;     /* NULL until a product is wanted */
    bool fuses;                    /* activations are part of the products, where that is known */
    bool fused[GA_NET_LAYERS + 1]; /* by layer: its mask is what the last forward left */
    uint64_t serial; /* of the weights that are up; 0: they go up with the next batch */
    struct ga_cuda_lease weights;
    struct ga_cuda_graphs *graphs; /* NULL until a gradient is wanted */
    struct ga_cuda_room burst;     /* of a burst (tiny.h): steps, state, rows */
    struct ga_cuda_marks marks;
    struct ga_cuda_stopwatch stopwatch;
};

/* The card is the thread's, and there is room for `count` examples; refuses more than fits, naming
 * what does. */
int ga_cuda_seat_take(struct ga_cuda_seat *seat, const struct ga_net *net, bool fast, size_t place,
                      size_t count);
void ga_cuda_seat_fini(struct ga_cuda_seat *seat);

/*
 * Sends weights, where others are up, and fills the host's side of the up part with a batch, whose
 * rows become columns, unless the layout is fast. done() follows when the stream is done.
 */
int ga_cuda_seat_fill(struct ga_cuda_seat *seat, const struct ga_net *net, const float *weights,
                      const struct ga_batch *batch);
int ga_cuda_seat_send(const struct ga_cuda_seat *seat); /* the batch that was filled in */
void ga_cuda_seat_done(struct ga_cuda_seat *seat);

static inline void *ga_cuda_at(const struct ga_cuda_seat *seat, size_t offset)
{
    return (char *)seat->room.device + offset;
}

static inline const void *ga_cuda_answer(const struct ga_cuda_seat *seat, size_t offset)
{
    return (const char *)seat->room.host + seat->at.up + (offset - seat->at.losses);
}

#endif
