/*
 * A CUDA runtime without a card, for tests: it stands in the place of libcudart under the module
 * that is shipped. Each device has memory of its own behind addresses that the host cannot read,
 * and a limit. Kernels are found by name and run as C at once; what a card might do in any order is
 * instead held against the order that streams, events and waits give: an access that nothing orders
 * behind another one to the same bytes is a fault, also where the numbers come out right.
 *
 * Copies to pinned memory arrive when the host waits for them and not before; copies from it must
 * find it unchanged until then. All threads of the host count as one: what one has waited for, all
 * have.
 *
 * A fault makes the call fail with cudaErrorAssert, and its text is that of cudaGetErrorString().
 * GA_FAKE_CUDA in the environment, or fake_set(), takes words such as "devices=3 memory=1000000":
 *
 * - devices N: cards; 0: none, and no driver
 * - memory N: bytes of each
 * - oom N: the Nth allocation from now fails
 * - lost N: the Nth piece of work from now, and all that follows, finds no card
 * - deaf N: the next N questions whether a stream is done are answered with yes, and its work stays
 *   under way: a wait that was left out
 * - unfused N: not 0: no way is known to do relu as part of a product
 * - hang N: the stream of the Nth piece of work from now is never done with it
 * - stuck D: no stream of device D is done with what it is given from now on
 * - crew N: a block of threads is N helpers side by side, so that a thread sanitizer sees a meeting
 *   that was left out
 * - resume (without a number): what hangs is done after all
 */
#ifndef GA_TESTS_CUDA_FAKE_FAKE_H
#define GA_TESTS_CUDA_FAKE_FAKE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#define FAKE_DEVICES 16
#define FAKE_STREAMS 512
#define FAKE_FORKS   8 /* streams of a capture */
#define FAKE_CREW    8

struct fake_access {
    size_t begin, end; /* bytes of the block */
    int stream;
    uint64_t at; /* its place in the stream's order */
    bool write;
    struct fake_access *next;
};

struct fake_block {
    char *real;
    size_t bytes;
    int device; /* -1: pinned memory of the host */
    struct fake_access *access;
};

struct CUstream_st {
    int number, device;
    bool hangs;
    bool waits;                   /* for ranks of NCCL that have not come yet */
    struct fake_capture *capture; /* NULL: its work is done */
    int lane;                     /* its number in the capture */
};

struct CUevent_st {
    int stream; /* whose work it marks; -1: not recorded */
    uint64_t clock[FAKE_STREAMS];
    bool hangs;
    bool untimed;
    int64_t at_ns;              /* when it was recorded last, on the host's clock */
    uint64_t capture;           /* that it was recorded in; 0: none */
    uint64_t known[FAKE_FORKS]; /* there: how much of each stream comes before */
};

/* A copy under way between the device and pinned memory. */
struct fake_copy {
    int stream;
    uint64_t at;
    char *host;
    char *data; /* what arrives; NULL: the host is read, and must not change */
    size_t bytes;
    uint64_t sum;
    struct fake_copy *next;
};

struct fake {
    pthread_mutex_t lock;
    pthread_cond_t resumed;
    bool ready;
    int devices;
    size_t memory, used[FAKE_DEVICES];
    long oom, lost, hang; /* counted down to 0; -1: never */
    long absent, async;   /* ranks of NCCL; -1: none */
    long stuck, jam;      /* a device; -1: none */
    long unfused, deaf, crew;
    bool gone;
    struct fake_block **block; /* by the address that was handed out */
    size_t blocks, room;
    struct fake_copy *copy;
    struct CUstream_st *stream[FAKE_STREAMS];
    uint64_t count[FAKE_STREAMS];               /* work given to each stream */
    uint64_t clock[FAKE_STREAMS][FAKE_STREAMS]; /* what each stream's next work comes behind */
    uint64_t host[FAKE_STREAMS];                /* what the host has waited for */
    size_t faults;
    char text[400];    /* of the first fault */
    uint64_t captures; /* begun */
    size_t launches;   /* of graphs */
};

/* Locked until fake_leave(), which keeps the code as the thread's last error. */
struct fake *fake_enter(void);
cudaError_t fake_leave(struct fake *fake, cudaError_t code);

/* Until nothing hangs on the device: what the real calls do that give memory back. */
void fake_wait_for(struct fake *fake, int device);

/* Notes a fault and gives cudaErrorAssert. */
cudaError_t fake_fault(struct fake *fake, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The block that holds [at, at + bytes), handed-out addresses for devices; else NULL. `*offset` is
 * where in it. */
struct fake_block *fake_find(struct fake *fake, const void *at, size_t bytes, size_t *offset);

int fake_current(void); /* the thread's device */

/* What the host may not read stands for real memory this far above. */
void *fake_handed(const struct fake_block *block);

/* Starts a piece of work: cudaSuccess, or why there is none to start. */
cudaError_t fake_begin(struct fake *fake, cudaStream_t stream);
/* It reads or writes part of a block. */
cudaError_t fake_touch(struct fake *fake, cudaStream_t stream, struct fake_block *block,
                       size_t offset, size_t bytes, bool write, const char *who);

void fake_join(uint64_t *clock, const uint64_t *other);
/* The host has waited for all this: copies arrive. */
cudaError_t fake_host_knows(struct fake *fake, const uint64_t *clock);

uint64_t fake_sum(const char *bytes, size_t count); /* FNV-1a */

bool fake_unfused(void);

/* ---- graphs ---- */

/* Does what was noted; the data are what it was noted with. */
typedef cudaError_t fake_replay(struct fake *fake, const void *data, cudaStream_t stream);

/* True where the stream captures: then it is noted, or *code says why not. */
bool fake_note(cudaStream_t stream, fake_replay *replay, const void *data, size_t bytes,
               cudaError_t *code);
bool fake_note_record(cudaEvent_t event, cudaStream_t stream);
bool fake_note_wait(cudaStream_t stream, cudaEvent_t event, cudaError_t *code);
/* Of a call that waits for the stream, or, with NULL, that no thread may make while it captures. */
cudaError_t fake_waits(const struct CUstream_st *stream);

/* Runs a kernel by name, with so many bytes of a block's memory; its pointers are checked first. */
cudaError_t fake_run(struct fake *fake, const char *name, const void *args, size_t shared,
                     cudaStream_t stream);

/* For tests, by dlsym(). */
__attribute__((visibility("default"))) void fake_set(const char *words);
__attribute__((visibility("default"))) size_t fake_faults(const char **text);
/* How many, without forgetting them; and without a lock, for those who hold it. */
__attribute__((visibility("default"))) size_t fake_text(const char **text);
/* How many nobody has asked for yet. */
__attribute__((visibility("default"))) size_t fake_faulty(void);
__attribute__((visibility("default"))) size_t fake_used(int device);
/* Streams with work that the host has not waited for. */
__attribute__((visibility("default"))) size_t fake_under_way(void);
__attribute__((visibility("default"))) size_t fake_launches(void); /* of graphs */
__attribute__((visibility("default"))) cudaError_t fake_launch(const char *name, const void *args,
                                                               cudaStream_t stream);

#endif
