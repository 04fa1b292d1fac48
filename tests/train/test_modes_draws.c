/*
 * Laws of random item times, over many draws of fixed seeds: with exponential times the staleness
 * of async is geometric and its mean path that of heavy ball with momentum 1-1/P; throughput of ssp
 * and under stragglers; time is conserved to the nanosecond, communication included.
 */
#include "support/support.h"

#include <math.h>
#include <stdio.h>

#include "train/run_internal.h"
#include "train/support/run_rig.h"

#define PUSHES  100000
#define SEEDS   100000
#define WINDOWS 100000

static void open_mode(struct ga_run_rig *rig, int replicas, const char *more)
{
    char words[256];

    snprintf(words, sizeof words,
             "replicas %d accum 1 batch 1 base 1ms per-example 0 lr 0 jitter exponential %s",
             replicas, more);
    ga_run_rig_open(rig,
                    &(struct ga_test_start){.data = "quadratic lambda=1 n=64", .settings = words});
}

/* ---- P(tau = j) -> (1/P) (1-1/P)^j ---- */

static double chance(int replicas, int tau)
{
    return pow(1 - 1.0 / replicas, tau) / replicas;
}

/* Chi-square over the bins in which 10 are expected or more, the rest as one. */
static double chi_square(const uint64_t *bins, int replicas, double pushes, int *degrees)
{
    double sum = 0, left = pushes, rest = pushes, want = 0;
    int j = 0;

    for (; chance(replicas, j) * pushes >= 10; j++) {
        want = chance(replicas, j) * pushes;
        sum += ((double)bins[j] - want) * ((double)bins[j] - want) / want;
        left -= (double)bins[j];
        rest -= want;
    }
    *degrees = j;
    return sum + (left - rest) * (left - rest) / rest;
}

/* The 99.9 % point of chi-square (Wilson and Hilferty, 1931). */
static double chi_square_limit(int degrees)
{
    double part = 2.0 / (9.0 * degrees), z = 3.0902;

    return degrees * pow(1 - part + z * sqrt(part), 3);
}

struct taus {
    uint64_t seen, skipped;
    uint64_t bins[1024];
};

static void take_tau(void *self, const struct ga_event *event)
{
    struct taus *taus = self;

    if (event->kind != GA_EVENT_PUSH || taus->seen++ < taus->skipped)
        return;
    taus->bins[event->value < 1023 ? (size_t)event->value : 1023]++;
}

static void test_staleness_is_geometric(void **state)
{
    const int replicas[] = {2, 3, 4, 8, 16};

    (void)state;
    for (size_t k = 0; k < 5; k++) {
        struct taus taus = {.skipped = 40 * (uint64_t)replicas[k]};
        uint64_t pushes = ga_test_count(PUSHES);
        double sum = 0;
        int degrees = 0;
        struct ga_run_rig rig;

        open_mode(&rig, replicas[k], "mode async seed 1");
        ga_run_watch(rig.run, take_tau, NULL, &taus);
        ga_run_rig_updates(&rig, taus.skipped + pushes);
        sum = chi_square(taus.bins, replicas[k], (double)pushes, &degrees);
        print_message("P %d: chi-square %.1f of %d degrees, limit %.1f\n", replicas[k], sum,
                      degrees, chi_square_limit(degrees));
        assert_true(sum < chi_square_limit(degrees));
        ga_run_rig_close(&rig);
    }
}

/* ---- the mean path ---- */

#define STEPS 40

struct path {
    double sum[STEPS + 1], square[STEPS + 1];
};

static void add_path(struct path *path, int replicas, double c, uint64_t seed)
{
    struct ga_run_rig rig;
    char words[96];

    snprintf(words, sizeof words, "mode async lr %.17g seed %llu history-budget 0", c,
             (unsigned long long)seed);
    open_mode(&rig, replicas, words);
    for (int u = 0; u <= STEPS; u++) {
        double w = ga_run_rig_weight(&rig, 0);

        path->sum[u] += w;
        path->square[u] += w * w;
        if (u < STEPS)
            ga_run_rig_updates(&rig, 1);
    }
    ga_run_rig_close(&rig);
}

static void check_path(const struct path *path, int replicas, double c, double seeds)
{
    double w = 1, m = -c;

    for (int u = 0; u <= STEPS; u++) {
        double mean = path->sum[u] / seeds;
        double variance = fmax(path->square[u] / seeds - mean * mean, 0);
        double error = sqrt(variance / seeds);

        if (u == 1 || u == 2 || u == 5 || u == 10 || u == 20 || u == STEPS) {
            print_message("P %d, update %d: mean %.6f, heavy ball %.6f, %.2f standard errors\n",
                          replicas, u, mean, w, error > 0 ? (mean - w) / error : 0);
            assert_true(fabs(mean - w) <= 3 * error + 1e-6);
        }
        w += m;
        m = (1 - 1.0 / replicas) * m - c / replicas * w;
    }
}

static void test_the_mean_path_is_heavy_ball(void **state)
{
    const struct {
        int replicas;
        double c;
    } cases[] = {{4, 0.1}, {2, 0.4}};

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct path path = {.sum = {0}};
        uint64_t seeds = ga_test_count(SEEDS);

        for (uint64_t seed = 1; seed <= seeds; seed++)
            add_path(&path, cases[k].replicas, cases[k].c, seed);
        check_path(&path, cases[k].replicas, cases[k].c, (double)seeds);
    }
}

/* ---- throughput ---- */

/* Items per replica and mean item time. */
static double throughput(int replicas, const char *more, uint64_t updates)
{
    struct ga_run_rig rig;
    double rate = 0;

    open_mode(&rig, replicas, more);
    ga_run_rig_updates(&rig, updates);
    rate = (double)updates / replicas / ((double)ga_run_now(rig.run) / 1e6);
    assert_int_equal(ga_run_rig_spent(&rig), replicas * ga_run_now(rig.run));
    ga_run_rig_close(&rig);
    return rate;
}

/* 1 % over 10^5 windows; a smaller count has a wider spread. */
static double tolerance(uint64_t windows)
{
    return 0.01 * sqrt((double)WINDOWS / (double)windows);
}

static void test_throughput_of_ssp(void **state)
{
    const int replicas[] = {2, 4, 8};
    const double h[] = {1.5, 25.0 / 12, 761.0 / 280};
    uint64_t windows = ga_test_count(WINDOWS);

    (void)state;
    for (int bound = 0; bound <= 5; bound++) {
        char words[64];

        snprintf(words, sizeof words, "mode ssp bound %d", bound);
        assert_close(throughput(2, words, 2 * windows), (2.0 * bound + 2) / (2.0 * bound + 3),
                     tolerance(windows));
    }
    for (int k = 0; k < 3; k++)
        assert_close(throughput(replicas[k], "mode ssp bound 0", (uint64_t)replicas[k] * windows),
                     1 / h[k], tolerance(windows));
}

static void test_throughput_of_async(void **state)
{
    const struct {
        const char *jitter;
        double mean;
    } cases[] = {{"exponential", 1},    {"straggler(0.1,10)", 1.9}, {"straggler(0.02,5)", 1.08},
                 {"lognormal(0.7)", 1}, {"uniform(0.5,1.5)", 1},    {"shifted(0.3)", 1}};
    uint64_t windows = ga_test_count(WINDOWS);

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char words[96];

        snprintf(words, sizeof words, "mode async jitter %s", cases[k].jitter);
        assert_close(throughput(4, words, 4 * windows), 1 / cases[k].mean, tolerance(windows));
    }
}

/* With a server that takes its time, and messages that travel: each replica's time adds up. */
static void test_time_is_conserved_with_communication(void **state)
{
    const char *const modes[] = {"async", "ssp bound 1",    "buffered bound 0", "buffered buffer 2",
                                 "sync",  "local period 3", "delay lag 2"};
    uint64_t updates = ga_test_count(3000);

    (void)state;
    for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) {
        struct ga_run_rig rig;
        int64_t communication = 0;
        char words[160];

        snprintf(words, sizeof words, "mode %s latency 137us bandwidth 33KB/s server-time 41us",
                 modes[k]);
        open_mode(&rig, 5, words);
        for (uint64_t u = 0; u < updates; u++) {
            ga_run_rig_updates(&rig, 1);
            assert_int_equal(ga_run_rig_spent(&rig), 5 * ga_run_now(rig.run));
        }
        for (size_t r = 0; r < 5; r++)
            communication += ga_run_replica(rig.run, r)->communication_ns;
        assert_true(communication > 0);
        ga_run_rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_staleness_is_geometric),
        cmocka_unit_test(test_the_mean_path_is_heavy_ball),
        cmocka_unit_test(test_throughput_of_ssp),
        cmocka_unit_test(test_throughput_of_async),
        cmocka_unit_test(test_time_is_conserved_with_communication),
    };

    return ga_test_main(tests);
}
