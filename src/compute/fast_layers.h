/*
 * The fast device's large nets: layer by layer, example by example, as products of matrices
 * (fast_products.h) with the kernels' passes over rows between them. Which layers the kernels
 * multiply and which BLAS does, is decided here. The work area is the caller's, and so are threads.
 */
#ifndef GA_COMPUTE_FAST_LAYERS_H
#define GA_COMPUTE_FAST_LAYERS_H

#include "compute/fast_kernel.h"

/* Whether a net is large; with neither products of the kernels nor BLAS none is. */
bool ga_fast_goes_by_layers(const struct ga_net *net);

/* Floats that a large net's work.own and work.products take. */
size_t ga_fast_layers_own(const struct ga_net *net);
size_t ga_fast_layers_scratch(const struct ga_net *net);

/* As ga_compute.accumulate, for batches that the rows have room for. */
void ga_fast_layers_gradient(const struct ga_fast_work *work, const float *weights,
                             const struct ga_batch *batch, const float *onto, float *sums,
                             struct ga_tally *tally, double *square);

/* As in ga_compute, for batches of any size: as many examples at a time as there is room for. */
void ga_fast_layers_evaluate(const struct ga_fast_work *work, const float *weights,
                             const struct ga_batch *batch, struct ga_tally *tally);
void ga_fast_layers_predict(const struct ga_fast_work *work, const float *weights,
                            const struct ga_batch *batch, float *outputs);

#endif
