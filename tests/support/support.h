/*
 * What every test binary uses: CMocka, assert_close(), skipping with a reason, temporary folders
 * and allocations that fail on demand. CMocka's asserts, and those here, belong to the main thread:
 * on any other they would end the whole group, so threads report through variables.
 *
 * Environment: GA_TEST_SCALE, a number in (0, 1], multiplies the counts of repeated tests, so that
 * sanitizers and valgrind finish in reasonable time (see ga_test_count()).
 *
 * A test file ends with: int main(void) { return ga_test_main(tests); }
 */
#ifndef GA_TESTS_SUPPORT_H
#define GA_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* These cast to float and pass on NaN. */
#undef assert_float_equal
#undef assert_float_not_equal
#pragma GCC poison assert_float_equal assert_float_not_equal

/*
 * Fails unless `got` equals `want` or |got - want| <= rel * |want|. NaN on either side fails; with
 * want = 0 only 0 passes. Arguments are doubles.
 */
#define assert_close(got, want, rel)                                                               \
    ga_test_assert_close((got), (want), (rel), #got, __FILE__, __LINE__)

bool ga_test_close(double got, double want, double rel);
void ga_test_assert_close(double got, double want, double rel, const char *what, const char *file,
                          int line);

/* Prints the reason and skips the running test. */
#define ga_test_skip(...) ga_test_skip_at(__FILE__, __LINE__, __VA_ARGS__)
void ga_test_skip_at(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Runs all tests of an array: 0, 1 when one failed, 77 when all were skipped. */
#define ga_test_main(tests) ga_test_run(#tests, (tests), sizeof(tests) / sizeof((tests)[0]))
int ga_test_run(const char *group, const struct CMUnitTest *tests, size_t count);

/* `full` times GA_TEST_SCALE, at least 1. */
size_t ga_test_count(size_t full);

/* How far a loop over all positions steps so that it tries the same share of them: 1 /
 * GA_TEST_SCALE. */
size_t ga_test_stride(void);

/*
 * Allocations: after `successes` further calls of malloc and its kin from the program's own code
 * each one gives NULL, until ga_test_allocation_free(). -1 means no limit. ga_test_allocations()
 * counts calls since the start of the process, ga_test_allocated_bytes() what they asked for: what
 * the program's own code holds never grows by more in between.
 */
void ga_test_allocation_limit(int64_t successes);
void ga_test_allocation_free(void);
uint64_t ga_test_allocations(void);
uint64_t ga_test_allocated_bytes(void);

/* A new empty folder under TMPDIR or /tmp; ga_test_folder_remove() deletes it with its files. */
char *ga_test_folder(void);
void ga_test_folder_remove(char *folder); /* frees the name; NULL is fine */

/*
 * Switches this process to a locale whose decimal sign is a comma, made on the spot with localedef;
 * false when that cannot be had. ga_test_comma_locale_end() goes back to the C locale.
 */
bool ga_test_comma_locale(void);
void ga_test_comma_locale_end(void);

/* "folder/name", to be freed. */
char *ga_test_path(const char *folder, const char *name);

/* Whole files; a failure fails the test. The block read has a NUL behind it and is freed by the
 * caller. */
char *ga_test_read_file(const char *path, size_t *length_bytes);
void ga_test_write_file(const char *path, const void *bytes, size_t length_bytes);

#endif
