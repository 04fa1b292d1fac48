#include "console/describe.h"

#include <inttypes.h>
#include <math.h>

#include "base/hash.h"
#include "base/number.h"

void ga_describe_figure(const char *name, double value, struct ga_text *out)
{
    char number[GA_NUMBER_TEXT];
    ga_format_digits(number, value, 6);
    ga_text_printf(out, "%s %s", name, number);
}

static void append_means(const struct ga_event *event, struct ga_text *out)
{
    ga_describe_figure(": loss", event->loss, out);
    ga_describe_figure(", |g|", event->norm, out);
    ga_describe_figure(", weight", event->weight, out);
}

static void append_micro(const struct ga_event *event, struct ga_text *out)
{
    ga_text_printf(out, "replica %d, micro-batch %u of %u", (int)event->replica,
                   (unsigned)event->micro, (unsigned)event->micros);
    append_means(event, out);
}

static void append_push(const struct ga_event *event, struct ga_text *out)
{
    ga_text_printf(out, "replica %d hands over %u examples", (int)event->replica,
                   (unsigned)event->examples);
    append_means(event, out);
    if (event->value > 0)
        ga_text_printf(out, ", read version %" PRIu64 ": staleness %.0f", event->version,
                       event->value);
}

static void append_send(const struct ga_event *event, struct ga_text *out)
{
    ga_text_printf(out, "replica %d is done, its sums are on their way", (int)event->replica);
}

static void append_private(const struct ga_event *event, struct ga_text *out)
{
    ga_text_printf(out, "replica %d has taken private step %.0f of its round with %u examples",
                   (int)event->replica, event->value, (unsigned)event->examples);
    append_means(event, out);
}

static void append_drop(const struct ga_event *event, struct ga_text *out)
{
    ga_text_printf(out, "replica %d is dropped with %u examples", (int)event->replica,
                   (unsigned)event->examples);
}

static void append_open(const struct ga_event *event, struct ga_text *out)
{
    ga_text_printf(out, "a window of %u examples for update %" PRIu64, (unsigned)event->examples,
                   event->update);
}

static void append_reduce(const struct ga_event *event, struct ga_text *out)
{
    ga_text_puts(out, "the replicas' sums meet");
    append_means(event, out);
}

static void append_clip(const struct ga_event *event, struct ga_text *out)
{
    if (event->value < 1)
        ga_describe_figure("the gradient is scaled by", event->value, out);
    else
        ga_text_puts(out, "the gradient is within the limit");
}

static void append_apply(const struct ga_event *event, struct ga_text *out)
{
    ga_text_printf(out, "update %" PRIu64 " moves the weights", event->update);
    ga_describe_figure(", lr", event->value, out);
}

void ga_describe_event_details(const struct ga_event *event, struct ga_text *out)
{
    static void (*const details[GA_EVENT_KINDS])(const struct ga_event *, struct ga_text *) = {
        [GA_EVENT_OPEN] = append_open,       [GA_EVENT_MICRO] = append_micro,
        [GA_EVENT_PUSH] = append_push,       [GA_EVENT_DROP] = append_drop,
        [GA_EVENT_SEND] = append_send,       [GA_EVENT_REDUCE] = append_reduce,
        [GA_EVENT_CLIP] = append_clip,       [GA_EVENT_APPLY] = append_apply,
        [GA_EVENT_PRIVATE] = append_private,
    };
    if (event->kind < GA_EVENT_KINDS && details[event->kind])
        details[event->kind](event, out);
}

void ga_describe_event(const struct ga_event *event, struct ga_text *out)
{
    struct ga_text details = GA_TEXT_INIT;
    ga_describe_event_details(event, &details);
    ga_text_printf(out, "%s%s%s", ga_event_name((enum ga_event_kind)event->kind),
                   details.length ? ": " : "", ga_text_get(&details));
    ga_text_free(&details);
}

unsigned ga_window_micros(const struct ga_run *run)
{
    unsigned micros = 0;
    for (size_t i = 0; i < ga_run_replicas(run); i++) {
        const struct ga_replica_value *value = ga_run_replica(run, i);
        if (value->window == ga_run_window(run)->number)
            micros += value->micro;
    }
    return micros;
}

/* The settings that a mode has for itself: one as a bare number, others by name. */
static const struct {
    const char *number; /* shown as `mode N`, NULL: none */
    const char *more;   /* shown by name where they are not what they are at first */
    bool pushes;        /* the step scale matters */
} mode_settings[] = {
    [GA_MODE_SYNC] = {"backup", "", false},
    [GA_MODE_DELAY] = {"lag", "", false},
    [GA_MODE_ASYNC] = {NULL, "", true},
    [GA_MODE_SSP] = {"bound", "", true},
    [GA_MODE_BUFFERED] = {"buffer", "bound", true},
    [GA_MODE_LOCAL] = {"period", "outer", false},
    [GA_MODE_HOGWILD] = {NULL, "writes", true},
};

static bool is_initial(const struct ga_setting *row, const struct ga_settings *settings)
{
    struct ga_settings initial;
    ga_settings_default(&initial);
    return ga_setting_same(row, &initial, settings);
}

const char *ga_mode_number(enum ga_mode mode)
{
    return mode_settings[mode].number;
}

void ga_describe_mode(const struct ga_settings *settings, struct ga_text *out)
{
    const enum ga_mode mode = settings->mode;
    const char *number = mode_settings[mode].number;
    ga_text_puts(out, ga_choice_word("mode", (int)mode));
    if (number && mode != GA_MODE_SYNC) {
        ga_text_puts(out, " ");
        ga_setting_write(ga_setting_find(number), settings, out);
    }
    if (mode == GA_MODE_SYNC && settings->backup > 0)
        ga_text_printf(out, ", backup %d", (int)settings->backup);
    if (*mode_settings[mode].more) {
        const struct ga_setting *row = ga_setting_find(mode_settings[mode].more);
        if (!is_initial(row, settings)) {
            ga_text_printf(out, ", %s ", row->name);
            ga_setting_write(row, settings, out);
        }
    }
    if (mode_settings[mode].pushes)
        ga_text_printf(out, ", scale %s", ga_choice_word("scale", (int)settings->scale));
}

void ga_describe_place(struct ga_run *run, struct ga_text *out)
{
    char digits[GA_HASH_TEXT];
    const struct ga_counters *counters = ga_run_counters(run);
    ga_hash_format(digits, ga_run_hash(run));
    ga_text_printf(out, "update %" PRIu64, counters->updates);
    if (!ga_run_at_boundary(run)) {
        const struct ga_window_state *window = ga_run_window(run);
        ga_text_printf(out, ", inside window %" PRIu64 " (%s, %u micro-batches done)",
                       window->number, ga_phase_name(ga_run_phase(run)), ga_window_micros(run));
    }
    if (ga_run_settings(run)->mode != GA_MODE_SYNC) {
        ga_text_puts(out, ", ");
        ga_describe_mode(ga_run_settings(run), out);
    }
    ga_text_printf(out, ", hash %.8s", digits);
}
