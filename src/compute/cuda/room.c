/* Rooms of device.h: memory of a card, and pinned memory of the host, that grow. */
#include <cuda_runtime_api.h>

#include "compute/cuda/account.h"
#include "compute/cuda/device.h"

/* Pinned memory of the host; NULL with an error. */
static void *pin(size_t bytes, size_t place)
{
    void *host = NULL;
    if (ga_cuda_check((int)cudaHostAlloc(&host, bytes, cudaHostAllocPortable), place,
                      "pinning host memory") < 0)
        return NULL;
    if (ga_cuda_account(host, bytes, place, GA_USE_PINNED))
        return host;
    (void)cudaFreeHost(host);
    return NULL;
}

int ga_cuda_room_grow(struct ga_cuda_room *room, size_t device_bytes, size_t host_bytes)
{
    void *device = NULL;
    void *host = NULL;
    if (device_bytes > room->device_bytes &&
        !(device = ga_cuda_take(device_bytes, room->place, room->use)))
        return ga_cuda_host()->error_code();
    if (host_bytes > room->host_bytes && !(host = pin(host_bytes, room->place))) {
        const int code = ga_cuda_host()->error_code();
        ga_cuda_free(device);
        return code;
    }
    if (device) {
        ga_cuda_free(room->device);
        room->device = device;
        room->device_bytes = device_bytes;
    }
    if (host) {
        ga_cuda_free_host(room->host);
        room->host = host;
        room->host_bytes = host_bytes;
    }
    return GA_OK;
}

void ga_cuda_room_fini(struct ga_cuda_room *room)
{
    ga_cuda_free(room->device);
    ga_cuda_free_host(room->host);
    room->device = room->host = NULL;
    room->device_bytes = room->host_bytes = 0;
}
