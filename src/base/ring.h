/*
 * A ring of fixed-size records between one producer and one consumer thread, without locks.
 * Capacity is rounded up to a power of two. Full and empty are answers, not waits.
 */
#ifndef GA_BASE_RING_H
#define GA_BASE_RING_H

#include <stdbool.h>
#include <stddef.h>

struct ga_ring;

int ga_ring_open(struct ga_ring **out, size_t capacity, size_t record_bytes);
void ga_ring_close(struct ga_ring *ring);
bool ga_ring_push(struct ga_ring *ring, const void *record); /* false: full */
bool ga_ring_pop(struct ga_ring *ring, void *record);        /* false: empty */
size_t ga_ring_count(const struct ga_ring *ring);

#endif
