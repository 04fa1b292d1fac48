/*
 * NCCL between cards of this process: one rank on each card, all of them driven by the calling
 * thread in groups. Communicators do not block: each call is polled until it is done, fails, or has
 * taken longer than GA_CUDA_DEADLINE allows (compute/cuda/device.h); then all ranks are aborted and
 * the error names the cards that were not done. A build without NCCL has the same functions, which
 * say so.
 *
 * Threads: one at a time for a team.
 */
#ifndef GA_COLLECTIVE_NCCL_COMM_H
#define GA_COLLECTIVE_NCCL_COMM_H

#include <stdbool.h>
#include <stddef.h>

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

/*
 * Sums `count` elements over the ranks: buffer[i] on rank i's card, worked on in stream[i]. With a
 * root the sum is that rank's alone, else every rank's; in place. Ends when all is done. After a
 * failure the team is of no use.
 */
int ga_team_sum(struct ga_team *team, void *const *buffer, size_t root, size_t count,
                enum ga_type type, struct CUstream_st *const *stream);
#define GA_TEAM_ALL ((size_t)-1)

#endif
