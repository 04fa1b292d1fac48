/* The registry of collectives, in order of preference. */
#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "collective/collective.h"
#include "compute/cuda_load.h"

static const struct ga_collective *const registry[] = {&ga_collective_shared};

size_t ga_collective_count(void)
{
    return sizeof registry / sizeof *registry;
}

const struct ga_collective *ga_collective_at(size_t position)
{
    return position < ga_collective_count() ? registry[position] : NULL;
}

static bool serves(const struct ga_collective *collective, size_t ranks)
{
    return collective->ranks_limit == 0 || ranks <= collective->ranks_limit;
}

const struct ga_collective *ga_collective_find(const char *name, size_t ranks)
{
    for (size_t i = 0; i < ga_collective_count(); i++) {
        if (*name && strcmp(name, registry[i]->name) != 0)
            continue;
        if (serves(registry[i], ranks))
            return registry[i];
    }
    ga_fail(GA_EUNSUPPORTED, "no collective \"%s\" for %zu ranks: expected shared", name, ranks);
    return NULL;
}

const struct ga_collective *ga_collective_for(const struct ga_compute *compute, size_t ranks)
{
    const struct ga_cuda_module *module = NULL;
    if (!compute->memory)
        return ga_collective_find("", ranks);
    module = ga_cuda_load();
    return module ? module->collective : NULL;
}

double ga_collective_ring_bytes(size_t ranks, double bytes)
{
    if (ranks < 2)
        return 0;
    return 2.0 * (double)(ranks - 1) / (double)ranks * bytes;
}
