/*
 * Collectives between replicas: what a transport must do. A group has `ranks` members; the caller
 * (one thread) passes one buffer per rank. Counts are elements, never bytes.
 *
 * All-reduce leaves in every distinct buffer the element-wise sum over all ranks. The exact sums of
 * the compute room are free of order, so every transport and algorithm gives the same bits for
 * them.
 *
 * Errors: 0 or a negative ga_code with text, which names the members at fault where the transport
 * knows them. After a failed all-reduce or broadcast the group is unusable until it is closed; a
 * failed reduce, which leaves the members' buffers as they were, may be tried again.
 */
#ifndef GA_COLLECTIVE_COLLECTIVE_H
#define GA_COLLECTIVE_COLLECTIVE_H

#include <stddef.h>
#include <stdint.h>

#include "compute/compute.h"

struct ga_group; /* opaque, of one transport */

/*
 * A reduce() that begins while gradients are still being computed: each rank says, part by part,
 * when its elements are there (ga_told of compute/compute.h). What the ranks told must stay as it
 * is until end() or drop(). The same sums, element by element, as reduce() makes.
 */
struct ga_collective_parts {
    /*
     * Drops what was told before. Greater than 0 where the next sum of all ranks, `count` elements
     * to `result`, may come in parts; 0 where reduce() is better: the buffers are small, or the
     * group has not done the same sum by reduce() before, which makes all room for it.
     */
    int (*begin)(struct ga_group *group, void *result, size_t count, enum ga_type type);
    /*
     * Elements [first, first + count) of the rank's whole buffer are there when the mark says so.
     * From the last elements to the first, without gaps. Any thread, one at a time for a rank. When
     * all ranks have told all, the sums begin.
     */
    int (*part)(struct ga_group *group, size_t rank, const void *buffer, size_t first, size_t count,
                const void *mark);
    /* Waits for the result. Fails at once where a rank has not told all of its parts, and like
     * reduce() else; then reduce() may still be tried. */
    int (*end)(struct ga_group *group);
    /* Forgets what was told; sums under way are waited for, or aborted when they take too long. */
    void (*drop)(struct ga_group *group);
};

struct ga_collective {
    const char *name;   /* "shared" */
    const char *reason; /* why it is what it is, for the device panel */
    size_t ranks_limit; /* members at the most; 0: any number */

    int (*open)(struct ga_group **out, size_t ranks);
    void (*close)(struct ga_group *group); /* NULL is fine */

    /*
     * Sums `count` elements of `type` over the buffers of all ranks, in place. An entry may be
     * NULL: that rank contributes nothing and receives nothing (an empty share, a late replica).
     */
    int (*all_reduce)(struct ga_group *group, void *const *buffers, size_t count,
                      enum ga_type type);

    /* The same sum into one buffer only, which is none of the members'; buffers stay as they are.
     */
    int (*reduce)(struct ga_group *group, const void *const *buffers, void *result, size_t count,
                  enum ga_type type);

    /* Copies the root's buffer to all others. GA_EINPUT for a root beyond the group or NULL there.
     */
    int (*broadcast)(struct ga_group *group, void *const *buffers, size_t root, size_t count,
                     enum ga_type type);

    /* 0 while all is well; else the error that a peer or the transport met meanwhile. */
    int (*poll)(struct ga_group *group);

    /* Makes pending and later calls fail with GA_ESTATE. Any thread. */
    void (*abort)(struct ga_group *group);

    const struct ga_collective_parts *parts; /* NULL where the transport has none */
};

extern const struct ga_collective ga_collective_shared;

/* The one for buffers of this device: the first that can serve, or the module's where they lie on
 * cards. NULL and an error where there is none. */
const struct ga_collective *ga_collective_for(const struct ga_compute *compute, size_t ranks);

/* By name; "" takes the first that can serve. NULL and an error that lists what there is. */
const struct ga_collective *ga_collective_find(const char *name, size_t ranks);
size_t ga_collective_count(void);
const struct ga_collective *ga_collective_at(size_t position);

/* Bytes that a ring all-reduce moves per rank: 2 (P-1)/P * bytes (Patarasuk and Yuan, 2009). */
double ga_collective_ring_bytes(size_t ranks, double bytes);

#endif
