/*
 * What contexts of the CPU devices have in common: rows of examples, cut from one block that grows
 * with the batch, and what they ask of a batch.
 */
#ifndef GA_COMPUTE_CPU_ROOM_H
#define GA_COMPUTE_CPU_ROOM_H

#include <stdbool.h>
#include <stddef.h>

#include "compute/compute.h"

struct ga_cpu_room {
    float *floats; /* owned: free() */
    size_t examples;
};

/*
 * Room for `examples` of so many floats each, asked for because of a batch of `count`. 1 when there
 * is a new block, of which the rows are to be cut anew; 0 when it was large enough; GA_ENOMEM, the
 * room as it was.
 */
int ga_cpu_room_grow(struct ga_cpu_room *room, size_t examples, size_t floats, size_t count);

/* The next rows of a block, (examples, width). */
float *ga_cpu_room_cut(float **next, size_t width, size_t examples);

/* `fixed` bytes and a room's; SIZE_MAX beyond that. */
size_t ga_cpu_room_bytes(size_t fixed, size_t examples, size_t floats);

/* Of the activations only gelu's slope does not follow from its output, and has rows. */
bool ga_cpu_has_slopes(const struct ga_net *net);

/* GA_EINTERNAL for a batch that lacks what the net reads; `compared`: targets as well. */
int ga_cpu_check_batch(const struct ga_net *net, const struct ga_batch *batch, bool compared);

void *ga_cpu_alloc(size_t bytes); /* what ga_compute.alloc says */

#endif
