/*
 * How much memory a table may take: `limit=SIZE` of the data command, else three quarters of what
 * is free, so that a small file that unpacks to a huge table is refused, and does not take the
 * machine down. Plain values.
 */
#ifndef GA_DATASET_ROOM_H
#define GA_DATASET_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dataset/options.h"

struct ga_room {
    uint64_t bytes;
    bool told; /* by the option */
};

/*
 * Without limit= the free memory is what the system calls available, or the whole of the control
 * group this process is in where that is less.
 */
int ga_room_read(const struct ga_options *options, struct ga_room *out);

/* Refuses a table of `rows` rows of `width` numbers of 4 bytes each that does not fit. */
int ga_room_check(const struct ga_room *room, const char *name, uint64_t rows, uint64_t width);

/* GA_ERANGE: a table of more than `rows` rows of `width` numbers does not fit. */
int ga_room_refuse(const struct ga_room *room, const char *name, uint64_t rows, uint64_t width);

#endif
