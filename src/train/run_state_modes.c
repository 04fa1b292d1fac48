/* The part of a run's state that only modes other than sync have: pieces, rounds, old versions,
 * hogwild. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "train/run_internal.h"

static int copy_array(void **out, const void *from, size_t count, size_t size_bytes)
{
    if (count == 0)
        return GA_OK;
    *out = ga_alloc(count, size_bytes);
    if (!*out)
        return ga_error_code();
    memcpy(*out, from, count * size_bytes);
    return GA_OK;
}

static int capture_steps(const struct ga_run *run, struct ga_mode_state *out)
{
    uint32_t *to = NULL;

    for (size_t r = 0; r < run->replicas; r++)
        out->step_counts += run->replica[r].v.steps;
    if (out->step_counts == 0)
        return GA_OK;
    to = out->step_count = ga_alloc(out->step_counts, sizeof *to);
    if (!to)
        return ga_error_code();
    for (size_t r = 0; r < run->replicas; r++) {
        const struct ga_replica *replica = &run->replica[r];

        if (replica->v.steps > 0)
            memcpy(to, replica->step_count, replica->v.steps * sizeof *to);
        to += replica->v.steps;
    }
    return GA_OK;
}

static int capture_pieces(const struct ga_run *run, struct ga_mode_state *out)
{
    const struct ga_window *rows = &run->rows;
    size_t first = run->next_piece;

    out->piece_weight = run->piece_weight;
    if (!ga_run_pushes(run) || first >= rows->replicas)
        return GA_OK;
    out->pieces = rows->replicas - first;
    out->piece_rows = rows->start[rows->replicas] - rows->start[first];
    out->piece = ga_alloc(out->pieces, sizeof *out->piece);
    if (!out->piece)
        return ga_error_code();
    for (size_t k = 0; k < out->pieces; k++)
        out->piece[k] = (uint32_t)(rows->start[first + k + 1] - rows->start[first + k]);
    return copy_array((void **)&out->piece_row, rows->index + rows->start[first], out->piece_rows,
                      sizeof *out->piece_row);
}

static int capture_versions(const struct ga_run *run, struct ga_mode_state *out)
{
    if (copy_array((void **)&out->version, run->recent, run->recent_count, sizeof *run->recent) < 0)
        return ga_error_code();
    out->versions = run->recent_count;
    for (size_t i = 0; i < out->versions; i++)
        ga_version_share(out->version[i]);
    return GA_OK;
}

static int capture_average(const struct ga_run *run, struct ga_mode_state *out)
{
    bool needed = run_is(run, GA_FAMILY_ROUND) && run->phase > GA_PHASE_REDUCE && run->has_average;

    return copy_array((void **)&out->average, run->average, needed ? run->net.parameters : 0,
                      sizeof(float));
}

/* On the real clock a worker may be at it: what is captured is an item that has not begun. */
static int capture_unbegun(const struct ga_run *run, struct ga_replica_value *v,
                           struct ga_hogwild_item *to)
{
    struct ga_version *read = NULL;

    to->change = ga_alloc(run->net.parameters, sizeof *to->change);
    to->writes = ga_alloc(run->net.parameters, sizeof *to->writes);
    if (!to->change || !to->writes || ga_version_open(&read, run->net.parameters, 0) < 0)
        return ga_error_code();
    read->number = v->read->number;
    ga_version_close(v->read);
    v->read = read;
    return GA_OK;
}

static int capture_item(const struct ga_run *run, size_t r, struct ga_state *state)
{
    const struct ga_hogwild_item *from = run->replica[r].hogwild;
    struct ga_replica_value *v = &state->replica[r];
    struct ga_mode_state *out = state->modes;
    struct ga_hogwild_item *to = &out->item[out->items];

    to->at = from->at;
    out->item_of[out->items++] = (int32_t)r;
    if (run->clock_kind->begin && v->micro < v->micros)
        return capture_unbegun(run, v, to);
    if (copy_array((void **)&to->change, from->change, run->net.parameters, sizeof *to->change) < 0)
        return ga_error_code();
    return copy_array((void **)&to->writes, from->writes, run->net.parameters, sizeof *to->writes);
}

static int capture_hogwild(const struct ga_run *run, struct ga_state *state)
{
    struct ga_mode_state *out = state->modes;
    size_t n = run->net.parameters;

    if (!run->shared)
        return GA_OK;
    out->item_of = ga_alloc(run->replicas, sizeof *out->item_of);
    out->item = ga_alloc(run->replicas, sizeof *out->item);
    out->shared = ga_alloc(n, sizeof *out->shared);
    out->shared_writes = ga_alloc(n, sizeof *out->shared_writes);
    if (!out->item_of || !out->item || !out->shared || !out->shared_writes)
        return ga_error_code();
    ga_hogwild_copy(run, out->shared, out->shared_writes);
    for (size_t r = 0; r < run->replicas; r++)
        if (run->replica[r].v.state == GA_REPLICA_BUSY && capture_item(run, r, state) < 0)
            return ga_error_code();
    state->counters.lost += atomic_load(&run->shared_lost);
    return GA_OK;
}

int ga_run_capture_modes(const struct ga_run *run, struct ga_state *out)
{
    if (!run->other_modes)
        return GA_OK;
    if (ga_mode_state_open(&out->modes) < 0)
        return ga_error_code();
    out->modes->server_free_ns = run->server_free_ns;
    out->modes->draining = run->draining;
    memcpy(out->modes->stale, run->stale, sizeof run->stale);
    out->modes->stretch = run->stretch;
    if (capture_steps(run, out->modes) < 0 || capture_pieces(run, out->modes) < 0 ||
        capture_versions(run, out->modes) < 0 || capture_average(run, out->modes) < 0)
        return ga_error_code();
    return capture_hogwild(run, out);
}

static int room_for_pieces(struct ga_run *run, const struct ga_mode_state *modes)
{
    if (ga_grow((void **)&run->rows.index, &run->rows.index_capacity, modes->piece_rows,
                sizeof *run->rows.index) < 0)
        return ga_error_code();
    return ga_grow((void **)&run->rows.start, &run->rows.start_capacity, modes->pieces + 1,
                   sizeof *run->rows.start);
}

/* Hogwild's buffers are made new; what the run held is let go only when all of them are there. */
static int room_for_hogwild(struct ga_run *run, const struct ga_mode_state *modes)
{
    if (!modes->shared)
        return GA_OK;
    if (!run->shared && ga_hogwild_enter(run) < 0)
        return ga_error_code();
    for (size_t k = 0; k < modes->items; k++) {
        struct ga_replica *replica = &run->replica[modes->item_of[k]];

        if (!replica->hogwild && ga_hogwild_item_open(&replica->hogwild, run->net.parameters) < 0)
            return ga_error_code();
    }
    return GA_OK;
}

int ga_run_room_for_modes(struct ga_run *run, const struct ga_state *state)
{
    const struct ga_mode_state *modes = state->modes;

    if (!modes)
        return GA_OK;
    if (modes->average && !run->average) {
        run->average = ga_alloc_aligned(run->net.parameters, sizeof *run->average);
        if (!run->average)
            return ga_error_code();
    }
    if (room_for_pieces(run, modes) < 0 || ga_grow((void **)&run->recent, &run->recent_capacity,
                                                   modes->versions, sizeof *run->recent) < 0)
        return ga_error_code();
    return room_for_hogwild(run, modes);
}

static void restore_pieces(struct ga_run *run, const struct ga_mode_state *modes)
{
    run->rows.replicas = modes->pieces;
    run->rows.examples = modes->piece_rows;
    run->next_piece = 0;
    run->piece_weight = modes->piece_weight;
    run->rows.start[0] = 0;
    for (size_t k = 0; k < modes->pieces; k++)
        run->rows.start[k + 1] = run->rows.start[k] + modes->piece[k];
    if (modes->piece_rows > 0)
        memcpy(run->rows.index, modes->piece_row, modes->piece_rows * sizeof *run->rows.index);
}

static void restore_steps(struct ga_run *run, const struct ga_mode_state *modes)
{
    const uint32_t *from = modes->step_count;

    for (size_t r = 0; r < run->replicas; r++) {
        struct ga_replica *replica = &run->replica[r];

        if (replica->v.steps > 0)
            memcpy(replica->step_count, from, replica->v.steps * sizeof *from);
        from = from ? from + replica->v.steps : NULL;
    }
}

static void restore_versions(struct ga_run *run, const struct ga_mode_state *modes)
{
    ga_update_forget_recent(run, 0);
    for (size_t i = 0; i < modes->versions; i++)
        run->recent[i] = ga_version_share(modes->version[i]);
    run->recent_count = modes->versions;
}

static void restore_item(struct ga_run *run, const struct ga_mode_state *modes, size_t k)
{
    struct ga_replica *replica = &run->replica[modes->item_of[k]];
    size_t n = run->net.parameters;

    replica->hogwild->at = modes->item[k].at;
    memcpy(replica->hogwild->change, modes->item[k].change, n * sizeof(float));
    memcpy(replica->hogwild->writes, modes->item[k].writes, n * sizeof(uint32_t));
}

static void drop_items(struct ga_run *run, const struct ga_mode_state *modes)
{
    for (size_t r = 0; r < run->replicas; r++) {
        bool kept = false;

        for (size_t k = 0; modes && k < modes->items; k++)
            kept = kept || (size_t)modes->item_of[k] == r;
        if (!kept) {
            ga_hogwild_item_close(run->replica[r].hogwild);
            run->replica[r].hogwild = NULL;
        }
    }
}

void ga_run_restore_modes(struct ga_run *run, const struct ga_state *state)
{
    const struct ga_mode_state *modes = state->modes;
    size_t n = run->net.parameters;

    atomic_store(&run->shared_lost, 0);
    drop_items(run, modes);
    ga_run_take_stock(run);
    run->has_average = modes && modes->average;
    run->draining = modes && modes->draining;
    run->server_free_ns = modes ? modes->server_free_ns : 0;
    run->other_modes = modes != NULL;
    run->next_piece = run->rows.replicas;
    run->stretch = modes ? modes->stretch : (struct ga_stretch){0};
    memset(run->stale, 0, sizeof run->stale);
    run->stale[0] = run->counters.pushes;
    if (!modes || !modes->shared)
        ga_hogwild_leave(run);
    if (!modes) {
        ga_update_forget_recent(run, 0);
        return;
    }
    memcpy(run->stale, modes->stale, sizeof run->stale);
    restore_pieces(run, modes);
    restore_steps(run, modes);
    restore_versions(run, modes);
    if (modes->average)
        memcpy(run->average, modes->average, n * sizeof(float));
    if (modes->shared) {
        atomic_store(&run->shared_updates, run->counters.updates);
        for (size_t j = 0; j < n; j++) {
            atomic_store_explicit(&run->shared[j], modes->shared[j], memory_order_relaxed);
            atomic_store_explicit(&run->shared_writes[j], modes->shared_writes[j],
                                  memory_order_relaxed);
        }
    }
    for (size_t k = 0; k < modes->items; k++)
        restore_item(run, modes, k);
}
