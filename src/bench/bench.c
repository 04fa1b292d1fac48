/* The words of `gaconsole bench`, and the table of benchmarks. */
#include "bench/bench.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "bench/benchmark.h"

#define ROUNDS_MOST  10000
#define UPDATES_MOST 100000000

static const struct ga_benchmark *const benchmarks[] = {
    &ga_benchmark_demo,      &ga_benchmark_modes, &ga_benchmark_mlp, &ga_benchmark_accum,
    &ga_benchmark_allreduce, &ga_benchmark_csv,   &ga_benchmark_gpu};

#define BENCHMARKS (sizeof benchmarks / sizeof *benchmarks)

struct words {
    const struct ga_benchmark *const *more; /* behind those above */
    size_t count;
    struct ga_bench_options options;
    const struct ga_benchmark *benchmark; /* NULL: list them */
};

/* NULL beyond the last. */
static const struct ga_benchmark *benchmark_at(const struct words *words, size_t position)
{
    if (position < BENCHMARKS)
        return benchmarks[position];
    return position - BENCHMARKS < words->count ? words->more[position - BENCHMARKS] : NULL;
}

static int read_rounds(struct words *words, const char *value)
{
    return ga_read_int(value, 1, ROUNDS_MOST, &words->options.rounds);
}

static int read_updates(struct words *words, const char *value)
{
    return ga_read_int(value, 1, UPDATES_MOST, &words->options.updates);
}

static int take_json(struct words *words, const char *value)
{
    (void)value;
    words->options.json = true;
    return GA_OK;
}

static const struct option_row {
    const char *word;
    const char *value; /* what stands behind it; NULL: nothing */
    const char *help;
    int (*take)(struct words *words, const char *value);
} option_rows[] = {
    {"--rounds", "N", "times that each contender runs, in turns (default 15)", read_rounds},
    {"--updates", "N", "updates of each run (default 2000)", read_updates},
    {"--json", NULL, "one JSON object instead of the table", take_json},
};

#define OPTION_ROWS (sizeof option_rows / sizeof *option_rows)

static void list(const struct words *words, struct ga_text *out)
{
    const struct ga_benchmark *benchmark = NULL;

    ga_text_puts(out, "usage: gaconsole bench NAME [--rounds N] [--updates N] [--json]\n\n");
    for (size_t i = 0; (benchmark = benchmark_at(words, i)); i++)
        ga_text_printf(out, "  %-12s %s\n", benchmark->name, benchmark->help);
    ga_text_puts(out, "\n");
    for (size_t i = 0; i < OPTION_ROWS; i++)
        ga_text_printf(out, "  %-9s %-2s %s\n", option_rows[i].word,
                       option_rows[i].value ? option_rows[i].value : "", option_rows[i].help);
}

static int take_name(struct words *words, const char *word)
{
    const struct ga_benchmark *benchmark = NULL;
    char quoted[GA_QUOTE_TEXT];

    for (size_t i = 0; (benchmark = benchmark_at(words, i)); i++)
        if (!words->benchmark && strcmp(benchmark->name, word) == 0) {
            words->benchmark = benchmark;
            return GA_OK;
        }
    return ga_fail(GA_EINPUT, "bench: %s %s: `gaconsole bench` lists names and options",
                   words->benchmark ? "unexpected" : "there is no benchmark or option",
                   ga_quote(quoted, word));
}

/* Takes the word at `at` and its value; returns how many words that were, or a negative code. */
static int take_word(struct words *words, int count, char *const word[])
{
    for (size_t i = 0; i < OPTION_ROWS; i++) {
        const struct option_row *row = &option_rows[i];

        if (strcmp(row->word, word[0]) != 0)
            continue;
        if (row->value && count < 2)
            return ga_fail(GA_EINPUT, "bench: %s needs a value: expected %s %s", row->word,
                           row->word, row->value);
        if (row->take(words, row->value ? word[1] : NULL) < 0)
            return ga_fail_within("bench: %s", row->word);
        return row->value ? 2 : 1;
    }
    return take_name(words, word[0]) < 0 ? ga_error_code() : 1;
}

static int take_words(struct words *words, int argc, char *const argv[])
{
    for (int at = 0, taken = 0; at < argc; at += taken) {
        if (strcmp(argv[at], "--help") == 0) {
            words->benchmark = NULL;
            return GA_OK;
        }
        taken = take_word(words, argc - at, argv + at);
        if (taken < 0)
            return taken;
    }
    if (argc > 0 && !words->benchmark)
        return ga_fail(GA_EINPUT, "bench: no benchmark is named: expected for example %s",
                       benchmarks[0]->name);
    return GA_OK;
}

static int write_out(const struct ga_text *text, FILE *out)
{
    if (ga_text_failed(text))
        return ga_fail(GA_ENOMEM, "bench: no memory for the report");
    if (fwrite(ga_text_get(text), 1, text->length, out) != text->length || fflush(out) != 0)
        return ga_fail_errno(GA_EIO, errno, "bench: cannot write the report");
    return GA_OK;
}

int ga_bench_main(int argc, char *const argv[], const struct ga_benchmark *const *more,
                  size_t count, FILE *out)
{
    struct words words = {.more = more, .count = count, .options = {.rounds = 15, .updates = 2000}};
    struct ga_text text = GA_TEXT_INIT;
    int code = take_words(&words, argc, argv);

    if (code == GA_OK && words.benchmark)
        code = words.benchmark->run(&words.options, &text);
    else if (code == GA_OK)
        list(&words, &text);
    if (code == GA_OK)
        code = write_out(&text, out);
    ga_text_free(&text);
    return code;
}
