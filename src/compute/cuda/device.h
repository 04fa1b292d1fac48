/*
 * Cards from the module's side: errors with a name, the card a buffer lies on, streams that are
 * waited for with a deadline, room that grows, and one desk for each card where calls without a
 * context of their own do their work. CUDA's types stay in the files that use them: codes are those
 * of cudaError_t, a stream is a cudaStream_t.
 *
 * A place is a card's number in the runtime. Threads: any; a desk is held by one at a time.
 */
#ifndef GA_COMPUTE_CUDA_DEVICE_H
#define GA_COMPUTE_CUDA_DEVICE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "compute/cuda/module.h"

struct CUstream_st;

#define GA_CUDA_PLACES 64 /* cards at the most */

/* The host's table; set once, before anything else here is called. */
const struct ga_host *ga_cuda_host(void);
void ga_cuda_set_host(const struct ga_host *host);

/*
 * GA_OK for code 0. Otherwise clears the runtime's error and fails with "cuda:PLACE: WHAT: its
 * text (its name, code N)": GA_ENOMEM for memory, GA_EUNSUPPORTED without a driver or card, else
 * GA_EIO.
 */
int ga_cuda_check(int code, size_t place, const char *what);

/* How many cards there are; without any the runtime's own reason. */
int ga_cuda_places(size_t *count);

/* The calling thread works on this card from now on. Fails for a card that is lost. */
int ga_cuda_use(size_t place);

/*
 * A card is lost when work of `stream`, `what` (a literal), did not end in time. CUDA waits for all
 * of a card's work when memory is given back, without a deadline: so what a lost card holds, stream
 * and all, stays with it for good, and the functions below leave it there. ga_cuda_revive() forgets
 * the first failure that was noted, and finds a card again whose stream has ended after all.
 */
void ga_cuda_lose(size_t place, struct CUstream_st *stream, const char *what);
/* The same for a call that has not returned: the card is not found again before it has. */
void ga_cuda_lose_call(size_t place, struct CUstream_st *stream, const char *what);
void ga_cuda_call_returned(size_t place);
bool ga_cuda_is_lost(size_t place);
bool ga_cuda_is_one_lost(void); /* then pinned memory stays as well, which all cards can reach */
void ga_cuda_revive(void);

/* The card that device memory lies on. */
int ga_cuda_place_of(const void *buffer, size_t *place);

/* How long is waited for a card: as many seconds as GA_CUDA_DEADLINE in the environment says, else
 * a minute. wait() lets a moment pass, and is false when the time is up. */
struct ga_cuda_patience {
    double limit; /* seconds */
    struct timespec start;
};
void ga_cuda_patience_start(struct ga_cuda_patience *patience);
bool ga_cuda_patience_wait(const struct ga_cuda_patience *patience);

/* Until all work of the stream is done; fails with the first error of it, or when it takes too
 * long: then the card is lost.
 */
int ga_cuda_wait(struct CUstream_st *stream, size_t place, const char *what);

/* Takes the stream; an error is noted. NULL is fine. */
void ga_cuda_stream_close(struct CUstream_st *stream, size_t place);

void *ga_cuda_alloc(size_t bytes, size_t place); /* zeroed; NULL with an error */
/* On the thread's card, with what was in it; copies of held blocks make way for it. */
void *ga_cuda_take(size_t bytes, size_t place, enum ga_device_use use);
bool ga_cuda_fits(size_t bytes); /* so much is free on the thread's card */
void ga_cuda_free(void *buffer);
void ga_cuda_free_host(void *buffer); /* pinned memory */

/*
 * From begins() to ended() sums of several cards are under way while their owner goes on: giving
 * memory back waits for all of a card's work, and that may wait for a card that never comes. So
 * what is given back meanwhile stays until the last such sum has ended.
 */
void ga_cuda_sum_begins(void);
void ga_cuda_sum_ended(void);
int ga_cuda_copy_in(void *device, const void *host, size_t bytes);
int ga_cuda_copy_out(void *host, const void *device, size_t bytes);
int ga_cuda_copy(void *to, const void *from, size_t bytes);

/* Keeps the calling thread's error as the first failure, unless there is one; see ga_device_memory.
 */
void ga_cuda_note(void);
int ga_cuda_poll(void);

/* Device memory and pinned host memory of a card, both only for their owner. */
struct ga_cuda_room {
    size_t place;
    enum ga_device_use use; /* of the card's part; by itself: work */
    void *device, *host;
    size_t device_bytes, host_bytes;
};

/* Makes both at least this large; what was in them is lost. On failure they stay as they were. */
int ga_cuda_room_grow(struct ga_cuda_room *room, size_t device_bytes, size_t host_bytes);
void ga_cuda_room_fini(struct ga_cuda_room *room);

struct ga_cuda_desk {
    pthread_mutex_t lock;
    struct CUstream_st *stream;
    struct ga_cuda_room room;
};

/* Waits for the card's desk and makes the card the thread's; NULL with an error, then nothing is
 * held. */
struct ga_cuda_desk *ga_cuda_desk_take(size_t place);
void ga_cuda_desk_leave(struct ga_cuda_desk *desk);

int ga_cuda_card(size_t place, struct ga_cuda_card *out);

#endif
