/*
 * buffered k: the server adds k pushes, sums and weights, never means, then updates once
 * (n-softsync: Zhang, Gupta, Lian, Liu, "Staleness-aware async-SGD for distributed deep learning",
 * 2016). The staleness of an update is the largest in its buffer. `bound 0` makes replicas wait for
 * the update that their push is part of; with k = P that is sync.
 *
 * Law: mean staleness (P-1)/k.
 */
#include "train/policies.h"

static uint32_t buffered_expected(const struct ga_settings *settings, uint32_t active)
{
    (void)active;
    return (uint32_t)(settings->buffer > 0 ? settings->buffer : settings->replicas);
}

/* With bound 0 the update that its last push belongs to must have come; with s it may be s behind.
 */
static bool buffered_may_start(const struct ga_turn *turn)
{
    return turn->settings->bound < 0 ||
           turn->replica->pushed_at <= turn->closed + (uint64_t)turn->settings->bound;
}

const struct ga_policy ga_policy_buffered = {
    .name = "buffered",
    .law = "mean staleness (P-1)/k",
    .family = GA_FAMILY_PUSH,
    .expected = buffered_expected,
    .may_start = buffered_may_start,
    .on_push = ga_policy_add_up,
    .scale = ga_policy_push_scale,
};
