#include "compute/cuda/stopwatch.h"

#include <cuda_runtime_api.h>

#include "compute/cuda/device.h"

static int open_event(struct CUevent_st **event, size_t place)
{
    return *event ? GA_OK
                  : ga_cuda_check((int)cudaEventCreateWithFlags(event, cudaEventDefault), place,
                                  "opening an event");
}

int ga_cuda_stopwatch_begin(struct ga_cuda_stopwatch *watch, struct CUstream_st *stream,
                            size_t place)
{
    int code = open_event(&watch->begun, place);
    if (code == GA_OK)
        code = open_event(&watch->ended, place);
    return code == GA_OK
               ? ga_cuda_check((int)cudaEventRecord(watch->begun, stream), place, "taking the time")
               : code;
}

int ga_cuda_stopwatch_end(const struct ga_cuda_stopwatch *watch, struct CUstream_st *stream,
                          size_t place)
{
    return ga_cuda_check((int)cudaEventRecord(watch->ended, stream), place, "taking the time");
}

int ga_cuda_stopwatch_read(const struct ga_cuda_stopwatch *watch, size_t place, double *seconds)
{
    float milliseconds = 0;
    const int code =
        ga_cuda_check((int)cudaEventElapsedTime(&milliseconds, watch->begun, watch->ended), place,
                      "taking the time");
    *seconds = (double)milliseconds / 1000;
    return code;
}

void ga_cuda_stopwatch_fini(struct ga_cuda_stopwatch *watch, size_t place)
{
    struct CUevent_st *const events[] = {watch->begun, watch->ended};
    for (size_t i = 0; i < 2; i++)
        if (events[i] &&
            ga_cuda_check((int)cudaEventDestroy(events[i]), place, "closing an event") < 0)
            ga_cuda_note();
    *watch = (struct ga_cuda_stopwatch){NULL, NULL};
}
