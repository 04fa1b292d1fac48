/*
 * How typed words are matched against names, everywhere: "-" equals "_", letters count as they are.
 * Pure functions; strings are borrowed.
 */
#ifndef GA_SETTINGS_WORDS_H
#define GA_SETTINGS_WORDS_H

#include <stdbool.h>
#include <stddef.h>

bool ga_word_same(const char *a, const char *b);
bool ga_word_starts(const char *name, const char *prefix);

/* Whether `word` is one of the blank-separated words of `list`. */
bool ga_word_in_list(const char *word, const char *list);

/*
 * How far a typed word is from a name, in single edits (insert, delete, replace, swap of
 * neighbours, upper for lower case at no cost). Anything over 31 letters is "far": 99.
 */
int ga_word_distance(const char *typed, const char *name);

/* Keeps the nearest of the names it is shown. Start: {typed, NULL, 0}. */
struct ga_word_nearest {
    const char *typed;
    const char *name; /* NULL while nothing is near enough to be worth saying */
    int distance;
};
void ga_word_consider(struct ga_word_nearest *nearest, const char *name);

#endif
