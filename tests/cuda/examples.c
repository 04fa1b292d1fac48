#include "examples.h"

#include <math.h>
#include <stdlib.h>

#include "compute/fixture.h"
#include "support/support.h"

void test_examples_open(struct test_examples *examples, const struct ga_net *net, size_t rows,
                        double size)
{
    const size_t outputs = net->width[net->layers];
    *examples = (struct test_examples){
        .rows = rows,
        .classes = net->kind == GA_NET_MLP && net->loss == GA_LOSS_XENT,
        .inputs = test_floats(rows * net->width[0], 1, size),
        .targets = test_floats(rows * outputs, 2, 1),
        .weights = test_floats(rows, 3, 2),
        .labels = calloc(rows, sizeof(int32_t)),
        .index = calloc(rows, sizeof(uint32_t)),
    };
    assert_true(examples->labels && examples->index);
    for (size_t i = 0; i < rows; i++) {
        examples->weights[i] = fabsf(examples->weights[i]) + 0.1f;
        examples->labels[i] = (int32_t)(i * 7 % outputs);
        examples->index[i] = (uint32_t)(i * 37 % rows);
    }
}

void test_examples_close(struct test_examples *examples)
{
    free(examples->inputs);
    free(examples->targets);
    free(examples->weights);
    free(examples->labels);
    free(examples->index);
}

struct ga_batch test_examples_batch(const struct test_examples *examples, size_t count,
                                    bool weighted, bool indexed)
{
    return (struct ga_batch){.inputs = examples->inputs,
                             .targets = examples->classes ? NULL : examples->targets,
                             .labels = examples->classes ? examples->labels : NULL,
                             .weights = weighted ? examples->weights : NULL,
                             .index = indexed ? examples->index : NULL,
                             .first = indexed ? 0 : 3,
                             .count = count};
}
