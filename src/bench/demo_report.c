/* The figures of the demo benchmark, for people and as JSON. */
#include "bench/demo.h"

#include "base/hash.h"
#include "base/number.h"

static double median(const struct ga_demo *demo, const struct ga_demo_contest *contest)
{
    return ga_samples_median(&contest->samples) / (double)demo->options.updates;
}

static double best(const struct ga_demo *demo, const struct ga_demo_contest *contest)
{
    return ga_samples_least(&contest->samples) / (double)demo->options.updates;
}

/* Of the least times: what a busy machine disturbs least. */
static double best_ratio(const struct ga_demo *demo, const struct ga_demo_contest *contest)
{
    return best(demo, &demo->contest[GA_DEMO_NAIVE]) / best(demo, contest);
}

/* Least time to least time. */
static double part_of(const struct ga_demo *demo, enum ga_demo_contender one,
                      enum ga_demo_contender other)
{
    return best(demo, &demo->contest[one]) / best(demo, &demo->contest[other]);
}

static void contender_line(const struct ga_demo *demo, const struct ga_demo_contest *contest,
                           struct ga_text *out)
{
    ga_text_printf(out, "  %s  %-34s %9.0f %6.2f %9.0f %6.2f\n", contest->form->key,
                   contest->form->text, median(demo, contest), ga_samples_median(&contest->ratios),
                   best(demo, contest), best_ratio(demo, contest));
}

void ga_demo_report_text(const struct ga_demo *demo, struct ga_text *out)
{
    const struct ga_demo_contest *serial = &demo->contest[GA_DEMO_SERIAL];
    char hash[GA_HASH_TEXT], loss[GA_NUMBER_TEXT];

    ga_text_printf(out, "demo: %lld updates of 50 examples, %lld rounds; ns per update\n\n",
                   (long long)demo->options.updates, (long long)demo->options.rounds);
    ga_text_printf(out, "     %-34s %9s %6s %9s %6s\n", "", "median", "a/it", "best", "a/it");
    for (size_t i = 0; i < GA_DEMO_CONTENDERS; i++)
        contender_line(demo, &demo->contest[i], out);
    ga_text_printf(out, "\nf takes at the best %.3f of g, e takes %.3f of d\n",
                   part_of(demo, GA_DEMO_LONG, GA_DEMO_BARE),
                   part_of(demo, GA_DEMO_STOPS, GA_DEMO_FAST));
    ga_hash_format(hash, serial->hash);
    ga_format_digits(loss, serial->loss, 9);
    ga_text_printf(out, "b and c end at hash %s, loss %s; ", hash, loss);
    ga_format_digits(loss, demo->contest[GA_DEMO_NAIVE].loss, 9);
    ga_text_printf(out, "a at loss %s; %llu events of c kept\n", loss,
                   (unsigned long long)demo->contest[GA_DEMO_SPLIT].events);
}

static void field(struct ga_text *out, const char *name, double value)
{
    ga_text_printf(out, ",\"%s\":", name);
    ga_text_number(out, value);
}

static void contender_json(const struct ga_demo *demo, const struct ga_demo_contest *contest,
                           struct ga_text *out)
{
    char hash[GA_HASH_TEXT];

    ga_text_printf(out, "{\"key\":\"%s\",\"text\":\"%s\"", contest->form->key, contest->form->text);
    field(out, "median_ns", median(demo, contest));
    field(out, "best_ns", best(demo, contest));
    field(out, "ratio", ga_samples_median(&contest->ratios));
    field(out, "best_ratio", best_ratio(demo, contest));
    field(out, "loss", contest->loss);
    if (contest->engine) {
        ga_hash_format(hash, contest->hash);
        ga_text_printf(out, ",\"hash\":\"%s\",\"events\":%llu", hash,
                       (unsigned long long)contest->events);
    }
    ga_text_puts(out, "}");
}

void ga_demo_report_json(const struct ga_demo *demo, struct ga_text *out)
{
    ga_text_printf(out, "{\"benchmark\":\"demo\",\"updates\":%lld,\"rounds\":%lld,\"contenders\":[",
                   (long long)demo->options.updates, (long long)demo->options.rounds);
    for (size_t i = 0; i < GA_DEMO_CONTENDERS; i++) {
        if (i > 0)
            ga_text_puts(out, ",");
        contender_json(demo, &demo->contest[i], out);
    }
    ga_text_puts(out, "]");
    field(out, "recording", part_of(demo, GA_DEMO_LONG, GA_DEMO_BARE));
    field(out, "breakpoints", part_of(demo, GA_DEMO_STOPS, GA_DEMO_FAST));
    ga_text_puts(out, "}\n");
}
