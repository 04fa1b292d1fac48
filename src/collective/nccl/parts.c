/*
 * Sums in parts, each rank on a card of its own: what a rank tells is noted, and when all have told
 * all, the ranks' threads start the sums, piece by piece behind the pieces' marks. So nothing is
 * started while a rank may still have to allocate or to load something, which could wait for a sum
 * that waits for it; and on the cards it is early enough, because hosts are far ahead of them.
 */
#include <stdlib.h>
#include <string.h>

#include "collective/nccl/group.h"

/* A sum of fewer bytes takes less time than what comes with more calls of NCCL. */
#define PAYS ((size_t)1 << 20)

static size_t least_bytes(void)
{
    const char *text = getenv("GA_CUDA_OVERLAP");
    return text ? strtoul(text, NULL, 10) : PAYS;
}

/* Smaller pieces join the next one. */
static size_t least_piece(void)
{
    return least_bytes() / 4 / sizeof(float);
}

static void drop(struct ga_group *group);

/* The rank of the team that has the card: teams count cards up. */
static size_t rank_at(const struct ga_group *group, size_t place)
{
    size_t rank = 0;
    for (size_t r = 0; r < group->ranks; r++)
        rank += group->place[r] < place;
    return rank;
}

static int begin(struct ga_group *group, void *result, size_t count, enum ga_type type)
{
    struct ga_group_parts *parts = &group->parts;
    size_t place = 0;
    drop(group);
    if (!group->team || !ga_team_available() || type != GA_FLOAT32 || count == 0 ||
        count != group->plain.count || count < least_bytes() / sizeof(float))
        return 0;
    if (ga_cuda_place_of(result, &place) < 0)
        return ga_cuda_host()->error_code();
    if (place != group->plain.place || group->place[0] == AWAY)
        return 0;
    parts->result = result;
    parts->root = rank_at(group, place);
    for (size_t rank = 0; rank < group->ranks; rank++) {
        parts->left[rank] = count;
        parts->pieces[rank] = 0;
    }
    parts->full = 0;
    parts->code = GA_OK;
    parts->count = count;
    return 1;
}

static struct ga_team_sum sum_of(struct ga_group *group)
{
    return (struct ga_team_sum){.root = group->parts.root,
                                .count = group->parts.count,
                                .type = GA_FLOAT32,
                                .number = group->number,
                                .who = ga_group_write_replicas,
                                .self = group};
}

/* The lock is held. */
static int start(struct ga_group *group)
{
    struct ga_group_parts *parts = &group->parts;
    void *buffer[GA_CUDA_PLACES] = {NULL};
    struct CUstream_st *stream[GA_CUDA_PLACES] = {NULL};
    const void *from[GA_CUDA_PLACES] = {NULL};
    const struct ga_team_piece *piece[GA_CUDA_PLACES] = {NULL};
    struct ga_team_sum sum;
    group->number++;
    sum = sum_of(group);
    for (size_t r = 0; r < group->ranks; r++) {
        const size_t i = rank_at(group, group->place[r]);
        stream[i] = group->part[group->place[r]].stream;
        from[i] = parts->buffer[r];
        piece[i] = parts->piece[r];
        /* NCCL writes to the root's only, and wants an address of each. */
        memcpy(&buffer[i], &from[i], sizeof buffer[i]);
    }
    buffer[parts->root] = parts->result;
    sum.buffer = buffer;
    sum.stream = stream;
    sum.from = from;
    sum.piece = piece;
    sum.pieces = parts->pieces[0];
    parts->started = true;
    ga_cuda_sum_begins();
    return ga_team_begin(group->team, &sum);
}

/* Behind what the rank has told already, or as a part of its last piece. */
static void add_piece(struct ga_group_parts *parts, size_t rank, size_t first, size_t count,
                      const void *mark)
{
    struct ga_team_piece *last =
        parts->pieces[rank] > 0 ? &parts->piece[rank][parts->pieces[rank] - 1] : NULL;
    if (!last || (last->count >= least_piece() && parts->pieces[rank] < GA_NET_LAYERS)) {
        last = &parts->piece[rank][parts->pieces[rank]++];
        last->count = 0;
    }
    last->first = first;
    last->count += count;
    memcpy(&last->mark, &mark, sizeof last->mark);
    parts->left[rank] = first;
}

/* The lock is held. */
static int note(struct ga_group *group, size_t rank, const void *buffer, size_t first, size_t count,
                const void *mark)
{
    struct ga_group_parts *parts = &group->parts;
    if (parts->count == 0 || parts->started)
        return ga_cuda_host()->fail(GA_ESTATE, "replica %zu tells a part that nobody expects",
                                    rank);
    if (count == 0 || first > parts->left[rank] || count != parts->left[rank] - first)
        return ga_cuda_host()->fail(GA_EINPUT,
                                    "replica %zu tells elements %zu to %zu: expected a part that "
                                    "ends before element %zu",
                                    rank, first, first + count - 1, parts->left[rank]);
    if (!mark || (parts->pieces[rank] > 0 && buffer != parts->buffer[rank]))
        return ga_cuda_host()->fail(
            GA_EINPUT, "replica %zu tells a part without a mark, or of another buffer", rank);
    parts->buffer[rank] = buffer;
    add_piece(parts, rank, first, count, mark);
    parts->full += parts->left[rank] == 0;
    if (parts->full < group->ranks)
        return GA_OK;
    parts->code = (enum ga_code)start(group);
    return parts->code;
}

static int part(struct ga_group *group, size_t rank, const void *buffer, size_t first, size_t count,
                const void *mark)
{
    size_t place = 0;
    int code = GA_OK;
    if (rank >= group->ranks || ga_cuda_place_of(buffer, &place) < 0 || place != group->place[rank])
        return ga_cuda_host()->fail(
            GA_EINPUT, "replica %zu tells a part of a buffer that is not on its card", rank);
    pthread_mutex_lock(&group->parts.lock);
    code = note(group, rank, buffer, first, count, mark);
    pthread_mutex_unlock(&group->parts.lock);
    return code;
}

/* Who has not told all of its parts. */
static int fail_for_missing(const struct ga_group *group)
{
    for (size_t rank = 0; rank < group->ranks; rank++)
        if (group->parts.left[rank] > 0)
            return ga_cuda_host()->fail(GA_ESTATE,
                                        "replica %zu has not told elements 0 to %zu of its sums",
                                        rank, group->parts.left[rank] - 1);
    return ga_cuda_host()->fail(GA_ESTATE, "no rank has told its sums");
}

static int end(struct ga_group *group)
{
    struct ga_group_parts *parts = &group->parts;
    const struct ga_team_sum sum = sum_of(group);
    int code = GA_OK;
    bool started = false;
    pthread_mutex_lock(&parts->lock);
    started = parts->started;
    if (parts->count == 0)
        code = ga_cuda_host()->fail(GA_ESTATE, "no sum in parts is expected");
    else if (!started)
        code = fail_for_missing(group);
    parts->started = false;
    parts->count = 0;
    pthread_mutex_unlock(&parts->lock);
    if (code < 0)
        return code;
    code = parts->code < 0 ? ga_cuda_host()->fail(parts->code, "the sums in parts did not start")
                           : ga_team_end(group->team, &sum);
    if (code < 0) {
        ga_team_close(group->team);
        group->team = NULL;
        code = ga_group_settle(group, code);
    }
    ga_cuda_sum_ended();
    return code;
}

static void drop(struct ga_group *group)
{
    bool started = false;
    pthread_mutex_lock(&group->parts.lock);
    started = group->parts.started;
    group->parts.count = started ? group->parts.count : 0;
    pthread_mutex_unlock(&group->parts.lock);
    if (started)
        (void)end(group);
}

const struct ga_collective_parts ga_cards_parts = {
    .begin = begin, .part = part, .end = end, .drop = drop};
