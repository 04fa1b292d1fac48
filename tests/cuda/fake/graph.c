/*
 * Graphs: what is given to a stream that captures is not done but noted, with the arguments it was
 * given, and done when the graph is started. Rules of the real runtime that are held: nothing that
 * waits or allocates while the thread captures, other streams join by an event of the capture and
 * must be waited for before it ends, and it ends where it began, on the same thread. A graph's work
 * is done in the order it was noted, on the stream that it is started on.
 */
#include <stdlib.h>
#include <string.h>

#include "fake.h"

struct node {
    fake_replay *replay;
    void *data;
    struct node *next;
};

struct CUgraph_st {
    struct node *first, **end;
    size_t users; /* the graph itself, and what was made of it */
};

struct CUgraphExec_st {
    struct CUgraph_st *graph;
};

struct fake_capture {
    struct CUgraph_st *graph;
    cudaStream_t stream[FAKE_FORKS];        /* the first one is where it began */
    uint64_t known[FAKE_FORKS][FAKE_FORKS]; /* by stream: how much of each comes before */
    int streams;
    uint64_t number;
    bool spoiled;
};

static _Thread_local struct fake_capture *here; /* what this thread captures */

static void release(struct CUgraph_st *graph)
{
    if (--graph->users > 0)
        return;
    while (graph->first) {
        struct node *next = graph->first->next;
        free(graph->first->data);
        free(graph->first);
        graph->first = next;
    }
    free(graph);
}

static cudaError_t begin(struct fake *fake, cudaStream_t stream)
{
    struct fake_capture *capture = NULL;
    if (!stream)
        return fake_fault(fake, "a capture of the default stream: expected one of one's own");
    if (stream->capture || here)
        return cudaErrorIllegalState;
    capture = calloc(1, sizeof *capture);
    if (capture)
        capture->graph = calloc(1, sizeof *capture->graph);
    if (!capture || !capture->graph) {
        free(capture);
        return cudaErrorMemoryAllocation;
    }
    capture->graph->users = 1;
    capture->graph->end = &capture->graph->first;
    capture->stream[0] = stream;
    capture->streams = 1;
    capture->number = ++fake->captures;
    stream->capture = here = capture;
    stream->lane = 0;
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    struct fake *fake = fake_enter();
    (void)mode;
    return fake_leave(fake, begin(fake, stream));
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    struct fake *fake = fake_enter();
    *status = stream->capture ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return fake_leave(fake, cudaSuccess);
}

/* Whether all that other streams were given comes before the end. */
static bool joined(const struct fake_capture *capture)
{
    for (int lane = 1; lane < capture->streams; lane++)
        if (capture->known[0][lane] < capture->known[lane][lane])
            return false;
    return true;
}

static cudaError_t end(cudaStream_t stream, cudaGraph_t *out)
{
    struct fake_capture *capture = stream->capture;
    cudaError_t code = cudaSuccess;
    *out = NULL;
    if (!capture || stream->lane != 0)
        return capture ? cudaErrorStreamCaptureUnmatched : cudaErrorIllegalState;
    if (capture != here)
        return cudaErrorStreamCaptureWrongThread;
    if (capture->spoiled)
        code = cudaErrorStreamCaptureInvalidated;
    else if (!joined(capture))
        code = cudaErrorStreamCaptureUnjoined;
    for (int lane = 0; lane < capture->streams; lane++)
        capture->stream[lane]->capture = NULL;
    here = NULL;
    if (code == cudaSuccess)
        *out = capture->graph;
    else
        release(capture->graph);
    free(capture);
    return code;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *out)
{
    struct fake *fake = fake_enter();
    return fake_leave(fake, end(stream, out));
}

bool fake_note(cudaStream_t stream, fake_replay *replay, const void *data, size_t bytes,
               cudaError_t *code)
{
    struct fake_capture *capture = stream ? stream->capture : NULL;
    struct node *node = NULL;
    if (!capture)
        return false;
    node = calloc(1, sizeof *node);
    if (node)
        node->data = malloc(bytes);
    *code = node && node->data ? cudaSuccess : cudaErrorMemoryAllocation;
    if (*code != cudaSuccess) {
        free(node);
        capture->spoiled = true;
        return true;
    }
    memcpy(node->data, data, bytes);
    node->replay = replay;
    *capture->graph->end = node;
    capture->graph->end = &node->next;
    capture->known[stream->lane][stream->lane]++;
    return true;
}

cudaError_t fake_waits(const struct CUstream_st *stream)
{
    struct fake_capture *capture = stream ? stream->capture : here;
    if (!capture)
        return cudaSuccess;
    capture->spoiled = true;
    return cudaErrorStreamCaptureUnsupported;
}

bool fake_note_record(cudaEvent_t event, cudaStream_t stream)
{
    event->capture = 0;
    if (!stream || !stream->capture)
        return false;
    event->capture = stream->capture->number;
    memcpy(event->known, stream->capture->known[stream->lane], sizeof event->known);
    return true;
}

static cudaError_t join(cudaStream_t stream, const struct fake_capture *capture)
{
    struct fake_capture *own = here;
    if (!own || own != capture || own->streams == FAKE_FORKS)
        return cudaErrorStreamCaptureIsolation;
    stream->capture = own;
    stream->lane = own->streams++;
    own->stream[stream->lane] = stream;
    return cudaSuccess;
}

bool fake_note_wait(cudaStream_t stream, cudaEvent_t event, cudaError_t *code)
{
    const bool ours = here && event->capture == here->number;
    *code = cudaSuccess;
    if (event->capture == 0 && !(stream && stream->capture))
        return false;
    if (!ours)
        *code = event->capture ? cudaErrorCapturedEvent : cudaErrorStreamCaptureIsolation;
    else if (!stream->capture)
        *code = join(stream, here);
    if (*code == cudaSuccess)
        for (int lane = 0; lane < FAKE_FORKS; lane++)
            if (here->known[stream->lane][lane] < event->known[lane])
                here->known[stream->lane][lane] = event->known[lane];
    return true;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *out, cudaGraph_t graph,
                                          unsigned long long flags)
{
    struct fake *fake = fake_enter();
    (void)flags;
    *out = calloc(1, sizeof **out);
    if (*out) {
        (*out)->graph = graph;
        graph->users++;
    }
    return fake_leave(fake, *out ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    struct fake *fake = fake_enter();
    release(graph);
    return fake_leave(fake, cudaSuccess);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph)
{
    struct fake *fake = fake_enter();
    release(graph->graph);
    free(graph);
    return fake_leave(fake, cudaSuccess);
}

static cudaError_t start(struct fake *fake, cudaGraphExec_t graph, cudaStream_t stream)
{
    cudaError_t code = cudaSuccess;
    if (!stream)
        return fake_fault(fake, "a graph on the default stream: expected one of one's own");
    if (stream->capture)
        return fake_waits(stream);
    for (struct node *node = graph->graph->first; node && code == cudaSuccess; node = node->next)
        code = node->replay(fake, node->data, stream);
    fake->launches++;
    return code;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream)
{
    struct fake *fake = fake_enter();
    return fake_leave(fake, start(fake, graph, stream));
}

size_t fake_launches(void)
{
    struct fake *fake = fake_enter();
    const size_t launches = fake->launches;
    fake_leave(fake, cudaSuccess);
    return launches;
}
