#include "collective/nccl/comm.h"

#include <cuda_runtime_api.h>
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compute/cuda/device.h"

struct ga_team {
    size_t count;
    size_t place[GA_CUDA_PLACES];
    ncclComm_t comm[GA_CUDA_PLACES]; /* NULL: none, or aborted */
};

void ga_team_version(char *out, size_t size)
{
    int version = 0;
    if (ncclGetVersion(&version) != ncclSuccess)
        snprintf(out, size, "does not tell its version");
    else
        snprintf(out, size, "%d.%d.%d", version / 10000, version / 100 % 100, version % 100);
}

bool ga_team_available(void)
{
    const char *wanted = getenv("GA_NCCL");
    return !wanted || strcmp(wanted, "0") != 0;
}

static int check(ncclResult_t result, const char *what)
{
    if (result == ncclSuccess || result == ncclInProgress)
        return GA_OK;
    return ga_cuda_host()->fail(GA_EIO,
                                "NCCL: %s: %s (code %d); GA_NCCL=0 in the environment does without",
                                what, ncclGetErrorString(result), (int)result);
}

/* After this nothing of the team runs on any card any more. */
static void abort_all(struct ga_team *team)
{
    for (size_t i = 0; i < team->count; i++) {
        if (team->comm[i])
            (void)ncclCommAbort(team->comm[i]);
        team->comm[i] = NULL;
    }
}

/* What a wait came to, card by card. */
struct watch {
    struct ga_team *team;
    struct CUstream_st *const *stream; /* NULL: the communicators alone are waited for */
    bool done[GA_CUDA_PLACES];
};

/* Rank i: 0, or a failure that names its card. Without either `done` says whether it is through. */
static int look(struct watch *w, size_t i)
{
    const size_t place = w->team->place[i];
    ncclResult_t result = ncclSuccess;
    cudaError_t error = cudaSuccess;
    if (check(ncclCommGetAsyncError(w->team->comm[i], &result), "asking how it is") < 0)
        return ga_cuda_host()->error_code();
    if (result != ncclSuccess && result != ncclInProgress)
        return ga_cuda_host()->fail(GA_EIO, "NCCL: cuda:%zu failed: %s (code %d)", place,
                                    ncclGetErrorString(result), (int)result);
    if (result == ncclSuccess && w->stream)
        error = cudaStreamQuery(w->stream[i]);
    w->done[i] = result == ncclSuccess && error == cudaSuccess;
    if (error == cudaErrorNotReady) {
        (void)cudaGetLastError();
        return GA_OK;
    }
    return ga_cuda_check((int)error, place, "a sum over cards");
}

static size_t look_at_all(struct watch *w, int *code)
{
    size_t left = 0;
    for (size_t i = 0; *code == GA_OK && i < w->team->count; i++) {
        if (!w->done[i])
            *code = look(w, i);
        left += !w->done[i];
    }
    return left;
}

static int fail_late(const struct watch *w, const char *what, double seconds)
{
    char cards[GA_CUDA_PLACES * 10] = "";
    size_t length = 0;
    for (size_t i = 0; i < w->team->count; i++)
        if (!w->done[i] && length < sizeof cards)
            length += (size_t)snprintf(cards + length, sizeof cards - length, "%scuda:%zu",
                                       length > 0 ? ", " : "", w->team->place[i]);
    return ga_cuda_host()->fail(GA_EIO, "NCCL: %s: no answer after %g s from %s", what, seconds,
                                cards);
}

/* Until every rank is through; on failure all are aborted. */
static int wait_for_all(struct ga_team *team, struct CUstream_st *const *stream, const char *what)
{
    struct watch w = {.team = team, .stream = stream};
    struct ga_cuda_patience patience;
    int code = GA_OK;
    ga_cuda_patience_start(&patience);
    while (look_at_all(&w, &code) > 0 && code == GA_OK)
        if (!ga_cuda_patience_wait(&patience))
            code = fail_late(&w, what, patience.limit);
    if (code < 0)
        abort_all(team);
    return code;
}

static int init_ranks(struct ga_team *team)
{
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclUniqueId id;
    int code = check(ncclGetUniqueId(&id), "making an id");
    config.blocking = 0;
    if (code == GA_OK)
        code = check(ncclGroupStart(), "opening a group");
    if (code < 0)
        return code;
    for (size_t i = 0; code == GA_OK && i < team->count; i++) {
        code = ga_cuda_use(team->place[i]);
        if (code == GA_OK)
            code =
                check(ncclCommInitRankConfig(&team->comm[i], (int)team->count, id, (int)i, &config),
                      "opening a rank");
    }
    const ncclResult_t end = ncclGroupEnd();
    return code == GA_OK ? check(end, "opening the ranks") : code;
}

int ga_team_open(struct ga_team **out, const size_t *places, size_t count)
{
    struct ga_team *team = calloc(1, sizeof *team);
    int code = GA_OK;
    *out = NULL;
    if (!team)
        return ga_cuda_host()->fail(GA_ENOMEM, "no memory for a team of %zu cards", count);
    team->count = count;
    memcpy(team->place, places, count * sizeof *places);
    code = init_ranks(team);
    if (code == GA_OK)
        code = wait_for_all(team, NULL, "opening");
    if (code < 0) {
        abort_all(team);
        free(team);
        return code;
    }
    *out = team;
    return GA_OK;
}

void ga_team_close(struct ga_team *team)
{
    for (size_t i = 0; team && i < team->count; i++) {
        if (!team->comm[i])
            continue;
        if (check(ncclCommDestroy(team->comm[i]), "closing a rank") < 0)
            ga_cuda_note();
    }
    free(team);
}

bool ga_team_is_on(const struct ga_team *team, const size_t *places, size_t count)
{
    return team && team->count == count && memcmp(team->place, places, count * sizeof *places) == 0;
}

static int start_rank(struct ga_team *team, size_t i, void *buffer, size_t root, size_t count,
                      enum ga_type type, struct CUstream_st *stream)
{
    const ncclDataType_t kind = type == GA_FLOAT64 ? ncclDouble : ncclFloat;
    if (!team->comm[i])
        return ga_cuda_host()->fail(GA_ESTATE, "NCCL: the team was aborted after a failure");
    if (ga_cuda_use(team->place[i]) < 0)
        return ga_cuda_host()->error_code();
    if (root == GA_TEAM_ALL)
        return check(ncclAllReduce(buffer, buffer, count, kind, ncclSum, team->comm[i], stream),
                     "summing");
    return check(ncclReduce(buffer, buffer, count, kind, ncclSum, (int)root, team->comm[i], stream),
                 "summing");
}

int ga_team_sum(struct ga_team *team, void *const *buffer, size_t root, size_t count,
                enum ga_type type, struct CUstream_st *const *stream)
{
    int code = check(ncclGroupStart(), "opening a group");
    ncclResult_t end = ncclSuccess;
    if (code < 0)
        return code;
    for (size_t i = 0; code == GA_OK && i < team->count; i++)
        code = start_rank(team, i, buffer[i], root, count, type, stream[i]);
    end = ncclGroupEnd();
    if (code == GA_OK)
        code = check(end, "starting a sum");
    if (code < 0) {
        abort_all(team);
        return code;
    }
    return wait_for_all(team, stream, "a sum over cards");
}
