#include "compute/fast_layers.h"

#include <string.h>

#include "compute/fast_blas.h"

/* Up to this many weights in the largest layer, products of matrices cost more than they bring. */
#define SMALL_LAYER 1024

/* Layers within both are multiplied by the kernels, of which the panels then stay in a core's own
 * cache; others by BLAS, which packs what it reads. */
#define OWN_WEIGHTS ((size_t)1 << 20)
#define OWN_WIDTH   2048

/*
 * Floats of a layer's sums that are made at a time where they are added to others, so that they are
 * found in a cache then: the kernels' in the second level. BLAS packs the inputs anew for each
 * block, so its blocks are as large as a last-level cache keeps.
 */
#define OWN_FLOATS  ((size_t)1 << 17)
#define BLAS_FLOATS ((size_t)1 << 19)

static size_t largest_layer(const struct ga_net *net)
{
    size_t most = 0;
    for (size_t k = 0; k < net->layers; k++) {
        const size_t here = net->width[k] * net->width[k + 1];
        most = here > most ? here : most;
    }
    return most;
}

/* Whether the kernels multiply layer k: where that is faster, and where there is no BLAS. */
static bool own_products(const struct ga_net *net, size_t k)
{
    const size_t in = net->width[k];
    const size_t out = net->width[k + 1];
    const struct ga_fast_kernel *kernel = ga_fast_any_kernel();
    if (!kernel->products)
        return false;
    if (kernel->before_blas && in <= OWN_WIDTH && out <= OWN_WIDTH && in * out <= OWN_WEIGHTS)
        return true;
    return !ga_fast_blas();
}

bool ga_fast_goes_by_layers(const struct ga_net *net)
{
    return net->kind == GA_NET_MLP && largest_layer(net) > SMALL_LAYER &&
           (ga_fast_any_kernel()->products || ga_fast_blas());
}

/* Rows of layer k's weight whose sums are made at a time; whole tiles of the kernels'. */
static size_t rows_at_a_time(const struct ga_net *net, size_t k)
{
    const size_t fit = (own_products(net, k) ? OWN_FLOATS : BLAS_FLOATS) / net->width[k];
    const size_t rows = fit > GA_FAST_TILES ? fit / GA_FAST_TILES * GA_FAST_TILES : GA_FAST_TILES;
    return rows < net->width[k + 1] ? rows : net->width[k + 1];
}

size_t ga_fast_layers_own(const struct ga_net *net)
{
    size_t most = 0;
    for (size_t k = 0; k < net->layers; k++) {
        const size_t block = rows_at_a_time(net, k) * net->width[k];
        most = block > most ? block : most;
        most = net->width[k + 1] > most ? net->width[k + 1] : most;
    }
    return most;
}

size_t ga_fast_layers_scratch(const struct ga_net *net)
{
    size_t most = 0;
    for (size_t k = 0; k < net->layers; k++) {
        const size_t in = net->width[k];
        const size_t out = net->width[k + 1];
        const size_t widest = in > out ? in : out;
        if (own_products(net, k))
            most = widest > most ? widest : most;
    }
    return most == 0 ? 0 : GA_FAST_BLOCK * (most > 32 ? most : 32);
}

/* Layer k's rows and slopes, for `count` examples. */
static struct ga_fast_rows layer_rows(const struct ga_fast_work *work, const float *weights,
                                      size_t k, size_t count)
{
    const struct ga_net *net = work->net;
    return (struct ga_fast_rows){
        .count = count,
        .width = net->width[k],
        .bias = net->bias && k > 0 ? weights + net->bias_at[k - 1] : NULL,
        .rows = work->rows[k],
        .slopes = work->slopes[k],
    };
}

static struct ga_fast_product product(const struct ga_fast_work *work, size_t k, size_t count)
{
    const struct ga_net *net = work->net;
    return (struct ga_fast_product){count, net->width[k], net->width[k + 1], work->products};
}

static const struct ga_fast_products *products(const struct ga_fast_work *work, size_t k)
{
    return own_products(work->net, k) ? work->kernel->products : &ga_fast_blas_products;
}

/* The first of these examples' row where they lie one after another in the table, else NULL. */
static const float *in_a_row(const struct ga_net *net, const struct ga_batch *batch, size_t first,
                             size_t count)
{
    const size_t row = batch->index ? batch->index[first] : batch->first + first;
    for (size_t e = 1; batch->index && e < count; e++) {
        if (batch->index[first + e] != row + e)
            return NULL;
    }
    return batch->inputs + row * net->width[0];
}

/* What goes into layer k: rows of the table itself, or of the work area. */
static const float *rows_into(const struct ga_fast_work *work, const struct ga_batch *batch,
                              size_t first, size_t count, size_t k)
{
    const float *there = k == 0 ? in_a_row(work->net, batch, first, count) : NULL;
    return there ? there : work->rows[k];
}

static void layered_forward(const struct ga_fast_work *work, const float *weights,
                            const struct ga_batch *batch, size_t first, size_t count)
{
    const struct ga_net *net = work->net;
    const struct ga_fast_rows inputs = layer_rows(work, weights, 0, count);
    if (!in_a_row(net, batch, first, count))
        work->kernel->gather(batch, first, &inputs);
    for (size_t k = 0; k < net->layers; k++) {
        const bool last = k + 1 == net->layers;
        const struct ga_fast_rows out = layer_rows(work, weights, k + 1, count);
        const struct ga_fast_product p = product(work, k, count);
        products(work, k)->forward(&p, rows_into(work, batch, first, count, k),
                                   weights + net->weight_at[k], out.rows);
        work->kernel->activate(last ? GA_ACT_IDENTITY : net->activation, &out);
    }
}

static void layered_backward(const struct ga_fast_work *work, const float *weights, size_t count)
{
    const struct ga_net *net = work->net;
    for (size_t k = net->layers; --k > 0;) {
        const struct ga_fast_rows rows = layer_rows(work, weights, k, count);
        float *deltas = work->deltas[k];
        const struct ga_fast_product p = product(work, k, count);
        products(work, k)->backward(&p, work->deltas[k + 1], weights + net->weight_at[k], deltas);
        work->kernel->descend(net->activation, &rows, deltas);
    }
}

/* What layer k's sums are made of and where they go. */
struct layer {
    size_t k, count;     /* examples */
    const float *inputs; /* (count, width[k]) */
    const float *onto;
    float *sums;
};

/* Some rows of a layer's weight: straight into the sums, or through the block that is added. */
static double weight_sums(const struct ga_fast_work *work, const struct layer *l, size_t row,
                          size_t rows)
{
    const struct ga_net *net = work->net;
    const size_t in = net->width[l->k];
    const size_t at = net->weight_at[l->k] + row * in;
    float *own = l->onto ? work->own : l->sums + at;
    const struct ga_fast_product p = product(work, l->k, l->count);
    products(work, l->k)->sums(&p, rows, work->deltas[l->k + 1] + row, l->inputs, own);
    return work->kernel->join(l->onto ? l->onto + at : NULL, own, l->sums + at, rows * in);
}

static double layer_sums(const struct ga_fast_work *work, const struct layer *l)
{
    const struct ga_net *net = work->net;
    const size_t out = net->width[l->k + 1];
    const size_t step = l->onto ? rows_at_a_time(net, l->k) : out;
    double square = 0;
    for (size_t row = 0; row < out; row += step)
        square += weight_sums(work, l, row, out - row < step ? out - row : step);
    if (net->bias) {
        const size_t at = net->bias_at[l->k];
        float *own = l->onto ? work->own : l->sums + at;
        work->kernel->columns(work->deltas[l->k + 1], l->count, out, own);
        square += work->kernel->join(l->onto ? l->onto + at : NULL, own, l->sums + at, out);
    }
    return square;
}

void ga_fast_layers_gradient(const struct ga_fast_work *work, const float *weights,
                             const struct ga_batch *batch, const float *onto, float *sums,
                             struct ga_tally *tally, double *square)
{
    const struct ga_net *net = work->net;
    const size_t count = batch->count;
    const struct ga_fast_rows outputs = layer_rows(work, weights, net->layers, count);
    work->kernel->count(batch, tally);
    layered_forward(work, weights, batch, 0, count);
    work->kernel->lose(work, batch, 0, &outputs, work->deltas[net->layers], tally);
    layered_backward(work, weights, count);
    *square = 0;
    for (size_t k = net->layers; k-- > 0;) {
        const struct layer l = {k, count, rows_into(work, batch, 0, count, k), onto, sums};
        *square += layer_sums(work, &l);
    }
}

/* A large net's examples from `first` on that its room holds: their outputs. */
static size_t forward_some(const struct ga_fast_work *work, const float *weights,
                           const struct ga_batch *batch, size_t first)
{
    const size_t left = batch->count - first;
    const size_t count = left < work->room ? left : work->room;
    layered_forward(work, weights, batch, first, count);
    return count;
}

void ga_fast_layers_evaluate(const struct ga_fast_work *work, const float *weights,
                             const struct ga_batch *batch, struct ga_tally *tally)
{
    const size_t last = work->net->layers;
    size_t count = 0;
    work->kernel->count(batch, tally);
    for (size_t first = 0; first < batch->count; first += count) {
        count = forward_some(work, weights, batch, first);
        const struct ga_fast_rows outputs = layer_rows(work, weights, last, count);
        work->kernel->lose(work, batch, first, &outputs, work->deltas[last], tally);
    }
}

void ga_fast_layers_predict(const struct ga_fast_work *work, const float *weights,
                            const struct ga_batch *batch, float *outputs)
{
    const size_t width = work->net->width[work->net->layers];
    size_t count = 0;
    for (size_t first = 0; first < batch->count; first += count) {
        count = forward_some(work, weights, batch, first);
        memcpy(outputs + first * width, work->rows[work->net->layers],
               count * width * sizeof(float));
    }
}
