#include "base/memory.h"

#include "base/error.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64

/* The size of a block in bytes, or 0 with the error set. An empty block still has an address. */
static size_t block_bytes(size_t count, size_t size_bytes)
{
    size_t total = 0;
    if (__builtin_mul_overflow(count, size_bytes, &total) || total > PTRDIFF_MAX - ALIGNMENT) {
        ga_fail(GA_ENOMEM, "%zu elements of %zu bytes are more than this machine can address",
                count, size_bytes);
        return 0;
    }
    return total > 0 ? total : 1;
}

static void *checked(void *block, size_t total)
{
    if (!block)
        ga_fail(GA_ENOMEM, "out of memory: %zu bytes were asked for", total);
    return block;
}

void *ga_alloc(size_t count, size_t size_bytes)
{
    const size_t total = block_bytes(count, size_bytes);
    return total > 0 ? checked(calloc(1, total), total) : NULL;
}

void *ga_alloc_aligned(size_t count, size_t size_bytes)
{
    size_t total = block_bytes(count, size_bytes);
    if (total == 0)
        return NULL;
    total = (total + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    void *block = checked(aligned_alloc(ALIGNMENT, total), total);
    if (block)
        memset(block, 0, total);
    return block;
}

char *ga_copy_string(const char *string)
{
    const size_t size = strlen(string) + 1;
    char *copy = checked(malloc(size), size);
    if (copy)
        memcpy(copy, string, size);
    return copy;
}

int ga_grow(void **array, size_t *capacity, size_t need, size_t size_bytes)
{
    if (need <= *capacity)
        return GA_OK;
    size_t wanted = *capacity < 8 ? 8 : *capacity;
    while (wanted < need)
        wanted = wanted > SIZE_MAX / 2 ? need : wanted * 2;
    const size_t total = block_bytes(wanted, size_bytes);
    if (total == 0)
        return GA_ENOMEM;
    void *block = checked(realloc(*array, total), total);
    if (!block)
        return GA_ENOMEM;
    *array = block;
    *capacity = wanted;
    return GA_OK;
}
