/*
 * What one core can do at most: float32 multiply-adds, by the widest instructions that it has, from
 * registers only. Two operations each.
 */
#ifndef GA_BENCH_PEAK_H
#define GA_BENCH_PEAK_H

#include <stdint.h>

/* Does about `operations`; gives how many it did. */
double ga_peak_run(double operations);

#endif
