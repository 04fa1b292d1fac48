/*
 * sync: all items of a window, one reduction, one update.
 *
 * Backup workers (Chen, Pan, Monga, Bengio, Jozefowicz, "Revisiting distributed synchronous SGD",
 * 2016): with `backup k` the window closes at the first P-k finishes by (time, replica). `late
 * cancel` aborts what still runs, so that all replicas start the next window together; with
 * exponential item times the mean window time is H_P - H_k times the mean item time. `late finish`
 * lets late items run on; they are dropped on arrival and their replicas then join the open window.
 */
#include "train/policies.h"

static uint32_t sync_expected(const struct ga_settings *settings, uint32_t active)
{
    uint32_t quorum = (uint32_t)(settings->replicas - settings->backup);

    return active < quorum ? active : quorum;
}

static unsigned sync_on_push(const struct ga_settings *settings,
                             const struct ga_window_state *window, const struct ga_push *push)
{
    if (push->window != window->number)
        return GA_PUSH_DROP;
    if (window->arrived + 1 < window->expected)
        return GA_PUSH_ADD;
    return GA_PUSH_ADD | GA_PUSH_CLOSE | (settings->late == GA_LATE_CANCEL ? GA_PUSH_CANCEL : 0u);
}

const struct ga_policy ga_policy_sync = {
    .name = "sync",
    .law = "mean window time H_P for exponential item times, H_P - H_k with k backup workers",
    .family = GA_FAMILY_WINDOW,
    .expected = sync_expected,
    .may_start = ga_policy_start_in_window,
    .on_push = sync_on_push,
    .scale = ga_policy_no_scale,
};
