/*
 * Errors: a function that can fail returns 0 or a negative ga_code and leaves one sentence of text.
 *
 * The text belongs to the calling thread and stays valid until that thread's next ga_fail(). It
 * says what was wrong and what was expected, without a trailing newline or full stop. An error that
 * has to cross a thread is copied into a struct ga_error by ga_error_take().
 */
#ifndef GA_BASE_ERROR_H
#define GA_BASE_ERROR_H

#include <stdint.h>

enum ga_code {
    GA_OK = 0,
    GA_EINPUT = -1,       /* malformed text, file or argument */
    GA_ERANGE = -2,       /* well formed, outside what is allowed */
    GA_EIO = -3,          /* the system refused: open, read, write, disk full */
    GA_ENOMEM = -4,       /* out of memory, or over a stated budget */
    GA_ESTATE = -5,       /* not possible in the present state */
    GA_ENONFINITE = -6,   /* training met a value that is not finite or beyond the exact range */
    GA_EUNSUPPORTED = -7, /* understood, and not available in this build or on this machine */
    GA_EINTERNAL = -8     /* a promise inside the program was broken */
};

#define GA_ERROR_TEXT 512

/* An error as a value. `update`, `replica` and `micro` are -1 where they do not apply. */
struct ga_error {
    enum ga_code code;
    int64_t update;
    int32_t replica;
    int32_t micro;
    char text[GA_ERROR_TEXT];
};

/* Sets this thread's error text and returns `code`, so that `return ga_fail(...)` reads well. */
int ga_fail(enum ga_code code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts "prefix: " before this thread's present text and returns its code. */
int ga_fail_within(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Like ga_fail() with ": " and the text of errno value `system_error` appended. */
int ga_fail_errno(enum ga_code code, int system_error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* This thread's last text ("" before any error) and code. */
const char *ga_error_text(void);
enum ga_code ga_error_code(void);

/* Copies this thread's last error; update, replica and micro become -1. */
void ga_error_take(struct ga_error *out);

/* Makes `error` this thread's last error and returns its code. */
int ga_error_put(const struct ga_error *error);

#endif
