/* The update modes, one file each: policy_NAME.c holds its rule, its law and the source of the law.
 */
#ifndef GA_TRAIN_POLICIES_H
#define GA_TRAIN_POLICIES_H

#include "train/policy.h"

extern const struct ga_policy ga_policy_sync;
extern const struct ga_policy ga_policy_delay;
extern const struct ga_policy ga_policy_async;
extern const struct ga_policy ga_policy_ssp;
extern const struct ga_policy ga_policy_buffered;
extern const struct ga_policy ga_policy_local;
extern const struct ga_policy ga_policy_hogwild;

/* Parts that several modes share. */
bool ga_policy_start_in_window(const struct ga_turn *turn); /* once in each window */
bool ga_policy_start_always(const struct ga_turn *turn);
double ga_policy_no_scale(const struct ga_settings *settings, const struct ga_push *push);
uint32_t ga_policy_expect_one(const struct ga_settings *settings, uint32_t active);
uint32_t ga_policy_expect_all(const struct ga_settings *settings, uint32_t active);
/* ADD; CLOSE too with the last push that is expected. */
unsigned ga_policy_add_up(const struct ga_settings *settings, const struct ga_window_state *window,
                          const struct ga_push *push);

#endif
