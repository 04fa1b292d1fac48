/*
 * The records of a TensorBoard event file, each appended whole: its length, the masked CRC-32C of
 * the length, a protocol buffer (tensorflow.Event), and the masked CRC-32C of that. (The TFRecord
 * format; tensorflow/core/util/event.proto and framework/summary.proto.)
 *
 * Times are wall times in seconds since 1970; steps are updates.
 */
#ifndef GA_STORAGE_TENSORBOARD_H
#define GA_STORAGE_TENSORBOARD_H

#include <stdint.h>

#include "base/text.h"

struct ga_scalar {
    const char *tag; /* "loss" */
    double value;    /* stored as a float */
};

/* The first record of a file. */
void ga_event_version(struct ga_text *to, double time);

/* What was logged for `step` and later ones counts no more: training went back, or began anew. */
void ga_event_restart(struct ga_text *to, double time, uint64_t step);

void ga_event_scalars(struct ga_text *to, double time, uint64_t step,
                      const struct ga_scalar *scalar, size_t count);

#endif
