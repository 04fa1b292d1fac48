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
 * jsonl: one object a line with these keys; what is not finite is null. csv: a line of names, then
 * comma-separated values; what is not finite is nan, inf or -inf. Lines end with \n.
 */
#ifndef GA_STORAGE_RECORD_TEXT_H
#define GA_STORAGE_RECORD_TEXT_H

#include "base/text.h"
#include "train/metrics.h"

struct ga_record_form {
    const char *name; /* "jsonl" */
    const char *help;
    void (*head)(struct ga_text *to); /* before the first record; may append nothing */
    void (*line)(const struct ga_update_record *record, struct ga_text *to);
};

extern const struct ga_record_form ga_record_jsonl, ga_record_csv;

#endif
