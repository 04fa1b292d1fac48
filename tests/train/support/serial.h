/*
 * The textbook computation that law 1 compares with: rows cut from plain lists, one batch per
 * window, one optimizer step. No replicas, micro-batches, clock or events; nothing of src/train but
 * the net that settings ask for. No backup workers.
 */
#ifndef GA_TESTS_TRAIN_SERIAL_H
#define GA_TESTS_TRAIN_SERIAL_H

#include <stdint.h>

#include "compute/compute.h"
#include "model/model.h"
#include "train/support/start.h"

struct ga_test_owner {
    uint64_t epoch;
    size_t taken; /* rows of its list in this epoch */
};

struct ga_test_serial {
    struct ga_dataset *data;
    struct ga_settings settings;
    struct ga_net net;
    struct ga_context *context;
    float *weights, *state, *next_weights, *next_state, *gradient;
    void *sums;
    struct ga_optimizer_scalars scalars;
    uint64_t updates;

    size_t owners; /* lists: 1 under sharding stream, else the replicas */
    struct ga_test_owner *owner;
    uint32_t *list, *window; /* scratch of one list; rows of the last window */
    size_t examples;         /* in the last window */
    double loss, norm;       /* of the last window */
};

void ga_test_serial_open(struct ga_test_serial *serial, const struct ga_test_start *start);
void ga_test_serial_close(struct ga_test_serial *serial);
void ga_test_serial_updates(struct ga_test_serial *serial, uint64_t count);
uint64_t ga_test_serial_hash(const struct ga_test_serial *serial);

/* A change between two windows; not of the optimizer, and none that recuts shards under wrap. */
void ga_test_serial_set(struct ga_test_serial *serial, const char *words);

/* Hash after `updates` windows from `start`. */
uint64_t ga_test_serial_run(const struct ga_test_start *start, uint64_t updates);

#endif
