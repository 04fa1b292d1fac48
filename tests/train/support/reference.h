/* Reference files under tests/data/reference. A failure to read one fails the test. */
#ifndef GA_TESTS_TRAIN_REFERENCE_H
#define GA_TESTS_TRAIN_REFERENCE_H

#include <stddef.h>

#include "compute/net.h"

/* Numbers of a CSV file behind its header line; a column that does not begin with a number is 0. */
struct ga_test_numbers {
    size_t rows, columns;
    double *value; /* (rows, columns) */
};
void ga_test_numbers_read(struct ga_test_numbers *out, const char *name);
void ga_test_numbers_free(struct ga_test_numbers *numbers);
double ga_test_number(const struct ga_test_numbers *numbers, size_t row, size_t column);

/* The tensors of a safetensors file as one block in file order: `count` floats, to be freed. */
float *ga_test_reference_weights(const char *name, const struct ga_net *net);

/* The nets of the reference runs. */
void ga_test_parabola_net(struct ga_net *out);
void ga_test_digits_net(struct ga_net *out);

/* |a - b| / |b|, L2. */
double ga_test_distance(const float *a, const float *b, size_t count);

#endif
