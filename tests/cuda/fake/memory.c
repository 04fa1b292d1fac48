/* Devices, their memory, and copies. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

#define ABOVE ((size_t)1 << 46)

static _Thread_local int current;

int fake_current(void)
{
    return current;
}

void *fake_handed(const struct fake_block *block)
{
    return block->device < 0 ? block->real : block->real - ABOVE;
}

/* How many blocks begin at or below this address. */
static size_t blocks_below(const struct fake *fake, uintptr_t at)
{
    size_t low = 0;
    size_t high = fake->blocks;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if ((uintptr_t)fake_handed(fake->block[middle]) <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct fake_block *fake_find(struct fake *fake, const void *at, size_t bytes, size_t *offset)
{
    const size_t below = blocks_below(fake, (uintptr_t)at);
    struct fake_block *block = below > 0 ? fake->block[below - 1] : NULL;
    if (!block || (uintptr_t)at - (uintptr_t)fake_handed(block) >= block->bytes)
        return NULL;
    *offset = (uintptr_t)at - (uintptr_t)fake_handed(block);
    return bytes <= block->bytes - *offset ? block : NULL;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    struct fake *fake = fake_enter();
    *count = fake->devices;
    return fake_leave(fake, fake->devices > 0 ? cudaSuccess : cudaErrorInsufficientDriver);
}

cudaError_t cudaSetDevice(int device)
{
    struct fake *fake = fake_enter();
    const bool there = device >= 0 && device < fake->devices;
    if (there)
        current = device;
    return fake_leave(fake, there ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaGetDevice(int *device)
{
    *device = current;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    struct fake *fake = fake_enter();
    const bool there = device >= 0 && device < fake->devices;
    memset(properties, 0, sizeof *properties);
    snprintf(properties->name, sizeof properties->name, "fake card %d", device);
    properties->major = 9;
    properties->multiProcessorCount = 1;
    properties->totalGlobalMem = fake->memory;
    return fake_leave(fake, there ? cudaSuccess : cudaErrorInvalidDevice);
}

/* Not in the order of the numbers, as on real machines. */
cudaError_t cudaDeviceGetPCIBusId(char *id, int length, int device)
{
    snprintf(id, (size_t)length, "0000:%02X:00.0", 0x40 - device);
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    struct fake *fake = fake_enter();
    *total = fake->memory;
    *available = fake->memory > fake->used[current] ? fake->memory - fake->used[current] : 0;
    return fake_leave(fake, fake->gone ? cudaErrorDevicesUnavailable : cudaSuccess);
}

/* For one more block. */
static bool make_room(struct fake *fake)
{
    const size_t room = fake->room < 64 ? 64 : fake->room * 2;
    struct fake_block **more = NULL;
    if (fake->blocks < fake->room)
        return true;
    more = realloc(fake->block, room * sizeof(struct fake_block *));
    if (!more)
        return false;
    fake->block = more;
    fake->room = room;
    return true;
}

static cudaError_t add_block(struct fake *fake, void **out, size_t bytes, int device)
{
    struct fake_block *block = make_room(fake) ? calloc(1, sizeof *block) : NULL;
    char *real = block ? malloc(bytes) : NULL;
    size_t below = 0;
    if (!real) {
        free(block);
        return cudaErrorMemoryAllocation;
    }
    memset(real, 0xff, bytes); /* as floats, NaN: whatever is used unset shows */
    *block = (struct fake_block){.real = real, .bytes = bytes, .device = device};
    below = blocks_below(fake, (uintptr_t)fake_handed(block));
    memmove(fake->block + below + 1, fake->block + below,
            (fake->blocks - below) * sizeof(struct fake_block *));
    fake->block[below] = block;
    fake->blocks++;
    *out = fake_handed(block);
    return cudaSuccess;
}

static cudaError_t allocate(struct fake *fake, void **out, size_t bytes, int device)
{
    *out = NULL;
    if (fake_waits(NULL) != cudaSuccess)
        return cudaErrorStreamCaptureUnsupported;
    if (fake->gone)
        return cudaErrorDevicesUnavailable;
    if (fake->oom > 0 && --fake->oom == 0)
        return cudaErrorMemoryAllocation;
    if (bytes == 0)
        return cudaErrorInvalidValue;
    if (device >= 0) {
        if (bytes > fake->memory || fake->used[device] > fake->memory - bytes)
            return cudaErrorMemoryAllocation;
    }
    if (add_block(fake, out, bytes, device) != cudaSuccess)
        return cudaErrorMemoryAllocation;
    if (device >= 0)
        fake->used[device] += bytes;
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **out, size_t bytes)
{
    struct fake *fake = fake_enter();
    return fake_leave(fake, allocate(fake, out, bytes, current));
}

cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned flags)
{
    struct fake *fake = fake_enter();
    (void)flags;
    return fake_leave(fake, allocate(fake, out, bytes, -1));
}

static void drop_accesses(struct fake_block *block)
{
    while (block->access) {
        struct fake_access *next = block->access->next;
        free(block->access);
        block->access = next;
    }
}

/* The real call waits for the device, or for all of them, and never returns. */
static cudaError_t check_hang(struct fake *fake, const struct fake_block *block)
{
    for (int i = 0; i < FAKE_STREAMS; i++) {
        const struct CUstream_st *stream = fake->stream[i];
        if (stream && (stream->hangs || stream->waits) &&
            (block->device < 0 || block->device == stream->device))
            return fake_fault(fake, "memory is given back while stream %d hangs", i);
    }
    return cudaSuccess;
}

/* Pinned memory must be at rest; for device memory the runtime waits. */
static cudaError_t check_rest(struct fake *fake, const struct fake_block *block)
{
    for (const struct fake_copy *copy = fake->copy; copy; copy = copy->next)
        if (copy->host >= block->real && copy->host < block->real + block->bytes)
            return fake_fault(fake, "pinned memory is given back while stream %d copies",
                              copy->stream);
    return cudaSuccess;
}

static cudaError_t release(struct fake *fake, void *buffer, bool host)
{
    size_t offset = 0;
    struct fake_block *block = fake_find(fake, buffer, 0, &offset);
    size_t at = 0;
    if (!buffer)
        return cudaSuccess;
    if (fake_waits(NULL) != cudaSuccess)
        return cudaErrorStreamCaptureUnsupported;
    if (!block || offset > 0 || host != (block->device < 0))
        return fake_fault(fake, "memory is given back that was never handed out");
    if ((host && check_rest(fake, block) != cudaSuccess) || check_hang(fake, block) != cudaSuccess)
        return cudaErrorAssert;
    at = blocks_below(fake, (uintptr_t)buffer);
    memmove(fake->block + at - 1, fake->block + at,
            (fake->blocks - at) * sizeof(struct fake_block *));
    fake->blocks--;
    if (!host)
        fake->used[block->device] -= block->bytes;
    drop_accesses(block);
    free(block->real);
    free(block);
    return fake->gone ? cudaErrorDevicesUnavailable : cudaSuccess;
}

cudaError_t cudaFree(void *buffer)
{
    struct fake *fake = fake_enter();
    return fake_leave(fake, release(fake, buffer, false));
}

cudaError_t cudaFreeHost(void *buffer)
{
    struct fake *fake = fake_enter();
    return fake_leave(fake, release(fake, buffer, true));
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *pointer)
{
    struct fake *fake = fake_enter();
    size_t offset = 0;
    const struct fake_block *block = fake_find(fake, pointer, 1, &offset);
    memset(out, 0, sizeof *out);
    out->type = !block              ? cudaMemoryTypeUnregistered
                : block->device < 0 ? cudaMemoryTypeHost
                                    : cudaMemoryTypeDevice;
    out->device = block && block->device >= 0 ? block->device : 0;
    return fake_leave(fake, fake->gone ? cudaErrorDevicesUnavailable : cudaSuccess);
}

/* One end of a copy. */
struct end {
    struct fake_block *block; /* NULL: plain memory of the host */
    size_t offset;
    char *real;
};

static cudaError_t find_end(struct fake *fake, void *at, size_t bytes, struct end *out)
{
    *out = (struct end){.real = at};
    out->block = fake_find(fake, at, bytes, &out->offset);
    if (out->block) {
        out->real = out->block->real + out->offset;
        return cudaSuccess;
    }
    if (fake_find(fake, at, 0, &out->offset))
        return fake_fault(fake, "a copy of %zu bytes runs over the end of its buffer", bytes);
    return cudaSuccess;
}

static bool on_device(const struct end *end)
{
    return end->block && end->block->device >= 0;
}

/* Waits until the host does. */
static cudaError_t postpone(struct fake *fake, cudaStream_t stream, char *host, const char *from,
                            size_t bytes)
{
    struct fake_copy *copy = calloc(1, sizeof *copy);
    char *data = from && copy ? malloc(bytes) : NULL;
    if (!copy || (from && !data)) {
        free(copy);
        return cudaErrorMemoryAllocation;
    }
    *copy = (struct fake_copy){.stream = stream->number,
                               .at = fake->count[stream->number],
                               .host = host,
                               .data = data,
                               .bytes = bytes,
                               .next = fake->copy};
    if (from) {
        memcpy(data, from, bytes);
        memset(host, 0xee, bytes);
    } else {
        copy->sum = fake_sum(host, bytes);
    }
    fake->copy = copy;
    return cudaSuccess;
}

static cudaError_t move(struct fake *fake, cudaStream_t stream, const struct end *to,
                        const struct end *from, size_t bytes)
{
    cudaError_t code = cudaSuccess;
    if (on_device(to) && from->block && !on_device(from))
        code = postpone(fake, stream, from->real, NULL, bytes);
    if (!on_device(to) && to->block)
        return code ? code : postpone(fake, stream, to->real, from->real, bytes);
    if (code == cudaSuccess)
        memmove(to->real, from->real, bytes);
    /* Through memory that is not pinned a copy ends before the call does. */
    if (code == cudaSuccess && !to->block)
        code = fake_host_knows(fake, fake->clock[stream->number]);
    return code;
}

static cudaError_t check_kind(struct fake *fake, const struct end *to, const struct end *from,
                              enum cudaMemcpyKind kind)
{
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (kind == cudaMemcpyDefault || (to_device == on_device(to) && from_device == on_device(from)))
        return cudaSuccess;
    return fake_fault(fake, "a copy's direction does not fit its buffers");
}

static cudaError_t copy(struct fake *fake, void *to, const void *from, size_t bytes,
                        enum cudaMemcpyKind kind, cudaStream_t stream)
{
    struct end target;
    struct end source;
    cudaError_t code = fake_begin(fake, stream);
    if (code == cudaSuccess)
        code = find_end(fake, to, bytes, &target);
    if (code == cudaSuccess)
        code = find_end(fake, (void *)(uintptr_t)from, bytes, &source);
    if (code == cudaSuccess)
        code = check_kind(fake, &target, &source, kind);
    if (code == cudaSuccess && source.block)
        code = fake_touch(fake, stream, source.block, source.offset, bytes, false, "a copy");
    if (code == cudaSuccess && target.block)
        code = fake_touch(fake, stream, target.block, target.offset, bytes, true, "a copy");
    return code == cudaSuccess ? move(fake, stream, &target, &source, bytes) : code;
}

struct copying {
    void *to;
    const void *from;
    size_t bytes;
    enum cudaMemcpyKind kind;
};

static cudaError_t copy_again(struct fake *fake, const void *data, cudaStream_t stream)
{
    const struct copying *c = data;
    return copy(fake, c->to, c->from, c->bytes, c->kind, stream);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    const struct copying c = {to, from, bytes, kind};
    struct fake *fake = fake_enter();
    cudaError_t code = cudaSuccess;
    if (bytes > 0 && !fake_note(stream, copy_again, &c, sizeof c, &code))
        code = copy_again(fake, &c, stream);
    return fake_leave(fake, code);
}

static cudaError_t clear(struct fake *fake, void *buffer, int value, size_t bytes,
                         cudaStream_t stream)
{
    size_t offset = 0;
    struct fake_block *block = fake_find(fake, buffer, bytes, &offset);
    cudaError_t code = fake_begin(fake, stream);
    if (code != cudaSuccess)
        return code;
    if (!block || block->device != stream->device)
        return fake_fault(fake, "memory is set that the stream's device does not hold");
    code = fake_touch(fake, stream, block, offset, bytes, true, "a memset");
    if (code == cudaSuccess)
        memset(block->real + offset, value, bytes);
    return code;
}

struct setting {
    void *buffer;
    int value;
    size_t bytes;
};

static cudaError_t clear_again(struct fake *fake, const void *data, cudaStream_t stream)
{
    const struct setting *s = data;
    return clear(fake, s->buffer, s->value, s->bytes, stream);
}

cudaError_t cudaMemsetAsync(void *buffer, int value, size_t bytes, cudaStream_t stream)
{
    const struct setting s = {buffer, value, bytes};
    struct fake *fake = fake_enter();
    cudaError_t code = cudaSuccess;
    if (!fake_note(stream, clear_again, &s, sizeof s, &code))
        code = clear_again(fake, &s, stream);
    return fake_leave(fake, code);
}
