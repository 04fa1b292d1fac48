/*
 * `gaconsole bench`: speed, measured and printed, never asserted. A benchmark is a row of a table;
 * each alternates its contenders in rounds, so that a busy machine slows all of them alike, and
 * checks that they computed the same before it prints a figure.
 *
 * One thread at a time; a benchmark opens and closes the engines it measures.
 */
#ifndef GA_BENCH_BENCH_H
#define GA_BENCH_BENCH_H

#include <stddef.h>
#include <stdio.h>

struct ga_benchmark; /* bench/benchmark.h */

/*
 * `argv` are the words behind `bench`: NAME [--rounds N] [--updates N] [--json]. Without a name, or
 * with --help, it lists the benchmarks: its own, and the `count` of `more`, for what this room may
 * not use. The result goes to `out`. Returns GA_OK, or a negative code
 * with the error text: GA_EINPUT and GA_ERANGE for wrong words, GA_EINTERNAL where results differ.
 */
int ga_bench_main(int argc, char *const argv[], const struct ga_benchmark *const *more,
                  size_t count, FILE *out);

#endif
