#include "train/tape.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

void ga_tape_init(struct ga_tape *tape, size_t record_bytes, uint64_t limit_bytes)
{
    memset(tape, 0, sizeof *tape);
    tape->record_bytes = record_bytes;
    tape->limit_bytes = limit_bytes;
}

void ga_tape_fini(struct ga_tape *tape)
{
    ga_tape_cut(tape, 0);
    free(tape->chunk);
    tape->chunk = NULL;
    tape->chunk_capacity = 0;
}

uint64_t ga_tape_bytes(const struct ga_tape *tape)
{
    return (uint64_t)tape->chunks * GA_TAPE_CHUNK * tape->record_bytes;
}

static void drop_oldest(struct ga_tape *tape)
{
    free(tape->chunk[0]);
    tape->chunks--;
    memmove(tape->chunk, tape->chunk + 1, tape->chunks * sizeof *tape->chunk);
    tape->count -= GA_TAPE_CHUNK;
}

int ga_tape_grow(struct ga_tape *tape)
{
    char *chunk = NULL;

    while (tape->chunks > 1 &&
           ga_tape_bytes(tape) + GA_TAPE_CHUNK * tape->record_bytes > tape->limit_bytes)
        drop_oldest(tape);
    if (ga_grow((void **)&tape->chunk, &tape->chunk_capacity, tape->chunks + 1,
                sizeof *tape->chunk) < 0)
        return ga_error_code();
    chunk = malloc(GA_TAPE_CHUNK * tape->record_bytes);
    if (!chunk)
        return ga_fail(GA_ENOMEM, "no memory for the history");
    tape->chunk[tape->chunks++] = chunk;
    tape->next = chunk;
    tape->end = chunk + GA_TAPE_CHUNK * tape->record_bytes;
    return GA_OK;
}

int ga_tape_append(struct ga_tape *tape, const void *records, size_t count)
{
    const char *from = records;

    while (count > 0) {
        size_t room = 0, some = 0;

        if (tape->next == tape->end && ga_tape_grow(tape) < 0)
            return ga_error_code();
        room = (size_t)(tape->end - tape->next) / tape->record_bytes;
        some = count < room ? count : room;
        memcpy(tape->next, from, some * tape->record_bytes);
        tape->next += some * tape->record_bytes;
        tape->count += some;
        from += some * tape->record_bytes;
        count -= some;
    }
    return GA_OK;
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
    return tape->chunk[position / GA_TAPE_CHUNK] + position % GA_TAPE_CHUNK * tape->record_bytes;
}

void ga_tape_cut(struct ga_tape *tape, size_t count)
{
    size_t used = 0;

    tape->count = count;
    while (tape->chunks > (count + GA_TAPE_CHUNK - 1) / GA_TAPE_CHUNK)
        free(tape->chunk[--tape->chunks]);
    tape->next = tape->end = NULL;
    if (tape->chunks == 0)
        return;
    used = count - (tape->chunks - 1) * GA_TAPE_CHUNK;
    tape->next = tape->chunk[tape->chunks - 1] + used * tape->record_bytes;
    tape->end = tape->chunk[tape->chunks - 1] + GA_TAPE_CHUNK * tape->record_bytes;
}
