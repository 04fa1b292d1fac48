#include "problem.h"

#include <stdlib.h>

#include "support/support.h"

void problem_open(struct problem *p, const struct ga_net *net, size_t examples, double size,
                  bool weighted)
{
    const size_t outputs = net->width[net->layers];
    p->net = *net;
    p->weights = test_floats(net->parameters, 1, size);
    p->inputs = test_floats(examples * net->width[0], 2, 1.5);
    p->targets = test_floats(examples * outputs, 3, 2.0);
    p->example_weights = test_floats(examples, 4, 1.0);
    p->labels = calloc(examples, sizeof *p->labels);
    p->index = calloc(examples, sizeof *p->index);
    p->wide = calloc(net->parameters, sizeof *p->wide);
    assert_true(p->labels && p->index && p->wide);
    for (size_t i = 0; i < net->parameters; i++)
        p->wide[i] = (double)p->weights[i];
    for (size_t e = 0; e < examples; e++) {
        p->labels[e] = (int32_t)(test_draw(e + 5000) * (double)outputs);
        p->index[e] = (uint32_t)((e * 31) % examples);
        p->example_weights[e] = e % 7 == 3 ? 0.0f : 1.0f + p->example_weights[e];
    }
    p->batch = (struct ga_batch){.inputs = p->inputs,
                                 .targets = p->targets,
                                 .labels = p->labels,
                                 .weights = weighted ? p->example_weights : NULL,
                                 .index = p->index,
                                 .count = examples};
}

void problem_close(struct problem *p)
{
    free(p->weights);
    free(p->inputs);
    free(p->targets);
    free(p->example_weights);
    free(p->labels);
    free(p->index);
    free(p->wide);
}
