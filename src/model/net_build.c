#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "model/model.h"

/* So that the bytes of two gradient sums and a name's number never overflow. */
#define PARAMETER_LIMIT (SIZE_MAX / 64)

/* Appends the tensor behind the others; its offset goes to `*at`. */
static int append_tensor(struct ga_net *net, const char *name, size_t rows, size_t columns,
                         int dimensions, size_t *at)
{
    size_t count;
    size_t total;
    if (__builtin_mul_overflow(rows, columns, &count) ||
        __builtin_add_overflow(net->parameters, count, &total) || total > PARAMETER_LIMIT)
        return ga_fail(GA_ERANGE, "%s [%zu, %zu]: more parameters than this machine can address",
                       name, rows, columns);
    struct ga_tensor *tensor = &net->tensor[net->tensors++];
    snprintf(tensor->name, sizeof tensor->name, "%s", name);
    tensor->offset = net->parameters;
    tensor->rows = rows;
    tensor->columns = columns;
    tensor->dimensions = dimensions;
    *at = net->parameters;
    net->parameters = total;
    return GA_OK;
}

static int append_layer(struct ga_net *net, size_t layer)
{
    char name[32];
    const size_t in = net->width[layer];
    const size_t out = net->width[layer + 1];
    snprintf(name, sizeof name, "layers.%zu.weight", layer);
    int code = append_tensor(net, name, out, in, 2, &net->weight_at[layer]);
    if (code < 0 || !net->bias)
        return code;
    snprintf(name, sizeof name, "layers.%zu.bias", layer);
    return append_tensor(net, name, out, 1, 1, &net->bias_at[layer]);
}

static int build_mlp(struct ga_net *net)
{
    int code = GA_OK;
    for (size_t k = 0; k < net->layers && code == GA_OK; k++)
        code = append_layer(net, k);
    return code;
}

/* One layer whose inputs (lambda) and outputs (w - c) are the coordinates. */
static int build_quadratic(struct ga_net *net)
{
    net->layers = 1;
    net->width[1] = net->width[0];
    net->bias = false;
    net->activation = GA_ACT_IDENTITY;
    net->loss = GA_LOSS_MSE;
    return append_tensor(net, "weight", net->width[0], 1, 1, &net->weight_at[0]);
}

static int take_widths(struct ga_net *net, const struct ga_model_spec *spec)
{
    const size_t count = spec->kind == GA_NET_QUADRATIC ? 1 : spec->layers + 1;
    for (size_t i = 0; i < count; i++) {
        if (spec->widths[i] < 1)
            return ga_fail(GA_ERANGE, "width %zu of the model is %d: expected 1 or more", i,
                           (int)spec->widths[i]);
        net->width[i] = (size_t)spec->widths[i];
    }
    return GA_OK;
}

int ga_net_build(struct ga_net *out, const struct ga_model_spec *spec)
{
    struct ga_net net = {.kind = spec->kind,
                         .layers = spec->layers,
                         .bias = spec->bias,
                         .activation = spec->activation,
                         .loss = spec->loss};
    const bool quadratic = spec->kind == GA_NET_QUADRATIC;
    if (!quadratic && (spec->layers < 1 || spec->layers > GA_NET_LAYERS))
        return ga_fail(GA_ERANGE, "a model of %zu weight layers: expected 1 to %d", spec->layers,
                       GA_NET_LAYERS);
    int code = take_widths(&net, spec);
    if (code == GA_OK)
        code = quadratic ? build_quadratic(&net) : build_mlp(&net);
    if (code == GA_OK)
        *out = net;
    return code;
}
