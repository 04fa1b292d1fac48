/*
 * Products of matrices by whatever CBLAS the machine has, loaded at the first use. One thread to a
 * call, whatever the environment says: replicas are the threads. Any thread.
 */
#ifndef GA_COMPUTE_FAST_BLAS_H
#define GA_COMPUTE_FAST_BLAS_H

#include <stdbool.h>
#include <stddef.h>

#include "compute/fast_products.h"

bool ga_fast_blas(void); /* there is one; the products below need it */

/* "OpenBLAS (Cooperlake)" to `out`, "CBLAS", or that there is none. */
void ga_fast_blas_name(char *out, size_t size);

extern const struct ga_fast_products ga_fast_blas_products;

#endif
