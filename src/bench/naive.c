#include "bench/naive.h"

#include <math.h>

static float forward(const struct ga_naive *naive, float x)
{
    const size_t hidden = naive->hidden;
    const float *in = naive->weights, *bias = in + hidden, *out = bias + hidden;
    float y = out[hidden];

    for (size_t j = 0; j < hidden; j++) {
        naive->units[j] = tanhf(in[j] * x + bias[j]);
        y += out[j] * naive->units[j];
    }
    return y;
}

static void backward(const struct ga_naive *naive, float x, float delta)
{
    const size_t hidden = naive->hidden;
    const float *out = naive->weights + 2 * hidden;
    float *in_sum = naive->gradient, *bias_sum = in_sum + hidden, *out_sum = bias_sum + hidden;

    out_sum[hidden] += delta;
    for (size_t j = 0; j < hidden; j++) {
        const float unit = naive->units[j];
        const float inner = delta * out[j] * (1.0f - unit * unit);

        out_sum[j] += delta * unit;
        in_sum[j] += inner * x;
        bias_sum[j] += inner;
    }
}

static void update(const struct ga_naive *naive)
{
    const size_t parameters = 3 * naive->hidden + 1;

    for (size_t i = 0; i < parameters; i++)
        naive->gradient[i] = 0;
    for (size_t e = 0; e < naive->examples; e++)
        backward(naive, naive->x[e], 2.0f * (forward(naive, naive->x[e]) - naive->y[e]));
    for (size_t i = 0; i < parameters; i++)
        naive->weights[i] -= naive->lr * naive->gradient[i] / (float)naive->examples;
}

void ga_naive_train(const struct ga_naive *naive, int64_t updates)
{
    for (int64_t u = 0; u < updates; u++)
        update(naive);
}

double ga_naive_loss(const struct ga_naive *naive)
{
    double sum = 0;

    for (size_t e = 0; e < naive->examples; e++) {
        const double error = (double)(forward(naive, naive->x[e]) - naive->y[e]);

        sum += error * error;
    }
    return sum / (double)naive->examples;
}
