/*
 * Checked allocation. Sizes that overflow or memory that is not there give NULL and set GA_ENOMEM.
 * Blocks from ga_alloc_aligned() start on a 64-byte boundary and are zeroed; free() releases both.
 */
#ifndef GA_BASE_MEMORY_H
#define GA_BASE_MEMORY_H

#include <stddef.h>

void *ga_alloc(size_t count, size_t size_bytes);         /* zeroed */
void *ga_alloc_aligned(size_t count, size_t size_bytes); /* zeroed, 64-byte aligned */
char *ga_copy_string(const char *string);

/*
 * Makes `*array` hold at least `need` elements, doubling; the new part is not initialised.
 * `*capacity` is in elements. On failure nothing changes and GA_ENOMEM is returned.
 */
int ga_grow(void **array, size_t *capacity, size_t need, size_t size_bytes);

#endif
