/* Laws beside measurements: law, staleness; and replay, which holds a run to its record. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/number.h"
#include "console/command.h"
#include "console/describe.h"
#include "console/session.h"
#include "train/law.h"

#define BAR 40 /* columns of a histogram */

/* The report for the last N updates, to be freed. */
static int ask(struct ga_console *console, const char *verb, size_t count, const char *const *word,
               bool look_at_curvature, struct ga_law_report **out)
{
    int64_t updates = INT64_MAX;
    *out = NULL;
    if (count > 0 && ga_read_int(word[0], 1, 1000000000000000, &updates) < 0)
        return ga_fail_within("%s", verb);
    *out = ga_alloc(1, sizeof(**out));
    if (!*out)
        return GA_ENOMEM;
    return ga_engine_laws(console->engine, (uint64_t)updates, look_at_curvature, *out);
}

static void append_span(const struct ga_law_report *report, struct ga_text *out)
{
    if (report->updates == 0)
        ga_text_puts(out, "nothing to measure yet");
    else
        ga_text_printf(out, "measured over %" PRIu64 " update%s (%" PRIu64 "..%" PRIu64 ")",
                       report->updates, report->updates == 1 ? "" : "s",
                       report->to_update - report->updates + 1, report->to_update);
    ga_text_puts(out, ": ");
    ga_describe_mode(&report->settings, out);
    ga_text_printf(out, ", P = %zu\n", report->crew.replicas);
}

static void append_figure(double value, struct ga_text *out)
{
    char text[GA_NUMBER_TEXT];
    ga_format_digits(text, value, 6);
    ga_text_printf(out, "  %-12s", isnan(value) ? "-" : text);
}

static void append_law(const struct ga_law_row *row, struct ga_text *out)
{
    ga_text_printf(out, "%-22s", row->name);
    append_figure(row->predicted, out);
    append_figure(row->measured, out);
    ga_text_printf(out, "  %-8s  %-12s  %s", row->unit, ga_law_truth_name(row->truth),
                   row->formula);
    ga_text_puts(out, "\n");
}

static void append_notes(const struct ga_law_report *report, struct ga_text *out)
{
    char text[GA_NUMBER_TEXT];
    const struct ga_stability *stability = &report->stability;
    if (isnan(stability->limit)) {
        ga_text_printf(out, "no stability limit: %s\n", stability->text);
        return;
    }
    ga_format_digits(text, report->lambda, 6);
    ga_text_printf(out, "lambda_max %s, %s; %s\n", text,
                   report->lambda_exact ? "of the quadratic: exact"
                                        : "by power iteration at these weights: a guide",
                   stability->text);
}

/* Laws are those of the mode in force; a change that waits for its window is named. */
static void append_coming(const struct ga_law_report *report, struct ga_text *out)
{
    if (report->coming.mode == report->settings.mode &&
        report->coming.replicas == report->settings.replicas)
        return;
    ga_text_printf(out, "pending, from update %" PRIu64 ": ", report->coming_update);
    ga_describe_mode(&report->coming, out);
    ga_text_printf(out, ", P = %d\n", (int)report->coming.replicas);
}

static void append_laws(const struct ga_law_report *report, struct ga_text *out)
{
    append_span(report, out);
    append_coming(report, out);
    ga_text_printf(out, "%-22s  %-12s  %-12s  %-8s  %-12s  %s\n", "law", "predicted", "measured",
                   "unit", "holds", "formula");
    for (size_t i = 0; i < report->rows; i++)
        append_law(&report->row[i], out);
    append_notes(report, out);
}

int ga_exec_law(struct ga_console *console, size_t count, const char *const *word)
{
    struct ga_law_report *report = NULL;
    const int code = ask(console, "law", count, word, true, &report);
    if (code == 0) {
        struct ga_text text = GA_TEXT_INIT;
        append_laws(report, &text);
        ga_say_text(console, &text);
        ga_text_free(&text);
    }
    free(report);
    return code;
}

/* ---- staleness ---- */

static double measured(const struct ga_law_report *report, size_t bin)
{
    return report->pushes > 0 ? (double)report->bin[bin] / (double)report->pushes : 0;
}

static double predicted(const struct ga_law_report *report, size_t bin)
{
    return report->staleness.has_shape ? report->staleness.shape[bin] : 0;
}

/* Bins worth a line: up to the last one with a push, or with a thousandth of the law. */
static size_t bins(const struct ga_law_report *report)
{
    size_t count = GA_STALENESS_BINS;
    while (count > 0 && report->bin[count - 1] == 0 && predicted(report, count - 1) < 1e-3)
        count--;
    return count;
}

static void append_share(double share, struct ga_text *out)
{
    ga_text_printf(out, "  %8.4f", share);
}

static void append_bar(double share, double most, struct ga_text *out)
{
    const int length = most > 0 ? (int)lround(share / most * BAR) : 0;
    ga_text_puts(out, length > 0 ? "  " : "");
    for (int i = 0; i < length; i++)
        ga_text_puts(out, "#");
}

static void append_bin(const struct ga_law_report *report, size_t bin, double most,
                       struct ga_text *out)
{
    ga_text_printf(out, "%8zu%s  %10" PRIu64, bin, bin + 1 == GA_STALENESS_BINS ? "+" : " ",
                   report->bin[bin]);
    append_share(measured(report, bin), out);
    if (report->staleness.has_shape)
        append_share(predicted(report, bin), out);
    append_bar(measured(report, bin), most, out);
    ga_text_puts(out, "\n");
}

static void append_histogram(const struct ga_law_report *report, struct ga_text *out)
{
    const size_t count = bins(report);
    double most = 0;
    append_span(report, out);
    ga_text_printf(out, "%8s   %10s  %8s%s\n", "tau", "pushes", "measured",
                   report->staleness.has_shape ? "       law" : "");
    for (size_t bin = 0; bin < count; bin++)
        most = fmax(most, measured(report, bin));
    for (size_t bin = 0; bin < count; bin++)
        append_bin(report, bin, most, out);
    ga_text_puts(out, "mean");
    append_figure(report->mean, out);
    ga_text_printf(out, "  law: %s\n", report->staleness.text);
}

int ga_exec_staleness(struct ga_console *console, size_t count, const char *const *word)
{
    struct ga_law_report *report = NULL;
    const int code = ask(console, "staleness", count, word, false, &report);
    if (code == 0) {
        struct ga_text text = GA_TEXT_INIT;
        append_histogram(report, &text);
        ga_say_text(console, &text);
        ga_text_free(&text);
    }
    free(report);
    return code;
}

/* ---- replay ---- */

int ga_exec_replay(struct ga_console *console, size_t count, const char *const *word)
{
    (void)count;
    (void)word;
    struct ga_move move = {.kind = GA_MOVE_REPLAY};
    return ga_move_start(console, &move, false);
}

int ga_replay_report(struct ga_console *console, const struct ga_replay *replay)
{
    char recorded[GA_HASH_TEXT];
    char replayed[GA_HASH_TEXT];
    ga_hash_format(recorded, replay->recorded);
    ga_hash_format(replayed, replay->replayed);
    const bool same = replay->recorded == replay->replayed;
    ga_say(console,
           "replay: %" PRIu64 " events, %" PRIu64 " pushes; hash recorded %s, replayed %s: %s",
           replay->events, replay->pushes, recorded, replayed,
           same ? "the same bits" : "they differ");
    if (same)
        return 0;
    if (console->status == 0)
        console->status = GA_STATUS_TRAINING;
    return ga_fail(GA_ESTATE, "replay: expected hash %s, found %s", recorded, replayed);
}
