/* What modes are expected to do: staleness laws, limits, factors, and the crew that they rest on.
 */
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "train/stability.h"
#include "train/support/run_rig.h"

static void test_limits(void **state)
{
    const double limits[][2] = {{0, 2},        {1, 1},        {2, 0.618034}, {3, 0.445042},
                                {4, 0.347296}, {7, 0.209057}, {15, 0.101298}};

    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        assert_close(ga_stability_limit(limits[i][0]), limits[i][1], 5e-6);
    assert_close(ga_stability_limit(0), 2, 1e-15);
    assert_close(ga_stability_limit(1), 1, 1e-15);
    assert_close(ga_stability_critical(0), 1, 1e-15);
    assert_close(ga_stability_critical(1), 0.25, 1e-14);
    assert_close(ga_stability_critical(2), 4.0 / 27, 1e-14);
    assert_close(ga_stability_critical(3), 27.0 / 256, 1e-14);
}

struct expected {
    const char *settings;
    double mean;  /* NaN: no law */
    double most;  /* INFINITY: no bound */
    double shape; /* probability of staleness `bin`; negative: no shape */
    size_t bin;
};

#define NONE ((double)NAN)
#define FREE ((double)INFINITY)

/* Windows of 24 of 24 rows: equal items unless something makes them differ. */
static const struct expected laws[] = {
    {"mode sync", 0, 0, 1, 0},
    {"mode local period 4", 0, 0, 1, 0},
    {"mode delay lag 3", 3, 3, 1, 3},
    {"mode delay lag 100", 100, 100, 1, GA_SHAPE_BINS - 1},
    {"mode async", 3, 3, 1, 3},
    {"mode async replicas 24", 23, 23, 1, 23},
    {"mode async per-example 0 base 0", 3, 3, 1, 3},
    {"mode async jitter uniform(0.5,1.5)", 3, FREE, -1, 0},
    {"mode async jitter exponential", 3, FREE, 0.25 * 0.75 * 0.75, 2},
    {"mode hogwild jitter exponential", 3, FREE, 0.25, 0},
    {"mode async jitter straggler(0.1,5)", 3, FREE, -1, 0},
    {"mode async replicas 5", 4, FREE, -1, 0}, /* 24 over 5: unequal items */
    {"mode async global 20", 3, FREE, -1, 0},  /* the epoch's last window is short */
    {"mode async clock real", 3, FREE, -1, 0},
    {"mode ssp", 3, 3, 1, 3},
    {"mode ssp bound 0 jitter exponential", 1.5, 3, 0.25, 3},
    {"mode ssp bound 0", 1.5, 3, 0.25, 0},
    {"mode ssp bound 2", 3, 3, 1, 3},
    {"mode ssp bound 2 jitter exponential", NONE, 15, -1, 0},
    {"mode buffered", 0.75, FREE, -1, 0},
    {"mode buffered buffer 2", 1.5, FREE, -1, 0},
    {"mode buffered bound 0", 0, 0, 1, 0},
    {"mode buffered bound 1", NONE, FREE, -1, 0},
};

static void look(const char *settings, struct ga_crew *crew, struct ga_staleness_law *law,
                 struct ga_stability *stability)
{
    char words[256];
    struct ga_run_rig rig;

    snprintf(words, sizeof words, "replicas 4 accum 1 global 24 %s", settings);
    ga_run_rig_open(&rig,
                    &(struct ga_test_start){.data = "quadratic lambda=1 n=24", .settings = words});
    ga_crew_of(rig.run, ga_run_settings(rig.run), crew);
    ga_staleness_law(ga_run_settings(rig.run), crew, law);
    ga_stability(ga_run_settings(rig.run), crew, stability);
    ga_run_rig_close(&rig);
}

static void check_law(const struct expected *want)
{
    struct ga_crew crew;
    struct ga_staleness_law law;
    struct ga_stability stability;
    double sum = 0;

    look(want->settings, &crew, &law, &stability);
    if (isnan(want->mean) != isnan(law.mean) || want->most != law.most ||
        law.has_shape != (want->shape >= 0) || !*law.text)
        fail_msg("%s: mean %g, most %g, %s", want->settings, law.mean, law.most, law.text);
    if (!isnan(want->mean))
        assert_close(law.mean, want->mean, 1e-12);
    if (want->shape < 0)
        return;
    assert_close(law.shape[want->bin], want->shape, 1e-12);
    for (size_t bin = 0; bin < GA_SHAPE_BINS; bin++)
        sum += law.shape[bin];
    assert_close(sum, 1, 1e-12);
}

static void test_staleness_laws(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++)
        check_law(&laws[i]);
}

static void test_factors(void **state)
{
    const struct {
        const char *settings;
        double factor, limit; /* NaN limit: not known */
        const char *text;
    } cases[] = {
        {"mode sync", 1, 2, "staleness"},
        {"mode sync scale staleness", 1, 2, "staleness"},
        {"mode async", 1, 0.445042, "P-1"},
        {"mode async scale share", 0.25, 0.445042, "P-1"},
        {"mode async scale rescaled", 0.25, 0.445042, "P-1"},
        {"mode async scale staleness", 1 / 3.0, 0.445042, "P-1"},
        {"mode async scale sqrt", 0.5, 0.445042, "P-1"},
        {"mode async replicas 1 scale staleness", 1, 2, "P-1"},
        {"mode buffered buffer 2 scale share", 0.5, 0.7653669, "(P-1)/k"},
        {"mode ssp bound 2 jitter exponential", 1, 0.445042, "without the bound"},
        {"mode sync momentum 0.9", 1, 3.8, "staleness"},
        {"mode sync momentum 0.9 nesterov on", 1, 3.8 / 2.8, "staleness"},
        {"mode sync reduce sum", 24, 2, "staleness"},
        {"mode async reduce sum", 6, 0.445042, "P-1"},
        {"mode buffered buffer 2 reduce sum", 12, 0.7653669, "(P-1)/k"},
        {"mode async momentum 0.9", 1, NONE, "momentum on stale weights"},
        {"mode sync optimizer adam", 1, NONE, "sgd only"},
        {"mode local outer sgd(0.7,0)", 1, NONE, "outer optimizer"},
        {"mode local", 1, 2, "staleness"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ga_crew crew;
        struct ga_staleness_law law;
        struct ga_stability stability;

        look(cases[i].settings, &crew, &law, &stability);
        if (!strstr(stability.text, cases[i].text))
            fail_msg("%s: %s", cases[i].settings, stability.text);
        if (isnan(cases[i].limit)) {
            assert_true(isnan(stability.limit));
            continue;
        }
        assert_close(stability.factor, cases[i].factor, 1e-12);
        assert_close(stability.limit, cases[i].limit, 3e-6);
    }
}

/* Items, shards and times of each replica against the run that has them. */
static void test_the_crew_is_the_run(void **state)
{
    static const char *const settings[] = {
        "replicas 5 accum 2 batch 3",
        "replicas 4 accum 1 global 10 sharding strided",
        "replicas 7 accum 1 global 64 sharding contiguous",
        "replicas 3 accum 2 batch 20 tail wrap",
        "replicas 6 accum 1 global 9 tail drop",
    };

    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        struct ga_run_rig rig;
        struct ga_crew crew;
        size_t most = 0;

        ga_run_rig_open(&rig, &(struct ga_test_start){.data = "quadratic lambda=1 n=61",
                                                      .settings = settings[i]});
        ga_test_ok(ga_run_slow(rig.run, 1, 2.5));
        ga_crew_of(rig.run, ga_run_settings(rig.run), &crew);
        ga_run_rig_events(&rig, 1);
        for (size_t r = 0; r < ga_run_replicas(rig.run); r++) {
            const struct ga_replica_value *v = ga_run_replica(rig.run, r);
            const struct ga_settings *set = ga_run_settings(rig.run);
            double ns = ga_crew_item_ns(rig.run, set, r);

            assert_int_equal(v->part, ga_crew_item(rig.run, set, r));
            if (v->part > 0)
                assert_close((double)(v->finish_ns - v->start_ns), ns, 1e-9);
            most = v->part > most ? v->part : most;
        }
        assert_int_equal(crew.examples, most);
        assert_int_equal(crew.times, GA_TIMES_CONSTANT);
        assert_close(crew.slowest_ns, 2.5 * ga_crew_item_ns(rig.run, ga_run_settings(rig.run), 0),
                     1e-9);
        ga_run_rig_close(&rig);
    }
}

/* The dead, and those without rows, take no part. */
static void test_who_takes_part(void **state)
{
    struct ga_run_rig rig;
    struct ga_crew crew;

    (void)state;
    ga_run_rig_open(
        &rig, &(struct ga_test_start){.data = "quadratic lambda=1 n=4",
                                      .settings = "replicas 6 accum 1 global 6 sharding strided"});
    ga_crew_of(rig.run, ga_run_settings(rig.run), &crew);
    assert_int_equal(crew.replicas, 4);
    ga_test_ok(ga_run_kill(rig.run, 1));
    ga_crew_of(rig.run, ga_run_settings(rig.run), &crew);
    assert_int_equal(crew.replicas, 3);
    for (size_t r = 0; r < 6; r++)
        if (r != 1)
            ga_test_ok(ga_run_kill(rig.run, r));
    ga_crew_of(rig.run, ga_run_settings(rig.run), &crew);
    assert_int_equal(crew.replicas, 0);
    assert_true(isnan(ga_run_metric(rig.run, GA_METRIC_GAUGE, -1)));
    assert_int_equal(ga_run_metric(rig.run, GA_METRIC_KILLED, -1), 6);
    ga_run_rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits),         cmocka_unit_test(test_staleness_laws),
        cmocka_unit_test(test_factors),        cmocka_unit_test(test_the_crew_is_the_run),
        cmocka_unit_test(test_who_takes_part),
    };

    return ga_test_main(tests);
}
