/*
 * What one thread of each exact kernel does. The file compiles as CUDA, for the kernels of
 * exact.cu, and as C, so that the same lines run where there is no card. A kernel takes one
 * argument, a struct by value whose first member counts its threads, and gives every thread a
 * number below that.
 *
 * Rows lie unit by unit: (units, count) floats for `count` examples. The order of operations of one
 * example is that of the CPU kernels (cpu_forward.inc, cpu_loss.inc), and the formulas are those of
 * one header for both (exact_terms.h, step.h), so the bits are theirs; exact sums may be added in
 * any order.
 */
#ifndef GA_COMPUTE_CUDA_EXACT_BODY_H
#define GA_COMPUTE_CUDA_EXACT_BODY_H

#include <stddef.h>
#include <stdint.h>

#include "compute/exact_sum.h"
#include "compute/exact_terms.h"
#include "compute/net.h"
#include "compute/norm.h"
#include "compute/step.h"

#ifdef __CUDACC__
#define GA_BODY        static __device__ inline
#define GA_BODY_COUNT  static __host__ __device__ inline
#define GA_BODY_UNROLL _Pragma("unroll")
#else
#define GA_BODY       static inline
#define GA_BODY_COUNT static inline
#define GA_BODY_UNROLL
#endif

/* z = bias (or +0) + sum of weight * in, in order, then the activation unless `last`. */
struct ga_k_forward {
    size_t threads; /* units * count */
    size_t count, inputs;
    const float *weights; /* (units, inputs) */
    const float *bias;    /* (units), or NULL */
    const float *in;      /* (inputs, count) */
    float *out;           /* (units, count) */
    float *slopes;        /* (units, count), with gelu only; else NULL */
    int32_t activation;   /* enum ga_net_activation; identity in the last layer */
};

GA_BODY float ga_body_activate(int32_t activation, float z, float *slope)
{
    if (activation == GA_ACT_TANH)
        return ga_exact_tanhf(z);
    if (activation == GA_ACT_RELU)
        return z < 0.0f ? 0.0f : z;
    if (activation == GA_ACT_SIGMOID)
        return ga_exact_sigmoidf(z);
    if (activation == GA_ACT_GELU) {
        float density;
        const float below = ga_exact_normalf(z, &density);
        *slope = GA_TERM_GELU_SLOPE(z, below, density);
        return GA_TERM_GELU(z, below);
    }
    return z;
}

/* z + the sum over `count` of w[i * step] * in[i * stride], in order. */
GA_BODY float ga_body_dot(float z, size_t count, const float *w, size_t step, const float *in,
                          size_t stride)
{
    for (size_t i = 0; i < count; i++)
        z += w[i * step] * in[i * stride];
    return z;
}

GA_BODY void ga_body_forward(const struct ga_k_forward *k, size_t thread)
{
    const size_t unit = thread / k->count;
    const size_t example = thread % k->count;
    const float z = ga_body_dot(k->bias ? k->bias[unit] : 0.0f, k->inputs,
                                k->weights + unit * k->inputs, 1, k->in + example, k->count);
    float slope = 0.0f;
    k->out[thread] = ga_body_activate(k->activation, z, &slope);
    if (k->slopes)
        k->slopes[thread] = slope;
}

/* s = +0 + sum over outputs, in order, of weight * delta, then times the activation's slope. */
struct ga_k_backward {
    size_t threads; /* units * count */
    size_t count, units, outputs;
    const float *weights; /* (outputs, units), of the layer above */
    const float *in;      /* (outputs, count): its deltas */
    const float *rows;    /* (units, count): outputs of the activation */
    const float *slopes;  /* (units, count), with gelu only */
    float *out;           /* (units, count) */
    int32_t activation;
};

/* s * h'(z), from a = h(z) and, with gelu, the slope that was kept. */
GA_BODY float ga_body_times_slope(int32_t activation, float s, float a, float slope)
{
    if (activation == GA_ACT_TANH)
        return GA_TERM_TANH_BACK(s, a);
    if (activation == GA_ACT_RELU)
        return a <= 0.0f ? 0.0f : s;
    if (activation == GA_ACT_SIGMOID)
        return GA_TERM_SIGMOID_BACK(s, a);
    if (activation == GA_ACT_GELU)
        return s * slope;
    return s;
}

GA_BODY void ga_body_backward(const struct ga_k_backward *k, size_t thread)
{
    const size_t unit = thread / k->count;
    const size_t example = thread % k->count;
    const float s =
        ga_body_dot(0.0f, k->outputs, k->weights + unit, k->units, k->in + example, k->count);
    k->out[thread] = ga_body_times_slope(k->activation, s, k->rows[thread],
                                         k->slopes ? k->slopes[thread] : 0.0f);
}

/* Losses and deltas of the last layer; thread = example. */
struct ga_k_loss {
    size_t threads;        /* count */
    size_t outputs;        /* or coordinates of a quadratic */
    size_t across, down;   /* output o of example e stands at o * across + e * down */
    const float *values;   /* (outputs, count): outputs, or lambda of a quadratic */
    const float *targets;  /* (count, outputs), or centers; NULL with labels */
    const int32_t *labels; /* (count) */
    const float *example;  /* (count) example weights, or NULL */
    const float *weights;  /* of a quadratic: its coordinates */
    float *deltas;         /* (outputs, count) */
    float *losses;         /* (count) */
    uint32_t *correct;     /* (count) */
};

GA_BODY size_t ga_body_at(const struct ga_k_loss *k, size_t output, size_t e)
{
    return output * k->across + e * k->down;
}

/* Weighted, once. */
GA_BODY void ga_body_weigh(const struct ga_k_loss *k, size_t e, float loss)
{
    if (!k->example) {
        k->losses[e] = loss;
        return;
    }
    k->losses[e] = k->example[e] * loss;
    for (size_t o = 0; o < k->outputs; o++)
        k->deltas[ga_body_at(k, o, e)] *= k->example[e];
}

GA_BODY void ga_body_mse(const struct ga_k_loss *k, size_t e)
{
    float loss = 0.0f;
    for (size_t o = 0; o < k->outputs; o++) {
        const size_t at = ga_body_at(k, o, e);
        const float d = k->values[at] - k->targets[e * k->outputs + o];
        loss += GA_TERM_MSE(d);
        k->deltas[at] = GA_TERM_MSE_DELTA(d);
    }
    k->correct[e] = 0;
    ga_body_weigh(k, e, loss);
}

GA_BODY void ga_body_quadratic(const struct ga_k_loss *k, size_t e)
{
    float loss = 0.0f;
    for (size_t o = 0; o < k->outputs; o++) {
        const size_t at = ga_body_at(k, o, e);
        const float d = k->weights[o] - k->targets[e * k->outputs + o];
        loss += GA_TERM_QUADRATIC(k->values[at], d);
        k->deltas[at] = d;
    }
    k->correct[e] = 0;
    ga_body_weigh(k, e, GA_TERM_QUADRATIC_LOSS(loss));
}

GA_BODY void ga_body_xent(const struct ga_k_loss *k, size_t e)
{
    const size_t label = (size_t)(uint32_t)k->labels[e];
    float largest = k->values[ga_body_at(k, 0, e)];
    float at_label = largest;
    float beside_largest = 0.0f;
    float beside_label = 0.0f;
    size_t largest_at = 0;
    for (size_t o = 1; o < k->outputs; o++) {
        const float y = k->values[ga_body_at(k, o, e)];
        if (largest < y) {
            largest = y;
            largest_at = o;
        }
        if (o == label)
            at_label = y;
    }
    for (size_t o = 0; o < k->outputs; o++) {
        const size_t at = ga_body_at(k, o, e);
        const float p = ga_exact_expf(k->values[at] - largest);
        beside_largest += o == largest_at ? 0.0f : p;
        beside_label += o == label ? 0.0f : p;
        k->deltas[at] = p;
    }
    const float sum = GA_TERM_XENT_SUM(beside_largest);
    for (size_t o = 0; o < k->outputs; o++) {
        const size_t at = ga_body_at(k, o, e);
        k->deltas[at] = (o == label ? -beside_label : k->deltas[at]) / sum;
    }
    const float loss = ga_term_xent_loss(largest, at_label, beside_largest);
    k->correct[e] = loss == loss && largest_at == label;
    ga_body_weigh(k, e, loss);
}

/*
 * Exact sums of the gradient terms of one tensor. A warp does a patch of parameters, its lanes go
 * over the examples side by side: what it loads lies in a row, and serves several parameters. The
 * lanes' sums are added up in any order, because exact sums have none.
 */
#define GA_BODY_LANES 32
#define GA_BODY_SIDE  4 /* of a patch: so many outputs by as many inputs */
#define GA_BODY_PATCH (GA_BODY_SIDE * GA_BODY_SIDE)

struct ga_k_sums {
    size_t threads; /* parameters of the tensor */
    size_t count, inputs;
    const float *rows;   /* (inputs, count); NULL: ones, for a bias */
    const float *deltas; /* (outputs, count) */
    int32_t pairs;       /* a quadratic: parameter i has rows[i] * deltas[i] */
    int32_t add;         /* to what is there, instead of in its place */
    double *high, *low;  /* (threads) */
    uint32_t *flags;     /* one word, or-ed */
};

/* Parameters lie (outputs, inputs); those of a bias and of a quadratic in one column. */
GA_BODY_COUNT size_t ga_body_columns_of(const struct ga_k_sums *k)
{
    return k->pairs || !k->rows ? 1 : k->inputs;
}

GA_BODY_COUNT size_t ga_body_patches_across(const struct ga_k_sums *k)
{
    return (ga_body_columns_of(k) + GA_BODY_SIDE - 1) / GA_BODY_SIDE;
}

GA_BODY_COUNT size_t ga_body_patches(const struct ga_k_sums *k)
{
    const size_t outputs = k->threads / ga_body_columns_of(k);
    return (outputs + GA_BODY_SIDE - 1) / GA_BODY_SIDE * ga_body_patches_across(k);
}

/* Where a patch starts, and how much of it there is. */
struct ga_body_patch {
    size_t output, input, outputs, inputs;
};

GA_BODY struct ga_body_patch ga_body_patch_at(const struct ga_k_sums *k, size_t patch)
{
    const size_t columns = ga_body_columns_of(k);
    const size_t across = ga_body_patches_across(k);
    struct ga_body_patch p;
    p.output = patch / across * GA_BODY_SIDE;
    p.input = patch % across * GA_BODY_SIDE;
    p.outputs = k->threads / columns - p.output;
    p.inputs = columns - p.input;
    return p;
}

/* The term's left factor for an input of the patch; in one column, for an output. */
GA_BODY double ga_body_left(const struct ga_k_sums *k, const struct ga_body_patch *p, size_t output,
                            size_t input, size_t e)
{
    if (!k->rows)
        return 1.0;
    return (double)k->rows[(k->pairs ? p->output + output : p->input + input) * k->count + e];
}

/* A lane's sums for its patch, from 0 on. */
GA_BODY uint32_t ga_body_sums(const struct ga_k_sums *k, size_t patch, size_t lane,
                              double high[GA_BODY_PATCH], double low[GA_BODY_PATCH])
{
    const struct ga_body_patch p = ga_body_patch_at(k, patch);
    uint32_t flags = 0;
    GA_BODY_UNROLL
    for (size_t s = 0; s < GA_BODY_PATCH; s++)
        high[s] = low[s] = 0.0;
    for (size_t e = lane; e < k->count; e += GA_BODY_LANES) {
        GA_BODY_UNROLL
        for (size_t s = 0; s < GA_BODY_PATCH; s++) {
            const size_t output = s / GA_BODY_SIDE;
            const size_t input = s % GA_BODY_SIDE;
            if (output < p.outputs && input < p.inputs)
                flags |= ga_exact_add(&high[s], &low[s],
                                      ga_body_left(k, &p, output, input, e) *
                                          (double)k->deltas[(p.output + output) * k->count + e]);
        }
    }
    return flags;
}

/* All lanes' sums go to where they belong. */
GA_BODY void ga_body_put_sums(const struct ga_k_sums *k, size_t patch,
                              const double high[GA_BODY_PATCH], const double low[GA_BODY_PATCH])
{
    const struct ga_body_patch p = ga_body_patch_at(k, patch);
    GA_BODY_UNROLL
    for (size_t s = 0; s < GA_BODY_PATCH; s++) {
        const size_t output = s / GA_BODY_SIDE;
        const size_t input = s % GA_BODY_SIDE;
        const size_t at = (p.output + output) * ga_body_columns_of(k) + p.input + input;
        if (output >= p.outputs || input >= p.inputs)
            continue;
        k->high[at] = high[s] + (k->add ? k->high[at] : 0.0);
        k->low[at] = low[s] + (k->add ? k->low[at] : 0.0);
    }
}

/* to += from, element by element. */
struct ga_k_add {
    size_t threads;
    double *to;
    const double *from;
};

GA_BODY void ga_body_add(const struct ga_k_add *k, size_t thread)
{
    k->to[thread] += k->from[thread];
}

struct ga_k_add_float {
    size_t threads;
    float *to;
    const float *from;
};

GA_BODY void ga_body_add_float(const struct ga_k_add_float *k, size_t thread)
{
    k->to[thread] += k->from[thread];
}

/* g = (float)((high + low) / divisor) and the sum of its squares, for one block of the norm's rule;
 * thread = block. */
#define GA_BODY_BLOCK   GA_NORM_BLOCK
#define GA_BODY_PRODUCT 2 /* GA_MEASURE_PRODUCT */

struct ga_k_mean {
    size_t threads; /* blocks of GA_BODY_BLOCK parameters */
    size_t parameters;
    const double *high, *low;
    double divisor;
    float *gradient; /* (parameters), or NULL */
    double *squares; /* (threads) */
};

GA_BODY void ga_body_mean(const struct ga_k_mean *k, size_t thread)
{
    const size_t first = thread * GA_BODY_BLOCK;
    const size_t left = k->parameters - first;
    const size_t end = first + (left < GA_BODY_BLOCK ? left : GA_BODY_BLOCK);
    double sum = 0.0;
    for (size_t i = first; i < end; i++) {
        const float g = ga_term_mean(k->high[i], k->low[i], k->divisor);
        if (k->gradient)
            k->gradient[i] = g;
        sum += ga_term_square(g);
    }
    k->squares[thread] = sum;
}

/* Sums of a^2, (a - b)^2 or ab over one block of the norm's rule; thread = block. */
struct ga_k_measure {
    size_t threads; /* blocks of GA_BODY_BLOCK values */
    size_t count;
    int32_t kind;       /* enum ga_measure */
    const float *a, *b; /* (count); b is NULL for the first kind */
    double *sums;       /* (threads) */
};

GA_BODY double ga_body_term(const struct ga_k_measure *k, size_t i)
{
    if (k->kind == GA_BODY_PRODUCT)
        return ga_term_product(k->a[i], k->b[i]);
    return k->b ? ga_term_distance(k->a[i], k->b[i]) : ga_term_square(k->a[i]);
}

GA_BODY double ga_body_block(const struct ga_k_measure *k, size_t block)
{
    const size_t first = block * GA_BODY_BLOCK;
    const size_t left = k->count - first;
    const size_t end = first + (left < GA_BODY_BLOCK ? left : GA_BODY_BLOCK);
    double sum = 0.0;
    for (size_t i = first; i < end; i++)
        sum += ga_body_term(k, i);
    return sum;
}

GA_BODY void ga_body_measure(const struct ga_k_measure *k, size_t thread)
{
    k->sums[thread] = ga_body_block(k, thread);
}

/* One optimizer step of one parameter. */
struct ga_k_step {
    size_t threads;                                   /* parameters */
    const float *gradient, *weights, *first, *second; /* state, NULL where there is none */
    float *new_weights, *new_first, *new_second;
    struct ga_step step;
};

GA_BODY void ga_body_step(const struct ga_k_step *k, size_t i)
{
    float first = k->first ? k->first[i] : 0.0f;
    float second = k->second ? k->second[i] : 0.0f;
    k->new_weights[i] = ga_step_one(&k->step, k->gradient[i], k->weights[i], &first, &second);
    if (k->new_first)
        k->new_first[i] = first;
    if (k->new_second)
        k->new_second[i] = second;
}

#endif
