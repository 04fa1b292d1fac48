/*
 * IDX, NPY and NPZ files from arbitrary bytes. The first byte chooses the options, the next two say
 * where a second file begins, the rest are the files. Either they are refused with a text, or the
 * table keeps every promise of dataset.h.
 */
#include "support/replay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "dataset/dataset.h"

#define MOST_WORDS 6

/* "@" stands for the second file. */
static const char *const options[][MOST_WORDS] = {
    {NULL},
    {"labels=@", NULL},
    {"labels=@", "kind=value", "scale=0.5", NULL},
    {"labels=@", "test=1", "shuffle=3", NULL},
    {"labels=@", "heldout=@", "heldout-labels=@", "train=1", NULL},
    {"target=1", "weight=-1", NULL},
    {"kind=class", "classes=4", NULL},
    {"kind=quadratic", NULL},
    {"inputs=x", "labels=y", "weight=w", NULL},
    {"inputs=x", "labels=y", "heldout=x", "heldout-labels=y", "kind=value", "test=1"},
};
enum { CHOICES = sizeof options / sizeof options[0] };

static void must(bool promise)
{
    if (!promise) {
        abort();
    }
}

static void check_floats(const float *values, size_t count)
{
    for (size_t i = 0; values && i < count; i++) {
        must(isfinite(values[i]));
    }
}

static void check(const struct ga_dataset *dataset)
{
    const struct ga_table *table = ga_dataset_table(dataset);
    const size_t rows = table->train + table->test;
    must(table->train > 0 && table->input_width > 0 && table->target_width > 0);
    must((table->kind == GA_TARGET_CLASS) == (table->labels != NULL));
    must((table->kind == GA_TARGET_CLASS) == (table->targets == NULL));
    check_floats(table->inputs, rows * table->input_width);
    check_floats(table->targets, rows * table->target_width);
    for (size_t i = 0; table->labels && i < rows; i++) {
        must(table->labels[i] >= 0 && (size_t)table->labels[i] < table->target_width);
    }
    for (size_t i = 0; table->weights && i < rows; i++) {
        const float weight = table->weights[i];
        must(weight == 0.0f || (weight >= 0x1p-20f && weight <= 0x1p20f));
    }
}

static int make_file(char path[64], const uint8_t *bytes, size_t size)
{
    const int file = memfd_create("fuzz", MFD_CLOEXEC);
    must(file >= 0 && write(file, bytes, size) == (ssize_t)size);
    snprintf(path, 64, "/proc/self/fd/%d", file);
    return file;
}

static int open_files(struct ga_dataset **out, const char *const *chosen, const char *first,
                      const char *second)
{
    char made[MOST_WORDS][128];
    const char *word[MOST_WORDS + 1] = {first};
    size_t words = 1;
    for (; words <= MOST_WORDS && chosen[words - 1]; words++) {
        const char *text = chosen[words - 1];
        const int key = (int)strcspn(text, "@");
        snprintf(made[words - 1], sizeof made[0], "%.*s%s", key, text, text[key] ? second : "");
        word[words] = made[words - 1];
    }
    return ga_dataset_open(out, words, word, "");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct ga_dataset *dataset = NULL;
    char path[2][64];
    if (size < 3) {
        return 0;
    }
    const size_t cut = ((size_t)bytes[1] | (size_t)bytes[2] << 8) % (size - 2);
    const int first = make_file(path[0], bytes + 3, cut > 0 ? cut : size - 3);
    const int second = make_file(path[1], bytes + 3 + cut, size - 3 - cut);
    const int code = open_files(&dataset, options[bytes[0] % CHOICES], path[0], path[1]);
    close(first);
    close(second);
    must((code == 0) == (dataset != NULL));
    if (code != 0) {
        must(code < 0 && ga_error_text()[0]);
    } else {
        check(dataset);
    }
    ga_dataset_close(dataset);
    return 0;
}
