/* Streams and events. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake.h"

static cudaError_t open_stream(struct fake *fake, cudaStream_t *out)
{
    int number = 1;
    while (number < FAKE_STREAMS && fake->stream[number])
        number++;
    *out = number < FAKE_STREAMS && !fake->gone ? calloc(1, sizeof **out) : NULL;
    if (!*out)
        return fake->gone ? cudaErrorDevicesUnavailable : cudaErrorMemoryAllocation;
    **out = (struct CUstream_st){.number = number, .device = fake_current()};
    fake->stream[number] = *out;
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags)
{
    struct fake *fake = fake_enter();
    (void)flags;
    return fake_leave(fake, open_stream(fake, out));
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    struct fake *fake = fake_enter();
    if (stream->number >= FAKE_STREAMS || fake->stream[stream->number] != stream)
        return fake_leave(fake, cudaErrorInvalidResourceHandle);
    if (stream->capture)
        return fake_leave(fake, fake_waits(stream));
    fake->stream[stream->number] = NULL;
    free(stream);
    return fake_leave(fake, fake->gone ? cudaErrorDevicesUnavailable : cudaSuccess);
}

static cudaError_t ask(struct fake *fake, bool hangs, const uint64_t *clock)
{
    if (fake->deaf > 0 && fake->deaf--)
        return cudaSuccess;
    if (fake->gone)
        return cudaErrorDevicesUnavailable;
    return hangs ? cudaErrorNotReady : fake_host_knows(fake, clock);
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    struct fake *fake = fake_enter();
    if (stream->capture)
        return fake_leave(fake, fake_waits(stream));
    return fake_leave(fake, ask(fake, stream->hangs || stream->waits, fake->clock[stream->number]));
}

/* Nobody waits for what never ends: the real call would not return. */
cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    struct fake *fake = fake_enter();
    if (stream->capture)
        return fake_leave(fake, fake_waits(stream));
    const cudaError_t code = ask(fake, stream->hangs || stream->waits, fake->clock[stream->number]);
    if (code != cudaErrorNotReady)
        return fake_leave(fake, code);
    return fake_leave(fake, fake_fault(fake, "waiting without a deadline for a stream that hangs"));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
    struct fake *fake = fake_enter();
    *out = calloc(1, sizeof **out);
    if (*out) {
        (*out)->stream = -1;
        (*out)->untimed = (flags & cudaEventDisableTiming) != 0;
    }
    return fake_leave(fake, *out ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    free(event);
    return cudaSuccess;
}

static cudaError_t record(struct fake *fake, cudaEvent_t event, cudaStream_t stream)
{
    const cudaError_t code = fake_begin(fake, stream);
    struct timespec now;
    if (code == cudaSuccess) {
        memcpy(event->clock, fake->clock[stream->number], sizeof event->clock);
        event->stream = stream->number;
        event->hangs = stream->hangs || stream->waits;
        clock_gettime(CLOCK_MONOTONIC, &now);
        event->at_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    }
    return code;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    struct fake *fake = fake_enter();
    if (fake_note_record(event, stream))
        return fake_leave(fake, cudaSuccess);
    return fake_leave(fake, record(fake, event, stream));
}

static cudaError_t record_again(struct fake *fake, const void *data, cudaStream_t stream)
{
    cudaEvent_t event = NULL;
    memcpy(&event, data, sizeof event);
    return record(fake, event, stream);
}

/* An external record is a node of the graph, and nothing else. */
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    struct fake *fake = NULL;
    cudaError_t code = cudaSuccess;
    if (flags != cudaEventRecordExternal)
        return cudaEventRecord(event, stream);
    fake = fake_enter();
    event->capture = 0;
    if (!fake_note(stream, record_again, &event, sizeof event, &code))
        code = cudaErrorIllegalState;
    return fake_leave(fake, code);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    struct fake *fake = fake_enter();
    if (event->capture)
        return fake_leave(fake, cudaErrorCapturedEvent);
    return fake_leave(fake,
                      event->stream < 0 ? cudaSuccess : ask(fake, event->hangs, event->clock));
}

/* Whatever ran in between was done at once, by the host. */
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begun, cudaEvent_t ended)
{
    struct fake *fake = fake_enter();
    cudaError_t code = cudaSuccess;
    if (begun->untimed || ended->untimed || begun->stream < 0 || ended->stream < 0)
        return fake_leave(fake, cudaErrorInvalidResourceHandle);
    code = ask(fake, begun->hangs || ended->hangs, ended->clock);
    *milliseconds = (float)((double)(ended->at_ns - begun->at_ns) / 1e6);
    return fake_leave(fake, code);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    struct fake *fake = fake_enter();
    cudaError_t code = cudaSuccess;
    (void)flags;
    if (fake_note_wait(stream, event, &code))
        return fake_leave(fake, code);
    if (event->stream < 0)
        return fake_leave(fake, fake_fault(fake, "a stream waits for an event nobody recorded"));
    fake_join(fake->clock[stream->number], event->clock);
    stream->hangs = stream->hangs || event->hangs;
    return fake_leave(fake, cudaSuccess);
}
