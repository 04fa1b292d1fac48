/*
 * Everything a user can set, as one plain value, and the table that describes it.
 *
 * struct ga_settings is copied by assignment, holds no pointers and is comparable field by field.
 * The engine owns the settings in force; everyone else works on a draft and hands it over whole.
 * The table (one row a setting: name, type, range, default, unit, when it applies, help, aliases)
 * feeds the parser, `show`, `settings`, help, completion and the man page.
 *
 * All functions are pure apart from this thread's error text.
 */
#ifndef GA_SETTINGS_SETTINGS_H
#define GA_SETTINGS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* One enum per group of choices.def, named ga_GROUP; enumerators count from 0 within their group.
 */
/* clang-format off */
#define GROUP(group)                             enum ga_##group {
#define CHOICE(group, enumerator, word, summary) enumerator,
#define END(group)                               };
#include "settings/choices.def"
/* clang-format on */

#define GA_MAX_LAYERS   16    /* weight layers of a net */
#define GA_MAX_DEVICES  16    /* cards of one run */
#define GA_MAX_WIDTH    65536 /* units of one layer */
#define GA_MAX_REPLICAS 4096
#define GA_MAX_LAG      4096 /* versions that delay keeps */
#define GA_MAX_PERIOD   4096
#define GA_MAX_WINDOW   262144 /* 2^18 examples: the bound of the exact sums */
#define GA_MAX_EXACT    100000 /* parameters up to which numerics auto means exact */

struct ga_settings {
    int32_t replicas; /* P */
    int32_t accum;    /* A, micro-batches per replica and update */
    int32_t batch;    /* b, examples per micro-batch; kept while `global` rules */
    int32_t global;   /* B, examples per window; 0: B = P*A*b */
    enum ga_mode mode;
    int32_t backup; /* k: the window closes at the first P-k finishes */
    enum ga_late late;
    int32_t lag;    /* delay: updates between the weights read and the weights updated */
    int32_t bound;  /* ssp: items ahead of the slowest; buffered 0: wait for the update; -1: none */
    int32_t buffer; /* buffered: pushes to an update; 0: P */
    int32_t period; /* local: private steps of a round */
    struct {
        enum ga_outer kind;
        double lr, momentum;
    } outer;
    enum ga_scale scale;
    enum ga_writes writes;
    enum ga_failure failure;
    enum ga_reduce reduce;

    enum ga_optimizer optimizer;
    double lr, momentum;
    bool nesterov;
    double beta1, beta2, epsilon, weight_decay;
    double clip; /* global norm; 0: off */
    struct {
        enum ga_schedule kind;
        int64_t every; /* step: updates; cosine: total updates */
        double value;  /* step: factor; cosine: the minimum lr */
    } schedule;
    int64_t warmup; /* updates of linear warm-up before the schedule; 0: none */

    struct {
        int32_t layers; /* weight layers; widths has layers + 1 entries */
        int32_t widths[GA_MAX_LAYERS + 1];
    } model;
    enum ga_activation activation;
    bool bias;
    enum ga_loss loss;
    enum ga_init init;
    uint64_t seed;

    enum ga_order order;
    enum ga_sharding sharding;
    enum ga_tail tail;

    enum ga_clock clock;
    struct {
        enum ga_pace kind;
        double value; /* updates per second, or factor */
    } pace;
    int64_t base_ns, per_example_ns;
    struct {
        enum ga_jitter kind;
        double a, b; /* the arguments in the order written */
    } jitter;
    int64_t latency_ns;
    double bandwidth;  /* bytes per second; 0: infinite */
    int64_t server_ns; /* server time per push */

    enum ga_numerics numerics;
    enum ga_device device;
    struct {
        int32_t count; /* 0: all there are */
        int32_t number[GA_MAX_DEVICES];
    } devices; /* of device cuda: replica r computes on number[r mod count] */
    enum ga_nonfinite nonfinite;
    uint64_t memory;         /* bytes of a replica; 0: no budget */
    uint64_t history_budget; /* bytes */
    int64_t log_every;       /* updates between two logged lines */
};

/* When a change takes effect. */
enum ga_when {
    GA_WHEN_NOW,    /* at once: pace, history-budget, log-every; they never change a bit */
    GA_WHEN_WINDOW, /* at the next window */
    GA_WHEN_START   /* when a run starts: at once while nothing was trained, else at `reset` */
};

/* A row of the table. Rows are const and live as long as the program. */
struct ga_setting {
    const char *name;    /* canonical, with - */
    const char *initial; /* the default, as one would type it */
    const char *values;  /* what it accepts, for help and errors: "1..4096", "cancel | finish" */
    const char *unit;    /* "examples", "updates", ... or "" */
    enum ga_when when;
    const char *modes;   /* "" everywhere, else the modes in which it matters: "sync" */
    const char *help;    /* one sentence */
    const char *aliases; /* other names, blank-separated: "num_replicas_in_sync world_size" */
    int (*read)(const struct ga_setting *row, struct ga_settings *draft, const char *text);
    void (*write)(const struct ga_setting *row, const struct ga_settings *from, struct ga_text *to);
    size_t offset;     /* of the field in struct ga_settings */
    double low, high;  /* in the field's unit: a count, ns, bytes */
    const char *group; /* group of choices.def, or NULL */
};

size_t ga_setting_count(void);
const struct ga_setting *ga_setting_at(size_t position);

/*
 * Finds a row by name or alias: "-" equals "_", an unambiguous prefix of a name is enough (aliases
 * only whole). NULL and an error text for an unknown or ambiguous word and for words that are
 * refused with an explanation (batch_size, clipnorm, ...). `replicas_to_aggregate N` finds a row of
 * its own, outside ga_setting_at(), named backup, whose value is read as replicas - N.
 */
const struct ga_setting *ga_setting_find(const char *word);

/* True when `word` was an alias, so that an answer can say our own word. */
bool ga_setting_is_alias(const struct ga_setting *row, const char *word);

void ga_settings_default(struct ga_settings *out);

/*
 * Puts `text` into the draft: whole string, range and form checked, the range named on failure. The
 * draft is unchanged on failure. `replicas_to_aggregate` and `global`/`batch` rules of the
 * semantics are applied here. The value of `global` may be "off" (or 0) to go back to the batch
 * form.
 */
int ga_setting_read(const struct ga_setting *row, struct ga_settings *draft, const char *text);

/*
 * Appends the value in the form that ga_setting_read() accepts, one word without blanks:
 * "step(100,0.5)", "1ms", "256MiB".
 */
void ga_setting_write(const struct ga_setting *row, const struct ga_settings *from,
                      struct ga_text *to);

bool ga_setting_same(const struct ga_setting *row, const struct ga_settings *a,
                     const struct ga_settings *b);

/* Rules between settings that need no data: backup < replicas, jitter arguments, window <= 2^18,
 * ... */
int ga_settings_check(const struct ga_settings *settings);

/* Words of a choice group: "mode", "activation", ... */
const char *ga_choice_word(const char *group, int value); /* NULL when there is none */
const char *ga_choice_help(const char *group, int value); /* NULL when there is none */
int ga_choice_count(const char *group);

/* By word or a name that other tools use ("mirrored", "ddp"); -1 and an error naming the words. */
int ga_choice_value(const char *group, const char *word);

#endif
