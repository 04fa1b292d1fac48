/*
 * A run without an engine, opened in one line and advanced by hand:
 *
 *     struct ga_run_rig rig;
 *     ga_run_rig_open(&rig, &(struct ga_test_start){.settings = "replicas 3"});
 *     ga_run_rig_updates(&rig, 10);
 */
#ifndef GA_TESTS_TRAIN_RUN_RIG_H
#define GA_TESTS_TRAIN_RUN_RIG_H

#include "train/run.h"
#include "train/support/start.h"
#include "train/workers.h"

struct ga_run_rig {
    struct ga_run *run;
    struct ga_workers *workers; /* NULL: everything inline */
};

void ga_run_rig_open(struct ga_run_rig *rig, const struct ga_test_start *start);
void ga_run_rig_close(struct ga_run_rig *rig);

void ga_run_rig_events(struct ga_run_rig *rig, uint64_t count);
void ga_run_rig_updates(struct ga_run_rig *rig, uint64_t count); /* closed windows */
void ga_run_rig_micros(struct ga_run_rig *rig, uint64_t count);
void ga_run_rig_until(struct ga_run_rig *rig, enum ga_event_kind kind); /* the last event */

int ga_run_rig_set(struct ga_run_rig *rig, const char *words); /* on top of what is pending */

double ga_run_rig_dataset_loss(struct ga_run_rig *rig);
float ga_run_rig_weight(const struct ga_run_rig *rig, size_t position);

/* Closed windows: applied and skipped. */
uint64_t ga_run_rig_closed(const struct ga_run_rig *rig);

/* Busy + idle + communication over all replicas, in ns, open spans up to now included. */
int64_t ga_run_rig_spent(const struct ga_run_rig *rig);

#endif
