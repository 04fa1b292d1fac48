/*
 * Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random
 * numbers: as easy as 1, 2, 3", SC 2011; Random123 supplies the rounds).
 *
 * key = seed (low, high); counter = (index low, index high, replica, purpose). A draw depends on
 * these four and on nothing else: adding a replica or stepping back disturbs no other draw.
 */
#ifndef GA_BASE_RANDOM_H
#define GA_BASE_RANDOM_H

#include <stdint.h>

/* What a draw is for, and what its index means. */
enum ga_purpose {
    GA_DRAW_INIT = 1,    /* parameter, in file order */
    GA_DRAW_SHUFFLE = 2, /* position; replica = 0, the stream mixes the epoch into the seed */
    GA_DRAW_JITTER = 3,  /* item number k of the replica */
    GA_DRAW_NOISE = 4,   /* example */
    GA_DRAW_SPLIT = 5,   /* position; choice of held-out rows */
    GA_DRAW_PROBE = 6    /* parameter; where a power iteration starts */
};

void ga_draw(uint64_t seed, uint64_t index, uint32_t replica, enum ga_purpose purpose,
             uint32_t out[4]);

/* (0, 1): (u + 0.5) / 2^32, never 0 or 1. */
double ga_uniform(uint32_t u);

/* N(0, 1) by Box and Muller's transform of the draw's first two words, with exact_double.h: the
 * same bits everywhere, |z| < 6.8. */
double ga_normal(uint64_t seed, uint64_t index, uint32_t replica, enum ga_purpose purpose);

#endif
