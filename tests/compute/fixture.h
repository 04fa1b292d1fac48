/*
 * What the tests of compute share: nets laid out by hand, draws, both kernels behind one call, and
 * an independent reference in double: plain loops over examples with libm, no code of the room.
 */
#ifndef GA_TESTS_COMPUTE_FIXTURE_H
#define GA_TESTS_COMPUTE_FIXTURE_H

#include "compute/compute.h"
#include "compute/cpu_kernel.h"

/* A net of `layers` weight layers; widths has layers + 1 entries. */
struct ga_net test_mlp(size_t layers, const size_t *widths, enum ga_net_activation activation,
                       enum ga_net_loss loss, bool bias);
struct ga_net test_quadratic(size_t coordinates);

/* Draws in [0, 1) and [low, high), by number; the same for a number always. */
double test_draw(uint64_t number);
double test_between(uint64_t number, double low, double high);

/* `count` floats in [-size, size), to be freed. */
float *test_floats(size_t count, uint64_t seed, double size);

/* Every kernel of this machine in turn: work areas of one net over up to `examples`. */
struct bench {
    const struct ga_cpu_kernel *kernels[GA_CPU_KERNELS + 1];
    struct ga_net net;
    struct ga_cpu_work work;
    float *room;
    double *wide;
};
void bench_open(struct bench *bench, const struct ga_net *net, size_t examples);
void bench_close(struct bench *bench);

/* The gradient of the weighted loss sum over the batch, and that sum, in double. */
double reference_gradient(const struct ga_net *net, const double *weights,
                          const struct ga_batch *batch, double *gradient);
double reference_loss(const struct ga_net *net, const double *weights,
                      const struct ga_batch *batch);

/* |got - want| / |want| in L2, 0 where they are equal; NaN where either holds one. */
double relative_distance(const double *got, const double *want, size_t count);

/* Fails unless an open context takes the bytes that the device promises; skips where the allocator
 * does not count. */
void test_context_bytes(const struct ga_compute *device, const struct ga_net *net, size_t batch);

/* Fails, naming both, unless got <= limit. */
void assert_at_most(double got, double limit);

#endif
