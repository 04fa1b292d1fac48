/*
 * The runs beside each other: the recorded losses of every run the engine has, for the comparison.
 * What was recorded is read from the engine's own histories, so a run forked long ago has its whole
 * curve; only what is new is copied, and only for runs that have moved. One thread, the ui's.
 */
#ifndef GA_UI_RUNS_H
#define GA_UI_RUNS_H

#include <stddef.h>
#include <stdint.h>

#include "train/view.h"
#include "ui/panel.h"

struct ga_engine;
struct ga_runs;
struct ga_sample;
struct ga_samples;

int ga_runs_open(struct ga_runs **out);
void ga_runs_close(struct ga_runs *runs); /* NULL is fine */

/*
 * Follows the engine: asks it when something may have changed since the last time, which costs it
 * a pass over the records of the runs that moved. Runs that are gone are forgotten.
 */
int ga_runs_update(struct ga_runs *runs, struct ga_engine *engine);

/* The runs in the order made; borrowed until the next update. For struct ga_scene. */
size_t ga_runs_list(const struct ga_runs *runs, const struct ga_scene_run **out);

/*
 * ga_samples_append(), but where rows are missing before the sample (another run came into use, or
 * this one jumped to a place that was never drawn) they are first read from the run's records.
 * Those have no figures of replicas. This is how an app takes what ga_watch_take() gives.
 */
int ga_runs_take(struct ga_samples *samples, struct ga_engine *engine,
                 const struct ga_sample *sample);

#endif
