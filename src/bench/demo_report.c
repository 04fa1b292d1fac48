/* The figures of the demo benchmark, for people and as JSON. */
#include "bench/demo.h"

#include "base/hash.h"
#include "base/number.h"

static double per_update(const struct ga_demo *demo, double ns)
{
    return ns / (double)demo->options.updates;
}

static double median(const struct ga_demo *demo, enum ga_demo_contender which)
{
    return per_update(demo, ga_samples_median(&demo->contest[which].samples));
}

static double best(const struct ga_demo *demo, enum ga_demo_contender which)
{
    return per_update(demo, ga_samples_best(&demo->contest[which].samples));
}

void ga_demo_report_text(const struct ga_demo *demo, struct ga_text *out)
{
    char hash[GA_HASH_TEXT], loss[GA_NUMBER_TEXT];

    ga_text_printf(out, "demo: %lld updates of 50 examples, %lld rounds; ns per update\n\n",
                   (long long)demo->options.updates, (long long)demo->options.rounds);
    ga_text_printf(out, "     %-34s %9s %9s   a/it\n", "", "median", "best");
    for (int i = 0; i < GA_DEMO_CONTENDERS; i++)
        ga_text_printf(out, "  %s  %-34s %9.0f %9.0f %6.2f\n", demo->contest[i].form->key,
                       demo->contest[i].form->text, median(demo, i), best(demo, i),
                       median(demo, GA_DEMO_NAIVE) / median(demo, i));
    ga_hash_format(hash, demo->contest[GA_DEMO_SERIAL].hash);
    ga_format_digits(loss, demo->contest[GA_DEMO_SERIAL].loss, 9);
    ga_text_printf(out, "\nb and c end at hash %s, loss %s; ", hash, loss);
    ga_format_digits(loss, demo->contest[GA_DEMO_NAIVE].loss, 9);
    ga_text_printf(out, "a at loss %s; %llu events of c kept\n", loss,
                   (unsigned long long)demo->contest[GA_DEMO_SPLIT].events);
}

static void field(struct ga_text *out, const char *name, double value)
{
    ga_text_printf(out, ",\"%s\":", name);
    ga_text_number(out, value);
}

static void contender_json(const struct ga_demo *demo, enum ga_demo_contender which,
                           struct ga_text *out)
{
    const struct ga_demo_contest *contest = &demo->contest[which];
    char hash[GA_HASH_TEXT];

    ga_text_printf(out, "{\"key\":\"%s\",\"text\":\"%s\"", contest->form->key, contest->form->text);
    field(out, "median_ns", median(demo, which));
    field(out, "best_ns", best(demo, which));
    field(out, "ratio", median(demo, GA_DEMO_NAIVE) / median(demo, which));
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
    for (int i = 0; i < GA_DEMO_CONTENDERS; i++) {
        if (i > 0)
            ga_text_puts(out, ",");
        contender_json(demo, i, out);
    }
    ga_text_puts(out, "]}\n");
}
