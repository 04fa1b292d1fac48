/*
 * What reader and writer of the safetensors format share: the dtype table, the name of the metadata
 * entry, limits, and names made fit for an error text. Private to storage.
 */
#ifndef GA_STORAGE_DTYPE_H
#define GA_STORAGE_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "storage/safetensors.h"

#define GA_SAFETENSORS_METADATA "__metadata__"
#define GA_SAFETENSORS_PREFIX   8 /* bytes of the header length */
#define GA_SAFETENSORS_HEADER                                                                      \
    UINT64_C(16777216) /* longest header, bytes: bounds what JSON may cost */
#define GA_SAFETENSORS_FILE (UINT64_C(1) << 36) /* longest file, bytes */

/* -1 for a word that is not in the table. */
int ga_dtype_find(const char *word);

/* Product of the dimensions times the element size; false when that overflows. */
bool ga_dtype_size(enum ga_dtype dtype, int dimensions, const size_t *shape, size_t *bytes);

/* A name from a file, shortened, with everything but printable ASCII as '?': safe on a terminal. */
#define GA_SHOWN_NAME 72
const char *ga_show_name(char out[GA_SHOWN_NAME], const char *name);

/* "F32 [5,1]" */
#define GA_SHOWN_SHAPE 120
const char *ga_show_shape(char out[GA_SHOWN_SHAPE], enum ga_dtype dtype, int dimensions,
                          const size_t *shape);

#endif
