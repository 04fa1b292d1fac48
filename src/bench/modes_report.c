/* The figures of the benchmark of the modes, for people and as JSON. */
#include "base/hash.h"
#include "bench/modes.h"

/* Per second. */
static double rate(double count, double ns)
{
    return count / (ns * 1e-9);
}

static double events_rate(const struct ga_modes *modes, const struct ga_samples *samples)
{
    return rate((double)modes->events, ga_samples_median(samples));
}

static double events_best(const struct ga_modes *modes, const struct ga_samples *samples)
{
    return rate((double)modes->events, ga_samples_least(samples));
}

static double updates_rate(const struct ga_modes *modes, const struct ga_samples *samples)
{
    return rate((double)modes->options.updates, ga_samples_median(samples));
}

static double updates_best(const struct ga_modes *modes, const struct ga_samples *samples)
{
    return rate((double)modes->options.updates, ga_samples_least(samples));
}

static void line(const struct ga_modes *modes, const struct ga_modes_contest *contest,
                 struct ga_text *out)
{
    ga_text_printf(out, "  %-9s", contest->form->name);
    for (size_t size = 0; size < GA_MODES_SIZES; size++)
        ga_text_printf(out, " %7.2f %6.2f",
                       events_rate(modes, &contest->events[size].samples) * 1e-6,
                       events_best(modes, &contest->events[size].samples) * 1e-6);
    ga_text_printf(out, " %9.0f %8.0f\n", updates_rate(modes, &contest->training.samples),
                   updates_best(modes, &contest->training.samples));
}

void ga_modes_report_text(const struct ga_modes *modes, struct ga_text *out)
{
    ga_text_printf(out,
                   "modes: %llu events without gradients, %lld updates of the parabola, %lld "
                   "rounds\n\n",
                   (unsigned long long)modes->events, (long long)modes->options.updates,
                   (long long)modes->options.rounds);
    ga_text_printf(out, "  %-9s", "");
    for (size_t size = 0; size < GA_MODES_SIZES; size++)
        ga_text_printf(out, "   P = %-8d", ga_modes_sizes[size]);
    ga_text_printf(out, "    parabola, P = 8\n  %-9s", "");
    for (size_t size = 0; size < GA_MODES_SIZES; size++)
        ga_text_printf(out, " %7s %6s", "median", "best");
    ga_text_printf(out, " %9s %8s\n", "median", "best");
    for (size_t k = 0; k < modes->count; k++)
        line(modes, &modes->contest[k], out);
    ga_text_puts(out, "\nmillion events a second of processor time, item times exponential; "
                      "updates a second of wall time\n");
}

static void field(struct ga_text *out, const char *name, double value)
{
    ga_text_printf(out, ",\"%s\":", name);
    ga_text_number(out, value);
}

static void events_json(const struct ga_modes *modes, const struct ga_modes_contest *contest,
                        size_t size, struct ga_text *out)
{
    const struct ga_modes_events *events = &contest->events[size];

    ga_text_printf(out, "%s{\"replicas\":%d,\"updates\":%llu", size > 0 ? "," : "",
                   ga_modes_sizes[size], (unsigned long long)events->updates);
    field(out, "median_per_second", events_rate(modes, &events->samples));
    field(out, "best_per_second", events_best(modes, &events->samples));
    ga_text_puts(out, "}");
}

static void contest_json(const struct ga_modes *modes, const struct ga_modes_contest *contest,
                         struct ga_text *out)
{
    char hash[GA_HASH_TEXT];

    ga_hash_format(hash, contest->training.hash);
    ga_text_printf(out, "{\"mode\":\"%s\",\"events\":[", contest->form->name);
    for (size_t size = 0; size < GA_MODES_SIZES; size++)
        events_json(modes, contest, size, out);
    ga_text_printf(out, "],\"parabola\":{\"hash\":\"%s\"", hash);
    field(out, "median_per_second", updates_rate(modes, &contest->training.samples));
    field(out, "best_per_second", updates_best(modes, &contest->training.samples));
    ga_text_puts(out, "}}");
}

void ga_modes_report_json(const struct ga_modes *modes, struct ga_text *out)
{
    ga_text_printf(
        out,
        "{\"benchmark\":\"modes\",\"events\":%llu,\"updates\":%lld,\"rounds\":%lld,\"modes\":[",
        (unsigned long long)modes->events, (long long)modes->options.updates,
        (long long)modes->options.rounds);
    for (size_t k = 0; k < modes->count; k++) {
        if (k > 0)
            ga_text_puts(out, ",");
        contest_json(modes, &modes->contest[k], out);
    }
    ga_text_puts(out, "]}\n");
}
