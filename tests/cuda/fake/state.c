/* What the fake keeps, faults, and the order of things. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

static struct fake all = {.lock = PTHREAD_MUTEX_INITIALIZER, .resumed = PTHREAD_COND_INITIALIZER};
static _Thread_local cudaError_t last;

static void set_word(struct fake *fake, const char *word)
{
    const struct {
        const char *name;
        long *count;
    } counts[] = {{"oom=", &fake->oom},       {"lost=", &fake->lost},       {"hang=", &fake->hang},
                  {"absent=", &fake->absent}, {"unfused=", &fake->unfused}, {"deaf=", &fake->deaf},
                  {"async=", &fake->async},   {"stuck=", &fake->stuck},     {"jam=", &fake->jam},
                  {"crew=", &fake->crew}};
    if (strncmp(word, "devices=", 8) == 0)
        fake->devices = (int)strtol(word + 8, NULL, 10);
    if (strncmp(word, "memory=", 7) == 0)
        fake->memory = strtoul(word + 7, NULL, 10);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (strncmp(word, counts[i].name, strlen(counts[i].name)) == 0)
            *counts[i].count = strtol(word + strlen(counts[i].name), NULL, 10);
    for (int i = 0; strcmp(word, "resume") == 0 && i < FAKE_STREAMS; i++)
        if (fake->stream[i])
            fake->stream[i]->hangs = false;
    pthread_cond_broadcast(&fake->resumed);
}

static void set_words(struct fake *fake, const char *words)
{
    char copy[256];
    char *rest = copy;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        set_word(fake, word);
}

struct fake *fake_enter(void)
{
    pthread_mutex_lock(&all.lock);
    if (!all.ready) {
        all.ready = true;
        all.devices = 1;
        all.memory = (size_t)64 << 20;
        all.oom = all.lost = all.hang = all.absent = all.async = all.stuck = all.jam = -1;
        if (getenv("GA_FAKE_CUDA"))
            set_words(&all, getenv("GA_FAKE_CUDA"));
    }
    return &all;
}

cudaError_t fake_leave(struct fake *fake, cudaError_t code)
{
    pthread_mutex_unlock(&fake->lock);
    if (code != cudaSuccess && code != cudaErrorNotReady)
        last = code;
    return code;
}

cudaError_t cudaGetLastError(void)
{
    const cudaError_t code = last;
    last = cudaSuccess;
    return code;
}

cudaError_t cudaPeekAtLastError(void)
{
    return last;
}

cudaError_t fake_fault(struct fake *fake, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (fake->faults++ == 0)
        vsnprintf(fake->text, sizeof fake->text, format, arguments);
    va_end(arguments);
    return cudaErrorAssert;
}

static bool hangs(const struct fake *fake, int device)
{
    bool found = false;
    for (int i = 0; !found && i < FAKE_STREAMS; i++)
        found = fake->stream[i] && fake->stream[i]->device == device && fake->stream[i]->hangs;
    return found;
}

void fake_wait_for(struct fake *fake, int device)
{
    while (hangs(fake, device))
        pthread_cond_wait(&fake->resumed, &fake->lock);
}

void fake_set(const char *words)
{
    struct fake *fake = fake_enter();
    set_words(fake, words);
    fake_leave(fake, cudaSuccess);
}

size_t fake_faults(const char **text)
{
    struct fake *fake = fake_enter();
    const size_t faults = fake->faults;
    if (text)
        *text = fake->text;
    fake->faults = 0;
    fake_leave(fake, cudaSuccess);
    return faults;
}

size_t fake_faulty(void)
{
    struct fake *fake = fake_enter();
    const size_t faults = fake->faults;
    fake_leave(fake, cudaSuccess);
    return faults;
}

bool fake_unfused(void)
{
    return all.unfused != 0;
}

size_t fake_text(const char **text)
{
    *text = all.text;
    return all.faults;
}

size_t fake_under_way(void)
{
    struct fake *fake = fake_enter();
    size_t streams = 0;
    for (int s = 0; s < FAKE_STREAMS; s++)
        streams += fake->stream[s] && fake->host[s] < fake->count[s];
    fake_leave(fake, cudaSuccess);
    return streams;
}

size_t fake_used(int device)
{
    struct fake *fake = fake_enter();
    const size_t used = fake->used[device];
    fake_leave(fake, cudaSuccess);
    return used;
}

static const struct {
    cudaError_t code;
    const char *name, *text;
} errors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorDevicesUnavailable, "cudaErrorDevicesUnavailable",
     "CUDA-capable device(s) is/are busy or unavailable"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined",
     "capturing stream has unjoined work"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
};

const char *cudaGetErrorName(cudaError_t code)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].code == code)
            return errors[i].name;
    return code == cudaErrorAssert ? "cudaErrorAssert" : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t code)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].code == code)
            return errors[i].text;
    return code == cudaErrorAssert ? all.text : "unrecognized error code";
}

void fake_join(uint64_t *clock, const uint64_t *other)
{
    for (int s = 0; s < FAKE_STREAMS; s++)
        clock[s] = other[s] > clock[s] ? other[s] : clock[s];
}

cudaError_t fake_begin(struct fake *fake, cudaStream_t stream)
{
    if (!stream)
        return fake_fault(fake, "work on the default stream: expected a stream of one's own");
    if (fake->lost > 0 && --fake->lost == 0)
        fake->gone = true;
    if (fake->gone)
        return cudaErrorDevicesUnavailable;
    if ((fake->hang > 0 && --fake->hang == 0) || fake->stuck == stream->device)
        stream->hangs = true;
    fake_join(fake->clock[stream->number], fake->host);
    fake->clock[stream->number][stream->number] = ++fake->count[stream->number];
    return cudaSuccess;
}

/* Accesses that the host knows to be over concern nobody any more. */
static void forget(struct fake *fake, struct fake_block *block)
{
    struct fake_access **at = &block->access;
    while (*at) {
        struct fake_access *access = *at;
        if (fake->host[access->stream] < access->at) {
            at = &access->next;
            continue;
        }
        *at = access->next;
        free(access);
    }
}

cudaError_t fake_touch(struct fake *fake, cudaStream_t stream, struct fake_block *block,
                       size_t offset, size_t bytes, bool write, const char *who)
{
    const uint64_t *clock = fake->clock[stream->number];
    struct fake_access *access = NULL;
    forget(fake, block);
    for (access = block->access; access; access = access->next) {
        const bool apart = access->end <= offset || offset + bytes <= access->begin;
        if (!apart && (write || access->write) && clock[access->stream] < access->at)
            return fake_fault(fake,
                              "%s %s bytes that stream %d %s, and nothing orders the two: a wait "
                              "is missing",
                              who, write ? "writes" : "reads", access->stream,
                              access->write ? "writes" : "reads");
    }
    access = calloc(1, sizeof *access);
    if (!access)
        return cudaErrorMemoryAllocation;
    *access = (struct fake_access){offset, offset + bytes, stream->number, clock[stream->number],
                                   write,  block->access};
    block->access = access;
    return cudaSuccess;
}

uint64_t fake_sum(const char *bytes, size_t count)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < count; i++)
        sum = (sum ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static cudaError_t arrive(struct fake *fake, struct fake_copy *copy)
{
    cudaError_t code = cudaSuccess;
    if (copy->data)
        memcpy(copy->host, copy->data, copy->bytes);
    else if (fake_sum(copy->host, copy->bytes) != copy->sum)
        code =
            fake_fault(fake, "pinned memory changed while stream %d was to read it", copy->stream);
    free(copy->data);
    free(copy);
    return code;
}

cudaError_t fake_host_knows(struct fake *fake, const uint64_t *clock)
{
    struct fake_copy **at = &fake->copy;
    cudaError_t code = cudaSuccess;
    fake_join(fake->host, clock);
    while (*at) {
        struct fake_copy *copy = *at;
        if (fake->host[copy->stream] < copy->at) {
            at = &copy->next;
            continue;
        }
        *at = copy->next;
        if (arrive(fake, copy) != cudaSuccess)
            code = cudaErrorAssert;
    }
    return code;
}
