/*
 * Laws of time. With exponential item times of mean 1 the largest of P takes H_P = 1 + 1/2 + .. +
 * 1/P in the mean, the (P-k)-th smallest H_P - H_k, and P - k units of work are done meanwhile.
 * straggler(p,k): 1 + (k-1)(1-(1-p)^P). ssp with two exponential replicas: (2s+2)/(2s+3) items a
 * replica and mean item time (a birth-and-death chain of their gap).
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "train/law_internal.h"

static double harmonic(int32_t n)
{
    double sum = 0;

    for (int32_t i = n; i > 0; i--)
        sum += 1.0 / i;
    return sum;
}

/* ---- books ---- */

/* Up to when a replica's busy, idle and communication times are booked. */
static int64_t booked_to(const struct ga_replica_value *v)
{
    bool works = v->state == GA_REPLICA_BUSY || v->state == GA_REPLICA_LATE;

    return works ? v->start_ns : v->free_ns;
}

static double booked_ns(const struct ga_state *state)
{
    double sum = 0;

    for (size_t r = 0; r < state->replicas; r++) {
        const struct ga_replica_value *v = &state->replica[r];

        sum += (double)(v->busy_ns + v->idle_ns + v->communication_ns +
                        (state->now_ns - booked_to(v)));
    }
    return sum;
}

static double seconds_between(const struct ga_law_case *c)
{
    return (double)(c->now->now_ns - c->since->now_ns) * 1e-9;
}

static size_t always(const struct ga_law_case *c)
{
    (void)c;
    return 1;
}

static double predict_books(const struct ga_law_case *c, size_t k)
{
    (void)k;
    return c->since ? (double)c->now->replicas * seconds_between(c) : (double)NAN;
}

static double measure_books(const struct ga_law_case *c, size_t k)
{
    (void)k;
    return (booked_ns(c->now) - booked_ns(c->since)) * 1e-9;
}

/* ---- windows and rounds ---- */

static int32_t backup(const struct ga_law_case *c)
{
    return c->settings->mode == GA_MODE_SYNC ? c->settings->backup : 0;
}

/* Items of a replica between two reductions. */
static double steps(const struct ga_law_case *c)
{
    return c->settings->mode == GA_MODE_LOCAL ? c->settings->period : 1;
}

static bool has_windows(const struct ga_law_case *c)
{
    enum ga_mode mode = c->settings->mode;

    return (mode == GA_MODE_SYNC || mode == GA_MODE_DELAY || mode == GA_MODE_LOCAL) &&
           ga_law_all_there(c) && c->crew->whole &&
           !(backup(c) > 0 && c->settings->late == GA_LATE_FINISH);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Constant times: a window lasts as long as the (P-k)-th shortest item; NaN without memory. */
static double constant_window_ns(const struct ga_law_case *c)
{
    size_t replicas = ga_run_replicas(c->run);
    double *item_ns = ga_alloc(replicas, sizeof *item_ns), window_ns = (double)NAN;

    if (!item_ns)
        return window_ns;
    for (size_t r = 0; r < replicas; r++)
        item_ns[r] = ga_crew_item_ns(c->run, c->settings, r);
    qsort(item_ns, replicas, sizeof *item_ns, ascending);
    window_ns = item_ns[replicas - 1 - (size_t)backup(c)] * steps(c);
    free(item_ns);
    return window_ns;
}

static double exponential_window_ns(const struct ga_law_case *c)
{
    return c->crew->mean_ns * (harmonic(c->settings->replicas) - harmonic(backup(c)));
}

/* The crew's mean has the stragglers in it already. */
static double straggler_window_ns(const struct ga_law_case *c)
{
    double p = c->settings->jitter.a, k = c->settings->jitter.b;
    double plain_ns = c->crew->mean_ns / (1 + (k - 1) * p);

    return plain_ns * (1 + (k - 1) * (1 - pow(1 - p, (double)c->settings->replicas)));
}

/* For which item times a window's time is known, and how. */
static const struct {
    double (*window_ns)(const struct ga_law_case *c);
    const char *formula, *with_backup; /* NULL: not known with backup replicas */
    bool of_rounds;                    /* several items in a row too */
} window_law[GA_TIMES_OTHER + 1] = {
    [GA_TIMES_EQUAL] = {constant_window_ns, "item time", "item time", true},
    [GA_TIMES_CONSTANT] = {constant_window_ns, "slowest replica", "(P-k)-th replica", true},
    [GA_TIMES_EXPONENTIAL] = {exponential_window_ns, "H_P item times", "(H_P - H_k) item times",
                              false},
    [GA_TIMES_STRAGGLER] = {straggler_window_ns, "1 + (k-1)(1-(1-p)^P)", NULL, false},
};

static const char *window_formula(const struct ga_law_case *c)
{
    return backup(c) > 0 ? window_law[c->crew->times].with_backup
                         : window_law[c->crew->times].formula;
}

static size_t window_known(const struct ga_law_case *c)
{
    return has_windows(c) && window_formula(c) &&
           (steps(c) <= 1 || window_law[c->crew->times].of_rounds);
}

static double predict_window(const struct ga_law_case *c, size_t k)
{
    (void)k;
    return (window_law[c->crew->times].window_ns(c) + c->crew->all_reduce_ns) * 1e-9;
}

/* Up to the last record: an update counts before its window has closed. */
static double windows_between(const struct ga_law_case *c)
{
    const struct ga_counters *before = &c->since->counters;
    const struct ga_update_record *last = &c->now->last_record;

    return (double)(last->update + last->skipped - before->updates - before->skipped);
}

/* Between two ends of windows. */
static double measure_window(const struct ga_law_case *c, size_t k)
{
    (void)k;
    return (double)(c->now->last_record.time_ns - c->since->now_ns) * 1e-9 / windows_between(c);
}

static enum ga_law_truth truth_of_times(const struct ga_law_case *c)
{
    return c->crew->times <= GA_TIMES_CONSTANT ? GA_LAW_EXACT : GA_LAW_MEAN;
}

/* ---- idle ---- */

/* Busy time of a window, all replicas together, in ns. */
static double busy_ns(const struct ga_law_case *c, double window_ns)
{
    double sum = 0;

    if (c->crew->times == GA_TIMES_EXPONENTIAL)
        return (c->settings->replicas - backup(c)) * c->crew->mean_ns;
    for (size_t r = 0; r < ga_run_replicas(c->run); r++) {
        double item_ns = ga_crew_item_ns(c->run, c->settings, r) * steps(c);

        sum += item_ns < window_ns ? item_ns : window_ns; /* the rest is aborted */
    }
    return sum;
}

static double predict_idle(const struct ga_law_case *c, size_t k)
{
    double window_ns = window_law[c->crew->times].window_ns(c);
    double replicas = c->settings->replicas;

    (void)k;
    return (replicas * window_ns - busy_ns(c, window_ns)) /
           (replicas * (window_ns + c->crew->all_reduce_ns));
}

/* Waits are booked when a window is reduced: of the one under way, or else of the last one. */
static int64_t booked_until(const struct ga_state *state)
{
    return state->phase > GA_PHASE_REDUCE ? state->now_ns : state->last_record.time_ns;
}

static double idle_ns(const struct ga_state *state)
{
    double sum = 0;

    for (size_t r = 0; r < state->replicas; r++)
        sum += (double)state->replica[r].idle_ns;
    return sum;
}

static double measure_idle(const struct ga_law_case *c, size_t k)
{
    double span_ns = (double)(booked_until(c->now) - c->since->now_ns);

    (void)k;
    return (idle_ns(c->now) - idle_ns(c->since)) / ((double)c->now->replicas * span_ns);
}

/* ---- pushes: how many items get done ---- */

static bool pushes(const struct ga_settings *settings)
{
    return settings->mode == GA_MODE_ASYNC || settings->mode == GA_MODE_SSP ||
           settings->mode == GA_MODE_BUFFERED || settings->mode == GA_MODE_HOGWILD;
}

static bool waits(const struct ga_settings *settings)
{
    return settings->bound >= 0 &&
           (settings->mode == GA_MODE_SSP || settings->mode == GA_MODE_BUFFERED);
}

static bool is_pair(const struct ga_law_case *c)
{
    return c->settings->mode == GA_MODE_SSP && c->crew->times == GA_TIMES_EXPONENTIAL &&
           c->crew->replicas == 2 && c->crew->message_ns == 0;
}

static bool is_paced_by_slowest(const struct ga_law_case *c)
{
    return c->settings->mode == GA_MODE_SSP && c->crew->times <= GA_TIMES_CONSTANT;
}

static size_t rate_known(const struct ga_law_case *c)
{
    const struct ga_settings *settings = c->settings;

    if (!pushes(settings) || settings->clock != GA_CLOCK_VIRTUAL)
        return 0;
    return !waits(settings) || is_pair(c) || is_paced_by_slowest(c);
}

static double predict_rate(const struct ga_law_case *c, size_t k)
{
    double s = c->settings->bound, p = (double)c->crew->replicas;
    double turn_ns = c->crew->slowest_ns + 2 * c->crew->message_ns + (double)c->settings->server_ns;

    (void)k;
    if (!waits(c->settings))
        return c->crew->rate * 1e9;
    if (is_pair(c))
        return p * (2 * s + 2) / (2 * s + 3) / c->crew->mean_ns * 1e9;
    return p / turn_ns * 1e9;
}

static double measure_rate(const struct ga_law_case *c, size_t k)
{
    uint64_t items = 0;

    (void)k;
    for (size_t r = 0; r < c->now->replicas; r++)
        items += c->now->replica[r].finished - c->since->replica[r].finished;
    return (double)items / seconds_between(c);
}

static const char *formula_of_rate(const struct ga_law_case *c)
{
    if (!waits(c->settings))
        return "nobody waits";
    return is_pair(c) ? "P (2s+2)/(2s+3)" : "P at the slowest's pace";
}

/* A server that takes time makes pushes queue, and short windows make short items. */
static enum ga_law_truth truth_of_rate(const struct ga_law_case *c)
{
    return c->settings->server_ns > 0 || !c->crew->whole ? GA_LAW_GUIDE : GA_LAW_MEAN;
}

const struct ga_law_kind ga_laws_of_time[] = {
    {.name = "window time",
     .formula_of = window_formula,
     .unit = "s",
     .rows = window_known,
     .predict = predict_window,
     .measure = measure_window,
     .truth = truth_of_times},
    {.name = "idle",
     .formula = "1 - busy / (P window)",
     .unit = "",
     .rows = window_known,
     .predict = predict_idle,
     .measure = measure_idle,
     .truth = truth_of_times},
    {.name = "items per second",
     .formula_of = formula_of_rate,
     .unit = "items/s",
     .rows = rate_known,
     .predict = predict_rate,
     .measure = measure_rate,
     .truth = truth_of_rate},
    {.name = "busy + idle + talking",
     .formula = "P x time",
     .unit = "s",
     .rows = always,
     .predict = predict_books,
     .measure = measure_books,
     .truth = ga_law_exact},
};
const size_t ga_laws_of_time_count = sizeof ga_laws_of_time / sizeof *ga_laws_of_time;
