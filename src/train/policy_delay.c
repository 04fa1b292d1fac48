/*
 * delay d: the window's gradient is taken at the weights of d updates ago (w_0 before that).
 *
 * Law, on a quadratic with c = lr * lambda: w_{u+1} = w_u - c w_{u-d} is stable iff
 * c < 2 sin(pi / (2 (2d + 1))), and critically damped at c = d^d / (d+1)^(d+1). (Roots of
 * z^{d+1} - z^d + c: Levin and May, "A note on difference-delay equations", 1976.)
 */
#include "train/policies.h"

static uint32_t delay_lag(const struct ga_settings *settings)
{
    return (uint32_t)settings->lag;
}

const struct ga_policy ga_policy_delay = {
    .name = "delay",
    .law = "stable iff lr*lambda < 2 sin(pi/(2(2d+1)))",
    .family = GA_FAMILY_WINDOW,
    .expected = ga_policy_expect_all,
    .may_start = ga_policy_start_in_window,
    .on_push = ga_policy_add_up,
    .scale = ga_policy_no_scale,
    .lag = delay_lag,
};
