/* Parts that several update modes share. */
#include "train/policies.h"

bool ga_policy_start_in_window(const struct ga_turn *turn)
{
    return turn->replica->window < turn->window->number;
}

bool ga_policy_start_always(const struct ga_turn *turn)
{
    (void)turn;
    return true;
}

double ga_policy_no_scale(const struct ga_settings *settings, const struct ga_push *push)
{
    (void)settings;
    (void)push;
    return 1;
}

uint32_t ga_policy_expect_one(const struct ga_settings *settings, uint32_t active)
{
    (void)settings;
    (void)active;
    return 1;
}

uint32_t ga_policy_expect_all(const struct ga_settings *settings, uint32_t active)
{
    (void)settings;
    return active;
}

unsigned ga_policy_add_up(const struct ga_settings *settings, const struct ga_window_state *window,
                          const struct ga_push *push)
{
    (void)settings;
    (void)push;
    return window->arrived + 1 < window->expected ? GA_PUSH_ADD : GA_PUSH_ADD | GA_PUSH_CLOSE;
}
