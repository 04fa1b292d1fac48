/* Buffers of a device that has memory of its own, and of one that has not. */
#include <string.h>

#include "base/error.h"
#include "compute/compute.h"

int ga_buffer_places(const struct ga_compute *compute, size_t *count)
{
    *count = 1;
    return compute->memory ? compute->memory->places(count) : GA_OK;
}

void *ga_buffer_alloc(const struct ga_compute *compute, size_t bytes, size_t place)
{
    return compute->memory ? compute->memory->alloc(bytes, place) : compute->alloc(bytes);
}

void ga_buffer_home(const struct ga_compute *compute, struct ga_context *context, size_t place)
{
    if (compute->memory)
        compute->memory->home(context, place);
}

static int copy_plain(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return GA_OK;
}

int ga_buffer_copy_in(const struct ga_compute *compute, void *device, const void *host,
                      size_t bytes)
{
    return compute->memory ? compute->memory->copy_in(device, host, bytes)
                           : copy_plain(device, host, bytes);
}

int ga_buffer_copy_out(const struct ga_compute *compute, void *host, const void *device,
                       size_t bytes)
{
    return compute->memory ? compute->memory->copy_out(host, device, bytes)
                           : copy_plain(host, device, bytes);
}

int ga_buffer_copy(const struct ga_compute *compute, void *to, const void *from, size_t bytes)
{
    return compute->memory ? compute->memory->copy(to, from, bytes) : copy_plain(to, from, bytes);
}

int ga_buffer_poll(const struct ga_compute *compute)
{
    return compute->memory ? compute->memory->poll() : GA_OK;
}

int ga_buffer_hold(const struct ga_compute *compute, void *block, size_t bytes)
{
    return compute->memory ? compute->memory->hold(block, bytes) : GA_OK;
}

void ga_buffer_release(const struct ga_compute *compute, void *block)
{
    if (compute->memory && block)
        compute->memory->release(block);
}

void ga_buffer_fetch(const struct ga_compute *compute, const void *block)
{
    if (compute->memory)
        (void)compute->memory->fetch(block); /* poll() tells */
}

void ga_buffer_renew(const struct ga_compute *compute, void *block)
{
    if (compute->memory)
        compute->memory->renew(block);
}

static bool measure(const struct ga_compute *compute, enum ga_measure kind, const float *a,
                    const float *b, size_t count, double *sum)
{
    return compute->memory && compute->memory->measure(kind, a, b, count, sum);
}

double ga_buffer_norm(const struct ga_compute *compute, const float *values, size_t count)
{
    double square = 0;
    return measure(compute, GA_MEASURE_SQUARE, values, NULL, count, &square)
               ? __builtin_sqrt(square)
               : ga_norm(values, count);
}

double ga_buffer_distance(const struct ga_compute *compute, const float *a, const float *b,
                          size_t count)
{
    double square = 0;
    return measure(compute, GA_MEASURE_DISTANCE, a, b, count, &square)
               ? __builtin_sqrt(square)
               : ga_norm_of_difference(a, b, count);
}

double ga_buffer_dot(const struct ga_compute *compute, const float *a, const float *b, size_t count)
{
    double product = 0;
    return measure(compute, GA_MEASURE_PRODUCT, a, b, count, &product) ? product
                                                                       : ga_dot(a, b, count);
}

void ga_buffer_revive(const struct ga_compute *compute)
{
    if (compute->memory)
        compute->memory->revive();
}
