#include "compute/cuda/device.h"

#include <cuda_runtime_api.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compute/cuda/account.h"
#include "compute/cuda/held.h"

/* All that the module keeps: the host's table, the first failure, a desk for each card. */
struct keep {
    const struct ga_host *host;
    pthread_mutex_t lock; /* of what follows */
    bool failed;
    enum ga_code code;
    char text[GA_ERROR_TEXT];
    atomic_bool lost[GA_CUDA_PLACES];         /* set under the lock, read without it */
    struct CUstream_st *late[GA_CUDA_PLACES]; /* of a lost card: what did not end */
    const char *what[GA_CUDA_PLACES];         /* and what that is for people */
    size_t calls[GA_CUDA_PLACES];             /* of a lost card: that have not returned */
    bool ready[GA_CUDA_PLACES];               /* the desk has its lock and its stream */
    struct ga_cuda_desk desk[GA_CUDA_PLACES];
};

static struct keep *keep(void)
{
    static struct keep all = {.lock = PTHREAD_MUTEX_INITIALIZER};
    return &all;
}

const struct ga_host *ga_cuda_host(void)
{
    return keep()->host;
}

void ga_cuda_set_host(const struct ga_host *host)
{
    keep()->host = host;
}

static enum ga_code code_of(cudaError_t error)
{
    if (error == cudaErrorMemoryAllocation)
        return GA_ENOMEM;
    if (error == cudaErrorInsufficientDriver || error == cudaErrorNoDevice ||
        error == cudaErrorInitializationError || error == cudaErrorSystemDriverMismatch)
        return GA_EUNSUPPORTED;
    return GA_EIO;
}

/* After these nothing works on any card until the process ends, says the runtime's own header. */
static const char *advice(cudaError_t error)
{
    static const cudaError_t fatal[] = {
        cudaErrorIllegalAddress,      cudaErrorLaunchTimeout,      cudaErrorAssert,
        cudaErrorHardwareStackError,  cudaErrorIllegalInstruction, cudaErrorMisalignedAddress,
        cudaErrorInvalidAddressSpace, cudaErrorInvalidPc,          cudaErrorLaunchFailure};
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
        if (error == fatal[i])
            return "; start the program again before it uses GPUs again";
    return "";
}

int ga_cuda_check(int code, size_t place, const char *what)
{
    const cudaError_t error = (cudaError_t)code;
    if (error == cudaSuccess)
        return GA_OK;
    (void)cudaGetLastError(); /* so that a later call does not report it again */
    return ga_cuda_host()->fail(code_of(error), "cuda:%zu: %s: %s (%s, code %d)%s", place, what,
                                cudaGetErrorString(error), cudaGetErrorName(error), code,
                                advice(error));
}

int ga_cuda_places(size_t *count)
{
    int cards = 0;
    const cudaError_t error = cudaGetDeviceCount(&cards);
    *count = 0;
    if (error != cudaSuccess) {
        (void)cudaGetLastError();
        return ga_cuda_host()->fail(GA_EUNSUPPORTED, "no GPU can be used: %s (%s, code %d)",
                                    cudaGetErrorString(error), cudaGetErrorName(error), (int)error);
    }
    if (cards < 1)
        return ga_cuda_host()->fail(GA_EUNSUPPORTED, "no GPU can be used: the runtime lists none");
    *count = (size_t)cards < GA_CUDA_PLACES ? (size_t)cards : GA_CUDA_PLACES;
    return GA_OK;
}

void ga_cuda_lose(size_t place, struct CUstream_st *stream, const char *what)
{
    struct keep *all = keep();
    pthread_mutex_lock(&all->lock);
    all->late[place] = stream;
    all->what[place] = what;
    atomic_store(&all->lost[place], true);
    pthread_mutex_unlock(&all->lock);
}

void ga_cuda_lose_call(size_t place, struct CUstream_st *stream, const char *what)
{
    struct keep *all = keep();
    ga_cuda_lose(place, stream, what);
    pthread_mutex_lock(&all->lock);
    all->calls[place]++;
    pthread_mutex_unlock(&all->lock);
}

void ga_cuda_call_returned(size_t place)
{
    struct keep *all = keep();
    pthread_mutex_lock(&all->lock);
    all->calls[place]--;
    pthread_mutex_unlock(&all->lock);
}

bool ga_cuda_is_lost(size_t place)
{
    return place < GA_CUDA_PLACES && atomic_load(&keep()->lost[place]);
}

bool ga_cuda_is_one_lost(void)
{
    bool lost = false;
    for (size_t place = 0; !lost && place < GA_CUDA_PLACES; place++)
        lost = ga_cuda_is_lost(place);
    return lost;
}

void ga_cuda_revive(void)
{
    struct keep *all = keep();
    pthread_mutex_lock(&all->lock);
    all->failed = false;
    for (size_t place = 0; place < GA_CUDA_PLACES; place++)
        if (ga_cuda_is_lost(place) && all->calls[place] == 0 &&
            cudaStreamQuery(all->late[place]) != cudaErrorNotReady)
            atomic_store(&all->lost[place], false); /* where it failed the next call says how */
    (void)cudaGetLastError();
    pthread_mutex_unlock(&all->lock);
}

int ga_cuda_use(size_t place)
{
    if (ga_cuda_is_lost(place))
        return ga_cuda_host()->fail(
            GA_EIO, "cuda:%zu: %s: no answer yet; `reset` asks again, `devices` may leave it out",
            place, keep()->what[place]);
    return ga_cuda_check((int)cudaSetDevice((int)place), place, "choosing the card");
}

int ga_cuda_place_of(const void *buffer, size_t *place)
{
    struct cudaPointerAttributes attributes;
    const cudaError_t error = cudaPointerGetAttributes(&attributes, buffer);
    *place = 0;
    if (error != cudaSuccess)
        return ga_cuda_check((int)error, 0, "finding the card of a buffer");
    if (attributes.type != cudaMemoryTypeDevice || attributes.device < 0)
        return ga_cuda_host()->fail(GA_EINTERNAL,
                                    "a buffer of a GPU was expected, and this is none");
    *place = (size_t)attributes.device;
    return GA_OK;
}

#define SPIN_SECONDS 0.0002 /* most work is done by then; sleeping costs more */

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

void ga_cuda_patience_start(struct ga_cuda_patience *patience)
{
    const char *text = getenv("GA_CUDA_DEADLINE");
    const double seconds = text ? strtod(text, NULL) : 0;
    patience->limit = seconds > 0 ? seconds : 60;
    clock_gettime(CLOCK_MONOTONIC, &patience->start);
}

bool ga_cuda_patience_wait(const struct ga_cuda_patience *patience)
{
    const struct timespec nap = {0, 50000};
    const double waited = seconds_since(&patience->start);
    if (waited > SPIN_SECONDS)
        nanosleep(&nap, NULL);
    return waited < patience->limit;
}

int ga_cuda_wait(struct CUstream_st *stream, size_t place, const char *what)
{
    struct ga_cuda_patience patience;
    cudaError_t error = cudaStreamQuery(stream);
    if (error == cudaErrorNotReady)
        ga_cuda_patience_start(&patience);
    while (error == cudaErrorNotReady && ga_cuda_patience_wait(&patience))
        error = cudaStreamQuery(stream);
    if (error == cudaErrorNotReady) {
        (void)cudaGetLastError();
        ga_cuda_lose(place, stream, what);
        return ga_cuda_host()->fail(GA_EIO, "cuda:%zu: %s: no answer after %g s", place, what,
                                    patience.limit);
    }
    /* What a copy brought is the host's only after this. */
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    return ga_cuda_check((int)error, place, what);
}

void ga_cuda_stream_close(struct CUstream_st *stream, size_t place)
{
    if (!stream || ga_cuda_is_lost(place))
        return;
    if (ga_cuda_use(place) < 0 ||
        ga_cuda_check((int)cudaStreamDestroy(stream), place, "closing a stream") < 0)
        ga_cuda_note();
}

static int no_room(cudaError_t error, size_t place, size_t bytes)
{
    size_t available = 0;
    size_t total = 0;
    (void)cudaGetLastError();
    if (error != cudaErrorMemoryAllocation || cudaMemGetInfo(&available, &total) != cudaSuccess)
        return ga_cuda_check((int)error, place, "allocating memory");
    return ga_cuda_host()->fail(
        GA_ENOMEM, "cuda:%zu: no room for %zu bytes: %zu of %zu are free (%s, code %d)", place,
        bytes, available, total, cudaGetErrorName(error), (int)error);
}

bool ga_cuda_fits(size_t bytes)
{
    size_t available = 0;
    size_t total = 0;
    if (cudaMemGetInfo(&available, &total) == cudaSuccess)
        return bytes <= available;
    (void)cudaGetLastError();
    return true; /* the allocation tells what is wrong */
}

void *ga_cuda_take(size_t bytes, size_t place, enum ga_device_use use)
{
    void *buffer = NULL;
    cudaError_t error = cudaMalloc(&buffer, bytes);
    if (error == cudaErrorMemoryAllocation && !ga_cuda_fits(bytes)) {
        (void)cudaGetLastError();
        ga_cuda_give_way(bytes, place);
        error = cudaMalloc(&buffer, bytes);
    }
    if (error != cudaSuccess) {
        no_room(error, place, bytes);
        return NULL;
    }
    if (ga_cuda_account(buffer, bytes, place, use))
        return buffer;
    (void)cudaFree(buffer);
    return NULL;
}

void *ga_cuda_alloc(size_t bytes, size_t place)
{
    struct ga_cuda_desk *desk = ga_cuda_desk_take(place);
    const size_t size = bytes > 0 ? bytes : 1;
    void *buffer = NULL;
    if (!desk)
        return NULL;
    buffer = ga_cuda_take(size, place, GA_USE_SUMS);
    if (buffer && (ga_cuda_check((int)cudaMemsetAsync(buffer, 0, size, desk->stream), place,
                                 "clearing memory") < 0 ||
                   ga_cuda_wait(desk->stream, place, "clearing memory") < 0)) {
        ga_cuda_free(buffer);
        buffer = NULL;
    }
    ga_cuda_desk_leave(desk);
    return buffer;
}

static int copy(void *to, const void *from, size_t bytes, const void *on, const char *what)
{
    size_t place = 0;
    struct ga_cuda_desk *desk = NULL;
    int code = GA_OK;
    if (bytes == 0)
        return GA_OK;
    if (ga_cuda_place_of(on, &place) < 0 || !(desk = ga_cuda_desk_take(place)))
        return ga_cuda_host()->error_code();
    code = ga_cuda_check((int)cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, desk->stream),
                         place, what);
    if (code == GA_OK)
        code = ga_cuda_wait(desk->stream, place, what);
    ga_cuda_desk_leave(desk);
    return code;
}

int ga_cuda_copy_in(void *device, const void *host, size_t bytes)
{
    return copy(device, host, bytes, device, "copying to the card");
}

int ga_cuda_copy_out(void *host, const void *device, size_t bytes)
{
    return copy(host, device, bytes, device, "copying from the card");
}

int ga_cuda_copy(void *to, const void *from, size_t bytes)
{
    return copy(to, from, bytes, to, "copying between cards");
}

void ga_cuda_note(void)
{
    struct keep *all = keep();
    pthread_mutex_lock(&all->lock);
    if (!all->failed) {
        all->code = all->host->error_code();
        snprintf(all->text, sizeof all->text, "%s", all->host->error_text());
        all->failed = true;
    }
    pthread_mutex_unlock(&all->lock);
}

int ga_cuda_poll(void)
{
    struct keep *all = keep();
    int code = GA_OK;
    pthread_mutex_lock(&all->lock);
    if (all->failed)
        code = all->host->fail(all->code, "%s", all->text);
    pthread_mutex_unlock(&all->lock);
    return code;
}

static int desk_open(struct ga_cuda_desk *desk, size_t place)
{
    desk->room.place = place;
    if (ga_cuda_use(place) < 0 ||
        ga_cuda_check((int)cudaStreamCreateWithFlags(&desk->stream, cudaStreamNonBlocking), place,
                      "opening a stream") < 0)
        return ga_cuda_host()->error_code();
    pthread_mutex_init(&desk->lock, NULL);
    return GA_OK;
}

struct ga_cuda_desk *ga_cuda_desk_take(size_t place)
{
    struct keep *all = keep();
    struct ga_cuda_desk *desk = NULL;
    if (place >= GA_CUDA_PLACES) {
        ga_cuda_host()->fail(GA_EINPUT, "there is no cuda:%zu: expected a card below %d", place,
                             GA_CUDA_PLACES);
        return NULL;
    }
    pthread_mutex_lock(&all->lock);
    if (all->ready[place] || desk_open(&all->desk[place], place) == GA_OK) {
        all->ready[place] = true;
        desk = &all->desk[place];
    }
    pthread_mutex_unlock(&all->lock);
    if (!desk)
        return NULL;
    pthread_mutex_lock(&desk->lock);
    if (ga_cuda_use(place) == GA_OK)
        return desk;
    pthread_mutex_unlock(&desk->lock);
    return NULL;
}

void ga_cuda_desk_leave(struct ga_cuda_desk *desk)
{
    pthread_mutex_unlock(&desk->lock);
}

int ga_cuda_card(size_t place, struct ga_cuda_card *out)
{
    struct cudaDeviceProp properties;
    size_t available = 0;
    size_t total = 0;
    *out = (struct ga_cuda_card){.major = 0};
    if (ga_cuda_check((int)cudaGetDeviceProperties(&properties, (int)place), place,
                      "asking for its properties") < 0 ||
        ga_cuda_check((int)cudaDeviceGetPCIBusId(out->bus, (int)sizeof out->bus, (int)place), place,
                      "asking for its bus id") < 0 ||
        ga_cuda_use(place) < 0 ||
        ga_cuda_check((int)cudaMemGetInfo(&available, &total), place, "asking for its memory") < 0)
        return ga_cuda_host()->error_code();
    snprintf(out->name, sizeof out->name, "%.*s", (int)sizeof out->name - 1, properties.name);
    out->major = properties.major;
    out->minor = properties.minor;
    out->multiprocessors = properties.multiProcessorCount;
    out->memory_free = available;
    out->memory_total = total;
    return GA_OK;
}
