/*
 * Marks in a stream, by which others learn when a layer's part of a gradient is there, for the fast
 * device: an event for each layer, recorded behind the layer's sums. Within a capture a plain
 * record would tie the event to the capture, and waiting for it elsewhere would be an error; so
 * there it is an external one (cudaEventRecordExternal), a node of the graph, and "each launch of
 * the graph will record event" (cudaGraphAddEventRecordNode).
 *
 * Threads: one at a time for each.
 */
#ifndef GA_COMPUTE_CUDA_MARKS_H
#define GA_COMPUTE_CUDA_MARKS_H

#include "compute/compute.h"

struct CUevent_st;
struct CUstream_st;

struct ga_cuda_marks {
    const struct ga_told *told; /* NULL: nobody is */
    const float *sums;          /* the batch's own */
    size_t left;                /* layers whose part is not queued yet: [0, left) */
    struct CUevent_st *event[GA_NET_LAYERS];
};

/* For the gradient that comes next; makes the events where they are needed. The card is the
 * thread's. */
int ga_cuda_marks_aim(struct ga_cuda_marks *marks, const struct ga_net *net,
                      const struct ga_told *told, const float *sums, size_t place);

/* While work is queued: before it; behind layer k's sums, from the last layer down; and behind all
 * of it, for layers that were not marked one by one. */
void ga_cuda_marks_begin(struct ga_cuda_marks *marks, const struct ga_net *net);
int ga_cuda_marks_layer(struct ga_cuda_marks *marks, const struct ga_net *net, size_t k,
                        struct CUstream_st *stream, size_t place);
int ga_cuda_marks_rest(struct ga_cuda_marks *marks, const struct ga_net *net,
                       struct CUstream_st *stream, size_t place);

/* When all is queued. */
void ga_cuda_marks_tell(const struct ga_cuda_marks *marks, const struct ga_net *net);

void ga_cuda_marks_fini(struct ga_cuda_marks *marks, size_t place);

#endif
