/* The module's one exported function. */
#include "compute/cuda/module.h"

#include "collective/nccl/cards.h"
#include "collective/nccl/comm.h"
#include "compute/cuda/device.h"
#include "compute/cuda/exact.h"

static const struct ga_compute *const devices[] = {&ga_compute_cuda_exact, &ga_compute_cuda_fast,
                                                   NULL};

__attribute__((visibility("default"))) const struct ga_cuda_module *
ga_cuda_module(const struct ga_host *host)
{
    static const struct ga_cuda_module module = {
        .version = GA_CUDA_MODULE_VERSION,
        .compute = devices,
        .collective = &ga_collective_cards,
        .nccl = ga_team_version,
        .card = ga_cuda_card,
    };
    if (host->version != GA_CUDA_MODULE_VERSION ||
        host->compute_bytes != sizeof(struct ga_compute) ||
        host->tally_bytes != sizeof(struct ga_tally)) {
        host->fail(GA_EUNSUPPORTED, "the CUDA module is of another build: expected version %d",
                   GA_CUDA_MODULE_VERSION);
        return NULL;
    }
    ga_cuda_set_host(host);
    return &module;
}
