/*
 * A device that computes nothing: gradients are 0, weights stay as they are, each call takes no
 * time to speak of. What a run on it costs is its policy, its clock and its books.
 */
#ifndef GA_BENCH_IDLE_DEVICE_H
#define GA_BENCH_IDLE_DEVICE_H

#include "compute/compute.h"

extern const struct ga_compute ga_idle_device;

#endif
