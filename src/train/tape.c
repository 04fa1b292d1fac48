#include "train/tape.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/memory.h"

#define PAGE_BYTES ((uintptr_t)4096)

void ga_tape_init(struct ga_tape *tape, size_t record_bytes, uint64_t limit_bytes)
{
    memset(tape, 0, sizeof *tape);
    tape->record_bytes = record_bytes;
    tape->limit_bytes = limit_bytes;
    tape->chunk_records = GA_TAPE_CHUNK;
}

static void free_spares(struct ga_tape *tape, size_t keep)
{
    while (tape->spares > keep)
        free(tape->chunk[tape->chunks + --tape->spares]);
}

void ga_tape_size(struct ga_tape *tape, size_t chunk_records)
{
    if (chunk_records != tape->chunk_records)
        free_spares(tape, 0);
    tape->chunk_records = chunk_records;
}

void ga_tape_fini(struct ga_tape *tape)
{
    ga_tape_cut(tape, 0);
    free_spares(tape, 0);
    free(tape->chunk);
    tape->chunk = NULL;
    tape->chunk_capacity = 0;
}

static size_t chunk_bytes(const struct ga_tape *tape)
{
    return tape->chunk_records * tape->record_bytes;
}

uint64_t ga_tape_bytes(const struct ga_tape *tape)
{
    return (uint64_t)tape->chunks * chunk_bytes(tape);
}

static char *take_oldest(struct ga_tape *tape)
{
    char *oldest = tape->chunk[0];

    tape->chunks--;
    memmove(tape->chunk, tape->chunk + 1, (tape->chunks + tape->spares) * sizeof *tape->chunk);
    tape->count -= tape->chunk_records;
    return oldest;
}

/* Pages that are made one by one, when they are first written, cost more than what is written. */
static void make_pages(char *chunk, size_t bytes)
{
#ifdef MADV_POPULATE_WRITE
    size_t before = (size_t)(-(uintptr_t)chunk % PAGE_BYTES);

    /* Where the kernel does not know of it, they come as they are written. */
    if (bytes > before + PAGE_BYTES)
        madvise(chunk + before, (bytes - before) / PAGE_BYTES * PAGE_BYTES, MADV_POPULATE_WRITE);
#else
    (void)chunk;
    (void)bytes;
#endif
}

/* A short tape finds memory that was used before. */
static char *make_chunk(struct ga_tape *tape)
{
    char *chunk = NULL;

    if (tape->spares > 0)
        return tape->chunk[tape->chunks + --tape->spares];
    chunk = malloc(chunk_bytes(tape));
    if (chunk && tape->chunks > 0)
        make_pages(chunk, chunk_bytes(tape));
    return chunk;
}

int ga_tape_grow(struct ga_tape *tape)
{
    char *chunk = NULL;

    if (ga_grow((void **)&tape->chunk, &tape->chunk_capacity, tape->chunks + tape->spares + 1,
                sizeof *tape->chunk) < 0)
        return ga_error_code();
    while (tape->chunks > 1 && ga_tape_bytes(tape) + chunk_bytes(tape) > tape->limit_bytes) {
        free(chunk);
        chunk = take_oldest(tape);
    }
    if (!chunk)
        chunk = make_chunk(tape);
    if (!chunk)
        return ga_fail(GA_ENOMEM, "no memory for the history");
    if (tape->spares > 0)
        tape->chunk[tape->chunks + tape->spares] = tape->chunk[tape->chunks];
    tape->chunk[tape->chunks++] = chunk;
    tape->next = chunk;
    tape->end = chunk + chunk_bytes(tape);
    return GA_OK;
}

void *ga_tape_room(struct ga_tape *tape, size_t *count)
{
    if (tape->next == tape->end && ga_tape_grow(tape) < 0)
        return NULL;
    *count = (size_t)(tape->end - tape->next) / tape->record_bytes;
    return tape->next;
}

void ga_tape_take(struct ga_tape *tape, size_t count)
{
    tape->next += count * tape->record_bytes;
    tape->count += count;
}

void ga_tape_inherit(struct ga_tape *tape, struct ga_tape *from)
{
    ga_tape_cut(from, 0);
    if (tape->chunks + tape->spares == 0 && chunk_bytes(tape) == chunk_bytes(from)) {
        free(tape->chunk);
        tape->chunk = from->chunk;
        tape->spares = from->spares;
        tape->chunk_capacity = from->chunk_capacity;
        from->chunk = NULL;
        from->spares = from->chunk_capacity = 0;
    }
    ga_tape_fini(from);
}

int ga_tape_copy(struct ga_tape *to, const struct ga_tape *from)
{
    for (size_t k = 0; k < from->count; k++) {
        void *record = ga_tape_push(to);

        if (!record)
            return ga_error_code();
        memcpy(record, ga_tape_at(from, k), from->record_bytes);
    }
    return GA_OK;
}

void *ga_tape_at(const struct ga_tape *tape, size_t position)
{
    return tape->chunk[position / tape->chunk_records] +
           position % tape->chunk_records * tape->record_bytes;
}

void ga_tape_cut(struct ga_tape *tape, size_t count)
{
    const size_t left = (count + tape->chunk_records - 1) / tape->chunk_records;
    size_t used = 0;

    tape->count = count;
    if (tape->chunks > left) {
        tape->spares += tape->chunks - left;
        tape->chunks = left;
        free_spares(tape, (size_t)(GA_TAPE_SPARE / chunk_bytes(tape)));
    }
    tape->next = tape->end = NULL;
    if (tape->chunks == 0)
        return;
    used = count - (tape->chunks - 1) * tape->chunk_records;
    tape->next = tape->chunk[tape->chunks - 1] + used * tape->record_bytes;
    tape->end = tape->chunk[tape->chunks - 1] + chunk_bytes(tape);
}
