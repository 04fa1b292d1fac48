/*
 * One column of a screen's memory: floats in rows, with a power-of-two pyramid of what each
 * stretch of 16, 32, 64, ... values holds. Memory comes in chunks, so nothing is ever moved: 4
 * bytes a value and 2 for the pyramid. Only whole stretches have a block; a shorter column makes
 * the blocks behind it stale, and they are written anew before they are read.
 *
 * A curve begins at row `start`; rows before it are missing. One thread.
 */
#ifndef GA_UI_CURVE_H
#define GA_UI_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ga_extent; /* ui/samples.h */

/* A growing array that never moves its elements. */
struct ga_store {
    void **chunk;
    size_t chunks, capacity; /* of the list of chunks */
    size_t element_bytes;
    unsigned chunk_shift; /* a chunk has 1 << chunk_shift elements */
};

void ga_store_init(struct ga_store *store, size_t element_bytes, unsigned chunk_shift);
void ga_store_fini(struct ga_store *store);

/* Element `index`, which was reserved before. */
static inline void *ga_store_at(const struct ga_store *store, size_t index)
{
    return (char *)store->chunk[index >> store->chunk_shift] +
           (index & (((size_t)1 << store->chunk_shift) - 1)) * store->element_bytes;
}

int ga_store_reserve(struct ga_store *store, size_t index); /* makes it exist */
size_t ga_store_bytes(const struct ga_store *store);

#define GA_CURVE_LEVELS  40
#define GA_CURVE_NOWHERE ((size_t)-1)

struct ga_curve {
    size_t start; /* row of the first value; NOWHERE: none yet */
    size_t count; /* values */
    struct ga_store value;
    struct ga_store level[GA_CURVE_LEVELS]; /* blocks of 16 << k values */
};

void ga_curve_init(struct ga_curve *curve);
void ga_curve_fini(struct ga_curve *curve);
size_t ga_curve_bytes(const struct ga_curve *curve);

/* A figure that is not there, and whether one is. Not NaN, which is a value. */
float ga_curve_missing(void);
bool ga_curve_is_missing(float value);

/* Doubles beyond the range of float become its largest value; NaN and infinities stay. */
float ga_curve_narrow(double value);

/* The value of row `row`, which must be the next one; a curve starts with its first value. */
int ga_curve_append(struct ga_curve *curve, size_t row, float value);
void ga_curve_truncate(struct ga_curve *curve, size_t rows);
float ga_curve_get(const struct ga_curve *curve, size_t row);
struct ga_extent ga_curve_extent(const struct ga_curve *curve, size_t first, size_t end,
                                 bool positive);

/* Of each eight rows keeps four: least, greatest, a non-finite one, the last. `rows` is a multiple
 * of 8. */
void ga_curve_thin(struct ga_curve *curve, size_t rows);

#endif
