/*
 * Which weights a number of states hold between them, each counted once: states of push modes and
 * of local rounds lead to the same versions over and over. Owned and used by one thread; it takes
 * no references of its own.
 */
#ifndef GA_TRAIN_HOLDINGS_H
#define GA_TRAIN_HOLDINGS_H

#include <stddef.h>
#include <stdint.h>

#include "train/state.h"

struct ga_holding {
    const struct ga_version *version; /* NULL: a free place */
    size_t count;                     /* holds on it */
};

/* All 0: empty. */
struct ga_holdings {
    struct ga_holding *place; /* (places), a power of two; found by hashing, then the next free */
    size_t places, versions;
    uint64_t bytes; /* of the versions held */
};

void ga_holdings_fini(struct ga_holdings *holdings);
/* Room for `more` versions beyond those held, so that holding them cannot fail. */
int ga_holdings_room(struct ga_holdings *holdings, size_t more);
void ga_holdings_hold(struct ga_holdings *holdings, const struct ga_version *version);
void ga_holdings_release(struct ga_holdings *holdings, const struct ga_version *version);

#endif
