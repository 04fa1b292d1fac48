/*
 * Two blocks go round: the thread fills one while the reader takes from the other.
 *
 * Lock rule: `lock` guards `full`, `stopping` and `failed`. A block belongs to the thread while
 * its `full` is false and to the reader while it is true; `turn` and `at` are the reader's alone.
 */
#include "dataset/bytes.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define BLOCK_BYTES ((size_t)256 * 1024)
#define BLOCKS      2

struct block {
    char *data;
    size_t count; /* 0: the end */
    bool full;
};

struct ahead {
    struct ga_bytes bytes;
    struct ga_bytes *from; /* the thread's while it runs */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stopping, failed;
    struct ga_error error; /* set before `failed` */
    struct block block[BLOCKS];
    size_t turn, at;
};

static bool await(struct ahead *ahead, const struct block *block, bool full)
{
    pthread_mutex_lock(&ahead->lock);
    while (block->full != full && !ahead->stopping && !(full && ahead->failed)) {
        pthread_cond_wait(&ahead->changed, &ahead->lock);
    }
    const bool there = block->full == full && !ahead->stopping;
    pthread_mutex_unlock(&ahead->lock);
    return there;
}

static void hand_over(struct ahead *ahead, struct block *block, bool full)
{
    pthread_mutex_lock(&ahead->lock);
    block->full = full;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
}

static void fail(struct ahead *ahead)
{
    ga_error_take(&ahead->error);
    pthread_mutex_lock(&ahead->lock);
    ahead->failed = true;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
}

static void *read_ahead(void *arg)
{
    struct ahead *ahead = arg;
    size_t count = BLOCK_BYTES;
    for (size_t turn = 0; count > 0; turn = (turn + 1) % BLOCKS) {
        struct block *block = &ahead->block[turn];
        if (!await(ahead, block, false)) {
            return NULL;
        }
        if (ga_bytes_read(ahead->from, block->data, BLOCK_BYTES, &block->count) != 0) {
            fail(ahead);
            return NULL;
        }
        count = block->count;
        hand_over(ahead, block, true);
    }
    return NULL;
}

static int read_blocks(struct ga_bytes *bytes, void *out, size_t most, size_t *got)
{
    struct ahead *ahead = (struct ahead *)bytes;
    *got = 0;
    while (*got < most) {
        struct block *block = &ahead->block[ahead->turn];
        if (!await(ahead, block, true)) {
            return ga_error_put(&ahead->error);
        }
        const size_t left = most - *got;
        const size_t there = block->count - ahead->at;
        const size_t part = there < left ? there : left;
        if (block->count == 0) {
            return 0;
        }
        memcpy((char *)out + *got, block->data + ahead->at, part);
        *got += part;
        ahead->at += part;
        if (ahead->at == block->count) {
            ahead->at = 0;
            ahead->turn = (ahead->turn + 1) % BLOCKS;
            hand_over(ahead, block, false);
        }
    }
    return 0;
}

static void release(struct ahead *ahead)
{
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->lock);
    for (size_t i = 0; i < BLOCKS; i++) {
        free(ahead->block[i].data);
    }
    ga_bytes_close(ahead->from);
    free(ahead);
}

static void close_ahead(struct ga_bytes *bytes)
{
    struct ahead *ahead = (struct ahead *)bytes;
    pthread_mutex_lock(&ahead->lock);
    ahead->stopping = true;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
    pthread_join(ahead->thread, NULL);
    release(ahead);
}

/* Signals are the main thread's. */
static int start(struct ahead *ahead)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const int answer = pthread_create(&ahead->thread, NULL, read_ahead, ahead);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return answer ? ga_fail_errno(GA_EIO, answer, "%s: cannot start a thread", ahead->from->name)
                  : 0;
}

int ga_bytes_ahead(struct ga_bytes **out, struct ga_bytes *bytes)
{
    *out = bytes;
    if (!bytes->packed) {
        return 0;
    }
    *out = NULL;
    struct ahead *ahead = ga_alloc(1, sizeof *ahead);
    if (!ahead) {
        ga_bytes_close(bytes);
        return GA_ENOMEM;
    }
    ahead->bytes = (struct ga_bytes){read_blocks, close_ahead, bytes->name, bytes->most, true};
    ahead->from = bytes;
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    int code = 0;
    for (size_t i = 0; code == 0 && i < BLOCKS; i++) {
        ahead->block[i].data = ga_alloc(BLOCK_BYTES, 1);
        code = ahead->block[i].data ? 0 : GA_ENOMEM;
    }
    if (code == 0) {
        code = start(ahead);
    }
    if (code != 0) {
        release(ahead);
        return code;
    }
    *out = &ahead->bytes;
    return 0;
}
