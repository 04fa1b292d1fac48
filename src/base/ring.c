#include "base/ring.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Positions count records since the opening and wrap with size_t. Each side keeps its last look at
 * the other's position beside its own, so that it fetches the other's cache line only when it must.
 */
struct ga_ring {
    alignas(64) atomic_size_t written; /* stored by the producer */
    size_t read_seen;                  /* producer only */
    alignas(64) atomic_size_t read;    /* stored by the consumer */
    size_t written_seen;               /* consumer only */
    alignas(64) size_t mask;           /* capacity - 1 */
    size_t record_bytes;
    unsigned char *records;
};

static int round_up(size_t capacity, size_t *out)
{
    size_t rounded = 1;
    while (rounded < capacity) {
        if (rounded > SIZE_MAX / 2)
            return ga_fail(GA_ENOMEM, "a ring of %zu records is more than can be addressed",
                           capacity);
        rounded *= 2;
    }
    *out = rounded;
    return GA_OK;
}

int ga_ring_open(struct ga_ring **out, size_t capacity, size_t record_bytes)
{
    size_t rounded = 0;
    *out = NULL;
    if (capacity == 0 || record_bytes == 0)
        return ga_fail(GA_EINPUT, "a ring of %zu records of %zu bytes, expected at least 1 of each",
                       capacity, record_bytes);
    if (round_up(capacity, &rounded) != GA_OK)
        return GA_ENOMEM;
    struct ga_ring *ring = ga_alloc_aligned(1, sizeof *ring);
    if (!ring)
        return GA_ENOMEM;
    ring->records = ga_alloc_aligned(rounded, record_bytes);
    if (!ring->records) {
        free(ring);
        return GA_ENOMEM;
    }
    atomic_init(&ring->written, 0);
    atomic_init(&ring->read, 0);
    ring->mask = rounded - 1;
    ring->record_bytes = record_bytes;
    *out = ring;
    return GA_OK;
}

void ga_ring_close(struct ga_ring *ring)
{
    if (!ring)
        return;
    free(ring->records);
    free(ring);
}

bool ga_ring_push(struct ga_ring *ring, const void *record)
{
    const size_t written = atomic_load_explicit(&ring->written, memory_order_relaxed);
    if (written - ring->read_seen > ring->mask) {
        ring->read_seen = atomic_load_explicit(&ring->read, memory_order_acquire);
        if (written - ring->read_seen > ring->mask)
            return false;
    }
    memcpy(ring->records + (written & ring->mask) * ring->record_bytes, record, ring->record_bytes);
    atomic_store_explicit(&ring->written, written + 1, memory_order_release);
    return true;
}

bool ga_ring_pop(struct ga_ring *ring, void *record)
{
    const size_t read = atomic_load_explicit(&ring->read, memory_order_relaxed);
    if (read == ring->written_seen) {
        ring->written_seen = atomic_load_explicit(&ring->written, memory_order_acquire);
        if (read == ring->written_seen)
            return false;
    }
    memcpy(record, ring->records + (read & ring->mask) * ring->record_bytes, ring->record_bytes);
    atomic_store_explicit(&ring->read, read + 1, memory_order_release);
    return true;
}

/* `read` first: the producer can only add meanwhile. A third thread may see more than the capacity.
 */
size_t ga_ring_count(const struct ga_ring *ring)
{
    const size_t read = atomic_load_explicit(&ring->read, memory_order_acquire);
    const size_t count = atomic_load_explicit(&ring->written, memory_order_acquire) - read;
    return count <= ring->mask ? count : ring->mask + 1;
}
