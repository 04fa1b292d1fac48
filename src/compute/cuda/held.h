/*
 * Blocks of the host of which cards keep the newest values (ga_device_memory.hold). A block lies on
 * one card at the most: the one that wrote it last. What the blocks take of a card is limited; the
 * ones used least recently give way, to the host.
 *
 * A lease keeps a block's values where they are until it ends. Serials number contents: equal
 * serials, equal values; 0 is the serial of memory that is not held.
 *
 * Threads: any. Leases are taken under a desk or without one; the lock for fetching comes behind
 * the desks' and before that of the table.
 */
#ifndef GA_COMPUTE_CUDA_HELD_H
#define GA_COMPUTE_CUDA_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int ga_cuda_hold(void *block, size_t bytes);
void ga_cuda_release(void *block);
int ga_cuda_fetch(const void *block);
void ga_cuda_renew(void *block);

struct CUstream_st;
struct ga_cuda_held;

struct ga_cuda_lease {
    struct ga_cuda_held *held; /* NULL: not held */
    const void *from;          /* the newest values: on card `place`, or on the host */
    bool on_card;
    bool ahead;   /* of the host's */
    bool writing; /* nobody may read there until it ends */
    size_t place;
    uint64_t serial;
};

/* Of an address that is the start of a held block, or is not held. */
struct ga_cuda_lease ga_cuda_lease_read(const void *block);
void ga_cuda_lease_end(struct ga_cuda_lease *of); /* nothing reads there any more */

/*
 * Its first bytes for work of this stream on card `place`: *out is where they are, or `room` there,
 * to which they are brought; by way of pinned memory, `staged`, from the host.
 */
int ga_cuda_lease_bring(const struct ga_cuda_lease *of, struct CUstream_st *stream, size_t place,
                        size_t bytes, float *room, float *staged, const float **out);

/*
 * Room on the thread's card, which is `place`, to write all of a held block's values to; NULL with
 * GA_OK in *code for a block that is not held, NULL with an error where there is no room. A lease
 * that ends without written() leaves the host's values.
 */
void *ga_cuda_lease_write(struct ga_cuda_lease *out, void *block, size_t bytes, size_t place,
                          int *code);
/* The values were written: on the card, and with `host` in the block too. */
void ga_cuda_lease_written(struct ga_cuda_lease *of, bool host);

/* Copies on the thread's card, which is `place`, go to the host until so much is free, or none is
 * left that nobody uses. */
void ga_cuda_give_way(size_t bytes, size_t place);

/* Whether so few bytes are better brought to the host at once. */
bool ga_cuda_brings_back(size_t bytes);

#endif
