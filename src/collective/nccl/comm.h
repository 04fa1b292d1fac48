/*
 * NCCL between cards of this process: one rank on each card, each with a host thread that makes its
 * card's calls (rank.h). Communicators do not block: each call is polled until it is done, fails,
 * or has taken longer than GA_CUDA_DEADLINE allows (compute/cuda/device.h); then all ranks are
 * aborted and the error names the culprit. A build without NCCL has the same functions, which say
 * so.
 *
 * Threads: one at a time for a team.
 */
#ifndef GA_COLLECTIVE_NCCL_COMM_H
#define GA_COLLECTIVE_NCCL_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compute/compute.h"

struct CUstream_st;
struct ga_team; /* opaque: ranks on cards */

/* Its version, "2.28.9", or why there is none. */
void ga_team_version(char *out, size_t size);
/* Not where the build has none, or GA_NCCL=0 is in the environment. */
bool ga_team_available(void);

/* Ranks 0 .. count-1 on these cards, all different. */
int ga_team_open(struct ga_team **out, const size_t *places, size_t count);
void ga_team_close(struct ga_team *team); /* NULL is fine */
bool ga_team_is_on(const struct ga_team *team, const size_t *places, size_t count);

/* A piece of a sum: elements, and what their card has to do before they are there. */
struct ga_team_piece {
    size_t first, count;
    struct CUevent_st *mark;
};

/* One sum over the ranks of a team. */
struct ga_team_sum {
    void *const *buffer;               /* rank i's, on its card: what it gives, and gets */
    struct CUstream_st *const *stream; /* rank i's: the sum comes behind what is in it */
    const void *const *from; /* rank i's: what it gives instead; NULL: what is in `buffer` */
    /* Rank i's pieces, to be summed one after another, each behind its mark; alike but for the
     * marks. NULL: all at once. */
    const struct ga_team_piece *const *piece;
    size_t pieces; /* GA_NET_LAYERS at the most */
    size_t root;   /* the rank that gets the sum; GA_TEAM_ALL: every one */
    size_t count;  /* elements */
    enum ga_type type;
    uint64_t number; /* of this collective, for errors */
    /* Says who computes on a card: "replicas 1, 4"; for errors. */
    void (*who)(const void *self, size_t place, char *out, size_t size);
    const void *self;
};
#define GA_TEAM_ALL ((size_t)-1)

/*
 * Ends when all is done. With `from` only ranks that get the sum have a buffer. Where the time is
 * up the error names the cards whose earlier work has not ended, so that they never came to the
 * sum, and else those that came and did not end; where ranks fail, one that failed by itself rather
 * than one that saw another fail. After a failure the team is of no use.
 */
int ga_team_sum(struct ga_team *team, const struct ga_team_sum *sum);

/* The same in two steps, the first of which does not wait; the sum's arrays are its own then. */
int ga_team_begin(struct ga_team *team, const struct ga_team_sum *sum);
int ga_team_end(struct ga_team *team, const struct ga_team_sum *sum);

#endif
