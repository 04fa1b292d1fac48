#include "console/feed.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"

#define QUEUE 1024 /* lines */

struct ga_feed {
    pthread_mutex_t lock;
    pthread_cond_t room;
    const struct ga_bell *bell;
    struct ga_columns columns;
    bool lossy;
    uint64_t forgotten;
    size_t first, count;
    struct ga_feed_line line[QUEUE];
};

static double value_of(struct ga_run *run, const struct ga_column *column)
{
    if (column->metric == GA_COLUMN_HASH)
        return 0;
    if (column->replica >= 0 && (size_t)column->replica >= ga_run_replicas(run))
        return (double)__builtin_nan("");
    return ga_run_metric(run, (enum ga_metric)column->metric, column->replica);
}

static bool is_logged(const struct ga_run *run, const struct ga_update_record *record)
{
    const uint64_t every = (uint64_t)ga_run_settings(run)->log_every;
    return !record->applied || every <= 1 || record->update % every == 1;
}

/* A place at the end of the queue, by the queue's rule when it is full. Called with the lock held.
 */
static struct ga_feed_line *make_room(struct ga_feed *feed)
{
    while (feed->count == QUEUE && !feed->lossy) {
        ga_bell_ring(feed->bell);
        pthread_cond_wait(&feed->room, &feed->lock);
    }
    if (feed->count == QUEUE) {
        feed->first = (feed->first + 1) % QUEUE;
        feed->count--;
        feed->forgotten++;
    }
    return &feed->line[(feed->first + feed->count++) % QUEUE];
}

static void observe(void *self, struct ga_run *run, const struct ga_update_record *record)
{
    struct ga_feed *feed = self;
    if (!is_logged(run, record))
        return;
    pthread_mutex_lock(&feed->lock);
    struct ga_feed_line *line = make_room(feed);
    line->columns = feed->columns;
    line->applied = record->applied;
    for (size_t i = 0; i < line->columns.count; i++) {
        line->value[i] = value_of(run, &line->columns.column[i]);
        if (line->columns.column[i].metric == GA_COLUMN_HASH)
            line->hash = ga_run_hash(run);
    }
    pthread_mutex_unlock(&feed->lock);
}

/* Updates until the next one that is logged. */
static uint64_t leaves(void *self, const struct ga_run *run)
{
    const uint64_t every = (uint64_t)ga_run_settings(run)->log_every;
    (void)self;
    return every <= 1 ? 0 : (every - ga_run_counters(run)->updates % every) % every;
}

int ga_feed_open(struct ga_feed **out, const struct ga_bell *bell)
{
    *out = NULL;
    struct ga_feed *feed = ga_alloc(1, sizeof(*feed));
    if (!feed)
        return GA_ENOMEM;
    feed->bell = bell;
    ga_columns_default(&feed->columns, 0);
    pthread_mutex_init(&feed->lock, NULL);
    pthread_cond_init(&feed->room, NULL);
    *out = feed;
    return 0;
}

void ga_feed_close(struct ga_feed *feed)
{
    if (!feed)
        return;
    pthread_cond_destroy(&feed->room);
    pthread_mutex_destroy(&feed->lock);
    free(feed);
}

struct ga_observer ga_feed_observer(struct ga_feed *feed)
{
    return (struct ga_observer){.update = observe, .leaves = leaves, .self = feed};
}

void ga_feed_columns(struct ga_feed *feed, struct ga_columns *out)
{
    pthread_mutex_lock(&feed->lock);
    *out = feed->columns;
    pthread_mutex_unlock(&feed->lock);
}

void ga_feed_set_columns(struct ga_feed *feed, const struct ga_columns *columns)
{
    pthread_mutex_lock(&feed->lock);
    feed->columns = *columns;
    pthread_mutex_unlock(&feed->lock);
}

void ga_feed_set_lossy(struct ga_feed *feed, bool lossy)
{
    pthread_mutex_lock(&feed->lock);
    feed->lossy = lossy;
    pthread_cond_signal(&feed->room);
    pthread_mutex_unlock(&feed->lock);
}

size_t ga_feed_count(struct ga_feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    const size_t count = feed->count;
    pthread_mutex_unlock(&feed->lock);
    return count;
}

bool ga_feed_take(struct ga_feed *feed, struct ga_feed_line *out)
{
    pthread_mutex_lock(&feed->lock);
    const bool there = feed->count > 0;
    if (there) {
        *out = feed->line[feed->first];
        feed->first = (feed->first + 1) % QUEUE;
        feed->count--;
        pthread_cond_signal(&feed->room);
    }
    pthread_mutex_unlock(&feed->lock);
    return there;
}

uint64_t ga_feed_take_forgotten(struct ga_feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    const uint64_t forgotten = feed->forgotten;
    feed->forgotten = 0;
    pthread_mutex_unlock(&feed->lock);
    return forgotten;
}
