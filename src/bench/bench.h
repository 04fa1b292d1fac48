/*
 * `gaconsole bench`: speed, measured and printed, never asserted. A benchmark is a row of a table;
 * each alternates its contenders in rounds, so that a busy machine slows all of them alike, and
 * checks that they computed the same before it prints a figure.
 *
 * One thread at a time; a benchmark opens and closes the engines it measures.
 */
#ifndef GA_BENCH_BENCH_H
#define GA_BENCH_BENCH_H

#include <stdio.h>

/*
 * `argv` are the words behind `bench`: NAME [--rounds N] [--updates N] [--json]. Without a name, or
 * with --help, it lists the benchmarks. The result goes to `out`. Returns GA_OK, or a negative code
 * with the error text: GA_EINPUT and GA_ERANGE for wrong words, GA_EINTERNAL where results differ.
 */
int ga_bench_main(int argc, char *const argv[], FILE *out);

#endif
