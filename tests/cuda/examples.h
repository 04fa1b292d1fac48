/*
 * Examples for a net on a card: drawn inputs, targets, labels and positive weights, and batches of
 * them. The caller may change any of it.
 */
#ifndef GA_TESTS_CUDA_EXAMPLES_H
#define GA_TESTS_CUDA_EXAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compute/compute.h"

struct test_examples {
    size_t rows;
    bool classes; /* the net asks for labels, not for targets */
    float *inputs, *targets, *weights;
    int32_t *labels;
    uint32_t *index; /* (rows) another order of them */
};

/* Inputs are about `size` large. */
void test_examples_open(struct test_examples *examples, const struct ga_net *net, size_t rows,
                        double size);
void test_examples_close(struct test_examples *examples);

/* Without an index they begin at the fourth row. */
struct ga_batch test_examples_batch(const struct test_examples *examples, size_t count,
                                    bool weighted, bool indexed);

#endif
