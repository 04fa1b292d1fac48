/*
 * local h: h private steps on each replica, then the weights are averaged by the examples of the
 * round (local SGD, federated averaging: McMahan, Moore, Ramage, Hampson, Aguera y Arcas, 2017).
 * Private optimizer state persists over rounds and is never averaged. `outer` makes (old - average)
 * the gradient of a second optimizer whose state persists (DiLoCo: Douillard et al., 2023).
 *
 * Laws. local 1 equals sync up to rounding (plain SGD). Each replica with its own f_i = lambda_i/2
 * (x-c_i)^2 and share a_i: fixed point sum q_i c_i / sum q_i, q_i = a_i (1 - (1 - lr lambda_i)^h).
 */
#include "train/policies.h"

const struct ga_policy ga_policy_local = {
    .name = "local",
    .law = "fixed point sum q_i c_i / sum q_i with q_i = a_i (1 - (1 - lr*lambda_i)^h)",
    .family = GA_FAMILY_ROUND,
    .expected = ga_policy_expect_all,
    .may_start = ga_policy_start_in_window,
    .on_push = ga_policy_add_up,
    .scale = ga_policy_no_scale,
};
