/*
 * Predictions beside measurements: a table of laws, each of which says whether it applies to a run,
 * what it predicts and what was measured since an earlier state of the same run, under the same
 * settings. Times, counts and staleness are differences of two states, so they are exact.
 *
 * All of it is read only; called on the thread that owns the run.
 */
#ifndef GA_TRAIN_LAW_H
#define GA_TRAIN_LAW_H

#include "train/crew.h"
#include "train/stability.h"
#include "train/state.h"

enum ga_law_truth {
    GA_LAW_EXACT, /* at any moment, to the last digit */
    GA_LAW_MEAN,  /* what a mean over many tends to */
    GA_LAW_BOUND, /* never above */
    GA_LAW_GUIDE, /* its conditions are not quite met: an orientation */
    GA_LAW_TRUTHS
};
const char *ga_law_truth_name(enum ga_law_truth truth); /* "exact", "in the mean", ... */

#define GA_LAW_ROWS        32
#define GA_LAW_COORDINATES 4 /* fixed points of the first so many weights */

struct ga_law_row {
    char name[48];              /* "mean staleness" */
    char formula[64];           /* "P-1" */
    const char *unit;           /* "updates", "s", "" */
    double predicted, measured; /* measured NaN: nothing to measure yet */
    enum ga_law_truth truth;
};

struct ga_law_report {
    struct ga_settings settings; /* in force */
    struct ga_settings coming;   /* with what is pending, from coming_update on */
    uint64_t coming_update;
    struct ga_crew crew;
    uint64_t updates, pushes; /* measured over so many; 0: nothing to measure yet */
    uint64_t to_update;       /* the last of them */
    struct ga_staleness_law staleness;
    double mean;                     /* measured staleness */
    uint64_t bin[GA_STALENESS_BINS]; /* measured: pushes with staleness 0, 1, ... */
    struct ga_stability stability;
    double lambda; /* NaN: not asked for */
    bool lambda_exact;
    size_t rows;
    struct ga_law_row row[GA_LAW_ROWS];
};

/*
 * `since` is an earlier state of the run with the same settings, or NULL; `mean` the mean since
 * then of the first GA_LAW_COORDINATES weights (NaN: unknown). `look_at_curvature` false leaves out
 * what needs lambda_max.
 */
int ga_law_report(struct ga_run *run, const struct ga_state *since, const double *mean,
                  bool look_at_curvature, struct ga_law_report *out);

#endif
