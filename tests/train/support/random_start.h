/* Random runs: data, window, sharding, order, backup workers, times. The same for a seed
 * everywhere.
 */
#ifndef GA_TESTS_TRAIN_RANDOM_START_H
#define GA_TESTS_TRAIN_RANDOM_START_H

#include "train/support/start.h"

struct ga_test_random_start {
    char data[64], settings[512];
    struct ga_test_start start; /* points into both */
    int32_t replicas, backup;
    double slow[16]; /* factor of each replica */
};

enum ga_test_backup { GA_TEST_NO_BACKUP, GA_TEST_ANY_BACKUP };

/* Fails no check of settings against data; at most 9 replicas, 60 rows, windows of 200 examples. */
void ga_test_random_start(struct ga_test_random_start *out, uint64_t seed,
                          enum ga_test_backup backup);

#endif
