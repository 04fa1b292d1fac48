/*
 * What a test run starts from, in the words of the console, and what both rigs share. A failure
 * here fails the test, so all of it belongs to the main thread.
 */
#ifndef GA_TESTS_TRAIN_START_H
#define GA_TESTS_TRAIN_START_H

#include "base/error.h"
#include "dataset/dataset.h"
#include "settings/settings.h"

struct ga_test_start {
    const char *file;     /* a data file, or NULL */
    const char *csv;      /* the text of one, or NULL */
    const char *data;     /* the (further) words of `data`; NULL: parabola, or none with a file */
    const char *settings; /* "accum 4 lr 0.1", beside the defaults; NULL: none */
    const float *weights; /* initial weights, sets init to file; or NULL */
    size_t weights_count;
    int threads; /* engine: 0 as many as cores; run: beside the caller */
};

struct ga_dataset *ga_test_start_data(const struct ga_test_start *start);

/* Puts "name value name value" into a draft: 0, or the first setting's code. */
int ga_test_read_settings(struct ga_settings *draft, const char *words);
/* On the device that GA_TEST_DEVICE names, else the CPU, unless the words say more. */
void ga_test_start_settings(const struct ga_test_start *start, struct ga_settings *out);

/* Fails the test with this thread's error text when `code` is negative. */
#define ga_test_ok(code) ga_test_ok_at((code), __FILE__, __LINE__)
void ga_test_ok_at(int code, const char *file, int line);

/* Fails unless `code` is `want` and the error text holds `part`. */
#define ga_test_refused(code, want, part)                                                          \
    ga_test_refused_at((code), (want), (part), __FILE__, __LINE__)
void ga_test_refused_at(int code, int want, const char *part, const char *file, int line);

/* Draws for random tests: word `k` of case `seed`, below `bound`. The same on every machine. */
struct ga_test_random {
    uint64_t seed, next;
};
uint32_t ga_test_draw(struct ga_test_random *random, uint32_t bound);

#endif
