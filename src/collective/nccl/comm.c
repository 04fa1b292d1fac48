#include "collective/nccl/comm.h"

#include <cuda_runtime_api.h>
#include <inttypes.h>
#include <nccl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compute/cuda/device.h"

struct ga_team {
    size_t count;
    size_t place[GA_CUDA_PLACES];
    ncclComm_t comm[GA_CUDA_PLACES];            /* NULL: none, or aborted */
    struct CUevent_st *arrived[GA_CUDA_PLACES]; /* what a rank had to do before the last sum */
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

/* Ranks of one thread wait for each other when they are closed, so they are in one group. */
static int close_ranks(ncclComm_t *comm, size_t count, ncclResult_t (*close)(ncclComm_t comm))
{
    int code = check(ncclGroupStart(), "opening a group");
    if (code < 0)
        return code;
    for (size_t i = 0; i < count; i++) {
        if (comm[i] && check(close(comm[i]), "closing a rank") < 0)
            code = ga_cuda_host()->error_code();
        comm[i] = NULL;
    }
    const ncclResult_t end = ncclGroupEnd();
    return code == GA_OK ? check(end, "closing the ranks") : code;
}

/* Ranks on their way out. */
struct leaving {
    size_t count;
    ncclComm_t comm[GA_CUDA_PLACES];
};

static void *abort_them(void *arg)
{
    struct leaving *leaving = arg;
    (void)close_ranks(leaving->comm, leaving->count, ncclCommAbort);
    free(leaving);
    return NULL;
}

/* When the time is up the thread goes on alone. */
static void wait_for_thread(pthread_t thread)
{
    struct ga_cuda_patience patience;
    struct timespec until;
    ga_cuda_patience_start(&patience);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)patience.limit;
    until.tv_nsec += (long)((patience.limit - (double)(time_t)patience.limit) * 1e9);
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    if (pthread_timedjoin_np(thread, NULL, &until) != 0)
        pthread_detach(thread);
}

/*
 * After this nothing of the team runs any more on cards that answer; the thread's error stays.
 * Aborting gives memory back, which waits without a deadline for a card that hangs: that is left to
 * a thread of its own.
 */
static int abort_all(struct ga_team *team, int code)
{
    char text[GA_ERROR_TEXT];
    struct leaving *leaving = calloc(1, sizeof *leaving);
    pthread_t thread;
    snprintf(text, sizeof text, "%s", ga_cuda_host()->error_text());
    if (!leaving)
        return ga_cuda_host()->fail((enum ga_code)code, "%s", text);
    leaving->count = team->count;
    memcpy(leaving->comm, team->comm, sizeof leaving->comm);
    memset(team->comm, 0, sizeof team->comm);
    if (pthread_create(&thread, NULL, abort_them, leaving) == 0)
        wait_for_thread(thread);
    else
        abort_them(leaving);
    return ga_cuda_host()->fail((enum ga_code)code, "%s", text);
}

/* What a wait came to, rank by rank. */
struct watch {
    struct ga_team *team;
    const struct ga_team_sum *sum; /* NULL: the communicators alone are waited for */
    const char *what;
    bool done[GA_CUDA_PLACES];
    ncclResult_t failed[GA_CUDA_PLACES];
};

/* "cuda:1 (replicas 1, 4)" */
static void name_rank(const struct watch *w, size_t i, char *out, size_t size)
{
    const size_t place = w->team->place[i];
    char who[128] = "";
    if (w->sum && w->sum->who)
        w->sum->who(w->sum->self, place, who, sizeof who);
    snprintf(out, size, who[0] ? "cuda:%zu (%s)" : "cuda:%zu", place, who);
}

/* "collective 7, 100 doubles" */
static void name_work(const struct watch *w, char *out, size_t size)
{
    const struct ga_team_sum *sum = w->sum;
    if (!sum)
        snprintf(out, size, "%s", w->what);
    else
        snprintf(out, size, "collective %" PRIu64 ", %zu %ss", sum->number, sum->count,
                 sum->type == GA_FLOAT64 ? "double" : "float");
}

/* Whether rank i is through; an error of its card, not one of NCCL's, which `failed` keeps. */
static int look(struct watch *w, size_t i)
{
    ncclResult_t result = ncclSuccess;
    cudaError_t error = cudaSuccess;
    char rank[192];
    if (check(ncclCommGetAsyncError(w->team->comm[i], &result), "asking how it is") < 0)
        return ga_cuda_host()->error_code();
    if (result != ncclSuccess && result != ncclInProgress)
        w->failed[i] = result;
    else if (result == ncclSuccess && w->sum)
        error = cudaStreamQuery(w->sum->stream[i]);
    w->done[i] = result == ncclSuccess && error == cudaSuccess;
    if (error == cudaErrorNotReady) {
        (void)cudaGetLastError();
        return GA_OK;
    }
    if (ga_cuda_check((int)error, w->team->place[i], "a sum over cards") == GA_OK)
        return GA_OK;
    name_rank(w, i, rank, sizeof rank);
    return ga_cuda_host()->fail_within("%s", rank);
}

/* Of the ranks that failed: one that did so by itself, before those that only saw it. */
static size_t culprit(const struct watch *w)
{
    size_t first = w->team->count;
    for (size_t i = w->team->count; i-- > 0;)
        if (w->failed[i] != ncclSuccess && w->failed[i] != ncclRemoteError)
            first = i;
    for (size_t i = 0; first == w->team->count && i < w->team->count; i++)
        if (w->failed[i] != ncclSuccess)
            first = i;
    return first;
}

static int fail_if_one_failed(const struct watch *w)
{
    const size_t i = culprit(w);
    char rank[192];
    char work[96];
    if (i == w->team->count)
        return GA_OK;
    name_rank(w, i, rank, sizeof rank);
    name_work(w, work, sizeof work);
    return ga_cuda_host()->fail(GA_EIO, "NCCL: %s: %s failed: %s (code %d)", work, rank,
                                ncclGetErrorString(w->failed[i]), (int)w->failed[i]);
}

/* 0 when all are through. */
static size_t look_at_all(struct watch *w, int *code)
{
    size_t left = 0;
    for (size_t i = 0; *code == GA_OK && i < w->team->count; i++) {
        if (!w->done[i])
            *code = look(w, i);
        left += !w->done[i];
    }
    if (*code == GA_OK)
        *code = fail_if_one_failed(w);
    return left;
}

/* Without a sum there is nothing to arrive at. */
static bool has_arrived(const struct watch *w, size_t i)
{
    return !w->sum || cudaEventQuery(w->team->arrived[i]) == cudaSuccess;
}

/* The ranks that are not through and have, or have not, arrived; how many they are. */
static size_t list_late(const struct watch *w, bool arrived, char *out, size_t size)
{
    size_t length = 0;
    size_t count = 0;
    char rank[192];
    out[0] = '\0';
    for (size_t i = 0; i < w->team->count; i++) {
        if (w->done[i] || has_arrived(w, i) != arrived)
            continue;
        name_rank(w, i, rank, sizeof rank);
        if (length < size)
            length +=
                (size_t)snprintf(out + length, size - length, "%s%s", count > 0 ? ", " : "", rank);
        count++;
    }
    (void)cudaGetLastError();
    return count;
}

static int fail_late(const struct watch *w, double seconds)
{
    char absent[160];
    char stuck[160];
    char work[96];
    const size_t missing = list_late(w, false, absent, sizeof absent);
    const size_t present = list_late(w, true, stuck, sizeof stuck);
    name_work(w, work, sizeof work);
    for (size_t i = 0; i < w->team->count; i++)
        if (!w->done[i] && !has_arrived(w, i))
            ga_cuda_lose(w->team->place[i], w->sum->stream[i], "a sum over cards");
    if (missing == 0)
        return ga_cuda_host()->fail(GA_EIO, "NCCL: %s: no answer after %g s from %s", work, seconds,
                                    stuck);
    return ga_cuda_host()->fail(
        GA_EIO, "NCCL: %s: %s did not arrive within %g s, the last it reached is %" PRIu64 "%s%s",
        work, absent, seconds, w->sum->number - 1, present > 0 ? "; there waited: " : "", stuck);
}

/* Until every rank is through; on failure all are aborted. */
static int wait_for_all(struct ga_team *team, const struct ga_team_sum *sum, const char *what)
{
    struct watch w = {.team = team, .sum = sum, .what = what};
    struct ga_cuda_patience patience;
    int code = GA_OK;
    ga_cuda_patience_start(&patience);
    while (look_at_all(&w, &code) > 0 && code == GA_OK)
        if (!ga_cuda_patience_wait(&patience))
            code = fail_late(&w, patience.limit);
    return code < 0 ? abort_all(team, code) : GA_OK;
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

static int open_events(struct ga_team *team)
{
    for (size_t i = 0; i < team->count; i++) {
        if (ga_cuda_use(team->place[i]) < 0 ||
            ga_cuda_check((int)cudaEventCreateWithFlags(&team->arrived[i], cudaEventDisableTiming),
                          team->place[i], "opening an event") < 0)
            return ga_cuda_host()->error_code();
    }
    return GA_OK;
}

/* Returns at once, also where the event's work has not ended. */
static void close_events(struct ga_team *team)
{
    for (size_t i = 0; i < team->count; i++)
        if (team->arrived[i] && ga_cuda_check((int)cudaEventDestroy(team->arrived[i]),
                                              team->place[i], "closing an event") < 0)
            ga_cuda_note();
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
    code = open_events(team);
    if (code == GA_OK)
        code = init_ranks(team);
    if (code == GA_OK)
        code = wait_for_all(team, NULL, "opening");
    if (code < 0) {
        code = abort_all(team, code);
        close_events(team);
        free(team);
        return code;
    }
    *out = team;
    return GA_OK;
}

void ga_team_close(struct ga_team *team)
{
    if (!team)
        return;
    if (ga_cuda_is_one_lost())
        (void)abort_all(team, GA_EIO);
    else if (close_ranks(team->comm, team->count, ncclCommDestroy) < 0)
        ga_cuda_note();
    close_events(team);
    free(team);
}

bool ga_team_is_on(const struct ga_team *team, const size_t *places, size_t count)
{
    return team && team->count == count && memcmp(team->place, places, count * sizeof *places) == 0;
}

static int start_rank(struct ga_team *team, size_t i, const struct ga_team_sum *sum)
{
    const ncclDataType_t kind = sum->type == GA_FLOAT64 ? ncclDouble : ncclFloat;
    void *buffer = sum->buffer[i];
    struct CUstream_st *stream = sum->stream[i];
    if (ga_cuda_use(team->place[i]) < 0 ||
        ga_cuda_check((int)cudaEventRecord(team->arrived[i], stream), team->place[i],
                      "marking a sum's start") < 0)
        return ga_cuda_host()->error_code();
    if (sum->root == GA_TEAM_ALL)
        return check(
            ncclAllReduce(buffer, buffer, sum->count, kind, ncclSum, team->comm[i], stream),
            "summing");
    return check(ncclReduce(buffer, buffer, sum->count, kind, ncclSum, (int)sum->root,
                            team->comm[i], stream),
                 "summing");
}

int ga_team_sum(struct ga_team *team, const struct ga_team_sum *sum)
{
    int code = GA_OK;
    ncclResult_t end = ncclSuccess;
    if (!team->comm[0])
        return ga_cuda_host()->fail(GA_ESTATE, "NCCL: the team was aborted after a failure");
    code = check(ncclGroupStart(), "opening a group");
    if (code < 0)
        return code;
    for (size_t i = 0; code == GA_OK && i < team->count; i++)
        code = start_rank(team, i, sum);
    end = ncclGroupEnd();
    if (code == GA_OK)
        code = check(end, "starting a sum");
    return code < 0 ? abort_all(team, code) : wait_for_all(team, sum, NULL);
}
