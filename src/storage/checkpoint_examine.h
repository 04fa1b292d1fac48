/* A loaded state under examination, shared by the files that do so. Private to storage. */
#ifndef GA_STORAGE_CHECKPOINT_EXAMINE_H
#define GA_STORAGE_CHECKPOINT_EXAMINE_H

#include "storage/checkpoint_format.h"
#include "train/policy.h"

struct ga_examined {
    const struct ga_state *state;
    const struct ga_settings *settings; /* in force */
    const struct ga_policy *policy;     /* of their mode */
    size_t rows;                        /* of training data */
    uint64_t closed;                    /* windows so far: updates and skipped ones */
    size_t parameters;
};

static inline bool ga_examined_is(const struct ga_examined *of, enum ga_family family)
{
    return of->policy->family == family;
}

/* Replicas push to a server of their own accord. */
static inline bool ga_examined_pushes(const struct ga_examined *of)
{
    return ga_examined_is(of, GA_FAMILY_PUSH) || ga_examined_is(of, GA_FAMILY_SHARED);
}

/* With shards of their own and fewer rows than replicas the last ones have nothing to work on. */
static inline bool ga_examined_has_rows(const struct ga_examined *of, size_t replica)
{
    return of->settings->sharding == GA_SHARD_STREAM || replica < of->rows;
}

int ga_examine_replicas(const struct ga_examined *of);
int ga_examine_window(const struct ga_examined *of);
int ga_examine_gradient(const struct ga_examined *of);
int ga_examine_modes(const struct ga_examined *of);

#endif
