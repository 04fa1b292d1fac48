#include "collective/nccl/comm.h"

#include <errno.h>
#include <inttypes.h>
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collective/nccl/rank.h"

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

/* ---- jobs; the lock is held ---- */

/* A rank that still has the job before gets this one behind it. */
static void begin(struct ga_team *team, enum ga_rank_job job)
{
    team->job = job;
    team->jobs++;
    for (size_t i = 0; i < team->count; i++) {
        struct ga_rank *rank = &team->rank[i];
        rank->busy = rank->runs;
        rank->there = job != GA_RANK_SUM;
        rank->failed = 0;
        rank->code = GA_OK;
    }
    pthread_cond_broadcast(&team->asked);
}

static bool all_through(const struct ga_team *team)
{
    bool busy = false;
    for (size_t i = 0; i < team->count; i++)
        busy = busy || team->rank[i].busy;
    return !busy;
}

static bool one_failed(const struct ga_team *team)
{
    bool failed = false;
    for (size_t i = 0; i < team->count; i++)
        failed = failed || team->rank[i].failed != 0 || team->rank[i].code < 0;
    return failed;
}

static bool through_or_failed(const struct ga_team *team)
{
    return all_through(team) || one_failed(team);
}

/* When as much time will have passed as is waited for a card. */
static struct timespec deadline(double *seconds)
{
    struct ga_cuda_patience patience;
    struct timespec at;
    ga_cuda_patience_start(&patience);
    *seconds = patience.limit;
    at = patience.start;
    at.tv_sec += (time_t)patience.limit;
    at.tv_nsec += (long)((patience.limit - (double)(time_t)patience.limit) * 1e9);
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

/* False where the time was up first. */
static bool wait_until(struct ga_team *team, bool (*enough)(const struct ga_team *team),
                       const struct timespec *until)
{
    int code = 0;
    while (!enough(team) && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&team->told, &team->lock, until);
    return enough(team);
}

/* After this nothing of the team runs any more on cards that answer; the thread's error stays. */
static int abort_all(struct ga_team *team, int code)
{
    char text[GA_ERROR_TEXT];
    double seconds = 0;
    const struct timespec until = deadline(&seconds);
    snprintf(text, sizeof text, "%s", ga_cuda_host()->error_text());
    pthread_mutex_lock(&team->lock);
    atomic_store(&team->stop, true);
    if (!team->aborted)
        begin(team, GA_RANK_ABORT);
    team->aborted = true;
    (void)wait_until(team, all_through, &until);
    pthread_mutex_unlock(&team->lock);
    return ga_cuda_host()->fail((enum ga_code)code, "%s", text);
}

/* ---- what a wait came to ---- */

struct watch {
    struct ga_team *team;
    const struct ga_team_sum *sum; /* NULL: no sum is waited for */
    const char *what;
};

/* "cuda:1 (replicas 1, 4)" */
static void name_rank(const struct watch *w, size_t i, char *out, size_t size)
{
    const size_t place = w->team->rank[i].place;
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

enum blame { BY_ITSELF, BY_A_CALL, BY_ANOTHER, BLAMES };

static bool is_to_blame(const struct ga_rank *rank, enum blame blame)
{
    if (blame == BY_A_CALL)
        return rank->code < 0;
    return rank->failed != 0 && (rank->failed == (int)ncclRemoteError) == (blame == BY_ANOTHER);
}

/* Of the ranks that failed: one that did so by itself, before those that only saw it. */
static const struct ga_rank *culprit(const struct ga_team *team, enum blame *blame)
{
    for (*blame = BY_ITSELF; *blame < BLAMES; ++*blame)
        for (size_t i = 0; i < team->count; i++)
            if (is_to_blame(&team->rank[i], *blame))
                return &team->rank[i];
    return NULL;
}

static int fail_for_culprit(const struct watch *w)
{
    enum blame blame = BY_ITSELF;
    const struct ga_rank *rank = culprit(w->team, &blame);
    char name[192];
    char work[96];
    if (!rank)
        return GA_OK;
    name_rank(w, (size_t)(rank - w->team->rank), name, sizeof name);
    if (blame == BY_A_CALL)
        return ga_cuda_host()->fail(rank->code, "%s: %s", name, rank->text);
    name_work(w, work, sizeof work);
    return ga_cuda_host()->fail(GA_EIO, "NCCL: %s: %s failed: %s (code %d)", work, name,
                                ncclGetErrorString((ncclResult_t)rank->failed), rank->failed);
}

/* The busy ranks that have, or have not, arrived; how many they are. */
static size_t list_late(const struct watch *w, bool arrived, char *out, size_t size)
{
    size_t length = 0;
    size_t count = 0;
    char name[192];
    out[0] = '\0';
    for (size_t i = 0; i < w->team->count; i++) {
        if (!w->team->rank[i].busy || w->team->rank[i].there != arrived)
            continue;
        name_rank(w, i, name, sizeof name);
        if (length < size)
            length +=
                (size_t)snprintf(out + length, size - length, "%s%s", count > 0 ? ", " : "", name);
        count++;
    }
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
    for (size_t i = 0; i < w->team->count; i++) {
        const struct ga_rank *rank = &w->team->rank[i];
        if (rank->busy && !rank->there)
            ga_cuda_lose(rank->place, rank->stream, "a sum over cards");
    }
    if (missing == 0)
        return ga_cuda_host()->fail(GA_EIO, "NCCL: %s: no answer after %g s from %s", work, seconds,
                                    stuck);
    return ga_cuda_host()->fail(
        GA_EIO, "NCCL: %s: %s did not arrive within %g s, the last it reached is %" PRIu64 "%s%s",
        work, absent, seconds, w->sum->number - 1, present > 0 ? "; there waited: " : "", stuck);
}

/* Until every rank is through with its job. Once one has failed the others look once more, so that
 * all is known when the culprit is named. */
static int finish(const struct watch *w)
{
    struct ga_team *team = w->team;
    double seconds = 0;
    const struct timespec until = deadline(&seconds);
    int code = GA_OK;
    pthread_mutex_lock(&team->lock);
    if (!wait_until(team, through_or_failed, &until))
        code = fail_late(w, seconds);
    if (one_failed(team)) {
        atomic_store(&team->stop, true);
        (void)wait_until(team, all_through, &until);
        code = fail_for_culprit(w);
    }
    pthread_mutex_unlock(&team->lock);
    return code;
}

static int do_job(struct ga_team *team, enum ga_rank_job job, const char *what)
{
    const struct watch w = {.team = team, .what = what};
    pthread_mutex_lock(&team->lock);
    begin(team, job);
    pthread_mutex_unlock(&team->lock);
    return finish(&w);
}

/* ---- teams ---- */

static struct ga_team *make_team(const size_t *places, size_t count)
{
    struct ga_team *team = calloc(1, sizeof *team);
    pthread_condattr_t clock;
    if (!team)
        return NULL;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->asked, NULL);
    pthread_cond_init(&team->told, &clock);
    pthread_condattr_destroy(&clock);
    team->users = 1;
    team->count = count;
    for (size_t i = 0; i < count; i++)
        team->rank[i] = (struct ga_rank){.team = team, .number = (int)i, .place = places[i]};
    return team;
}

/* A thread that hangs is left alone with the team; its card is lost, if it hangs there. */
static bool give_up(struct ga_rank *rank)
{
    struct ga_team *team = rank->team;
    bool busy = false;
    pthread_mutex_lock(&team->lock);
    busy = rank->busy;
    rank->given_up = busy && !rank->leaving;
    if (rank->given_up)
        ga_cuda_lose_call(rank->place, rank->stream, "a sum over cards");
    pthread_mutex_unlock(&team->lock);
    return busy;
}

static void release(struct ga_team *team)
{
    for (size_t i = 0; i < team->count; i++) {
        struct ga_rank *rank = &team->rank[i];
        if (rank->runs && give_up(rank))
            pthread_detach(rank->thread);
        else if (rank->runs)
            pthread_join(rank->thread, NULL);
    }
    pthread_mutex_lock(&team->lock);
    ga_team_leave(team);
}

int ga_team_open(struct ga_team **out, const size_t *places, size_t count)
{
    struct ga_team *team = make_team(places, count);
    ncclUniqueId id = {{0}};
    int code = GA_OK;
    *out = NULL;
    if (!team)
        return ga_cuda_host()->fail(GA_ENOMEM, "no memory for a team of %zu cards", count);
    code = ga_rank_check((int)ncclGetUniqueId(&id), "making an id");
    memcpy(team->id, &id, sizeof id);
    for (size_t i = 0; code == GA_OK && i < count; i++)
        code = ga_rank_start(&team->rank[i]);
    /* No rank goes on before all are open and have what they need: a sum that waits for a rank may
     * hold up what that rank allocates. */
    if (code == GA_OK)
        code = do_job(team, GA_RANK_OPEN, "opening");
    if (code < 0) {
        code = abort_all(team, code);
        release(team);
        return code;
    }
    *out = team;
    return GA_OK;
}

void ga_team_close(struct ga_team *team)
{
    if (!team)
        return;
    if (!team->aborted && ga_cuda_is_one_lost())
        (void)abort_all(team, GA_EIO);
    else if (!team->aborted && do_job(team, GA_RANK_CLOSE, "closing") < 0)
        ga_cuda_note();
    release(team);
}

bool ga_team_is_on(const struct ga_team *team, const size_t *places, size_t count)
{
    bool same = team && team->count == count;
    for (size_t i = 0; same && i < count; i++)
        same = team->rank[i].place == places[i];
    return same;
}

/* What the rank's thread needs of the sum. */
static void hand_over(struct ga_rank *rank, const struct ga_team_sum *sum, size_t i)
{
    rank->stream = sum->stream[i];
    rank->buffer = sum->buffer[i];
    rank->from = sum->from ? sum->from[i] : sum->buffer[i];
    rank->piece[0] = (struct ga_team_piece){.count = sum->count};
    for (size_t p = 0; sum->piece && p < sum->pieces; p++)
        rank->piece[p] = sum->piece[i][p];
}

int ga_team_begin(struct ga_team *team, const struct ga_team_sum *sum)
{
    if (team->aborted)
        return ga_cuda_host()->fail(GA_ESTATE, "NCCL: the team was aborted after a failure");
    pthread_mutex_lock(&team->lock);
    team->sum = *sum;
    team->sum.pieces = sum->piece ? sum->pieces : 1;
    for (size_t i = 0; i < team->count; i++)
        hand_over(&team->rank[i], sum, i);
    begin(team, GA_RANK_SUM);
    pthread_mutex_unlock(&team->lock);
    return GA_OK;
}

int ga_team_end(struct ga_team *team, const struct ga_team_sum *sum)
{
    const struct watch w = {.team = team, .sum = sum};
    const int code = finish(&w);
    return code < 0 ? abort_all(team, code) : GA_OK;
}

int ga_team_sum(struct ga_team *team, const struct ga_team_sum *sum)
{
    const int code = ga_team_begin(team, sum);
    return code < 0 ? code : ga_team_end(team, sum);
}
