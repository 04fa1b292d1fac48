/* The words, numbers and signs of a condition. Tokens borrow the text. */
#ifndef GA_CONSOLE_CONDITION_TOKEN_H
#define GA_CONSOLE_CONDITION_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

enum ga_token_kind {
    GA_TOKEN_END,
    GA_TOKEN_WORD,   /* letters, digits, - and _; also |g| */
    GA_TOKEN_NUMBER, /* -1.5e-3, 3f9a27c1: begins with a digit, a point or a sign */
    GA_TOKEN_SIGN,   /* < <= > >= == != ( ) */
    GA_TOKEN_OTHER   /* anything else, one byte */
};

struct ga_token {
    enum ga_token_kind kind;
    const char *text;
    size_t length;
};

/* The token at `text`, behind blanks; returns what follows it. */
const char *ga_token_read(struct ga_token *token, const char *text);

bool ga_token_is(const struct ga_token *token, const char *text);

/* Copies it, NUL-terminated; false when it is too long. */
bool ga_token_copy(const struct ga_token *token, char *out, size_t size);

#endif
