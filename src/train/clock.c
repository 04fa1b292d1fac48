/* The registry of clocks. */
#include "train/clock.h"

#include <string.h>

#include "base/error.h"

static const struct ga_clock_kind *const registry[] = {&ga_clock_virtual, &ga_clock_real};

const struct ga_clock_kind *ga_clock_find(const char *name)
{
    for (size_t i = 0; i < sizeof registry / sizeof *registry; i++)
        if (strcmp(registry[i]->name, name) == 0)
            return registry[i];
    ga_fail(GA_EUNSUPPORTED, "no clock \"%s\": expected virtual or real", name);
    return NULL;
}
