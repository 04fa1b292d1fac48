/*
 * Arrays of numbers as files hold them: a shape, a type of element, and the bytes that follow.
 * IDX, NPY and the members of NPZ differ only in their headers. One owner, one thread.
 */
#ifndef GA_DATASET_ARRAY_H
#define GA_DATASET_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dataset/bytes.h"

#define GA_ARRAY_DIMENSIONS 8

enum ga_element {
    GA_ELEMENT_U8,
    GA_ELEMENT_I8,
    GA_ELEMENT_U16,
    GA_ELEMENT_I16,
    GA_ELEMENT_U32,
    GA_ELEMENT_I32,
    GA_ELEMENT_U64,
    GA_ELEMENT_I64,
    GA_ELEMENT_F32,
    GA_ELEMENT_F64,
    GA_ELEMENTS
};

struct ga_array {
    struct ga_bytes *bytes; /* behind the header; owned */
    enum ga_element element;
    bool big_endian;
    size_t dimensions; /* at least 1 */
    uint64_t shape[GA_ARRAY_DIMENSIONS];
    size_t rows;  /* shape[0] */
    size_t width; /* product of the others: 1 for one dimension */
    size_t at;    /* elements read */
};

size_t ga_element_bytes(enum ga_element element);
bool ga_element_is_whole(enum ga_element element); /* no fractions */

/*
 * Checks a shape and sets rows and width: neither is 0, rows fit 32 bits, and no more elements are
 * promised than the file can hold, so that nothing is allocated for an empty promise.
 */
int ga_array_shape(struct ga_array *array);

/* The next `count` elements, row after row, as doubles. */
int ga_array_read(struct ga_array *array, double *out, size_t count);
int ga_array_end(struct ga_array *array); /* refuses bytes behind the last row */
void ga_array_fini(struct ga_array *array);

/* An IDX or NPY file, told by its first bytes; anything else is refused. */
int ga_array_open(struct ga_array *array, const char *path);

/* Headers; `array->bytes` is at the start and then behind the header. */
bool ga_idx_is(const unsigned char *head, size_t count); /* at least 4 bytes */
int ga_idx_header(struct ga_array *array);
bool ga_npy_is(const unsigned char *head, size_t count); /* at least 6 bytes */
int ga_npy_header(struct ga_array *array);

/* "60000 x 28 x 28" */
#define GA_ARRAY_TEXT 200
const char *ga_array_text(char out[GA_ARRAY_TEXT], const struct ga_array *array);

#endif
