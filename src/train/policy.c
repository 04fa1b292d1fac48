/* The registry of update modes. */
#include "train/policy.h"

#include <string.h>

#include "base/error.h"

static const struct ga_policy *const registry[] = {&ga_policy_sync};

const struct ga_policy *ga_policy_at(int position)
{
    if (position < 0 || (size_t)position >= sizeof registry / sizeof *registry)
        return NULL;
    return registry[position];
}

const struct ga_policy *ga_policy_find(const char *name)
{
    for (int i = 0; ga_policy_at(i); i++)
        if (strcmp(ga_policy_at(i)->name, name) == 0)
            return ga_policy_at(i);
    ga_fail(GA_EUNSUPPORTED, "no update mode \"%s\"", name);
    return NULL;
}
