/*
 * hogwild: no lock and no version (Niu, Recht, Re, Wright, "Hogwild!: a lock-free approach to
 * parallelizing stochastic gradient descent", 2011). In virtual time an item of duration t on n
 * parameters reads coordinate j at start + t*j/(2n) and writes it at start + t*(n+j)/(2n). `writes
 * atomic` adds to the coordinate; `writes lossy` writes what it read plus its step, so that writes
 * in between are lost; both count how many there were.
 */
#include "train/policies.h"

const struct ga_policy ga_policy_hogwild = {
    .name = "hogwild",
    .law = "as async; what is lost is counted",
    .family = GA_FAMILY_SHARED,
    .expected = ga_policy_expect_one,
    .may_start = ga_policy_start_always,
    .on_push = ga_policy_add_up,
    .scale = ga_policy_push_scale,
};
