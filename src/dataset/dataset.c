#include "dataset/dataset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "dataset/bytes.h"
#include "dataset/kind.h"

/* The last row reads files that are of no other kind. */
static const struct ga_dataset_kind *const kinds[] = {
    &ga_dataset_parabola, &ga_dataset_quadratic, &ga_dataset_idx,
    &ga_dataset_npy,      &ga_dataset_npz,       &ga_dataset_csv,
};
#define KINDS (sizeof kinds / sizeof kinds[0])

const char *ga_dataset_usage(size_t index)
{
    return index < KINDS ? kinds[index]->usage : NULL;
}

/* NULL: the word names a file. */
static const struct ga_dataset_kind *named_kind(const char *word)
{
    for (size_t i = 0; i < KINDS; i++) {
        if (kinds[i]->name && strcmp(kinds[i]->name, word) == 0) {
            return kinds[i];
        }
    }
    return NULL;
}

/* By the first bytes, whatever the file is called. A directory may be MNIST's. */
static int file_kind(const char *path, const struct ga_dataset_kind **out)
{
    unsigned char head[GA_BYTES_HEAD];
    struct stat status;
    size_t count = 0;
    *out = &ga_dataset_idx;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        return 0;
    }
    int code = ga_bytes_peek(path, head, &count);
    for (size_t i = 0; code == 0 && i < KINDS; i++) {
        if (!kinds[i]->name && (!kinds[i]->is || kinds[i]->is(head, count))) {
            *out = kinds[i];
            return 0;
        }
    }
    return code;
}

/* A relative name is tried inside `folder`; when nothing is there, as it stands. */
static char *resolve(const char *file, const char *folder)
{
    struct stat status;
    size_t length = strlen(folder) + strlen(file) + 2;
    char *path = ga_alloc(length, 1);
    if (!path) {
        return NULL;
    }
    if (file[0] != '/' && folder[0]) {
        const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
        snprintf(path, length, "%s%s%s", folder, slash, file);
        if (stat(path, &status) == 0) {
            return path;
        }
    }
    snprintf(path, length, "%s", file);
    return path;
}

static void add_word(struct ga_text *text, const char *word)
{
    if (text->length > 0) {
        ga_text_puts(text, " ");
    }
    if (word[0] && !strpbrk(word, " \t\"'\\#")) {
        ga_text_puts(text, word);
        return;
    }
    ga_text_puts(text, "\"");
    for (; *word; word++) {
        if (*word == '"' || *word == '\\') {
            ga_text_puts(text, "\\");
        }
        ga_text_append(text, word, 1);
    }
    ga_text_puts(text, "\"");
}

/* The last part of a path, slashes at its end left out. */
static char *last_part(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') {
        length--;
    }
    size_t first = length;
    while (first > 0 && path[first - 1] != '/') {
        first--;
    }
    char *part = ga_alloc(length - first + 1, 1);
    if (part) {
        memcpy(part, path + first, length - first);
    }
    return part;
}

static int name_dataset(struct ga_dataset *dataset, const char *first,
                        const struct ga_options *options)
{
    struct ga_text spec = GA_TEXT_INIT;
    add_word(&spec, first);
    for (size_t i = 0; i < options->words; i++) {
        add_word(&spec, options->word[i]);
    }
    if (ga_text_failed(&spec)) {
        ga_text_free(&spec);
        return GA_ENOMEM;
    }
    dataset->spec = spec.data;
    dataset->name = last_part(first);
    return dataset->name ? 0 : GA_ENOMEM;
}

/* An array of (rows, width) elements of 4 bytes, or NULL. */
static void account(struct ga_dataset *dataset, const void *array, size_t width)
{
    size_t rows = dataset->table.train + dataset->table.test;
    if (array) {
        dataset->fingerprint =
            ga_hash_bytes(dataset->fingerprint, array, rows * width * sizeof(float));
        dataset->bytes += (uint64_t)rows * width * sizeof(float);
    }
}

static void seal(struct ga_dataset *dataset)
{
    struct ga_table *table = &dataset->table;
    const uint64_t shape[] = {(uint64_t)table->kind, table->train,
                              table->test,           table->input_width,
                              table->target_width,   dataset->weights ? 1u : 0u};
    table->inputs = dataset->inputs;
    table->targets = dataset->targets;
    table->labels = dataset->labels;
    table->weights = dataset->weights;
    table->has_start = table->kind == GA_TARGET_QUADRATIC;
    dataset->fingerprint = ga_hash_bytes(GA_HASH_START, shape, sizeof shape);
    account(dataset, table->inputs, table->input_width);
    account(dataset, table->targets, table->target_width);
    account(dataset, table->labels, 1);
    account(dataset, table->weights, 1);
    atomic_init(&dataset->references, 1);
}

static void destroy(struct ga_dataset *dataset)
{
    if (dataset) {
        free(dataset->inputs);
        free(dataset->targets);
        free(dataset->weights);
        free(dataset->labels);
        free(dataset->name);
        free(dataset->spec);
        free(dataset);
    }
}

static int open_kind(struct ga_dataset *dataset, const struct ga_options *options,
                     const char *folder)
{
    const struct ga_dataset_kind *kind = named_kind(options->subject);
    char *path = NULL;
    int code = 0;
    if (!kind) {
        path = resolve(options->subject, folder);
        code = path ? file_kind(path, &kind) : GA_ENOMEM;
    }
    if (code == 0) {
        dataset->format = kind->format;
        code = ga_options_check(options, kind->keys, kind->usage);
    }
    if (code == 0) {
        code = name_dataset(dataset, path ? path : kind->name, options);
    }
    if (code == 0) {
        code = kind->open(dataset, options, path);
    }
    free(path);
    return code;
}

int ga_dataset_open(struct ga_dataset **out, size_t words, const char *const *word,
                    const char *folder)
{
    *out = NULL;
    if (words == 0 || !word[0][0]) {
        return ga_fail(GA_EINPUT, "data without a name, expected parabola, quadratic or a file");
    }
    struct ga_dataset *dataset = ga_alloc(1, sizeof *dataset);
    if (!dataset) {
        return GA_ENOMEM;
    }
    const struct ga_options options = {word[0], word + 1, words - 1};
    int code = open_kind(dataset, &options, folder ? folder : "");
    if (code != 0) {
        destroy(dataset);
        return code;
    }
    seal(dataset);
    *out = dataset;
    return 0;
}

struct ga_dataset *ga_dataset_share(struct ga_dataset *dataset)
{
    atomic_fetch_add_explicit(&dataset->references, 1, memory_order_relaxed);
    return dataset;
}

void ga_dataset_close(struct ga_dataset *dataset)
{
    /* acquire-release: what other threads did with the data happens before it is freed */
    if (dataset && atomic_fetch_sub_explicit(&dataset->references, 1, memory_order_acq_rel) == 1) {
        destroy(dataset);
    }
}

const struct ga_table *ga_dataset_table(const struct ga_dataset *dataset)
{
    return &dataset->table;
}

const char *ga_dataset_spec(const struct ga_dataset *dataset)
{
    return dataset->spec;
}

const char *ga_dataset_name(const struct ga_dataset *dataset)
{
    return dataset->name;
}

const char *ga_dataset_format(const struct ga_dataset *dataset)
{
    return dataset->format;
}

uint64_t ga_dataset_fingerprint(const struct ga_dataset *dataset)
{
    return dataset->fingerprint;
}

uint64_t ga_dataset_bytes(const struct ga_dataset *dataset)
{
    return dataset->bytes;
}

static void count_of(struct ga_text *out, size_t count, const char *one, const char *many)
{
    ga_text_printf(out, "%zu %s", count, count == 1 ? one : many);
}

void ga_dataset_describe(const struct ga_dataset *dataset, struct ga_text *out)
{
    static const char *const target[][2] = {
        [GA_TARGET_VALUE] = {"output", "outputs"},
        [GA_TARGET_CLASS] = {"class", "classes"},
        [GA_TARGET_QUADRATIC] = {"weight", "weights"},
    };
    const struct ga_table *table = &dataset->table;
    count_of(out, table->train, "example", "examples");
    if (table->kind != GA_TARGET_QUADRATIC) {
        ga_text_puts(out, ", ");
        count_of(out, table->input_width, "input", "inputs");
    }
    ga_text_puts(out, ", ");
    count_of(out, table->target_width, target[table->kind][0], target[table->kind][1]);
    if (table->weights) {
        ga_text_puts(out, ", weighted");
    }
    if (table->test > 0) {
        ga_text_printf(out, ", %zu held out", table->test);
    }
}
