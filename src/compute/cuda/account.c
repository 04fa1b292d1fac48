#include "compute/cuda/account.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "compute/cuda/device.h"

#define BUCKETS 1024 /* by address */

struct entry {
    const void *at;
    size_t bytes, place;
    enum ga_device_use use;
    struct entry *next;
};

struct account {
    pthread_mutex_t lock;
    struct entry *bucket[BUCKETS];
    size_t bytes[GA_CUDA_PLACES][GA_DEVICE_USES];
};

static struct account *account(void)
{
    static struct account all = {.lock = PTHREAD_MUTEX_INITIALIZER};
    return &all;
}

static struct entry **bucket_of(struct account *a, const void *at)
{
    return &a->bucket[((uintptr_t)at >> 8) % BUCKETS];
}

bool ga_cuda_account(const void *at, size_t bytes, size_t place, enum ga_device_use use)
{
    struct account *a = account();
    struct entry *entry = calloc(1, sizeof *entry);
    if (!entry) {
        ga_cuda_host()->fail(GA_ENOMEM, "no memory to note %zu bytes of cuda:%zu", bytes, place);
        return false;
    }
    pthread_mutex_lock(&a->lock);
    *entry = (struct entry){at, bytes, place, use, *bucket_of(a, at)};
    *bucket_of(a, at) = entry;
    a->bytes[place][use] += bytes;
    pthread_mutex_unlock(&a->lock);
    return true;
}

void ga_cuda_unaccount(const void *at)
{
    struct account *a = account();
    struct entry *entry = NULL;
    struct entry **link = NULL;
    pthread_mutex_lock(&a->lock);
    link = bucket_of(a, at);
    while (*link && (*link)->at != at)
        link = &(*link)->next;
    entry = *link;
    if (entry) {
        *link = entry->next;
        a->bytes[entry->place][entry->use] -= entry->bytes;
    }
    pthread_mutex_unlock(&a->lock);
    free(entry);
}

void ga_cuda_usage(size_t place, size_t bytes[GA_DEVICE_USES])
{
    struct account *a = account();
    memset(bytes, 0, GA_DEVICE_USES * sizeof *bytes);
    if (place >= GA_CUDA_PLACES)
        return;
    pthread_mutex_lock(&a->lock);
    memcpy(bytes, a->bytes[place], sizeof a->bytes[place]);
    pthread_mutex_unlock(&a->lock);
}
