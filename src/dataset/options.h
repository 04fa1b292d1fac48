/*
 * The key=value words of a `data` command. Everything is borrowed from the command's words. A value
 * that is not there leaves the caller's default alone; a bad one is refused with "data KIND:
 * KEY=VALUE:" before the reason.
 */
#ifndef GA_DATASET_OPTIONS_H
#define GA_DATASET_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

struct ga_options {
    const char *subject; /* "parabola", or the file's name: stands in messages */
    const char *const *word;
    size_t words;
};

/* Each word is KEY=VALUE, KEY one of `keys` (a list that ends with NULL), none of them twice. */
int ga_options_check(const struct ga_options *options, const char *const *keys, const char *usage);

/* The value, or NULL. */
const char *ga_options_get(const struct ga_options *options, const char *key);

int ga_options_count(const struct ga_options *options, const char *key, size_t low, size_t high,
                     size_t *out);
int ga_options_seed(const struct ga_options *options, const char *key, uint64_t *out);
int ga_options_double(const struct ga_options *options, const char *key, double low, double high,
                      double *out);

int ga_options_bytes(const struct ga_options *options, const char *key, uint64_t low, uint64_t high,
                     uint64_t *out);

/* Comma-separated numbers, at least one; `*out` becomes the caller's (free()), NULL when not there.
 */
int ga_options_list(const struct ga_options *options, const char *key, double low, double high,
                    double **out, size_t *count);

/* The place of the value in `choices` (a list that ends with NULL). */
int ga_options_choice(const struct ga_options *options, const char *key, const char *const *choices,
                      size_t *out);

#endif
