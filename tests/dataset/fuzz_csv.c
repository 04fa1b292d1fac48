/*
 * CSV files from arbitrary bytes. The first byte chooses the options, the rest is the file. Either
 * it is refused with a text, or the table keeps every promise of dataset.h.
 */
#include "support/replay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "dataset/dataset.h"

#define MOST_WORDS 5

static const char *const options[][MOST_WORDS] = {
    {NULL},
    {"kind=class", NULL},
    {"kind=quadratic", NULL},
    {"weight=1", NULL},
    {"weight=w", "target=y", "scale=0.0625", NULL},
    {"target=-1,1", "header=no", NULL},
    {"header=yes", "test=0.25", "shuffle=7", NULL},
    {"kind=class", "weight=-1", "target=1", "classes=5", NULL},
    {"kind=quadratic", "weight=w", "train=2", "test=1", "shuffle=1"},
    {"target=a,b", "train=3", NULL},
    {"scale=1e30", "test=1", NULL},
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

static int open_bytes(struct ga_dataset **out, const char *const *chosen, const uint8_t *bytes,
                      size_t size)
{
    char path[64];
    const char *word[MOST_WORDS + 1] = {path};
    size_t words = 1;
    const int file = memfd_create("fuzz.csv", MFD_CLOEXEC);
    must(file >= 0 && write(file, bytes, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    while (words <= MOST_WORDS && chosen[words - 1]) {
        word[words] = chosen[words - 1];
        words++;
    }
    const int code = ga_dataset_open(out, words, word, "");
    close(file);
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct ga_dataset *dataset = NULL;
    if (size == 0) {
        return 0;
    }
    const int code = open_bytes(&dataset, options[bytes[0] % CHOICES], bytes + 1, size - 1);
    must((code == 0) == (dataset != NULL));
    if (code != 0) {
        must(code < 0 && ga_error_text()[0]);
    } else {
        check(dataset);
    }
    ga_dataset_close(dataset);
    return 0;
}
