/* In place of comm.c where the build found no NCCL. */
#include "collective/nccl/comm.h"

#include <stdio.h>

#include "compute/cuda/device.h"

void ga_team_version(char *out, size_t size)
{
    snprintf(out, size, "not in this build");
}

bool ga_team_available(void)
{
    return false;
}

int ga_team_open(struct ga_team **out, const size_t *places, size_t count)
{
    (void)places;
    *out = NULL;
    return ga_cuda_host()->fail(GA_EUNSUPPORTED,
                                "NCCL between %zu cards: this build was made without it", count);
}

void ga_team_close(struct ga_team *team)
{
    (void)team;
}

bool ga_team_is_on(const struct ga_team *team, const size_t *places, size_t count)
{
    (void)team, (void)places, (void)count;
    return false;
}

int ga_team_sum(struct ga_team *team, const struct ga_team_sum *sum)
{
    (void)team;
    return ga_cuda_host()->fail(GA_EUNSUPPORTED,
                                "a sum of %zu elements by NCCL: this build was made without it",
                                sum->count);
}
