/* The table of laws from the inside: law.c asks, law_time.c, law_stale.c and law_point.c answer. */
#ifndef GA_TRAIN_LAW_INTERNAL_H
#define GA_TRAIN_LAW_INTERNAL_H

#include "train/law.h"

struct ga_law_case {
    struct ga_run *run;
    const struct ga_settings *settings; /* in force */
    const struct ga_crew *crew;
    const struct ga_staleness_law *staleness;
    const struct ga_state *since, *now; /* both or none */
    const double *mean;                 /* (GA_LAW_COORDINATES) weights since then */
};

struct ga_law_kind {
    const char *name, *formula, *unit;
    const char *(*formula_of)(const struct ga_law_case *c); /* or NULL: `formula` */
    size_t (*rows)(const struct ga_law_case *c);            /* 0: it does not apply */
    double (*predict)(const struct ga_law_case *c, size_t k);
    double (*measure)(const struct ga_law_case *c, size_t k); /* only with two states */
    enum ga_law_truth (*truth)(const struct ga_law_case *c);
};

extern const struct ga_law_kind ga_laws_of_staleness[], ga_laws_of_time[], ga_laws_of_points[];
extern const size_t ga_laws_of_staleness_count, ga_laws_of_time_count, ga_laws_of_points_count;

/* All replicas are alive and have rows. */
bool ga_law_all_there(const struct ga_law_case *c);

enum ga_law_truth ga_law_exact(const struct ga_law_case *c);
enum ga_law_truth ga_law_in_the_mean(const struct ga_law_case *c);
enum ga_law_truth ga_law_bound(const struct ga_law_case *c);

#endif
