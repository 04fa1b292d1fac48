/*
 * Completion from the tables: what the word at the end of a half-typed line could become. Pure;
 * the names of tensors and runs come from the caller's lists.
 */
#ifndef GA_CONSOLE_COMPLETE_H
#define GA_CONSOLE_COMPLETE_H

#include <stdbool.h>
#include <stddef.h>

struct ga_completion {
    void (*each)(void *self, const char *word); /* a candidate; copy it to keep it */
    void *self;
    const char *tensors; /* blank-separated names; NULL: none known */
    const char *runs;    /* likewise */
};

/* `line` up to the cursor. True when a file name may stand there too. */
bool ga_complete(const char *line, const struct ga_completion *completion);

#endif
