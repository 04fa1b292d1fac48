/*
 * What the module has taken of each card's memory, and of the host's that is pinned, to the byte
 * and by what for. What stays with a lost card for good stays in the account. Threads: any.
 */
#ifndef GA_COMPUTE_CUDA_ACCOUNT_H
#define GA_COMPUTE_CUDA_ACCOUNT_H

#include <stdbool.h>

#include "compute/compute.h"

/* False, with an error, where there is no memory to note it. */
bool ga_cuda_account(const void *at, size_t bytes, size_t place, enum ga_device_use use);
void ga_cuda_unaccount(const void *at); /* before it is given back: then others may get it */
void ga_cuda_usage(size_t place, size_t bytes[GA_DEVICE_USES]);

#endif
