/* Giving memory back: at once, or when no sum of several cards is under way any more. */
#include <cuda_runtime_api.h>
#include <stdlib.h>

#include "compute/cuda/account.h"
#include "compute/cuda/device.h"

struct leftover {
    void *buffer;
    bool host;
    struct leftover *next;
};

struct pending {
    pthread_mutex_t lock;
    size_t sums; /* that are under way while their owner goes on */
    struct leftover *leftover;
};

static struct pending *pending(void)
{
    static struct pending all = {.lock = PTHREAD_MUTEX_INITIALIZER};
    return &all;
}

static bool lies_on_lost(const void *buffer)
{
    struct cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, buffer) != cudaSuccess) {
        (void)cudaGetLastError();
        return false;
    }
    return attributes.device >= 0 && ga_cuda_is_lost((size_t)attributes.device);
}

static void give_back(void *buffer, bool host)
{
    int code = GA_OK;
    if (host ? ga_cuda_is_one_lost() : lies_on_lost(buffer))
        return;
    ga_cuda_unaccount(buffer);
    if (host)
        code = ga_cuda_check((int)cudaFreeHost(buffer), 0, "giving host memory back");
    else
        code = ga_cuda_check((int)cudaFree(buffer), 0, "giving memory back");
    if (code < 0)
        ga_cuda_note();
}

/* Now, or once no sum is under way; without memory to note it in it stays. */
static void leave(void *buffer, bool host)
{
    struct pending *all = pending();
    struct leftover *leftover = NULL;
    bool now = false;
    if (!buffer)
        return;
    pthread_mutex_lock(&all->lock);
    now = all->sums == 0;
    if (!now && (leftover = malloc(sizeof *leftover))) {
        *leftover = (struct leftover){buffer, host, all->leftover};
        all->leftover = leftover;
    }
    pthread_mutex_unlock(&all->lock);
    if (now)
        give_back(buffer, host);
}

void ga_cuda_free(void *buffer)
{
    leave(buffer, false);
}

void ga_cuda_free_host(void *buffer)
{
    leave(buffer, true);
}

void ga_cuda_sum_begins(void)
{
    struct pending *all = pending();
    pthread_mutex_lock(&all->lock);
    all->sums++;
    pthread_mutex_unlock(&all->lock);
}

void ga_cuda_sum_ended(void)
{
    struct pending *all = pending();
    struct leftover *leftover = NULL;
    pthread_mutex_lock(&all->lock);
    if (--all->sums == 0) {
        leftover = all->leftover;
        all->leftover = NULL;
    }
    pthread_mutex_unlock(&all->lock);
    while (leftover) {
        struct leftover *next = leftover->next;
        give_back(leftover->buffer, leftover->host);
        free(leftover);
        leftover = next;
    }
}
