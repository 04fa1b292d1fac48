/*
 * Bundles of closed windows on their way to a screen. While a run is fast its windows are handed
 * over together: one by one they would cost more than they show. What is kept of a bundle is what
 * a chart would draw of it: its ends, and the least and the greatest of each figure, where one that
 * is not finite counts as the greatest. A bundle becomes at most three samples: the least at its
 * first window, the greatest at its second, and the last window as it was.
 *
 * A backlog holds bundles that find no room. When it is full each two neighbours become one, so
 * that it covers any number of windows evenly. Used by one thread at a time, that of the engine.
 */
#ifndef GA_CONSOLE_BUNDLE_H
#define GA_CONSOLE_BUNDLE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "console/watch.h"

/* The scalar figures of a closed window. */
struct ga_figures {
    uint64_t windows, update, examples;
    int64_t time_ns, wall_ns;
    double loss, grad_norm;
};

/* A plain value; `count` 0: empty, and all else is undefined. */
struct ga_block {
    uintptr_t run;
    uint64_t count, newest;          /* windows in it, and the last one's number */
    struct ga_figures first, second; /* where the ends of the bundle are put */
    double low, high;                /* loss; high: not finite if any is */
    double grad_low, grad_high;
    /* Infinite, low above high, for a replica without a loss. */
    float replica_low[GA_WATCH_REPLICAS], replica_high[GA_WATCH_REPLICAS];
};

struct ga_bundle {
    struct ga_block block;
    bool has_last; /* false where its last window is not known any more */
    struct ga_sample last;
};

static inline void ga_block_widen(double low, double high, double *least, double *greatest)
{
    *least = low < *least ? low : *least;
    /* Written so that NaN takes the place of a number, and keeps it. */
    *greatest = high <= *greatest || isnan(*greatest) ? *greatest : high;
}

static inline void ga_block_widen_replica(struct ga_block *block, size_t replica, float loss)
{
    float *low = &block->replica_low[replica], *high = &block->replica_high[replica];

    *low = loss < *low ? loss : *low;
    *high = loss > *high ? loss : *high;
}

/* One more window, which follows on the last. */
static inline void ga_block_count(struct ga_block *block, const struct ga_figures *figures)
{
    if (block->count < 2)
        *(block->count == 0 ? &block->first : &block->second) = *figures;
    block->count++;
    block->newest = figures->windows;
    ga_block_widen(figures->loss, figures->loss, &block->low, &block->high);
    ga_block_widen(figures->grad_norm, figures->grad_norm, &block->grad_low, &block->grad_high);
}

void ga_block_begin(struct ga_block *block, uintptr_t run);

/* The sample of a window of that run, with what figures tell. */
struct ga_sample ga_figures_sample(uintptr_t run, const struct ga_figures *figures);

#define GA_BUNDLE_SAMPLES 3
size_t ga_bundle_samples(const struct ga_bundle *bundle, struct ga_sample out[GA_BUNDLE_SAMPLES]);

/* `later` came after `bundle`, which becomes both: only `later` where that takes its place. */
void ga_bundle_merge(struct ga_bundle *bundle, const struct ga_bundle *later);

#define GA_BACKLOG 1024 /* bundles */

struct ga_backlog {
    struct ga_bundle *bundle; /* room for GA_BACKLOG */
    size_t first, count;
};

int ga_backlog_open(struct ga_backlog *backlog);
void ga_backlog_close(struct ga_backlog *backlog);
bool ga_backlog_add(struct ga_backlog *backlog, const struct ga_bundle *bundle); /* true: halved */
const struct ga_bundle *ga_backlog_oldest(const struct ga_backlog *backlog);     /* NULL: none */
void ga_backlog_drop_oldest(struct ga_backlog *backlog);

#endif
