/* The linker sends the program's allocation calls here (--wrap), so that a test can make them fail.
 */
#include "support/support.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **out, size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);

static atomic_uint_fast64_t calls, bytes;
static atomic_int_fast64_t left = -1;

void ga_test_allocation_limit(int64_t successes)
{
    atomic_store(&left, successes);
}

void ga_test_allocation_free(void)
{
    atomic_store(&left, -1);
}

uint64_t ga_test_allocations(void)
{
    return atomic_load(&calls);
}

uint64_t ga_test_allocated_bytes(void)
{
    return atomic_load(&bytes);
}

static bool allowed(size_t size)
{
    atomic_fetch_add(&calls, 1);
    atomic_fetch_add(&bytes, size);
    int_fast64_t now = atomic_load(&left);
    while (now > 0) {
        if (atomic_compare_exchange_weak(&left, &now, now - 1))
            return true;
    }
    if (now == 0)
        errno = ENOMEM;
    return now < 0;
}

void *__wrap_malloc(size_t size)
{
    return allowed(size) ? __real_malloc(size) : NULL;
}

void *__wrap_calloc(size_t count, size_t size)
{
    return allowed(count * size) ? __real_calloc(count, size) : NULL;
}

void *__wrap_realloc(void *block, size_t size)
{
    return allowed(size) ? __real_realloc(block, size) : NULL;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return allowed(size) ? __real_aligned_alloc(alignment, size) : NULL;
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t size)
{
    return allowed(size) ? __real_posix_memalign(out, alignment, size) : ENOMEM;
}
