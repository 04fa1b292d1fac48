/*
 * Ranks of NCCL from the inside, for comm.c and rank.c: each card has a host thread that makes all
 * of its card's calls, so that one that hangs holds up nobody else. The owner of a team asks for
 * one job after another and waits, with a deadline, until the ranks have told how theirs went.
 *
 * NCCL wants ranks that one thread drives in groups, because opening and closing a rank wait for
 * the others; with a thread for each there is no group anywhere, also where ranks are aborted,
 * which every rank has to do.
 *
 * Lock rule: one lock for all of a team. While a rank is busy its thread has what is marked "job",
 * and the owner changes nothing of that. Team and ranks live until the last of their users has left
 * them: a thread that hangs may outlive the owner's interest.
 */
#ifndef GA_COLLECTIVE_NCCL_RANK_H
#define GA_COLLECTIVE_NCCL_RANK_H

#include <pthread.h>
#include <stdatomic.h>

#include "collective/nccl/comm.h"
#include "compute/cuda/device.h"

struct ncclComm;

#define GA_RANK_ID_BYTES 128 /* of what ranks find each other by, an ncclUniqueId */

enum ga_rank_job { GA_RANK_OPEN, GA_RANK_SUM, GA_RANK_CLOSE, GA_RANK_ABORT };

struct ga_rank {
    struct ga_team *team;
    int number;
    size_t place;
    pthread_t thread;
    struct ncclComm *comm; /* job; NULL: none yet, or none any more */
    struct CUevent_st
        *arrived; /* job: behind what the card had to do before the sum; NULL: none yet */
    struct CUevent_st *before;                 /* job: `arrived`, or a mark that says the same */
    void *buffer;                              /* job: of the sum */
    const void *from;                          /* job: likewise */
    struct ga_team_piece piece[GA_NET_LAYERS]; /* job: likewise, (sum.pieces) */
    struct CUstream_st *stream;                /* job: likewise */
    bool runs;                                 /* its thread was started */
    bool busy;                                 /* with the job that was asked for last */
    bool leaving;      /* it is closed or aborted, and has no use for its stream */
    bool given_up;     /* by the owner, while it was busy and not leaving */
    bool there;        /* what the card had to do before the sum is done */
    int failed;        /* what NCCL says went wrong in the background; 0: nothing */
    enum ga_code code; /* another failure, with its text; GA_OK: none */
    char text[GA_ERROR_TEXT];
};

struct ga_team {
    pthread_mutex_t lock;
    pthread_cond_t asked; /* there is a job */
    pthread_cond_t told;  /* a rank is through, or failed; by CLOCK_MONOTONIC */
    size_t users;         /* the owner and the threads */
    uint64_t jobs;        /* asked for so far */
    enum ga_rank_job job; /* the last one */
    char id[GA_RANK_ID_BYTES];
    struct ga_team_sum sum; /* of the job; its arrays are not looked at any more */
    atomic_bool stop;       /* whoever waits for NCCL looks once more, and gives up */
    bool aborted;
    size_t count;
    struct ga_rank rank[GA_CUDA_PLACES];
};

/* GA_OK for what is no failure of a non-blocking call, by its ncclResult_t. */
int ga_rank_check(int result, const char *what);

/* Starts the thread of a rank; it is one of the team's users from then on. */
int ga_rank_start(struct ga_rank *rank);

/* With the lock held; unlocks, and frees the team behind its last user. */
void ga_team_leave(struct ga_team *team);

#endif
