#include "compute/cuda/context.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

#include "compute/cuda/account.h"
#include "compute/cuda/elements.h"
#include "compute/cuda/exact_launch.h"
#include "compute/cuda/tiny.h"

_Static_assert(GA_SUM_BEYOND == GA_TALLY_BEYOND && GA_SUM_NONFINITE == GA_TALLY_NONFINITE,
               "the flags of a term are those of a tally");

/* Evaluation goes piece by piece, so that a large data set needs no large room. */
#define PIECE 4096

struct ga_context {
    struct ga_net net;
    const struct ga_cuda_numerics *numerics;
    size_t home;    /* the card for work without sums */
    bool timed;     /* gradients are */
    double seconds; /* of the last one's work; NaN: not known */
    struct ga_cuda_seat seat[GA_CUDA_PLACES];
};

int ga_cuda_context_open(struct ga_context **out, const struct ga_net *net,
                         const struct ga_cuda_numerics *numerics)
{
    struct ga_context *context = NULL;
    *out = NULL;
    context = calloc(1, sizeof *context);
    if (!context)
        return ga_cuda_host()->fail(GA_ENOMEM, "no memory for a context of a GPU");
    context->net = *net;
    context->numerics = numerics;
    context->seconds = __builtin_nan("");
    *out = context;
    return GA_OK;
}

void ga_cuda_context_close(struct ga_context *context)
{
    for (size_t place = 0; context && place < GA_CUDA_PLACES; place++)
        ga_cuda_seat_fini(&context->seat[place]);
    free(context);
}

static int check_batch(const struct ga_net *net, const struct ga_batch *batch, bool compared)
{
    const bool xent = net->kind == GA_NET_MLP && net->loss == GA_LOSS_XENT;
    if (!batch->inputs)
        return ga_cuda_host()->fail(GA_EINTERNAL,
                                    "a batch without inputs: expected a table of them");
    if (compared && !(xent ? (const void *)batch->labels : (const void *)batch->targets))
        return ga_cuda_host()->fail(GA_EINTERNAL, "a batch without %s: expected a table of them",
                                    xent ? "labels" : "targets");
    return GA_OK;
}

static int run_loss(const struct ga_cuda_seat *seat, const struct ga_net *net,
                    const struct ga_batch *batch)
{
    const struct ga_cuda_layout *at = &seat->at;
    const bool quadratic = net->kind == GA_NET_QUADRATIC;
    const bool xent = !quadratic && net->loss == GA_LOSS_XENT;
    const struct ga_k_loss k = {
        .threads = at->count,
        .outputs = net->width[net->layers],
        .across = at->fast ? 1 : at->count,
        .down = at->fast ? net->width[net->layers] : 1,
        .values = ga_cuda_at(seat, quadratic ? at->inputs : at->rows[net->layers]),
        .targets = xent ? NULL : ga_cuda_at(seat, at->targets),
        .labels = xent ? ga_cuda_at(seat, at->targets) : NULL,
        .example = batch->weights ? ga_cuda_at(seat, at->example) : NULL,
        .weights = ga_cuda_at(seat, at->weight[0]),
        .deltas = ga_cuda_at(seat, at->deltas[net->layers]),
        .losses = ga_cuda_at(seat, at->losses),
        .correct = ga_cuda_at(seat, at->correct),
    };
    const int code = quadratic ? ga_launch_quadratic(&k, seat->stream)
                     : xent    ? ga_launch_xent(&k, seat->stream)
                               : ga_launch_mse(&k, seat->stream);
    return ga_cuda_check(code, seat->room.place, "loss");
}

/* The down part; it is there when the stream is done. */
static int receive(const struct ga_cuda_seat *seat, size_t from, size_t bytes, const char *what)
{
    char *to = (char *)seat->room.host + seat->at.up + (from - seat->at.losses);
    return ga_cuda_check((int)cudaMemcpyAsync(to, ga_cuda_at(seat, from), bytes,
                                              cudaMemcpyDeviceToHost, seat->stream),
                         seat->room.place, what);
}

/* Until the stream is done, if all was well so far. */
static int end(struct ga_cuda_seat *seat, int code, const char *what)
{
    if (code == GA_OK)
        code = ga_cuda_wait(seat->stream, seat->room.place, what);
    ga_cuda_seat_done(seat);
    return code;
}

static void tally_weights(const struct ga_batch *batch, struct ga_tally *tally)
{
    tally->examples += batch->count;
    if (!batch->weights) {
        tally->weight[0] += (double)batch->count;
        tally->weight_square += (double)batch->count;
        return;
    }
    for (size_t e = 0; e < batch->count; e++) {
        const size_t row = batch->index ? batch->index[e] : batch->first + e;
        const double w = (double)batch->weights[row];
        (void)ga_exact_add(&tally->weight[0], &tally->weight[1], w);
        tally->weight_square += w * w;
    }
}

static void tally_answers(const struct ga_cuda_seat *seat, const struct ga_batch *batch,
                          bool gradient, struct ga_tally *tally)
{
    const float *losses = ga_cuda_answer(seat, seat->at.losses);
    const uint32_t *correct = ga_cuda_answer(seat, seat->at.correct);
    const uint32_t *flags = ga_cuda_answer(seat, seat->at.flags);
    for (size_t e = 0; e < batch->count; e++) {
        const uint32_t met = ga_exact_add_loss(tally->loss, (double)losses[e]);
        tally->flags |= seat->at.fast ? met & GA_TALLY_NONFINITE : met;
        tally->correct += correct[e];
    }
    if (gradient)
        tally->flags |= *flags;
    tally_weights(batch, tally);
}

/* Room, weights and the batch on the host's side. Fused products only where a gradient tells what
 * they hide. */
static int prepare(struct ga_context *context, size_t place, const float *weights,
                   const struct ga_batch *batch, bool gradient)
{
    struct ga_cuda_seat *seat = &context->seat[place];
    int code = ga_cuda_seat_take(seat, &context->net, context->numerics->fast, place, batch->count);
    seat->fuses = gradient;
    if (code == GA_OK && gradient && context->timed)
        code = ga_cuda_stopwatch_begin(&seat->stopwatch, seat->stream, place);
    return code < 0 ? code : ga_cuda_seat_fill(seat, &context->net, weights, batch);
}

static int forward_and_loss(struct ga_context *context, struct ga_cuda_seat *seat,
                            const struct ga_batch *batch)
{
    int code = ga_cuda_seat_send(seat);
    if (code == GA_OK)
        code = context->numerics->forward(seat, &context->net);
    return code == GA_OK ? run_loss(seat, &context->net, batch) : code;
}

/* A micro-batch that is prepared. */
struct micro {
    struct ga_context *context;
    struct ga_cuda_seat *seat;
    const struct ga_batch *batch;
    enum ga_into into;
    void *sums;
};

/* Layer by layer. */
static int queue_layers(const struct micro *m)
{
    const int code = forward_and_loss(m->context, m->seat, m->batch);
    return code == GA_OK
               ? m->context->numerics->backward(m->seat, &m->context->net, m->into, m->sums)
               : code;
}

static int queue_tiny(const struct micro *m)
{
    const int code = ga_cuda_seat_send(m->seat);
    return code == GA_OK
               ? ga_cuda_tiny_gradient(m->seat, &m->context->net, m->batch, m->into, m->sums)
               : code;
}

static bool is_tiny(const struct ga_context *context, size_t count)
{
    return context->numerics->fast && ga_cuda_tiny_fits(&context->net, count);
}

static int queue_micro(void *self)
{
    const struct micro *m = self;
    const struct ga_cuda_layout *at = &m->seat->at;
    ga_cuda_marks_begin(&m->seat->marks, &m->context->net);
    int code = is_tiny(m->context, m->batch->count) ? queue_tiny(m) : queue_layers(m);
    if (code == GA_OK)
        code = ga_cuda_marks_rest(&m->seat->marks, &m->context->net, m->seat->stream,
                                  m->seat->room.place);
    if (code == GA_OK)
        code = receive(m->seat, at->losses, at->flags - at->losses + sizeof(uint32_t),
                       "a micro-batch");
    return code;
}

static int run_micro(struct micro *m)
{
    const struct ga_told *told = m->seat->marks.told;
    const struct ga_cuda_graph_key key = {
        .count = m->batch->count,
        .weighted = m->batch->weights != NULL,
        .add = m->into == GA_ADD,
        .sums = (uintptr_t)m->sums,
        .device = (uintptr_t)m->seat->room.device,
        .host = (uintptr_t)m->seat->room.host,
        .onto = told ? (uintptr_t)told->onto : 0,
        .total = told ? (uintptr_t)(told->onto ? told->total : m->sums) : 0,
    };
    return ga_cuda_graphs_run(&m->seat->graphs, &key, m->seat->stream, m->seat->room.place,
                              queue_micro, m);
}

/* `told` NULL: nobody is. */
static int gradient(struct ga_context *context, const float *weights, const struct ga_batch *batch,
                    enum ga_into into, void *sums, struct ga_tally *tally,
                    const struct ga_told *told)
{
    size_t place = 0;
    int code = check_batch(&context->net, batch, true);
    *tally = (struct ga_tally){0};
    if (code == GA_OK && batch->count == 0) {
        if (into == GA_ASSIGN)
            context->numerics->clear(&context->net, sums);
        return ga_cuda_poll();
    }
    if (code == GA_OK)
        code = ga_cuda_place_of(sums, &place);
    if (code < 0)
        return code;
    struct micro micro = {context, &context->seat[place], batch, into, sums};
    code = prepare(context, place, weights, batch, true);
    if (code == GA_OK)
        code = ga_cuda_marks_aim(&micro.seat->marks, &context->net, told, sums, place);
    if (code == GA_OK)
        code = run_micro(&micro);
    if (code == GA_OK)
        ga_cuda_marks_tell(&micro.seat->marks, &context->net);
    if (code == GA_OK && context->timed)
        code = ga_cuda_stopwatch_end(&micro.seat->stopwatch, micro.seat->stream, place);
    code = end(micro.seat, code, "a micro-batch");
    if (code == GA_OK && context->timed)
        code = ga_cuda_stopwatch_read(&micro.seat->stopwatch, place, &context->seconds);
    micro.seat->marks.told = NULL;
    if (code == GA_OK)
        tally_answers(micro.seat, batch, true, tally);
    return code;
}

int ga_cuda_context_gradient(struct ga_context *context, const float *weights,
                             const struct ga_batch *batch, enum ga_into into, void *sums,
                             struct ga_tally *tally)
{
    return gradient(context, weights, batch, into, sums, tally, NULL);
}

int ga_cuda_context_gradient_in_parts(struct ga_context *context, const float *weights,
                                      const struct ga_batch *batch, void *sums,
                                      struct ga_tally *tally, const struct ga_told *told)
{
    return gradient(context, weights, batch, GA_ASSIGN, sums, tally, told);
}

size_t ga_cuda_context_burst(struct ga_context *context, const struct ga_burst *burst)
{
    struct ga_cuda_seat *seat = &context->seat[context->home];
    struct ga_tally tally = {.flags = 0};
    size_t done = 0;
    int code = GA_OK;
    if (!is_tiny(context, burst->batch.count) || burst->count > GA_CUDA_BURST_MOST)
        return 0;
    tally_weights(&burst->batch, &tally);
    code = check_batch(&context->net, &burst->batch, true);
    if (code == GA_OK)
        code = prepare(context, context->home, burst->weights, &burst->batch, true);
    if (code == GA_OK)
        code = ga_cuda_tiny_burst(seat, &context->net, burst, tally.weight[0] + tally.weight[1],
                                  &done);
    ga_cuda_seat_done(seat);
    if (code < 0 && code != GA_ENOMEM) /* without room there are still single updates */
        ga_cuda_note();
    return done;
}

/* Examples [first, first + count) of a batch, as a batch. */
static struct ga_batch piece_of(const struct ga_batch *batch, size_t first)
{
    struct ga_batch piece = *batch;
    piece.first += batch->index ? 0 : first;
    piece.index = batch->index ? batch->index + first : NULL;
    piece.count = batch->count - first < PIECE ? batch->count - first : PIECE;
    return piece;
}

int ga_cuda_context_evaluate(struct ga_context *context, const float *weights,
                             const struct ga_batch *batch, struct ga_tally *tally)
{
    struct ga_cuda_seat *seat = &context->seat[context->home];
    int code = check_batch(&context->net, batch, true);
    *tally = (struct ga_tally){0};
    for (size_t first = 0; code == GA_OK && first < batch->count; first += PIECE) {
        const struct ga_batch piece = piece_of(batch, first);
        code = prepare(context, context->home, weights, &piece, false);
        if (code == GA_OK)
            code = forward_and_loss(context, seat, &piece);
        if (code == GA_OK)
            code =
                receive(seat, seat->at.losses, seat->at.flags - seat->at.losses, "an evaluation");
        code = end(seat, code, "an evaluation");
        if (code == GA_OK)
            tally_answers(seat, &piece, false, tally);
    }
    return code;
}

static int predict_piece(struct ga_context *context, const float *weights,
                         const struct ga_batch *batch, float *outputs)
{
    const struct ga_net *net = &context->net;
    struct ga_cuda_seat *seat = &context->seat[context->home];
    const size_t width = net->width[net->layers];
    int code = prepare(context, context->home, weights, batch, false);
    if (code == GA_OK)
        code = ga_cuda_seat_send(seat);
    if (code == GA_OK)
        code = context->numerics->forward(seat, net);
    if (code == GA_OK)
        code = receive(seat, seat->at.rows[net->layers], width * batch->count * sizeof(float),
                       "a prediction");
    code = end(seat, code, "a prediction");
    if (code < 0)
        return code;
    const float *rows = ga_cuda_answer(seat, seat->at.rows[net->layers]);
    for (size_t e = 0; e < batch->count; e++)
        for (size_t o = 0; o < width; o++)
            outputs[e * width + o] = rows[seat->at.fast ? e * width + o : o * batch->count + e];
    return GA_OK;
}

int ga_cuda_context_predict(struct ga_context *context, const float *weights,
                            const struct ga_batch *batch, float *outputs)
{
    const size_t width = context->net.width[context->net.layers];
    int code = check_batch(&context->net, batch, false);
    if (context->net.kind != GA_NET_MLP)
        return ga_cuda_host()->fail(GA_EUNSUPPORTED,
                                    "a quadratic has no outputs to predict: expected a net");
    for (size_t first = 0; code == GA_OK && first < batch->count; first += PIECE) {
        const struct ga_batch piece = piece_of(batch, first);
        code = predict_piece(context, weights, &piece, outputs + first * width);
    }
    return code;
}

void *ga_cuda_alloc_first(size_t bytes)
{
    return ga_cuda_alloc(bytes, 0);
}

static void set_home(struct ga_context *context, size_t place)
{
    context->home = place < GA_CUDA_PLACES ? place : 0;
    ga_cuda_set_home(context->home);
}

static double work_seconds(struct ga_context *context, bool next)
{
    const double seconds = context->seconds;
    context->timed = next;
    context->seconds = __builtin_nan("");
    return seconds;
}

const struct ga_device_memory ga_cuda_memory = {
    .places = ga_cuda_places,
    .alloc = ga_cuda_alloc,
    .home = set_home,
    .copy_in = ga_cuda_copy_in,
    .copy_out = ga_cuda_copy_out,
    .copy = ga_cuda_copy,
    .work_seconds = work_seconds,
    .hold = ga_cuda_hold,
    .release = ga_cuda_release,
    .fetch = ga_cuda_fetch,
    .renew = ga_cuda_renew,
    .measure = ga_cuda_measure,
    .poll = ga_cuda_poll,
    .usage = ga_cuda_usage,
    .revive = ga_cuda_revive,
};
