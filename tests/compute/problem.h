/* A net with drawn weights, and examples for it that an index goes through in another order. */
#ifndef GA_TESTS_COMPUTE_PROBLEM_H
#define GA_TESTS_COMPUTE_PROBLEM_H

#include "fixture.h"

struct problem {
    struct ga_net net;
    float *weights, *inputs, *targets, *example_weights;
    int32_t *labels;
    uint32_t *index;
    double *wide;          /* the weights in double */
    struct ga_batch batch; /* all of the examples */
};

/* Weights are below `size`; with `weighted` every seventh example has the weight 0. */
void problem_open(struct problem *p, const struct ga_net *net, size_t examples, double size,
                  bool weighted);
void problem_close(struct problem *p);

#endif
