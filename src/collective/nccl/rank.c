#include "collective/nccl/rank.h"

#include <cuda_runtime_api.h>
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(ncclUniqueId) == GA_RANK_ID_BYTES, "an id fits its place");

int ga_rank_check(int result, const char *what)
{
    if (result == (int)ncclSuccess || result == (int)ncclInProgress)
        return GA_OK;
    return ga_cuda_host()->fail(GA_EIO,
                                "NCCL: %s: %s (code %d); GA_NCCL=0 in the environment does without",
                                what, ncclGetErrorString((ncclResult_t)result), result);
}

void ga_team_leave(struct ga_team *team)
{
    const bool last = --team->users == 0;
    pthread_mutex_unlock(&team->lock);
    if (!last)
        return;
    pthread_cond_destroy(&team->told);
    pthread_cond_destroy(&team->asked);
    pthread_mutex_destroy(&team->lock);
    free(team);
}

/* The thread's error becomes the rank's. */
static void note(struct ga_rank *rank)
{
    pthread_mutex_lock(&rank->team->lock);
    if (rank->code == GA_OK) {
        rank->code = ga_cuda_host()->error_code();
        snprintf(rank->text, sizeof rank->text, "%s", ga_cuda_host()->error_text());
    }
    pthread_cond_broadcast(&rank->team->told);
    pthread_mutex_unlock(&rank->team->lock);
}

static void note_there(struct ga_rank *rank)
{
    pthread_mutex_lock(&rank->team->lock);
    rank->there = true;
    pthread_mutex_unlock(&rank->team->lock);
}

static void note_failed(struct ga_rank *rank, ncclResult_t result)
{
    pthread_mutex_lock(&rank->team->lock);
    rank->failed = (int)result;
    pthread_cond_broadcast(&rank->team->told);
    pthread_mutex_unlock(&rank->team->lock);
}

/* ncclSuccess, ncclInProgress, or what went wrong, which is noted. */
static ncclResult_t ask(struct ga_rank *rank)
{
    ncclResult_t result = ncclInProgress;
    const ncclResult_t asked = ncclCommGetAsyncError(rank->comm, &result);
    if (asked != ncclSuccess) {
        (void)ga_rank_check((int)asked, "asking how it is");
        note(rank);
        return asked;
    }
    if (result != ncclSuccess && result != ncclInProgress)
        note_failed(rank, result);
    return result;
}

/* Until NCCL is through with the last call, or has failed; whether it is. */
static bool settle(struct ga_rank *rank)
{
    struct ga_cuda_patience patience;
    ncclResult_t result = ask(rank);
    ga_cuda_patience_start(&patience);
    while (result == ncclInProgress && !atomic_load(&rank->team->stop)) {
        (void)ga_cuda_patience_wait(&patience); /* the deadline is the owner's */
        result = ask(rank);
    }
    return result == ncclSuccess;
}

/* Whether all of the card's work for the sum is done; *code is bad where the card fails. */
static bool is_done(struct ga_rank *rank, int *code)
{
    const cudaError_t error = cudaStreamQuery(rank->stream);
    if (error != cudaErrorNotReady) {
        *code = ga_cuda_check((int)error, rank->place, "a sum over cards");
        return error == cudaSuccess;
    }
    (void)cudaGetLastError();
    if (cudaEventQuery(rank->before) == cudaSuccess)
        note_there(rank);
    (void)cudaGetLastError();
    return false;
}

static void wait_for_card(struct ga_rank *rank)
{
    struct ga_cuda_patience patience;
    int code = GA_OK;
    ga_cuda_patience_start(&patience);
    while (!is_done(rank, &code) && code == GA_OK && !atomic_load(&rank->team->stop)) {
        (void)ga_cuda_patience_wait(&patience);
        if (ask(rank) != ncclSuccess)
            return;
    }
    if (code < 0)
        note(rank);
}

static void open_rank(struct ga_rank *rank)
{
    struct ga_team *team = rank->team;
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclUniqueId id;
    memcpy(&id, team->id, sizeof id);
    config.blocking = 0;
    if (ga_cuda_use(rank->place) < 0 ||
        ga_cuda_check((int)cudaEventCreateWithFlags(&rank->arrived, cudaEventDisableTiming),
                      rank->place, "opening an event") < 0 ||
        ga_rank_check(
            (int)ncclCommInitRankConfig(&rank->comm, (int)team->count, id, rank->number, &config),
            "opening a rank") < 0)
        note(rank);
    else
        (void)settle(rank);
}

/* Elements that this rank does not get go nowhere: NCCL writes to the root's buffer only. */
static int start_piece(struct ga_rank *rank, const struct ga_team_piece *piece)
{
    const struct ga_team_sum *sum = &rank->team->sum;
    const bool wide = sum->type == GA_FLOAT64;
    const ncclDataType_t kind = wide ? ncclDouble : ncclFloat;
    const size_t at = piece->first * (wide ? sizeof(double) : sizeof(float));
    const char *from = (const char *)rank->from + at;
    char *to = rank->buffer ? (char *)rank->buffer + at : NULL;
    if (piece->mark && ga_cuda_check((int)cudaStreamWaitEvent(rank->stream, piece->mark, 0),
                                     rank->place, "waiting for sums") < 0)
        return ga_cuda_host()->error_code();
    if (sum->root == GA_TEAM_ALL)
        return ga_rank_check(
            (int)ncclAllReduce(from, to, piece->count, kind, ncclSum, rank->comm, rank->stream),
            "summing");
    return ga_rank_check((int)ncclReduce(from, to, piece->count, kind, ncclSum, (int)sum->root,
                                         rank->comm, rank->stream),
                         "summing");
}

/* What the card has to do before the sum: what is in the stream, or up to the last mark. */
static int note_before(struct ga_rank *rank)
{
    const struct ga_team_piece *last = &rank->piece[rank->team->sum.pieces - 1];
    rank->before = last->mark ? last->mark : rank->arrived;
    if (ga_cuda_use(rank->place) < 0)
        return ga_cuda_host()->error_code();
    if (last->mark)
        return GA_OK;
    return ga_cuda_check((int)cudaEventRecord(rank->arrived, rank->stream), rank->place,
                         "marking a sum's start");
}

/* A communicator that does not block takes the next call when it is through with the last one. */
static void sum_rank(struct ga_rank *rank)
{
    int code = note_before(rank);
    for (size_t p = 0; code == GA_OK && p < rank->team->sum.pieces; p++) {
        code = start_piece(rank, &rank->piece[p]);
        if (code == GA_OK && !settle(rank))
            return;
    }
    if (code < 0)
        note(rank);
    else
        wait_for_card(rank);
}

/* Returns at once, also where the event's work has not ended. */
static void close_event(struct ga_rank *rank)
{
    if (rank->arrived &&
        ga_cuda_check((int)cudaEventDestroy(rank->arrived), rank->place, "closing an event") < 0)
        note(rank);
    rank->arrived = NULL;
}

static void end_rank(struct ga_rank *rank, ncclResult_t (*end)(ncclComm_t comm))
{
    if (rank->comm && ga_rank_check((int)end(rank->comm), "closing a rank") < 0)
        note(rank);
    rank->comm = NULL;
    close_event(rank);
}

static void close_rank(struct ga_rank *rank)
{
    end_rank(rank, ncclCommDestroy);
}

/* Gives memory back, which waits without a deadline for a card that hangs. */
static void abort_rank(struct ga_rank *rank)
{
    end_rank(rank, ncclCommAbort);
}

static const struct {
    void (*work)(struct ga_rank *rank);
    bool last;
} jobs[] = {
    [GA_RANK_OPEN] = {open_rank, false},
    [GA_RANK_SUM] = {sum_rank, false},
    [GA_RANK_CLOSE] = {close_rank, true},
    [GA_RANK_ABORT] = {abort_rank, true},
};

static void *rank_main(void *arg)
{
    struct ga_rank *rank = arg;
    struct ga_team *team = rank->team;
    uint64_t done = 0;
    bool last = false;
    pthread_mutex_lock(&team->lock);
    while (!last) {
        while (team->jobs == done)
            pthread_cond_wait(&team->asked, &team->lock);
        const enum ga_rank_job job = team->job;
        done = team->jobs;
        rank->leaving = last = jobs[job].last;
        pthread_mutex_unlock(&team->lock);
        jobs[job].work(rank);
        pthread_mutex_lock(&team->lock);
        rank->busy = team->jobs != done;
        if (rank->given_up)
            ga_cuda_call_returned(rank->place);
        rank->given_up = false;
        pthread_cond_broadcast(&team->told);
    }
    ga_team_leave(team);
    return NULL;
}

int ga_rank_start(struct ga_rank *rank)
{
    struct ga_team *team = rank->team;
    int failed = 0;
    pthread_mutex_lock(&team->lock);
    team->users++;
    pthread_mutex_unlock(&team->lock);
    failed = pthread_create(&rank->thread, NULL, rank_main, rank);
    rank->runs = failed == 0;
    if (failed == 0)
        return GA_OK;
    pthread_mutex_lock(&team->lock);
    team->users--;
    pthread_mutex_unlock(&team->lock);
    return ga_cuda_host()->fail(GA_ENOMEM, "cannot start a thread for cuda:%zu (errno %d)",
                                rank->place, failed);
}
