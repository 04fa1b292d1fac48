/*
 * Random runs in every update mode, and their books: at any event every example, item, nanosecond
 * and version is accounted for.
 */
#ifndef GA_TESTS_TRAIN_MODES_H
#define GA_TESTS_TRAIN_MODES_H

#include "train/support/random_start.h"
#include "train/support/run_rig.h"

#define GA_TEST_MODES 7

/*
 * A random start of random_start.h in the mode of that number, with whatever else the mode reads.
 * Nothing that is refused, and no `tail drop`, which takes rows from the stream that nobody sees.
 */
void ga_test_random_mode(struct ga_test_random_start *out, uint64_t seed, int mode);

/* Opens it, with the speeds of its replicas. */
void ga_test_open_random(struct ga_run_rig *rig, const struct ga_test_random_start *random);

/* Kept from events; check() holds them against the run as it stands. */
struct ga_test_books {
    struct ga_run *run;
    uint64_t micros, pushes, drops, applies;
    int64_t staleness; /* of pushes and running items together */
    int64_t last_ns;
    bool wrong; /* an event went back in time */
    /* What changes of settings moved for good reasons; see ga_test_books_turn(). */
    struct ga_settings settings;
    uint64_t epoch;
    bool changed;
    int64_t skipped_rows, lost_items, lost_finished;
};
void ga_test_books_open(struct ga_test_books *books, struct ga_run *run); /* watches the run */

/*
 * After every event of a run whose settings change: shards that are cut anew begin an epoch, fewer
 * replicas take their counts with them, and what an item is depends on the mode.
 */
void ga_test_books_turn(struct ga_test_books *books);
void ga_test_books_check(const struct ga_test_books *books);

/* Examples that the run has taken from its stream. */
uint64_t ga_test_taken(const struct ga_run *run);

#endif
