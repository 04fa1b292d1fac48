#include "fixture.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "support/support.h"

static void append(struct ga_net *net, const char *name, size_t rows, size_t columns,
                   int dimensions, size_t *at)
{
    struct ga_tensor *tensor = &net->tensor[net->tensors++];
    snprintf(tensor->name, sizeof tensor->name, "%s", name);
    tensor->offset = net->parameters;
    tensor->rows = rows;
    tensor->columns = columns;
    tensor->dimensions = dimensions;
    *at = net->parameters;
    net->parameters += rows * columns;
}

struct ga_net test_mlp(size_t layers, const size_t *widths, enum ga_net_activation activation,
                       enum ga_net_loss loss, bool bias)
{
    struct ga_net net = {.kind = GA_NET_MLP, .layers = layers, .bias = bias};
    net.activation = activation;
    net.loss = loss;
    memcpy(net.width, widths, (layers + 1) * sizeof widths[0]);
    for (size_t k = 0; k < layers; k++) {
        append(&net, "weight", widths[k + 1], widths[k], 2, &net.weight_at[k]);
        if (bias)
            append(&net, "bias", widths[k + 1], 1, 1, &net.bias_at[k]);
    }
    return net;
}

struct ga_net test_quadratic(size_t coordinates)
{
    struct ga_net net = {.kind = GA_NET_QUADRATIC, .layers = 1};
    net.activation = GA_ACT_IDENTITY;
    net.width[0] = net.width[1] = coordinates;
    append(&net, "weight", coordinates, 1, 1, &net.weight_at[0]);
    return net;
}

/* The finalizer of SplitMix64 (Steele, Lea, Flood 2014). */
double test_draw(uint64_t number)
{
    uint64_t z = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

double test_between(uint64_t number, double low, double high)
{
    return low + (high - low) * test_draw(number);
}

float *test_floats(size_t count, uint64_t seed, double size)
{
    float *values = malloc((count > 0 ? count : 1) * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)test_between(seed * 1000003 + i, -size, size);
    return values;
}

/* Room as the header of the kernels asks for, laid out without the device's help. */
void bench_open(struct bench *bench, const struct ga_net *net, size_t examples)
{
    const size_t n = (examples + 7) / 8 * 8;
    size_t widest = 0;
    size_t units = 0;
    *bench = (struct bench){.net = *net};
    ga_cpu_kernels(bench->kernels);
    for (size_t k = 0; k <= net->layers; k++) {
        units += net->width[k];
        widest = net->width[k] > widest ? net->width[k] : widest;
    }
    bench->room = calloc(3 * units * n + 1, sizeof *bench->room);
    bench->wide = calloc((1 + 2 * widest) * GA_CPU_CHUNK, sizeof *bench->wide);
    assert_true(bench->room && bench->wide);
    bench->work.net = &bench->net;
    bench->work.small = net->parameters <= GA_CPU_SMALL;
    bench->work.wide = bench->wide;
    for (size_t e = 0; e < GA_CPU_CHUNK; e++)
        bench->work.wide[e] = 1.0;
    float *next = bench->room;
    for (size_t k = 0; k <= net->layers; k++) {
        bench->work.rows[k] = next;
        bench->work.deltas[k] = next + net->width[k] * n;
        bench->work.slopes[k] = next + 2 * net->width[k] * n;
        next += 3 * net->width[k] * n;
    }
}

void bench_close(struct bench *bench)
{
    free(bench->room);
    free(bench->wide);
}

struct reference {
    const struct ga_net *net;
    const double *weights;
    double values[GA_NET_LAYERS + 1][256]; /* outputs of each layer, for one example */
    double inputs[GA_NET_LAYERS + 1][256]; /* of the activations */
    double deltas[GA_NET_LAYERS + 1][256];
};

static double activation(enum ga_net_activation kind, double z)
{
    switch (kind) {
    case GA_ACT_TANH:
        return tanh(z);
    case GA_ACT_RELU:
        return z < 0 ? 0 : z;
    case GA_ACT_GELU:
        return z * 0.5 * erfc(-z / sqrt(2.0));
    case GA_ACT_SIGMOID:
        return 1 / (1 + exp(-z));
    default:
        return z;
    }
}

static double slope(enum ga_net_activation kind, double z)
{
    switch (kind) {
    case GA_ACT_TANH:
        return 1 - tanh(z) * tanh(z);
    case GA_ACT_RELU:
        return z > 0;
    case GA_ACT_GELU:
        return 0.5 * erfc(-z / sqrt(2.0)) + z * exp(-z * z / 2) / sqrt(2 * acos(-1.0));
    case GA_ACT_SIGMOID:
        return exp(-z) / ((1 + exp(-z)) * (1 + exp(-z)));
    default:
        return 1;
    }
}

static void run_forward(struct reference *r, const float *inputs)
{
    const struct ga_net *net = r->net;
    for (size_t i = 0; i < net->width[0]; i++)
        r->values[0][i] = (double)inputs[i];
    for (size_t k = 0; k < net->layers; k++) {
        for (size_t j = 0; j < net->width[k + 1]; j++) {
            const double *w = r->weights + net->weight_at[k] + j * net->width[k];
            double z = net->bias ? r->weights[net->bias_at[k] + j] : 0;
            for (size_t i = 0; i < net->width[k]; i++)
                z += w[i] * r->values[k][i];
            r->inputs[k + 1][j] = z;
            r->values[k + 1][j] = k + 1 < net->layers ? activation(net->activation, z) : z;
        }
    }
}

static double mse(struct reference *r, const float *targets)
{
    const size_t last = r->net->layers;
    double loss = 0;
    for (size_t o = 0; o < r->net->width[last]; o++) {
        const double e = r->values[last][o] - (double)targets[o];
        loss += e * e;
        r->deltas[last][o] = 2 * e;
    }
    return loss;
}

static double xent(struct reference *r, int32_t label)
{
    const size_t last = r->net->layers;
    const size_t width = r->net->width[last];
    const double *y = r->values[last];
    double largest = y[0];
    for (size_t o = 1; o < width; o++)
        largest = y[o] > largest ? y[o] : largest;
    double sum = exp(y[0] - largest);
    for (size_t o = 1; o < width; o++)
        sum += exp(y[o] - largest);
    for (size_t o = 0; o < width; o++)
        r->deltas[last][o] = exp(y[o] - largest) / sum - (o == (size_t)label ? 1 : 0);
    return log(sum) + largest - y[label];
}

static double quadratic(struct reference *r, const float *lambda, const float *center)
{
    double loss = 0;
    for (size_t j = 0; j < r->net->width[0]; j++) {
        const double e = r->weights[j] - (double)center[j];
        loss += (double)lambda[j] * e * e / 2;
        r->deltas[1][j] = (double)lambda[j] * e;
    }
    return loss;
}

static void run_backward(struct reference *r, double weight, double *gradient)
{
    const struct ga_net *net = r->net;
    for (size_t k = net->layers; k-- > 0;) {
        const double *w = r->weights + net->weight_at[k];
        for (size_t i = 0; i < net->width[k]; i++)
            r->deltas[k][i] = 0;
        for (size_t j = 0; j < net->width[k + 1]; j++) {
            const double d = r->deltas[k + 1][j];
            if (net->bias)
                gradient[net->bias_at[k] + j] += weight * d;
            for (size_t i = 0; i < net->width[k]; i++) {
                gradient[net->weight_at[k] + j * net->width[k] + i] += weight * d * r->values[k][i];
                r->deltas[k][i] += w[j * net->width[k] + i] * d;
            }
        }
        for (size_t i = 0; i < net->width[k] && k > 0; i++)
            r->deltas[k][i] *= slope(net->activation, r->inputs[k][i]);
    }
}

static double run_example(struct reference *r, const struct ga_batch *batch, size_t row)
{
    const struct ga_net *net = r->net;
    const float *inputs = batch->inputs + row * net->width[0];
    const size_t outputs = net->width[net->layers];
    if (net->kind == GA_NET_QUADRATIC)
        return quadratic(r, inputs, batch->targets + row * outputs);
    run_forward(r, inputs);
    return net->loss == GA_LOSS_MSE ? mse(r, batch->targets + row * outputs)
                                    : xent(r, batch->labels[row]);
}

static void add_gradient(struct reference *r, double weight, double *gradient)
{
    if (r->net->kind == GA_NET_MLP) {
        run_backward(r, weight, gradient);
        return;
    }
    for (size_t j = 0; j < r->net->width[0]; j++)
        gradient[j] += weight * r->deltas[1][j];
}

double reference_gradient(const struct ga_net *net, const double *weights,
                          const struct ga_batch *batch, double *gradient)
{
    struct reference *r = calloc(1, sizeof *r);
    double total = 0;
    assert_non_null(r);
    r->net = net;
    r->weights = weights;
    for (size_t p = 0; gradient && p < net->parameters; p++)
        gradient[p] = 0;
    for (size_t e = 0; e < batch->count; e++) {
        const size_t row = batch->index ? batch->index[e] : batch->first + e;
        const double weight = batch->weights ? (double)batch->weights[row] : 1;
        total += weight * run_example(r, batch, row);
        if (gradient)
            add_gradient(r, weight, gradient);
    }
    free(r);
    return total;
}

double reference_loss(const struct ga_net *net, const double *weights, const struct ga_batch *batch)
{
    return reference_gradient(net, weights, batch, NULL);
}

double relative_distance(const double *got, const double *want, size_t count)
{
    double difference = 0;
    double size = 0;
    for (size_t i = 0; i < count; i++) {
        difference += (got[i] - want[i]) * (got[i] - want[i]);
        size += want[i] * want[i];
    }
    return difference == 0 ? 0 : sqrt(difference / size);
}

void assert_at_most(double got, double limit)
{
    if (!(got <= limit))
        fail_msg("%g is above %g", got, limit);
}

/* Bytes in use now, as the C library counts them; 0 where a sanitizer replaced it. */
static size_t bytes_in_use(void)
{
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* A context has three blocks; each may cost up to a page more than it asked for. */
void test_context_bytes(const struct ga_compute *device, const struct ga_net *net, size_t batch)
{
    struct ga_context *context = NULL;
    const size_t promised = device->context_bytes(net, batch);
    const size_t before = bytes_in_use();
    assert_int_equal(device->open(&context, net, batch), GA_OK);
    const size_t used = bytes_in_use() - before;
    device->close(context);
    if (before == 0)
        ga_test_skip("the allocator here does not count");
    assert_in_range(used, promised, promised + 3 * 4352);
}
