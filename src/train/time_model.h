/*
 * The time model: how long an item takes and what communication costs, in integer nanoseconds.
 *
 * Item k on replica r: (base + per_example * n) * slow_r * jitter(seed, r, k), rounded to the
 * nearest ns, at least 1. k counts started items, dropped ones too, so the same seed gives the same
 * draws in every mode. All jitters but straggler(p,k) have mean 1; that one has mean 1 + (k-1)p.
 */
#ifndef GA_TRAIN_TIME_MODEL_H
#define GA_TRAIN_TIME_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "settings/settings.h"

/* The jitter factor of item `item` on `replica`. */
double ga_time_jitter(const struct ga_settings *settings, uint32_t replica, uint64_t item);

/*
 * Jitter factors of one replica's next items. A factor depends on (settings, replica, item) alone,
 * and several at once cost little more than one. All 0: none yet.
 */
#define GA_TIME_AHEAD 8
struct ga_time_ahead {
    uint64_t first; /* item of factor[0] */
    uint64_t seed;  /* what they were drawn for */
    enum ga_jitter kind;
    double a, b;
    bool drawn;
    double factor[GA_TIME_AHEAD];
};

/* ga_time_item() by way of `ahead`, which belongs to this replica: the same numbers. */
int64_t ga_time_next_item(const struct ga_settings *settings, struct ga_time_ahead *ahead,
                          uint32_t replica, uint64_t item, size_t examples, double slow);

/* Capped at 2^62 ns. */
int64_t ga_time_item(const struct ga_settings *settings, uint32_t replica, uint64_t item,
                     size_t examples, double slow);

/* Bytes of one gradient or weight message: 4 * (parameters + 1), in every numerics. */
uint64_t ga_time_message_bytes(size_t parameters);

/* One push or pull: latency + bytes/bandwidth. */
int64_t ga_time_message(const struct ga_settings *settings, size_t parameters);

/* Ring all-reduce over P: 2(P-1)*latency + 2(P-1)/P*bytes/bandwidth; 0 for P = 1. */
int64_t ga_time_all_reduce(const struct ga_settings *settings, size_t replicas, size_t parameters);

/* Adds without passing 2^62 ns. */
int64_t ga_time_add(int64_t a, int64_t b);

#endif
