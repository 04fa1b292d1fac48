/*
 * buffered k: the server adds k pushes, sums and weights, never means, then updates once
 * (n-softsync: Zhang, Gupta, Lian, Liu, "Staleness-aware async-SGD for distributed deep learning",
 * 2016). The staleness of an update is the largest in its buffer. `bound 0` makes replicas wait for
 * the update that their push is part of; with k = P that is sync.
 *
 * Law: mean staleness (P-1)/k.
 */
#include "train/policies.h"

/* With bound 0 each replica gives one push to an update: no more of them come. */
static uint32_t buffered_expected(const struct ga_settings *settings, uint32_t active)
{
    uint32_t pushes = (uint32_t)(settings->buffer > 0 ? settings->buffer : settings->replicas);

    return settings->bound == 0 && active < pushes ? active : pushes;
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
    .waits_for_update = true,
    .on_push = ga_policy_add_up,
    .scale = ga_policy_push_scale,
};
