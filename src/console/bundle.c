#include "console/bundle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void ga_block_begin(struct ga_block *block, uintptr_t run)
{
    block->run = run;
    block->count = 0;
    block->low = block->grad_low = (double)INFINITY;
    block->high = block->grad_high = (double)-INFINITY;
    for (int r = 0; r < GA_WATCH_REPLICAS; r++) {
        block->replica_low[r] = INFINITY;
        block->replica_high[r] = -INFINITY;
    }
}

struct ga_sample ga_figures_sample(uintptr_t run, const struct ga_figures *figures)
{
    return (struct ga_sample){.run = run,
                              .windows = figures->windows,
                              .update = figures->update,
                              .examples = figures->examples,
                              .time_ns = figures->time_ns,
                              .wall_ns = figures->wall_ns,
                              .applied = true,
                              .loss = figures->loss,
                              .grad_norm = figures->grad_norm,
                              .update_norm = (double)NAN,
                              .noise_scale = (double)NAN,
                              .staleness = (double)NAN};
}

/* One end of what the windows spread over, in place of the first or the second of them. */
static struct ga_sample end_of(const struct ga_block *block, const struct ga_figures *figures,
                               bool high)
{
    struct ga_sample sample = ga_figures_sample(block->run, figures);

    sample.loss = high ? block->high : block->low;
    sample.grad_norm = high ? block->grad_high : block->grad_low;
    for (int r = 0; r < GA_WATCH_REPLICAS; r++) {
        float low = block->replica_low[r], top = block->replica_high[r];

        if (low > top)
            continue;
        sample.replicas = (uint32_t)r + 1;
        sample.replica[r].finished = true;
        sample.replica[r].loss = high ? top : low;
    }
    return sample;
}

size_t ga_bundle_samples(const struct ga_bundle *bundle, struct ga_sample out[GA_BUNDLE_SAMPLES])
{
    const struct ga_block *block = &bundle->block;
    size_t count = 0;

    if (block->count == 2) {
        out[count++] = ga_figures_sample(block->run, &block->first);
    } else if (block->count > 2) {
        out[count++] = end_of(block, &block->first, false);
        out[count++] = end_of(block, &block->second, true);
    }
    if (bundle->has_last)
        out[count++] = bundle->last;
    return count;
}

static void merge_blocks(struct ga_block *block, const struct ga_block *later)
{
    if (block->count == 1)
        block->second = later->first;
    block->count += later->count;
    block->newest = later->newest;
    ga_block_widen(later->low, later->high, &block->low, &block->high);
    ga_block_widen(later->grad_low, later->grad_high, &block->grad_low, &block->grad_high);
    for (size_t r = 0; r < GA_WATCH_REPLICAS; r++) {
        block->replica_low[r] = fminf(block->replica_low[r], later->replica_low[r]);
        block->replica_high[r] = fmaxf(block->replica_high[r], later->replica_high[r]);
    }
}

/* Another run's curve begins anew, and one that goes on from further back hides what was here. */
static bool takes_the_place_of(const struct ga_block *later, const struct ga_block *block)
{
    return later->run != block->run || later->first.windows <= block->first.windows;
}

void ga_bundle_merge(struct ga_bundle *bundle, const struct ga_bundle *later)
{
    double staleness = bundle->has_last ? bundle->last.staleness : (double)NAN;

    if (takes_the_place_of(&later->block, &bundle->block)) {
        *bundle = *later;
        return;
    }
    merge_blocks(&bundle->block, &later->block);
    bundle->has_last = later->has_last;
    bundle->last = later->last;
    if (!(bundle->last.staleness >= staleness))
        bundle->last.staleness = staleness;
}

int ga_backlog_open(struct ga_backlog *backlog)
{
    *backlog = (struct ga_backlog){.bundle = ga_alloc(GA_BACKLOG, sizeof *backlog->bundle)};
    return backlog->bundle ? GA_OK : GA_ENOMEM;
}

void ga_backlog_close(struct ga_backlog *backlog)
{
    free(backlog->bundle);
    *backlog = (struct ga_backlog){0};
}

static void halve(struct ga_backlog *backlog)
{
    for (size_t k = 0; k < GA_BACKLOG / 2; k++) {
        backlog->bundle[k] = backlog->bundle[2 * k];
        ga_bundle_merge(&backlog->bundle[k], &backlog->bundle[2 * k + 1]);
    }
    backlog->count = GA_BACKLOG / 2;
}

bool ga_backlog_add(struct ga_backlog *backlog, const struct ga_bundle *bundle)
{
    bool full = backlog->count == GA_BACKLOG;

    if (full)
        halve(backlog);
    if (backlog->first + backlog->count == GA_BACKLOG) {
        memmove(backlog->bundle, backlog->bundle + backlog->first,
                backlog->count * sizeof *backlog->bundle);
        backlog->first = 0;
    }
    backlog->bundle[backlog->first + backlog->count++] = *bundle;
    return full;
}

const struct ga_bundle *ga_backlog_oldest(const struct ga_backlog *backlog)
{
    return backlog->count > 0 ? &backlog->bundle[backlog->first] : NULL;
}

void ga_backlog_drop_oldest(struct ga_backlog *backlog)
{
    backlog->count--;
    backlog->first = backlog->count > 0 ? backlog->first + 1 : 0;
}
