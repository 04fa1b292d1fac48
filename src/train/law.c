#include "train/law.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "train/law_internal.h"
#include "train/sharpness.h"

const char *ga_law_truth_name(enum ga_law_truth truth)
{
    static const char *const names[GA_LAW_TRUTHS] = {
        [GA_LAW_EXACT] = "exact",
        [GA_LAW_MEAN] = "in the mean",
        [GA_LAW_BOUND] = "never above",
        [GA_LAW_GUIDE] = "a guide",
    };

    return (unsigned)truth < GA_LAW_TRUTHS ? names[truth] : "?";
}

bool ga_law_all_there(const struct ga_law_case *c)
{
    return c->crew->replicas == ga_run_replicas(c->run);
}

enum ga_law_truth ga_law_exact(const struct ga_law_case *c)
{
    (void)c;
    return GA_LAW_EXACT;
}

enum ga_law_truth ga_law_in_the_mean(const struct ga_law_case *c)
{
    (void)c;
    return GA_LAW_MEAN;
}

enum ga_law_truth ga_law_bound(const struct ga_law_case *c)
{
    (void)c;
    return GA_LAW_BOUND;
}

static struct ga_law_row *new_row(struct ga_law_report *out)
{
    return out->rows < GA_LAW_ROWS ? &out->row[out->rows++] : NULL;
}

static void add_rows(const struct ga_law_case *c, const struct ga_law_kind *law,
                     struct ga_law_report *out)
{
    size_t rows = law->rows(c);

    for (size_t k = 0; k < rows; k++) {
        struct ga_law_row *row = new_row(out);

        if (!row)
            return;
        if (rows > 1)
            snprintf(row->name, sizeof row->name, "%.24s[%zu]", law->name, k);
        else
            snprintf(row->name, sizeof row->name, "%s", law->name);
        snprintf(row->formula, sizeof row->formula, "%s",
                 law->formula_of ? law->formula_of(c) : law->formula);
        row->unit = law->unit;
        row->predicted = law->predict(c, k);
        row->measured = c->since ? law->measure(c, k) : (double)NAN;
        row->truth = law->truth(c);
    }
}

static void add_table(const struct ga_law_case *c, const struct ga_law_kind *table, size_t count,
                      struct ga_law_report *out)
{
    for (size_t i = 0; i < count; i++)
        add_rows(c, &table[i], out);
}

/* lr * lambda_max in use beside the limit; on a net a guide, and with a mean staleness too. */
static int add_stability(struct ga_run *run, struct ga_law_report *out)
{
    struct ga_sharpness sharpness;
    struct ga_law_row *row = NULL;

    if (isnan(out->stability.limit))
        return GA_OK;
    if (ga_run_sharpness(run, &sharpness) < 0)
        return ga_error_code();
    out->lambda = sharpness.lambda;
    out->lambda_exact = sharpness.exact;
    row = new_row(out);
    if (!row)
        return GA_OK;
    snprintf(row->name, sizeof row->name, "lr * lambda_max");
    snprintf(row->formula, sizeof row->formula, "limit, tau = %.4g", out->stability.staleness);
    row->unit = "";
    row->predicted = out->stability.limit;
    row->measured = ga_run_step_curvature_in_force(run);
    row->truth = sharpness.exact && out->stability.exact ? GA_LAW_BOUND : GA_LAW_GUIDE;
    return GA_OK;
}

static void count_pushes(const struct ga_state *since, const struct ga_state *now,
                         struct ga_law_report *out)
{
    out->updates = now->counters.updates - since->counters.updates;
    out->pushes = now->counters.pushes - since->counters.pushes;
    out->mean = (double)(now->counters.staleness - since->counters.staleness) / (double)out->pushes;
    for (size_t bin = 0; bin < GA_STALENESS_BINS; bin++) {
        uint64_t before = since->modes ? since->modes->stale[bin] : 0;

        out->bin[bin] = (now->modes ? now->modes->stale[bin] : 0) - before;
    }
    if (!now->modes) /* sync alone: nothing is stale */
        out->bin[0] = out->pushes;
}

static int report(struct ga_law_case *c, bool look_at_curvature, struct ga_law_report *out)
{
    out->settings = *c->settings;
    out->coming = *ga_run_pending(c->run);
    out->coming_update = ga_run_next_window_update(c->run);
    out->to_update = ga_run_counters(c->run)->updates;
    out->lambda = out->mean = (double)NAN;
    ga_crew_of(c->run, c->settings, &out->crew);
    ga_staleness_law(c->settings, &out->crew, &out->staleness);
    ga_run_stability_in_force(c->run, &out->stability);
    c->crew = &out->crew;
    c->staleness = &out->staleness;
    if (c->since)
        count_pushes(c->since, c->now, out);
    if (out->crew.replicas == 0)
        return GA_OK;
    add_table(c, ga_laws_of_staleness, ga_laws_of_staleness_count, out);
    add_table(c, ga_laws_of_time, ga_laws_of_time_count, out);
    add_table(c, ga_laws_of_points, ga_laws_of_points_count, out);
    return look_at_curvature ? add_stability(c->run, out) : GA_OK;
}

int ga_law_report(struct ga_run *run, const struct ga_state *since, const double *mean,
                  bool look_at_curvature, struct ga_law_report *out)
{
    struct ga_state now;
    struct ga_law_case c = {
        .run = run,
        .settings = ga_run_settings(run),
        .since = since,
        .mean = mean,
    };
    int code = GA_OK;

    memset(out, 0, sizeof *out);
    ga_state_init(&now);
    c.now = since ? &now : NULL;
    if (since && ga_run_capture(run, &now) < 0)
        return ga_error_code();
    code = report(&c, look_at_curvature, out);
    if (since)
        ga_state_fini(&now);
    return code;
}
