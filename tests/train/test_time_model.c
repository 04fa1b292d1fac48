/* Item times: golden draws, means within 1 %, the rounding and the ends of the scale. */
#include "support/support.h"

#include <math.h>
#include <stdio.h>

#include "train/support/start.h"
#include "train/time_model.h"

#define LIMIT (INT64_C(1) << 62)

static struct ga_settings with(const char *words)
{
    struct ga_settings set;

    ga_settings_default(&set);
    ga_test_ok(ga_test_read_settings(&set, words));
    return set;
}

/* u and z of the first two words of Philox4x32-10 at (seed; item, replica, purpose 3), computed by
 * another program. */
struct golden {
    uint64_t seed;
    uint32_t replica;
    uint64_t item;
    double u, z;
};

static const struct golden goldens[] = {
    {1, 0, 0, 0.41143846220802516, -0.6239970352737189},
    {1, 0, 1, 0.14499312301632017, -1.845546457587178},
    {1, 3, 0, 0.5234619596740231, 1.0379654540954468},
    {7, 2, UINT64_C(8589934597), 0.26194516650866717, -1.057545717200509},
    {UINT64_C(9223372036854775817), 4095, 1, 0.14428591670002788, 1.918228032241429},
};

static void check_draw(const struct golden *golden, const char *jitter, double want)
{
    char words[64];
    struct ga_settings set;

    snprintf(words, sizeof words, "jitter %s", jitter);
    set = with(words);
    set.seed = golden->seed;
    assert_close(ga_time_jitter(&set, golden->replica, golden->item), want, 1e-14);
}

static void test_golden_draws(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof goldens / sizeof *goldens; k++) {
        const struct golden *g = &goldens[k];

        check_draw(g, "constant", 1);
        check_draw(g, "exponential", -log(g->u));
        check_draw(g, "shifted(0.25)", 0.25 + 0.75 * -log(g->u));
        check_draw(g, "uniform(0.4,1.6)", 0.4 + 1.2 * g->u);
        check_draw(g, "lognormal(0.5)", exp(0.5 * g->z - 0.125));
        check_draw(g, "straggler(0.3,7)", g->u < 0.3 ? 7 : 1);
    }
}

struct mean_case {
    const char *jitter;
    double mean, deviation; /* of one draw */
};

static void test_means(void **state)
{
    const struct mean_case cases[] = {
        {"exponential", 1, 1},        {"shifted(0.3)", 1, 0.7},    {"uniform(0,2)", 1, 0.577350269},
        {"lognormal(0.5)", 1, 0.533}, {"straggler(0.1,11)", 2, 3}, {"constant", 1, 0},
    };
    size_t count = ga_test_count(200000);

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char words[64];
        struct ga_settings set;
        double sum = 0, square = 0;

        snprintf(words, sizeof words, "jitter %s", cases[k].jitter);
        set = with(words);
        for (size_t i = 0; i < count; i++) {
            double draw = ga_time_jitter(&set, (uint32_t)(i % 8), i / 8);

            assert_true(draw >= 0 && isfinite(draw));
            sum += draw;
            square += draw * draw;
        }
        sum /= (double)count;
        assert_true(fabs(sum - cases[k].mean) <=
                    fmax(0.0, 4 * cases[k].deviation / sqrt((double)count)) + 1e-12);
        if (count == 200000) {
            assert_close(sum, cases[k].mean, 0.01);
            assert_true(fabs(sqrt(square / (double)count - sum * sum) - cases[k].deviation) <
                        0.02 * cases[k].deviation + 1e-6);
        }
    }
}

/* A draw depends on seed, replica and item, and on nothing else. */
static void test_draws_stand_alone(void **state)
{
    struct ga_settings few = with("jitter exponential replicas 2 seed 5");
    struct ga_settings many = with("jitter exponential replicas 64 accum 9 batch 3 seed 5");
    struct ga_settings other = with("jitter exponential seed 6");

    (void)state;
    for (uint64_t item = 0; item < 100; item++) {
        assert_true(ga_time_jitter(&few, 1, item) == ga_time_jitter(&many, 1, item));
        assert_true(ga_time_jitter(&few, 1, item) != ga_time_jitter(&few, 0, item));
        assert_true(ga_time_jitter(&few, 1, item) != ga_time_jitter(&few, 1, item + 1));
        assert_true(ga_time_jitter(&few, 1, item) != ga_time_jitter(&other, 1, item));
    }
}

/* Times drawn some at once are those drawn one by one, wherever the next item is asked for. */
static void test_draws_ahead(void **state)
{
    static const char *const jitters[] = {
        "jitter constant base 1ms",           "jitter uniform(0.5,1.5) base 1ms",
        "jitter lognormal(0.7) base 1ms",     "jitter exponential base 1ms",
        "jitter shifted(0.3) base 1ms",       "jitter straggler(0.3,4) base 1ms",
        "jitter exponential base 1ms seed 9",
    };
    struct ga_test_random random = {.seed = 3};
    struct ga_time_ahead ahead = {0}; /* goes on over changes of the settings, as in a run */
    uint64_t item = 0;

    (void)state;
    for (int round = 0; round < 60; round++) {
        struct ga_settings set = with(jitters[ga_test_draw(&random, 7)]);

        if (ga_test_draw(&random, 3) == 0)
            item = ga_test_draw(&random, 50) + (round % 5 == 0 ? UINT64_MAX - 55 : 0);
        for (uint32_t k = ga_test_draw(&random, 20); k > 0; k--, item++)
            assert_int_equal(ga_time_next_item(&set, &ahead, 5, item, 3, 1.5),
                             ga_time_item(&set, 5, item, 3, 1.5));
    }
}

static void test_item_times(void **state)
{
    struct ga_settings set = with("base 2ms per-example 3us");

    (void)state;
    assert_int_equal(ga_time_item(&set, 0, 0, 0, 1), 2000000);
    assert_int_equal(ga_time_item(&set, 0, 0, 100, 1), 2300000);
    assert_int_equal(ga_time_item(&set, 0, 0, 100, 1.5), 3450000);
    set = with("base 0 per-example 1ns");
    assert_int_equal(ga_time_item(&set, 0, 0, 3, 0.5), 2); /* 1.5: to the nearest */
    assert_int_equal(ga_time_item(&set, 0, 0, 1, 1e-6), 1);
    set = with("base 0 per-example 0");
    assert_int_equal(ga_time_item(&set, 0, 0, 1000, 1), 1); /* at least 1 ns */
    set = with("base 1000s per-example 1000s");
    assert_int_equal(ga_time_item(&set, 0, 0, 262144, 1e6), LIMIT);
}

static void test_communication(void **state)
{
    struct ga_settings set = with("latency 10us bandwidth 1MB/s");

    (void)state;
    assert_int_equal(ga_time_message_bytes(16), 68);
    assert_int_equal(ga_time_all_reduce(&set, 1, 16), 0);
    /* 2 * 1 * 10 us + 2 * 1/2 * 68 us */
    assert_int_equal(ga_time_all_reduce(&set, 2, 16), 20000 + 68000);
    /* 2 * 3 * 10 us + 2 * 3/4 * 68 us */
    assert_int_equal(ga_time_all_reduce(&set, 4, 16), 60000 + 102000);
    set = with("latency 0 bandwidth inf");
    assert_int_equal(ga_time_all_reduce(&set, 4096, 1000000), 0);
    set = with("latency 1000s bandwidth 1B/s");
    assert_int_equal(ga_time_all_reduce(&set, 4096, SIZE_MAX / 8), LIMIT);
}

static void test_sums_stay_below_the_limit(void **state)
{
    (void)state;
    assert_int_equal(ga_time_add(3, 4), 7);
    assert_int_equal(ga_time_add(LIMIT - 1, 1), LIMIT);
    assert_int_equal(ga_time_add(LIMIT, LIMIT), LIMIT);
    assert_int_equal(ga_time_add(LIMIT, 0), LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_draws),
        cmocka_unit_test(test_means),
        cmocka_unit_test(test_draws_stand_alone),
        cmocka_unit_test(test_draws_ahead),
        cmocka_unit_test(test_item_times),
        cmocka_unit_test(test_communication),
        cmocka_unit_test(test_sums_stay_below_the_limit),
    };

    return ga_test_main(tests);
}
