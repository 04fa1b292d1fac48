/* Opening data sets from one line of words, for the tests of this folder. */
#ifndef GA_TESTS_DATASET_OPENED_H
#define GA_TESTS_DATASET_OPENED_H

#include "dataset/dataset.h"

/* The words of `line` (blanks separate) behind `first`, which may hold blanks; NULL: all in `line`.
 */
int ga_test_data(struct ga_dataset **out, const char *first, const char *line, const char *folder);

#endif
