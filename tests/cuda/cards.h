/*
 * What tests over the module share: the device, or a skip with the reason where a real card was
 * meant and there is none; and a view into the fake runtime, where that is what runs.
 */
#ifndef GA_TESTS_CUDA_CARDS_H
#define GA_TESTS_CUDA_CARDS_H

#include <stdbool.h>
#include <stddef.h>

#include "compute/compute.h"

/* The device with these numerics; skips the test on a machine without a card. */
const struct ga_compute *test_cuda(const char *numerics);
size_t test_cards(const struct ga_compute *compute);

/* Whether the fake runtime is what the module calls. */
bool test_on_the_fake(void);

/* Words for the fake runtime, as in fake.h; fails the test on a real card. */
void test_fake_set(const char *words);

/* Fails unless the fake runtime has found a fault since the last call, the first with this part. */
void test_fault(const char *part);

/* Fails where work was left under way on the fake runtime: each call of the device ends when its
 * work has. */
void test_at_rest(void);
size_t test_fake_under_way(void); /* streams with such work */

size_t test_fake_used(size_t card); /* bytes of its memory that are taken */

/* How many graphs were started on the fake runtime. */
size_t test_fake_launches(void);

/* Whether the fake runtime has found a fault that nobody has asked for yet. */
bool test_fake_faulty(void);

/* Until a lost card can be used again, which another thread brings about. */
void test_until_found(const struct ga_compute *compute, size_t card);

/* Fails where the fake runtime has found a fault since the last call. */
void test_no_faults(void);

#endif
