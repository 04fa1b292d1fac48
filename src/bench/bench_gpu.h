/* The parts of `bench gpu`, each a contest of its own. */
#ifndef GA_BENCH_BENCH_GPU_H
#define GA_BENCH_BENCH_GPU_H

#include <stddef.h>

#include "bench/benchmark.h"

/*
 * The reduction of replicas' sums: four replicas on the first card, and, with `cards` of them, one
 * on each; beside copies on one card. Rates are of the bytes that the card's memory has to move.
 * Appends its report; a sum that is wrong is an error.
 */
int ga_bench_gpu_sums(const struct ga_bench_options *options, size_t cards, struct ga_text *out);

#endif
