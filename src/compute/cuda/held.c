#include "compute/cuda/held.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "compute/cuda/device.h"

#define BUCKETS 1024 /* of the table, by address */
#define SPARES  8    /* blocks of cards kept for the next writer */
#define SHARE   8    /* blocks get 1/SHARE of a card's memory */

/* A copy of so much costs no more than the wait that comes with every call. */
#define BRINGS_BACK ((size_t)64 << 10)

struct ga_cuda_held {
    void *host;
    size_t bytes;
    void *card; /* NULL: only the host has it */
    size_t place;
    bool ahead; /* the card's values are newer than the host's */
    bool lost;  /* nobody has them any more */
    uint64_t serial;
    uint64_t used; /* when it was leased last */
    size_t leases;
    struct ga_cuda_held *next; /* of its bucket */
};

struct spare {
    void *card;
    size_t bytes, place;
};

struct table {
    pthread_mutex_t fetching; /* one at a time, so that each block is copied once */
    pthread_mutex_t lock;     /* of all below */
    pthread_cond_t ended;     /* a lease has */
    struct ga_cuda_held *bucket[BUCKETS];
    uint64_t serial, moment;
    size_t taken[GA_CUDA_PLACES]; /* bytes, without spares */
    size_t limit[GA_CUDA_PLACES]; /* 0: not known yet */
    struct spare spare[SPARES];
    size_t spares;
    struct CUstream_st *stream[GA_CUDA_PLACES]; /* of whoever fetches */
};

static struct table *table(void)
{
    static struct table all = {.fetching = PTHREAD_MUTEX_INITIALIZER,
                               .lock = PTHREAD_MUTEX_INITIALIZER,
                               .ended = PTHREAD_COND_INITIALIZER};
    return &all;
}

bool ga_cuda_brings_back(size_t bytes)
{
    const char *text = getenv("GA_CUDA_BRINGS_BACK");
    return bytes <= (text ? strtoul(text, NULL, 10) : BRINGS_BACK);
}

static struct ga_cuda_held **bucket_of(struct table *t, const void *host)
{
    return &t->bucket[((uintptr_t)host >> 6) % BUCKETS];
}

static struct ga_cuda_held *find(struct table *t, const void *host)
{
    struct ga_cuda_held *held = *bucket_of(t, host);
    while (held && held->host != host)
        held = held->next;
    return held;
}

int ga_cuda_hold(void *block, size_t bytes)
{
    struct table *t = table();
    struct ga_cuda_held *held = calloc(1, sizeof *held);
    if (!held)
        return ga_cuda_host()->fail(GA_ENOMEM, "no memory to note a block for the cards");
    pthread_mutex_lock(&t->lock);
    *held = (struct ga_cuda_held){
        .host = block, .bytes = bytes, .serial = ++t->serial, .next = *bucket_of(t, block)};
    *bucket_of(t, block) = held;
    pthread_mutex_unlock(&t->lock);
    return GA_OK;
}

/* The card's copy becomes a spare, or is given back where there are enough; the lock is held. */
static void give_up(struct table *t, struct ga_cuda_held *held)
{
    if (!held->card)
        return;
    t->taken[held->place] -= held->bytes;
    if (t->spares < SPARES && !ga_cuda_is_lost(held->place))
        t->spare[t->spares++] = (struct spare){held->card, held->bytes, held->place};
    else
        ga_cuda_free(held->card);
    held->card = NULL;
    held->ahead = false;
}

void ga_cuda_release(void *block)
{
    struct table *t = table();
    struct ga_cuda_held *held = NULL;
    struct ga_cuda_held **at = NULL;
    pthread_mutex_lock(&t->lock);
    held = find(t, block);
    while (held && held->leases > 0)
        pthread_cond_wait(&t->ended, &t->lock);
    for (at = bucket_of(t, block); held && *at != held; at = &(*at)->next)
        ;
    if (held) {
        *at = held->next;
        give_up(t, held);
    }
    pthread_mutex_unlock(&t->lock);
    free(held);
}

void ga_cuda_renew(void *block)
{
    struct table *t = table();
    struct ga_cuda_held *held = NULL;
    pthread_mutex_lock(&t->lock);
    held = find(t, block);
    if (held) {
        held->ahead = held->lost = false;
        held->serial = ++t->serial;
        give_up(t, held);
    }
    pthread_mutex_unlock(&t->lock);
}

static void lease(struct table *t, struct ga_cuda_held *held, struct ga_cuda_lease *out)
{
    held->leases++;
    held->used = ++t->moment;
    *out = (struct ga_cuda_lease){
        .held = held,
        .from = held->card ? held->card : held->host,
        .on_card = held->card != NULL,
        .ahead = held->ahead,
        .place = held->place,
        .serial = held->serial,
    };
}

struct ga_cuda_lease ga_cuda_lease_read(const void *block)
{
    struct table *t = table();
    struct ga_cuda_lease out = {.from = block};
    struct ga_cuda_held *held = NULL;
    pthread_mutex_lock(&t->lock);
    held = find(t, block);
    if (held)
        lease(t, held, &out);
    pthread_mutex_unlock(&t->lock);
    return out;
}

void ga_cuda_lease_end(struct ga_cuda_lease *of)
{
    struct table *t = table();
    if (!of->held)
        return;
    pthread_mutex_lock(&t->lock);
    of->held->leases--;
    if (of->writing)
        give_up(t, of->held);
    pthread_cond_broadcast(&t->ended);
    pthread_mutex_unlock(&t->lock);
    of->held = NULL;
}

int ga_cuda_lease_bring(const struct ga_cuda_lease *of, struct CUstream_st *stream, size_t place,
                        size_t bytes, float *room, float *staged, const float **out)
{
    *out = room;
    if (of->on_card && of->place == place) {
        *out = of->from;
        return GA_OK;
    }
    if (!of->on_card)
        memcpy(staged, of->from, bytes);
    return ga_cuda_check((int)cudaMemcpyAsync(room, of->on_card ? of->from : staged, bytes,
                                              cudaMemcpyDefault, stream),
                         place, "bringing values to the card");
}

/* ---- from the card to the host ---- */

static int open_stream(struct table *t, size_t place)
{
    if (t->stream[place])
        return GA_OK;
    return ga_cuda_check((int)cudaStreamCreateWithFlags(&t->stream[place], cudaStreamNonBlocking),
                         place, "opening a stream");
}

/* The thread's card is what it was, afterwards. */
static int bring(struct table *t, const struct ga_cuda_lease *from)
{
    int before = 0;
    int code = ga_cuda_check((int)cudaGetDevice(&before), from->place, "asking for the card");
    if (code == GA_OK)
        code = ga_cuda_use(from->place);
    if (code == GA_OK)
        code = open_stream(t, from->place);
    if (code == GA_OK)
        code = ga_cuda_check((int)cudaMemcpyAsync(from->held->host, from->from, from->held->bytes,
                                                  cudaMemcpyDefault, t->stream[from->place]),
                             from->place, "bringing values to the host");
    if (code == GA_OK)
        code = ga_cuda_wait(t->stream[from->place], from->place, "bringing values to the host");
    if (ga_cuda_use((size_t)before) < 0)
        code = ga_cuda_host()->error_code();
    return code;
}

/* What was on a card that does not answer is lost, and shows as that. */
static void lose(const struct ga_cuda_held *held)
{
    float *values = held->host;
    for (size_t i = 0; i < held->bytes / sizeof *values; i++)
        values[i] = __builtin_nanf("");
    ga_cuda_note();
}

/* The lock for fetching is held, and a lease on what is ahead. */
static int fetch_leased(struct table *t, const struct ga_cuda_lease *from)
{
    const int code = bring(t, from);
    if (code < 0)
        lose(from->held);
    pthread_mutex_lock(&t->lock);
    from->held->ahead = false;
    from->held->lost = code < 0;
    if (code < 0)
        give_up(t, from->held);
    pthread_mutex_unlock(&t->lock);
    return code;
}

int ga_cuda_fetch(const void *block)
{
    struct table *t = table();
    struct ga_cuda_lease from = {.held = NULL};
    struct ga_cuda_held *held = NULL;
    int code = GA_OK;
    pthread_mutex_lock(&t->fetching);
    pthread_mutex_lock(&t->lock);
    held = find(t, block);
    if (held && held->ahead)
        lease(t, held, &from);
    else if (held && held->lost)
        code = ga_cuda_host()->fail(GA_EIO, "cuda:%zu: what it had alone is lost", held->place);
    pthread_mutex_unlock(&t->lock);
    if (from.held)
        code = fetch_leased(t, &from);
    else if (code < 0)
        ga_cuda_note();
    pthread_mutex_unlock(&t->fetching);
    ga_cuda_lease_end(&from);
    return code;
}

/* ---- room on the card ---- */

/* The block on this card that was used least recently, leased; false: there is none. */
static bool oldest(struct table *t, size_t place, struct ga_cuda_lease *out)
{
    struct ga_cuda_held *found = NULL;
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct ga_cuda_held *held = t->bucket[i]; held; held = held->next)
            if (held->card && held->place == place && held->leases == 0 &&
                (!found || held->used < found->used))
                found = held;
    if (found)
        lease(t, found, out);
    return found != NULL;
}

/* Gives the oldest block's copy up; false: none is left, or it cannot be brought to the host. */
static bool make_way(struct table *t, size_t place)
{
    struct ga_cuda_lease from = {.held = NULL};
    struct ga_cuda_held *held = NULL;
    bool gone = false;
    int code = GA_OK;
    pthread_mutex_lock(&t->fetching);
    pthread_mutex_lock(&t->lock);
    (void)oldest(t, place, &from);
    held = from.held;
    pthread_mutex_unlock(&t->lock);
    if (held && held->ahead)
        code = fetch_leased(t, &from);
    pthread_mutex_unlock(&t->fetching);
    if (!held)
        return false;
    pthread_mutex_lock(&t->lock);
    held->leases--;
    gone = code == GA_OK && held->leases == 0;
    if (gone)
        give_up(t, held);
    pthread_cond_broadcast(&t->ended);
    pthread_mutex_unlock(&t->lock);
    return gone;
}

static size_t limit_of(struct table *t, size_t place)
{
    size_t available = 0;
    size_t total = 0;
    if (t->limit[place] == 0 && cudaMemGetInfo(&available, &total) == cudaSuccess)
        t->limit[place] = total / SHARE > 0 ? total / SHARE : 1;
    return t->limit[place];
}

/* A spare of this size, or NULL; the lock is held. */
static void *take_spare(struct table *t, size_t bytes, size_t place)
{
    for (size_t i = 0; i < t->spares; i++) {
        if (t->spare[i].bytes != bytes || t->spare[i].place != place)
            continue;
        void *card = t->spare[i].card;
        t->spare[i] = t->spare[--t->spares];
        return card;
    }
    return NULL;
}

/* Spares of other sizes make way, too. */
static void drop_spares(struct table *t, size_t place)
{
    pthread_mutex_lock(&t->lock);
    for (size_t i = t->spares; i-- > 0;) {
        if (t->spare[i].place != place)
            continue;
        ga_cuda_free(t->spare[i].card);
        t->spare[i] = t->spare[--t->spares];
    }
    pthread_mutex_unlock(&t->lock);
}

static void *room(struct table *t, size_t bytes, size_t place)
{
    void *card = NULL;
    size_t taken = 0;
    size_t limit = 0;
    do {
        pthread_mutex_lock(&t->lock);
        limit = limit_of(t, place);
        taken = t->taken[place];
        pthread_mutex_unlock(&t->lock);
    } while (taken > 0 && (taken > limit || bytes > limit - taken) && make_way(t, place));
    pthread_mutex_lock(&t->lock);
    card = take_spare(t, bytes, place);
    pthread_mutex_unlock(&t->lock);
    return card ? card : ga_cuda_take(bytes, place, GA_USE_HELD);
}

void ga_cuda_give_way(size_t bytes, size_t place)
{
    struct table *t = table();
    drop_spares(t, place);
    while (!ga_cuda_fits(bytes) && make_way(t, place))
        drop_spares(t, place);
}

void *ga_cuda_lease_write(struct ga_cuda_lease *out, void *block, size_t bytes, size_t place,
                          int *code)
{
    struct table *t = table();
    struct ga_cuda_held *held = NULL;
    void *card = NULL;
    *out = (struct ga_cuda_lease){.from = block};
    *code = GA_OK;
    pthread_mutex_lock(&t->lock);
    held = find(t, block);
    if (held)
        lease(t, held, out);
    if (held && held->place != place)
        give_up(t, held);
    out->writing = held != NULL;
    card = held ? held->card : NULL;
    pthread_mutex_unlock(&t->lock);
    if (!held || card)
        return card;
    card = room(t, bytes, place);
    if (!card) {
        *code = ga_cuda_host()->error_code();
        ga_cuda_lease_end(out);
        return NULL;
    }
    pthread_mutex_lock(&t->lock);
    held->card = card;
    held->place = place;
    t->taken[place] += held->bytes;
    pthread_mutex_unlock(&t->lock);
    return card;
}

void ga_cuda_lease_written(struct ga_cuda_lease *of, bool host)
{
    struct table *t = table();
    if (!of->held)
        return;
    pthread_mutex_lock(&t->lock);
    of->held->ahead = !host;
    of->held->lost = false;
    of->held->serial = ++t->serial;
    pthread_mutex_unlock(&t->lock);
    of->writing = false;
    ga_cuda_lease_end(of);
}
