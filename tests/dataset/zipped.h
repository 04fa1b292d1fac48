/* Zip archives put together byte by byte, for what no library writes. */
#ifndef GA_TESTS_DATASET_ZIPPED_H
#define GA_TESTS_DATASET_ZIPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* One entry; zero in what is not set. */
struct ga_zipped {
    const char *name; /* "x.npy" */
    const void *bytes;
    size_t count;
    bool deflated;
    bool zip64;        /* sizes in the extra field of version 4.5 */
    uint16_t flags;    /* 1: encrypted */
    uint16_t method;   /* in the place of the true one */
    uint32_t promised; /* in the place of the true size */
};

/* `out` is empty and becomes the archive. */
void ga_zipped_write(struct ga_text *out, const struct ga_zipped *entry, size_t entries);

#endif
