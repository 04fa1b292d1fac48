/*
 * Update records as text, one line a record; logs and `export history` share it. One table of
 * columns makes both forms. Numbers read back to the same value and never depend on the locale.
 *
 * Columns, in this order. Names are those of the metrics, so a column means what `print` shows:
 *   update            updates applied so far, this one included
 *   applied           whether the window was applied (true, false); false: skipped
 *   epoch             of the window's first example, from 0
 *   micro_batches     committed, cumulative
 *   examples          in applied updates, cumulative
 *   skipped           windows closed without an update, cumulative
 *   examples_dropped  of cancelled or late items, cumulative
 *   bytes             communicated, cumulative
 *   time              virtual seconds after the update, exact to the nanosecond
 *   window            examples of this window
 *   window_micros     micro-batches of this window
 *   window_weight     sum of its example weights
 *   loss              weighted mean over the window, at the weights before the update
 *   grad_norm         |g| before clip
 *   clip_scale        1: not clipped
 *   lr                rate used, after the schedule and the scale
 *   update_norm       |w_new - w_old|
 *   param_norm        |w_new|
 *   noise_scale       noise_trace / noise_signal
 *   noise_trace       S, smoothed
 *   noise_signal      |G|^2, smoothed
 *   mode              of this window: sync, async, ...
 *   replica           that pushed last into the window or buffer, -1: none
 *   scale             factor on the rate by the setting scale, 1 in modes without pushes
 *   pushes            items that reached an update or the server's buffer, cumulative
 *   staleness         updates applied since the pull, the largest of the window's pushes
 *   staleness_mean    the mean over all pushes so far
 *   lost              hogwild: writes undone by another replica, cumulative
 *
 * Behind them, where a log asks for it, how busy the seats of the first replicas are, for each
 * replica R as last sampled before the line was written:
 *   replica_R_util         0 .. 1: of its GPU, or of one core by the thread that works for it
 *   replica_R_memory       bytes in use: on its GPU, or by this process
 *   replica_R_temperature  Celsius
 *   replica_R_power        W
 * What is not known is null or nan.
 *
 * jsonl: one object a line with these keys; what is not finite is null. csv: a line of names, then
 * comma-separated values; what is not finite is nan, inf or -inf. Lines end with \n.
 */
#ifndef GA_STORAGE_RECORD_TEXT_H
#define GA_STORAGE_RECORD_TEXT_H

#include "base/text.h"
#include "train/devices.h"
#include "train/metrics.h"

/* How busy the seats of replicas 0 .. count-1 are; count 0: nobody asked. Borrowed. */
struct ga_record_seats {
    size_t count;
    const struct ga_readings *readings; /* (count) */
};

struct ga_record_form {
    const char *name; /* "jsonl" */
    const char *help;
    /* Before the first record, for lines with so many seats; may append nothing. */
    void (*head)(size_t seats, struct ga_text *to);
    void (*line)(const struct ga_update_record *record, const struct ga_record_seats *seats,
                 struct ga_text *to);
};

extern const struct ga_record_seats ga_record_no_seats;

extern const struct ga_record_form ga_record_jsonl, ga_record_csv;

#endif
