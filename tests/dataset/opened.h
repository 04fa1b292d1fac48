/* Opening data sets from one line of words, for the tests of this folder. */
#ifndef GA_TESTS_DATASET_OPENED_H
#define GA_TESTS_DATASET_OPENED_H

#include "dataset/dataset.h"

/* The words of `line` (blanks separate) behind `first`, which may hold blanks; NULL: all in `line`.
 */
int ga_test_data(struct ga_dataset **out, const char *first, const char *line, const char *folder);

/* A folder of its own for each test (CMocka set-up and tear-down). */
extern char *ga_test_here;
int ga_test_make_folder(void **state);
int ga_test_remove_folder(void **state);

/* Writes t.csv there and opens it. */
int ga_test_open_bytes(struct ga_dataset **out, const void *bytes, size_t length,
                       const char *options);

#endif
