/*
 * Weights alone, under PyTorch's names: for `export weights FILE` and `init-from FILE`. Loading
 * takes a file of exactly the model's tensors (float32, or float64 that is rounded once); a
 * checkpoint will do too, its other tensors are passed over.
 */
#ifndef GA_STORAGE_WEIGHTS_H
#define GA_STORAGE_WEIGHTS_H

#include "train/state.h"

/* Writes atomically. `weights` are in file order, net->parameters of them. */
int ga_weights_save(const char *path, const struct ga_net *net, const float *weights);

/* Fills `weights`, or leaves them as they are and names tensor and shape that were expected. */
int ga_weights_load(const char *path, const struct ga_net *net, float *weights);

#endif
