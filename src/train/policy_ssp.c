/*
 * ssp s: async with bounded staleness (Ho, Cipar, Cui, Kim, Lee, Gibbons, Gibson, Ganger, Xing,
 * "More effective distributed ML via a stale synchronous parallel parameter server", 2013). A
 * replica may start an item iff its finished items are at most s more than the fewest over live
 * replicas.
 *
 * Laws. No replica has ever finished more than the slowest's count + s + 1; the staleness of an
 * update is at most (P-1)(2s+1); s = 0: mean (P-1)/2. Exponential times, P = 2: (2s+2)/(2s+3) items
 * per mean item time and replica.
 */
#include "train/policies.h"

static bool ssp_may_start(const struct ga_turn *turn)
{
    if (turn->settings->bound < 0)
        return true;
    return turn->replica->clock - turn->least_clock <= (uint64_t)turn->settings->bound;
}

const struct ga_policy ga_policy_ssp = {
    .name = "ssp",
    .law = "staleness at most (P-1)(2s+1); P=2, exponential: throughput (2s+2)/(2s+3)",
    .family = GA_FAMILY_PUSH,
    .expected = ga_policy_expect_one,
    .may_start = ssp_may_start,
    .on_push = ga_policy_add_up,
    .scale = ga_policy_push_scale,
};
