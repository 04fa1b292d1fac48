/*
 * async: a push is applied at once; the replica pulls and goes on.
 *
 * Laws. At any time the staleness summed over pushes, plus (version - version read) over running
 * items, is (P-1) * updates, so the mean tends to P-1. Equal constant item times: exactly P-1 after
 * round one. Exponential times: P(tau = j) -> (1/P) (1-1/P)^j, and the mean path is that of SGD
 * with momentum 1-1/P (Mitliagkas, Zhang, Hadjis, Re, "Asynchrony begets momentum", 2016).
 */
#include "train/policies.h"

const struct ga_policy ga_policy_async = {
    .name = "async",
    .law = "mean staleness P-1; exponential item times act like momentum 1-1/P",
    .family = GA_FAMILY_PUSH,
    .expected = ga_policy_expect_one,
    .may_start = ga_policy_start_always,
    .on_push = ga_policy_add_up,
    .scale = ga_policy_push_scale,
};
