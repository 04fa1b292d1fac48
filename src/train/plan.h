/*
 * The window plan: the only place where replicas, accumulation, batch and window size meet.
 *
 * B = P*A*b, or `global` fixes B. The true window is split over P, then each share over A; the
 * first n mod k parts of a split get one more, empty parts are not run.
 */
#ifndef GA_TRAIN_PLAN_H
#define GA_TRAIN_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "settings/settings.h"

/* Examples that a full window has. */
uint64_t ga_plan_window(const struct ga_settings *settings);

/* Largest share of a replica and largest micro-batch of a full window. */
size_t ga_plan_share(const struct ga_settings *settings);
size_t ga_plan_micro(const struct ga_settings *settings);

/* Micro-batches that a share of `examples` runs: min(A, examples). */
uint32_t ga_plan_micros(const struct ga_settings *settings, size_t examples);

/* Micro-batch `micro` (from 0) of `micros`: first example of the share and count. */
static inline void ga_plan_part(size_t examples, uint32_t micros, uint32_t micro, size_t *first,
                                size_t *count)
{
    size_t whole = examples / micros, longer = examples % micros;

    *count = whole + (micro < longer);
    *first = whole * micro + (micro < longer ? micro : longer);
}

#endif
