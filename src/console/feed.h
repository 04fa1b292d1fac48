/*
 * From the engine's closed windows to printed lines: an observer on the engine thread takes the
 * figures of every logged update into a queue, the console's thread takes them out and prints.
 *
 * Logged are the first update and every log-every-th after it (1, 51, 101, ... for 50), and every
 * skipped window. Lossless: a full queue rings the bell and holds the engine until there is room.
 * Lossy (a prompt, where a person reads): a full queue forgets its oldest line and counts it.
 *
 * Threads: one mutex guards the queue and the columns; the observer is the engine's, all other
 * calls the console's.
 */
#ifndef GA_CONSOLE_FEED_H
#define GA_CONSOLE_FEED_H

#include "base/text.h"
#include "base/thread.h"
#include "train/engine.h"

#define GA_FEED_COLUMNS 16
#define GA_COLUMN_HASH  (-1)

struct ga_column {
    int metric;      /* enum ga_metric or GA_COLUMN_HASH */
    int32_t replica; /* -1: of the run */
};

struct ga_columns {
    size_t count;
    struct ga_column column[GA_FEED_COLUMNS];
};

/* update, epoch, examples, loss, grad_norm, lr, time: without examples, or epoch and examples,
 * where a line would not fit into a terminal of so many columns; 0: no terminal. */
void ga_columns_default(struct ga_columns *columns, int terminal_columns);

/* Words such as: update loss replica 2 loss hash. */
int ga_columns_read(struct ga_columns *out, size_t count, const char *const *word);
void ga_columns_write(const struct ga_columns *columns, struct ga_text *out);

/* One line's figures; as many values as the columns it was taken with. */
struct ga_feed_line {
    struct ga_columns columns;
    bool applied; /* false: the window was skipped */
    uint64_t hash;
    double value[GA_FEED_COLUMNS];
};

void ga_feed_format(const struct ga_feed_line *line, struct ga_text *out);

struct ga_feed;

int ga_feed_open(struct ga_feed **out, const struct ga_bell *bell);
void ga_feed_close(struct ga_feed *feed); /* the engine must not observe any more */
struct ga_observer ga_feed_observer(struct ga_feed *feed);

void ga_feed_columns(struct ga_feed *feed, struct ga_columns *out);
void ga_feed_set_columns(struct ga_feed *feed, const struct ga_columns *columns);
void ga_feed_set_lossy(struct ga_feed *feed, bool lossy);

size_t ga_feed_count(struct ga_feed *feed); /* lines waiting */
bool ga_feed_take(struct ga_feed *feed, struct ga_feed_line *out);
uint64_t ga_feed_take_forgotten(struct ga_feed *feed); /* since the last call */

#endif
