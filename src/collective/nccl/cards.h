/*
 * Collectives between replicas whose buffers lie on cards, for the CUDA module. Buffers of one card
 * are added there by our own kernel, in rank order; then the cards' sums meet. NCCL takes one rank
 * on each card only, so it joins cards, never replicas.
 */
#ifndef GA_COLLECTIVE_NCCL_CARDS_H
#define GA_COLLECTIVE_NCCL_CARDS_H

#include "collective/collective.h"

extern const struct ga_collective ga_collective_cards;

#endif
