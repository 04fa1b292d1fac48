#include "bench/contest.h"

#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/thread.h"

static double cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int make_room(struct ga_contest *contest)
{
    const size_t rounds = (size_t)contest->rounds;

    for (size_t i = 0; i < contest->contenders; i++) {
        struct ga_contender *c = &contest->contender[i];

        c->room = ga_alloc(2 * rounds, sizeof *c->room);
        if (!c->room)
            return ga_error_code();
        c->wall.value = c->room;
        c->cpu.value = c->room + rounds;
    }
    for (size_t i = 0; i < contest->ratios; i++) {
        struct ga_ratio *ratio = &contest->ratio[i];

        ratio->room = ga_alloc(rounds, sizeof *ratio->room);
        if (!ratio->room)
            return ga_error_code();
        ratio->samples.value = ratio->room;
    }
    return GA_OK;
}

static int run_one(struct ga_contender *c, double ns[2])
{
    const int64_t began_ns = ga_now_ns();
    const double began_cpu = cpu_ns();

    if (c->run(c->self) < 0)
        return ga_error_code();
    ns[0] = (double)(ga_now_ns() - began_ns);
    ns[1] = cpu_ns() - began_cpu;
    ga_samples_add(&c->wall, ns[0]);
    ga_samples_add(&c->cpu, ns[1]);
    return GA_OK;
}

static int run_round(struct ga_contest *contest)
{
    double ns[GA_CONTENDERS][2];

    for (size_t i = 0; i < contest->contenders; i++)
        if (run_one(&contest->contender[i], ns[i]) < 0)
            return ga_error_code();
    for (size_t i = 0; i < contest->ratios; i++) {
        struct ga_ratio *ratio = &contest->ratio[i];
        const double of = contest->contender[ratio->of].work / ns[ratio->of][ratio->by_cpu];
        const double to = contest->contender[ratio->to].work / ns[ratio->to][ratio->by_cpu];

        ga_samples_add(&ratio->samples, of / to);
    }
    return GA_OK;
}

int ga_contest_run(struct ga_contest *contest)
{
    int code = make_room(contest);

    for (size_t i = 0; code == GA_OK && i < contest->contenders; i++)
        code = contest->contender[i].run(contest->contender[i].self);
    for (int64_t round = 0; code == GA_OK && round < contest->rounds; round++)
        code = run_round(contest);
    return code;
}

void ga_contest_fini(struct ga_contest *contest)
{
    for (size_t i = 0; i < contest->contenders; i++)
        free(contest->contender[i].room);
    for (size_t i = 0; i < contest->ratios; i++)
        free(contest->ratio[i].room);
}

/* Per second. */
static double rate(const struct ga_contender *c, double ns)
{
    return c->work / ns * 1e9;
}

/* What the pair's least times come to: what a busy machine disturbs least. */
static double best_of(const struct ga_contest *contest, const struct ga_ratio *ratio)
{
    const struct ga_contender *of = &contest->contender[ratio->of];
    const struct ga_contender *to = &contest->contender[ratio->to];
    const struct ga_samples *a = ratio->by_cpu ? &of->cpu : &of->wall;
    const struct ga_samples *b = ratio->by_cpu ? &to->cpu : &to->wall;

    return rate(of, ga_samples_least(a)) / rate(to, ga_samples_least(b));
}

static void report_text(const struct ga_contest *contest, struct ga_text *out)
{
    ga_text_printf(out, "%s: %lld rounds; %s per second%s%s\n\n", contest->name,
                   (long long)contest->rounds, contest->unit, contest->library[0] ? "; " : "",
                   contest->library);
    ga_text_printf(out, "  %-44s %10s %10s %10s\n", "", "median", "best", "best, CPU");
    for (size_t i = 0; i < contest->contenders; i++) {
        const struct ga_contender *c = &contest->contender[i];

        ga_text_printf(out, "  %-44s %10.4g %10.4g %10.4g\n", c->text,
                       rate(c, ga_samples_median(&c->wall)), rate(c, ga_samples_least(&c->wall)),
                       rate(c, ga_samples_least(&c->cpu)));
    }
    ga_text_printf(out, "\n  %-44s %10s %10s\n", "", "median", "best");
    for (size_t i = 0; i < contest->ratios; i++) {
        const struct ga_ratio *ratio = &contest->ratio[i];

        ga_text_printf(out, "  %-44s %10.3f %10.3f  %s%s\n", ratio->text,
                       ga_samples_median(&ratio->samples), best_of(contest, ratio), ratio->wanted,
                       ratio->by_cpu ? ", by CPU time" : "");
    }
}

static void report_json(const struct ga_contest *contest, struct ga_text *out)
{
    ga_text_printf(out, "{\"benchmark\":\"%s\",\"rounds\":%lld,\"unit\":\"%s\"", contest->name,
                   (long long)contest->rounds, contest->unit);
    ga_text_printf(out, ",\"library\":\"%s\"", contest->library);
    for (size_t i = 0; i < contest->contenders; i++) {
        const struct ga_contender *c = &contest->contender[i];

        ga_text_printf(out, ",\"%s\":{\"median\":", c->key);
        ga_text_number(out, rate(c, ga_samples_median(&c->wall)));
        ga_text_puts(out, ",\"best\":");
        ga_text_number(out, rate(c, ga_samples_least(&c->wall)));
        ga_text_puts(out, ",\"best_cpu\":");
        ga_text_number(out, rate(c, ga_samples_least(&c->cpu)));
        ga_text_puts(out, "}");
    }
    for (size_t i = 0; i < contest->ratios; i++) {
        const struct ga_ratio *ratio = &contest->ratio[i];

        ga_text_printf(out, ",\"%s\":{\"median\":", ratio->key);
        ga_text_number(out, ga_samples_median(&ratio->samples));
        ga_text_puts(out, ",\"best\":");
        ga_text_number(out, best_of(contest, ratio));
        ga_text_puts(out, "}");
    }
    ga_text_puts(out, "}\n");
}

void ga_contest_report(const struct ga_contest *contest, bool json, struct ga_text *out)
{
    (json ? report_json : report_text)(contest, out);
}

int ga_contest_hold(struct ga_contest *contest, int code, bool json, struct ga_text *out)
{
    if (code == GA_OK)
        code = ga_contest_run(contest);
    if (code == GA_OK)
        ga_contest_report(contest, json, out);
    ga_contest_fini(contest);
    return code;
}
