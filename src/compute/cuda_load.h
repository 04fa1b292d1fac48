/*
 * Opening the CUDA module. It is looked for beside the program, then in ../lib/gaconsole of the
 * program's folder; the environment variable GA_CUDA_MODULE may name the file instead. Nothing is
 * loaded before the first call.
 *
 * Threads: any; the module is opened once and stays.
 */
#ifndef GA_COMPUTE_CUDA_LOAD_H
#define GA_COMPUTE_CUDA_LOAD_H

#include <stdbool.h>

#include "compute/cuda/module.h"

/* NULL and an error that says why: not built, not found, or what the dynamic linker had to say. */
const struct ga_cuda_module *ga_cuda_load(void);

/*
 * Whether the driver lists a GPU; else the error text says why not. It asks libcuda.so.1 alone,
 * which takes a moment where there is no driver and leaves the module, and the 150 MB that come
 * with it, unopened: for a choice that nobody made by name.
 */
bool ga_cuda_expected(void);

#endif
