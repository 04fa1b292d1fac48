#include <math.h>

#include "base/random.h"
#include "model/model.h"

/* What a tensor's elements are drawn from: scale times N(0,1) or times U(-1,1); scale 0 gives 0. */
struct source {
    double scale;
    bool normal;
};

/* By initialiser, for a tensor that adds up fan_in inputs into fan_out outputs; xavier and he leave
 * biases at 0. */
static struct source source_of(const struct ga_tensor *tensor, enum ga_model_init init,
                               double fan_in, double fan_out)
{
    const double weight = tensor->dimensions == 2 ? 1.0 : 0.0;
    const struct source sources[] = {
        [GA_MODEL_NORMAL] = {1.0, true},
        [GA_MODEL_UNIFORM] = {1.0 / sqrt(fan_in), false},
        [GA_MODEL_XAVIER] = {weight * sqrt(6.0 / (fan_in + fan_out)), false},
        [GA_MODEL_HE] = {weight * sqrt(2.0 / fan_in), true},
        [GA_MODEL_ZEROS] = {0.0, false},
    };
    return sources[init];
}

static double draw(const struct source *source, uint64_t seed, uint64_t parameter)
{
    uint32_t words[4];
    if (source->scale == 0.0)
        return 0.0;
    if (source->normal)
        return source->scale * ga_normal(seed, parameter, 0, GA_DRAW_INIT);
    ga_draw(seed, parameter, 0, GA_DRAW_INIT, words);
    return source->scale * (2.0 * ga_uniform(words[0]) - 1.0);
}

static void fill(const struct ga_tensor *tensor, const struct source *source, uint64_t seed,
                 float *weights)
{
    const size_t count = tensor->rows * tensor->columns;
    for (size_t i = 0; i < count; i++) {
        const size_t parameter = tensor->offset + i;
        weights[parameter] = (float)draw(source, seed, parameter);
    }
}

void ga_model_initialise(const struct ga_net *net, enum ga_model_init init, uint64_t seed,
                         float *weights)
{
    double fan_in = 1.0;
    if (net->kind == GA_NET_QUADRATIC) {
        for (size_t i = 0; i < net->parameters; i++)
            weights[i] = 1.0f;
        return;
    }
    /* A bias follows its weight and shares its fan-in. */
    for (size_t i = 0; i < net->tensors; i++) {
        const struct ga_tensor *tensor = &net->tensor[i];
        if (tensor->dimensions == 2)
            fan_in = (double)tensor->columns;
        const struct source source = source_of(tensor, init, fan_in, (double)tensor->rows);
        fill(tensor, &source, seed, weights);
    }
}
