/*
 * The plain shape of what is trained: layers, activation, loss, and where each tensor lies in the
 * one flat block of parameters. model/ builds it; compute devices and storage read it. A plain
 * value.
 *
 * File order of the parameters: for each layer K its weight [out, in], row by row, then its bias
 * [out].
 */
#ifndef GA_COMPUTE_NET_H
#define GA_COMPUTE_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GA_NET_LAYERS  16
#define GA_NET_TENSORS (2 * GA_NET_LAYERS)

enum ga_net_kind {
    GA_NET_MLP,
    GA_NET_QUADRATIC /* loss_i = 1/2 sum_j lambda_ij (w_j - c_ij)^2; one tensor "weight" [n] */
};

/* Numbered as in settings/choices.def; compute does not include settings, a test compares them. */
enum ga_net_activation { GA_ACT_TANH, GA_ACT_RELU, GA_ACT_GELU, GA_ACT_SIGMOID, GA_ACT_IDENTITY };
enum ga_net_loss { GA_LOSS_MSE, GA_LOSS_XENT };

struct ga_tensor {
    char name[32];  /* "layers.0.weight" */
    size_t offset;  /* elements from the start of the block */
    size_t rows;    /* out */
    size_t columns; /* in; 1 for a bias */
    int dimensions; /* 2 for a weight, 1 for a bias */
};

struct ga_net {
    size_t layers;                   /* weight layers; 1 for quadratic */
    size_t width[GA_NET_LAYERS + 1]; /* units: width[0] inputs ... width[layers] outputs */
    size_t weight_at[GA_NET_LAYERS]; /* offset of each layer's weight, elements */
    size_t bias_at[GA_NET_LAYERS];   /* and bias; unused without */
    enum ga_net_kind kind;
    enum ga_net_activation activation; /* of the hidden layers; the output is linear */
    enum ga_net_loss loss;
    bool bias;
    size_t parameters; /* all of them */
    size_t tensors;
    struct ga_tensor tensor[GA_NET_TENSORS];
};

/* The tensor that holds parameter `position`; NULL beyond the block. */
const struct ga_tensor *ga_net_tensor_at(const struct ga_net *net, size_t position);

/* By name, NULL when there is none. */
const struct ga_tensor *ga_net_tensor(const struct ga_net *net, const char *name);

#endif
