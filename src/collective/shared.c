/*
 * Collectives in shared memory: replicas of one process, any number of them, plain additions in
 * rank order. The calling thread does the work.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "collective/collective.h"

struct ga_group {
    size_t ranks;
    atomic_bool aborted;
};

static int shared_open(struct ga_group **out, size_t ranks)
{
    struct ga_group *group = NULL;

    *out = NULL;
    if (ranks == 0)
        return ga_fail(GA_EINPUT, "a collective needs at least 1 rank");
    group = ga_alloc(1, sizeof *group);
    if (!group)
        return ga_error_code();
    group->ranks = ranks;
    atomic_init(&group->aborted, false);
    *out = group;
    return GA_OK;
}

static void shared_close(struct ga_group *group)
{
    free(group);
}

static int shared_poll(struct ga_group *group)
{
    if (atomic_load(&group->aborted))
        return ga_fail(GA_ESTATE, "the collective group was aborted");
    return GA_OK;
}

static void shared_abort(struct ga_group *group)
{
    atomic_store(&group->aborted, true);
}

static void add_float32(void *to, const void *from, size_t count)
{
    float *restrict a = to;
    const float *restrict b = from;

    for (size_t i = 0; i < count; i++)
        a[i] += b[i];
}

static void add_float64(void *to, const void *from, size_t count)
{
    double *restrict a = to;
    const double *restrict b = from;

    for (size_t i = 0; i < count; i++)
        a[i] += b[i];
}

static void (*const add_of[])(void *, const void *, size_t) = {
    [GA_FLOAT32] = add_float32,
    [GA_FLOAT64] = add_float64,
};

static int check_count(size_t count, enum ga_type type)
{
    if (count > SIZE_MAX / ga_type_bytes(type))
        return ga_fail(GA_ERANGE, "a collective over %zu elements does not fit into memory", count);
    return GA_OK;
}

static int shared_reduce(struct ga_group *group, const void *const *buffers, void *result,
                         size_t count, enum ga_type type)
{
    bool empty = true;

    if (shared_poll(group) < 0 || check_count(count, type) < 0)
        return ga_error_code();
    for (size_t rank = 0; rank < group->ranks; rank++) {
        if (!buffers[rank])
            continue;
        if (empty)
            memcpy(result, buffers[rank], count * ga_type_bytes(type));
        else
            add_of[type](result, buffers[rank], count);
        empty = false;
    }
    if (empty)
        memset(result, 0, count * ga_type_bytes(type));
    return GA_OK;
}

static void copy_to_all(const struct ga_group *group, void *const *buffers, size_t root,
                        size_t bytes)
{
    for (size_t rank = 0; rank < group->ranks; rank++)
        if (buffers[rank] && buffers[rank] != buffers[root])
            memcpy(buffers[rank], buffers[root], bytes);
}

static int shared_all_reduce(struct ga_group *group, void *const *buffers, size_t count,
                             enum ga_type type)
{
    size_t first = 0;

    if (shared_poll(group) < 0 || check_count(count, type) < 0)
        return ga_error_code();
    while (first < group->ranks && !buffers[first])
        first++;
    if (first == group->ranks)
        return GA_OK;
    for (size_t rank = first + 1; rank < group->ranks; rank++)
        if (buffers[rank])
            add_of[type](buffers[first], buffers[rank], count);
    copy_to_all(group, buffers, first, count * ga_type_bytes(type));
    return GA_OK;
}

static int shared_broadcast(struct ga_group *group, void *const *buffers, size_t root, size_t count,
                            enum ga_type type)
{
    if (shared_poll(group) < 0 || check_count(count, type) < 0)
        return ga_error_code();
    if (root >= group->ranks || !buffers[root])
        return ga_fail(GA_EINPUT,
                       "broadcast from rank %zu: expected a member of 0..%zu with a buffer", root,
                       group->ranks - 1);
    copy_to_all(group, buffers, root, count * ga_type_bytes(type));
    return GA_OK;
}

const struct ga_collective ga_collective_shared = {
    .name = "shared",
    .reason = "all replicas live in this process",
    .ranks_limit = 0,
    .open = shared_open,
    .close = shared_close,
    .all_reduce = shared_all_reduce,
    .reduce = shared_reduce,
    .broadcast = shared_broadcast,
    .poll = shared_poll,
    .abort = shared_abort,
};
