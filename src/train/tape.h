/*
 * A tape of fixed-size records in chunks: grows at the end, can be cut there, and lets go of whole
 * chunks at the beginning when it passes its limit. Positions count from the oldest record kept.
 */
#ifndef GA_TRAIN_TAPE_H
#define GA_TRAIN_TAPE_H

#include <stddef.h>
#include <stdint.h>

struct ga_tape {
    size_t record_bytes;
    uint64_t limit_bytes;
    char **chunk; /* (chunks) blocks of GA_TAPE_CHUNK records */
    size_t chunks, chunk_capacity;
    size_t count; /* records kept */
};

#define GA_TAPE_CHUNK ((size_t)512)

void ga_tape_init(struct ga_tape *tape, size_t record_bytes, uint64_t limit_bytes);
void ga_tape_fini(struct ga_tape *tape);
int ga_tape_append(struct ga_tape *tape, const void *record);
void *ga_tape_at(const struct ga_tape *tape, size_t position);
void ga_tape_cut(struct ga_tape *tape, size_t count); /* keeps the first `count` */
uint64_t ga_tape_bytes(const struct ga_tape *tape);

#endif
