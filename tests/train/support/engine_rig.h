/*
 * An engine with data and settings, opened in one line and commanded from the main thread. Moves
 * wait until they ended; a move that takes five minutes fails the test.
 */
#ifndef GA_TESTS_TRAIN_ENGINE_RIG_H
#define GA_TESTS_TRAIN_ENGINE_RIG_H

#include "train/engine.h"
#include "train/support/start.h"

struct ga_engine_rig {
    struct ga_engine *engine;
};

void ga_engine_rig_open(struct ga_engine_rig *rig, const struct ga_test_start *start);
void ga_engine_rig_close(struct ga_engine_rig *rig);

/* Changes on top of the draft. set() must succeed; try_set() gives the code. */
struct ga_change ga_engine_rig_set(struct ga_engine_rig *rig, const char *words);
int ga_engine_rig_try_set(struct ga_engine_rig *rig, const char *words, struct ga_change *out);

uint64_t ga_engine_rig_begin(struct ga_engine_rig *rig, enum ga_move_kind kind, uint64_t count);
struct ga_stop ga_engine_rig_wait(struct ga_engine_rig *rig, uint64_t ticket);
struct ga_stop ga_engine_rig_move(struct ga_engine_rig *rig, enum ga_move_kind kind,
                                  uint64_t count);
/* The same, and it must end with GA_STOP_DONE. */
struct ga_stop ga_engine_rig_go(struct ga_engine_rig *rig, enum ga_move_kind kind, uint64_t count);

uint64_t ga_engine_rig_hash(struct ga_engine_rig *rig);
struct ga_counters ga_engine_rig_counters(struct ga_engine_rig *rig);
double ga_engine_rig_metric(struct ga_engine_rig *rig, enum ga_metric metric, int32_t replica);
struct ga_update_record ga_engine_rig_record(struct ga_engine_rig *rig); /* of the last window */
struct ga_history_info ga_engine_rig_history(struct ga_engine_rig *rig);
float ga_engine_rig_weight(struct ga_engine_rig *rig, size_t position);

#endif
