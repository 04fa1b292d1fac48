#include "dataset/opened.h"

#include <stdio.h>
#include <string.h>

#include "support/support.h"

int ga_test_data(struct ga_dataset **out, const char *first, const char *line, const char *folder)
{
    enum { MOST = 16 };
    char copy[65536];
    const char *word[MOST];
    char *rest = copy;
    size_t words = 0;
    assert_true(strlen(line) < sizeof copy);
    snprintf(copy, sizeof copy, "%s", line);
    if (first) {
        word[words++] = first;
    }
    while (rest && words < MOST) {
        const char *next = strsep(&rest, " ");
        if (*next) {
            word[words++] = next;
        }
    }
    assert_null(rest);
    return ga_dataset_open(out, words, word, folder);
}
