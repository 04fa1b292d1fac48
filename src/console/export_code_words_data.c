/* Words of a generated program that speak of its data: points, file, columns, rows, order. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "console/export_code.h"

const char *ga_code_option(const struct ga_program *program, const char *key, const char *otherwise)
{
    const size_t length = strlen(key);
    for (size_t i = 1; i < program->data->count; i++) {
        const char *word = program->data->word[i];
        if (strncmp(word, key, length) == 0 && word[length] == '=')
            return word + length + 1;
    }
    return otherwise;
}

/* The option as a Python number: 007, which the console reads, is none. */
static void put_number(const struct ga_program *program, const char *key, double otherwise,
                       struct ga_text *out)
{
    double value = otherwise;
    ga_read_double(ga_code_option(program, key, ""), -INFINITY, INFINITY, &value);
    ga_text_number(out, value);
}

/* Seeds reach beyond what a double holds. */
static void put_seed(const struct ga_program *program, const char *key, struct ga_text *out)
{
    uint64_t seed = 1;
    ga_read_uint64(ga_code_option(program, key, ""), &seed);
    ga_text_printf(out, "%" PRIu64, seed);
}

/* As a Python string: the lexer let UTF-8 through, and of the control characters only the tab. */
static void put_string(const char *text, size_t length, struct ga_text *out)
{
    ga_text_puts(out, "\"");
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"' || text[i] == '\\')
            ga_text_puts(out, "\\");
        ga_text_append(out, text[i] == '\t' ? "\\t" : text + i, text[i] == '\t' ? 2 : 1);
    }
    ga_text_puts(out, "\"");
}

static void write_points(const struct ga_program *program, struct ga_text *out)
{
    ga_text_printf(out, "%zu", program->table->train);
}

/* One point alone stands at the low end. */
static void write_gaps(const struct ga_program *program, struct ga_text *out)
{
    ga_text_printf(out, "%zu", program->table->train > 1 ? program->table->train - 1 : 1);
}

static void read_range(const struct ga_program *program, double *low, double *high)
{
    const char *range = ga_code_option(program, "range", "-2,2");
    const char *comma = strchr(range, ',');
    *low = -2;
    *high = 2;
    ga_read_double_n(range, strcspn(range, ","), -INFINITY, INFINITY, low);
    ga_read_double(comma ? comma + 1 : "", -INFINITY, INFINITY, high);
}

static void write_low(const struct ga_program *program, struct ga_text *out)
{
    double low, high;
    read_range(program, &low, &high);
    ga_text_number(out, low);
}

static void write_span(const struct ga_program *program, struct ga_text *out)
{
    double low, high;
    read_range(program, &low, &high);
    ga_text_number(out, high - low);
}

static void write_noise(const struct ga_program *program, struct ga_text *out)
{
    put_number(program, "noise", 0, out);
}

static void write_noise_seed(const struct ga_program *program, struct ga_text *out)
{
    put_seed(program, "seed", out);
}

static void write_file(const struct ga_program *program, struct ga_text *out)
{
    put_string(program->data->word[0], strlen(program->data->word[0]), out);
}

static void put_columns(const struct ga_program *program, const char *key, struct ga_text *out)
{
    const char *at = ga_code_option(program, key, NULL);
    for (bool first = true; at; first = false) {
        const size_t length = strcspn(at, ",");
        ga_text_puts(out, first ? "column(" : ", column(");
        put_string(at, length, out);
        ga_text_puts(out, ")");
        at = at[length] ? at + length + 1 : NULL;
    }
}

static void write_weight_columns(const struct ga_program *program, struct ga_text *out)
{
    put_columns(program, "weight", out);
}

static void write_target_columns(const struct ga_program *program, struct ga_text *out)
{
    put_columns(program, "target", out);
}

static void write_scale(const struct ga_program *program, struct ga_text *out)
{
    put_number(program, "scale", 1, out);
}

static void write_test(const struct ga_program *program, struct ga_text *out)
{
    ga_text_printf(out, "%zu", program->table->test);
}

static void write_split_seed(const struct ga_program *program, struct ga_text *out)
{
    put_seed(program, "shuffle", out);
}

static void write_order(const struct ga_program *program, struct ga_text *out)
{
    if (program->facts & GA_CODE_SHUFFLE)
        ga_text_printf(out, "np.random.default_rng([%" PRIu64 ", epoch]).permutation(len(x))",
                       program->settings->seed);
    else
        ga_text_puts(out, "np.arange(len(x))");
}

static void write_shards(const struct ga_program *program, struct ga_text *out)
{
    ga_text_puts(out, program->settings->sharding == GA_SHARD_STRIDED
                          ? "[np.arange(r, len(x), P) for r in range(P)]"
                          : "np.array_split(np.arange(len(x)), P)");
}

static void write_init_file(const struct ga_program *program, struct ga_text *out)
{
    put_string(program->init_path, strlen(program->init_path), out);
}

const struct ga_code_word ga_code_data_words[] = {
    {"points", write_points},
    {"gaps", write_gaps},
    {"low", write_low},
    {"span", write_span},
    {"noise", write_noise},
    {"noise-seed", write_noise_seed},
    {"file", write_file},
    {"weight-columns", write_weight_columns},
    {"target-columns", write_target_columns},
    {"scale-of-inputs", write_scale},
    {"train", write_points},
    {"test", write_test},
    {"split-seed", write_split_seed},
    {"order-of-epoch", write_order},
    {"shards", write_shards},
    {"init-file", write_init_file},
    {NULL, NULL},
};
