/* IDX, NPY and NPZ files made for the tests of this folder. */
#ifndef GA_TESTS_DATASET_MADE_H
#define GA_TESTS_DATASET_MADE_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* The IDX header of a type and shape; the elements are appended by the caller. */
void ga_made_idx(struct ga_text *out, unsigned char type, size_t dimensions, const uint32_t *shape);

/* An NPY file of a version with this header dictionary, padded with blanks, and these bytes. */
void ga_made_npy(struct ga_text *out, int version, const char *header, const void *bytes,
                 size_t count);

/* {'descr': DESCR, 'fortran_order': False, 'shape': SHAPE, } in version 1. */
void ga_made_array(struct ga_text *out, const char *descr, const char *shape, const void *bytes,
                   size_t count);

/* Writes a file into the folder of the test and empties the text. */
void ga_made_file(const char *name, struct ga_text *text);

/* Adds NAME.npy to an archive of the test's folder, which is made when it is not there. */
void ga_made_member(const char *archive, const char *name, struct ga_text *text, int deflate);

#endif
