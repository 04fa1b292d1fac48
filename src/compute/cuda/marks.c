#include "compute/cuda/marks.h"

#include <cuda_runtime_api.h>

#include "compute/cuda/device.h"
#include "compute/cuda/exact_launch.h"

int ga_cuda_marks_aim(struct ga_cuda_marks *marks, const struct ga_net *net,
                      const struct ga_told *told, const float *sums, size_t place)
{
    int code = GA_OK;
    marks->told = told;
    marks->sums = sums;
    for (size_t k = 0; code == GA_OK && told && k < net->layers; k++)
        if (!marks->event[k])
            code = ga_cuda_check(
                (int)cudaEventCreateWithFlags(&marks->event[k], cudaEventDisableTiming), place,
                "opening an event");
    if (code < 0)
        marks->told = NULL;
    return code;
}

void ga_cuda_marks_begin(struct ga_cuda_marks *marks, const struct ga_net *net)
{
    marks->left = marks->told ? net->layers : 0;
}

/* Where a layer's tensors begin. */
static size_t begin_of(const struct ga_net *net, size_t k)
{
    return net->bias && net->bias_at[k] < net->weight_at[k] ? net->bias_at[k] : net->weight_at[k];
}

static size_t end_of(const struct ga_net *net, size_t k)
{
    return k + 1 < net->layers ? begin_of(net, k + 1) : net->parameters;
}

static int record(struct CUevent_st *event, struct CUstream_st *stream, size_t place)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    int code = ga_cuda_check((int)cudaStreamIsCapturing(stream, &status), place, "marking sums");
    if (code < 0)
        return code;
    return ga_cuda_check((int)cudaEventRecordWithFlags(event, stream,
                                                       status == cudaStreamCaptureStatusActive
                                                           ? cudaEventRecordExternal
                                                           : cudaEventRecordDefault),
                         place, "marking sums");
}

/* total = onto + the batch's own, in that order, as adding to the accumulator has it. */
static int add_up(const struct ga_cuda_marks *marks, size_t first, size_t count,
                  struct CUstream_st *stream, size_t place)
{
    const struct ga_told *told = marks->told;
    float *total = told->total;
    const struct ga_k_add_float k = {
        .threads = count, .to = total + first, .from = marks->sums + first};
    const int code =
        ga_cuda_check((int)cudaMemcpyAsync(total + first, (const float *)told->onto + first,
                                           count * sizeof *total, cudaMemcpyDeviceToDevice, stream),
                      place, "joining sums");
    return code == GA_OK ? ga_cuda_check(ga_launch_add_float(&k, stream), place, "joining sums")
                         : code;
}

int ga_cuda_marks_layer(struct ga_cuda_marks *marks, const struct ga_net *net, size_t k,
                        struct CUstream_st *stream, size_t place)
{
    const size_t first = begin_of(net, k);
    int code = GA_OK;
    if (marks->left != k + 1)
        return GA_OK;
    if (marks->told->onto)
        code = add_up(marks, first, end_of(net, k) - first, stream, place);
    if (code == GA_OK)
        code = record(marks->event[k], stream, place);
    marks->left = k;
    return code;
}

int ga_cuda_marks_rest(struct ga_cuda_marks *marks, const struct ga_net *net,
                       struct CUstream_st *stream, size_t place)
{
    int code = GA_OK;
    while (code == GA_OK && marks->left > 0)
        code = ga_cuda_marks_layer(marks, net, marks->left - 1, stream, place);
    return code;
}

void ga_cuda_marks_tell(const struct ga_cuda_marks *marks, const struct ga_net *net)
{
    const struct ga_told *told = marks->told;
    for (size_t k = net->layers; told && k-- > 0;)
        told->part(told->self, begin_of(net, k), end_of(net, k) - begin_of(net, k),
                   marks->event[k]);
}

void ga_cuda_marks_fini(struct ga_cuda_marks *marks, size_t place)
{
    for (size_t k = 0; k < GA_NET_LAYERS; k++)
        if (marks->event[k] &&
            ga_cuda_check((int)cudaEventDestroy(marks->event[k]), place, "closing an event") < 0)
            ga_cuda_note();
    *marks = (struct ga_cuda_marks){.told = NULL};
}
