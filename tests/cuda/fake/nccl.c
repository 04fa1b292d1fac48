/*
 * The collectives of the fake: ranks of one process on fake cards. A collective starts when all its
 * ranks have asked for it, and until then the streams of those that have are not done. Ranks are
 * added from the last to the first, so that a result that hangs on the order shows.
 *
 * Faults: two ranks on one card, ranks that ask for different things, buffers that are shorter than
 * the count, a rank used before it is open, a call outside a group for one of several ranks that a
 * thread has, also one that closes it (real ones wait for each other there), a group that closes
 * some and not all. Whoever closes a rank waits for the others of its team to be closed, and for
 * its card, as long as that hangs.
 * Words for fake_set() beside those of the runtime: "absent=R": rank R never does what it is
 * asked for; "async=R": rank R fails in the background at the next collective, and its peers see
 * it; "jam=D": a collective's call for device D does not return until "jam=-1".
 */
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

#define RANKS  FAKE_DEVICES
#define TEAMS  64
#define QUEUED 64

enum { CALL_REDUCE, CALL_ALL_REDUCE };

struct call {
    int kind, root;
    const void *send;
    void *receive;
    size_t count;
    ncclDataType_t type;
    ncclRedOp_t op;
    cudaStream_t stream;
};

struct ncclComm {
    struct team *team;
    int rank, device;
    pthread_t thread; /* that opened it */
    ncclResult_t async;
    bool absent;
    int looks; /* how often it has been asked whether it is open */
    struct call queue[QUEUED];
    size_t asked, done;
};

struct team {
    uint64_t id;
    int ranks, left; /* left: in the group under way */
    struct ncclComm *comm[RANKS];
};

static struct team teams[TEAMS];
static uint64_t ids;
static _Thread_local int depth;
static _Thread_local unsigned closing; /* devices whose ranks the group under way closes, as bits */

ncclResult_t ncclGetVersion(int *version)
{
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result)
{
    return result == ncclSuccess ? "no error"
           : result == ncclInternalError
               ? "internal error - please report this issue to the NCCL developers"
           : result == ncclInvalidUsage ? "invalid usage"
           : result == ncclRemoteError  ? "remote process exited or there was a network error"
                                        : "unhandled cuda error";
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    struct fake *fake = fake_enter();
    memset(id, 0, sizeof *id);
    ids++;
    memcpy(id, &ids, sizeof ids);
    fake_leave(fake, cudaSuccess);
    return ncclSuccess;
}

/* The team with this id, or a free one. */
static struct team *team_of(uint64_t id, int ranks)
{
    struct team *empty = NULL;
    for (size_t i = 0; i < TEAMS; i++) {
        if (teams[i].id == id)
            return &teams[i];
        if (teams[i].id == 0)
            empty = &teams[i];
    }
    if (empty)
        *empty = (struct team){.id = id, .ranks = ranks};
    return empty;
}

static ncclResult_t fault(struct fake *fake, const char *text)
{
    fake_fault(fake, "NCCL: %s", text);
    return ncclInvalidUsage;
}

/* Whether another rank of the team is this thread's. */
static bool has_another(const struct team *team, int rank)
{
    bool found = false;
    for (int i = 0; !found && i < team->ranks; i++)
        found = i != rank && team->comm[i] && pthread_equal(team->comm[i]->thread, pthread_self());
    return found;
}

static ncclResult_t join(struct fake *fake, ncclComm_t *out, int ranks, uint64_t id, int rank)
{
    struct team *team = team_of(id, ranks);
    int device = 0;
    (void)cudaGetDevice(&device);
    if (depth == 0 && team && has_another(team, rank))
        return fault(fake, "one of several ranks is opened outside a group");
    if (!team || team->ranks != ranks || rank < 0 || rank >= ranks || team->comm[rank])
        return fault(fake, "a rank that does not fit its team");
    for (int i = 0; i < ranks; i++)
        if (team->comm[i] && team->comm[i]->device == device)
            return fault(fake, "duplicate GPU");
    *out = calloc(1, sizeof **out);
    if (!*out)
        return ncclSystemError;
    (*out)->team = team;
    (*out)->rank = rank;
    (*out)->device = device;
    (*out)->thread = pthread_self();
    team->comm[rank] = *out;
    return ncclInProgress;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *out, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t *config)
{
    struct fake *fake = fake_enter();
    uint64_t number = 0;
    ncclResult_t result = ncclSuccess;
    memcpy(&number, &id, sizeof number);
    result = config->blocking != 0 ? fault(fake, "a rank that blocks")
                                   : join(fake, out, ranks, number, rank);
    fake_leave(fake, cudaSuccess);
    return result;
}

static int members(const struct team *team)
{
    int count = 0;
    for (int i = 0; i < team->ranks; i++)
        count += team->comm[i] != NULL;
    return count;
}

/* Opening takes a while, and never ends while a rank is missing. */
static ncclResult_t state_of(struct ncclComm *comm)
{
    if (comm->async != ncclSuccess)
        return comm->async;
    if (members(comm->team) < comm->team->ranks || depth > 0)
        return ncclInProgress;
    return comm->looks++ < 2 ? ncclInProgress : ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *result)
{
    struct fake *fake = fake_enter();
    *result = state_of(comm);
    fake_leave(fake, cudaSuccess);
    return ncclSuccess;
}

/* Without a group: until the others are closed, too, and the card rests. */
static void wait_for_peers(struct fake *fake, const struct team *team, uint64_t id, int device)
{
    while (team->id == id)
        pthread_cond_wait(&fake->resumed, &fake->lock);
    fake_wait_for(fake, device);
}

static ncclResult_t leave(struct fake *fake, struct ncclComm *comm, bool aborted)
{
    struct team *team = comm->team;
    const bool pending = comm->done < comm->asked;
    const bool alone = !has_another(team, comm->rank);
    const uint64_t id = team->id;
    const int device = comm->device;
    for (; comm->done < comm->asked; comm->done++)
        comm->queue[comm->done % QUEUED].stream->waits = false;
    team->comm[comm->rank] = NULL;
    team->left += depth > 0;
    closing |= depth > 0 ? 1u << device : 0;
    if (members(team) == 0)
        team->id = 0;
    pthread_cond_broadcast(&fake->resumed);
    free(comm);
    if (depth == 0 && !alone)
        return fault(fake, "one of several ranks is closed outside a group");
    if (depth == 0)
        wait_for_peers(fake, team, id, device);
    return pending && !aborted ? fault(fake, "a rank is closed in the middle of a collective")
                               : ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    struct fake *fake = fake_enter();
    const ncclResult_t result = leave(fake, comm, false);
    fake_leave(fake, cudaSuccess);
    return result;
}

ncclResult_t ncclCommAbort(ncclComm_t comm)
{
    struct fake *fake = fake_enter();
    const ncclResult_t result = leave(fake, comm, true);
    fake_leave(fake, cudaSuccess);
    return result;
}

static size_t bytes_of(const struct call *call)
{
    return call->count * (call->type == ncclDouble ? sizeof(double) : sizeof(float));
}

/* Checked when it is asked for: the buffers, the card, the stream. */
static ncclResult_t check_call(struct fake *fake, const struct ncclComm *comm,
                               const struct call *call)
{
    const void *const buffer[] = {call->send, call->receive};
    for (size_t i = 0; i < 2; i++) {
        size_t offset = 0;
        const struct fake_block *block = fake_find(fake, buffer[i], bytes_of(call), &offset);
        if (!block)
            return fault(fake, "a buffer is shorter than the count, which is of elements");
        if (block->device != comm->device)
            return fault(fake, "a buffer of another card");
    }
    if (!call->stream || call->stream->device != comm->device)
        return fault(fake, "a stream of another card");
    if (call->op != ncclSum || (call->type != ncclDouble && call->type != ncclFloat))
        return fault(fake, "only sums of float and double are known here");
    return ncclSuccess;
}

static bool alike(const struct call *a, const struct call *b)
{
    return a->kind == b->kind && a->root == b->root && a->count == b->count && a->type == b->type;
}

static char *real_at(struct fake *fake, const void *at, size_t bytes)
{
    size_t offset = 0;
    struct fake_block *block = fake_find(fake, at, bytes, &offset);
    return block ? block->real + offset : NULL;
}

static void add_up(char *sum, const char *from, const struct call *call)
{
    for (size_t i = 0; i < call->count; i++) {
        if (call->type == ncclDouble)
            ((double *)(void *)sum)[i] += ((const double *)(const void *)from)[i];
        else
            ((float *)(void *)sum)[i] += ((const float *)(const void *)from)[i];
    }
}

static cudaError_t touch(struct fake *fake, const struct call *call, bool receives)
{
    size_t offset = 0;
    struct fake_block *block = fake_find(fake, call->send, bytes_of(call), &offset);
    cudaError_t code = fake_touch(fake, call->stream, block, offset, bytes_of(call), false, "NCCL");
    if (code != cudaSuccess || !receives)
        return code;
    block = fake_find(fake, call->receive, bytes_of(call), &offset);
    return fake_touch(fake, call->stream, block, offset, bytes_of(call), true, "NCCL");
}

/* All ranks are there: what was before it on any of their streams is before it on all. */
static ncclResult_t run(struct fake *fake, struct team *team, struct call *const *call)
{
    const size_t bytes = bytes_of(call[0]);
    uint64_t clock[FAKE_STREAMS] = {0};
    char *sum = calloc(bytes > 0 ? bytes : 1, 1);
    cudaError_t code = sum ? cudaSuccess : cudaErrorMemoryAllocation;
    for (int i = 0; i < team->ranks; i++) {
        call[i]->stream->waits = false;
        fake_join(clock, fake->clock[call[i]->stream->number]);
    }
    for (int i = team->ranks; code == cudaSuccess && i-- > 0;)
        add_up(sum, real_at(fake, call[i]->send, bytes), call[i]);
    for (int i = 0; code == cudaSuccess && i < team->ranks; i++) {
        const bool receives = call[i]->kind == CALL_ALL_REDUCE || call[i]->root == i;
        fake_join(fake->clock[call[i]->stream->number], clock);
        code = touch(fake, call[i], receives);
        if (receives)
            memcpy(real_at(fake, call[i]->receive, bytes), sum, bytes);
    }
    free(sum);
    return code == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

/* Every collective that all ranks of the team have asked for. */
static ncclResult_t advance(struct fake *fake, struct team *team)
{
    struct call *call[RANKS];
    ncclResult_t result = ncclSuccess;
    while (result == ncclSuccess) {
        for (int i = 0; i < team->ranks; i++) {
            struct ncclComm *comm = team->comm[i];
            if (!comm || comm->async != ncclSuccess || comm->absent || comm->done == comm->asked)
                return ncclSuccess;
            call[i] = &comm->queue[comm->done % QUEUED];
            if (call[i]->stream->hangs)
                return ncclSuccess;
            if (!alike(call[i], call[0]))
                return fault(fake, "ranks ask for different collectives");
        }
        result = run(fake, team, call);
        for (int i = 0; i < team->ranks; i++)
            team->comm[i]->done++;
    }
    return result;
}

/* As the real one does it: where its environment says, or to the terminal. */
static void warn(int device, const char *text)
{
    const char *path = getenv("NCCL_DEBUG_FILE");
    FILE *file = path ? fopen(path, "a") : stdout;
    if (getenv("NCCL_DEBUG") && file)
        fprintf(file, "\nhost:1:1 [%d] fake.cc:1 NCCL WARN %s\n", device, text);
    if (path && file)
        fclose(file);
}

static ncclResult_t ask(struct fake *fake, struct ncclComm *comm, const struct call *call)
{
    ncclResult_t result = check_call(fake, comm, call);
    if (result != ncclSuccess)
        return result;
    if (depth == 0 && has_another(comm->team, comm->rank))
        return fault(fake, "a collective of one of several ranks outside a group");
    while (fake->jam == comm->device)
        pthread_cond_wait(&fake->resumed, &fake->lock);
    if (comm->looks < 3)
        return fault(fake, "a rank is used before it is open");
    if (fake_begin(fake, call->stream) != cudaSuccess)
        return ncclUnhandledCudaError;
    if (comm->asked - comm->done == QUEUED)
        return fault(fake, "too much is asked of a rank while others are missing");
    comm->absent = comm->absent || fake->absent == comm->rank;
    if (fake->async == comm->rank) {
        warn(comm->device, "a card fell off the bus");
        for (int i = 0; i < comm->team->ranks; i++)
            if (comm->team->comm[i])
                comm->team->comm[i]->async = i == comm->rank ? ncclInternalError : ncclRemoteError;
        fake->async = -1;
    }
    call->stream->waits = true;
    comm->queue[comm->asked++ % QUEUED] = *call;
    return depth == 0 ? advance(fake, comm->team) : ncclSuccess;
}

static ncclResult_t end_for(struct fake *fake, struct team *team)
{
    const int left = team->left;
    team->left = 0;
    if (left > 0)
        return fault(fake, "a group closes some ranks of a team and not the others");
    return advance(fake, team);
}

ncclResult_t ncclGroupStart(void)
{
    depth++;
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void)
{
    struct fake *fake = fake_enter();
    ncclResult_t result = ncclSuccess;
    if (depth == 0)
        result = fault(fake, "a group ends that was not opened");
    else
        depth--;
    for (int device = 0; depth == 0 && device < FAKE_DEVICES; device++)
        if (closing >> device & 1)
            fake_wait_for(fake, device);
    closing = depth == 0 ? 0 : closing;
    for (size_t i = 0; depth == 0 && result == ncclSuccess && i < TEAMS; i++)
        if (teams[i].id != 0)
            result = end_for(fake, &teams[i]);
    fake_leave(fake, cudaSuccess);
    return result;
}

ncclResult_t ncclReduce(const void *send, void *receive, size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream)
{
    const struct call call = {CALL_REDUCE, root, send, receive, count, type, op, stream};
    struct fake *fake = fake_enter();
    const ncclResult_t result = ask(fake, comm, &call);
    fake_leave(fake, cudaSuccess);
    return result;
}

ncclResult_t ncclAllReduce(const void *send, void *receive, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    const struct call call = {CALL_ALL_REDUCE, 0, send, receive, count, type, op, stream};
    struct fake *fake = fake_enter();
    const ncclResult_t result = ask(fake, comm, &call);
    fake_leave(fake, cudaSuccess);
    return result;
}
