/*
 * What a number of a data file may be, by what it is for. Each gives NULL and stores the value, or
 * the words behind "expected".
 */
#ifndef GA_DATASET_CELL_H
#define GA_DATASET_CELL_H

#include <stddef.h>
#include <stdint.h>

#define GA_CELL_CLASSES 65536

/* A float: finite, and within the range of one. */
const char *ga_cell_float(double value, float *out);

/* A whole number 0 .. classes-1. `text` is room for the answer. */
#define GA_CELL_TEXT 80
const char *ga_cell_label(double value, size_t classes, int32_t *out, char text[GA_CELL_TEXT]);

/* 0, or a weight for which the sums of weighted terms stay exact. */
const char *ga_cell_weight(double value, float *out);

#endif
