/* What happened and where a run stands, in words. All are called on the engine thread. */
#ifndef GA_CONSOLE_DESCRIBE_H
#define GA_CONSOLE_DESCRIBE_H

#include "base/text.h"
#include "train/run.h"

/* "replica 1, micro-batch 3 of 5: loss 1.0132, |g| 0.671, weight 5"; may be nothing. */
void ga_describe_event_details(const struct ga_event *event, struct ga_text *out);

/* The same behind the event's name: "micro: replica 1, ...". */
void ga_describe_event(const struct ga_event *event, struct ga_text *out);

/* The mode with what belongs to it: "sync", "sync backup 1", "ssp 3, scale full", "local 5". */
const char *ga_mode_number(enum ga_mode mode); /* setting that `mode NAME N` sets; NULL: none */
void ga_describe_mode(const struct ga_settings *settings, struct ga_text *out);

/* "update 120, hash 3f9a27c1", with how far the open window is and a mode other than sync. */
void ga_describe_place(struct ga_run *run, struct ga_text *out);

/* Micro-batches that the open window has so far. */
unsigned ga_window_micros(const struct ga_run *run);

/* A figure with 6 significant digits. */
void ga_describe_figure(const char *name, double value, struct ga_text *out);

#endif
