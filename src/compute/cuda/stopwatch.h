/*
 * How long a stretch of a stream's work takes on the card: two events around it that note the time,
 * made when they are first wanted. Threads: one at a time for each.
 */
#ifndef GA_COMPUTE_CUDA_STOPWATCH_H
#define GA_COMPUTE_CUDA_STOPWATCH_H

#include <stddef.h>

struct CUevent_st;
struct CUstream_st;

struct ga_cuda_stopwatch {
    struct CUevent_st *begun, *ended;
};

/* Before and behind the stretch. The card is the thread's. */
int ga_cuda_stopwatch_begin(struct ga_cuda_stopwatch *watch, struct CUstream_st *stream,
                            size_t place);
int ga_cuda_stopwatch_end(const struct ga_cuda_stopwatch *watch, struct CUstream_st *stream,
                          size_t place);
/* When the stream is done. */
int ga_cuda_stopwatch_read(const struct ga_cuda_stopwatch *watch, size_t place, double *seconds);
void ga_cuda_stopwatch_fini(struct ga_cuda_stopwatch *watch, size_t place);

#endif
