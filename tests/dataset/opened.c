#include "dataset/opened.h"

#include <stdio.h>
#include <stdlib.h>
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

char *ga_test_here;

int ga_test_make_folder(void **state)
{
    (void)state;
    ga_test_here = ga_test_folder();
    return 0;
}

int ga_test_remove_folder(void **state)
{
    (void)state;
    ga_test_folder_remove(ga_test_here);
    return 0;
}

int ga_test_open_bytes(struct ga_dataset **out, const void *bytes, size_t length,
                       const char *options)
{
    char *path = ga_test_path(ga_test_here, "t.csv");
    ga_test_write_file(path, bytes, length);
    int code = ga_test_data(out, "t.csv", options, ga_test_here);
    free(path);
    return code;
}
