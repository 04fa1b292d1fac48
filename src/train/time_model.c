#include "train/time_model.h"

#include "base/exact_double.h"
#include "base/random.h"

#define TIME_LIMIT (INT64_C(1) << 62)

int64_t ga_time_add(int64_t a, int64_t b)
{
    return a > TIME_LIMIT - b ? TIME_LIMIT : a + b;
}

static int64_t round_ns(double ns)
{
    if (!(ns < 0x1p62))
        return TIME_LIMIT;
    return (int64_t)(ns + 0.5);
}

struct draw {
    double a, b; /* arguments of the setting */
    double u;    /* uniform in (0, 1) */
    double z;    /* normal */
};

static double jitter_constant(const struct draw *draw)
{
    (void)draw;
    return 1;
}

static double jitter_uniform(const struct draw *draw)
{
    return draw->a + (draw->b - draw->a) * draw->u;
}

static double jitter_lognormal(const struct draw *draw)
{
    return ga_exact_exp(draw->a * draw->z - draw->a * draw->a / 2);
}

static double jitter_exponential(const struct draw *draw)
{
    return -ga_exact_log(draw->u);
}

static double jitter_shifted(const struct draw *draw)
{
    return draw->a + (1 - draw->a) * -ga_exact_log(draw->u);
}

static double jitter_straggler(const struct draw *draw)
{
    return draw->u < draw->a ? draw->b : 1;
}

static double (*const jitter_of[])(const struct draw *) = {
    [GA_JITTER_CONSTANT] = jitter_constant,   [GA_JITTER_UNIFORM] = jitter_uniform,
    [GA_JITTER_LOGNORMAL] = jitter_lognormal, [GA_JITTER_EXPONENTIAL] = jitter_exponential,
    [GA_JITTER_SHIFTED] = jitter_shifted,     [GA_JITTER_STRAGGLER] = jitter_straggler,
};

double ga_time_jitter(const struct ga_settings *settings, uint32_t replica, uint64_t item)
{
    struct draw draw = {.a = settings->jitter.a, .b = settings->jitter.b};
    uint32_t words[4];

    if (settings->jitter.kind == GA_JITTER_CONSTANT)
        return 1;
    ga_draw(settings->seed, item, replica, GA_DRAW_JITTER, words);
    draw.u = ga_uniform(words[0]);
    if (settings->jitter.kind == GA_JITTER_LOGNORMAL)
        draw.z = ga_normal(settings->seed, item, replica, GA_DRAW_JITTER);
    return jitter_of[settings->jitter.kind](&draw);
}

static int64_t item_ns(const struct ga_settings *settings, size_t examples, double slow,
                       double jitter)
{
    double nominal =
        (double)settings->base_ns + (double)settings->per_example_ns * (double)examples;
    int64_t ns = round_ns(nominal * slow * jitter);

    return ns < 1 ? 1 : ns;
}

int64_t ga_time_item(const struct ga_settings *settings, uint32_t replica, uint64_t item,
                     size_t examples, double slow)
{
    return item_ns(settings, examples, slow, ga_time_jitter(settings, replica, item));
}

static bool serves(const struct ga_time_ahead *ahead, const struct ga_settings *settings,
                   uint64_t item)
{
    return ahead->drawn && item - ahead->first < GA_TIME_AHEAD && ahead->seed == settings->seed &&
           ahead->kind == settings->jitter.kind && ahead->a == settings->jitter.a &&
           ahead->b == settings->jitter.b;
}

/* A uniform draw is at least 2^-33, and logarithms in a row without a branch overlap. */
static void draw_exponentials(struct ga_time_ahead *ahead, uint32_t replica)
{
    uint32_t words[GA_TIME_AHEAD][4];

    for (size_t k = 0; k < GA_TIME_AHEAD; k++)
        ga_draw(ahead->seed, ahead->first + k, replica, GA_DRAW_JITTER, words[k]);
    for (size_t k = 0; k < GA_TIME_AHEAD; k++)
        ahead->factor[k] = -ga_exact_log_of_normal(ga_uniform(words[k][0]), 0);
}

static void draw_ahead(struct ga_time_ahead *ahead, const struct ga_settings *settings,
                       uint32_t replica, uint64_t item)
{
    ahead->first = item;
    ahead->seed = settings->seed;
    ahead->kind = settings->jitter.kind;
    ahead->a = settings->jitter.a;
    ahead->b = settings->jitter.b;
    ahead->drawn = true;
    if (settings->jitter.kind == GA_JITTER_EXPONENTIAL) {
        draw_exponentials(ahead, replica);
        return;
    }
    for (uint64_t k = 0; k < GA_TIME_AHEAD; k++)
        ahead->factor[k] = ga_time_jitter(settings, replica, item + k);
}

int64_t ga_time_next_item(const struct ga_settings *settings, struct ga_time_ahead *ahead,
                          uint32_t replica, uint64_t item, size_t examples, double slow)
{
    if (settings->jitter.kind == GA_JITTER_CONSTANT)
        return item_ns(settings, examples, slow, 1);
    if (!serves(ahead, settings, item))
        draw_ahead(ahead, settings, replica, item);
    return item_ns(settings, examples, slow, ahead->factor[item - ahead->first]);
}

uint64_t ga_time_message_bytes(size_t parameters)
{
    return 4 * ((uint64_t)parameters + 1);
}

int64_t ga_time_message(const struct ga_settings *settings, size_t parameters)
{
    double ns = (double)settings->latency_ns;

    if (settings->bandwidth > 0)
        ns += (double)ga_time_message_bytes(parameters) / settings->bandwidth * 1e9;
    return round_ns(ns);
}

int64_t ga_time_all_reduce(const struct ga_settings *settings, size_t replicas, size_t parameters)
{
    double p = (double)replicas;
    double ns = 2 * (p - 1) * (double)settings->latency_ns;

    if (settings->bandwidth > 0)
        ns +=
            2 * (p - 1) / p * (double)ga_time_message_bytes(parameters) / settings->bandwidth * 1e9;
    return round_ns(ns);
}
