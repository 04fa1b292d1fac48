/*
 * A tape of fixed-size records in chunks: grows at the end, can be cut there, and uses whole chunks
 * of the beginning again when it would pass its limit. Some of what is cut off stays as spare
 * chunks, since memory that was used before is the faster one. Positions count from the oldest
 * record kept.
 */
#ifndef GA_TRAIN_TAPE_H
#define GA_TRAIN_TAPE_H

#include <stddef.h>
#include <stdint.h>

struct ga_tape {
    size_t record_bytes;
    uint64_t limit_bytes;
    size_t chunk_records;
    char **chunk; /* (chunks + spares) blocks of so many records, spare ones behind the others */
    size_t chunks, spares, chunk_capacity;
    size_t count;     /* records kept */
    char *next, *end; /* room left in the last chunk */
};

#define GA_TAPE_CHUNK ((size_t)256)       /* records, unless ga_tape_size() says more */
#define GA_TAPE_SPARE ((uint64_t)1 << 22) /* bytes of spare chunks at the most */

void ga_tape_init(struct ga_tape *tape, size_t record_bytes, uint64_t limit_bytes);
void ga_tape_size(struct ga_tape *tape, size_t chunk_records); /* of an empty one */
void ga_tape_fini(struct ga_tape *tape);
int ga_tape_grow(struct ga_tape *tape); /* one more chunk */

/* Room for one more record, to be filled in at once; NULL with an error. */
static inline void *ga_tape_push(struct ga_tape *tape)
{
    char *record = NULL;

    if (tape->next == tape->end && ga_tape_grow(tape) < 0)
        return NULL;
    record = tape->next;
    tape->next += tape->record_bytes;
    tape->count++;
    return record;
}

/* Room for `*count` records side by side, at least one, and then: some of them were filled in. */
void *ga_tape_room(struct ga_tape *tape, size_t *count);
void ga_tape_take(struct ga_tape *tape, size_t count);

void *ga_tape_at(const struct ga_tape *tape, size_t position);
void ga_tape_cut(struct ga_tape *tape, size_t count);             /* keeps the first `count` */
void ga_tape_inherit(struct ga_tape *tape, struct ga_tape *from); /* its chunks; ends it */
int ga_tape_copy(struct ga_tape *to, const struct ga_tape *from); /* `to` is empty */
uint64_t ga_tape_bytes(const struct ga_tape *tape);               /* without spare chunks */

#endif
