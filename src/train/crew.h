/*
 * The replicas of a run as its laws see them: how many take part, and whether their items are
 * alike. A plain value, read off a run.
 */
#ifndef GA_TRAIN_CREW_H
#define GA_TRAIN_CREW_H

#include <stdbool.h>
#include <stddef.h>

#include "train/run.h"

enum ga_times {
    GA_TIMES_EQUAL,       /* every item takes the same time */
    GA_TIMES_CONSTANT,    /* no chance, but replicas or items differ */
    GA_TIMES_EXPONENTIAL, /* independent, exponential, of one mean */
    GA_TIMES_STRAGGLER,   /* of one mean; straggler(p,k) */
    GA_TIMES_OTHER
};

struct ga_crew {
    size_t replicas; /* P: alive, with rows to work on */
    enum ga_times times;
    size_t examples;      /* of a full item, the largest */
    bool whole;           /* full windows only: no epoch ends in a short one */
    double mean_ns;       /* mean time of a full item, over the replicas that take part */
    double slowest_ns;    /* mean time of the slowest one's */
    double rate;          /* items per ns, of all together, when nobody waits */
    double message_ns;    /* of a push or a pull */
    double all_reduce_ns; /* of a window */
};

/*
 * With the settings in force (ga_run_settings()), or with pending ones: what would be. Replicas
 * that are still to come are alive and of normal speed.
 */
void ga_crew_of(const struct ga_run *run, const struct ga_settings *settings, struct ga_crew *out);

/* Of replica `r`: whether it is alive and has rows; rows of its own, or of the whole stream;
 * examples of a full item, and its mean time. */
bool ga_crew_has(const struct ga_run *run, const struct ga_settings *settings, size_t r);
size_t ga_crew_shard(const struct ga_run *run, const struct ga_settings *settings, size_t r);
size_t ga_crew_item(const struct ga_run *run, const struct ga_settings *settings, size_t r);
double ga_crew_item_ns(const struct ga_run *run, const struct ga_settings *settings, size_t r);

#endif
