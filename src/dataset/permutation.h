/*
 * The order of the training rows in one epoch. It depends on (seed, epoch) and the number of rows
 * alone.
 *
 * Shuffle (Fisher and Yates, from the end): for i = rows-1 .. 1 swap i with j = (u * (i+1)) >> 32.
 * u is word i mod 4 of the Philox draw with index = floor(i/4) + 2^32 * (low half of the epoch) and
 * replica = high half of the epoch, so no two (epoch, i) share a word.
 */
#ifndef GA_DATASET_PERMUTATION_H
#define GA_DATASET_PERMUTATION_H

#include <stddef.h>
#include <stdint.h>

#include "base/random.h"

/* out[i] = i for i < rows <= 2^32 - 1. */
void ga_permutation_identity(uint32_t *out, size_t rows);

/* The identity, shuffled. `purpose` keeps draws for different ends apart. */
void ga_permutation_shuffle(uint32_t *out, size_t rows, uint64_t seed, uint64_t epoch,
                            enum ga_purpose purpose);

#endif
