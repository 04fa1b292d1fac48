/*
 * Nets so small that one block of threads does a whole micro-batch in its shared memory, and with
 * the optimizer's state many updates without leaving it: a gradient by itself and an update of a
 * burst are the same lines, so their bits are the same. The lines are split by meetings of the
 * crew: what stands between two of them may be done in any order.
 *
 * In CUDA the crew is a block, and a warp adds up over examples; in C it is any number of helpers,
 * each of which stands for warps as a whole. Sums over examples: lane l of 32 adds those of e mod
 * 32 = l in order, then halves are added to halves. Rows lie unit by unit: (units, count).
 */
#ifndef GA_COMPUTE_CUDA_TINY_BODY_H
#define GA_COMPUTE_CUDA_TINY_BODY_H

#include "compute/cuda/exact_body.h"

#define GA_TINY_LAYERS  4
#define GA_TINY_THREADS 512
#define GA_TINY_BYTES   ((size_t)48 << 10) /* shared memory that a block has on every card */

/* Where things lie in shared memory, in floats; doubles at even places. */
struct ga_tiny_room {
    uint32_t norms; /* (3, blocks) doubles: squares of g, of new w - w, of new w */
    uint32_t loss;  /* a double: their sum */
    uint32_t step;  /* the update's struct ga_step */
    uint32_t stop;  /* a word: not 0 once loss or gradient are not finite */
    uint32_t weights, before, gradient, first, second;  /* (parameters) */
    uint32_t rows[GA_TINY_LAYERS + 1];                  /* of rows[0]: the inputs */
    uint32_t deltas[GA_TINY_LAYERS + 1];                /* the last ones stand in their rows */
    uint32_t slopes[GA_TINY_LAYERS + 1];                /* with gelu only */
    uint32_t targets, example, losses, correct, floats; /* all of it */
};

/* The net, and a micro-batch of it. */
struct ga_tiny_net {
    struct ga_tiny_room at;
    uint32_t layers, count, parameters, blocks; /* blocks of the norm's rule */
    uint32_t width[GA_TINY_LAYERS + 1];
    uint32_t weight_at[GA_TINY_LAYERS], bias_at[GA_TINY_LAYERS];
    uint32_t weight_from[GA_TINY_LAYERS], bias_from[GA_TINY_LAYERS]; /* in `weights` */
    int32_t activation, xent, bias;
    uint32_t floats; /* of `weights` */
    const float *weights;
    const float *inputs;   /* (count, width[0]) */
    const float *targets;  /* (count, outputs), or */
    const int32_t *labels; /* (count) */
    const float *example;  /* (count) example weights, or NULL */
};

/* The crew's member: its threads share single values, its warps sums over examples. */
struct ga_tiny_crew {
    uint32_t thread, threads, warp, warps;
    bool leads; /* its warp */
#ifndef __CUDACC__
    void (*meet)(void *place); /* NULL: alone */
    void *place;
#endif
};

GA_BODY void ga_tiny_meet(const struct ga_tiny_crew *crew)
{
#ifdef __CUDACC__
    (void)crew;
    __syncthreads();
#else
    if (crew->meet)
        crew->meet(crew->place);
#endif
}

GA_BODY void ga_tiny_stop(uint32_t *word)
{
#ifdef __CUDACC__
    atomicOr(word, 1u);
#else
    __atomic_store_n(word, 1u, __ATOMIC_RELAXED);
#endif
}

GA_BODY double *ga_tiny_doubles(float *room, uint32_t at)
{
    return (double *)(void *)(room + at);
}

GA_BODY uint32_t *ga_tiny_words(float *room, uint32_t at)
{
    return (uint32_t *)(void *)(room + at);
}

/* ---- sums over examples, for the leader of the warp ---- */

GA_BODY float ga_tiny_lane(const float *rows, const float *deltas, uint32_t count, uint32_t lane)
{
    float sum = 0.0f;
    for (uint32_t e = lane; e < count; e += GA_BODY_LANES)
        sum += rows ? rows[e] * deltas[e] : deltas[e];
    return sum;
}

/* Of rows times deltas; of deltas where rows are NULL. */
GA_BODY float ga_tiny_sum(const float *rows, const float *deltas, uint32_t count)
{
#ifdef __CUDACC__
    float sum = ga_tiny_lane(rows, deltas, count, threadIdx.x % GA_BODY_LANES);
    for (uint32_t apart = GA_BODY_LANES / 2; apart > 0; apart /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, apart);
    return sum;
#else
    float sum[GA_BODY_LANES];
    for (uint32_t lane = 0; lane < GA_BODY_LANES; lane++)
        sum[lane] = ga_tiny_lane(rows, deltas, count, lane);
    for (uint32_t apart = GA_BODY_LANES / 2; apart > 0; apart /= 2)
        for (uint32_t lane = 0; lane < apart; lane++)
            sum[lane] += sum[lane + apart];
    return sum[0];
#endif
}

/* Of losses, by the exact rule: free of order, so the host's own sum has the same bits. */
GA_BODY double ga_tiny_loss_sum(const float *losses, uint32_t count)
{
    double sum[3] = {0.0, 0.0, 0.0};
#ifdef __CUDACC__
    for (uint32_t e = threadIdx.x % GA_BODY_LANES; e < count; e += GA_BODY_LANES)
        (void)ga_exact_add_loss(sum, (double)losses[e]);
    for (int part = 0; part < 3; part++)
        for (uint32_t apart = GA_BODY_LANES / 2; apart > 0; apart /= 2)
            sum[part] += __shfl_down_sync(0xffffffffu, sum[part], apart);
#else
    for (uint32_t e = 0; e < count; e++)
        (void)ga_exact_add_loss(sum, (double)losses[e]);
#endif
    return (sum[0] + sum[1]) + sum[2];
}

/* ---- a micro-batch ---- */

GA_BODY void ga_tiny_copy(const struct ga_tiny_crew *crew, float *to, const float *from,
                          uint32_t count)
{
    for (uint32_t i = crew->thread; i < count; i += crew->threads)
        to[i] = from[i];
}

GA_BODY void ga_tiny_load_rows(const struct ga_tiny_crew *crew, const struct ga_tiny_net *net,
                               float *room)
{
    int32_t *labels = (int32_t *)(void *)(room + net->at.targets);
    for (uint32_t i = crew->thread; i < net->width[0] * net->count; i += crew->threads) {
        const uint32_t unit = i / net->count;
        room[net->at.rows[0] + i] = net->inputs[(i - unit * net->count) * net->width[0] + unit];
    }
    if (net->targets)
        ga_tiny_copy(crew, room + net->at.targets, net->targets,
                     net->count * net->width[net->layers]);
    for (uint32_t e = crew->thread; net->labels && e < net->count; e += crew->threads)
        labels[e] = net->labels[e];
    if (net->example)
        ga_tiny_copy(crew, room + net->at.example, net->example, net->count);
}

GA_BODY void ga_tiny_load(const struct ga_tiny_crew *crew, const struct ga_tiny_net *net,
                          float *room)
{
    float *weights = room + net->at.weights;
    for (uint32_t k = 0; k < net->layers; k++) {
        ga_tiny_copy(crew, weights + net->weight_at[k], net->weights + net->weight_from[k],
                     net->width[k] * net->width[k + 1]);
        if (net->bias)
            ga_tiny_copy(crew, weights + net->bias_at[k], net->weights + net->bias_from[k],
                         net->width[k + 1]);
    }
    ga_tiny_load_rows(crew, net, room);
    ga_tiny_meet(crew);
}

GA_BODY void ga_tiny_forward(const struct ga_tiny_crew *crew, const struct ga_tiny_net *net,
                             float *room, uint32_t k)
{
    const bool hidden = k + 1 < net->layers;
    const float *weights = room + net->at.weights;
    const uint32_t count = net->count;
    for (uint32_t i = crew->thread; i < net->width[k + 1] * count; i += crew->threads) {
        const uint32_t unit = i / count;
        const float z =
            ga_body_dot(net->bias ? weights[net->bias_at[k] + unit] : 0.0f, net->width[k],
                        weights + net->weight_at[k] + unit * net->width[k], 1,
                        room + net->at.rows[k] + (i - unit * count), count);
        float slope = 0.0f;
        room[net->at.rows[k + 1] + i] = hidden ? ga_body_activate(net->activation, z, &slope) : z;
        if (hidden && net->activation == GA_ACT_GELU)
            room[net->at.slopes[k + 1] + i] = slope;
    }
    ga_tiny_meet(crew);
}

GA_BODY void ga_tiny_loss(const struct ga_tiny_crew *crew, const struct ga_tiny_net *net,
                          float *room)
{
    struct ga_k_loss k;
    k.threads = net->count;
    k.outputs = net->width[net->layers];
    k.across = net->count;
    k.down = 1;
    k.values = room + net->at.rows[net->layers];
    k.targets = room + net->at.targets;
    k.labels = (const int32_t *)(const void *)(room + net->at.targets);
    k.example = net->example ? room + net->at.example : NULL;
    k.weights = NULL;
    k.deltas = room + net->at.deltas[net->layers];
    k.losses = room + net->at.losses;
    k.correct = ga_tiny_words(room, net->at.correct);
    for (uint32_t e = crew->thread; e < net->count; e += crew->threads) {
        if (net->xent)
            ga_body_xent(&k, e);
        else
            ga_body_mse(&k, e);
    }
    ga_tiny_meet(crew);
}

GA_BODY void ga_tiny_backward(const struct ga_tiny_crew *crew, const struct ga_tiny_net *net,
                              float *room, uint32_t k)
{
    const uint32_t count = net->count;
    for (uint32_t i = crew->thread; i < net->width[k] * count; i += crew->threads) {
        const uint32_t unit = i / count;
        const float s =
            ga_body_dot(0.0f, net->width[k + 1], room + net->at.weights + net->weight_at[k] + unit,
                        net->width[k], room + net->at.deltas[k + 1] + (i - unit * count), count);
        const float slope = net->activation == GA_ACT_GELU ? room[net->at.slopes[k] + i] : 0.0f;
        room[net->at.deltas[k] + i] =
            ga_body_times_slope(net->activation, s, room[net->at.rows[k] + i], slope);
    }
    ga_tiny_meet(crew);
}

/* Rows, losses and deltas of the whole micro-batch, at the weights in the room. */
GA_BODY void ga_tiny_pass(const struct ga_tiny_crew *crew, const struct ga_tiny_net *net,
                          float *room)
{
    for (uint32_t k = 0; k < net->layers; k++)
        ga_tiny_forward(crew, net, room, k);
    ga_tiny_loss(crew, net, room);
    for (uint32_t k = net->layers - 1; k > 0; k--)
        ga_tiny_backward(crew, net, room, k);
}

/* The gradient sum of a parameter, for the leader of the warp. */
GA_BODY float ga_tiny_own(const struct ga_tiny_net *net, const float *room, uint32_t parameter)
{
    const float *rows = NULL;
    uint32_t k = 0;
    uint32_t unit = 0;
    while (k + 1 < net->layers && parameter >= net->weight_at[k + 1])
        k++;
    if (net->bias && parameter >= net->bias_at[k]) {
        unit = parameter - net->bias_at[k];
    } else {
        unit = (parameter - net->weight_at[k]) / net->width[k];
        rows = room + net->at.rows[k] +
               (parameter - net->weight_at[k] - unit * net->width[k]) * net->count;
    }
    return ga_tiny_sum(rows, room + net->at.deltas[k + 1] + unit * net->count, net->count);
}

/* ---- a gradient by itself ---- */

struct ga_k_tiny {
    struct ga_tiny_net net;
    float *sums;       /* (parameters) */
    int32_t add;       /* to what is there */
    float *losses;     /* (count) */
    uint32_t *correct; /* (count) */
    uint32_t *flags;   /* one word: 0 */
};

GA_BODY void ga_body_tiny(const struct ga_k_tiny *k, const struct ga_tiny_crew *crew, float *room)
{
    const struct ga_tiny_net *net = &k->net;
    ga_tiny_load(crew, net, room);
    ga_tiny_pass(crew, net, room);
    for (uint32_t p = crew->warp; p < net->parameters; p += crew->warps) {
        const float own = ga_tiny_own(net, room, p);
        if (crew->leads)
            k->sums[p] = own + (k->add ? k->sums[p] : 0.0f);
    }
    for (uint32_t e = crew->thread; e < net->count; e += crew->threads) {
        k->losses[e] = room[net->at.losses + e];
        k->correct[e] = ga_tiny_words(room, net->at.correct)[e];
    }
    if (crew->thread == 0)
        *k->flags = 0;
}

/* ---- many updates ---- */

#define GA_TINY_ROW 4 /* doubles: the sum of losses, and squares of g, new w - w, new w */

struct ga_k_burst {
    struct ga_tiny_net net;
    const struct ga_step *step; /* (steps) */
    uint32_t steps, updates;    /* steps 1: the same for all */
    uint32_t states;            /* blocks of the optimizer's state */
    double weight;              /* that sums are divided by */
    const float *state;         /* (states, parameters) */
    float *new_weights, *new_state;
    double *row;    /* (updates, GA_TINY_ROW) */
    uint32_t *done; /* one word: updates made */
};

GA_BODY void ga_tiny_begin(const struct ga_k_burst *k, const struct ga_tiny_crew *crew, float *room)
{
    const uint32_t n = k->net.parameters;
    if (k->states > 0)
        ga_tiny_copy(crew, room + k->net.at.first, k->state, n);
    if (k->states > 1)
        ga_tiny_copy(crew, room + k->net.at.second, k->state + n, n);
    if (crew->thread == 0)
        *ga_tiny_words(room, k->net.at.stop) = 0;
    ga_tiny_load(crew, &k->net, room);
}

/* Mean gradient and sum of losses, and whether they are finite. */
GA_BODY void ga_tiny_means(const struct ga_k_burst *k, const struct ga_tiny_crew *crew, float *room)
{
    const struct ga_tiny_net *net = &k->net;
    for (uint32_t p = crew->warp; p <= net->parameters; p += crew->warps) {
        const bool of_losses = p == net->parameters;
        const double sum = of_losses ? ga_tiny_loss_sum(room + net->at.losses, net->count)
                                     : (double)(ga_tiny_own(net, room, p) + 0.0f);
        const double value = of_losses ? sum : (double)(float)(sum / k->weight);
        if (!crew->leads)
            continue;
        if (of_losses)
            *ga_tiny_doubles(room, net->at.loss) = value;
        else
            room[net->at.gradient + p] = (float)value;
        if (!(value - value == 0.0))
            ga_tiny_stop(ga_tiny_words(room, net->at.stop));
    }
    ga_tiny_meet(crew);
}

GA_BODY void ga_tiny_step(const struct ga_k_burst *k, const struct ga_tiny_crew *crew, float *room)
{
    const struct ga_tiny_room *at = &k->net.at;
    const struct ga_step *step = (const struct ga_step *)(const void *)(room + at->step);
    for (uint32_t i = crew->thread; i < k->net.parameters; i += crew->threads) {
        const float w = room[at->weights + i];
        float first = k->states > 0 ? room[at->first + i] : 0.0f;
        float second = k->states > 1 ? room[at->second + i] : 0.0f;
        room[at->before + i] = w;
        room[at->weights + i] = ga_step_one(step, room[at->gradient + i], w, &first, &second);
        if (k->states > 0)
            room[at->first + i] = first;
        if (k->states > 1)
            room[at->second + i] = second;
    }
    ga_tiny_meet(crew);
}

/* A warp's leader adds one block of one norm, in order. */
GA_BODY void ga_tiny_norms(const struct ga_tiny_crew *crew, const struct ga_tiny_net *net,
                           float *room)
{
    for (uint32_t t = crew->warp; crew->leads && t < 3 * net->blocks; t += crew->warps) {
        const uint32_t of = t / net->blocks;
        struct ga_k_measure k;
        k.threads = net->blocks;
        k.count = net->parameters;
        k.kind = 0;
        k.a = room + (of == 0 ? net->at.gradient : net->at.weights);
        k.b = of == 1 ? room + net->at.before : NULL;
        k.sums = NULL;
        ga_tiny_doubles(room, net->at.norms)[t] = ga_body_block(&k, t - of * net->blocks);
    }
    ga_tiny_meet(crew);
}

/* What is told of an update; the next one may begin meanwhile. */
GA_BODY void ga_tiny_tell(const struct ga_k_burst *k, const struct ga_tiny_crew *crew, float *room,
                          uint32_t update)
{
    double *row = k->row + (size_t)update * GA_TINY_ROW;
    for (uint32_t of = crew->thread; of < GA_TINY_ROW; of += crew->threads) {
        const double *norms = ga_tiny_doubles(room, k->net.at.norms);
        double total = 0.0;
        for (uint32_t block = 0; of > 0 && block < k->net.blocks; block++)
            total += norms[(of - 1) * k->net.blocks + block];
        row[of] = of > 0 ? total : *ga_tiny_doubles(room, k->net.at.loss);
    }
}

/* One update; false, and nothing done, where it must not be. */
GA_BODY bool ga_tiny_update(const struct ga_k_burst *k, const struct ga_tiny_crew *crew,
                            float *room, uint32_t update)
{
    const struct ga_step *step = &k->step[k->steps > 1 ? update : 0];
    if (crew->thread == 0)
        *(struct ga_step *)(void *)(room + k->net.at.step) = *step;
    ga_tiny_pass(crew, &k->net, room);
    ga_tiny_means(k, crew, room);
    if (*ga_tiny_words(room, k->net.at.stop))
        return false;
    ga_tiny_step(k, crew, room);
    ga_tiny_norms(crew, &k->net, room);
    ga_tiny_tell(k, crew, room, update);
    return true;
}

GA_BODY void ga_body_burst(const struct ga_k_burst *k, const struct ga_tiny_crew *crew, float *room)
{
    const uint32_t n = k->net.parameters;
    uint32_t made = 0;
    ga_tiny_begin(k, crew, room);
    while (made < k->updates && ga_tiny_update(k, crew, room, made))
        made++;
    ga_tiny_copy(crew, k->new_weights, room + k->net.at.weights, n);
    if (k->states > 0)
        ga_tiny_copy(crew, k->new_state, room + k->net.at.first, n);
    if (k->states > 1)
        ga_tiny_copy(crew, k->new_state + n, room + k->net.at.second, n);
    if (crew->thread == 0)
        *k->done = made;
}

#endif
