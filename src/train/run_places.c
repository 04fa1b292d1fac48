/* Which cards the replicas of a run compute on, and what there is to choose from. */
#include <inttypes.h>
#include <stdlib.h>

#include "compute/cuda_load.h"
#include "train/run_internal.h"

int ga_run_find_places(const struct ga_settings *set, const struct ga_compute *compute,
                       size_t *places)
{
    size_t count = 0;

    if (ga_buffer_places(compute, &count) < 0)
        return ga_error_code();
    for (int32_t i = 0; i < set->devices.count; i++)
        if ((size_t)set->devices.number[i] >= count)
            return ga_fail(GA_ERANGE, "there is no %s:%d: expected %s:0 to %s:%zu", compute->name,
                           (int)set->devices.number[i], compute->name, compute->name, count - 1);
    *places = set->devices.count > 0   ? (size_t)set->devices.count
              : count < GA_MAX_DEVICES ? count
                                       : GA_MAX_DEVICES;
    return GA_OK;
}

size_t ga_run_card_at(const struct ga_run *run, size_t place)
{
    const struct ga_settings *set = run_set(run);

    return set->devices.count > 0 ? (size_t)set->devices.number[place] : place;
}

void *ga_run_alloc_sums(const struct ga_run *run, size_t place, size_t count)
{
    return ga_buffer_alloc(run->compute, count * run->sum_bytes, ga_run_card_at(run, place));
}

int ga_run_hold_means(const struct ga_run *run, float *means, size_t count)
{
    const size_t n = run->net.parameters;

    for (size_t k = 0; k < count; k++) {
        if (ga_buffer_hold(run->compute, means + k * n, n * sizeof *means) == GA_OK)
            continue;
        while (k-- > 0)
            ga_buffer_release(run->compute, means + k * n);
        return ga_error_code();
    }
    return GA_OK;
}

void ga_run_free_means(const struct ga_run *run, float *means, size_t count)
{
    for (size_t k = 0; means && k < count; k++)
        ga_buffer_release(run->compute, means + k * run->net.parameters);
    free(means);
}

void ga_run_find_cards(struct ga_run *run)
{
    const struct ga_cuda_module *module = run->compute->memory ? ga_cuda_load() : NULL;

    for (size_t place = 0; module && place < run->places; place++) {
        struct ga_cuda_card card;

        run->card[place].known = module->card(ga_run_card_at(run, place), &card) == GA_OK &&
                                 ga_pci_read(card.bus, &run->card[place].pci);
    }
}

/* The place of the run's nth card; places may be on one. */
static bool find_card(const struct ga_run *run, size_t nth, size_t *card)
{
    for (size_t place = 0; place < run->places; place++) {
        size_t before = 0;

        *card = ga_run_card_at(run, place);
        while (before < place && ga_run_card_at(run, before) != *card)
            before++;
        if (before == place && nth-- == 0)
            return true;
    }
    return false;
}

bool ga_run_card_memory(const struct ga_run *run, size_t nth, struct ga_card_memory *out)
{
    const struct ga_cuda_module *module = run->compute->memory ? ga_cuda_load() : NULL;
    struct ga_cuda_card card;

    *out = (struct ga_card_memory){.card = 0};
    if (!module || !find_card(run, nth, &out->card) || module->card(out->card, &card) < 0)
        return false;
    run->compute->memory->usage(out->card, out->used);
    for (int use = 0; use < GA_DEVICE_USES; use++)
        out->taken += use == GA_USE_PINNED ? 0 : out->used[use];
    out->free = card.memory_free;
    out->total = card.memory_total;
    return true;
}

static void describe_card(const struct ga_cuda_module *module, size_t place, struct ga_text *out)
{
    struct ga_cuda_card card;

    if (module->card(place, &card) < 0) {
        ga_text_printf(out, "%s\n", ga_error_text());
        return;
    }
    ga_text_printf(out,
                   "cuda:%zu: %s at %s, compute %d.%d, %d multiprocessors, %" PRIu64 " of %" PRIu64
                   " MiB free\n",
                   place, card.name, card.bus, card.major, card.minor, card.multiprocessors,
                   card.memory_free >> 20, card.memory_total >> 20);
}

void ga_run_describe_cards(struct ga_text *out)
{
    const struct ga_cuda_module *module = ga_cuda_load();
    char nccl[64];
    size_t places = 0;

    if (!module || module->compute[0]->memory->places(&places) < 0) {
        ga_text_printf(out, "cuda: %s\n", ga_error_text());
        return;
    }
    for (size_t place = 0; place < places; place++)
        describe_card(module, place, out);
    module->nccl(nccl, sizeof nccl);
    ga_text_printf(out, "NCCL: %s; no line of the GPU code has been tried on a real GPU before\n",
                   nccl);
}

const char *ga_run_collective(const struct ga_run *run)
{
    return run->collective->reason;
}
