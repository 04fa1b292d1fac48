/* The subjects of `print` that show a run's inside: hash, memory, tensors, counters, replicas. */
#include "console/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/number.h"
#include "console/describe.h"
#include "console/tensor_text.h"
#include "settings/words.h"

/* The range of parameters that an optional TENSOR word names. */
static int read_range(const struct ga_run *run, const struct ga_report *report, size_t word,
                      size_t *first, size_t *count)
{
    *first = 0;
    *count = ga_run_net_of(run)->parameters;
    if (report->count <= word)
        return 0;
    return ga_run_parameters(run, report->word[word], first, count);
}

static int print_hash(struct ga_run *run, void *arg)
{
    struct ga_report *report = arg;
    char digits[GA_HASH_TEXT];
    ga_hash_format(digits, ga_run_hash(run));
    ga_text_printf(&report->text, "hash %s", digits);
    if (strcmp(ga_run_compute_of(run)->numerics, "fast") == 0)
        ga_text_puts(&report->text, "  (numerics fast: of this machine and this split)");
    return 0;
}

static int print_floats(struct ga_run *run, struct ga_report *report, const float *value)
{
    size_t first = 0;
    size_t count = 0;
    const int code = read_range(run, report, 0, &first, &count);
    if (code < 0)
        return code;
    const struct ga_tensor_source source = ga_tensor_floats(value);
    ga_tensor_write(ga_run_net_of(run), first, count, &source, &report->text);
    return 0;
}

static int print_weights(struct ga_run *run, void *arg)
{
    return print_floats(run, arg, ga_run_version(run)->weights);
}

static int print_grad(struct ga_run *run, void *arg)
{
    const float *gradient = ga_run_gradient(run);
    if (!gradient)
        return ga_fail(GA_ESTATE, "grad: there is none yet; it is known from the reduction of a "
                                  "window until the next one opens");
    return print_floats(run, arg, gradient);
}

static int print_state(struct ga_run *run, void *arg)
{
    struct ga_report *report = arg;
    const struct ga_version *version = ga_run_version(run);
    const bool adam = ga_run_settings(run)->optimizer != GA_SGD;
    static const char *const names[2][2] = {{"momentum buffer", ""},
                                            {"first moment", "second moment"}};
    if (version->state_blocks == 0)
        ga_text_puts(&report->text, "the optimizer keeps no state");
    for (size_t block = 0; block < version->state_blocks && block < 2; block++) {
        ga_text_printf(&report->text, "%s\n", names[adam][block]);
        const int code = print_floats(run, report, version->state + block * version->parameters);
        if (code < 0)
            return code;
    }
    return 0;
}

static int read_replica(const struct ga_run *run, const char *text, size_t *out)
{
    int64_t replica = 0;
    if (ga_read_int(text, 0, (int64_t)ga_run_replicas(run) - 1, &replica) < 0)
        return ga_fail_within("replica");
    *out = (size_t)replica;
    return 0;
}

static int print_accum(struct ga_run *run, void *arg)
{
    struct ga_report *report = arg;
    size_t replica = 0;
    size_t first = 0;
    size_t count = 0;
    double weight = 0;
    int code = read_replica(run, report->word[0], &replica);
    if (code == 0)
        code = read_range(run, report, 1, &first, &count);
    double *sums = code == 0 ? ga_alloc(ga_run_net_of(run)->parameters, sizeof(*sums)) : NULL;
    if (code == 0)
        code = sums ? ga_run_accumulator(run, replica, sums, &weight) : (int)GA_ENOMEM;
    if (code == 0) {
        const struct ga_replica_value *value = ga_run_replica(run, replica);
        ga_text_printf(&report->text, "replica %zu: micro-batch %u of %u, weight ", replica,
                       (unsigned)value->micro, (unsigned)value->micros);
        ga_text_number(&report->text, weight);
        ga_text_puts(&report->text, "; sums (not yet divided):\n");
        const struct ga_tensor_source source = ga_tensor_doubles(sums);
        ga_tensor_write(ga_run_net_of(run), first, count, &source, &report->text);
    }
    free(sums);
    return code;
}

static void append_bytes(const char *name, uint64_t bytes, struct ga_text *out)
{
    char size[GA_NUMBER_TEXT];
    ga_format_bytes(size, bytes);
    ga_text_printf(out, "%-14s %12" PRIu64 " B  %s\n", name, bytes, size);
}

/* What the run's cards hold, for whichever runs are on them. */
static void print_cards(const struct ga_run *run, struct ga_text *out)
{
    static const char *const names[GA_DEVICE_USES] = {
        [GA_USE_WORK] = "  work",         [GA_USE_SUMS] = "  sums",
        [GA_USE_BATCHES] = "  batches",   [GA_USE_HELD] = "  weights",
        [GA_USE_PRODUCTS] = "  products", [GA_USE_PINNED] = "  pinned here",
    };
    struct ga_card_memory memory;

    for (size_t nth = 0; ga_run_card_memory(run, nth, &memory); nth++) {
        ga_text_printf(out, "on cuda:%zu\n", memory.card);
        for (int use = 0; use < GA_USE_PINNED; use++)
            append_bytes(names[use], memory.used[use], out);
        append_bytes("  total", memory.taken, out);
        append_bytes("  free there", memory.free, out);
        append_bytes(names[GA_USE_PINNED], memory.used[GA_USE_PINNED], out);
    }
}

static int print_memory(struct ga_run *run, void *arg)
{
    struct ga_report *report = arg;
    struct ga_memory memory;
    uint64_t run_bytes = 0;
    uint64_t history_bytes = 0;
    ga_run_memory(run, &memory, &run_bytes, &history_bytes);
    ga_text_puts(&report->text, "of one replica\n");
    append_bytes("  weights", memory.weights, &report->text);
    append_bytes("  accumulators", memory.accumulators, &report->text);
    append_bytes("  optimizer", memory.optimizer, &report->text);
    append_bytes("  activations", memory.activations, &report->text);
    append_bytes("  total", memory.total, &report->text);
    append_bytes("whole run", run_bytes, &report->text);
    print_cards(run, &report->text);
    return 0;
}

static int print_counters(struct ga_run *run, void *arg)
{
    struct ga_report *report = arg;
    const struct ga_counters *counters = ga_run_counters(run);
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
        {"updates", counters->updates},
        {"windows skipped", counters->skipped},
        {"micro-batches", counters->micros},
        {"examples in updates", counters->examples},
        {"examples dropped", counters->examples_dropped},
        {"examples unused", counters->examples_unused},
        {"items applied", counters->items_applied},
        {"items dropped", counters->items_dropped},
        {"events", counters->events},
        {"bytes communicated", counters->bytes},
        {"pushes", counters->pushes},
        {"staleness, summed", counters->staleness},
        {"private steps", counters->private_steps},
        {"lost writes", counters->lost},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        ga_text_printf(&report->text, "%-20s %" PRIu64 "\n", rows[i].name, rows[i].value);
    return 0;
}

static int print_window(struct ga_run *run, void *arg)
{
    struct ga_report *report = arg;
    const struct ga_window_state *window = ga_run_window(run);
    if (ga_run_at_boundary(run)) {
        const struct ga_update_record *record = ga_run_last_record(run);
        ga_text_puts(&report->text, "no window is open");
        if (record) {
            ga_text_printf(&report->text, "; the last one had %u examples in %u micro-batches",
                           (unsigned)record->window_examples, (unsigned)record->window_micros);
            ga_describe_figure(", weight", record->window_weight, &report->text);
        }
        return 0;
    }
    ga_text_printf(&report->text,
                   "window %" PRIu64 " of epoch %" PRIu64
                   ": %zu examples; %u micro-batches done, %u of %u replicas have handed over (%s)",
                   window->number, window->epoch, window->examples, ga_window_micros(run),
                   (unsigned)window->arrived, (unsigned)window->expected,
                   ga_phase_name(ga_run_phase(run)));
    return 0;
}

/* What is not known yet is "-": nan is for figures that have become so. */
static void append_known(const char *name, double value, struct ga_text *out)
{
    if (isnan(value))
        ga_text_printf(out, "%s -", name);
    else
        ga_describe_figure(name, value, out);
}

static int print_replicas(struct ga_run *run, void *arg)
{
    static const char *const states[] = {"ready", "busy", "done", "late", "sends"};
    struct ga_report *report = arg;
    struct ga_text *out = &report->text;
    for (size_t i = 0; i < ga_run_replicas(run); i++) {
        const struct ga_replica_value *value = ga_run_replica(run, i);
        ga_text_printf(out, "replica %zu  %-5s  micro %u/%u  examples %u/%u", i,
                       value->dead ? "dead" : states[value->state], (unsigned)value->micro,
                       (unsigned)value->micros, (unsigned)value->done_examples,
                       (unsigned)value->examples);
        if (value->finished == 0) {
            ga_text_puts(out, "  no item finished yet");
        } else {
            ga_describe_figure("  loss", value->loss, out);
            ga_describe_figure("  |g|", value->norm, out);
            append_known("  cosine", value->cosine, out);
            ga_describe_figure("  tau", value->staleness, out);
        }
        append_known("  idle", ga_run_metric(run, GA_METRIC_IDLE, (int32_t)i), out);
        ga_describe_figure("  slow", value->slow, out);
        ga_text_puts(out, "\n");
    }
    return 0;
}

static int print_last(struct ga_run *run, void *arg)
{
    struct ga_report *report = arg;
    const struct ga_event *event = ga_run_last_event(run);
    if (event->kind == GA_EVENT_NONE) {
        ga_text_puts(&report->text, "nothing has happened yet");
        return 0;
    }
    ga_text_printf(&report->text, "event %" PRIu64 ", ", event->sequence);
    ga_describe_event(event, &report->text);
    return 0;
}

static const struct ga_subject subjects[] = {
    {"hash", "", "FNV-1a of all weights: equal hashes, equal bits", 0, 0, print_hash},
    {"weights", "[TENSOR]", "the newest weights", 0, 1, print_weights},
    {"grad", "[TENSOR]", "g of the window, after the division", 0, 1, print_grad},
    {"accum", "R [TENSOR]", "the sums in the accumulator of replica R", 1, 2, print_accum},
    {"state", "[TENSOR]", "what the optimizer keeps: momentum, moments", 0, 1, print_state},
    {"memory", "", "bytes of a replica and of the run", 0, 0, print_memory},
    {"counters", "", "everything that is counted", 0, 0, print_counters},
    {"window", "", "the open window, or the last one", 0, 0, print_window},
    {"replicas", "", "one line a replica", 0, 0, print_replicas},
    {"last", "", "the last event", 0, 0, print_last},
};

size_t ga_subject_count(void)
{
    return sizeof(subjects) / sizeof(subjects[0]);
}

const struct ga_subject *ga_subject_at(size_t position)
{
    return position < ga_subject_count() ? &subjects[position] : NULL;
}

const struct ga_subject *ga_subject_named(const char *word)
{
    for (size_t i = 0; i < ga_subject_count(); i++)
        if (ga_word_same(subjects[i].name, word))
            return &subjects[i];
    return NULL;
}
