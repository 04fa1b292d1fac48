/*
 * A group of replicas on cards from the inside, for cards.c and parts.c.
 */
#ifndef GA_COLLECTIVE_NCCL_GROUP_H
#define GA_COLLECTIVE_NCCL_GROUP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "collective/collective.h"
#include "collective/nccl/comm.h"
#include "compute/cuda/device.h"

/* One card's part: a stream, and room for one buffer. */
struct ga_card_part {
    struct CUstream_st *stream; /* NULL: not used yet */
    struct ga_cuda_room room;
};

/* A sum in parts. The lock is for what several ranks' threads touch. */
struct ga_group_parts {
    pthread_mutex_t lock;
    size_t count; /* elements that each rank tells; 0: nothing is expected */
    void *result;
    size_t root;       /* the rank of the team that has the result's card */
    size_t full;       /* ranks that have told all */
    bool started;      /* the sums are under way */
    enum ga_code code; /* of starting them */
    /* By rank: */
    size_t left[GA_CUDA_PLACES]; /* elements not told yet: [0, left) */
    const void *buffer[GA_CUDA_PLACES];
    size_t pieces[GA_CUDA_PLACES];
    struct ga_team_piece piece[GA_CUDA_PLACES][GA_NET_LAYERS];
};

#define AWAY UINT8_MAX
_Static_assert(GA_CUDA_PLACES < AWAY, "a card's number fits beside AWAY");

struct ga_group {
    size_t ranks;
    atomic_bool aborted;
    bool spoiled;         /* buffers of members hold sums of some of them */
    uint64_t number;      /* of the collective under way, from 1 */
    uint8_t *place;       /* rank's card in it; AWAY: takes no part */
    struct ga_team *team; /* of the cards that met last by NCCL */
    struct ga_card_part part[GA_CUDA_PLACES];
    struct {
        size_t count; /* 0: none */
        size_t place; /* of the result */
    } plain; /* the last sum by the team in which each rank had a card of its own, floats */
    struct ga_group_parts parts;
};

/* Who computes on this card: "replica 1" or "replicas 1, 4"; nothing where nobody does. */
void ga_group_write_replicas(const void *self, size_t place, char *out, size_t size);

/* After a failure nothing of the group is under way any more where cards still answer: the members'
 * buffers are their owners' again. The thread's error stays. */
int ga_group_settle(struct ga_group *group, int code);

extern const struct ga_collective_parts ga_cards_parts; /* only where there is NCCL */

#endif
