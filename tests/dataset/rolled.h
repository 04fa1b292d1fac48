/* Random cases of the example stream; a case comes from its number alone. */
#ifndef GA_TESTS_DATASET_ROLLED_H
#define GA_TESTS_DATASET_ROLLED_H

#include "dataset/stream.h"

enum { MAX_ROWS = 60, MAX_REPLICAS = 12, MAX_WINDOW = 150 };

struct ga_test_dice {
    uint64_t number, drawn;
};

/* low..high */
size_t ga_test_roll(struct ga_test_dice *dice, size_t low, size_t high);

struct ga_stream_spec ga_test_roll_spec(struct ga_test_dice *dice);

/* A window size that the spec allows. */
size_t ga_test_roll_window(struct ga_test_dice *dice, const struct ga_stream_spec *spec);

#endif
