/*
 * What goes element by element at a card's desk: adding sums, dividing them, optimizer steps. Each
 * call ends when its work is done. A failure is kept for ga_cuda_poll(), because these functions of
 * the device table have no code to give.
 */
#ifndef GA_COMPUTE_CUDA_ELEMENTS_H
#define GA_COMPUTE_CUDA_ELEMENTS_H

#include "compute/compute.h"

void ga_cuda_add(const struct ga_net *net, void *to, const void *from);
void ga_cuda_clear(const struct ga_net *net, void *sums);
double ga_cuda_mean(const struct ga_net *net, const void *sums, double divisor, float *gradient);
void ga_cuda_read_sums(const struct ga_net *net, const void *sums, size_t first, size_t count,
                       double *out);

/* The same for the fast device's sums. */
void ga_cuda_add_float(const struct ga_net *net, void *to, const void *from);
void ga_cuda_clear_float(const struct ga_net *net, void *sums);
double ga_cuda_mean_float(const struct ga_net *net, const void *sums, double divisor,
                          float *gradient);
void ga_cuda_read_sums_float(const struct ga_net *net, const void *sums, size_t first, size_t count,
                             double *out);

/* Of both. */
void ga_cuda_step(const struct ga_net *net, const struct ga_step *step, const float *gradient,
                  const float *weights, const float *state, float *new_weights, float *new_state);

bool ga_cuda_measure(enum ga_measure kind, const float *a, const float *b, size_t count,
                     double *sum);

/* The card that steps are made on: that of the context opened last. */
void ga_cuda_set_home(size_t place);

#endif
