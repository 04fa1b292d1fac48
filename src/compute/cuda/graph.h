/*
 * A stretch of a stream's work that comes again and again, as CUDA graphs: done plainly the first
 * time, captured the second time with all its addresses and numbers, and from then on started as a
 * whole. A key says what the work depends on; whatever differs makes another graph, and the one
 * used least recently goes when there are too many.
 *
 * GA_CUDA_GRAPHS=0 in the environment does without. A card that cannot capture does without, too:
 * the work is the same. Threads: one at a time for each.
 */
#ifndef GA_COMPUTE_CUDA_GRAPH_H
#define GA_COMPUTE_CUDA_GRAPH_H

#include <stddef.h>

struct CUstream_st;
struct ga_cuda_graphs; /* opaque, of one stream */

#define GA_CUDA_GRAPHS 32 /* kept */

/* Members of one type, so that all of it can be compared at once; what each means is the caller's.
 */
struct ga_cuda_graph_key {
    size_t count, weighted, add; /* examples, whether they have weights, into = or += */
    size_t sums, device, host;   /* addresses */
    size_t onto, total;          /* addresses, where somebody is told of parts */
};

/* Queues the work: nothing but what a capture allows, the same for equal keys. */
typedef int ga_cuda_work(void *self);

/* Starts the work on its stream. *graphs is made when it is NULL. */
int ga_cuda_graphs_run(struct ga_cuda_graphs **graphs, const struct ga_cuda_graph_key *key,
                       struct CUstream_st *stream, size_t place, ga_cuda_work *work, void *self);
void ga_cuda_graphs_close(struct ga_cuda_graphs *graphs, size_t place); /* NULL is fine */

#endif
